"""Where the state of a training that can be interrupted is kept: one file a stage, replaced as it goes on."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.errors import DataError, UsageError
from qsproj.models.schema import Arrays
from qsproj.models.storage import load_archive, save_model


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A folder for the state of a training.

    ``folder``: made where it is not there. It holds one file for each stage of the training, replaced when
    there is more to keep. ``resume``: whether to go on from what is there; a folder without a state is
    started from the beginning.
    """

    folder: Path
    resume: bool = False

    def path(self, stage: str) -> Path:
        """Return the file that the state of a stage is in."""
        return self.folder / f"{stage}.checkpoint"

    def stages(self) -> list[str]:
        """Return the stages whose state is there, in alphabetical order."""
        return sorted(path.stem for path in self.folder.glob("*.checkpoint"))

    def make_folder(self) -> None:
        """Make the folder where it is not there.

        Raises UsageError when it cannot be made.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{self.folder}: cannot be made a folder: {error.strerror}") from error

    def write(self, stage: str, header: Mapping[str, Any], arrays: Arrays, *, fingerprint: str) -> None:
        """Write the state of a stage; the file appears when it is whole.

        ``header``, ``arrays``: JSON, and finite numbers. ``fingerprint``: what the state depends on, and has
        to agree in when it is read. Raises UsageError when the file cannot be written.
        """
        save_model(self.path(stage), _kind(stage), {"fingerprint": fingerprint, **header}, arrays)

    def read(self, stage: str, *, fingerprint: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """Return header and arrays of a stage; None where there is none, or none is wanted.

        Raises DataError when the file is damaged, or was made from other data or with other options.
        """
        path = self.path(stage)
        if not (self.resume and path.exists()):
            return None
        kind, header, arrays = load_archive(path)
        if kind != _kind(stage) or header.get("fingerprint") != fingerprint:
            raise DataError(
                str(path),
                None,
                found="a checkpoint of other data or options, or of another version of qsproj",
                expected="one of these",
                remedy="name another folder to start anew",
            )
        return header, arrays


def _kind(stage: str) -> str:
    return f"{stage}-checkpoint"


def checksum(arrays: Iterable[NDArray[Any]], start: int = 0) -> int:
    """Return the CRC-32 of the bytes of the arrays, going on from ``start``, that of others before."""
    for array in arrays:
        start = zlib.crc32(np.ascontiguousarray(array).data, start)
    return start
