"""Damaged inputs are refused in one line that names a file, or taken; and the judge sees what it should."""

import itertools
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded as Linux does"),
]

if sys.platform == "linux":
    from tests.fuzzing import judge, stopping
    from tests.fuzzing.commands import JOBS, LEARNING, make_inputs
    from tests.fuzzing.judge import faults_of
    from tests.fuzzing.runs import faults_with
    from tests.fuzzing.stopping import faults_when_stopped

RUNS = 12
QUICK = [job for job in JOBS if not job.slow]
# So soon, in seconds of processor time, a job of the suite has just begun to learn.
SOON = 0.35


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return make_inputs(tmp_path_factory.mktemp("inputs"), quick=True)


@pytest.mark.parametrize("job", QUICK, ids=lambda job: job.command)
def test_damaged_inputs_are_refused_or_taken(inputs, job):
    faults = {seed: faults_with(job, f"suite.{seed}", inputs) for seed in range(RUNS)}
    assert {seed: fault for seed, fault in faults.items() if fault} == {}


@pytest.mark.parametrize("job", QUICK, ids=lambda job: job.command)
def test_what_is_not_damaged_is_taken(inputs, tmp_path, job):
    assert (
        faults_of(job.words(inputs, tmp_path), inputs.values(), [tmp_path / n for n in job.outputs()]) == []
    )


def a_run(code=0, said="", out=None, left=None, error=None):
    """Return what stands for the command line in a run that the judge looks at."""

    def main(words):
        folder = Path(words[1])
        if error is not None:
            raise error
        sys.stderr.write(said)
        if out is not None:
            (folder / "out.conllu").write_bytes(out)
        if left is not None:
            (folder / left).touch()
        return code

    return main


GOOD = b"1\ta" + b"\t_" * 8 + b"\n\n"


@pytest.mark.parametrize(
    ("run", "verdict"),
    [
        (a_run(out=GOOD), None),
        (a_run(code=2, said="qsproj parse: in.conllu:3: found\n"), None),
        (a_run(), "was not written"),
        (a_run(out=b"1\ta\n"), "cannot be read back"),
        (a_run(out=b""), "cannot be read back"),
        (a_run(out=GOOD, left=".out.partial"), "was left"),
        (a_run(code=1), "exit code 1"),
        (a_run(error=ZeroDivisionError()), "ZeroDivisionError"),
        (a_run(error=SystemExit(2)), "said: "),
        (a_run(code=2), "said: "),
        (a_run(code=2, said="qsproj parse: in.conllu\nmore\n"), "said: "),
        (a_run(code=2, said="qsproj parse: found nothing\n"), "names no file"),
        (a_run(code=2, said=f"qsproj parse: in.conllu {'x' * 2000}\n"), "characters"),
        (a_run(code=2, said="qsproj parse: in.conllu\n", out=b""), "was touched"),
    ],
)
def test_the_judge_sees_what_it_should(tmp_path, monkeypatch, run, verdict):
    monkeypatch.setattr(judge, "main", run)
    faults = faults_of(["parse", str(tmp_path)], [Path("in.conllu")], [tmp_path / "out.conllu"])
    assert len(faults) == (verdict is not None)
    assert verdict is None or verdict in faults[0]


def test_an_empty_text_is_served_an_empty_answer(inputs, tmp_path):
    job = next(job for job in QUICK if job.command.startswith("serve"))
    empty, output = tmp_path / "empty", tmp_path / job.outputs()[0]
    empty.touch()
    words = job.words({**inputs, job.inputs()[-1]: empty}, tmp_path)
    assert faults_of(words, [empty], [output]) == []
    assert output.read_bytes() == b""


def test_the_judge_bounds_memory_and_time(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "main", lambda _: len(bytes(2 * judge.BYTES)))
    assert "MemoryError" in faults_of(["parse"], [], [])[0]
    monkeypatch.setattr(judge, "SECONDS", 0.2)
    monkeypatch.setattr(judge, "main", lambda _: next(i for i in itertools.count() if i < 0))
    assert "TooSlowError: more than 0.2" in faults_of(["parse"], [], [])[0]
    monkeypatch.setattr(judge, "WAITING", 0.3)
    monkeypatch.setattr(judge, "main", lambda _: time.sleep(30))
    assert "TooSlowError: more than 0.3" in faults_of(["parse"], [], [])[0]


@pytest.mark.parametrize("job", [job for job in QUICK if job.command.startswith(("align", "draw"))])
def test_commands_end_when_they_are_told_to(inputs, job):
    for seed in range(2):
        assert faults_when_stopped(job, f"stop.{seed}", inputs) == []


@pytest.mark.parametrize("job", [job for job in LEARNING if not job.slow], ids=lambda job: job.command)
def test_learning_ends_when_it_is_told_to(inputs, job):
    assert faults_when_stopped(job, "learning", inputs, longest=SOON) == []


def test_a_command_that_does_not_end_or_leaves_something_is_seen(inputs, monkeypatch):
    def main(words):
        folder = Path(words[-1]).parent
        (folder / "out.conllu").write_bytes(b"1\ta\n")
        (folder / ".out.partial").touch()
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            return 1

    monkeypatch.setattr(stopping.command_line, "main", main)
    monkeypatch.setattr(stopping, "LONGEST", 0.2)
    faults = faults_when_stopped(QUICK[0], "1", inputs)
    assert [fault.split(":")[0].split(" after")[0] for fault in faults] == [
        "exit code 1",
        "said",
        "out.conllu",
        ".out.partial was left",
    ]
