"""From a source tree to hashed atoms of its nodes: what adaptation templates are made of."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from qsproj.conventions import ROOT
from qsproj.corpus.cells import bare_relation
from qsproj.corpus.characters import plain_form
from qsproj.corpus.sentence import Sentence
from qsproj.features.hashing import stable_hash
from qsproj.kernels.adaptation.source_paths import (
    DERIVED,
    NONE,
    TREES,
    SourceNodes,
    derive_nodes,
    node_depths,
)

# Columns read from the sentence; the first three as kernels.source_paths numbers them.
GIVEN = ("base", "relation", "tag", "class", "fine", "word", "lemma", "features")
#: What templates may ask of a node: relation without any subtype, and with that after the first colon (UD
#: `nmod:poss`, SUD `comp:aux`) but not the deep ones of SUD (`@lvc`, `$cause`); UPOS and its class, XPOS;
#: form where the tag is of a closed class, else the tag; lemma; FEATS; and what the kernel derives.
COLUMNS = (*GIVEN, *DERIVED)

# Words of these tags are few enough to be features themselves.
CLOSED_CLASSES = frozenset({"ADP", "AUX", "CCONJ", "SCONJ", "DET", "PART", "PRON", "PUNCT"})
# Classes of tags: whether a word may head a phrase that styles let it head or depend on (function), has an
# argument structure of its own (content, what is not listed), or neither.
FUNCTION = "function"
TAG_CLASSES = {
    **dict.fromkeys(("ADP", "AUX", "SCONJ"), FUNCTION),
    **dict.fromkeys(("CCONJ", "DET", "INTJ", "PART", "SYM", "X"), "other"),
    "PUNCT": "punctuation",
}
_DEEP_MARKS = ("@", "$")


def base_relation(relation: str) -> str:
    """Return a relation without any subtype, of UD or of SUD."""
    return bare_relation(shallow_relation(relation))


def shallow_relation(relation: str) -> str:
    """Return a relation without the deep subtypes of SUD, which follow ``@`` and ``$``."""
    for mark in _DEEP_MARKS:
        relation = relation.partition(mark)[0]
    return relation


def encode_source(sentence: Sentence) -> SourceNodes:
    """Hash what templates ask of each node of a sentence's tree; no arc is turned yet.

    Words may be without a head; cycles must not be (CoNLL-U that was read has none). O(n depth).
    """
    heads = sentence.heads
    n = len(sentence)
    columns = (
        sentence.deprels,
        sentence.upos,
        sentence.xpos,
        sentence.forms,
        sentence.lemmas,
        sentence.feats,
    )
    atoms = np.full((n + 2, len(COLUMNS)), NONE)
    atoms[1 : n + 1, : len(GIVEN)] = [_cells(*row) for row in zip(*columns, strict=True)]
    atoms[ROOT, : len(GIVEN)] = stable_hash("<root>")
    depths = np.empty(n + 1, dtype=np.int32)
    node_depths(heads, depths)
    derive_nodes(heads, atoms, len(GIVEN))
    return SourceNodes(heads, depths, atoms, np.repeat(heads[None], len(TREES), axis=0))


def function_words(nodes: SourceNodes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell of each node 0..n whether it is a function word: an adposition, auxiliary or subordinator."""
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = nodes.atoms[:-1, COLUMNS.index("class")] == np.uint64(
        stable_hash(FUNCTION)
    )
    return found


@lru_cache(maxsize=1 << 17)
def _cells(
    relation: str, tag: str, fine: str, form: str, lemma: str, features: str
) -> tuple[int, int, int, int, int, int, int, int]:
    """Hash the columns of GIVEN for one word."""
    word = plain_form(form).lower()
    return (
        stable_hash(base_relation(relation)),
        stable_hash(shallow_relation(relation)),
        stable_hash(tag),
        stable_hash(TAG_CLASSES.get(tag, "content")),
        stable_hash(fine),
        stable_hash(word if tag in CLOSED_CLASSES else tag),
        stable_hash(word if lemma == "_" else lemma),
        stable_hash(features),
    )
