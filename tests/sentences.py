"""Small sentences for tests, made from strings."""

from __future__ import annotations

from qsproj.conventions import frozen_heads
from qsproj.corpus.sentence import Sentence


def make_sentence(forms: str, upos: str, heads: list[int] | None = None, relations: str = "") -> Sentence:
    """Build a sentence from words, tags and, where given, heads (of words 1..n) and relations."""
    words = tuple(forms.split())
    blank = ("_",) * len(words)
    return Sentence(
        sent_id=None,
        forms=words,
        lemmas=blank,
        upos=tuple(upos.split()),
        xpos=blank,
        feats=blank,
        deprels=tuple(relations.split()) or blank,
        heads=frozen_heads([-1, *(heads or [-1] * len(words))]),
    )
