"""Files: what is read is what was written, and a failed write leaves things as they were."""

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import os
import stat
import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from qsproj.corpus import files, packed
from qsproj.corpus.files import check_can_be_written, digest_of, open_binary_output, open_output, open_text
from qsproj.errors import DataError, UsageError
from qsproj.progress import notices

TEXT = "é\r\n\r line separator \u2028 stays\n\n"


def read(path_or_file):
    with open_text(path_or_file) as handle:
        return "".join(handle)


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "a.xz", "a.bz2"])
def test_text_comes_back_untouched(tmp_path, name):
    path = tmp_path / name
    with open_output(path) as handle:
        handle.write(TEXT)
    assert read(path) == read(str(path)) == TEXT
    first = path.read_bytes()
    with open_output(path) as handle:
        handle.write(TEXT)
    assert path.read_bytes() == first
    if name.endswith(".gz"):
        assert first[4:8] == bytes(4), "the time of writing is in the header"


def test_lines_end_at_line_feeds_only():
    with open_text(io.BytesIO(TEXT.encode())) as handle:
        assert list(handle) == ["é\r\n", "\r line separator \u2028 stays\n", "\n"]


def test_a_reader_that_went_away_is_no_bad_output(monkeypatch):
    class Closed(io.StringIO):
        def write(self, text, /):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError), open_output("-") as handle:
        handle.write("x")


def zipped(content):
    binary = io.BytesIO()
    with ZipFile(binary, "w", ZIP_DEFLATED) as archive:
        archive.writestr("folder/text.txt", content)
        archive.writestr("__MACOSX/folder/._text.txt", b"\0\5\x16\7\xff")
        archive.writestr("folder/.DS_Store", b"\xff")
    return binary.getvalue()


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress, bz2.compress, zipped])
def test_compression_is_told_by_content_in_open_files_too(compress):
    binary = io.BytesIO(compress(TEXT.encode()))
    assert read(binary) == TEXT
    assert not binary.closed


