"""Sentence splitting of running text: logistic regression at each piece of a text.

The rules are a feature with an initial weight, so that with few sentences the splitter is no worse than they.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from qsproj.conventions import Floats, Hashes, Mask, Numbers, Weights, starts_of
from qsproj.corpus.characters import readable
from qsproj.corpus.editing import comment_value
from qsproj.corpus.language.sentence_ends import rule_starts
from qsproj.corpus.sentence import Sentence
from qsproj.features.hashing import FeatureIndex
from qsproj.features.sentence_starts import TEMPLATES, pieces, start_keys
from qsproj.models.schema import Archive, Arrays, ascending, checked, names, optional, shaped, text
from qsproj.training.objectives import logistic_loss

# Chosen on dev files of English, Greek, Hungarian, Turkish: L2 penalty, steps of L-BFGS, weight of the rules.
L2, STEPS, TRUST = 1.0, 60, 2.0
# Features of one place do not generalise; weights that stay below the second are dropped.
RAREST, FAINTEST = 2, 0.01
LONGEST_TEXT = 50  # texts without paragraphs are cut into texts of this many sentences
_BREAKS = ("# newpar", "# newdoc")


@dataclass(frozen=True, eq=False, kw_only=True)
class Splitter:
    """A model of sentence starts: ``weights`` float32[R], log-odds of the features in ``index``."""

    language: str | None
    index: FeatureIndex
    weights: Weights

    def starts(self, paragraph: str) -> list[int]:
        """Return the sentence starts in a text with single spaces, 0 first; O(characters)."""
        shown, places = readable(paragraph)
        found = pieces(shown)
        starts, at = [0], 0
        for keys in start_keys(shown, found, set(rule_starts(shown, self.language))):
            odds = self._padded[self.index.rows(keys)].sum(axis=1)
            starts += [found[at + int(place)][0] for place in np.flatnonzero(odds > 0.0)]
            at += len(keys)
        return sorted({start if places is None else places[start] for start in starts})

    @cached_property
    def _padded(self) -> Floats:
        """The weights, and 0 for features without one, whose row is -1."""
        return np.append(self.weights, 0.0)

    def to_archive(self) -> Archive:
        header = {"language": self.language, "templates": list(TEMPLATES)}
        return header, {"keys": self.index.keys, "weights": self.weights.astype(np.float16)}

    @staticmethod
    def from_archive(header: Mapping[str, Any], arrays: Arrays) -> "Splitter":
        checked(header, {"language": optional(text), "templates": names})
        if header["templates"] != list(TEMPLATES):
            raise ValueError("the model finds sentences by other templates than this version of qsproj")
        index = FeatureIndex(ascending(arrays, "keys", np.uint64, least=1))
        weights = shaped(arrays, "weights", (len(index.keys),))
        return Splitter(language=header["language"], index=index, weights=weights.astype(np.float32))


def running_texts(treebank: Iterable[Sentence]) -> Iterator[tuple[str, list[int]]]:
    """Yield paragraphs of a treebank: a text with single spaces, and its sentence starts.

    Sentences follow without a space where the last word has ``SpaceAfter=No``. Sentences without ``# text``
    separate paragraphs, as do ``# newpar`` and ``# newdoc``.
    """
    joined, starts = "", list[int]()
    for sentence in treebank:
        own = comment_value(sentence, "text")
        assert sentence.layout is not None
        if starts and (own is None or any(line.startswith(_BREAKS) for line in sentence.layout.lines)):
            yield joined.rstrip(" "), starts
            joined, starts = "", []
        if shown := readable(" ".join((own or "").split()))[0]:
            starts.append(len(joined))
            joined += shown if _goes_on(sentence) else shown + " "
    if starts:
        yield joined.rstrip(" "), starts


def _goes_on(sentence: Sentence) -> bool:
    assert sentence.layout is not None
    rows = [line.rstrip("\r").split("\t") for line in sentence.layout.lines if line[:1].isdigit()]
    last = str(len(sentence))
    return any(row[0].rpartition("-")[2] == last and "SpaceAfter=No" in row[-1].split("|") for row in rows)


def train_splitter(treebank: Sequence[Sentence], *, language: str | None = None) -> Splitter | None:
    """Train on consecutive sentences with ``# text``; return None where there are not two."""
    keys, outcomes = list[Hashes](), list[Mask]()
    for whole, firsts in running_texts(treebank):
        for begin, end in pairwise([*range(0, len(firsts), LONGEST_TEXT), len(firsts)]):
            stop = firsts[end] if end < len(firsts) else len(whole)
            own = whole[firsts[begin] : stop].rstrip(" ")
            wanted = {start - firsts[begin] for start in firsts[begin:end]}
            found = pieces(own)
            # The start of a text is certain.
            keys.append(np.concatenate(start_keys(own, found, set(rule_starts(own, language))))[1:])
            outcomes.append(np.array([place in wanted for place, _ in found[1:]], dtype=bool))
    if not any(one.any() for one in outcomes):
        return None
    all_keys, all_outcomes = np.concatenate(keys), np.concatenate(outcomes)
    seen, counts = np.unique(all_keys, return_counts=True)
    rules = np.concatenate(start_keys("a. B", pieces("a. B"), {3}))[[0, 2], TEMPLATES.index("rule")]
    index = FeatureIndex(np.union1d(seen[(counts >= RAREST) & (seen > 0)], rules))
    prior = np.zeros(len(index.keys))
    prior[index.rows(rules[None])[0]] = -TRUST, TRUST
    weights = _fit(index.rows(all_keys), all_outcomes, prior)
    kept = np.abs(weights) >= FAINTEST
    rounded = weights[kept].astype(np.float16).astype(np.float32)
    return Splitter(language=language, index=FeatureIndex(index.keys[kept]), weights=rounded)


def _fit(rows: Numbers, outcomes: Mask, prior: Floats) -> Floats:
    # Imported here: it takes a tenth of a second, and only training needs it.
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    known = rows >= 0
    starts = starts_of(known.sum(axis=1))
    features = csr_array((np.ones(starts[-1]), rows[known], starts), shape=(len(rows), len(prior)))

    def loss(weights: Floats) -> tuple[float, Floats]:
        away = weights - prior
        own, slopes = logistic_loss(features @ weights, outcomes)
        return own + 0.5 * L2 * float(away @ away), features.T @ slopes + L2 * away

    return minimize(loss, prior, jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "maxcor": 5}).x
