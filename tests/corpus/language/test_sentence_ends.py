"""Sentences in running text."""

from __future__ import annotations

import random
import textwrap
from functools import partial
from itertools import pairwise

import pytest

from qsproj.corpus.editing import begins_paragraph
from qsproj.corpus.language.sentence_ends import paragraphs, read_running_text, rule_starts
from qsproj.corpus.text import read_text
from qsproj.errors import DataError
from tests.timing import assert_linear


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["Dogs bark.", "Cats sleep!", "Do they?", "They do."]),
        ("en", ["Mr. Smith met J. R. Hale at 5 p.m. in Washington.", "It rained."]),
        ("he", ["שלום לכם.\u200f", "להתראות מחר.\u2069\u200e", "כן."]),
        ("en", ["He said: “Go.”", "(They went.)", "Nobody asked ... why."]),
        ("en", ["It costs 3.50 dollars.", "2,000 were sold in 1990.", "No more."]),
        ("de", ["Am 3. Mai kam Dr. Müller.", "Das Haus, z. B. das Dach, ist alt.", "Gut."]),
        ("cs", ["Přišel 3. Května.", "Bylo jich 300.", "Dobře."]),
        ("es", ["¿Vienes?", "¡Sí!", "El Sr. Gil viene."]),
        ("it", ["Il sig. Neri cita l'art. 500 qui.", "Costa ca. 20 euro.", "Vedi pag.", "Poi vai."]),
        ("zh", ["他来了。", "你呢？", "好！"]),
        ("hi", ["वह आया।", "वह गया।"]),
        ("ar", ["هل جاء؟", "نعم."]),
        (None, ["One.", "Two."]),
        ("xx", ["One.", "Two."]),
    ],
)
def test_sentences_are_cut_where_they_end(language, sentences):
    line = ("" if language == "zh" else " ").join(sentences)
    bounds = [*rule_starts(line, language), len(line)]
    assert [line[begin:end].strip() for begin, end in pairwise(bounds)] == sentences


@pytest.mark.parametrize("text", ["", " \t\n", "\u00a0\n\r\n"])
def test_blank_lines_are_no_paragraphs(text):
    assert list(paragraphs(text.splitlines(keepends=True))) == []


def test_lines_are_paragraphs_unless_they_were_broken():
    lines = [
        "Two lines.",
        "  of different \t lengths, none of them full.\r\n",
        "",
        "Blank lines part others.",
    ]
    joined = [" ".join(line.split()) for line in lines]
    assert list(paragraphs(lines)) == [(1, joined[0]), (2, joined[1]), (4, joined[3])]


@pytest.mark.parametrize("width", [50, 72, 100])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_that_were_broken_are_joined(width, end):
    rng = random.Random(width)
    words = [
        "a",
        "bell",
        "sounds.",
        "Everybody",
        "is",
        "here",
        "(nearly)",
        "in",
        "time;",
        "nevertheless",
        "we",
    ]
    whole = [" ".join(rng.choices(words, k=size)) for size in (3, 90, 30, 1, 200)]
    broken = end.join(end.join(textwrap.wrap(one, width)) + end for one in whole)
    found = list(paragraphs(broken.splitlines(keepends=True)))
    assert [text for _, text in found] == whole
    firsts = [broken.splitlines().index(textwrap.wrap(one, width)[0]) + 1 for one in whole]
    assert [number for number, _ in found] == firsts


def test_sentences_of_running_text_say_where_they_are_from():
    lines = ["One. Two.", "", "Three.", "\u200b", "Four. Five."]
    read = partial(read_text, language="en")
    found = list(read_running_text(lines, read, partial(rule_starts, language="en")))
    assert [(one.sent_id, " ".join(one.forms), begins_paragraph(one)) for one in found] == [
        ("1.1", "One .", True),
        ("1.2", "Two .", False),
        ("3", "Three .", True),
        ("5.1", "Four .", True),
        ("5.2", "Five .", False),
    ]


@pytest.mark.parametrize(
    ("text", "starts", "wanted"),
    [
        ("Ab.zum Ba.", [0, 3, 7], ["1\tAb", "2\t.", "1\tBa"]),
        ("Ab.zumBa.", [0, 3, 6], ["1\tAb", "2\t.", "1-2\tzum", "1\tBa"]),
    ],
)
def test_a_sentence_that_goes_on_without_a_space_says_so(text, starts, wanted):
    """Also where its last token is split into words."""
    read = partial(read_text, language="en", contractions={"zum": ("zu", "dem")})
    found = read_running_text([text], read, lambda text: starts)
    rows = [line for sentence in found for line in sentence.layout.lines if line.endswith("SpaceAfter=No")]
    assert [row.partition("\t_")[0] for row in rows] == wanted


@pytest.mark.parametrize("piece", [".", "!", "…", '."', ". ", "A. ", "x. )"])
def test_time_is_linear_in_the_line(piece):
    assert_linear(lambda text: rule_starts(text, "en"), piece)


def test_a_line_that_cannot_be_cut_is_named_by_its_number():
    lines = ["One. Two.", "", "Three. " + "今" * 20 + "。 Four."]
    with pytest.raises(DataError, match=r"^f:3: found 20 letters without a space"):
        list(
            read_running_text(
                lines, partial(read_text, language="zh", name="f"), partial(rule_starts, language="zh")
            )
        )


def test_a_text_that_ends_like_a_range_of_words_stays():
    def read(lines):
        return read_text(lines, "de")

    first, _ = read_running_text(["Siehe Seite 4-3Nun gut."], read, lambda _: [0, 15])
    assert first.text == "Siehe Seite 4-3"
    assert first.to_conllu().split("\n")[-3].endswith("\tSpaceAfter=No")


@pytest.mark.parametrize(
    ("language", "text", "count"),
    [
        ("hy", "Նա եկավ։ Նա գնաց: Տուն է։ Նա ասաց: այո։", 4),
        ("hy", "Մատթ. 5: 3 Երանի: Այո", 3),
        ("km", "ស្វាយ ចេក ។ល។ ហើយ។", 2),
        ("en", "He came: He left; She stayed.", 1),
        ("el", "Ήρθε; Έφυγε. Ναι; ίσως.", 3),
        ("am", "ሰላም ነው። እሱ መጣ።", 2),
        ("my", "သူလာသည်။သူသွားသည်။", 2),
        ("en", "Art. 10 is No. 3 of it. No. It is.", 3),
    ],
)
def test_marks_of_scripts_end_sentences_and_numbers_follow_abbreviations(language, text, count):
    starts = [start for start in rule_starts(text, language) if start < len(text)]
    assert len(starts) == count