def test_two_gzip_members_are_one_text(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert read(tmp_path / "a.gz") == "a\nb\n"


def test_open_files_are_written_and_left_open():
    text, binary = io.StringIO(newline=""), io.BytesIO()
    for stream in (text, binary):
        with open_output(stream) as handle:
            handle.write(TEXT)
    assert text.getvalue() == binary.getvalue().decode() == TEXT


def test_standard_streams():
    program = (
        "from qsproj.corpus.files import *\n"
        "with open_text('-') as i, open_output('-') as o: o.write(i.read())"
    )
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(
        [sys.executable, "-c", program], input=TEXT.encode(), capture_output=True, env=environment, check=True
    )
    assert done.stdout == TEXT.encode()


@pytest.mark.parametrize("good_lines", [0, 3, 30_000])
def test_bytes_that_are_not_utf8_are_placed(tmp_path, good_lines):
    path = tmp_path / "latin1.txt"
    path.write_bytes("ok é\n".encode() * good_lines + "caf\xe9\n".encode("latin-1") + b"ok\n" * 5)
    with pytest.raises(DataError, match=rf"latin1.txt:{good_lines + 1}: found byte 0xe9 .* UTF-8.*iconv"):
        read(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_other_encodings_of_unicode_are_named(tmp_path, encoding, compress):
    path = tmp_path / "x.txt"
    path.write_bytes(compress("Der Hund bellt.\nGut.\n".encode(encoding)))
    name = encoding.upper().replace("16-", "16")
    with (
        pytest.raises(DataError, match=f"x.txt:1: found text in {name}.*iconv -f {name} -t UTF-8"),
        open_text(path),
    ):
        pass


def test_a_null_byte_makes_no_other_encoding(tmp_path):
    path = tmp_path / "x.txt"
    for content in ("a\0b\n", "\0\0\0\0\n", "", "x"):
        path.write_text(content)
        with open_text(path) as lines:
            assert lines.read() == content


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress])
def test_archives_that_are_cut_off_name_the_line_reached(tmp_path, compress):
    path = tmp_path / "cut"
    whole = compress("".join(f"{i * i}\n" for i in range(20_000)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    lines = 0
    message = r"cut:[0-9]+: found a damaged or cut-off archive"
    with pytest.raises(DataError, match=message) as caught, open_text(path) as handle:
        for _ in handle:
            lines += 1
    assert lines <= caught.value.line <= lines + 10_000


def test_what_cannot_be_read_is_one_line(tmp_path):
    with pytest.raises(UsageError, match="nowhere: cannot be read: No such file"):
        read(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        read(tmp_path)


def test_a_file_that_is_lost_with_standard_output_is_named(tmp_path):
    """As in ``biparse -o FILE --source-output - | head``."""
    said: list[str] = []
    with notices(said.append), pytest.raises(BrokenPipeError), open_output(tmp_path / "lost.gz") as handle:
        handle.write(TEXT)
        raise BrokenPipeError
    assert said == [f"{tmp_path / 'lost.gz'}: not written, as the reader of standard output ended first"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("old", [None, "old"])
def test_a_failed_write_leaves_everything_as_it_was(tmp_path, old):
    path = tmp_path / "a.gz"
    if old:
        path.write_text(old)
    with pytest.raises(RuntimeError), open_output(path) as handle:
        handle.write("new")
        raise RuntimeError
    assert [p.name for p in tmp_path.iterdir()] == (["a.gz"] if old else [])
    assert not old or path.read_text() == old


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "a.xz"])
def test_a_full_disk_is_one_line(tmp_path, name):
    program = (
        "import random, resource, sys\n"
        "from qsproj.corpus.files import *\n"
        "from qsproj.errors import *\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "try:\n"
        "    with open_output(sys.argv[1]) as handle:\n"
        "        for _ in range(100_000): handle.write(str(random.random()))\n"
        "except UsageError as error: print(error)\n"
    )
    path = tmp_path / name
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert done.stdout == f"{path}: cannot be written: {os.strerror(errno.EFBIG)}\n"
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert path.read_text() == "old"


def test_where_one_cannot_write(tmp_path):
    with (
        pytest.raises(UsageError, match="cannot be written: No such file"),
        open_output(tmp_path / "no" / "a"),
    ):
        pass
    with pytest.raises(UsageError, match="found a directory"), open_output(tmp_path):
        pass
    with pytest.raises(UsageError, match="/dev/full: cannot be written"), open_output("/dev/full") as handle:
        handle.write("x")


def test_devices_and_links_are_written_through(tmp_path):
    with open_output("/dev/null") as handle:
        handle.write("x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with open_binary_output(tmp_path / "link") as handle:
        handle.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"x"


def test_a_pipe_without_a_name_is_written():
    reading, writing = os.pipe()
    with open_output(f"/dev/fd/{writing}") as handle:
        handle.write("x\n")
    os.close(writing)
    with os.fdopen(reading, encoding="ascii") as handle:
        assert handle.read() == "x\n"


def test_a_protected_file_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o444)
    # The superuser may write all files.
    monkeypatch.setattr(os, "access", lambda file, mode: not (mode == os.W_OK and Path(file) == path))
    for use in (open_output, open_binary_output):
        with pytest.raises(UsageError, match="a: cannot be written: Permission denied"), use(path):
            pass
    with pytest.raises(UsageError, match="a: cannot be written: Permission denied"):
        check_can_be_written(path)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_permissions_of_a_replaced_file_are_kept(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    with open_output(path) as handle:
        handle.write("new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_an_archive_of_one_line_over_and_over_is_told_before_it_fills_the_memory(tmp_path, compress):
    bomb = tmp_path / "bomb"
    bomb.write_bytes(compress(b"a\n" * (9 << 20)))
    message = r"bomb:[0-9]+: found an archive that expands to more than 200 times"
    with pytest.raises(DataError, match=message), open_text(bomb) as handle:
        while handle.read(1 << 20):
            pass


def test_text_that_is_compressed_well_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "LARGEST_BOMB", 1000)
    path = tmp_path / "text.xz"
    lines = [f"{number} {number * number}\n" for number in range(5000)]
    path.write_bytes(lzma.compress("".join(lines).encode()))
    assert read(path) == "".join(lines)
    path.write_bytes(lzma.compress(b"the same\n" * 200_000))
    with pytest.raises(DataError, match="expands to more"):
        read(path)
    path.write_bytes(b"the same\n" * 2000)
    assert len(read(path)) == 18_000


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"\x28\xb5\x2f\xfd" + b"\x88" * 40, "a file compressed by Zstandard, .*unpack it: zstd -d FILE"),
        (b"7z\xbc\xaf\x27\x1c" + b"\x88" * 40, "a 7-Zip archive, .*unpack it: 7z x FILE"),
        (
            gzip.compress(bytes(257) + b"ustar" + bytes(300), mtime=0),
            "a tar archive, .*unpack it: tar -xf FILE",
        ),
        (
            b"PK\x03\x04" + b"\x88" * 40,
            "a zip archive that cannot be read .File is not a zip file.*unzip FILE",
        ),
    ],
)
def test_archives_that_are_not_read_are_named(tmp_path, head, message):
    (tmp_path / "a").write_bytes(head)
    with pytest.raises(DataError, match=rf"a:1: found {message}"):
        read(tmp_path / "a")


