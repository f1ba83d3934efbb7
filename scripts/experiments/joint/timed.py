"""Training time, summed over all runs of an interrupted and resumed training."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.models.checkpoint import Checkpoint
from qsproj.models.schema import Arrays
from scripts.experiments.harness.cache import write_json

SECONDS = "seconds.json"


@dataclass(frozen=True, kw_only=True)
class TimedCheckpoint(Checkpoint):
    """A checkpoint that keeps with its states the processor seconds that led to them.

    What a run did after its last state is done again by the next one, and counts once. What the next one prepares again,
    before it goes on, counts twice: the time of a training that was broken off is rather too long than too short.

    Attributes
    ----------
    before : float
        Seconds of earlier runs, up to the last state that they kept.
    started : float
        The processor time when this run began.
    """

    before: float = 0.0
    started: float = field(default_factory=time.process_time)

    @property
    def seconds(self) -> float:
        """Seconds of all runs until now."""
        return self.before + time.process_time() - self.started

    def write(
        self, stage: str, header: Mapping[str, Any], arrays: Arrays, rng: np.random.Generator | None = None
    ) -> None:
        """Write the state of a stage, and the time spent so far."""
        super().write(stage, header, arrays, rng)
        write_json(self.folder / SECONDS, self.seconds)


def going_on(folder: Path) -> TimedCheckpoint:
    """Return the checkpoint of a training resumed from the folder; its time is measured from now on."""
    kept = folder / SECONDS
    before = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else 0.0
    checkpoint = TimedCheckpoint(folder=folder, resume=True, before=before)
    folder.mkdir(parents=True, exist_ok=True)
    return checkpoint
