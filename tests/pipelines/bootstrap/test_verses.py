"""Verses are paired by reference, whatever their order; what has no partner is counted."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError
from qsproj.pipelines.bootstrap.checks import check_pairs
from qsproj.pipelines.bootstrap.texts import VERSE, SourceText, write_bitext
from qsproj.pipelines.bootstrap.verses import (
    ALONE,
    OTHERWISE,
    REPEATED,
    UNREADABLE,
    books_apart,
    paired_verses,
    read_verses,
    verse_notices,
)
from qsproj.progress import notices


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def paired(tmp_path):
    def pairs(source, target):
        left_out: Counter[str] = Counter()
        sides = write(tmp_path / "source", source), write(tmp_path / "target", target)
        return list(paired_verses(*sides, left_out)), dict(left_out)

    return pairs


def test_any_order_pairs_and_gaps_are_counted(paired):
    source = ["MAT 1:1\tone", "MAT 1:2\ttwo", "MAT 1:3\tthree", "", "1JN 2:1\tfour"]
    target = ["1JN 2:1\tvier", "MAT 1:2\tzwei", "MAT 1:1\teins", "3JN 1:15\tmehr"]
    pairs, left_out = paired(source, target)
    assert pairs == [("MAT_1:1", "one", "eins"), ("MAT_1:2", "two", "zwei"), ("1JN_2:1", "four", "vier")]
    assert left_out == {ALONE: 2}


def test_files_are_read_again_only_when_they_have_changed(paired, monkeypatch):
    read = []
    path = "qsproj.pipelines.bootstrap.verses.read_verses"
    monkeypatch.setattr(path, lambda path: read.append(path) or read_verses(path))
    source, target = ["MAT 1:1\tone", "MAT 1:2\ttwo"], ["MAT 1:1\teins"]
    before = paired(source, target)
    count = len(read)
    left_out = Counter()
    again = list(paired_verses(*read[:2], left_out)), dict(left_out)
    assert (again, len(read)) == (before, count)
    assert paired(source, [*target, "MAT 1:2\tzwei"])[0] == [*before[0], ("MAT_1:2", "two", "zwei")]


@pytest.mark.parametrize(
    "merged",
    [
        ["MAT 1:1-2\teins zwei", "MAT 1:3\tdrei"],
        ["MAT 1:1\teins zwei", "MAT 1:2\t<range>", "MAT 1:3\tdrei"],
        ["MAT 1:3\tdrei", "Mat 1.1–2\teins zwei"],
    ],
)
def test_verses_that_one_side_has_merged_are_merged_on_the_other(paired, merged):
    plain = ["MAT 1:1\tone", "MAT 1:2\ttwo", "MAT 1:3\tthree"]
    pairs, left_out = paired(plain, merged)
    assert sorted(pairs) == [("MAT_1:1", "one two", "eins zwei"), ("MAT_1:3", "three", "drei")]
    assert left_out == {}
    pairs, _ = paired(merged, plain)
    assert sorted(pairs) == [("MAT_1:1", "eins zwei", "one two"), ("MAT_1:3", "drei", "three")]


def test_ranges_that_overlap_go_together(paired):
    pairs, _ = paired(
        ["MAT 1:1-2\tone two", "MAT 1:3\tthree", "MAT 1:4\tfour"],
        ["MAT 1:1\teins", "MAT 1:2-3\tzwei drei", "MAT 1:4\tvier"],
    )
    assert pairs == [("MAT_1:1", "one two three", "eins zwei drei"), ("MAT_1:4", "four", "vier")]


def test_repeated_verses_count_once_unless_they_differ(paired):
    pairs, left_out = paired(
        ["MAT 1:1\tone", "MAT 1:1\tone", "MAT 1:2\ttwo", "MAT 1:3\tthree"],
        ["MAT 1:1\teins", "MAT 1:2\tzwei", "MAT 1:2\tzweierlei", "MAT 1:3\tdrei"],
    )
    assert pairs == [("MAT_1:1", "one", "eins"), ("MAT_1:3", "three", "drei")]
    assert left_out == {REPEATED: 1}


def test_parts_of_a_verse_go_together(paired):
    pairs, left_out = paired(["MAT 1:4\tone two"], ["MAT 1:4a\teins", "MAT 1:4b\tzwei", "MAT 1:4b\tzwei"])
    assert (pairs, left_out) == ([("MAT_1:4", "one two", "eins zwei")], {})


def test_numbers_of_verses_and_footnotes_are_taken_out(tmp_path):
    path = write(
        tmp_path / "v",
        [
            "MAT 1:5\t5 Salmon begat Boaz.",
            "MAT 1:6\t[6] And* David† begat[a] Solomon²",
            "MAT 1:7\t<i>5</i> loaves",
            "MAT 1:8\t31160",
            "MAT 1:9-11\t9 Uzziah begat Jotham; 10 Hezekiah had 11 sons. (11) Josiah begat Jechoniah.",
        ],
    )
    verses = read_verses(path)
    assert list(verses.texts.values()) == [
        "Salmon begat Boaz.",
        "And David begat Solomon",
        "5 loaves",
        "",
        "Uzziah begat Jotham; Hezekiah had 11 sons. Josiah begat Jechoniah.",
    ]
    assert verses.cleaned == 5


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["MAT 1:1\tone", "In the beginning"], r"bad:2: found a line that begins with 'In the beginning'"),
        (["In the beginning\tGEN 1:1"], r"bad:1: found the text before the reference, .*swap the columns"),
        (["MAT 1:1\tone", "MAT 1:7-5\ttwo"], r"bad:2: found 'MAT 1:7-5', which ends before it begins"),
        (["MAT 1:1 one"], r"bad:1: found a line that begins with 'MAT 1:1 one', .*; separate .* by a tab"),
    ],
)
def test_lines_that_are_no_verses_are_told(tmp_path, lines, message):
    with pytest.raises(DataError, match=message):
        read_verses(write(tmp_path / "bad", lines))


def test_a_file_without_verses_is_told(tmp_path):
    with pytest.raises(DataError, match="found no verse, expected lines of a reference"):
        read_verses(write(tmp_path / "empty", [""]))


def test_too_few_pairs_say_which_verses_are_left_out(tmp_path):
    source = write(tmp_path / "source", [f"MAT 1:{verse}	word {verse}" for verse in range(1, 61)])
    target = write(tmp_path / "target", [f"MAT 1:{verse}	Wort {verse}" for verse in range(21, 61)])
    text = SourceText(treebanks=(), bitext=(source, target), languages=("en", "de"), paired_by=VERSE)
    message = f"found 40 pairs to learn from .left out: 20 for {ALONE}.*check that the two sides fit together"
    with pytest.raises(DataError, match=message):
        check_pairs(text)


def test_verses_without_a_pair_count_among_all(tmp_path):
    source = write(tmp_path / "source", [f"MAT 1:{verse}\tword {verse}" for verse in range(1, 61)])
    target = write(tmp_path / "target", [f"MAT 1:{verse}\tWort {verse}" for verse in range(8, 61)])
    text = SourceText(treebanks=(), bitext=(source, target), languages=("en", "de"), paired_by=VERSE)
    paths = tmp_path / "source.conllu", tmp_path / "target.conllu"

    def cut(line):
        return Sentence.from_words(line.split())

    report = write_bitext(paths, text, tokenizers=(cut, cut))
    assert report.line.startswith("53 pairs of 60, ")


def test_other_names_of_books_are_told(paired):
    with pytest.raises(DataError, match=r"no verse of .*begin with 'mt 1:1', there with 'mat 1:1'"):
        paired(["MAT 1:1\tone"], ["Mt 1,1\teins"])


def verses(chapter, seed, count=60):
    rng = random.Random(seed)
    return [(f"PSA {chapter}:{number}", rng.randint(5, 150)) for number in range(1, count)]


def test_chapters_that_are_numbered_otherwise_are_left_out(paired):
    """As psalms are where their title is verse 1."""
    chapters = [verses(chapter, chapter) for chapter in range(50, 54)]
    source = [f"{name}\t{'a' * length}" for chapter in chapters for name, length in chapter]
    target = [f"{name}\t{'b' * (length + 2)}" for chapter in chapters for name, length in chapter]
    pairs, left_out = paired(source, target)
    assert (len(pairs), left_out) == (len(source), {})
    title = ["PSA 51:1\tbbb"]
    later = [
        f"PSA 51:{number + 1}\t{'b' * (length + 2)}"
        for number, (_, length) in enumerate(chapters[1], start=1)
    ]
    shifted = [*(line for line in target if not line.startswith("PSA 51:")), *title, *later]
    pairs, left_out = paired(source, shifted)
    assert left_out == {OTHERWISE: 59, ALONE: 1}
    assert not any(name.startswith("PSA_51") for name, *_ in pairs)


def test_all_capitals_and_marks_are_told(tmp_path):
    source = write(tmp_path / "s", (f"MAT 1:{i}\t{i} words{i} in line" for i in range(1, 61)))
    target = write(tmp_path / "t", (f"MAT 1:{i}\tWORTE{i} IN ZEILE" for i in range(1, 61)))
    told: list[str] = []
    with notices(told.append):
        sizes = check_pairs(
            SourceText(treebanks=(), bitext=(source, target), languages=("en", "de"), paired_by=VERSE)
        )
    assert sizes[0] == 60
    assert "removed verse numbers and footnote marks from 60 verses" in told[0]
    assert "60 verses only in capitals" in told[1]


def test_testaments_are_paired_whole_and_shifted_chapters_found(data_dir):
    folder = data_dir / "bible/verses"
    for code, pairs, otherwise in (("uk", 7947, 0), ("got", 3531, 0), ("hy", 3682, 56)):
        left_out: Counter[str] = Counter()
        found = list(paired_verses(str(folder / "en.tsv.xz"), str(folder / f"{code}.tsv.xz"), left_out))
        assert (len(found), left_out[OTHERWISE]) == (pairs, otherwise)


def test_speech_in_chevrons_stays_and_tags_go(tmp_path):
    path = write(
        tmp_path / "v",
        [
            "MAT 1:1\t<<Come here,>> he said, <and sit.> Then he left.",
            "MAT 1:2\t<<All of it is speech.>>",
            "MAT 1:3\t<span class='wj'>Come</span> <i>to</i><br/> me<S>2424</S>",
            "MAT 1:4\t<FR>He <FI>was<Fi> <B>here<CM>.<Fr><WG2424>",
            "MAT 1:5\t<No!> <<Us two.>> <I am.>",
        ],
    )
    verses = read_verses(path)
    assert list(verses.texts.values()) == [
        "“Come here,” he said, ‘and sit.’ Then he left.",
        "“All of it is speech.”",
        "Come to me2424",
        "He was here.",
        "‘No!’ “Us two.” ‘I am.’",
    ]
    assert (verses.quoted, verses.cleaned) == (3, 2)


def test_words_that_translators_supplied_stay(tmp_path):
    path = write(
        tmp_path / "v",
        [
            "GEN 1:2\tand darkness [was] upon the face of the deep.",
            "GEN 1:4\tthat [it was] good: and God [is] near [the] man [a].",
            "ROM 1:2\tобіцяв [Бог] через[12] пророків[*] своїх",
        ],
    )
    assert list(read_verses(path).texts.values()) == [
        "and darkness [was] upon the face of the deep.",
        "that [it was] good: and God [is] near [the] man.",
        "обіцяв [Бог] через пророків своїх",
    ]


def test_lists_and_marks_of_direction_in_references(tmp_path):
    path = write(
        tmp_path / "v",
        [
            "MAT 1:1\u200f-2\tone two",
            "\u200eMAT 1:3\tthree",
            "MAT 1:7,8\tseven eight",
            "MAT 1:10, 12–13\tten",
            "MAT 1:14a,15\tmore",
        ],
    )
    verses = read_verses(path)
    mat = ("mat", 1)
    assert [verse for _, verse in verses.texts] == [1, 3, 7, 10, 14]
    assert verses.merged == {(mat, k): (mat, of) for k, of in ((2, 1), (8, 7), (12, 10), (13, 10), (15, 14))}


def test_odd_verses_are_left_out_and_counted(paired, tmp_path):
    source = ["MAT 1:1\tone", "MAT 1:x\todd", "MAT 1:3-2\tback", "MAT 1:4\tfour", "MAT 1:5\tfive"]
    target = [f"MAT 1:{number}\tWort {number}" for number in range(1, 6)]
    pairs, left_out = paired(source, target)
    assert [name for name, *_ in pairs] == ["MAT_1:1", "MAT_1:4", "MAT_1:5"]
    assert left_out == {UNREADABLE: 2, ALONE: 2}
    verses = read_verses(str(tmp_path / "source"))
    (said,) = verse_notices("source", verses)
    assert "left out 2 verses with an unreadable reference; first:" in said
    assert "source:2: found" in said


def test_merged_verses_go_in_verse_order_and_parts_in_theirs(paired):
    pairs, _ = paired(
        ["MAT 1:2\ttwo", "MAT 1:1\tone", "MAT 1:4b\tend", "MAT 1:4a\tstart"],
        ["MAT 1:1-2\teins zwei", "MAT 1:4\tAnfang Ende"],
    )
    assert sorted(pairs) == [("MAT_1:1", "one two", "eins zwei"), ("MAT_1:4", "start end", "Anfang Ende")]


def test_the_ukrainian_testament_keeps_its_supplied_words(data_dir):
    verses = read_verses(str(data_dir / "bible/verses/uk.tsv.xz"))
    assert "обіцяв [Бог] через" in verses.texts[("rom", 1), 2]


def test_books_with_two_names_are_named(tmp_path):
    """A Bible of one side may have more books; other names of a book are likely if both sides have others."""
    first = [f"{book} 1:{verse}\ttext" for book in ("MAT", "JAM", "REV") for verse in range(1, 40)]
    other = [line.replace("JAM", "JAS").replace("text", "Wort") for line in first]
    sides = write(tmp_path / "a", first), write(tmp_path / "b", other)
    assert books_apart(*sides) == (
        f"only {sides[0]} has JAM, only {sides[1]} has JAS; verses pair if books have the same name"
    )
    write(tmp_path / "b", [line for line in other if "JAS" not in line])
    assert books_apart(*sides) is None
    write(tmp_path / "b", other)
    said: list[str] = []
    with notices(said.append):
        check_pairs(SourceText(treebanks=(), bitext=sides, languages=("en", "de"), paired_by=VERSE))
    assert said == [books_apart(*sides)]


def test_usfm_with_another_name_and_without_a_book_is_named(tmp_path):
    named = write(tmp_path / "MAT.txt", [r"\id MAT", r"\c 1", r"\p", r"\v 1 one", r"\v 2 two"])
    with pytest.raises(DataError, match=r"MAT\.txt:1: found a file of USFM, .* so that it ends in \.usfm"):
        read_verses(named)
    nameless = write(tmp_path / "a.usfm", [r"\c 1", r"\p", r"\v 1 one", r"\v 2 two"])
    verses = write(tmp_path / "b", ["MAT 1:1\teins", "MAT 1:2\tzwei"])
    for sides in ((nameless, verses), (verses, nameless)):
        with pytest.raises(DataError, match=r"a\.usfm: found no book, expected a line \\id MAT"):
            list(paired_verses(*sides, Counter()))
    with pytest.raises(
        UsageError, match=r"is a folder, expected a file; pack the files of a Bible into a \.zip"
    ):
        SourceText(treebanks=(), bitext=(str(tmp_path), verses), languages=("en", "de"), paired_by=VERSE)
    with pytest.raises(UsageError, match=r"found 3 files as bitext, .* of each Bible into a \.zip"):
        SourceText(treebanks=(), bitext=(nameless, nameless, verses), languages=("en", "de"))
