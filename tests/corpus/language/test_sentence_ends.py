"""Sentences in running text."""

from __future__ import annotations

from functools import partial

import pytest

from qsproj.corpus.language.sentence_ends import read_running_text, sentences_in
from qsproj.corpus.text import read_text
from qsproj.errors import DataError
from tests.timing import assert_linear


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["Dogs bark.", "Cats sleep!", "Do they?", "They do."]),
        ("en", ["Mr. Smith met J. R. Hale at 5 p.m. in Washington.", "It rained."]),
        ("en", ["He said: “Go.”", "(They went.)", "Nobody asked ... why."]),
        ("en", ["It costs 3.50 dollars.", "2,000 were sold in 1990.", "No more."]),
        ("de", ["Am 3. Mai kam Dr. Müller.", "Das Haus, z. B. das Dach, ist alt.", "Gut."]),
        ("cs", ["Přišel 3. Května.", "Bylo jich 300.", "Dobře."]),
        ("es", ["¿Vienes?", "¡Sí!", "El Sr. Gil viene."]),
        ("zh", ["他来了。", "你呢？", "好！"]),
        ("hi", ["वह आया।", "वह गया।"]),
        ("ar", ["هل جاء؟", "نعم."]),
        (None, ["One.", "Two."]),
        ("xx", ["One.", "Two."]),
    ],
)
def test_sentences_are_cut_where_they_end(language, sentences):
    line = ("" if language == "zh" else " ").join(sentences)
    assert list(sentences_in(f"  {line}\t", language)) == sentences


@pytest.mark.parametrize("line", ["", " \t", "\u00a0"])
def test_blank_lines_hold_none(line):
    assert list(sentences_in(line, "en")) == []


def test_nothing_is_lost():
    line = "A. B! c? D... E. 12. F.) G.\u201d H"
    assert "".join(sentences_in(line, "en")).replace(" ", "") == line.replace(" ", "")


@pytest.mark.parametrize("piece", [".", "!", "…", '."', ". ", "A. ", "x. )"])
def test_time_is_linear_in_the_line(piece):
    assert_linear(lambda text: list(sentences_in(text, "en")), piece)


def test_a_line_that_cannot_be_cut_is_named_by_its_number():
    lines = ["One. Two.", "", "Three. " + "今" * 20 + "。 Four."]
    with pytest.raises(DataError, match=r"^f:3: found 20 letters without a space"):
        list(read_running_text(lines, partial(read_text, language="en", name="f"), "en"))
