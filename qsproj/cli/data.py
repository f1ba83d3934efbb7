"""Download treebanks of Universal Dependencies (ud/...) and bitexts of OPUS (opus/...) by name.

Files are kept in a cache folder (QSPROJ_CACHE, else the user's cache) and reused; interrupted downloads are
resumed. Downloads are verified against the checksums of the catalogue or, where it has none, against the
first download. Proxies are taken from the environment (HTTPS_PROXY, NO_PROXY). Needs pip install
'qsproj[data]'.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from qsproj.cli.command_parser import CommandParser, add_action, print_lines
from qsproj.errors import UsageError
from qsproj.progress import notice

if TYPE_CHECKING:
    from qsproj.datasets.catalogue import Dataset
    from qsproj.datasets.store import Store

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
cached files, and reports URL and path of missing ones.
"""


def add_arguments(parser: CommandParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_action(actions, "list", _LIST, EXAMPLES).option("[TEXT]", "part of a name (default: all)", default="")
    group = add_action(actions, "get", _GET, EXAMPLES)
    group.option("NAME ...", "ud/CODE@RELEASE or opus/CORPUS/XX-YY[@VERSION]", dest="names")
    group.option(
        "--part",
        "parts of treebanks to fetch; may be given several times (default: all)",
        action="append",
        choices=("train", "dev", "test"),
    )
    group.option("-o, --output FOLDER", "also copy the files there")
    group.option("--cache FOLDER", "cache folder")
    group.option("--mirror URL", "fetch from a mirror with the layout of the original site")
    group.option("--offline", "download nothing; list the missing files")


def run(options: argparse.Namespace) -> None:
    {"list": _list, "get": _get}[options.action](options)


def _list(options: argparse.Namespace) -> None:
    from qsproj.datasets.catalogue import names

    rows = list(names(options.text))
    if not rows:
        raise UsageError(f"found no treebank or bitext with {options.text!r}; `qsproj data list` shows all")
    width = max(len(name) for name, _ in rows)
    print_lines(f"{name:<{width}}  {description}" for name, description in rows)


def _get(options: argparse.Namespace) -> None:
    from qsproj.datasets.catalogue import dataset
    from qsproj.datasets.store import Store, copied, default_folder, fetched, terms_of

    # Check all names before the first download.
    wanted = [dataset(name, mirror=options.mirror) for name in options.names]
    store = Store(Path(options.cache) if options.cache else default_folder())
    if options.offline:
        print_lines(map(str, _found_here(wanted, store, tuple(options.part))))
        return
    for data in wanted:
        paths = fetched(data, store, tuple(options.part))
        licence = f"{data.licence}; " if data.licence else ""
        notice(f"{data.name}: licence: {licence}see {terms_of(data, store)}")
        print_lines(map(str, paths if options.output is None else copied(paths, Path(options.output))))


def _found_here(wanted: Iterable[Dataset], store: Store, parts: tuple[str, ...]) -> list[Path]:
    here: list[Path] = []
    for data in wanted:
        for file in data.files:
            if parts and file.part and file.part not in parts:
                continue
            if store.has(file):
                here += store.places(file)
            else:
                places = ", ".join(str(place) for place in store.places(file))
                perhaps = "" if file.certain else ", if there is one"
                notice(f"{data.name}: would fetch {file.url} to {places}{perhaps}")
    return here
