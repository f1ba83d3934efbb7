"""Random trees with the relations that conversions look at, and a check that heads make a tree."""

from __future__ import annotations

from hypothesis import strategies as st

from qsproj.conventions import frozen_heads
from qsproj.corpus.sentence import Sentence
from qsproj.styles.style import DIMENSIONS, Style

# A form, with tags and relations that go with it, so that rules meet what they are for more often than not.
_WORDS = (
    ("and", "CCONJ", ("cc", "cc:preconj", "conj")),
    (",", "PUNCT", ("punct", "punct", "conj")),
    (".", "PUNCT", ("punct",)),
    ('"', "PUNCT", ("punct",)),
    ("in", "ADP", ("case", "case", "mark", "fixed", "conj")),
    ("the", "DET", ("det", "det:predet", "conj")),
    ("is", "AUX", ("aux", "aux:pass", "cop", "conj")),
    ("he", "PRON", ("nsubj", "nsubj:outer", "obj", "orphan")),
    ("house", "NOUN", ("conj", "conj", "conj:extend", "obj", "flat", "comp:case", "comp:det", "dep")),
    ("sees", "VERB", ("conj", "conj", "advcl", "parataxis", "comp:aux", "comp:cop")),
)

styles = st.builds(Style, **{name: st.sampled_from(choices) for name, choices in DIMENSIONS.items()})


@st.composite
def sentences(draw: st.DrawFn, *, partial: bool = True) -> Sentence:
    """Draw a sentence of up to twelve words with a tree; in a partial one some heads are missing."""
    n = draw(st.integers(1, 12))
    words = [draw(st.sampled_from(_WORDS)) for _ in range(n)]
    order = draw(st.permutations(range(1, n + 1)))
    heads = [-1] * (n + 1)
    for i, word in enumerate(order):
        choices = [*order[:i]] or [0]
        heads[word] = draw(st.sampled_from([*choices, *([-1, 0] if partial else [])]))
    relations = [draw(st.sampled_from(relations)) for _, _, relations in words]
    blank = ("_",) * n
    return Sentence(
        sent_id=None,
        forms=tuple(form for form, _, _ in words),
        lemmas=blank,
        upos=tuple(tag for _, tag, _ in words),
        xpos=blank,
        feats=blank,
        deprels=tuple("root" if head == 0 else relation for head, relation in zip(heads[1:], relations)),
        heads=frozen_heads(heads),
    )


def is_acyclic(sentence: Sentence) -> bool:
    """Tell whether from every word a walk over the heads ends at the root or at a word without a head."""
    heads = sentence.heads.tolist()
    for word in range(1, len(sentence) + 1):
        steps = 0
        while word > 0 and steps <= len(sentence):
            word, steps = heads[word], steps + 1
        if word > 0:
            return False
    return True
