"""Damaged inputs are refused in one line that names a file, or taken; and the judge sees what it should."""

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded as Linux does")

if sys.platform == "linux":
    from tests.fuzzing.commands import JOBS, make_inputs
    from tests.fuzzing.judge import faults_of
    from tests.fuzzing.runs import faults_with

RUNS = 12
QUICK = [job for job in JOBS if not job.slow]


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
