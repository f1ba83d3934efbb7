"""Characters as models read them, and where they stand in what was written."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qsproj.corpus.characters import (
    composed_as,
    composed_form,
    lower_form,
    plain_form,
    readable,
    without_unseen_words,
)
from qsproj.corpus.editing import comment_value, misc_values
from qsproj.corpus.text import normalise, read_text, tokenize, written_words
from tests.timing import assert_linear

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("text", "shown", "starts"),
    [
        ("Dogs bark", "Dogs bark", None),
        ("für भाषा", "für भाषा", None),
        ("fu\u0308r a", "für a", [0, 1, 3, 4, 5]),
        ("x\u030c\u0301y", "xy", [0, 3]),
        ("\ufeffa\u00adb \u200bc", "ab c", [0, 3, 4, 5]),
        ("한", "한", [0]),
        (f"{FAMILY}!", "\U0001f468!", [0, 5]),
        ("\u2764\ufe0f\U0001f1eb\U0001f1f7\U0001f1e9\U0001f1ea", "\u2764\U0001f1eb\U0001f1e9", [0, 2, 4]),
    ],
)
def test_a_character_with_its_marks_is_one(text, shown, starts):
    if text == "한":
        text = unicodedata.normalize("NFD", text)
    assert readable(text) == (shown, starts)


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ("&#39;&#39;", "''"),
        ("rock&apos;n&apos;roll", "rock'n'roll"),
        ("AT&amp;T", "AT&T"),
        ("&amp;lt;", "&lt;"),
        ("&#x41;", "A"),
        ("&copy;", "&copy;"),
        ("&", "&"),
        ("R&D;", "R&D;"),
        ("a&#10;b&#x20;c&#160;", "a&#10;b&#x20;c&#160;"),
        ("&#1;", "&#1;"),
        ("a&#10;b&#x20;c&#160;", "a&#10;b&#x20;c&#160;"),
        ("&#1;", "&#1;"),
    ],
)
def test_escapes_are_read_as_what_they_stand_for(form, read):
    assert plain_form(form) == read


PIECES = [
    *("a", "e\u0301", "\u00e9", "\u0301", "\u00ad", "\u200b", " ", "x\u030c", ".", "\U0001f600", "\u200d"),
    *("\u0939\u094d", "\u1112\u1161", "\u200c", "\u200f", "'", "’", "\u103a", "\u05d0", '"', "''", "`"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.sampled_from(["en", "he", "ca"]))
@example("\u200c''", "en")
@example("``\u200c a\u200f''", "ca")
def test_sentences_spell_what_was_written(text, language):
    """FORM and SpaceAfter give # text, which is the line but for white space and words that nobody sees."""
    for sentence in read_text([text], language):
        tokens = [*sentence.forms]
        assert not sentence.multiword_tokens
        gaps = ["" if value == "No" else " " for value in misc_values(sentence, "SpaceAfter")]
        spelled = "".join(token + gap for token, gap in zip(tokens, gaps, strict=True)).strip(" ")
        assert spelled == comment_value(sentence, "text") == normalise(text, language).strip(" ")
        # No token is of marks and joiners alone, but where there is nothing else.
        bare = [token for token in tokens if all(unicodedata.category(one)[0] in "MC" for one in token)]
        assert not bare or bare == tokens


def test_words_keep_their_optional_marks():
    for line in ("بَ، كِـتاب ـ ً", "קָרָ֥א־לוֹ׃ אַתָּה", "ܡܶܠܬ݂ܳܐ."):
        (sentence,) = read_text([line], "und")
        assert "".join(sentence.forms) == line.replace(" ً", "").replace(" ", "")
        assert tokenize(line, "und") == [readable(form)[0] for form in sentence.forms]
        assert written_words(line, "und") == sentence.forms
    assert written_words(" \u200b", "ar") == ()


@pytest.mark.parametrize("language", ["fr", "cs", "en"])
def test_decomposed_text_has_the_words_of_composed_text(language):
    composed = "Voilà l’été : où dit-il que Žižka n'était pas né à Düsseldorf ?"
    words = tokenize(composed, language)
    hidden = unicodedata.normalize("NFD", composed).replace("s", "s\u00ad").replace(" ", " \u200b ")
    (sentence,) = read_text([hidden], language)
    assert [plain_form(form) for form in sentence.forms] == words == tokenize(hidden, language)
    assert any("e\u0301te\u0301" in form for form in sentence.forms)
    assert comment_value(sentence, "text") == hidden.replace(" \u200b ", " ")


def test_words_that_nobody_sees_are_none():
    assert without_unseen_words("a \u200b\u00ad b\u00ad c") == "a b\u00ad c"
    assert without_unseen_words("a \u200c b \u0301\u200f c \ufe0f") == "a b c"
    assert plain_form("\u00ad") == "\u00ad"
    assert plain_form("Zu\u0308\u00adrich") == "Zürich"