def test_a_zip_archive_of_several_texts_is_refused(tmp_path):
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "a")
        archive.writestr("b.txt", "b")
    with pytest.raises(DataError, match=r"2 files in it, expected one.*; models are read by -m"):
        read(tmp_path / "a.zip")


@pytest.mark.parametrize("name", ["a.zst", "a.zip", "a.7z", "a.conllu.zst"])
def test_names_of_archives_that_are_not_written_are_refused_before_the_work(tmp_path, name):
    for check in (files.check_can_be_written, lambda path: open_output(path).__enter__()):
        with pytest.raises(UsageError, match=r"found the ending .*; text may end in .gz, .xz or .bz2"):
            check(tmp_path / name)
    with pytest.raises(UsageError, match=r"found the ending .bz2"):
        files.check_can_be_written(tmp_path / "model.bz2", text=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="streams have no path here")
@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1"])
def test_a_path_of_standard_output_is_written_where_it_goes(tmp_path, path):
    program = (
        f"from qsproj.corpus.files import open_output\nwith open_output({path!r}) as out: out.write('now ')"
    )
    redirected = tmp_path / "out"
    command = f'(printf "before "; "{sys.executable}" -c "{program}"; printf after) > "{redirected}"'
    subprocess.run(["bash", "-c", command], check=True)
    assert redirected.read_text() == "before now after"
    assert list(tmp_path.iterdir()) == [redirected]


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="pipes have no path here")
def test_a_pipe_can_be_read_several_times():
    text = "a\tb\n" * 2000
    reading, writing = os.pipe()
    path = f"/dev/fd/{reading}"
    try:
        with os.fdopen(writing, "w") as handle:
            handle.write(text)
        for _ in range(2):
            with open_text(path) as handle:
                assert handle.readline() == "a\tb\n"
        with open_text(path) as handle:
            assert handle.read() == text
        assert digest_of(path) == hashlib.sha256(text.encode()).hexdigest()
    finally:
        os.close(reading)


def test_outputs_whose_long_names_begin_alike_are_written_apart(tmp_path):
    names = [tmp_path / ("n" * 60 + ending) for ending in ("", ".counts")]
    with open_output(names[0]) as first, open_output(names[1]) as second:
        first.write("links")
        second.write("counts")
    assert [path.read_text() for path in names] == ["links", "counts"]
    assert sorted(tmp_path.iterdir()) == names


def test_a_byte_that_is_not_utf_8_is_reported_with_its_own_file(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text("a\nb\nc\nd\n")
    bad.write_bytes(b"one\ntwo\nthr\xe9e\nfour\n")
    for first, second in ((good, bad), (bad, good)):
        found = pytest.raises(DataError, match=r"bad:3: found byte 0xe9")
        with found, open_text(first) as one, open_text(second) as other:
            list(zip(one, other, strict=True))


def test_errors_of_what_is_written_are_not_those_of_the_file(tmp_path):
    with pytest.raises(TimeoutError, match="no answer"), open_output(tmp_path / "out"):
        raise TimeoutError("no answer")
    assert list(tmp_path.iterdir()) == []


def test_a_line_feed_may_follow_the_bytes_looked_at(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a" * 4095 + b"\r\nb\r\n")
    assert read(path) == "a" * 4095 + "\r\nb\r\n"


def test_a_closed_stream_is_refused_before_the_work():
    with pytest.raises(UsageError, match="/dev/fd/987: cannot be written"):
        check_can_be_written("/dev/fd/987")


def test_characters_that_an_encoding_lacks_are_named():
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    message = "found '\u0141', expected characters of latin-1; open the file with encoding='utf-8'"
    with pytest.raises(UsageError, match=message), open_output(narrow) as handle:
        handle.write("\u0141")
        narrow.flush()


@pytest.mark.parametrize("name", ["out", "out.gz"])
def test_half_a_character_cannot_be_written(tmp_path, name):
    """A lone surrogate, which Python strings may contain."""
    message = rf"{name}: cannot be written: found .*, half of a character"
    with pytest.raises(UsageError, match=message), open_output(tmp_path / name) as handle:
        handle.write("a\ud800")
    assert not list(tmp_path.iterdir())
