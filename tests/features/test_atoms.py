"""What a tree says of its words, against the same read off the columns."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.features.atoms import PADDING, encode, reads_tree, with_tree_atoms
from qsproj.features.hashing import stable_hash
from tests.sentences import make_sentence

ATTRIBUTES = (
    "upos",
    "lower",
    "adposition.lower",
    "determiner.upos",
    "marker.lower",
    "auxiliary.lower",
    "coordinator.upos",
    "first.lower",
    "last.upos",
    "parent.lower",
    "rank",
)
OF_CLASS = {
    "adposition": {"ADP"},
    "determiner": {"DET"},
    "marker": {"SCONJ", "PART"},
    "auxiliary": {"AUX"},
    "coordinator": {"CCONJ"},
}
NOMINALS = {"NOUN", "PROPN", "PRON", "NUM"}


def dependents(sentence, head):
    return [word for word in range(1, len(sentence) + 1) if sentence.heads[word] == head]


def relative(sentence, word, name):
    """Return the position of a relative, None where there is none."""
    below = dependents(sentence, word)
    if name == "parent":
        return None if sentence.heads[word] < 0 else int(sentence.heads[word])
    if name in ("first", "last"):
        return below[0 if name == "first" else -1] if below else None
    return next((other for other in below if sentence.upos[other - 1] in OF_CLASS[name]), None)


def rank(sentence, word):
    """Return how many bare nominal siblings stand to the left and to the right, 2 at most."""
    bare = [
        other
        for other in (dependents(sentence, sentence.heads[word]) if sentence.heads[word] >= 0 else ())
        if sentence.upos[other - 1] in NOMINALS and relative(sentence, other, "adposition") is None
    ]
    return min(sum(o < word for o in bare), 2), min(sum(o > word for o in bare), 2)


def read(sentence, position, attribute):
    if position == 0:
        return stable_hash(f"{attribute}\t<root>")
    value = sentence.upos if attribute == "upos" else [form.lower() for form in sentence.forms]
    return stable_hash(f"{attribute}\t{value[position - 1]}")


def check(sentence):
    found = with_tree_atoms(encode(sentence, ATTRIBUTES[:2]), sentence.heads, ATTRIBUTES)
    nobody = found.atoms[0, 2]
    ranks = {}
    for position in range(len(sentence) + 1):
        row = dict(zip(ATTRIBUTES, found.atoms[PADDING + position].tolist(), strict=True))
        for attribute in ATTRIBUTES[2:-1]:
            name, _, what = attribute.partition(".")
            other = relative(sentence, position, name)
            assert row[attribute] == (nobody if other is None else read(sentence, other, what)), attribute
        if position:
            ranks.setdefault(rank(sentence, position), set()).add(row["rank"])
    assert all(len(hashes) == 1 for hashes in ranks.values())
    assert len(set.union(*ranks.values())) == len(ranks)
    assert (found.atoms[[0, 1, -1]][:, 2:] == nobody).all()


@pytest.mark.parametrize("language", ["en", "de"])
def test_trees_of_the_sample(language):
    for sentence in list(read_conllu(f"corpora/{language}.conllu"))[:25]:
        check(sentence)


def test_trees_that_are_not_whole_and_many_siblings():
    check(make_sentence("a b c d e f g", "NOUN PRON VERB NOUN NOUN ADP X", [3, 3, -1, 3, 3, 4, 3]))
    check(make_sentence("a", "X", [-1]))


def test_nothing_is_added_where_nothing_is_asked():
    encoded = encode(make_sentence("a", "X", [0]), ("upos",))
    assert with_tree_atoms(encoded, np.array([-1, 0], dtype=np.int32), ("upos",)) is encoded


def test_what_is_read_off_a_tree():
    assert [name for name in ("upos", "rank", "parent.upos", "upos.parent") if reads_tree(name)] == [
        "rank",
        "parent.upos",
    ]
