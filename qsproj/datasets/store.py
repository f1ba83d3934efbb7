"""Cache of downloaded files: each file is fetched once over HTTP, verified and reused.

A partial download is kept in ``NAME.partial`` beside the file, with the ETag of the server in
``NAME.partial.tag``: downloads are resumed, or begun anew for a file that has changed on the server.
"""

import hashlib
import lzma
import os
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from qsproj.corpus.files import copy_to, digest_of, locked, open_binary_output, reporting_failure
from qsproj.corpus.packed import opened_member
from qsproj.datasets.catalogue import Dataset, RemoteFile
from qsproj.errors import DataError, UsageError, optional_package
from qsproj.progress import bar

if TYPE_CHECKING:
    from requests import Response

_CHUNK_BYTES = 1 << 14  # per read, the most lost when a connection breaks
_DAMAGED = (zipfile.BadZipFile, KeyError, EOFError, zlib.error, lzma.LZMAError)  # of damaged archives
_OK, _PARTIAL_CONTENT, _RANGE_NOT_SATISFIABLE = 200, 206, 416


class MissingFileError(UsageError):
    """The file does not exist on the server."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Timeouts of a download in seconds, and attempts without progress."""

    connect: float = 15.0  # for a response
    silence: float = 60.0  # for the next bytes of a file, long enough for slow servers
    attempts: int = 5  # in a row
    pause: float = 1.0  # before the second attempt; doubled before each further one


class _BrokenOffError(Exception):
    """The connection failed or the file ended early; the download may be retried."""


def download(url: str, path: Path, accept: Callable[[Path], None], *, patience: RetryPolicy) -> None:
    """Download a file, resuming an earlier attempt; ``accept`` verifies it and moves it into place."""
    arrived = path.with_name(f"{path.name}.partial")
    with reporting_failure(path, "written"):
        arrived.parent.mkdir(parents=True, exist_ok=True)
        with arrived.open("a+b") as handle:
            if not locked(handle):
                raise UsageError(f"{arrived}: is being fetched by another process; wait for it")
            _receive_all(url, path, handle, patience)
            accept(arrived)


def _receive_all(url: str, path: Path, handle: IO[bytes], patience: RetryPolicy) -> None:
    failures = 0
    while True:
        before = handle.seek(0, 2)
        try:
            _go_on(url, path, handle, patience)
            return
        except _BrokenOffError as error:
            came = handle.seek(0, 2)
            failures = 1 if came > before else failures + 1
            if failures >= patience.attempts:
                kept = f"; the {came:,} bytes received are kept: run the command again to continue"
                raise UsageError(f"{url}: could not be fetched: {error}{kept if came else ''}") from error
            time.sleep(patience.pause * 2 ** (failures - 1))


def _go_on(url: str, path: Path, handle: IO[bytes], patience: RetryPolicy) -> None:
    import requests

    tag = path.with_name(f"{path.name}.partial.tag")
    known = tag.read_text(encoding="utf-8") if tag.exists() else ""
    start = handle.seek(0, 2) if known else 0
    # Uncompressed transfer, as bytes are counted.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    if start and not known.startswith("W/"):  # a weak ETag is not valid there
        headers["If-Range"] = known
    timeout = patience.connect, patience.silence
    try:
        with requests.get(url, headers=headers, stream=True, timeout=timeout) as response:
            _check_answer(url, response)
            if start and response.headers.get("Content-Range") == f"bytes */{start}":
                return
            continues = (
                response.status_code == _PARTIAL_CONTENT
                and response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
                and _version(response) == known
            )
            if start and not continues:
                tag.unlink()
                if response.status_code != _OK:
                    raise _BrokenOffError("the server did not resume at the requested position")
                start = 0
            if not start:
                handle.truncate(0)
            tag.write_text(_version(response), encoding="utf-8")
            _receive(response, handle, start, path.name)
    except requests.exceptions.RequestException as error:
        raise _BrokenOffError(_reason(error)) from error


def _check_answer(url: str, response: "Response") -> None:
    status = response.status_code
    if url.startswith("https:") and not response.url.startswith("https:"):
        remedy = "fetch it by hand if you trust it"
        raise UsageError(f"{url}: redirects to {response.url}, expected https; {remedy}")
    if status in (404, 410):
        raise MissingFileError(f"{url}: found no such file ({status})")
    if status in (429, 500, 502, 503, 504):
        raise _BrokenOffError(f"the server answers {status} {response.reason}")
    if status not in (_OK, _PARTIAL_CONTENT, _RANGE_NOT_SATISFIABLE):
        raise UsageError(f"{url}: found the answer {status} {response.reason}, expected the file")


def _receive(response: "Response", handle: IO[bytes], start: int, name: str) -> None:
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdecimal() else None
    with bar(name, total=total, unit="B", done=start) as move:
        try:
            for chunk in response.iter_content(_CHUNK_BYTES):
                handle.write(chunk)
                move(len(chunk))
        finally:
            handle.flush()
    size = handle.seek(0, 2)
    if total is not None and size != total:
        raise _BrokenOffError(f"it ended after {size:,} of {total:,} bytes")


def _version(response: "Response") -> str:
    headers: Mapping[str, str] = response.headers
    return headers.get("ETag") or headers.get("Last-Modified", "")


