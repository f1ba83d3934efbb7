"""What was fetched: kept once, checked, and mended."""

import io
import zipfile

import pytest

from qsproj.datasets.catalogue import Dataset, RemoteFile, dataset
from qsproj.datasets.store import RetryPolicy, Store, blob_of, fetched, terms_of
from qsproj.errors import DataError, UsageError
from tests.datasets.server import serving

pytest.importorskip("pooch")
TREES = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
# `git hash-object` says so.
BLOB = "b02d1a0208cdbc9694e6c686b0f345a30c2e8317"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as files:
        yield files


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cache", RetryPolicy(attempts=2, pause=0.001))


def left_in(store):
    return sorted(str(path.relative_to(store.folder)) for path in store.folder.rglob("*") if path.is_file())


def treebank(server, blob=BLOB):
    file = RemoteFile(f"{server.url}/a_b-ud-test.conllu", "ud/2.14/a_b-ud-test.conllu", blob, "test")
    return Dataset("ud/a_b@2.14", "CC0", "http://page", (file,))


def test_the_name_of_a_content_is_that_of_git(tmp_path):
    (tmp_path / "file").write_bytes(TREES)
    assert blob_of(tmp_path / "file") == BLOB


def test_a_file_is_fetched_once(server, store):
    server.content["/a_b-ud-test.conllu"] = TREES
    for _ in range(2):
        (path,) = fetched(treebank(server), store)
        assert path.read_bytes() == TREES
    assert len(server.asked) == 1
    assert left_in(store) == ["ud/2.14/a_b-ud-test.conllu"]


def test_wrong_bytes_are_not_kept(server, store):
    server.content["/a_b-ud-test.conllu"] = b"something else"
    with pytest.raises(DataError, match=f"found content [0-9a-f]+, expected {BLOB}; nothing was kept"):
        fetched(treebank(server), store)
    assert left_in(store) == []
    server.content["/a_b-ud-test.conllu"] = TREES
    assert fetched(treebank(server), store)


@pytest.mark.parametrize("blob", [BLOB, None])
def test_a_file_that_was_damaged_is_fetched_again(server, store, blob):
    server.content["/a_b-ud-test.conllu"] = TREES
    (path,) = fetched(treebank(server, blob), store)
    path.write_bytes(b"damaged")
    assert not store.has(treebank(server, blob).files[0])
    (path,) = fetched(treebank(server, blob), store)
    assert path.read_bytes() == TREES


def test_parts_that_do_not_exist_are_left_out(server, store):
    base = "/UniversalDependencies/UD_French-GSD/r2.16/"
    server.content[f"{base}fr_gsd-ud-test.conllu"] = TREES
    server.content[f"{base}LICENSE.txt"] = b"free\n"
    data = dataset("ud/fr_gsd@2.16", mirror=server.url)
    assert [path.name for path in fetched(data, store)] == ["fr_gsd-ud-test.conllu"]
    assert terms_of(data, store).endswith("ud/2.16/fr_gsd.LICENSE.txt")
    with pytest.raises(UsageError, match=r"fr_gsd-ud-dev.conllu: found no such file"):
        fetched(data, store, ("dev",))


def test_a_part_that_a_treebank_does_not_have_is_said(server, store):
    with pytest.raises(UsageError, match=r"ud/a_b@2.14: found no part train; leave out --part"):
        fetched(treebank(server), store, ("train",))


def archive(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as zipped:
        for name, text in members.items():
            zipped.writestr(name, text)
    return packed.getvalue()


def test_the_two_sides_of_a_bitext_are_unpacked(server, store):
    members = {"News-Commentary.de-en.de": "Hund\n", "News-Commentary.de-en.en": "dog\n", "LICENSE": "free\n"}
    server.content["/OPUS-News-Commentary/v16/moses/de-en.txt.zip"] = archive(**members, README="...")
    data = dataset("opus/News-Commentary/en-de", mirror=server.url)
    for _ in range(2):
        english, german = fetched(data, store)
        assert (english.read_text(), german.read_text()) == ("dog\n", "Hund\n")
    assert len(server.asked) == 1
    assert terms_of(data, store).endswith("News-Commentary.de-en.LICENSE")
    assert [name.rpartition("/")[2] for name in left_in(store)] == [
        "News-Commentary.de-en.LICENSE",
        "News-Commentary.de-en.de",
        "News-Commentary.de-en.de.sha256",
        "News-Commentary.de-en.en",
        "News-Commentary.de-en.en.sha256",
    ]


def odd_archive(*, flags=0, method=None, flaw=None):
    """Return an archive of both sides whose entries say what is not so, or whose data is damaged."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name in ("Books.de-en.de", "Books.de-en.en"):
            zipped.writestr(name, "Hund und Katze\n" * 99)
    content = bytearray(packed.getvalue())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.find(mark)
        while place >= 0:
            content[place + at] |= flags
            content[place + at + 2] = content[place + at + 2] if method is None else method
            place = content.find(mark, place + 4)
    if flaw is not None:
        content[44:60] = flaw * 16
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (odd_archive(flags=1), "encrypted"),
        (odd_archive(method=99), "damaged"),
        (odd_archive(method=14), "damaged"),
        (odd_archive(method=12), "damaged"),
        (odd_archive(flaw=b"\xff"), "damaged"),
        (b"<html>sign in</html>", "found no zip archive"),
        (archive(other="x"), "damaged or has other files"),
        (
            archive(**{"Books.de-en.de": "Hund" * 99, "Books.de-en.en": "x"}).replace(
                b"HundHund", b"KatzKatz"
            ),
            "damaged",
        ),
    ],
)
def test_archives_that_are_none_are_refused(server, store, content, message):
    server.content["/OPUS-Books/v1/moses/de-en.txt.zip"] = content
    with pytest.raises(DataError, match=message):
        fetched(dataset("opus/Books/en-de", mirror=server.url), store)
    assert [name for name in left_in(store) if name.endswith((".zip", ".en"))] == []
