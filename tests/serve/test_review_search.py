"""Patterns over trees, against loops, and corrections."""

from __future__ import annotations

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.serve.review.search import compiled, corrected


@pytest.fixture(scope="module")
def sentences():
    return list(read_conllu("corpora/de.conllu"))[:40]


def upos(sentence, word):
    return sentence.upos[word - 1] if word else ""


CASES = {
    "upos=NOUN|PROPN deprel=nsubj": lambda s, w: (
        upos(s, w) in ("NOUN", "PROPN") and s.deprels[w - 1] == "nsubj"
    ),
    "head.upos!=VERB": lambda s, w: upos(s, max(0, s.heads[w])) != "VERB",
    "head.upos=": lambda s, w: s.heads[w] == 0,
    "child.upos=DET prev.upos!=DET": lambda s, w: (
        any(s.heads[c] == w and upos(s, c) == "DET" for c in range(1, len(s) + 1)) and upos(s, w - 1) != "DET"
    ),
    "head.head.deprel=root": lambda s, w: (
        s.heads[w] > 0 and s.heads[s.heads[w]] > 0 and s.deprels[s.heads[s.heads[w]] - 1] == "root"
    ),
    "form~^[A-Z].*en$": lambda s, w: (
        s.forms[w - 1][0] in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" and s.forms[w - 1].endswith("en")
    ),
    "deprel=nsubj:*": lambda s, w: s.deprels[w - 1].split(":")[0] == "nsubj",
    "deprel=nsubj|nsubj:*|obj": lambda s, w: s.deprels[w - 1].split(":")[0] in ("nsubj", "obj"),
    "xpos=": lambda s, w: s.xpos[w - 1] == "_",
    "form=": lambda s, w: False,
    "feats.PronType!=Dem": lambda s, w: "Dem" not in (s[w].feats.get("PronType") or "").split(","),
    "misc.SpaceAfter=No": lambda s, w: "SpaceAfter=No" in s.layout.lines[s.layout.word_lines[w - 1]],
    "feats.Case=Nom": lambda s, w: "Case=Nom" in s.feats[w - 1].split("|"),
}


@pytest.mark.parametrize("pattern", CASES)
def test_patterns_find_what_loops_find(sentences, pattern):
    find, holds = compiled(pattern), CASES[pattern]
    for sentence in sentences:
        assert find(sentence) == [word for word in range(1, len(sentence) + 1) if holds(sentence, word)]
    if "feats" not in pattern and pattern != "form=":
        assert any(map(find, sentences))


@pytest.mark.parametrize("pattern", ["", "noun", "odd=x", "feats=Case", "upos.x=1", "form~(", "head=3"])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(UsageError, match="expected"):
        compiled(pattern)


def test_words_are_corrected(sentences):
    sentence = sentences[0]
    after = corrected(sentence, [1, 2], "deprel=x upos=Y feats.Case=Nom lemma=z")
    assert (after.deprels[:2], after.upos[:2], after.lemmas[:2]) == (("x",) * 2, ("Y",) * 2, ("z",) * 2)
    assert all("Case=Nom" in one.split("|") for one in after.feats[:2])
    assert (after.deprels[2:], after.upos[2:]) == (sentence.deprels[2:], sentence.upos[2:])
    assert (
        corrected(after, [1], "feats.Case=_").feats[0] == "Definite=Def|Gender=Masc|Number=Sing|PronType=Art"
    )
    heads = sentence.heads
    word = next(w for w in range(1, len(sentence) + 1) if heads[w] > 0 and heads[heads[w]] > 0)
    assert corrected(sentence, [word], "head=head.head").heads[word] == heads[heads[word]]
    for wrong in ("", "form=x", "head=3", "misc.X=1", "upos"):
        with pytest.raises(UsageError, match="expected"):
            corrected(sentence, [1], wrong)


def test_heads_of_heads_are_those_before_the_correction():
    chain = Sentence.from_words(["a", "b", "c", "d"], heads=[0, 1, 2, 3], deprels=["root", "x", "x", "x"])
    assert corrected(chain, [3, 4], "head=head.head").heads.tolist()[1:] == [0, 1, 1, 2]
