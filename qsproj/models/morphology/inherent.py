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

    The odds are those that all forms of a lemma with an attribute agree, of lemmas with two such forms or
    more, one added to both counts.
    """
    forms_of: dict[tuple[str, str], dict[str, dict[str, set[str]]]] = {}  # by lemma, attribute and value
    for form, lemma, analysis in words:
        of_lemma = forms_of.setdefault((analysis.upos, lemma), {})
        for name, value in feature_pairs(analysis.feats):
            of_lemma.setdefault(name, {}).setdefault(value, set()).add(form)
    agree, differ = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for (upos, _), of_lemma in forms_of.items():
        for name, of_values in of_lemma.items():
            if len(set().union(*of_values.values())) > 1:
                (agree if len(of_values) == 1 else differ)[upos, name] += 1
    logs = {place: log((agree[place] + 1) / (differ[place] + 1)) for place in agree}
    odds = {place: value for place, value in logs.items() if value >= LEAST_ODDS}
    values = {
        (upos, lemma): {
            name: next(iter(of_values))
            for name, of_values in of_lemma.items()
            if len(of_values) == 1 and (upos, name) in odds
        }
        for (upos, lemma), of_lemma in forms_of.items()
    }
    return Inherent(odds, values)
