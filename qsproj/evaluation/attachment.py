"""Attachment scores: percentages of words with the right head, relation and tag.

Scored words are all words of the gold trees, punctuation included (the CoNLL 2018 convention), or all except
those whose *gold* UPOS is PUNCT (``punctuation=False``). A word without a gold head is not scored but counted
(``without_gold_head``), so partial trees can be scored. A missing head of the *system* is wrong. Words of a
multiword token are scored; the token itself and empty nodes are not. ``las`` compares full relations
(``nsubj:pass``), ``las_no_subtypes`` the part before the first colon, as the CoNLL 2018 shared task does.
``upos`` covers all words with a gold UPOS, with or without a gold head.
"""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, repeat, zip_longest
from operator import eq

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.conventions import NO_HEAD, ROOT, Mask
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.editing import line_of
from qsproj.corpus.messages import first_difference
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError

# Names of the bins of lengths in words, and the upper limits of all but the last.
_LENGTHS = ("1-10", "11-20", "21-30", "31-40", "41+")
_LIMITS = (10, 20, 30, 40)
PUNCTUATION_TAG = "PUNCT"
_GROUP_FIELDS = ("tokens", "unlabelled", "labelled", "labelled_no_subtypes")
_PREDICTED = "predicted"
_OTHER_FIELDS = "gold_roots system_roots shared_roots without_gold_head without_head with_gold_tag tags"
_FIELDS = (*_GROUP_FIELDS, *_OTHER_FIELDS.split())
#: One record per sentence: numbers of scored words, of those with the right head, with the right head and
#: relation, and with the right head and relation up to subtypes; of scored words that are roots in the gold
#: tree, in the system's, and in both; of words not scored because their gold head is missing; of scored words
#: without a system head; of words with a gold UPOS, and of those with the right UPOS.
COUNTS = np.dtype([(name, np.int32) for name in _FIELDS])


