"""The target side of a bitext with projected tags, as arrays; read from a stream in one pass."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.contractions import Contractions, split_contractions
from qsproj.corpus.pairs.translations import Translations
from qsproj.errors import NothingToLearnError
from qsproj.pipelines.tagging.conventions import (
    CONVENTIONS,
    EITHER,
    MAJORITY,
    either_name,
    settled_names,
    source_tags,
    trust_in_tags,
)
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.source_features import NO_LINK, Mark, marks_of

# Minimum probability of a link to count as the translation of an auxiliary.
LIKELY = 0.15

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MarkedLinks:
    """The L links of a text: target words int64[L], indices into ``names`` int64[L], votes float64[L]."""

    words: NDArray[np.int64]
    marks: NDArray[np.int64]
    votes: NDArray[np.float64]
    names: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinkedText:
    """Target sentences with numbered words and the link votes of each word."""

    tags: Words  # the T tags, sorted
    sentences: tuple[Words, ...]  # the S sentences; none is empty
    starts: NDArray[np.int64]  # int64[S+1]: sentence s holds words ``starts[s]:starts[s + 1]`` of the N words
    vocabulary: Words  # the V types
    types: NDArray[np.int32]  # int32[N], type of each word
    # float32[N, T]: for each word and tag, the sum over links to source words of the tag of their
    # probabilities to the power ``sureness``
    votes: NDArray[np.float32]
    links: int
    left_out: int = 0  # number of sentences left out by sampling
    unshared: Words = ()  # names of conventions of the source that do not hold
    marked: MarkedLinks | None = None  # marks of the links' source words, if requested

    def words_of(self, sentence: int) -> slice:
        return slice(int(self.starts[sentence]), int(self.starts[sentence + 1]))

    def places(self, sentences: Iterable[int]) -> NDArray[np.int64]:
        """Return the word numbers of these sentences, concatenated, int64[M]."""
        return np.concatenate([np.arange(*self.starts[s : s + 2]) for s in sentences])

    def parted(self, rows: NDArray[np.float32], sentences: Sequence[int]) -> list[NDArray[np.float32]]:
        """Split the rows of the M words of these sentences, [M, T], by sentence."""
        return np.split(rows, np.cumsum(np.diff(self.starts)[list(sentences)])[:-1])


@dataclass(frozen=True, slots=True)
class _Linked:
    """Words of a target sentence, and place, tag, mark and vote of each link to a tagged source word."""

    words: Words
    places: NDArray[np.int64]
    tags: NDArray[np.int64]
    marks: NDArray[np.int64]
    votes: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Links:
    """The links of a text in parallel arrays: target word, numbers of tag and mark, vote."""

    words: NDArray[np.int64]
    tags: NDArray[np.int64]
    marks: NDArray[np.int64]
    votes: NDArray[np.float64]


def read_linked_text(
    corpus: Iterable[Translations],
    *,
    more_tags: Iterable[str] = (),
    contractions: Contractions | None = None,
    known: Mapping[str, Mapping[str, int]] | None = None,
    language: str | None = None,
    most: int | None = None,
    rng: np.random.Generator | None = None,
    marked: bool = False,
    sureness: float | None = None,
) -> LinkedText:
    """Read target words and tag votes of translations whose source has UPOS; links without weights count 1.

    ``contractions``: target tokens to split into words. Their parts have no votes, because the links of *zum*
    cannot be divided between *zu* and *dem*. ``known``: tag counts of each word of tagged sentences, which
    with ``language`` decide which conventions of the source hold in the target
    (:mod:`qsproj.pipelines.tagging.conventions`). ``most``: maximum number of target sentences; ``rng`` draws
    the sample if there are more. ``marked``: keep the features of the source. ``sureness``: power of a link's
    probability in its vote; None: as in TagProjectionOptions.

    Raises UsageError when there is no target word, or none with a link to a source word that has UPOS.

    *Source*: algorithm R of Vitter (1985).
    """
    # Tags are numbered in order of appearance and sorted at the end.
    tags: dict[str, int] = {}
    marks: dict[Mark, int] | None = {} if marked else None
    kept: list[tuple[int, _Linked]] = []
    power = TagProjectionOptions().sureness if sureness is None else sureness
    number = -1
    for number, translations in enumerate(corpus):
        place = len(kept)
        if most is not None and rng is not None and number >= most:
            place = int(rng.integers(number + 1))
            if place >= most:
                continue
        linked = (number, _linked(translations, tags, marks, contractions or {}, power))
        kept[place : place + 1] = [linked]
    sentences = [linked for _, linked in sorted(kept, key=itemgetter(0)) if linked.words]
    if not sentences:
        raise NothingToLearnError("the target has no word; check that it is the right file")
    if not set(tags) - {UNSPECIFIED}:
        raise NothingToLearnError("no source word has a UPOS tag; tag the source first (qsproj tag)")
    return _numbered(
        sentences,
        tags,
        more_tags,
        known or {},
        marks=marks,
        language=language,
        left_out=number + 1 - len(kept),
    )


def _linked(
    translations: Translations,
    tags: dict[str, int],
    marks: dict[Mark, int] | None,
    contractions: Contractions,
    sureness: float,
) -> _Linked:
    """Return a sentence with the links of its translations; adds new ones to ``tags`` and ``marks``."""
    words, places = _split(translations[0].target.forms, contractions)
    columns: list[tuple[NDArray[Any], ...]] = []
    for pair in translations:
        found = np.array(
            [tags.setdefault(tag, len(tags)) for tag in source_tags(pair.source)], dtype=np.int64
        )
        mark = np.zeros(len(found), dtype=np.int64)
        links, weights = pair.alignment.links, pair.alignment.weights
        place, source = places[links[:, 1] - 1], links[:, 0] - 1
        weight = np.ones(len(links)) if weights is None else weights
        if marks is not None:
            linked = _likeliest(len(found), source, place, weight)
            mark[:] = [marks.setdefault(one, len(marks)) for one in marks_of(pair.source, linked)]
        vote = weight**sureness * trust_in_tags(pair.source)[source]
        kept = place >= 0
        columns.append((place[kept], found[source][kept], mark[source][kept], vote[kept]))
    return _Linked(words, *(np.concatenate(column) for column in zip(*columns, strict=True)))


def _likeliest(
    n_words: int, source: NDArray[np.integer], place: NDArray[np.int64], weight: NDArray[np.float64]
) -> list[int]:
    """Return the likeliest linked place of each source word; NO_LINK below the probability LIKELY."""
    best = np.full(n_words, NO_LINK, dtype=np.int64)
    order = np.argsort(weight, kind="stable")
    order = order[weight[order] >= LIKELY]
    best[source[order]] = place[order]
    return best.tolist()


def _numbered(
    sentences: Sequence[_Linked],
    tags: dict[str, int],
    more_tags: Iterable[str],
    known: Mapping[str, Mapping[str, int]],
    *,
    marks: Mapping[Mark, int] | None,
    language: str | None,
    left_out: int,
) -> LinkedText:
    """Number the words of sentences and sum their votes."""
    vocabulary: dict[str, int] = {}
    numbers = [vocabulary.setdefault(word, len(vocabulary)) for linked in sentences for word in linked.words]
    types = np.array(numbers, dtype=np.int32)
    starts = np.concatenate(([0], np.cumsum([len(linked.words) for linked in sentences], dtype=np.int64)))
    links = _of_majority(_links(sentences, starts), types, vocabulary, tags)
    shares = _shares(links, types, tags, len(vocabulary))
    settled = settled_names(vocabulary, shares, known, language=language)
    own = {either_name(*pair): pair[0] for pair in (*EITHER, *MAJORITY)}
    of_source = {tag: own.get(tag) or settled.get(tag, tag) for tag in tags}
    names = tuple(sorted({*of_source.values(), *more_tags} - {UNSPECIFIED}))
    columns = [names.index(tag) if tag in names else -1 for tag in of_source.values()]
    votes, n_links = _dense(links, len(types), columns, len(names))
    for pair, other in EITHER.items():
        name = either_name(*pair)
        if name in tags and other in names:
            of_name = links.tags == tags[name]
            np.add.at(votes, (links.words[of_name], names.index(other)), links.votes[of_name])
    if not n_links:
        raise NothingToLearnError("no target word is linked to a tagged source word; check the alignment")
    return LinkedText(
        tags=names,
        sentences=tuple(linked.words for linked in sentences),
        starts=starts,
        vocabulary=tuple(vocabulary),
        types=types,
        votes=votes,
        links=n_links,
        left_out=left_out,
        unshared=tuple(name for name, tag in settled.items() if not name.startswith(tag)),
        marked=None if marks is None else MarkedLinks(links.words, links.marks, links.votes, tuple(marks)),
    )


def _split(tokens: Words, contractions: Contractions) -> tuple[Words, NDArray[np.int64]]:
    """Return the words of tokens, and the place of each token among them, -1 for split tokens."""
    words, ranges = split_contractions(tokens, contractions)
    places = np.arange(len(tokens), dtype=np.int64)
    if ranges:
        parts = np.zeros(len(words), dtype=np.bool_)
        first = np.zeros(len(words), dtype=np.bool_)
        for span in ranges:
            parts[span.first - 1 : span.last] = True
            first[span.first - 1] = True
        own = np.nonzero(~parts | first)[0]
        places = np.where(parts[own], -1, own)
    return tuple(words), places


def _links(sentences: Sequence[_Linked], starts: NDArray[np.int64]) -> _Links:
    """Return the links of all sentences: words of the text, tag numbers and votes."""
    return _Links(
        words=np.concatenate(
            [linked.places + start for linked, start in zip(sentences, starts, strict=False)]
        ),
        tags=np.concatenate([linked.tags for linked in sentences]),
        marks=np.concatenate([linked.marks for linked in sentences]),
        votes=np.concatenate([linked.votes for linked in sentences]),
    )


def numbered(names: Iterable[str]) -> tuple[NDArray[np.int64], int]:
    """Return the number of each name in order of first appearance, and the count of distinct names."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64), len(numbers)


