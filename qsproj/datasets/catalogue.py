"""Catalogue of data sets and URLs of their files: treebanks (UD) and bitexts (OPUS).

``treebanks.tsv`` has one line per treebank: code, present repository, releases, and licence if it is the same
in all releases. ``treebank-files.tsv`` has file names with git blob hashes for the treebanks used in
``docs/``; files of others are requested singly. ``bitexts.tsv`` has the corpora of OPUS, in one version each.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from qsproj.corpus.files import packaged_rows
from qsproj.errors import UsageError, check_name, unknown_name

UD, OPUS = "ud", "opus"
UD_SITE = "https://raw.githubusercontent.com"
OPUS_SITE = "https://object.pouta.csc.fi"
PARTS = ("train", "dev", "test")
_UD_NAME = re.compile(r"ud/([a-z]+_[a-z0-9]+)(?:@(?:r)?(\d+\.\d+))?")
_OPUS_NAME = re.compile(r"opus/([^/@]+)/([A-Za-z_]+)-([A-Za-z_]+)(?:@([\w-][\w.-]*))?")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file on the web."""

    url: str
    path: str  # path in the cache folder
    blob: str | None = None  # git blob hash: SHA-1 of a header and the bytes
    part: str = ""  # train, dev or test of a treebank
    certain: bool = True  # whether it is known to exist
    members: tuple[str, ...] = ()  # members to extract from an archive


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set with a name."""

    name: str  # full name with version
    licence: str  # as in the table
    page: str  # web page about it
    files: tuple[RemoteFile, ...]
    terms: RemoteFile | None = None  # text of its licence, if in a separate file


def dataset(name: str, *, mirror: str | None = None) -> Dataset:
    """Return the data set of a name: ``ud/de_pud@2.14``, ``opus/News-Commentary/en-de@v16``."""
    if match := _UD_NAME.fullmatch(name):
        return _treebank(match[1], match[2], mirror or UD_SITE)
    if match := _OPUS_NAME.fullmatch(name):
        return _bitext(match[1], match[2], match[3], match[4], mirror or OPUS_SITE)
    raise UsageError(
        f"found {name!r}, expected ud/CODE@RELEASE or opus/CORPUS/XX-YY, as ud/de_pud@2.14 and "
        "opus/News-Commentary/en-de; `qsproj data list` shows all"
    )


def names(pattern: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, description) of all data sets that contain ``pattern`` in either, ignoring case."""
    rows = []
    for row in _table("treebanks.tsv"):
        facts = [row["repository"].removeprefix("UD_"), row["releases"], row["licence"]]
        rows.append((f"{UD}/{row['code']}", "  ".join(facts).removesuffix("  -")))
    rows += [(f"{OPUS}/{row['corpus']}/XX-YY", row["version"]) for row in _table("bitexts.tsv")]
    return (row for row in rows if pattern.lower() in " ".join(row).lower())


def _treebank(code: str, release: str | None, site: str) -> Dataset:
    rows = {row["code"]: row for row in _table("treebanks.tsv")}
    if code not in rows:
        near = [one for one in rows if one.startswith(f"{code.partition('_')[0]}_")]
        raise unknown_name("treebank", code, near or ["those of `qsproj data list`"])
    row = rows[code]
    released = list(_releases(row["releases"]))
    release = release or released[-1]
    if release not in released:
        raise UsageError(f"found release {release} of {code}, expected one of {row['releases']}")
    base = f"{site}/UniversalDependencies/{row['repository']}/r{release}"
    known = {
        entry["file"]: entry["blob"]
        for entry in _table("treebank-files.tsv")
        if entry["release"] == release and entry["file"].startswith(f"{code}-ud-")
    }
    folder, names_of = f"{UD}/{release}", {part: f"{code}-ud-{part}.conllu" for part in PARTS}
    found = tuple(
        RemoteFile(f"{base}/{name}", f"{folder}/{name}", known.get(name), part, certain=bool(known))
        for part, name in names_of.items()
        if name in known or not known
    )
    licence = "" if row["licence"] == "-" else row["licence"]
    page = f"https://github.com/UniversalDependencies/{row['repository']}"
    terms = RemoteFile(f"{base}/LICENSE.txt", f"{folder}/{code}.LICENSE.txt", certain=False)
    return Dataset(f"{UD}/{code}@{release}", licence, page, found, terms)


def _releases(spans: str) -> Iterator[str]:
    """Expand spans of releases: 2.10-2.12,2.14 yields 2.10, 2.11, 2.12, 2.14."""
    for span in spans.split(","):
        first, _, last = span.partition("-")
        major, _, minor = first.partition(".")
        for number in range(int(minor), int((last or first).partition(".")[2]) + 1):
            yield f"{major}.{number}"


def _bitext(corpus: str, source: str, target: str, version: str | None, site: str) -> Dataset:
    versions = {row["corpus"]: row["version"] for row in _table("bitexts.tsv")}
    check_name("corpus", corpus, versions)
    version = version or versions[corpus]
    first, second = sorted((source, target))
    if first == second:
        raise UsageError(f"found {source}-{target}, expected two languages")
    stem, name = f"{corpus}.{first}-{second}", f"{first}-{second}.txt.zip"
    url, path = f"{site}/OPUS-{corpus}/{version}/moses/{name}", f"{OPUS}/{corpus}/{version}/{name}"
    archive = RemoteFile(url, path, members=(f"{stem}.{source}", f"{stem}.{target}"))
    return Dataset(f"{OPUS}/{corpus}/{source}-{target}@{version}", "", "https://opus.nlpl.eu", (archive,))


@cache
def _table(name: str) -> tuple[Mapping[str, str], ...]:
    columns, *rows = packaged_rows(__file__, name)
    return tuple(dict(zip(columns, row, strict=True)) for row in rows)