def exact_paired_test(differences: ArrayLike) -> float:
    """Return the exact two-sided p-value of a sum of paired integer differences, int[S]; 1 where it is zero.

    Null hypothesis: the two results of each sentence are exchangeable between the systems. The p-value is the
    share of the 2^S exchanges with an absolute sum of at least the observed one (*Source*: Noreen 1989).
    Sentences are exchanged, not words, as errors within a sentence are dependent.

    Exchanging the results of each sentence with probability 1/2 gives the sum D = T - 2K, with T the sum of
    the absolute differences and K the exchanged part of T. The characteristic function of D is the product
    over sentences of cos(d t); the inverse Fourier transform over T + 1 points is the distribution of K. Time
    O(u T + T log T) for u distinct absolute differences; memory O(T). Absolute error at most 1e-12; the
    p-value is at least 2^(1-S), the minimum for S non-zero differences.
    """
    array = np.asarray(differences, dtype=np.int64)
    array = array[array != 0]
    sizes, repeats = np.unique(np.abs(array), return_counts=True)
    reach, observed = int(sizes @ repeats), abs(int(array.sum()))
    if observed == 0:
        return 1.0
    angles = np.pi / (reach + 1) * np.arange((reach + 1) // 2 + 1)
    transform = np.exp(-1j * reach * angles)
    for size, count in zip(sizes, repeats):
        transform *= np.cos(size * angles) ** count
    probabilities = np.fft.irfft(transform, n=reach + 1)
    # Two-sided: |T - 2K| >= observed, and the distribution is symmetric.
    tail = 2.0 * float(probabilities[: (reach - observed) // 2 + 1].sum())
    return min(1.0, max(tail, math.ldexp(2.0, -array.size)))


def percentage(part: float, whole: float) -> float:
    return 100.0 * float(part) / float(whole) if whole else float("nan")


#: The group of each word: the number of words of its sentence, its UPOS, or its DEPREL with the subtype.
GROUPINGS: Mapping[str, Callable[[Sentence], Sequence[str]]] = {
    "length": lambda sentence: [_LENGTHS[bisect_left(_LIMITS, len(sentence))]] * len(sentence),
    "tag": lambda sentence: sentence.upos,
    "relation": lambda sentence: sentence.deprels,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttachmentScores:
    """Scores of one system against gold trees; every score is a percentage, NaN where no word is scored.

    ``counts``: the counts of each sentence, in order, the input of `exact_paired_test`. Read-only.
    ``groups``: the scores of each group, such as a gold relation, in display order, with summed counts as
    those of one sentence; empty without a grouping. ``predicted``: words in the group by the *system's* tree.
    """

    counts: NDArray[np.void]
    groups: "Mapping[str, AttachmentScores]" = field(default_factory=dict)
    predicted: int = 0

    def _shown(self) -> dict[str, str]:
        scores = {name: f"{getattr(self, name):.2f}" for name in ("uas", "las", "las_no_subtypes", "upos")}
        return {**scores, "tokens": str(self.tokens), "sentences": str(self.sentences)}

    def __repr__(self) -> str:
        return f"AttachmentScores({', '.join(f'{name}={value}' for name, value in self._shown().items())})"

    def _repr_html_(self) -> str:
        rows = (f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in self._shown().items())
        return f"<table>{''.join(rows)}</table>"

    def total(self, name: str) -> int:
        """Return the sum over sentences of the field ``name`` of `COUNTS`."""
        return int(self.counts[name].sum(dtype=np.int64))

    def complete(self, name: str) -> Mask:
        """Return bool[number of sentences]: whether words are scored, and all are right in field ``name``."""
        return np.asarray((self.counts[name] == self.counts["tokens"]) & (self.counts["tokens"] > 0))

    @property
    def sentences(self) -> int:
        return len(self.counts)

    @property
    def tokens(self) -> int:
        return self.total("tokens")

    @property
    def uas(self) -> float:
        """Percentage of scored words with the right head."""
        return percentage(self.total("unlabelled"), self.total("tokens"))

    @property
    def las(self) -> float:
        """Percentage of scored words with the right head and the right relation, subtype included."""
        return percentage(self.total("labelled"), self.total("tokens"))

    @property
    def las_no_subtypes(self) -> float:
        """Percentage of scored words with the right head and relation, up to subtypes (LAS of CoNLL 2018)."""
        return percentage(self.total("labelled_no_subtypes"), self.total("tokens"))

    @property
    def upos(self) -> float:
        """Percentage of words with the right UPOS, of those with a gold UPOS."""
        return percentage(self.total("tags"), self.total("with_gold_tag"))

    @property
    def uem(self) -> float:
        """Percentage of sentences with all scored heads right, of those with scored words."""
        return percentage(self.complete("unlabelled").sum(), self.complete("tokens").sum())

    @property
    def lem(self) -> float:
        """Percentage of sentences with all scored heads and relations right, of those with scored words."""
        return percentage(self.complete("labelled").sum(), self.complete("tokens").sum())

    @property
    def root_f1(self) -> float:
        """F1, in percent, of the words attached to the root; gold and system may have several."""
        both = self.total("gold_roots") + self.total("system_roots")
        return percentage(2 * self.total("shared_roots"), both)


def attachment_scores(
    gold: Iterable[Sentence],
    systems: Sequence[Iterable[Sentence]],
    *,
    punctuation: bool = True,
    by: str | None = None,
    names: Sequence[str] | None = None,
) -> tuple[AttachmentScores, ...]:
    """Score systems against gold trees in one parallel pass.

    Time is linear in the number of words; memory is 44 bytes a sentence and system. ``punctuation``: whether
    words whose gold UPOS is PUNCT are scored. ``by``: one of `GROUPINGS`, to break the scores down by.
    ``names``: names of the gold file and of each system's, for messages. Raises WordsDifferError, DataError
    as :func:`side_by_side`.
    """
    names = names or ("gold", *(f"system {number}" for number in range(1, len(systems) + 1)))
    records = [array("i") for _ in systems]
    groups = [{name: Counter[str]() for name in (*_GROUP_FIELDS, _PREDICTED)} for _ in systems]
    for gold_sentence, system_sentences in side_by_side(gold, systems, names):
        for system, system_sentence in enumerate(system_sentences):
            marks = _marks(gold_sentence, system_sentence, punctuation=punctuation)
            records[system].extend(int(np.count_nonzero(marks[name])) for name in _FIELDS)
            if by is not None:
                of_gold = GROUPINGS[by](gold_sentence)
                # Only relations are those of the tree, and may differ.
                of_system = GROUPINGS[by](system_sentence) if by == "relation" else of_gold
                for name in _GROUP_FIELDS:
                    groups[system][name].update(compress(of_gold, marks[name].tolist()))
                groups[system][_PREDICTED].update(compress(of_system, marks["tokens"].tolist()))
    counted = (np.frombuffer(record.tobytes(), dtype=COUNTS) for record in records)
    return tuple(AttachmentScores(one, _by_group(own)) for one, own in zip(counted, groups))


def _by_group(totals: Mapping[str, Counter[str]]) -> dict[str, AttachmentScores]:
    """Return scores, given totals by field and group: in the order of lengths, or the largest first."""
    scores = {}
    ranks = {group: rank for rank, group in enumerate(_LENGTHS)}
    tokens, predicted = totals["tokens"], totals[_PREDICTED]
    for group in sorted(tokens | predicted, key=lambda one: (ranks.get(one, -tokens[one]), one)):
        counts = np.zeros(1, dtype=COUNTS)
        for name in _GROUP_FIELDS:
            counts[name] = totals[name][group]
        scores[group] = AttachmentScores(counts, predicted=predicted[group])
    return scores


def _marks(gold: Sentence, system: Sentence, *, punctuation: bool) -> dict[str, Mask]:
    n = len(gold)
    gold_heads, system_heads = gold.heads[1:], system.heads[1:]
    wanted = np.ones(n, np.bool_) if punctuation else ~_equal(gold.upos, repeat(PUNCTUATION_TAG), n)
    scored = wanted & (gold_heads != NO_HEAD)
    right = scored & (gold_heads == system_heads)
    tagged = wanted & ~_equal(gold.upos, repeat(UNSPECIFIED), n)
    relations = map(bare_relation, gold.deprels), map(bare_relation, system.deprels)
    gold_roots, system_roots = scored & (gold_heads == ROOT), scored & (system_heads == ROOT)
    return {
        "tokens": scored,
        "unlabelled": right,
        "labelled": right & _equal(gold.deprels, system.deprels, n),
        "labelled_no_subtypes": right & _equal(*relations, n),
        "gold_roots": gold_roots,
        "system_roots": system_roots,
        "shared_roots": gold_roots & system_roots,
        "without_gold_head": wanted & (gold_heads == NO_HEAD),
        "without_head": scored & (system_heads == NO_HEAD),
        "with_gold_tag": tagged,
        "tags": tagged & _equal(gold.upos, system.upos, n),
    }


def _equal(first: Iterable[str], second: Iterable[str], n: int) -> Mask:
    return np.fromiter(map(eq, first, second), dtype=np.bool_, count=n)


class WordsDifferError(DataError):
    """The words of two files differ; the texts may be equal, with different tokenization."""


def side_by_side(
    gold: Iterable[Sentence], systems: Sequence[Iterable[Sentence]], names: Sequence[str]
) -> Iterator[tuple[Sentence, list[Sentence]]]:
    for number, row in enumerate(zip_longest(gold, *systems), start=1):
        first, present = row[0], list[Sentence]()
        for name, sentence in zip(names, row):
            if first is None or sentence is None:
                longer = next(name for name, other in zip(names, row) if other is not None)
                found, expected = f"no sentence {number}", f"one as in {longer}"
                raise DataError(name, None, found, expected, "score files of the same sentences")
            if sentence.forms != first.forms:
                word, expected, found = first_difference(first.forms, sentence.forms)
                named = f"sentence {number}" + (f" ({first.sent_id})" if first.sent_id else "")
                found, expected = f"{found} as word {word} of {named}", f"{expected} as in {names[0]}"
                remedy = "score files of the same words"
                raise WordsDifferError(name, line_of(sentence), found, expected, remedy)
            present.append(sentence)
        yield present[0], present[1:]
