"""Questions of convention: which are asked of a bitext, about which words, and that answers are a lexicon."""

from __future__ import annotations

import io
from typing import ClassVar

import numpy as np
import pytest

from qsproj.corpus.cells import UNIVERSAL_TAGS
from qsproj.corpus.language.lexicon import SUGGESTIONS_HEADER, read_lexicon
from qsproj.corpus.language.questions import QUESTIONS, practice, share_of_languages
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.errors import DataError
from qsproj.pipelines.bootstrap.suggestions import (
    SuggestedWord,
    merged_by_gain,
    suggested_questions,
    targets_with_links,
)


class FixedTagger:
    """Tags each word by a table of probabilities, in place of training."""

    tags: ClassVar = ("ADJ", "DET", "NOUN", "PRON", "VERB")
    table: ClassVar = {
        "mon": (0, 1, 0, 0, 0),
        "ton": (0, 0.6, 0, 0.4, 0),
        "livre": (0, 0, 1, 0, 0),
        "bon": (0.9, 0, 0.1, 0, 0),
        "odd": (0, 0.3, 0.7, 0, 0),
    }

    def tag_distribution(self, sentence):
        return np.array([self.table[form.lower()] for form in sentence.forms])


def pair(source, target):
    """A pair of a source, as (form, tag, relation, features), and a target, linked word by word."""
    forms, tags, relations, features = zip(*source, strict=True)
    words = Sentence.from_words(
        forms, upos=tags, heads=[0, *[1] * (len(forms) - 1)], deprels=relations, feats=features
    )
    links = make_alignment(len(forms), len(forms), [(at, at) for at in range(1, len(forms) + 1)])
    return SentencePair(words, Sentence.from_words(target.split()), links)


BOOK = ("book", "NOUN", "root", "_")
MY = ("my", "PRON", "nmod:poss", "Person=1|Poss=Yes")
GOOD = ("good", "ADJ", "amod", "Degree=Pos")


def asked(pairs, text=()):
    bitext = [one.target for one in pairs]
    return suggested_questions(
        FixedTagger(), text=list(text), bitext=bitext, linked=targets_with_links(zip(pairs, strict=True))[1]
    )


def test_words_that_render_a_class_are_in_question():
    pairs = [pair([BOOK, MY, MY], "livre mon Ton")] * 30 + [pair([BOOK, GOOD], "livre bon")] * 40
    # Rare words, and words whose tags are no matter of the convention, are not.
    pairs += [pair([BOOK, MY], "livre odd")] * 30
    found = {one.name: one for one in asked(pairs)}
    possessives = found["possessives (my, your)"]
    assert possessives.words == ("mon", "ton")
    assert possessives.tags == ("DET", "PRON", "ADJ")
    assert (possessives.in_text, possessives.in_bitext) == (0, 60)
    dets = share_of_languages(possessives.name, "DET")
    prons = share_of_languages(possessives.name, "PRON")
    assert possessives.wrong == pytest.approx(48 * (1 - dets) + 12 * (1 - prons))
    text = [Sentence.from_words(["mon", "livre"])] * 50
    assert [one.in_text for one in asked(pairs, text) if one.name == possessives.name] == [50]


def test_a_question_comes_before_the_words_that_settle_less_by_the_second():
    (one,) = asked([pair([BOOK, MY, MY], "livre mon Ton")] * 30)
    assert one.others == pytest.approx(0.4)
    # Two words to read, .4 to correct, one answer to confirm: 5.2 seconds; a word takes 4.
    worth = 4 * one.wrong / 5.2
    words = [
        SuggestedWord(form=str(wrong), tags=("X",), in_text=9, in_bitext=9, wrong=wrong, example="")
        for wrong in (worth + 0.1, worth - 0.1, 1.0)
    ]
    assert merged_by_gain([one], words) == [words[0], one, *words[1:]]
    assert merged_by_gain([one], words[:1]) == [words[0], one]


def test_words_of_a_lexicon_are_not_in_question():
    pairs = [pair([BOOK, MY, MY], "livre mon Ton")] * 30
    how = {
        "text": [],
        "bitext": [one.target for one in pairs],
        "linked": targets_with_links(zip(pairs, strict=True))[1],
    }
    (one,) = suggested_questions(FixedTagger(), **how, known={"ton"})
    assert one.words == ("mon",)
    assert not suggested_questions(FixedTagger(), **how, known={"mon", "ton"})


def test_an_answer_settles_the_words_of_its_question_and_nothing_without():
    (one,) = asked([pair([BOOK, MY, MY], "livre mon ton")] * 30)
    words = "mon\tDET\t0\t30\t0.0\t[mon] livre\nlivre\tNOUN\t0\t30\t0.0\tmon [livre]\n"
    asked_file = f"{SUGGESTIONS_HEADER}\n{one}\n{words}"
    assert read_lexicon(io.StringIO(asked_file)).tags == {"mon": ("DET",), "livre": ("NOUN",)}
    answered = asked_file.replace("DET PRON ADJ", "PRON")
    settled = {"livre": ("NOUN",), "mon": ("PRON",), "ton": ("PRON",)}
    assert read_lexicon(io.StringIO(answered)).tags == settled
    # Alone, beside forms with lemmas, and with a tag that is none.
    (line,) = (line for line in answered.splitlines() if "PRON\t" in line)
    assert set(read_lexicon(io.StringIO(line)).tags) == {"mon", "ton"}
    both = read_lexicon(io.StringIO(f"aller\tva\tV;PRS\n{line}\n"))
    assert (len(both.inflections), set(both.tags)) == (1, {"mon", "ton"})
    with pytest.raises(DataError, match=":1: found the tag 'PRN'"):
        read_lexicon(io.StringIO(line.replace("\tPRON\t", "\tPRN\t")))


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line.replace("\t", " "),
        lambda line: line.rpartition("\t")[0],
        lambda line: line.replace("# question", '"# question', 1).replace("\t", '"\t', 1),
        lambda line: line.replace("# q", "# Q"),
        lambda line: line.replace("# q", "#q"),
    ],
)
def test_a_damaged_question_is_an_error_with_its_line(damage):
    (one,) = asked([pair([BOOK, MY, MY], "livre mon ton")] * 30)
    broken = damage(str(one).replace("DET PRON ADJ", "PRON"))
    with pytest.raises(DataError, match=r":2: found .*expected # question: and 7 columns separated by tabs"):
        read_lexicon(io.StringIO(f"livre\tNOUN\n{broken}\n"))


def test_a_comment_that_begins_like_a_question_stays_one():
    comment = "# question: ask Anna about na\n# Question: x\n"
    assert read_lexicon(io.StringIO(f"{comment}livre\tNOUN\n")).tags == {"livre": ("NOUN",)}


def test_practice_is_of_the_questions_and_of_tags():
    assert set(practice()) <= {one.name for one in QUESTIONS}
    for one in QUESTIONS:
        assert set(practice()[one.name]) <= {*one.tags} <= {*UNIVERSAL_TAGS}
        assert sum(share_of_languages(one.name, tag) for tag in one.tags) == pytest.approx(1)


@pytest.mark.slow
def test_practice_is_what_the_treebanks_have(data_dir):
    from scripts.practice import lines_of

    found: dict = {}
    for line in lines_of(data_dir):
        name, tag, languages = line.split("\t")
        found.setdefault(name, {})[tag] = languages.split()
    assert found == practice()