def test_letters_in_one_character_are_read_as_two():
    """Armenian *ev*, fi, the long s, an Arabic letter in its final shape; not signs: a half, a trade mark."""
    assert plain_form("\u0587") == "\u0565\u0582"
    assert plain_form("\ufb01n") == "fin"
    assert plain_form("die\u017fer") == "dieser"
    assert plain_form("\ufe8e") == "\u0627"
    assert [plain_form(sign) for sign in "½™…"] == ["½", "™", "…"]


@pytest.mark.parametrize("piece", ["e\u0301", "\u0301", "\u00ad", "\u200d", "\U0001f468\u200d", "אַאֶ"])
def test_time_is_linear_in_the_text(piece):
    assert_linear(readable, piece)


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("اَلْكِتَابُ", "الكتاب"),
        ("مُعَلِّمٌ", "معلم"),
        ("هٰذَا", "هذا"),
        ("كِــتاب", "كتاب"),
        ("ٱلرَّحْمَٰنِ", "ٱلرحمن"),
        ("\ufe91\ufef4\ufe96", "بيت"),
        ("\ufe76ب\ufe71", "ب"),
        ("بְּרֵאשִׁ֖ית".replace("ب", "ב"), "בראשית"),
        ("\ufb2a\ufb4b", "שו"),
        ("ܡܶܠܬ݂ܳܐ", "ܡܠܬܐ"),
        ("\u0627\u0655\u0650لى", "إلى"),
    ],
)
def test_optional_marks_are_not_compared(marked, plain):
    assert plain_form(marked) == plain_form(unicodedata.normalize("NFD", marked)) == plain
    assert plain_form(plain) == plain
    (sentence,) = read_text([f"{marked}، {marked}!"], "ar")
    assert sentence.forms[0] == sentence.forms[2] == marked
    assert tokenize(marked, "ar") == [readable(marked)[0]]


@pytest.mark.parametrize(
    "form",
    [
        *("हिन्दी", "ภาษาไทย", "tiếng", "ἄνθρωπος", "பள்ளி", "ދިވެހި", "မြန်မာ", "ខ្មែរ", "бы\u0301л", "ñandú", "ə́"),
        *("מײַן", "האָט", "פֿרײַנד", "ייִדיש", "פּען", "באַשאַפֿן", "ٖیٗ"),
        *("čeština", "שלום־עליכם", "سؤال", "آب", "ئاسمان", "ڕۆژ", "ـ", "ً"),
    ],
)
def test_marks_that_make_letters_stay(form):
    assert plain_form(form) == unicodedata.normalize("NFC", form)
    assert lower_form(form) == unicodedata.normalize("NFC", form).lower()


def test_letters_of_yiddish_are_told_apart():
    text = "מײַן מײן האָט, פֿרײַנד אַלֶף הוּא אַל־תִּירָא יַד \ufb1f"
    assert tokenize(text, "yi")[0] != tokenize(text, "yi")[1]
    assert [plain_form(form) for form in tokenize(text, "yi")] == [
        plain_form(form) for form in written_words(text, "yi")
    ]
    assert [plain_form(form) for form in tokenize(unicodedata.normalize("NFC", "\ufb1f\ufb2e"), "yi")] == [
        "ײַאַ"
    ]
    assert (plain_form("אַלֶף"), plain_form("הוּא"), plain_form("יַד")) == ("אלף", "הוא", "יד")


def test_hamza_on_alef_is_compared_like_a_capital():
    assert lower_form("أَنَّ") == lower_form("إِنّ") == lower_form("ٱن") == "ان"
    assert plain_form("أَنَّ") == "أن"
    assert composed_form("أَن\u00ad") == "أَن"


def test_all_marks_are_of_three_scripts():
    """By the names of Unicode, not by a list of ranges."""
    names = {chr(n): unicodedata.name(chr(n), "") for n in (*range(0x300, 0x1000), *range(0xFB00, 0xFB50))}
    dropped = {one for one, name in names.items() if name and plain_form(f"b{one}") == "b"}
    dropped -= {one for one in dropped if unicodedata.category(one) == "Cf" or one == "\u034f"}
    assert {names[one].split()[0] for one in dropped} == {"ARABIC", "HEBREW", "SYRIAC"}
    assert dropped >= {
        one for one, name in names.items() if name.startswith(("HEBREW POINT", "HEBREW ACCENT"))
    } - {"\ufb1e"}
    assert dropped >= set("\u064e\u064f\u0650\u064b\u064c\u064d\u0651\u0652\u0670\u0640")
    assert not dropped & set("\u0653\u0654\u0655")


def test_armenian_ev_is_one_letter_where_the_form_has_one():
    assert composed_as("նաև", composed_form("նաև")) == "նաև"
    assert composed_as("նաեւ", "նաեւ") == "նաեւ"
    assert composed_as("Bären", "Bär") == "Bär"
