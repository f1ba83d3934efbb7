"""What the script alone tells of a word's tag, by Unicode classes, in any language."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SIGNS = frozenset({"PUNCT", "SYM"})
NUMERAL = frozenset({"NUM"})
PROPER_NOUN = "PROPN"


def tags_by_script(vocabulary: Sequence[str], tags: Sequence[str]) -> NDArray[np.bool_]:
    """Return which tags each type may have, bool[V, T].

    Signs alone are PUNCT or SYM, and nothing else is PUNCT; digits alone, with signs between, are NUM; a word
    without a capital is not PROPN, where the script has capitals. A rule that would leave none of ``tags`` is
    passed over.
    """
    allowed = np.zeros((len(vocabulary), len(tags)), dtype=np.bool_)
    for form, row in zip(vocabulary, allowed, strict=True):
        chosen = [tag in allowed_by_script(form, tags) for tag in tags]
        row[:] = chosen if any(chosen) else True
    return allowed


def allowed_by_script(form: str, tags: Sequence[str]) -> frozenset[str]:
    """Return those of ``tags`` that a word may have; maybe none."""
    categories = {unicodedata.category(character) for character in form}
    if all(category[0] in "PSZ" for category in categories):
        return SIGNS.intersection(tags)
    # 20 and 1,5 and 10:30; but 20. may be an ordinal.
    if form[-1].isdecimal() and all(category == "Nd" or category[0] == "P" for category in categories):
        return NUMERAL.intersection(tags)
    others = frozenset(tags) - {"PUNCT"}
    return others - {PROPER_NOUN} if form.islower() else others
