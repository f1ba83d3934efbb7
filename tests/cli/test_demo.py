"""The demo: what it prints, and that projection beats what knows nothing."""

import io
import re
import subprocess
import sys

import pytest

from qsproj.cli.main import main

SEEDS = (1, 2, 3)


@pytest.fixture(scope="module")
def ended():
    """Return the demo of the first seed, run to its end in a process of its own."""
    command = [sys.executable, "-m", "qsproj", "demo", "--corpora", "corpora", "--seed", str(SEEDS[0])]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def scores_in(text):
    """Return UAS by system, as the demo prints it."""
    found = re.findall(r"^  (\S.*?) +UAS +([\d.]+)%", text, re.MULTILINE)
    return {name: float(score) for name, score in found}


@pytest.fixture(scope="module")
def scores(ended):
    """Return what the demo prints for each seed."""
    printed = [ended.stdout]
    for seed in SEEDS[1:]:
        with pytest.MonkeyPatch.context() as patch:
            out = io.StringIO()
            patch.setattr(sys, "stdout", out)
            assert main(["demo", "--corpora", "corpora", "--seed", str(seed)]) == 0
        printed.append(out.getvalue())
    return [scores_in(text) for text in printed]


def test_the_demo_projects_and_says_how_well(ended):
    of_one = scores_in(ended.stdout)
    assert len(of_one) == 5
    blind = max(score for name, score in of_one.items() if name.startswith("every"))
    assert of_one["hard projection"] > blind + 30
    assert of_one["English parser of tags alone"] > blind + 30


@pytest.mark.slow
@pytest.mark.parametrize("run", range(len(SEEDS)))
def test_the_demo_beats_its_baseline(scores, run):
    """What is shown as the result must be better than a parser that read no bitext."""
    of_one = scores[run]
    assert of_one["soft projection"] > of_one["English parser of tags alone"]
    assert of_one["soft projection"] > of_one["hard projection"]


def test_nothing_is_left_to_clear_away(ended):
    """The process that learns the links ends by itself; killed, it would leave a lock behind."""
    assert "leaked" not in ended.stderr


def test_a_missing_sample_is_one_line(run_cli, tmp_path):
    outcome = run_cli("demo", "--corpora", tmp_path)
    assert outcome.code == 2
    assert outcome.err.startswith("qsproj demo: found no ")
    assert outcome.err.count("\n") == 1
