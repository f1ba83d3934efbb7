"""One damaged run: a job, its inputs with their faults, or with what changes meanwhile, and the verdict."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path
from random import Random

from tests.fuzzing.changing import changes_when_opened_again
from tests.fuzzing.commands import Job
from tests.fuzzing.judge import faults_of
from tests.fuzzing.mutations import changed_model, changed_text

# The share of runs in which an input changes while it is read.
CHANGING = 0.15


def faults_with(job: Job, seed: str, inputs: dict[str, Path], keep: Path | None = None) -> list[str]:
    """Run a job with some of its inputs damaged, and return what was wrong; the same for the same seed.

    Parameters
    ----------
    inputs : dict
        Paths of the undamaged ones, by name.
    keep : Path or None
        Where damaged inputs go when something was wrong.
    """
    rng = Random(seed)
    names = sorted(set(job.inputs()))
    changing = rng.choice(names) if rng.random() < CHANGING else None
    damaged = {changing} if changing else set(rng.sample(names, rng.choice((1, 1, min(2, len(names))))))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        given = dict(inputs)
        for name in sorted(damaged):
            content = inputs[name].read_bytes()
            change = changed_model if name.endswith(".model") else changed_text
            given[name] = folder / f"damaged.{name}"
            given[name].write_bytes(content if changing else change(content, rng))
        with changes_when_opened_again(given[changing], rng) if changing else nullcontext():
            faults = faults_of(
                job.words(given, folder),
                [given[name] for name in names],
                [folder / name for name in job.outputs()],
            )
        if faults and keep is not None:
            shutil.copytree(folder, keep, dirs_exist_ok=True)
    return faults