def _of_majority(
    links: _Links, types: NDArray[np.int32], vocabulary: Iterable[str], tags: Mapping[str, int]
) -> _Links:
    """Give links of MAJORITY the second tag where the lower-cased type has more votes for it."""
    lowered, count = numbered(form.lower() for form in vocabulary)
    of_type = lowered[types[links.words]]
    found = links.tags.copy()
    for pair, other in MAJORITY.items():
        name = either_name(*pair)
        if name in tags and other in tags:
            own, others = (
                np.bincount(of_type, links.votes * (links.tags == tags[tag]), minlength=count)
                for tag in (name, other)
            )
            found[(links.tags == tags[name]) & (others > own)[of_type]] = tags[other]
    return replace(links, tags=found)


def _shares(
    links: _Links, types: NDArray[np.int32], tags: Mapping[str, int], n_types: int
) -> dict[str, NDArray[np.float64]]:
    """Return, for each convention whose words occur, its share of the votes of each type, float64[V]."""
    of_type = types[links.words]
    sums = np.bincount(of_type, links.votes, minlength=n_types)
    shares = {}
    for name in (one.name for one in CONVENTIONS if one.name in tags):
        of_name = links.tags == tags[name]
        own = np.bincount(of_type[of_name], links.votes[of_name], minlength=n_types)
        shares[name] = np.divide(own, sums, out=np.zeros(n_types), where=sums > 0.0)
    return shares


def _dense(
    links: _Links, n_words: int, columns: Sequence[int], n_tags: int
) -> tuple[NDArray[np.float32], int]:
    """Return the votes, float32[N, T], and the number of links; ``columns`` of tag numbers, -1 for none."""
    tags = np.array(columns, dtype=np.int64)[links.tags]
    known = tags >= 0
    votes = np.zeros((n_words, n_tags), dtype=np.float32)
    np.add.at(votes, (links.words[known], tags[known]), links.votes[known])
    return votes, int(known.sum())
