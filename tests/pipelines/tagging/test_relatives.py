"""Votes of related languages on tags: a made relative with the same endings, and one that is unrelated."""

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.pipelines.tagging.relatives import distribution_with, in_latin, relative_voter
from qsproj.pipelines.tagging.tags_through_links import project_tags
from qsproj.pipelines.treebanks import Treebank
from tests.pipelines.tagging.made_bitext import gold, made_pairs

ENDINGS = {"DET": "la", "NOUN": "um", "VERB": "ent", "ADJ": "iq"}
NO_ENDINGS = dict.fromkeys(ENDINGS, "")
PATTERN = "DET", "ADJ", "NOUN", "VERB", "DET", "NOUN"


def sentences(size, *, stems, seed, endings=ENDINGS):
    """Return tagged sentences of random stems with the ending of their tag."""
    rng = np.random.default_rng(seed)
    return [
        Sentence.from_words(
            [stems[rng.integers(len(stems))] + endings[tag] for tag in PATTERN], upos=list(PATTERN)
        )
        for _ in range(size)
    ]


RELATIVE = Treebank("relative", sentences(80, stems=("kar", "bol", "dim"), seed=1))
# Its endings belong to other tags, and its words stand in the reverse order.
UNRELATED = Treebank(
    "unrelated",
    [
        Sentence.from_words(one.forms[::-1], upos=one.upos[::-1])
        for one in sentences(
            80,
            stems=("kar", "bol"),
            seed=2,
            endings=dict(zip(ENDINGS, [*list(ENDINGS.values())[1:], "la"], strict=True)),
        )
    ],
)


class KnowsTags:
    """A tagger that gives gold tags."""

    def __init__(self, treebank):
        self.known = {one.forms: one.upos for one in treebank}

    def tag_words(self, forms):
        return self.known[forms]


def voter_of(*treebanks):
    target = sentences(40, stems=("mes", "tof", "rug"), seed=3)
    return relative_voter(
        treebanks, KnowsTags(target), [one.forms for one in target], rng=np.random.default_rng(1)
    )


def test_agreement_with_the_tagger_decides_who_votes():
    voter, (line,) = voter_of(RELATIVE)
    assert voter.power > 0.0
    assert line == "relative: agrees with the tagger on 100% of words, votes on tags with power 0.30"
    found = voter.probabilities([("rugla", "tofiq", "mesum", "rugent")], [("DET", "X", "X", "X")])
    assert [voter.tags[tag] for tag in found.argmax(axis=1)] == ["DET", "ADJ", "NOUN", "VERB"]
    voter, (line,) = voter_of(UNRELATED)
    assert voter is None
    assert "no vote on tags" in line
    assert voter_of() == (None, ())


def test_an_unrelated_treebank_does_not_dilute_a_relative():
    alone, together = voter_of(RELATIVE)[0], voter_of(UNRELATED, RELATIVE)[0]
    assert together.tags == alone.tags
    assert together.power == alone.power
    forms, given = [("rugla", "tofiq", "mesum")], [("DET", "ADJ", "NOUN")]
    assert (
        together.probabilities(forms, given).argmax(axis=1)
        == alone.probabilities(forms, given).argmax(axis=1)
    ).all()


def in_cyrillic(treebank):
    """Return a treebank in other letters of the same sounds."""
    letters = str.maketrans("abcdefghiklmnopqrstu", "абкдефгхиклмнопкрсту")
    sentences = [
        Sentence.from_words([form.translate(letters) for form in one.forms], upos=one.upos)
        for one in treebank.sentences
    ]
    return Treebank(f"{treebank.name} in Cyrillic", sentences)


def test_each_treebank_decides_alone_whether_letters_become_latin():
    """An unrelated treebank in another script changes nothing for a relative in the target's own."""
    alone, together = voter_of(RELATIVE)[0], voter_of(in_cyrillic(UNRELATED), RELATIVE)[0]
    assert (alone.latin, together.latin) == (False, False)
    assert np.array_equal(alone.weights, together.weights)
    other, lines = voter_of(RELATIVE, in_cyrillic(RELATIVE))
    assert other.latin
    assert voter_of(RELATIVE)[1] == lines[:1]
    assert voter_of(in_cyrillic(RELATIVE))[0].latin


def test_a_voter_raises_the_probability_of_its_tag():
    voter, _ = voter_of(RELATIVE)
    tagger = train_tagger(
        sentences(20, stems=("mes",), seed=4, endings=NO_ENDINGS), rng=np.random.default_rng(1)
    )
    forms, unknown = ("der", "mesiq", "mes", "mes", "mes", "mes"), np.zeros((6, 4), dtype=np.float32)
    adjective = tagger.tags.index("ADJ")
    alone, voted = (distribution_with(one, tagger, [forms], unknown)[1, adjective] for one in (None, voter))
    assert voted > alone
    assert (
        distribution_with(None, tagger, [forms], unknown)
        == tagger.marginals(tagger.emissions(forms) + unknown)
    ).all()


def test_relatives_reach_the_tagger_and_its_report_others_only_the_report():
    relative = Treebank("made", gold(made_pairs(60, seed=5)))
    found = [
        project_tags(
            ((pair,) for pair in made_pairs(60)), rng=np.random.default_rng(1), relatives=by, columns=()
        )
        for by in ((), (relative,), (UNRELATED,))
    ]
    assert found[1].report[1].startswith("made: ")
    assert not any("made: " in line for line in found[0].report)
    assert not np.array_equal(found[0].tagger.transitions, found[1].tagger.transitions)
    assert "no vote" in found[2].report[1]
    assert np.array_equal(found[0].tagger.weights, found[2].tagger.weights)


def test_treebanks_without_tags_are_an_error_before_the_bitext_is_read():
    bare = Treebank("bare.conllu", [Sentence.from_words(["a", "b"])])
    unread = iter([(pair,) for pair in made_pairs(1)])
    with pytest.raises(UsageError, match=r"bare\.conllu: found no sentence with UPOS"):
        project_tags(unread, rng=np.random.default_rng(1), relatives=[RELATIVE, bare])
    assert len(list(unread)) == 1


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("якого", "akogo"),
        ("ЖИТТЯ", "ZITTA"),
        ("день", "den"),
        ("ენის", "enis"),
        ("էջ", "ej"),
        ("kterého", "kterého"),
        ("Łódź", "Łódź"),
    ],
)
def test_letters_by_their_names(form, expected):
    assert in_latin(form) == in_latin(expected)
    assert in_latin(form).isascii()
