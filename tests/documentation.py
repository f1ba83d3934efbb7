"""Examples in Markdown documents, found and run.

Every ```` ```python ```` block runs, and the blocks of a document share their names. One with ``>>>`` is
compared with what it prints, as by doctest; one without must run through. A ```` ```console ```` block runs
where the line before it is ``<!-- run -->``: each ``$ command`` must succeed, and the lines after it must be
what it prints (``...`` stands for anything). Examples run in a folder of their own that holds ``corpora/``.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RUN_MARK = "<!-- run -->"
CHECK = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """One block of a document: the line of its fence, its language (python or console) and its text."""

    line: int
    language: str
    text: str


def unlisted_options(arguments: list[str]) -> list[str]:
    """Return the options of a ``qsproj`` command that its help does not list, such as former names."""
    from qsproj.cli.main import build_parser

    def listed(parser: argparse.ArgumentParser) -> Iterator[str]:
        for action in parser._actions:
            yield from action.option_strings
            for nested in action.choices.values() if isinstance(action, argparse._SubParsersAction) else ():
                yield from listed(nested)

    known = set(listed(build_parser(arguments[0])))
    return [word for word in arguments if re.match(r"--?[a-z]", word) and word.split("=")[0] not in known]


def examples(document: str) -> list[Example]:
    """Return the blocks of a Markdown text that are to run."""
    found = []
    for block in _BLOCK.finditer(document):
        before = document[: block.start()]
        marked = before.rstrip().endswith(RUN_MARK)
        if block[1] == "python" or (block[1] == "console" and marked):
            found.append(Example(before.count("\n") + 1, block[1], block[2]))
    return found


def run_python(example: Example, names: dict[str, object], path: str) -> None:
    """Run a python block in ``names`` (mutated); raise AssertionError where it prints other than it shows."""
    if ">>>" not in example.text:
        exec(compile("\n" * example.line + example.text, path, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(example.text, names, path, path, example.line)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=CHECK, verbose=False)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(report)


def run_console(example: Example, folder: Path, path: str) -> None:
    """Run a console block in ``folder``; raise AssertionError where one does other than shown."""
    environment = dict(
        os.environ, PATH=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    )
    for command, wanted in commands(example.text):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        where = f"{path}:{example.line}: {command}"
        assert done.returncode == 0, f"{where}\nexit code {done.returncode}\n{done.stderr}"
        if wanted:
            same = doctest.OutputChecker().check_output(wanted, done.stdout, CHECK)
            assert same, f"{where}\nshown:\n{wanted}\nprinted:\n{done.stdout}"


def commands(text: str) -> list[tuple[str, str]]:
    """Split a console block into commands, a trailing backslash continuing one, and their shown output."""
    result: list[tuple[str, str]] = []
    for line in text.replace("\\\n", " ").splitlines(keepends=True):
        if line.startswith("$ "):
            result.append((line[2:].strip(), ""))
        elif result:
            command, wanted = result[-1]
            result[-1] = (command, wanted + line)
    return result
