"""One damaged run: the job, its inputs with their faults, and what the judge says."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from random import Random

from tests.fuzzing.commands import Job
from tests.fuzzing.judge import faults_of
from tests.fuzzing.mutations import changed_model, changed_text


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
    damaged = set(rng.sample(names, rng.choice((1, 1, min(2, len(names))))))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        given = dict(inputs)
        for name in sorted(damaged):
            change = changed_model if name.endswith(".model") else changed_text
            given[name] = folder / f"damaged.{name}"
            given[name].write_bytes(change(inputs[name].read_bytes(), rng))
        faults = faults_of(
            job.words(given, folder),
            [given[name] for name in names],
            [folder / name for name in job.outputs()],
        )
        if faults and keep is not None:
            shutil.copytree(folder, keep, dirs_exist_ok=True)
    return faults
