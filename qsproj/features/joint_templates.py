"""Features of the factors that join two trees and an alignment, as tables of hash buckets.

A template is a tuple of atoms, each a column of small integers or hashes with a value for every factor; it is
conjoined with the factor's family. Quasi-synchronous factors ask for the tags of thesis 4.3.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.characters import plain_form
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.features.hashing import Template, stable_hash, templates_of

HASH_BITS = 18

Columns = Mapping[str, NDArray[np.uint64]]
Buckets = NDArray[np.int32]

FAMILIES = ("MONO", "SWAP", "SDOUBLE", "TDOUBLE", "SGRAND", "SSIB", "TGRAND", "TSIB")
# Two arcs on either side: grandparents or siblings on both. Beside the above where they are asked for.
PAIR_FAMILIES = ("STGRAND", "SWAPGRAND", "STSIB", "SSIBTGRAND", "SGRANDTSIB")
EVERY_FAMILY = (*FAMILIES, *PAIR_FAMILIES)
# ALIGNHMM over the words of either side, each linked to one word of the other at most.
ALIGN_HMMS = ("TARGETHMM", "SOURCEHMM")
# ALIGNITG: each word is linked once at most, and the order of the links comes about by bracketing.
ALIGN_ITG = "ITG"
# What may be asked of links beyond ALIGN and fertilities.
LINK_FAMILIES = (*ALIGN_HMMS, ALIGN_ITG)

FACTOR_TEMPLATES: tuple[Template, ...] = (
    (),
    *templates_of("""
        head; dep; source head; source dep; head, dep; source head, source dep; head, source head;
        dep, source dep; head, dep, source dep; head, dep, source head, source dep; order;
        order, head, dep; order, source head, source dep; length, source length
    """),
)

LINK_TEMPLATES = templates_of("""
    posterior; posterior, best; likeness; place; neighbours; rivals; source tag, target tag;
    source tag, target tag, best; posterior, place; source form, target form; source form; target form
""")

# Further features of links where there is a dictionary.
STRENGTH_TEMPLATES = templates_of("strength; strength, best; strength, posterior; strength, place")

FERTILITY_TEMPLATES: tuple[Template, ...] = ((), ("tag",))
FERTILITY_BINS = 4

JUMP_TEMPLATES: tuple[Template, ...] = (("jump",), ("direction",), ("distance",))
WIDEST_JUMP = 7
# Jumps from -WIDEST_JUMP to WIDEST_JUMP, and no link.
JUMP_SCORES = 2 * WIDEST_JUMP + 2

# Of a link together with a tag that its target word may have.
TAG_TEMPLATES: tuple[Template, ...] = (("source tag", "tag"), ("source tag", "tag", "posterior"))

_LENGTHS = (2, 3, 4, 6, 10)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)


@lru_cache(maxsize=1024)
def _seed(family: str, template: Template) -> np.uint64:
    return np.uint64(stable_hash(f"{family} {' '.join(template)}"))


@dataclass(frozen=True, slots=True, eq=False)
class WordHashes:
    """Hashes of coarse tags and of forms in lower case, uint64[n+1]; of the root at 0."""

    tags: NDArray[np.uint64]
    forms: NDArray[np.uint64]


def word_hashes(sentence: Sentence) -> WordHashes:
    forms = ("<root>", *(plain_form(form).lower() for form in sentence.forms))
    tags = ("<root>", *sentence.upos)
    return WordHashes(
        *(np.array([stable_hash(word) for word in words], np.uint64) for words in (tags, forms))
    )


def _hashed(templates: Sequence[Template], seeds: NDArray[np.uint64], columns: Columns) -> Buckets:
    """Return int32[F, T]: every template's bucket, from seeds uint64[F or 1, T] and the columns it names."""
    count = max((len(column) for column in columns.values()), default=0)
    buckets = np.empty((count, len(templates)), dtype=np.int32)
    for t, template in enumerate(templates):
        state = np.broadcast_to(seeds[:, t], (count,)).copy()
        for atom in template:
            state = (state ^ columns[atom]) * _MULTIPLIER
            state ^= state >> _FOLD
        buckets[:, t] = (state * _MULTIPLIER) >> np.uint64(64 - HASH_BITS)
    return buckets


_FAMILY_SEEDS = np.array([[_seed(name, row) for row in FACTOR_TEMPLATES] for name in EVERY_FAMILY])


def factor_buckets(
    families: NDArray[np.int8], words: NDArray[np.int32], source: WordHashes, target: WordHashes
) -> Buckets:
    """Return the features of quasi-synchronous factors, int32[F, T].

    ``families`` int8[F]: places in EVERY_FAMILY. ``words`` int32[F, 4]: target head, target dependent, and
    the source words linked to them.
    """
    head, dependent, source_head, source_dependent = words.T
    order = 2 * (head < dependent) + (source_head < source_dependent)
    columns = {
        "head": target.tags[head],
        "dep": target.tags[dependent],
        "source head": source.tags[source_head],
        "source dep": source.tags[source_dependent],
        "order": order.astype(np.uint64),
        "length": np.digitize(np.abs(head - dependent), _LENGTHS).astype(np.uint64),
        "source length": np.digitize(np.abs(source_head - source_dependent), _LENGTHS).astype(np.uint64),
    }
    return _hashed(FACTOR_TEMPLATES, _FAMILY_SEEDS[families], columns)