def _reason(error: Any) -> str:
    import requests

    kinds = {
        requests.exceptions.ProxyError: "the proxy cannot be reached, or refuses",
        requests.exceptions.SSLError: "its certificate is not trusted",
        requests.exceptions.ConnectTimeout: "it does not answer",
        requests.exceptions.ReadTimeout: "it stopped responding",
        requests.exceptions.ChunkedEncodingError: "the connection broke off",
        requests.exceptions.ConnectionError: "it cannot be reached",
    }
    return next((text for kind, text in kinds.items() if isinstance(error, kind)), str(error))


_TERMS = "LICENSE"


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of downloaded files, with the policy for downloads."""

    folder: Path
    patience: RetryPolicy = field(default_factory=RetryPolicy)

    def places(self, file: RemoteFile) -> list[Path]:
        path = self.folder / file.path
        return [path.parent / member for member in file.members] or [path]

    def has(self, file: RemoteFile) -> bool:
        return all(place.is_file() and _is_as_it_was(place, file.blob) for place in self.places(file))

    def get(self, file: RemoteFile) -> list[Path]:
        """Fetch a file if needed; return its path, or those of the extracted members."""
        if self.has(file):
            return self.places(file)
        path = self.folder / file.path
        # An existing file has changed.
        path.unlink(missing_ok=True)
        _pooch()  # requests, which downloads, is installed with it
        download(file.url, path, partial(_accept, file, path), patience=self.patience)
        if file.members:
            _unpack(file, path)
            path.unlink()
        for place in self.places(file) if file.blob is None else ():
            _note_of(place).write_text(f"{digest_of(place)}\n", encoding="ascii")
        return self.places(file)


def default_folder() -> Path:
    named = os.environ.get("QSPROJ_CACHE")
    return Path(named).expanduser() if named else Path(_pooch().os_cache("qsproj"))


def blob_of(path: Path) -> str:
    """Return the git blob hash of a file (``git hash-object``)."""
    header = b"blob %d\0" % path.stat().st_size
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, lambda: hashlib.sha1(header, usedforsecurity=False))
    return digest.hexdigest()


def _is_as_it_was(place: Path, blob: str | None) -> bool:
    if blob is not None:
        return blob_of(place) == blob
    note = _note_of(place)
    return note.is_file() and note.read_bytes().strip() == digest_of(place).encode()


def _note_of(place: Path) -> Path:
    return place.with_name(f"{place.name}.sha256")


def terms_of(data: Dataset, store: Store) -> str:
    if data.terms is not None:
        with suppress(UsageError):
            return str(store.get(data.terms)[0])
        return data.page
    places = (place for file in data.files for place in store.places(file))
    kept = (place.with_name(f"{place.stem}.{_TERMS}") for place in places)
    return next((str(place) for place in kept if place.exists()), data.page)


def copied(paths: list[Path], folder: Path) -> Iterator[Path]:
    with reporting_failure(folder, "written"):
        folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        copy_to(path, folder / path.name)
        yield folder / path.name


def _accept(file: RemoteFile, path: Path, arrived: Path) -> None:
    """Move a download into place if it is the expected file; raise DataError, and remove it, otherwise."""
    fault, remedy = None, "nothing was kept; try again, or fetch it by hand"
    if file.blob is not None and (found := blob_of(arrived)) != file.blob:
        fault = DataError(file.url, None, f"content {found}", file.blob, remedy)
    elif file.path.endswith(".zip") and not zipfile.is_zipfile(arrived):
        fault = DataError(file.url, None, "no zip archive", "one", remedy)
    else:
        arrived.replace(path)
    for suffix in (".partial", ".partial.tag"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    if fault is not None:
        raise fault


def _unpack(file: RemoteFile, path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            wanted = dict(zip(file.members, file.members, strict=True))
            if _TERMS in archive.namelist():
                wanted[_TERMS] = f"{Path(file.members[0]).stem}.{_TERMS}"
            for member, name in wanted.items():
                place, packed = path.parent / name, archive.getinfo(member)
                with open_binary_output(place) as output, opened_member(archive, packed) as handle:
                    output.writelines(_chunks(handle))
    except _DAMAGED as error:
        for place in (path, *(path.parent / member for member in file.members)):
            place.unlink(missing_ok=True)
        found = f"an archive that is damaged or has other files ({error})"
        expected, remedy = " and ".join(file.members), "try again, or fetch it by hand"
        raise DataError(file.url, None, found, expected, remedy) from error


def _chunks(packed: IO[bytes]) -> Iterator[bytes]:
    try:
        yield from iter(lambda: packed.read(1 << 20), b"")
    except OSError as error:  # of bzip2 for damaged data
        raise zipfile.BadZipFile(str(error)) from error


def _pooch() -> Any:
    return optional_package("pooch", "found no package for downloads; install it: pip install 'qsproj[data]'")


def files_of(data: Dataset, parts: Sequence[str] = ()) -> list[RemoteFile]:
    """Return the files of the parts, all without ``parts``; raise UsageError where the data have none."""
    wanted = [one for one in data.files if not parts or not one.part or one.part in parts]
    if not wanted:
        raise UsageError(f"{data.name}: found no part {' or '.join(parts)}; leave out --part")
    return wanted


def fetched(data: Dataset, store: Store, parts: Sequence[str] = ()) -> list[Path]:
    found, missing = list[Path](), None
    for file in files_of(data, parts):
        try:
            found += store.get(file)
        except MissingFileError as error:
            if file.certain or file.members:
                raise
            missing = error
    if missing is not None and not found:
        raise missing
    return found
