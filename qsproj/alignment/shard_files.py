"""The arrays of a bitext's shards as files of a folder, so that memory holds one shard at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.errors import UsageError


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """The arrays of one shard, by name; each a file.

    ``folder``: must live as long as the shard is used. ``number``: that of the shard.
    """

    folder: Path
    number: int

    def save(self, name: str, array: NDArray[Any]) -> None:
        """Write an array, in place of what had that name.

        Raises UsageError when there is no room.
        """
        with self._errors_told():
            np.save(self._path(name), array)

    def load(self, name: str) -> NDArray[Any]:
        """Return an array."""
        array: NDArray[Any] = np.load(self._path(name))
        return array

    def part(self, name: str, first: int, last: int) -> NDArray[Any]:
        """Return ``array[first:last]``, of which no more is read; fewer where the array ends before."""
        return np.array(np.load(self._path(name), mmap_mode="r")[first:last])

    def append(self, name: str, array: NDArray[Any]) -> None:
        """Write an array after what :meth:`append` has written under that name.

        Raises UsageError when there is no room.
        """
        with self._errors_told(), self._appended(name).open("ab") as handle:
            handle.write(array.tobytes())

    def appended(self, name: str, dtype: type[np.generic]) -> NDArray[Any]:
        """Return, once, all that was appended under a name; its file is removed."""
        path = self._appended(name)
        if not path.exists():
            return np.zeros(0, dtype=dtype)
        array: NDArray[Any] = np.fromfile(path, dtype=dtype)
        path.unlink()
        return array

    def remove(self, *names: str) -> None:
        """Remove arrays that are no longer needed."""
        for name in names:
            self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self.folder / f"{self.number:05d}.{name}.npy"

    def _appended(self, name: str) -> Path:
        return self.folder / f"{self.number:05d}.{name}.bin"

    @contextmanager
    def _errors_told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UsageError(
                f"{self.folder}: cannot be written to: {error.strerror}; aligning keeps some 16 bytes there "
                "for each source word times target word of a sentence pair; have TMPDIR name a folder with "
                "more room"
            ) from error
