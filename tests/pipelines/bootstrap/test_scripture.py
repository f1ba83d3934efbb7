"""Bibles in USFM and USX: text of verses without headings, notes and marks; archives of books."""

from __future__ import annotations

import io
import sys
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from qsproj.errors import DataError, UsageError
from qsproj.pipelines.bootstrap.checks import check_pairs
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.bootstrap.verses import numbered_lines, read_verses
from qsproj.progress import notices


def lines_of(path):
    return tuple(text for _, text in numbered_lines(path))


USFM = r"""\id MAT World English Bible
\h Matthew
\mt1 The Good News
\is Introduction
\ip \v 1 is said of \bk Matthew\bk* here.
\c 1
\s1 The Genealogy
\r (Luke 3:23-38)
\p
\v 1 The book of Jesus\f + \fr 1:1 \ft Messiah\f*, the son of David.
\v 2-3 Abraham became the \add father\add* of Isaac.\x - \xo 1:2 \xt Gen 1.1\x*
\q1 Isaac begat
\s1 A heading within a verse
\q2 \w Jacob|strong="G2384"\w*.
\p
\v 4a He said, \wj “Hello,”\wj*
\b
\m
\v 4b and more.
\c 2
\p
\v 1 \vp 1b\vp*Now when Jesus
"""
USX = """<?xml version="1.0" encoding="utf-8"?>
<usx version="3.0"><book code="MRK" style="id">World English Bible</book>
<para style="h">Mark</para><chapter number="1" style="c" sid="MRK 1"/><para style="s">Heading</para>
<para style="p"><verse number="1" style="v" sid="MRK 1:1"/>The beginning <note style="f" caller="+">
<char style="ft">A note</char></note>of the <char style="nd">Good</char> News.<verse eid="MRK 1:1"/>
<verse number="2" style="v" sid="MRK 1:2"/>As it is</para>
<para style="q1">written.<verse eid="MRK 1:2"/></para>
<table><row style="tr"><cell style="tc1"><verse number="3" style="v"/>The voice</cell>
<cell style="tc2">of one.</cell></row></table></usx>
"""
MATTHEW = (
    "MAT 1:1\tThe book of Jesus, the son of David.",
    "MAT 1:2-3\tAbraham became the father of Isaac. Isaac begat Jacob.",
    "MAT 1:4\tHe said, “Hello,” and more.",
    "MAT 2:1\tNow when Jesus",
)
MARK = (
    "MRK 1:1\tThe beginning of the Good News.",
    "MRK 1:2\tAs it is written.",
    "MRK 1:3\tThe voice of one.",
)


@pytest.fixture
def package():
    pytest.importorskip("usfmtc", reason="qsproj[bible] is not installed")


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.usefixtures("package")
def test_verses_are_read_without_what_stands_between_them(tmp_path):
    assert lines_of(written(tmp_path / "a.usfm", USFM)) == MATTHEW
    assert lines_of(written(tmp_path / "a.SFM", "\ufeff" + USFM)) == MATTHEW
    assert lines_of(written(tmp_path / "b.usx", USX)) == MARK


@pytest.mark.usefixtures("package")
def test_a_file_that_was_written_since_is_read_again(tmp_path):
    path = tmp_path / "a.usfm"
    assert lines_of(written(path, USFM)) == MATTHEW
    assert lines_of(written(path, USFM.replace("MAT", "MRK", 1))) != MATTHEW


@pytest.mark.usefixtures("package")
def test_an_archive_has_a_book_a_file(tmp_path):
    path = tmp_path / "bible.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("release/02-MRK.usx", USX)
        archive.writestr("release/01-MAT.usfm", USFM)
        archive.writestr("copyright.txt", "all of it")
    assert lines_of(str(path)) == MATTHEW + MARK
    verses = read_verses(str(path))
    assert verses.texts[("mrk", 1), 2] == "As it is written."
    assert verses.merged == {(("mat", 1), 3): (("mat", 1), 2)}


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bad.usx", USX[:300], r"bad.usx: found .*bad.usx, which cannot be read .*, expected USFM or USX"),
        ("bad.usfm", "In the beginning\n", r"bad.usfm: found no verse"),
        ("bad.zip", "In the beginning\n", r"bad.zip: found an unreadable archive \(File is not a zip file\)"),
    ],
)
def test_what_is_no_bible_is_told(tmp_path, name, text, message):
    with pytest.raises(DataError, match=message):
        read_verses(written(tmp_path / name, text))


def test_a_bible_is_paired_by_verse(tmp_path):
    paths = [written(tmp_path / name, USFM) for name in ("a.usfm", "b.usfm")]
    text = SourceText(treebanks=(), bitext=tuple(paths), languages=("en", "de"))
    with pytest.raises(UsageError, match=r"a.usfm is a Bible; give two, and --paired-by verse"):
        check_pairs(text)


def test_without_the_extra_it_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "usfmtc", None)
    with pytest.raises(UsageError, match=r"pip install 'qsproj\[bible\]'"):
        lines_of(written(tmp_path / "without.usfm", USFM))


