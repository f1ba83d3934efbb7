"""Fixtures that all tests share."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

import qsproj
from qsproj.cli.main import main

# Tests name the sample as a user in the checkout does ("corpora/en.conllu"), wherever pytest was started.
os.chdir(Path(__file__).parents[1])

# Whether kernels are compiled in a test or found in the cache changes nothing that it sees.
os.environ["QSPROJ_NOTICES"] = "0"

# A case may take as long as a busy machine lets it.
settings.register_profile("without deadlines", deadline=None)
settings.load_profile("without deadlines")


# What a fixture makes of the tests that ask for it: a cluster starts processes, a browser more of them.
MARKS = {"data_dir": "data", "cluster": "slow", "playwright": "slow", "browsers": "slow"}
LEFT_OUT = pytest.StashKey[Counter[str]]()
BEGAN = pytest.StashKey[float]()


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run tests marked slow or data as well")
    parser.addoption(
        "--shuffle", type=int, metavar="SEED", help="run files, and the tests of each, in random order"
    )


def pytest_make_parametrize_id(val, argname):
    """Name bytes by their argument: an archive has the time of its making in it, each process its own."""
    return argname if isinstance(val, bytes) else None


def pytest_itemcollected(item):
    """Mark a test by the fixtures it asks for."""
    for fixture in MARKS.keys() & set(getattr(item, "fixturenames", ())):
        item.add_marker(MARKS[fixture])


@pytest.hookimpl(trylast=True)  # other plugins select first, by -k and -m
def pytest_collection_modifyitems(config, items):
    """Leave out the tests that are marked slow or data, unless some were named; shuffle the others."""
    if config.option.shuffle is not None:
        rng = random.Random(config.option.shuffle)
        place = {path: rng.random() for path in dict.fromkeys(item.path for item in items)}
        items.sort(key=lambda item: (place[item.path], rng.random()))
    if config.option.all or config.option.markexpr or any("::" in argument for argument in config.args):
        return
    tiers = [next((tier for tier in ("data", "slow") if item.get_closest_marker(tier)), "") for item in items]
    config.stash[LEFT_OUT] = Counter(filter(None, tiers))
    config.hook.pytest_deselected(items=[item for item, tier in zip(items, tiers) if tier])
    items[:] = [item for item, tier in zip(items, tiers) if not tier]


def pytest_sessionfinish(session):
    """Hand over what a process of pytest-xdist has left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash.get(LEFT_OUT, {}))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Keep it; all processes collect the same tests."""
    node.config.stash[LEFT_OUT] = Counter(getattr(node, "workeroutput", {}).get("left_out", {}))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.stash[BEGAN] = sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Record the processor time of a test and its fixtures, child processes included, for --junitxml."""
    if call.when == "teardown":
        item.user_properties.append(("processor_seconds", f"{sum(os.times()[:4]) - item.stash[BEGAN]:.2f}"))
    return (yield)


def pytest_unconfigure(config):
    """Say last what was left out."""
    left_out = config.stash.get(LEFT_OUT, None)
    if left_out and not hasattr(config, "workerinput"):
        slow, data = left_out["slow"], left_out["data"]
        print(f"left out: {slow} slow tests, {data} on real data; to run all: scripts/test --all")


@dataclass(frozen=True)
class Outcome:
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run_cli(capfd, monkeypatch):
    """Run ``qsproj ARGUMENTS...`` in this process; ``stdin`` is what it reads from ``-``."""

    def run(*arguments, stdin: str | bytes = b"") -> Outcome:
        content = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline=""))
        capfd.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exit_:
            code = exit_.code
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """Return a function that makes a folder of files by ``make(folder)``, once for all processes of this run.

    The folder is named by a digest of the package and of the file that ``make`` stands in.
    """
    own = tmp_path_factory.getbasetemp()
    # The processes of pytest-xdist have folders of their own beside each other.
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "made-once"
    shared.mkdir(exist_ok=True)
    package = hashlib.sha256()
    for path in sorted(Path(qsproj.__file__).parent.rglob("*.py")):
        package.update(path.read_bytes())

    def folder_of(make) -> Path:
        digest = package.copy()
        digest.update(Path(make.__code__.co_filename).read_bytes())
        folder = shared / f"{make.__name__}-{digest.hexdigest()[:16]}"
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                beside = folder.with_suffix(".under-way")
                shutil.rmtree(beside, ignore_errors=True)
                beside.mkdir()
                make(beside)
                beside.rename(folder)
        return folder

    return folder_of


@pytest.fixture(scope="session")
def dead_process() -> int:
    """Return the number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of real data; skip the test, saying so, where there is none."""
    folder = os.environ.get("QSPROJ_DATA")
    if not folder:
        pytest.skip("real data: set QSPROJ_DATA to its folder to run this")
    if not Path(folder).is_dir():
        pytest.fail(f"QSPROJ_DATA={folder} is not a folder")
    return Path(folder)
