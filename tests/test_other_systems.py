"""What Linux alone has is hidden: the main commands do without it, the others say so at the door."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# What macOS, or Windows, lacks: modules, attributes of modules, processes that fork.
HIDING = """
import multiprocessing, os, signal, sys
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in "SIGHUP SIGALRM SIGVTALRM setitimer pthread_sigmask ITIMER_REAL ITIMER_VIRTUAL".split():
    if hasattr(signal, name):
        delattr(signal, name)
for name in ("fork", "getuid", "sched_getaffinity", "killpg", "wait4"):
    delattr(os, name)
multiprocessing.get_all_start_methods = lambda: ["spawn"]
from qsproj.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def run_hidden(folder, *words):
    command = [sys.executable, "-c", HIDING, *map(str, words)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=environment, encoding="utf-8"
    )


def test_the_main_commands_run_without_what_linux_alone_has(tmp_path):
    (tmp_path / "corpora").symlink_to(Path("corpora").resolve())
    for words in (
        ("train", "corpora/de.conllu", "--epochs", "1", "-o", "de.parser"),
        ("parse", "-m", "de.parser", "corpora/de.conllu", "-o", "parsed.conllu"),
        ("eval", "corpora/de.conllu", "parsed.conllu"),
        ("align", "corpora/en.conllu", "corpora/de.conllu", "-o", "links"),
        ("search", "form~^D", "corpora/de.conllu", "--totals"),
    ):
        done = run_hidden(tmp_path, *words)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "parsed.conllu").stat().st_size > 0
    done = run_hidden(tmp_path, "data", "get", "ud/de_pud@2.14", "--offline", "--cache", "cache")
    assert (done.returncode, "missing files of ud/de_pud@2.14" in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_a_bootstrap_runs_without_what_linux_alone_has(tmp_path):
    corpora = Path("corpora").resolve()
    for name in ("en", "de"):
        rows = (corpora / f"{name}.conllu").read_text(encoding="utf-8").splitlines()
        lines = [row.removeprefix("# text = ") for row in rows if row.startswith("# text = ")]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    given = ("--treebank", corpora / "en.conllu", "--bitext", "en", "de", "--languages", "en", "de")
    done = run_hidden(tmp_path, "bootstrap", *given, "--work", "work", "--draws", "1", "-o", "de.model")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "de.model").exists()


def test_serving_says_at_the_door_that_it_needs_fork(tmp_path):
    done = run_hidden(tmp_path, "serve", "-m", "de.model")
    assert done.returncode == 2
    assert done.stderr.startswith("qsproj serve: serving needs fork, which Windows lacks")
    assert done.stderr.count("\n") == 1
