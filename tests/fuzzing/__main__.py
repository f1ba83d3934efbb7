"""``python -m tests.fuzzing [--seconds N] [--seed N] [--keep DIR] [--stop] [WORD...]``: jobs with WORDs."""

import argparse
import itertools
import tempfile
import time
from pathlib import Path

from tests.fuzzing.commands import JOBS, LEARNING, make_inputs
from tests.fuzzing.runs import faults_with
from tests.fuzzing.stopping import faults_when_stopped

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--seconds", type=float, default=600)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--keep", type=Path, help="where inputs go with which something was wrong")
parser.add_argument("--stop", action="store_true", help="damage nothing; end each run by SIGTERM")
parser.add_argument("word", nargs="*")
options = parser.parse_args()
jobs = [
    job
    for job in (*JOBS, *(LEARNING if options.stop else ()))
    if all(word in job.command for word in options.word)
    and not (options.stop and job.command.startswith("serve"))
]
found = 0
with tempfile.TemporaryDirectory() as place:
    inputs = make_inputs(Path(place), quick=False)
    end = time.monotonic() + options.seconds
    for run in itertools.count():
        if time.monotonic() > end:
            break
        job, seed = jobs[run % len(jobs)], f"{options.seed}.{run // len(jobs)}"
        keep = None if options.keep is None else options.keep / f"{run}"
        faults = (
            faults_when_stopped(job, seed, inputs) if options.stop else faults_with(job, seed, inputs, keep)
        )
        for fault in faults:
            found += 1
            print(f"== {seed} {job.command}\n{fault}", flush=True)
print(f"{run} runs, {found} faults")
