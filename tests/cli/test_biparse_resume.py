"""``qsproj train-biparser`` that is killed and called again: the model is that of one run."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.errors import pluralise

SIZE = 6
PATIENCE = 300.0


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    """Return the command, but for the model that it writes."""
    from qsproj.cli.main import main

    folder = tmp_path_factory.mktemp("resume")
    for name in ("en", "de"):
        write_conllu(islice(read_conllu(f"corpora/{name}.conllu"), SIZE), folder / f"{name}.conllu")
    links = Path("corpora/en-de.pharaoh").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "links").write_text("".join(links[:SIZE]), encoding="utf-8")
    source = str(folder / "en.model")
    assert main(["train", str(folder / "en.conllu"), "-o", source, "--epochs", "1"]) == 0
    files = (
        "--source",
        folder / "en.conllu",
        "--target",
        folder / "de.conllu",
        "--alignment",
        folder / "links",
    )
    options = ("--source-model", source, "--factors", "mono", "--source-tree", "best", "--epochs", "20")
    return ("train-biparser", *files, *options)


def kept(path):
    """Tell which file this is, if there is one: it is replaced, never changed."""
    return path.stat().st_ino if path.exists() else None


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_killed_in_the_midst_and_called_again(run_cli, train, tmp_path):
    assert run_cli(*train, "-o", tmp_path / "whole").code == 0
    epochs, model = tmp_path / "state" / "epochs.checkpoint", tmp_path / "model"
    command = (*train, "--checkpoint", tmp_path / "state", "--resume", "-o", model)
    for number, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 128 + signal.SIGTERM)):
        before, until = kept(epochs), time.monotonic() + PATIENCE
        process = subprocess.Popen([sys.executable, "-m", "qsproj", *map(str, command)])
        while kept(epochs) == before and process.poll() is None and time.monotonic() < until:
            time.sleep(0.001)
        process.send_signal(number)
        assert process.wait() == code
        assert not model.exists()
    outcome = run_cli(*command)
    assert outcome.code == 0
    told = [line for line in outcome.err.splitlines() if line.startswith("epoch ")]
    assert 0 < len(told) < 20
    state = tmp_path / "state"
    assert f"{state / 'target.checkpoint'}: using the target parser from this file\n" in outcome.err
    assert f"{epochs}: continuing after {pluralise(20 - len(told), 'epoch')}\n" in outcome.err
    assert told[-1].startswith("epoch 20: target heads ")
    assert "; belief propagation converged in " in told[-1]
    assert model.read_bytes() == (tmp_path / "whole").read_bytes()


def test_the_state_of_an_earlier_run_is_not_replaced(run_cli, train, tmp_path):
    """Unless it is to be gone on from, which is told, too, where there is none."""
    state = tmp_path / "state"
    command = (*train[:-1], "1", "--checkpoint", state, "-o", tmp_path / "model")
    first = run_cli(*command, "--resume")
    assert first.code == 0
    assert f"{state}: found no state to resume from; starting from the beginning\n" in first.err
    before = {path: kept(path) for path in state.iterdir()}
    outcome = run_cli(*command)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert f"{state}: found the state of an earlier run (epochs, target)" in outcome.err
    assert {path: kept(path) for path in state.iterdir()} == before


def test_going_on_needs_a_folder(run_cli, train, tmp_path):
    outcome = run_cli(*train, "--resume", "-o", tmp_path / "model")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "--resume needs the folder of the run to go on from; add --checkpoint DIR" in outcome.err
