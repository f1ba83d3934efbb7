"""Download treebanks of Universal Dependencies (ud/...) and bitexts of OPUS (opus/...) by name.

Files are kept in a cache folder (QSPROJ_CACHE, else the user's cache) and reused; interrupted downloads are
resumed. Downloads are verified against the checksums of the catalogue or, where it has none, against the
first download. HTTPS_PROXY and NO_PROXY name proxies. Needs pip install 'qsproj[data]'.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from qsproj.cli.command_parser import print_lines
from qsproj.cli.options.declare import Option
from qsproj.datasets.catalogue import Dataset, dataset, names
from qsproj.datasets.store import Store, copied, default_folder, fetched, files_of, terms_of
from qsproj.errors import UsageError
from qsproj.progress import notice

EXAMPLES = """examples:
  qsproj data list german
  qsproj data get ud/de_pud@2.14
  qsproj data get ud/en_ewt@2.16 --part train -o treebanks/
  qsproj data get opus/News-Commentary/en-de -o bitext/
  qsproj data get opus/Europarl/en-sv ud/sv_talbanken@2.17 --offline    # list missing files
"""

_LIST = """List the available treebanks with their releases and licence, and the bitexts with their version.

With TEXT, list those that contain it in name, language or licence. XX-YY stands for two language codes.
"""
_GET = """Download treebanks and bitexts; print the paths of their files, one a line.

Licences are printed to standard error. With --offline nothing is downloaded: the command prints the paths of
cached files, and reports URL and path of missing ones; then the exit code is 2.
"""

_GET_OPTIONS = (
    Option("NAME ...", "ud/CODE@RELEASE or opus/CORPUS/XX-YY[@VERSION]", dest="names"),
    Option(
        "--part", "parts to fetch; repeatable (default: all)", several=True, choices=("train", "dev", "test")
    ),
    Option("-o, --output FOLDER", "also copy the files there"),
    Option("--cache FOLDER", "cache folder"),
    Option("--mirror URL", "fetch from a mirror with the layout of the original site"),
    Option("--offline", "download nothing; list the missing files"),
)
ACTIONS = {
    "list": (_LIST, (Option("[TEXT]", "part of a name (default: all)", default=""),)),
    "get": (_GET, _GET_OPTIONS),
}


def run(options: argparse.Namespace) -> None:
    {"list": _list, "get": _get}[options.action](options)


def _list(options: argparse.Namespace) -> None:
    rows = dict(names(options.text))
    if not rows:
        raise UsageError(f"found no treebank or bitext with {options.text!r}; `qsproj data list` shows all")
    width = max(map(len, rows))
    print_lines(f"{name:<{width}}  {description}" for name, description in rows.items())


def _get(options: argparse.Namespace) -> None:
    # Check all names and parts before the first download.
    wanted = [dataset(name, mirror=options.mirror) for name in options.names]
    for data in wanted:
        files_of(data, options.part)
    store = Store(Path(options.cache) if options.cache else default_folder())
    if options.offline:
        here = {data.name: list(_found_here(data, store, options.part)) for data in wanted}
        print_lines(str(path) for paths in here.values() for path in paths if path is not None)
        # A part that may not exist counts as missing only if the cache has no other part of the treebank.
        if missing := [name for name, paths in here.items() if None in paths or not paths]:
            raise UsageError(f"missing files of {', '.join(missing)}; without --offline they are downloaded")
        return
    for data in wanted:
        paths = fetched(data, store, options.part)
        licence = f"{data.licence}; " if data.licence else ""
        notice(f"{data.name}: licence: {licence}see {terms_of(data, store)}")
        print_lines(map(str, paths if options.output is None else copied(paths, Path(options.output))))


def _found_here(data: Dataset, store: Store, parts: Sequence[str]) -> Iterator[Path | None]:
    """Yield the cached files, and None for missing ones that surely exist; report all missing ones."""
    for file in files_of(data, parts):
        if store.has(file):
            yield from store.places(file)
        else:
            places = ", ".join(map(str, store.places(file)))
            perhaps = "" if file.certain else ", if there is one"
            notice(f"{data.name}: would fetch {file.url} to {places}{perhaps}")
            if file.certain:
                yield None
