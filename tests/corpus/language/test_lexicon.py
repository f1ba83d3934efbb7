"""Lexicons: words and their tags, one a line."""

import io

import pytest

from qsproj.corpus.language.lexicon import read_lexicon
from qsproj.errors import DataError


def read(text):
    return read_lexicon(io.StringIO(text))


def test_tags_are_parted_by_spaces_commas_or_bars():
    text = "\ufeffHund\tNOUN\n\nalter\tADJ NOUN\r\nder\tPRON,DET\nzu\tADP|PART\n"
    assert read(text) == {
        "Hund": ("NOUN",),
        "alter": ("ADJ", "NOUN"),
        "der": ("DET", "PRON"),
        "zu": ("ADP", "PART"),
    }


def test_lines_of_a_word_add_up():
    assert read("zu\tADP\nzu\tPART\n") == {"zu": ("ADP", "PART")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Hund NOUN\n", ":1: found a line of another form"),
        ("Hund\tNOUN\nKatze\t\n", ":2: found a line of another form"),
        ("Hund\tNN\n", ":1: found the tag 'NN', expected one of ADJ ADP"),
        ("\n", "found no line"),
    ],
)
def test_errors_name_the_line(text, message):
    with pytest.raises(DataError, match=message):
        read(text)
