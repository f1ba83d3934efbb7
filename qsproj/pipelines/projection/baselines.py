"""Parsers that know nothing: every word hangs on its neighbour (thesis table 4.3)."""

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.editing import with_heads
from qsproj.corpus.sentence import Sentence


def attach_previous(sentence: Sentence) -> Sentence:
    """Hang every word on the one before it, the first on the root ("attach left", "modify previous")."""
    return with_heads(sentence, [NO_HEAD, *range(len(sentence))], _relations(sentence))


def attach_next(sentence: Sentence) -> Sentence:
    """Hang every word on the one after it, the last on the root ("attach right", "modify next")."""
    heads = np.arange(1, len(sentence) + 2)
    heads[0], heads[-1] = NO_HEAD, ROOT
    return with_heads(sentence, heads, _relations(sentence))


def _relations(sentence: Sentence) -> tuple[str, ...]:
    return ("dep",) * len(sentence)
