"""Bibles in USFM and USX: text of verses without headings, notes and marks; archives of books."""

from __future__ import annotations

import builtins
from zipfile import ZipFile

import pytest

from qsproj.errors import DataError, UsageError
from qsproj.pipelines.bootstrap.checks import check_pairs
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.bootstrap.verses import read_verses, scripture_lines

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
    assert scripture_lines(written(tmp_path / "a.usfm", USFM)) == MATTHEW
    assert scripture_lines(written(tmp_path / "a.SFM", "\ufeff" + USFM)) == MATTHEW
    assert scripture_lines(written(tmp_path / "b.usx", USX)) == MARK


@pytest.mark.usefixtures("package")
def test_a_file_that_was_written_since_is_read_again(tmp_path):
    path = tmp_path / "a.usfm"
    assert scripture_lines(written(path, USFM)) == MATTHEW
    assert scripture_lines(written(path, USFM.replace("MAT", "MRK", 1))) != MATTHEW


@pytest.mark.usefixtures("package")
def test_an_archive_has_a_book_a_file(tmp_path):
    path = tmp_path / "bible.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("release/02-MRK.usx", USX)
        archive.writestr("release/01-MAT.usfm", USFM)
        archive.writestr("copyright.txt", "all of it")
    assert scripture_lines(str(path)) == MATTHEW + MARK
    verses = read_verses(str(path))
    assert verses.texts[("mrk", 1), 2] == "As it is written."
    assert verses.merged == {(("mat", 1), 3): (("mat", 1), 2)}


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bad.usx", USX[:300], r"bad.usx: found .*bad.usx, which cannot be read .*, expected USFM or USX"),
        ("bad.usfm", "In the beginning\n", r"bad.usfm: found no verse"),
        ("bad.zip", "In the beginning\n", r"bad.zip: found what cannot be read \(File is not a zip file\)"),
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
    found = builtins.__import__

    def without(name, *arguments, **named):
        if name == "usfmtc":
            raise ImportError(name)
        return found(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=r"pip install 'qsproj\[bible\]'"):
        scripture_lines(written(tmp_path / "without.usfm", USFM))
