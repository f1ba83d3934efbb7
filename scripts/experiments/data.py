"""Download the folder of real data, as far as possible: ``python -m scripts.experiments.data FOLDER``.

QSPROJ_DATA names this folder; docs/guides/data.md describes it. Existing files are kept. Files that must be obtained by
hand are listed at the end.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from qsproj.corpus.files import open_output
from qsproj.datasets.catalogue import PARTS, dataset
from qsproj.datasets.store import Store, default_folder, fetched, terms_of
from qsproj.errors import QsprojError

# Sentences of the English PUD that its version in SUD does not have.
_NOT_IN_SUD = {"w02014030", "n01107006", "n01111021", "n01022016"}
BY_HAND = (
    "lines/*-train, treebanks/arabic-padt-*, styles/*.sud, bitext/ and alignments/ are not made by this "
    "command: docs/guides/data.md tells where they come from"
)


@dataclass(frozen=True, slots=True)
class Made:
    """A file of the folder, without .conllu.gz; its dataset and part; its change."""

    path: str
    name: str
    part: str
    change: Callable[[Iterable[str]], Iterator[str]] = iter


def with_parallel_ids(room: str) -> Callable[[Iterable[str]], Iterator[str]]:
    """Return a function that adds equal ids to translations, from the number at the end of their sent_id."""

    def change(lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            yield line
            if match := re.fullmatch(r"# sent_id = .*?(\d+)\n", line):
                yield f"# parallel_id = {room}/{match[1]}\n"

    return change


def without_sentences(ids: set[str]) -> Callable[[Iterable[str]], Iterator[str]]:
    """Return a function that removes sentences, by their sent_id."""

    def change(lines: Iterable[str]) -> Iterator[str]:
        block: list[str] = []
        for line in lines:
            block.append(line)
            if not line.strip():
                if not any(f"# sent_id = {one}\n" in block for one in ids):
                    yield from block
                block = []

    return change


def _treebank(path: str, name: str, *parts: str) -> list[Made]:
    return [Made(f"treebanks/{path}-{part}", name, part) for part in parts or PARTS]


FILES = (
    Made("pud/de", "ud/de_pud@2.17", "test"),
    *(Made(f"pud/{code}", f"ud/{code}_pud@2.18", "test") for code in ("en", "es", "sv", "tr", "zh")),
    *(
        Made(f"lines/{code}-{part}", f"ud/{code}_lines@{release}", part, with_parallel_ids("lines"))
        for code, release in (("en", "2.17"), ("sv", "2.16"))
        for part in ("dev", "test")
    ),
    *(
        Made(f"partut/{code}-{part}", f"ud/{code}_partut@2.16", part, with_parallel_ids("partut"))
        for code in ("en", "it")
        for part in PARTS
    ),
    Made("styles/english-pud.ud", "ud/en_pud@2.18", "test", without_sentences(_NOT_IN_SUD)),
    *(Made(f"styles/naija-{part}.ud", "ud/pcm_nsc@2.17", part) for part in PARTS),
    *_treebank("english-ewt", "ud/en_ewt@2.16"),
    *_treebank("turkish-imst", "ud/tr_imst@2.16"),
    *_treebank("greek-gdt", "ud/el_gdt@2.17"),
    *_treebank("hungarian-szeged", "ud/hu_szeged@2.17"),
    *_treebank("danish-ddt", "ud/da_ddt@2.16", "dev", "test"),
    *_treebank("dutch-alpino", "ud/nl_alpino@2.16", "dev", "test"),
    *_treebank("german-gsd", "ud/de_gsd@2.16", "dev", "test"),
    *_treebank("german-lit", "ud/de_lit@2.18", "test"),
    *_treebank("spanish-gsd", "ud/es_gsd@2.16", "dev", "test"),
    *_treebank("spanish-ancora", "ud/es_ancora@2.10", "dev", "test"),
    *_treebank("czech-cac", "ud/cs_cac@2.17", "dev", "test"),
    *_treebank("slovenian-ssj", "ud/sl_ssj@2.17", "dev", "test"),
    *_treebank("japanese-gsd", "ud/ja_gsd@2.18", "dev", "test"),
    *_treebank("swedish-talbanken", "ud/sv_talbanken@2.17", "dev", "test"),
)


def make(folder: Path, store: Store, *, mirror: str | None = None) -> bool:
    """Create the missing files of the folder; report those that cannot be downloaded, and return whether all could."""
    whole = True
    for name, rows in groupby(FILES, key=lambda row: row.name):
        missing = [row for row in rows if not _place(folder, row).exists()]
        data = dataset(name, mirror=mirror)
        for row in missing:
            try:
                (path,) = fetched(data, store, (row.part,))
            except QsprojError as error:
                print(error, file=sys.stderr)
                whole = False
                continue
            place = _place(folder, row)
            place.parent.mkdir(parents=True, exist_ok=True)
            with path.open(encoding="utf-8", newline="\n") as lines, open_output(place) as output:
                output.writelines(row.change(lines))
        if missing:
            print(f"{name}: licence: {data.licence or terms_of(data, store)}", file=sys.stderr)
    return whole


def _place(folder: Path, row: Made) -> Path:
    return folder / f"{row.path}.conllu.gz"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--mirror", metavar="URL", help="as in `qsproj data get`")
    options = parser.parse_args()
    whole = make(options.folder, Store(default_folder()), mirror=options.mirror)
    print(BY_HAND, file=sys.stderr)
    raise SystemExit(0 if whole else 2)


if __name__ == "__main__":
    main()
