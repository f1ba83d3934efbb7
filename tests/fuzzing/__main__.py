"""``python -m tests.fuzzing [--seconds N] [--seed N] [--keep DIR] [WORD...]``: jobs with these words."""

import argparse
import itertools
import tempfile
import time
from pathlib import Path

from tests.fuzzing.commands import JOBS, make_inputs
from tests.fuzzing.runs import faults_with

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--seconds", type=float, default=600)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--keep", type=Path, help="where inputs go with which something was wrong")
parser.add_argument("word", nargs="*")
options = parser.parse_args()
jobs = [job for job in JOBS if all(word in job.command for word in options.word)]
found = 0
with tempfile.TemporaryDirectory() as place:
    inputs = make_inputs(Path(place), quick=False)
    end = time.monotonic() + options.seconds
    for run in itertools.count():
        if time.monotonic() > end:
            break
        job, seed = jobs[run % len(jobs)], f"{options.seed}.{run // len(jobs)}"
        keep = None if options.keep is None else options.keep / f"{run}"
        for fault in faults_with(job, seed, inputs, keep):
            found += 1
            print(f"== {seed} {job.command}\n{fault}", flush=True)
print(f"{run} runs, {found} faults")