BESIDE = r"""\id PSA x
\c 1
\q1
\v 1 First line.
\qa Aleph
\q1
\v 2 Second \rq 1:3\rq* line (\xt Gen 1.1\xt*).
\esb
\ms Box
\p Prose of a sidebar.
\esbe
\q1
\v 3 Third.
\v 4
\v 5\u200f-6 Together.
\p
\v 7,8 A list.
\v x Odd.
\v 9a Part
\p
\v 9b-10 and bridge.
\periph Glossary|id="glossary"
\p An entry.
""".replace("\\u200f", "\u200f")


@pytest.mark.usefixtures("package")
def test_sidebars_headings_and_references_are_no_text(tmp_path):
    path = written(tmp_path / "a.usfm", BESIDE)
    assert lines_of(path) == (
        "PSA 1:1\tFirst line.",
        "PSA 1:2\tSecond line.",
        "PSA 1:3\tThird.",
        "PSA 1:5-6\tTogether.",
        "PSA 1:7-8\tA list.",
        "PSA 1:x\tOdd.",
        "PSA 1:9-10\tPart and bridge.",
    )
    verses = read_verses(path)
    assert len(verses.texts) == 6
    (odd,) = verses.unreadable
    assert str(odd).startswith(f"{path}:18: found 'PSA 1:x', expected a verse")


@pytest.mark.usefixtures("package")
def test_an_archive_packed_on_a_mac(tmp_path):
    path = tmp_path / "bible.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("release/01-MAT.usfm", USFM)
        archive.writestr("__MACOSX/release/._01-MAT.usfm", b"\0\5\x16\7\xff\xfe")
        archive.writestr("release/._02-MRK.usx", b"\0\5\x16\7\xff\xfe")
    assert lines_of(str(path)) == MATTHEW


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("text", ["", "\0" * 50, "\\", "\\v", "\\c 1\n\\", " \n"])
def test_text_that_is_no_usfm_is_one_line(tmp_path, text):
    with pytest.raises(DataError, match=r"a.usfm: found (no verse|.*a.usfm, which cannot be read)"):
        read_verses(written(tmp_path / "a.usfm", text))


@pytest.mark.usefixtures("package")
def test_text_that_is_the_path_of_a_file_does_not_read_it(tmp_path):
    other = written(tmp_path / "other.usfm", USFM)
    with pytest.raises(DataError, match="found no verse"):
        read_verses(written(tmp_path / "a.usfm", other))


def patched(content, *, flag=0, method=0):
    """Return an archive of one book whose headers say that it is encrypted, or packed by another method."""
    binary = io.BytesIO()
    with ZipFile(binary, "w") as archive:
        archive.writestr("MAT.usfm", content)
    found = bytearray(binary.getvalue())
    for signature, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = found.index(signature) + at
        found[place] |= flag
        found[place + 2] = method or found[place + 2]
    return found


@pytest.mark.usefixtures("package")
def test_archives_that_cannot_be_read_are_one_line(tmp_path):
    path = tmp_path / "bible.zip"
    corrupt = patched(USFM)
    corrupt[80] ^= 0xFF
    deflated = io.BytesIO()
    with ZipFile(deflated, "w", ZIP_DEFLATED) as archive:
        archive.writestr("MAT.usfm", USFM)
    damaged = bytearray(deflated.getvalue())
    damaged[60:90] = b"\xff" * 30
    bomb = io.BytesIO()
    with ZipFile(bomb, "w", ZIP_DEFLATED) as archive:
        archive.writestr("MAT.usfm", "\\v 1 word\n" * (3 << 20))
    cases = (patched(USFM, flag=1), patched(USFM, method=99), corrupt, damaged, bomb.getvalue())
    for number, content in enumerate(cases):
        path = tmp_path / f"{number}.zip"
        path.write_bytes(content)
        with pytest.raises(
            DataError, match=rf"{number}.zip: found an unreadable archive .*expected an archive"
        ):
            read_verses(str(path))


UNENDED = r"""\id MRK
\c 1
\p
\v 1 One alpha.
\v 2 Two beta\f + \fr 1:2 \ft A note. gamma.
\v 3 Three\f + \ft Another\f* delta.
\p
\v 4 Four.
"""


@pytest.mark.usefixtures("package")
def test_a_note_without_an_end_costs_its_own_verse_alone(tmp_path):
    path = written(tmp_path / "MRK.usfm", UNENDED)
    notices_given: list[str] = []
    with notices(notices_given.append):
        lines = lines_of(path)
    assert lines == ("MRK 1:1\tOne alpha.", "MRK 1:3\tThree delta.", "MRK 1:4\tFour.")
    assert notices_given == [f"{path}: left out 1 verse with a note without an end; first: MRK 1:2"]


@pytest.mark.usefixtures("package")
def test_a_verse_that_begins_in_a_heading_is_whole(tmp_path):
    text = "\\id MRK\n\\c 1\n\\p\n\\v 1 One\n\\s1 A heading\n\\v 2 two\n\\q1 lines.\n\\s1 Another\n"
    assert lines_of(written(tmp_path / "MRK.usfm", text)) == (
        "MRK 1:1\tOne",
        "MRK 1:2\ttwo lines.",
    )
