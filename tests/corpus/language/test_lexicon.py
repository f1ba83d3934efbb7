"""Lexicons: words and their tags, one a line."""

import io

import pytest

from qsproj.corpus.language.lexicon import SUGGESTIONS_HEADER, read_lexicon
from qsproj.errors import DataError
from qsproj.progress import notices


def read(text):
    return read_lexicon(io.StringIO(text))


def test_tags_are_parted_by_spaces_commas_or_bars():
    text = "\ufeffHund\tNOUN\n\nalter\tADJ NOUN\r\nder\tPRON,DET\nzu\tADP|PART\n"
    assert read(text).tags == {
        "Hund": ("NOUN",),
        "alter": ("ADJ", "NOUN"),
        "der": ("PRON", "DET"),
        "zu": ("ADP", "PART"),
    }


def test_lines_of_a_word_add_up():
    assert read("zu\tPART ADP\nzu\tADV PART\n").tags == {"zu": ("PART", "ADP", "ADV")}
    assert read("zu\tADP\nzu\tPART\n").tags == {"zu": ("ADP", "PART")}
    assert read("zu\tADP\tPART\n").tags == {"zu": ("ADP", "PART")}


UNIMORPH = """gehen\tging\tV;IND;PST;3;SG
gehen\tgegangen\tV.PTCP;PST

gehen\tbin gegangen\tV;PRF
Haus\tHäuser\tN;NOM;PL\tHaus|er
Haus\t-\tN;ESS;PL
ir\tiba\tV;PST;IPFV;LGSPEC1;3;SG
der\tden\tDET;Case=Acc
fast\tfaster\tADJ;CMPR
hus\thusen\tN;PL
"""


def test_lines_of_unimorph_tell_lemmas():
    verb = ("VERB", "AUX")
    assert list(read(UNIMORPH).inflections) == [
        ("ging", "gehen", verb, "Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin"),
        ("gegangen", "gehen", verb, "Tense=Past|VerbForm=Part"),
        ("Häuser", "Haus", ("NOUN", "PROPN"), "Case=Nom|Number=Plur"),
        ("iba", "ir", verb, "Number=Sing|Person=3"),
        ("den", "der", ("DET", "PRON"), "Case=Acc"),
        ("faster", "fast", ("ADJ",), "Degree=Cmp"),
        ("husen", "hus", ("NOUN",), "Number=Plur"),
    ]
    assert not read(UNIMORPH).tags


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Hund;NOUN\n", ":1: found 'Hund;NOUN', expected a word, a tab, its tags"),
        ("Hund\tNOUN\nKatze\t\n", r":2: found 'Katze\\t', expected a word"),
        ("Hund\tNN\n", ":1: found the tag 'NN', expected one of ADJ ADP"),
        ("Hund\thund\n", "or leave the word out; UniMorph is lemma TAB form TAB features"),
        ("\n", "found no line"),
        ("# mine\n# question: can\tAUX VERB\t1\t2\t3\tmust\tx\n", "found questions alone, .*leave one tag"),
        (
            "# text = Hund\n1\tHund\tHund\tNOUN" + "\t_" * 6 + "\n\n",
            ":2: found CoNLL-U, expected word TAB tags; project-tags and bootstrap read",
        ),
        ("gehen\tging\tV;PST\n\ngehen\tgeht\n", r":3: found 'gehen\\tgeht', expected a lemma, a form"),
        ("gehen\tging\tV;PST\n\tgeht\tV\n", r":2: found '\\tgeht\\tV'"),
        ("gehen\tging\tPST;SG\n", ":1: found the features 'PST;SG', expected a part of speech among them"),
    ],
)
def test_errors_name_the_line(text, message):
    with pytest.raises(DataError, match=message):
        read(text)


def test_several_lemmas_of_a_form_are_told():
    said = []
    with notices(said.append):
        read("mot\tmots\tN;PL\nmots\tmots\tN;PL\nvoir\tvis\tV;1;SG;PST\nvivre\tvis\tV;1;SG;PRS\n")
    assert len(said) == 1
    assert "line 2: found 'mots' with the lemma 'mots', after 'mot' for the same features" in said[0]


def test_features_are_written_as_ud_has_them_and_what_is_not_is_told():
    said = []
    text = (
        "Hund\tHund\tNOUN;Number=Sing|Case=Nom|Number=Plur\nHund\tHunde\tNOUN;Case=nom;Number[psor]=Plur\n"
        * 2
    )
    with notices(said.append):
        found = read(text).inflections
    assert [one.feats for one in found] == ["Case=Nom|Number=Sing", "Number[psor]=Plur"] * 2
    (line,) = said
    assert "line 2: found 'NOUN;Case=nom;Number[psor]=Plur', expected Name=Value" in line
    assert "left out (2 lines)" in line


def test_suggested_words_are_read_by_their_tags_alone(tmp_path):
    path = tmp_path / "words.tsv"
    example = "im [Garten] des Hauses"
    path.write_text(
        f"{SUGGESTIONS_HEADER}\nGarten\tNOUN PROPN\t3\t12\t1.5\t{example}\n#\tSYM\nzu\tADP\tPART\n",
        encoding="utf-8",
    )
    tags = {"Garten": ("NOUN", "PROPN"), "#": ("SYM",), "zu": ("ADP", "PART")}
    assert read_lexicon(path).tags == tags
    path.write_text(f"Garten\tNOUN\t3\t12\t1.5\t{example}\n", encoding="utf-8")
    assert read_lexicon(path).tags == {"Garten": ("NOUN",)}


def test_corrected_tags_hold_in_any_case():
    lexicon = read("Hund\tNOUN\nZu\tADP\nzu\tADP PART\ngehen\tVERB\n").corrected({"zu": ("PART",)})
    assert lexicon.tags == {"Hund": ("NOUN",), "gehen": ("VERB",), "zu": ("PART",)}
