"""The folder of what was fetched: files are fetched once, checked, and found there afterwards."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qsproj.corpus.files import open_binary_output
from qsproj.datasets.catalogue import Dataset, RemoteFile
from qsproj.datasets.download import MissingFileError, Patience, download, forget
from qsproj.errors import DataError, UsageError

_ARCHIVE = ".zip"
_TERMS = "LICENSE"


@dataclass(frozen=True, slots=True)
class Store:
    """Where files are kept, and how they are fetched."""

    folder: Path
    patience: Patience = field(default_factory=Patience)

    def places(self, file: RemoteFile) -> list[Path]:
        """Return where a file, or what is wanted of an archive, is when it has been fetched."""
        path = self.folder / file.path
        return [path.parent / member for member in file.members] or [path]

    def has(self, file: RemoteFile) -> bool:
        """Tell whether a file has been fetched, and is as it was."""
        return all(place.is_file() and _is_as_it_was(place, file.blob) for place in self.places(file))

    def get(self, file: RemoteFile) -> list[Path]:
        """Fetch a file unless it is there; return where it, or what is wanted of it, is.

        Raises as :func:`download`; DataError when other bytes came than the table knows, or an archive is
        damaged.
        """
        if self.has(file):
            return self.places(file)
        path = self.folder / file.path
        # What may be there is not as it was.
        path.unlink(missing_ok=True)
        _retrieve(file, path, self.patience)
        if file.members:
            _unpack(file, path)
            path.unlink()
        for place in self.places(file):
            if file.blob is None:
                _note_of(place).write_text(f"{_sha256(place)}\n", encoding="ascii")
        return self.places(file)


def default_folder() -> Path:
    """Return the folder that ``QSPROJ_CACHE`` names, or the user's cache, which pooch knows."""
    named = os.environ.get("QSPROJ_CACHE")
    return Path(named).expanduser() if named else Path(_pooch().os_cache("qsproj"))


def blob_of(path: Path) -> str:
    """Return what git calls the content of a file (``git hash-object``)."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as handle:
        while chunk := handle.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _is_as_it_was(place: Path, blob: str | None) -> bool:
    """Compare a file with the table, or with what was noted when it came."""
    if blob is not None:
        return blob_of(place) == blob
    note = _note_of(place)
    return note.is_file() and note.read_text(encoding="ascii").strip() == _sha256(place)


def _note_of(place: Path) -> Path:
    return place.with_name(f"{place.name}.sha256")


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def terms_of(data: Dataset, store: Store) -> str:
    """Return where the licence of what was fetched can be read: a file, else a page."""
    if data.terms is not None:
        try:
            return str(store.get(data.terms)[0])
        except UsageError:
            return data.page
    places = [place for file in data.files for place in store.places(file)]
    kept = [place.parent / f"{place.stem}.{_TERMS}" for place in places]
    return next((str(place) for place in kept if place.exists()), data.page)


def copied(paths: list[Path], folder: Path) -> Iterator[Path]:
    """Copy files into a folder; yield where they are there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from error
    for path in paths:
        with open_binary_output(folder / path.name) as output, path.open("rb") as handle:
            shutil.copyfileobj(handle, output)
        yield folder / path.name


def _retrieve(file: RemoteFile, path: Path, patience: Patience) -> None:
    """Fetch one file by pooch, which moves into place what has been checked."""
    pooch = _pooch()
    # It would say at length what is said in a line.
    pooch.get_logger().setLevel("ERROR")

    def fetch(url: str, output: str, _: Any) -> None:
        def accept(arrived: Path) -> None:
            fault = _fault(file, arrived)
            if fault is None:
                arrived.replace(output)
            forget(path)
            if fault is not None:
                raise fault

        download(url, path, accept, patience=patience)

    try:
        pooch.retrieve(file.url, known_hash=None, fname=path.name, path=path.parent, downloader=fetch)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error


def _fault(file: RemoteFile, path: Path) -> DataError | None:
    """Return what is wrong with what has come, if anything."""
    remedy = "nothing was kept; try again, or fetch it by hand"
    if file.blob is not None and (found := blob_of(path)) != file.blob:
        return DataError(file.url, None, f"content {found}", f"{file.blob}", remedy)
    if file.path.endswith(_ARCHIVE) and not zipfile.is_zipfile(path):
        return DataError(file.url, None, "no zip archive", "one", remedy)
    return None


def _unpack(file: RemoteFile, path: Path) -> None:
    """Take what is wanted out of an archive, and its licence."""
    try:
        with zipfile.ZipFile(path) as archive:
            wanted = dict(zip(file.members, file.members, strict=True))
            if _TERMS in archive.namelist():
                wanted[_TERMS] = f"{Path(file.members[0]).stem}.{_TERMS}"
            for member, name in wanted.items():
                with open_binary_output(path.parent / name) as output, archive.open(member) as handle:
                    shutil.copyfileobj(handle, output)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        for place in (path, *(path.parent / member for member in file.members)):
            place.unlink(missing_ok=True)
        raise DataError(
            file.url,
            None,
            found=f"an archive that is damaged or has other files ({error})",
            expected=" and ".join(file.members),
            remedy="try again, or fetch it by hand",
        ) from error


def _pooch() -> Any:
    try:
        import pooch
    except ImportError as error:
        raise UsageError("found no package that fetches; install it: pip install 'qsproj[data]'") from error
    return pooch


def fetched(data: Dataset, store: Store, parts: tuple[str, ...] = ()) -> list[Path]:
    """Fetch the files of a dataset, or of some parts of it; UsageError when none of these exists."""
    found: list[Path] = []
    missing: MissingFileError | None = None
    for file in data.files:
        if parts and file.part and file.part not in parts:
            continue
        try:
            found += store.get(file)
        except MissingFileError as error:
            if file.certain or file.members:
                raise
            missing = error
    if not found:
        raise missing or UsageError(f"{data.name}: found no part {' or '.join(parts)}; leave out --part")
    return found
