"""Lemmas: from the lexicon, and for other words by the most probable edit script that fits.

A script turns a form into its lemma, and is the same for words that inflect alike: ``ging -> gehen`` is
"remove no prefix, remove the suffix ing, add the suffix ehen". Scripts are stored as text.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from qsproj.conventions import Hashes, Weights
from qsproj.corpus.characters import lower_letters, remembered
from qsproj.features.hashing import hashes_of, stable_hash
from qsproj.features.tagging import word_kind
from qsproj.kernels.tagging.analyses import script_scores
from qsproj.models.morphology.analyses import Analysis, feature_pairs
from qsproj.models.morphology.lemma_rules import LONGEST_ACRONYM
from qsproj.training.choices import shift_of

AS_IT_IS, LOWER, TITLE, UPPER = "as", "lower", "title", "upper"
WHOLE = "whole"  # the lemma is the script's own, whatever the form
_CASINGS: dict[str, Callable[[str], str]] = {
    LOWER: lower_letters,
    TITLE: lambda text: text[:1].upper() + lower_letters(text[1:]),
    UPPER: str.upper,
    AS_IT_IS: lambda text: text,
}
SHARED = 1  # with fewer shared letters, form and lemma are listed whole, not as an inflection
LONGEST_SUFFIX, LONGEST_PREFIX = 6, 3
# By casing: the longest suffix to remove, and the scripts by suffix.
_BySuffix = dict[str, tuple[int, dict[str, list[int]]]]


class EditScript(NamedTuple):
    """An edit of both ends of a form, and the casing of the lemma."""

    # ``lower``, ``title`` and ``upper`` change the form first; ``as`` leaves it; for ``whole``, the lemma is
    # ``suffix``.
    casing: str
    cut_prefix: str = ""  # removed from the form
    prefix: str = ""  # added
    cut_suffix: str = ""  # removed from the form
    suffix: str = ""  # added

    def apply(self, form: str) -> str | None:
        """Return the lemma of a form; None where the script does not fit it."""
        if self.casing == WHOLE:
            return self.suffix
        cased = _CASINGS[self.casing](form)
        stem = cased[len(self.cut_prefix) : len(cased) - len(self.cut_suffix)]
        fits = stem and cased.startswith(self.cut_prefix) and cased.endswith(self.cut_suffix)
        return self.prefix + stem + self.suffix if fits else None

    @staticmethod
    def from_fields(fields: Sequence[str]) -> "EditScript":
        if len(fields) != 5 or fields[0] not in (*_CASINGS, WHOLE):
            raise ValueError(f"found {list(fields)!r:.60}, expected the five fields of an edit script")
        return EditScript(*fields)


def edit_script(form: str, lemma: str) -> EditScript:
    """Return the script that makes the lemma from the form, with the longest stem that both share.

    Lower-cased lemmas are of lower-cased forms. Others keep the casing of the form, unless another casing has
    a longer stem: the lemma of NATO is NATO.
    """
    best, size = EditScript(WHOLE, suffix=lemma), SHARED - 1
    for casing in (LOWER, AS_IT_IS, TITLE, UPPER):
        cased = _CASINGS[casing]
        if cased(lemma) == lemma:
            own = cased(form)
            stem = SequenceMatcher(None, own, lemma, autojunk=False).find_longest_match()
            if stem.size > size:
                ends = own[stem.a + stem.size :], lemma[stem.b + stem.size :]
                best, size = EditScript(casing, own[: stem.a], lemma[: stem.b], *ends), stem.size
        if casing == LOWER and size >= SHARED:
            break
    return best


class Word(NamedTuple):
    """A form with its known analysis, for the prediction of its lemma."""

    form: str
    analysis: Analysis


@dataclass(frozen=True, slots=True, eq=False)
class Lemmatizer:
    """Log-linear choice among scripts, ``allowed`` under a UPOS, ascending, with ``weights`` float32[2^b]."""

    scripts: tuple[EditScript, ...]
    allowed: Mapping[str, Sequence[int]]
    lemmas: Collection[str]
    weights: Weights
    _found: dict[Word, str] = field(default_factory=dict, repr=False)
    _of_tags: dict[str, _BySuffix] = field(default_factory=dict, repr=False)

    def lemma(self, word: Word) -> str:
        """Return the lemma of a word missing from the lexicon; the form itself where no script is known."""
        return remembered(self._found, word, partial(self._best, word))

    def _best(self, word: Word) -> str:
        if len(word.form) > LONGEST_ACRONYM and word.form.isupper() and word.form.isalpha():  # as in headings
            word = word._replace(form=_CASINGS[TITLE](word.form))
        found = dict(self.candidates(word))
        if len(found) < 2:
            return next(iter(found.values()), word.form)
        scores = np.empty(len(found))
        features = self.features(word, found, self.lemmas)
        script_scores(*features, self.weights, shift_of(self.weights), scores)
        return list(found.values())[int(scores.argmax())]

    def candidates(self, word: Word) -> Iterator[tuple[int, str]]:
        fitting: list[int] = []
        for casing, (longest, by_suffix) in self._indexed(word.analysis.upos).items():
            cased = _CASINGS.get(casing, _CASINGS[AS_IT_IS])(word.form)
            for length in range(min(longest, len(cased)) + 1):
                fitting += by_suffix.get(cased[len(cased) - length :], ())
        for number in sorted(fitting):
            if lemma := self.scripts[number].apply(word.form):
                yield number, lemma

    def features(
        self, word: Word, found: Mapping[int, str], lemmas: Collection[str]
    ) -> tuple[Hashes, Hashes, Hashes]:
        """Return features: of a word uint64[F], its scripts uint64[C], the lemmas ``found`` uint64[C, G]."""
        upos, rows = word.analysis.upos, []
        for lemma in found.values():
            ends = (f"ends {upos} {lemma[-size:]}" if size <= len(lemma) else "" for size in range(1, 5))
            texts = (f"known {upos} {lemma in lemmas}", *ends)
            rows.append([stable_hash(text) if text else 0 for text in texts])
        of_scripts = hashes_of("\t".join(self.scripts[number]) for number in found)
        return hashes_of(_word_features(word)), of_scripts, np.array(rows, dtype=np.uint64)

    def _indexed(self, upos: str) -> _BySuffix:
        if upos not in self._of_tags:
            found: _BySuffix = {}
            for number in self.allowed.get(upos, ()):
                script = self.scripts[number]
                suffix = "" if script.casing == WHOLE else script.cut_suffix
                longest, by_suffix = found.get(script.casing, (0, {}))
                by_suffix.setdefault(suffix, []).append(number)
                found[script.casing] = max(longest, len(suffix)), by_suffix
            self._of_tags[upos] = found
        return self._of_tags[upos]


def _word_features(word: Word) -> Iterator[str]:
    upos, _, feats = word.analysis
    lower = lower_letters(word.form)
    yield from _analysis_features(word.analysis)
    yield f"kind {upos} {word_kind(word.form)}"
    for length in range(1, min(LONGEST_SUFFIX, len(lower)) + 1):
        suffix = lower[-length:]
        yield f"suffix {suffix}"
        yield f"suffix {upos} {suffix}"
        if length < LONGEST_SUFFIX:
            yield f"suffix {upos} {feats} {suffix}"
    for length in range(1, min(LONGEST_PREFIX, len(lower)) + 1):
        yield f"prefix {upos} {lower[:length]}"


@lru_cache(maxsize=1 << 12)
def _analysis_features(analysis: Analysis) -> tuple[str, ...]:
    upos, xpos, feats = analysis
    named = (f"feature {upos} {attribute} {value}" for attribute, value in feature_pairs(feats))
    return "any", f"upos {upos}", f"xpos {xpos}", f"feats {upos} {feats}", *named
