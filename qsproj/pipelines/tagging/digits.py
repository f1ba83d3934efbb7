"""Copies of sentences with spelled-out numbers in digits, for texts that have none, as in a Testament."""

from collections.abc import Sequence

import numpy as np

from qsproj.models.tagging.tagger_training import FIGURES, NUMERAL, LogEvidence, SetExample

# Tags below this log-probability (natural) are ruled out for spelled-out numbers. Links alone never go so low
# (DOUBT in link_noise); type sets and a confident tagger do.
UNLIKELY = -3.0


def in_digits(examples: Sequence[SetExample], tags: Sequence[str], *, most: int) -> list[SetExample]:
    """Return copies of at most ``most`` sentences with one unambiguous number word in digits."""
    if NUMERAL not in tags:
        return []
    found: list[SetExample] = []
    for example in examples:
        place = _number(example.log_evidence, tags.index(NUMERAL))
        if place is not None and len(found) < most:
            figure = FIGURES[len(found) % len(FIGURES)]
            forms = (*example.forms[:place], figure, *example.forms[place + 1 :])
            found.append(SetExample(forms, example.log_evidence, example.strength))
    return found


def _number(evidence: LogEvidence, numeral: int) -> int | None:
    """Return the first word whose only likely tag is NUM, None without one."""
    possible = evidence >= UNLIKELY
    certain = np.nonzero(possible[:, numeral] & (possible.sum(axis=1) == 1))[0]
    return int(certain[0]) if len(certain) else None