def link_buckets(
    alignment: Alignment,
    source: Sentence,
    target: Sentence,
    source_words: WordHashes,
    target_words: WordHashes,
    strengths: NDArray[np.float64] | None = None,
) -> Buckets:
    """Return the features of candidate links, int32[k, T], in the order of ``alignment.links``.

    ``strengths`` float64[k] are those of a :class:`Dictionary`, where there is one.
    """
    rows, posteriors = alignment.links, link_posteriors(alignment)
    sources, targets = rows[:, 0], rows[:, 1]
    grid = np.zeros((alignment.n_source + 2, alignment.n_target + 2))
    grid[sources, targets] = posteriors
    # 3 for links that are the best of both their words: the intersection of both directions.
    best = (posteriors >= grid.max(axis=1)[sources]) * 2 + (posteriors >= grid.max(axis=0)[targets])
    place = np.abs(sources / alignment.n_source - targets / alignment.n_target)
    beside = (grid[sources - 1, targets - 1] > 0.5) * 1 + (grid[sources + 1, targets + 1] > 0.5) * 1
    rivals = (grid[sources] > 0).sum(axis=1) + (grid[:, targets] > 0).sum(axis=0)
    likeness = [_likeness(source.forms[s - 1], target.forms[t - 1]) for s, t in rows.tolist()]
    columns = {
        "posterior": np.digitize(posteriors, (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.995)),
        "best": best,
        "likeness": np.array(likeness, dtype=np.uint64),
        "place": np.digitize(place, (0.02, 0.05, 0.1, 0.2, 0.4)),
        "neighbours": beside,
        "rivals": np.minimum(rivals, 8),
    }
    hashes = {name: column.astype(np.uint64) for name, column in columns.items()}
    hashes["source tag"], hashes["target tag"] = source_words.tags[sources], target_words.tags[targets]
    hashes["source form"], hashes["target form"] = source_words.forms[sources], target_words.forms[targets]
    templates = LINK_TEMPLATES
    if strengths is not None:
        templates += STRENGTH_TEMPLATES
        binned = np.digitize(strengths, (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85))
        hashes["strength"] = np.where(np.isnan(strengths), 9, binned).astype(np.uint64)
    seeds = np.array([[_seed("ALIGN", template) for template in templates]])
    return _hashed(templates, seeds, hashes)


def tag_buckets(
    tags: Sequence[Sequence[str]],
    source_tags: NDArray[np.uint64],
    posteriors: NDArray[np.float64],
    n_tags: int,
) -> Buckets:
    """Return the features of L links with each tag that their target words may have, int32[L * n_tags, T].

    ``tags``: of the target word of each link, ``n_tags`` at most. ``source_tags`` uint64[L]: hash of the tag
    of its source word. ``posteriors`` float64[L].
    """
    filled = [stable_hash(tag) for row in tags for tag in (*row, *[""] * (n_tags - len(row)))]
    columns = {
        "source tag": np.repeat(source_tags, n_tags),
        "tag": np.array(filled, dtype=np.uint64),
        "posterior": np.repeat(np.digitize(posteriors, (0.3, 0.6, 0.9)).astype(np.uint64), n_tags),
    }
    return _hashed(TAG_TEMPLATES, np.array([[_seed("TAG", template) for template in TAG_TEMPLATES]]), columns)


def link_posteriors(alignment: Alignment) -> NDArray[np.float64]:
    """Return the aligner's probabilities float64[k]; 0.9 where it gave none for a sure link, else 0.5."""
    if alignment.weights is None:
        return np.where(alignment.sure, 0.9, 0.5)
    return alignment.weights


def fertility_buckets(tags: NDArray[np.uint64], *, side: str) -> Buckets:
    """Return the features of the fertilities of a side, int32[n * FERTILITY_BINS, T], word after word."""
    words = len(tags) - 1
    counts = np.tile(np.arange(FERTILITY_BINS), words)
    base = [_seed(side, template) for template in FERTILITY_TEMPLATES]
    seeds = np.array(base) ^ ((counts[:, None] + 1).astype(np.uint64) * _MULTIPLIER)
    return _hashed(FERTILITY_TEMPLATES, seeds, {"tag": np.repeat(tags[1:], FERTILITY_BINS)})


