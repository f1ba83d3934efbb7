"""What stays one token: where it begins and ends, and that any text is spelled by its tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qsproj.corpus.text import _sheltered, cut_around, tokenize, whole_tokens
from tests.timing import assert_linear


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("http://a.de.", ["http://a.de"]),
        ("(see http://a.de/b_(c)), ", ["http://a.de/b_(c)"]),
        ("“https://a.de/b”...", ["https://a.de/b"]),
        ("见http://a.cn/b。然后", ["http://a.cn/b"]),
        ("me.you+x@a-b.co.uk, www.a.b", ["me.you+x@a-b.co.uk", "www.a.b"]),
        ("http://a.de/?b=1&amp;c=2 &lt; &#39;", ["http://a.de/?b=1&amp;c=2", "&lt;", "&#39;"]),
        ("and/or and.or/else x @ y 3 & 4 a@b www. AT&T; http://", []),
    ],
)
def test_what_is_found(text, found):
    assert [text[begin:end] for begin, end in whole_tokens(text)] == found


@pytest.mark.parametrize(
    ("language", "line", "words"),
    [
        # Invisible characters and marks that rules do not know as letters.
        ("fa", "او می\u200cخواهد کتاب\u200cها را بخواند.", "او می\u200cخواهد کتاب\u200cها را بخواند ."),
        ("ml", "അവന്\u200d പറഞ്ഞു.", "അവന്\u200d പറഞ്ഞു ."),
        ("si", "ශ්\u200dරී ලංකාව.", "ශ්\u200dරී ලංකාව ."),
        ("bn", "সাহায্\u200cয করো।", "সাহায্\u200cয করো ।"),
        ("he", "שלום\u200f, \u200eJohn\u200e אמר\u200f.", "שלום , John אמר ."),
        ("my", "မြန်မာ စကား။", "မြန်မာ စကား ။"),
        ("th", "ที่นี่ ไป", "ที่นี่ ไป"),
        ("ta", "அவன் வந்தான்.", "அவன் வந்தான் ."),
        ("und", "\u2066ab\u2069 c\u2060d \ufeffe\ufeff, \u200c.", "ab cd e , \u200c."),
        # A sign that is a letter, or marks that letters are left out.
        ("uk", "П'ять м’яких слів пʼять.", "П'ять м’яких слів пʼять ."),
        ("gn", "Che ha'e nde róga.", "Che ha'e nde róga ."),
        ("sw", "Ng'ombe wa mtu huyo.", "Ng'ombe wa mtu huyo ."),
        ("uz", "O‘zbek ma’no oʻzbek", "O‘zbek ma’no oʻzbek"),
        ("br", "c'hoari merc’h, ma c'hi", "c'hoari merc’h , ma c'hi"),
        ("quc", "k'o q'atb'al ja', xek'.", "k'o q'atb'al ja' , xek' ."),
        ("tr", "İstanbul'da 1990'larda", "İstanbul'da 1990'larda"),
        ("de", "'Hans' sagt: 'Ja!'", "' Hans ' sagt : ' Ja ! '"),
        ("ca", "L'home d’una col·legi intel·ligent.", "L' home d’ una col·legi intel·ligent ."),
        ("he", 'צה"ל וד״ר מנכ"לית ג\'יפ רח׳', 'צה"ל וד״ר מנכ"לית ג\'יפ רח׳'),
        ("he", 'אמר "שלום" וב"ידיעות של יום".', 'אמר " שלום " וב " ידיעות של יום " .'),
        # Where rules part clitics, they do so at either sign.
        ("en", "It’s the dog's, they don’t.", "It ’s the dog 's , they do n’t ."),
        (
            "it",
            "Dell’arte c'è un po' d’oro: 'Ma l’Etna?'",
            "Dell’ arte c' è un po' d’ oro : ' Ma l’ Etna ? '",
        ),
        ("fr", "L’été d'hier.", "L’ été d' hier ."),
    ],
)
def test_what_stands_inside_a_word_parts_none(language, line, words):
    assert tokenize(line, language) == words.split(" ")
    if language != "en":
        assert tokenize(words, language) == words.split(" ")


@given(st.text(alphabet="ab./:@&;()www ht", max_size=40))
def test_tokens_around_spell_the_text(text):
    tokens = cut_around(text, lambda rest: rest.replace(".", " . ").replace(")", " ) ").split())
    assert "".join(tokens) == "".join(text.split())


@pytest.mark.parametrize("piece", ["a'", '\u05d0"', "\u0301", ".\u0301", " \u200c", "\u200ca ", "l’a"])
def test_cutting_takes_linear_time(piece):
    assert_linear(lambda text: _sheltered(text, "ca"), piece)


@pytest.mark.parametrize("piece", ["www.a", ")", "]a", "!", "&lt; http://a ", "a@", "-", "a."])
def test_time_is_linear_in_the_text(piece):
    assert_linear(lambda text: whole_tokens("www.a" + text), piece)
