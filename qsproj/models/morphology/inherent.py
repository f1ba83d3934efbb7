"""Inherent features: those that all forms of a lemma share, such as the gender of nouns."""

from collections import Counter
from collections.abc import Iterable
from math import log
from typing import NamedTuple

from qsproj.models.morphology.analyses import Analysis, Attributes, feature_pairs

# Log-odds from which the forms of a lemma share a feature. On dev files of twelve languages 0 and 1 gain
# alike; 0 looks up the lemmas of three times as many words.
LEAST_ODDS = 1.0


class Inherent(NamedTuple):
    """Features of lemmas: ``odds``, natural log, by UPOS and attribute; ``values`` by UPOS and lemma."""

    odds: dict[tuple[str, str], float]
    values: dict[tuple[str, str], dict[str, str]]

    def of(self, analysis: Analysis) -> Attributes:
        pairs = feature_pairs(analysis.feats)
        return tuple(pair for pair in pairs if (analysis.upos, pair[0]) in self.odds)

    def against(self, analysis: Analysis, lemma: str) -> float:
        """Return the log-odds against an analysis whose features contradict those of its lemma."""
        known = self.values.get((analysis.upos, lemma), {})
        pairs = ((name, value) for name, value in self.of(analysis) if known.get(name, value) != value)
        return sum(self.odds[analysis.upos, name] for name, _ in pairs)


def inherent_features(words: Iterable[tuple[str, str, Analysis]]) -> Inherent:
    """Return the inherent features shown by words: form, lemma and analysis of each.

    The odds are those that two or more forms of a lemma agree, one added to both counts.
    """
    forms: dict[tuple[str, str], set[str]] = {}
    values: dict[tuple[str, str], dict[str, set[str]]] = {}
    for form, lemma, analysis in words:
        forms.setdefault((analysis.upos, lemma), set()).add(form)
        own = values.setdefault((analysis.upos, lemma), {})
        for name, value in feature_pairs(analysis.feats):
            own.setdefault(name, set()).add(value)
    agree, all_lemmas = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for (upos, lemma), own in values.items():
        if len(forms[upos, lemma]) > 1:
            all_lemmas.update((upos, name) for name in own)
            agree.update((upos, name) for name, found in own.items() if len(found) == 1)
    logs = {
        place: log((agree[place] + 1) / (count - agree[place] + 1)) for place, count in all_lemmas.items()
    }
    odds = {place: value for place, value in logs.items() if value >= LEAST_ODDS}
    known = {
        place: {
            name: next(iter(found))
            for name, found in own.items()
            if len(found) == 1 and (place[0], name) in odds
        }
        for place, own in values.items()
    }
    return Inherent(odds, known)