def jump_buckets(families: Sequence[str]) -> Buckets:
    """Return the features of the jumps of some of ALIGN_HMMS, int32[len(families) * JUMP_SCORES, T]."""
    jumps = np.arange(-WIDEST_JUMP, WIDEST_JUMP + 1)
    places = np.arange(JUMP_SCORES)
    columns = {
        "jump": places,
        "direction": np.append(np.sign(jumps), 2) + 1,
        "distance": np.append(np.digitize(np.abs(jumps), (1, 2, 3, 5)), 5),
    }
    hashes = {name: np.tile(column, len(families)).astype(np.uint64) for name, column in columns.items()}
    seeds = [[_seed(family, template) for template in JUMP_TEMPLATES] for family in families]
    table = np.array(seeds, dtype=np.uint64).reshape(-1, len(JUMP_TEMPLATES))
    return _hashed(JUMP_TEMPLATES, np.repeat(table, JUMP_SCORES, axis=0), hashes)


@lru_cache(maxsize=1 << 17)
def _likeness(source: str, target: str) -> int:
    """Return how alike two words are: 0 nothing in common .. 5 equal, 6 equal without a letter."""
    first, second = source.lower(), target.lower()
    if first == second:
        return 5 if any(character.isalpha() for character in first) else 6
    common = 0
    while common < min(len(first), len(second)) and first[common] == second[common]:
        common += 1
    return (4 * common) // max(len(first), len(second))


Keys = NDArray[np.uint64]
Values = NDArray[np.float64]

# Added to the occurrences of two words, so that two that were seen once are no sure translations.
SHRINKAGE = 1.0
# Pairs of words that were linked less often than this, in expectation, are forgotten.
LEAST_LINKS = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Sums float64[K] by hashes uint64[K], ascending."""

    keys: Keys
    sums: Values

    def of(self, keys: Keys) -> Values:
        """Return the sums of some keys; 0 for those that were never seen."""
        if not len(self.keys):
            return np.zeros(len(keys))
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.sums[places], 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """Counts of words in lower case, and of expected links, sums of posteriors, of each pair of them."""

    links: Counted
    source_words: Counted
    target_words: Counted

    def strengths(self, pair: SentencePair, *, counted: bool = False) -> Values:
        """Return how firmly the words of each candidate link belong together, float64[k] in 0..1.

        Dice's coefficient, shrunk by SHRINKAGE; NaN where a word was not seen. ``counted``: the pair is one
        of those that were counted; it is then left out of the count.
        """
        sources, targets, codes = _keys(pair)
        linked = self.links.of(codes)
        occurrences = self.source_words.of(sources), self.target_words.of(targets)
        if counted:
            own = _count(_contribution(pair))
            linked = np.maximum(linked - own.links.of(codes), 0.0)
            occurrences = (
                occurrences[0] - own.source_words.of(sources),
                occurrences[1] - own.target_words.of(targets),
            )
        seen = np.minimum(*occurrences) > 0.0
        return np.where(seen, np.minimum(2.0 * linked / (sum(occurrences) + SHRINKAGE), 1.0), np.nan)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        counts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {f"{name}_keys": counted.keys for name, counted in counts.items()} | {
            f"{name}_sums": counted.sums for name, counted in counts.items()
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> "Dictionary":
        return Dictionary(
            *(
                Counted(arrays[f"{field.name}_keys"], arrays[f"{field.name}_sums"])
                for field in fields(Dictionary)
            )
        )


Contribution = tuple[Keys, Values, Keys, Keys]


def count_dictionary(pairs: Iterable[SentencePair]) -> Dictionary:
    """Count words and candidate links of a bitext; its memory grows with the number of links."""
    parts = [_contribution(pair) for pair in pairs]
    empty = (np.zeros(0, np.uint64), np.zeros(0), np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    codes, posteriors, sources, targets = (np.concatenate(column) for column in zip(empty, *parts))
    counted = _count((codes, posteriors, sources, targets))
    often = counted.links.sums >= LEAST_LINKS
    links = Counted(counted.links.keys[often], counted.links.sums[often])
    return Dictionary(links, counted.source_words, counted.target_words)


def _count(contribution: Contribution) -> Dictionary:
    codes, posteriors, sources, targets = contribution
    return Dictionary(
        _summed(codes, posteriors),
        _summed(sources, np.ones(len(sources))),
        _summed(targets, np.ones(len(targets))),
    )


def _summed(keys: Keys, values: Values) -> Counted:
    distinct, place = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(distinct))
    np.add.at(sums, place, values)
    return Counted(distinct, sums)


def _contribution(pair: SentencePair) -> Contribution:
    sources, targets = (word_hashes(sentence).forms[1:] for sentence in (pair.source, pair.target))
    return _keys(pair)[2], link_posteriors(pair.alignment), sources, targets


def _keys(pair: SentencePair) -> tuple[Keys, Keys, Keys]:
    links = pair.alignment.links
    sources = word_hashes(pair.source).forms[links[:, 0]]
    targets = word_hashes(pair.target).forms[links[:, 1]]
    return sources, targets, sources * _MULTIPLIER + targets
