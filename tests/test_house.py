"""Rules of the house: what imports what, how fast the command starts, that help helps and examples run."""

from __future__ import annotations

import ast
import itertools
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import qsproj
from qsproj.cli.main import COMMANDS, build_parser, module_of
from tests.documentation import RUN_MARK, Example, examples, run_console, run_python, unlisted_options

PACKAGE = Path(qsproj.__file__).parent
CHECKOUT = PACKAGE.parent
DOCUMENTS = sorted(path for path in (CHECKOUT / "README.md", *CHECKOUT.glob("docs/**/*.md")) if path.exists())


def imports_of(path):
    """Yield the names of the modules that a file imports, at the top or within functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield node.module


def command_files():
    """Return the commands that have a file: those that show examples."""
    files = (PACKAGE / "cli").glob("*.py")
    written = [path for path in files if "\nEXAMPLES = " in path.read_text(encoding="utf-8")]
    return sorted(path.stem.replace("_", "-") for path in written)


def test_importing_qsproj_loads_no_numba():
    """Compiling takes seconds; whoever asks for help or reads a file should not wait for it."""
    code = "import sys, qsproj, qsproj.cli.main, qsproj.corpus.conllu; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("command", ["biparse", "bootstrap", "cotrain", "parse", "project", "tag", "train"])
def test_the_options_of_a_command_load_no_numba(command):
    code = (
        f"import sys, qsproj.cli.main as cli; cli.build_parser({command!r}); sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_help_comes_at_once():
    """It takes less processor time than two imports of NumPy, on whatever machine."""
    resource = pytest.importorskip("resource")

    def spent(*arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    both = [(spent("-m", "qsproj", "--help"), spent("-c", "import numpy")) for _ in range(5)]
    assert min(help_ for help_, _ in both) < 2.0 * min(numpy for _, numpy in both)


def test_tests_run_in_the_checkout():
    """They name files of the sample as seen from there, wherever pytest was started."""
    assert Path.cwd() == CHECKOUT


def test_kernels_import_nothing_of_ours():
    paths = list((PACKAGE / "kernels").rglob("*.py"))
    assert len(paths) > len(list((PACKAGE / "kernels").glob("*.py")))
    for path in paths:
        ours = [name for name in imports_of(path) if name.split(".")[0] == "qsproj"]
        assert all(name.startswith("qsproj.kernels") for name in ours), f"{path}: {ours}"


def test_every_package_has_its_layer():
    """import-linter checks the layers that it knows and is silent about a package that it was not told of."""
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layered = {contract["name"]: contract["layers"] for contract in contracts if contract["type"] == "layers"}
    for contract, place in (("Imports run downward", "qsproj"), ("Families of models", "qsproj.models")):
        known = {name.strip() for layer in layered[contract] for name in re.split("[|:]", layer)}
        rooms = (CHECKOUT / place.replace(".", "/")).glob("*/__init__.py")
        assert {f"{place}.{path.parent.name}" for path in rooms} <= known, contract


def test_every_command_has_its_file_and_every_file_its_command():
    assert command_files() == sorted(name for name, _ in COMMANDS)


def dataclass_settings(node):
    """Return what a class's decorator ``dataclass`` is given; None for a class that has no such decorator."""
    for decorator in node.decorator_list:
        if "dataclass" in ast.unparse(decorator):
            return {one.arg for one in decorator.keywords} if isinstance(decorator, ast.Call) else set()
    return None


def positional_fields(node):
    """Return the fields of a dataclass before ``_: KW_ONLY``, or all."""
    fields = [line for line in node.body if isinstance(line, ast.AnnAssign)]
    return list(itertools.takewhile(lambda line: ast.unparse(line.annotation) != "KW_ONLY", fields))


def test_large_dataclasses_are_made_by_keywords():
    """Of more than seven fields nobody knows the order."""
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.name}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and dataclass_settings(node) is not None
        and "kw_only" not in dataclass_settings(node)
        and len(positional_fields(node)) > 7
    ]
    assert found == []


@pytest.mark.parametrize("command", command_files())
def test_help_of_a_command_shows_an_example(run_cli, command):
    outcome = run_cli(command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert re.search(rf"^ +qsproj {command}\b", outcome.out, re.MULTILINE)
    assert import_module(module_of(command)).__doc__.strip().splitlines()[0] in outcome.out


def example_commands(command):
    """Return the ``qsproj`` commands in a command's examples, as lists of arguments."""
    text = import_module(module_of(command)).EXAMPLES.replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("qsproj ")]
    pieces = [piece for line in lines for piece in re.split(r"\s[|;]|&&", re.sub(r"\s[<>]\s*\S+", "", line))]
    words = [shlex.split(piece, comments=True) for piece in pieces]
    return [arguments[1:] for arguments in words if arguments[:1] == ["qsproj"]]


@pytest.mark.parametrize("command", command_files())
def test_examples_of_a_command_use_options_that_it_has(command):
    written = set(command_files())
    found = example_commands(command)
    assert found
    for arguments in found:
        if arguments[0] in written:
            assert build_parser(arguments[0]).parse_args(arguments).command == arguments[0]
            assert unlisted_options(arguments) == []


@pytest.mark.parametrize(
    "document",
    # Those of the README have every step of them.
    [pytest.param(path, marks=[pytest.mark.slow] * (path.name != "README.md")) for path in DOCUMENTS],
    ids=lambda path: str(path.relative_to(CHECKOUT)),
)
def test_examples_in_the_documents_run(document, tmp_path, monkeypatch):
    (tmp_path / "corpora").symlink_to(CHECKOUT / "corpora")
    monkeypatch.chdir(tmp_path)
    if find_spec("spacy") is not None:
        # What spaCy finds by itself where the package is installed, and not beside a checkout.
        import_module("qsproj.interop.spacy_component")
    names = {"__name__": "__main__"}
    for example in examples(document.read_text(encoding="utf-8")):
        if example.language == "python":
            run_python(example, names, document.name)
        else:
            run_console(example, tmp_path, document.name)


SAMPLE = f"""
```python
value = 6
```
```console
$ false
```
text
```python
>>> value * 7
42
```

{RUN_MARK}
```console
$ echo one two \\
    three
one ... three
$ echo nothing shown
```
"""


def test_examples_are_found_with_their_lines():
    found = examples(SAMPLE)
    assert [(one.line, one.language) for one in found] == [(2, "python"), (9, "python"), (15, "console")]


def test_right_examples_pass(tmp_path):
    names = {}
    for example in examples(SAMPLE):
        if example.language == "python":
            run_python(example, names, "sample")
        else:
            run_console(example, tmp_path, "sample")
    assert names["value"] == 6


@pytest.mark.parametrize("text", [">>> 6 * 7\n41\n", "assert 6 * 7 == 41\n", ">>> 1 / 0\n"])
def test_wrong_python_examples_are_caught(text):
    with pytest.raises(AssertionError):
        run_python(Example(1, "python", text), {}, "sample")


@pytest.mark.parametrize("text", ["$ echo one\ntwo\n", "$ false | true\n", "$ no-such-command\n"])
def test_wrong_console_examples_are_caught(text, tmp_path):
    with pytest.raises(AssertionError):
        run_console(Example(1, "console", text), tmp_path, "sample")
