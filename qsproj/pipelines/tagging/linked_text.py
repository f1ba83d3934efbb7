"""The target side of a bitext with projected tags, as arrays; read from a stream in one pass."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Mask, starts_of
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.characters import lower_form, plain_form
from qsproj.corpus.contractions import Contractions, words_of_tokens
from qsproj.corpus.pairs.translations import Translations
from qsproj.errors import NothingToLearnError
from qsproj.pipelines.tagging import conventions
from qsproj.pipelines.tagging.options import BARELY, ENOUGH, FEW, HARDLY, SURELY, TagProjectionOptions
from qsproj.pipelines.tagging.source_features import NO_LINK, Mark, marks_of

Words = tuple[str, ...]
Item = TypeVar("Item")
Made = TypeVar("Made")
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class MarkedLinks:
    """The L links of a text: target words int64[L], indices into ``names`` int64[L], votes float64[L]."""

    words: NDArray[np.int64]
    marks: NDArray[np.int64]
    votes: Floats
    names: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinkedText:
    """Target sentences with numbered words and the link votes of each word."""

    tags: Words  # the T tags, sorted
    sentences: tuple[Words, ...]  # the S sentences in plain forms; none is empty
    starts: NDArray[np.int64]  # int64[S+1]: sentence s holds words ``starts[s]:starts[s + 1]`` of the N words
    vocabulary: Words  # the V types
    types: NDArray[np.int32]  # int32[N], type of each word
    # float32[N, T]: sum of the probabilities, to ``link_power``, of links to source words of each tag
    votes: NDArray[np.float32]
    first: NDArray[np.float32] | None  # with several translations, the votes of the first of each alone
    links: int
    left_out: int = 0  # number of sentences left out by sampling
    # annotation in the target, for conventions of the source that do not hold there
    unshared: Mapping[str, conventions.Annotation] = field(default_factory=dict)
    marked: MarkedLinks | None = None  # marks of the links' source words, if requested

    def words_of(self, sentence: int) -> slice:
        return slice(int(self.starts[sentence]), int(self.starts[sentence + 1]))

    def places(self, sentences: Iterable[int]) -> NDArray[np.int64]:
        """Return the word numbers of these sentences, concatenated, int64[M]."""
        return np.concatenate([np.arange(*self.starts[s : s + 2]) for s in sentences])

    def parted(self, rows: NDArray[np.float32], sentences: Sequence[int]) -> list[NDArray[np.float32]]:
        """Split the rows of the M words of these sentences, [M, T], by sentence."""
        return np.split(rows, np.cumsum(np.diff(self.starts)[list(sentences)])[:-1])


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
    link_power: float | None = None,
) -> LinkedText:
    """Read target words and tag votes of translations whose source has UPOS; links without weights count 1.

    ``contractions``: target tokens to split into words, whose parts have no votes: links of *zum* cannot be
    divided between *zu* and *dem*. ``known``: tag counts of words of tagged sentences, for ``language`` and
    :mod:`qsproj.pipelines.tagging.conventions`. ``most``: maximum number of target sentences, drawn by
    ``rng``. ``marked``: keep the features of the source. ``link_power``: power of a link's probability in its
    vote; None: as in TagProjectionOptions.

    Raises UsageError when there is no target word, or none with a link to a source word that has UPOS.
    """
    power = TagProjectionOptions().link_power if link_power is None else link_power
    text, links = _read(corpus, contractions or {}, most=most, rng=rng, marked=marked, power=power)
    second = conventions.second_tags(language)
    # The article *a* is that of English, not a definite one as in Hungarian and Portuguese.
    has_the = any(lower_form(form) == "the" and tag == "DET" for form, tag, *_ in links.sources)

    def voted(form: str, tag: str, relation: str, inflected: str) -> str:
        name = conventions.name_of(form, tag, relation)
        if name and (has_the or name != conventions.ARTICLES.name):
            return name
        return inflected if inflected in second else tag

    of_sources = [voted(*one) for one in links.sources]
    numbers, names = numbered(of_sources)
    if not {*names} - {UNSPECIFIED}:
        raise NothingToLearnError("no source word has a UPOS tag; tag the source first (qsproj tag)")
    lowered = numbered(map(lower_form, text.vocabulary))[0][text.types[links.places]]
    of_words = partial(links.of_groups, groups=lowered, n_groups=len(text.vocabulary))
    named = numbers[links.words]
    if language not in conventions.PARTICLES:
        named = _by_majority(links, lowered, of_words, named, names)
    annotations = _target_conventions(text, links, named, names, known or {}, language)
    in_target = {name: annotations.get(name, (name.partition(" ")[0],))[0] for name in names}
    tags = tuple(sorted({*in_target.values(), *more_tags} - {UNSPECIFIED}))
    column = np.array([tags.index(tag) if tag in tags else -1 for tag in in_target.values()])[named]
    if "AUX" in tags:
        aux = tags.index("AUX")
        column[_are_inflected(links, lowered, of_words, column == aux)] = aux
        if (asking := conventions.of_questions(language)) in tags:
            verbal = np.isin(column, [tags.index(tag) for tag in ("AUX", "VERB") if tag in tags])
            column[_ask(links, lowered, of_words, column == aux, verbal)] = tags.index(asking)
    if (conjunction := conventions.relatives_as_conjunctions(language)) in tags:
        inflected = " ".join(conventions.RELATIVE)
        relative = np.array([name == inflected for *_, name in links.sources])[links.words]
        joining = of_words(column == tags.index(conjunction)) >= FEW * of_words(True)
        column[relative & joining[lowered]] = tags.index(conjunction)
    if not (column >= 0).any():
        raise NothingToLearnError("no target word is linked to a tagged source word; check the alignment")
    added = [(named == names.index(name), other) for name, other in second.items() if name in names]
    quantifiers = [conventions.may_be_determiner(form, tag, language) for form, tag, *_ in links.sources]
    added.append((np.array(quantifiers)[links.words], conventions.DETERMINER))
    added = [(chosen, other) for chosen, other in added if other in tags]

    def votes_of(weights: Floats) -> NDArray[np.float32]:
        votes = np.zeros((len(text.types), len(tags)), dtype=np.float32)
        np.add.at(votes, (links.places[column >= 0], column[column >= 0]), weights[column >= 0])
        for chosen, other in added:
            np.add.at(votes, (links.places[chosen], tags.index(other)), weights[chosen])
        return votes

    several = bool(links.translations.any())
    source_forms = (lower_form(form) for form, *_ in links.sources)
    words = numbered(zip(source_forms, map(in_target.get, of_sources), strict=True))[0][links.words]
    agreed = agreement(links.places, column + 1, words, links.translations, links.weights)
    weights = links.weights * agreed
    return replace(
        text,
        tags=tags,
        votes=votes_of(weights),
        first=votes_of(links.weights * (links.translations == 0)) if several else None,
        links=int((column >= 0).sum()),
        unshared={
            one.name: annotations[one.name]
            for one in conventions.CONVENTIONS
            if one.in_trees and annotations.get(one.name, one.own) != one.own
        }
        | conventions.of_reflexives(language),
        marked=MarkedLinks(links.places, links.marks, weights, links.names) if marked else None,
    )


OfWords = Callable[[Mask | bool], Floats]
SourceWord = tuple[str, str, str, str]  # form, tag, relation and inflection


class _Links(NamedTuple):
    """The L links of a text, and what they are links to, each in order of first appearance."""

    places: NDArray[np.int64]  # int64[L]: target words, of the N of the text
    words: NDArray[np.int64]  # int64[L], into ``sources``
    marks: NDArray[np.int64]  # int64[L], into ``names``
    translations: NDArray[np.int64]  # int64[L], their numbers among those of the sentence
    weights: Floats  # float64[L]
    sources: tuple[SourceWord, ...]
    names: tuple[Mark, ...]

    def of_groups(self, chosen: Mask | bool, groups: NDArray[np.integer], n_groups: int) -> Floats:
        """Return the total weight of the ``chosen`` links of each group."""
        # Without any link the counts would be integers.
        return np.bincount(groups, self.weights * chosen, minlength=n_groups).astype(np.float64)


def _read(
    corpus: Iterable[Translations],
    contractions: Contractions,
    *,
    most: int | None,
    rng: np.random.Generator | None,
    marked: bool,
    power: float,
) -> tuple[LinkedText, _Links]:
    """Return target sentences without votes yet, and their links."""
    sources, marks = dict[SourceWord, int](), dict[Mark, int]() if marked else None
    of_pairs = partial(_linked, sources=sources, marks=marks, contractions=contractions)
    read, n_read = sampled(corpus, of_pairs, most=most, rng=rng)
    linked = [(words, links) for words, links in read if words]
    if not linked:
        raise NothingToLearnError("the target has no word; check that it is the right file")
    sentences = tuple(words for words, _ in linked)
    starts = starts_of(list(map(len, sentences)))
    numbers, vocabulary = numbered(chain.from_iterable(sentences))
    at, sourced, of_marks, translations, weights = map(np.concatenate, zip(*(links for _, links in linked)))
    at = at + np.repeat(starts[:-1], [len(links[0]) for _, links in linked])
    trust = [BARELY if relation in conventions.LOOSE else 1.0 for _, _, relation, _ in sources]
    weights = weights**power * np.array(trust)[sourced]
    links = _Links(at, sourced, of_marks, translations, weights, tuple(sources), tuple(marks or ()))
    text = LinkedText(
        tags=(),
        sentences=sentences,
        starts=starts,
        vocabulary=vocabulary,
        types=numbers.astype(np.int32),
        votes=np.zeros((len(numbers), 0), dtype=np.float32),
        first=None,
        links=len(at),
        left_out=n_read - len(read),
    )
    return text, links


def _by_majority(
    links: _Links, lowered: NDArray[np.int64], of_words: OfWords, named: NDArray[np.int64], names: Words
) -> NDArray[np.int64]:
    """Give links of MAJORITY the second tag where the lower-cased word has more votes for it.

    ``lowered`` int64[L]: the word of each link. ``of_words``: returns the weight of chosen links by word.
    ``named`` int64[L]: what each link votes for, into ``names``.
    """
    own = np.array([tag for _, tag, _, _ in links.sources])[links.words]
    for name, other in conventions.MAJORITY.items():
        if name in names and other in names:
            of_name = named == names.index(name)
            more_other = of_words(own == other) > of_words(of_name)
            named = np.where(of_name & more_other[lowered], names.index(other), named)
    return named


def _are_inflected(
    links: _Links, lowered: NDArray[np.int64], of_words: OfWords, are_auxiliaries: Mask
) -> Mask:
    """Return the links of subjects to auxiliaries that show their person instead, bool[L].

    Without a pronoun, Czech *jsme* is linked to *we* more than to *are*. Words are chosen whose links to
    pronouns are to the subjects *I* and *we*, and a few to auxiliaries; none where nearly all subjects have
    the same translation, the pronoun: Russian has no word for *am*, which is linked to *я*. Links to verbs
    are no sign: Estonian *meil on*, *we have*, is a case of the pronoun. ``lowered``, ``of_words``: see
    :func:`_by_majority`. ``are_auxiliaries`` bool[L]: which links vote for AUX.
    """

    def of_sources(chosen: Iterable[bool]) -> Mask:
        return np.fromiter(chosen, dtype=np.bool_, count=len(links.sources))[links.words]

    speakers = [lower_form(form) if conventions.is_speaker(*one) else "" for form, *one in links.sources]
    names = dict.fromkeys(filter(None, speakers))
    translations = [of_words(of_sources(own == name for own in speakers)) for name in names]
    most, every = (sum(float(how(one)) for one in translations) for how in (np.max, np.sum))
    are_subjects = of_sources(map(bool, speakers))
    if most > SURELY * every:
        return np.zeros_like(are_subjects)
    are_pronouns = of_sources(tag == "PRON" for _, tag, _, _ in links.sources)
    inflected = of_words(are_subjects) >= SURELY * of_words(are_pronouns)
    inflected &= of_words(are_auxiliaries) >= HARDLY * of_words(True)
    return are_subjects & inflected[lowered]


def _ask(
    links: _Links, lowered: NDArray[np.int64], of_words: OfWords, are_auxiliaries: Mask, are_verbal: Mask
) -> Mask:
    """Return the links of auxiliaries to particles that ask, bool[L].

    *Do you know* has *do* for Estonian *kas*, *are you* has *are*. Words are chosen whose links to verbs and
    auxiliaries are to those before their subject, and to different ones: German *bist* is linked to *are*
    alone. ``are_auxiliaries``, ``are_verbal`` bool[L]: which links vote for AUX, and for AUX or VERB.
    """
    names = [lower_form(form) if name == conventions.INVERTED else "" for form, *_, name in links.sources]
    inverted = np.array(list(map(bool, names)))[links.words] & are_auxiliaries
    every = of_words(inverted)
    asking = (every >= ENOUGH) & (every >= SURELY * of_words(are_verbal))
    for form in {*names} - {""}:
        asking &= of_words(inverted & np.array([one == form for one in names])[links.words]) < SURELY * every
    return inverted & asking[lowered]


def _target_conventions(
    text: LinkedText,
    links: _Links,
    named: NDArray[np.int64],
    names: Words,
    known: Mapping[str, Mapping[str, int]],
    language: str | None,
) -> dict[str, conventions.Annotation]:
    """Return the annotation in the target of the conventions of the source that its links show."""
    of_types = partial(links.of_groups, groups=text.types[links.places], n_groups=len(text.vocabulary))
    sums = of_types(True)
    shares = {
        one.name: of_types(named == names.index(one.name)) / np.where(sums > 0.0, sums, 1.0)
        for one in conventions.CONVENTIONS
        if one.name in names
    }
    return conventions.target_conventions(text.vocabulary, shares, known, language=language)


SEEN = 1.0  # number of votes of the prior: the agreement of all words of the tag


def agreement(
    words: NDArray[np.int64],
    tags: NDArray[np.int64],
    sources: NDArray[np.int64],
    translations: NDArray[np.int64],
    votes: Floats,
) -> Floats:
    """Return how far other translations agree with the tag of each link's source word, float64[L] in 0..1.

    The mean share of their votes for the tag, relative to that of all words of the tag; 1 without other
    translations. It detects tagging errors: pronouns missing from a small treebank may be tagged NOUN.
    """
    if not translations.any():
        return np.ones(len(votes))

    def of_others(groups: NDArray[np.int64]) -> Floats:
        own = np.unique(groups * (translations.max() + 1) + translations, return_inverse=True)[1]
        return np.maximum(np.bincount(groups, votes)[groups] - np.bincount(own, votes)[own], 0.0)

    every, tiny = of_others(words), np.finfo(np.float64).tiny
    sure = votes * np.minimum(every, 1.0)
    agreed = sure * of_others(words * (tags.max() + 1) + tags) / np.maximum(every, tiny)
    usual = (np.bincount(tags, agreed) / np.maximum(np.bincount(tags, sure), tiny))[tags]
    seen = np.bincount(sources, sure)[sources] + SEEN
    own = (np.bincount(sources, agreed)[sources] + SEEN * usual) / seen
    return np.minimum(np.divide(own, usual, out=np.ones_like(own), where=usual > 0.0), 1.0)


def sampled(
    items: Iterable[Item], make: Callable[[Item], Made], *, most: int | None, rng: np.random.Generator | None
) -> tuple[list[Made], int]:
    """Return the results of ``make`` for a sample, in order, and the number of items.

    ``make`` is called once all items are read, for those of the sample. Source: algorithm R of Vitter (1985).
    """
    kept, number = list[tuple[int, Item]](), -1
    for number, item in enumerate(items):
        if most is None or rng is None or number < most:
            place = number
        elif (place := int(rng.integers(number + 1))) >= most:
            continue
        kept[place : place + 1] = [(number, item)]
    kept.sort(key=itemgetter(0), reverse=True)
    made = list[Made]()
    while kept:  # an item is freed once its result is made
        made.append(make(kept.pop()[1]))
    return made, number + 1


def _linked(
    translations: Translations,
    sources: dict[SourceWord, int],
    marks: dict[Mark, int] | None,
    contractions: Contractions,
) -> tuple[Words, list[NDArray[Any]]]:
    """Return a sentence with the links of its translations; adds to ``sources`` and ``marks``.

    Of each link: place of the target word, numbers of source word, mark and translation; probability.
    """
    words, places = _split(translations[0].target.forms, contractions)
    columns = list[tuple[NDArray[Any], ...]]()
    for number, pair in enumerate(translations):
        links, weight = pair.alignment.links, pair.alignment.shares
        source, place = links[:, 0] - 1, places[links[:, 1] - 1]
        own = pair.source
        cells = zip(own.forms, own.upos, own.deprels, conventions.inflected_names(own), strict=True)
        word = np.array([sources.setdefault(one, len(sources)) for one in cells], dtype=np.int64)
        mark = np.zeros(len(word), dtype=np.int64)
        if marks is not None:
            likeliest, order = np.full_like(word, NO_LINK), np.argsort(weight, kind="stable")
            likeliest[source[order]] = place[order]
            mark[:] = [marks.setdefault(one, len(marks)) for one in marks_of(own, likeliest.tolist())]
        kept = place >= 0
        every = (place, word[source], mark[source], np.full(len(place), number), weight)
        columns.append(tuple(column[kept] for column in every))
    return tuple(map(plain_form, words)), list(map(np.concatenate, zip(*columns, strict=True)))


def _split(tokens: Words, contractions: Contractions) -> tuple[Words, NDArray[np.int64]]:
    """Return the words of tokens, and the place of each token among them, -1 for split tokens."""
    parts = words_of_tokens(tokens, contractions)
    sizes = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
    return tuple(chain.from_iterable(parts)), np.where(sizes == 1, np.cumsum(sizes) - 1, -1)


def numbered(names: Iterable[Name]) -> tuple[NDArray[np.int64], tuple[Name, ...]]:
    """Return the number of each name in order of first appearance, and the distinct names."""
    numbers = dict[Name, int]()
    found = [numbers.setdefault(name, len(numbers)) for name in names]
    return np.array(found, dtype=np.int64), tuple(numbers)


class WordVotes(NamedTuple):
    """The W lower-cased words of a text."""

    of_types: NDArray[np.int64]  # int64[V], the word of each type
    counts: NDArray[np.int64]  # int64[W]
    votes: Floats  # float64[W, T]
    frequent: Mask  # bool[W]


def word_votes(text: LinkedText, frequent: float) -> WordVotes:
    """Sum the votes of lower-cased words; ``frequent``: least share of the text of a frequent word."""
    of_types, words = numbered(map(lower_form, text.vocabulary))
    at = of_types[text.types]
    counts = np.bincount(at, minlength=len(words))
    return WordVotes(of_types, counts, summed(text.votes, at, len(words)), counts >= frequent * len(at))


def summed(rows: NDArray[np.floating], groups: NDArray[np.integer], n_groups: int) -> Floats:
    """Return the sum of the rows, [N, T], of each group, float64[n_groups, T]: faster than add.at."""
    sums = np.empty((n_groups, rows.shape[1]))
    for column in range(rows.shape[1]):
        sums[:, column] = np.bincount(groups, rows[:, column], minlength=n_groups)
    return sums


def normalised(counts: Floats) -> Floats:
    """Return the rows divided by their sums; rows of zeros are unchanged."""
    sums = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0.0)
