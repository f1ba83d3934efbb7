"""Tag frequent words that are rarely linked; list those tagged against their links.

Function words without a translation get spurious links: Wolof *di*, an auxiliary, is linked to *and*.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Mask
from qsproj.corpus.characters import lower_form
from qsproj.features.tagging import BOUNDARY_CLASS, RARE_CLASS, Classes
from qsproj.models.tagging.tagger import TagWords
from qsproj.pipelines.tagging.linked_text import LinkedText, WordVotes, normalised, summed, word_votes
from qsproj.pipelines.tagging.options import BARELY, ENOUGH, FEW, HALF, SURELY, TagProjectionOptions
from qsproj.pipelines.tagging.type_dictionary import type_shares

UNTRANSLATED = frozenset({"AUX", "DET", "PRON"})  # most untranslated words have one of these tags
# Conjunctions are translated: a rarely linked word is no conjunction, even if linked to *and* (Wolof *di*),
# unless SURELY of its votes are for conjunctions (German *aber*).
TRANSLATED = "CCONJ"
# Well-linked words with one of these tags have none of UNTRANSLATED: in 22 treebanks 7 of 367 do. Gothic
# *jah*, *and*, is also linked to *he*, since verbs mark the person.
NEVER_BOTH = frozenset({"ADP", "CCONJ"})
# Rarely linked words that are mostly second in a clause are particles: Russian *же* (.85) and Greek *δὲ*
# (.95), but not Czech *si* (.48) and *se* (.43). Tagged PART, as English *to* and *not*, they cost .6 points
# of UAS in Ukrainian.
PARTICLE = "ADV"
RARER = 10  # words with similar neighbours may be this many times rarer than frequent ones


class VotedText(NamedTuple):
    """A text with votes of all translations or the first, and its W words."""

    text: LinkedText
    words: WordVotes
    rare: Mask  # bool[W]: rarely linked words
    auxiliary: Mask  # bool[W]: frequent auxiliaries, by forms and votes
    homograph: Mask  # bool[W]: those whose links are mostly to other words that are no verbs: German *sein*
    unregistered: Mask  # bool[W]: rarely linked words that are no AUX, as UD registers others in the language
    particle: Mask  # bool[W]: rarely linked words that usually come second in a clause

    @classmethod
    def of(cls, text: LinkedText, auxiliaries: frozenset[str], options: TagProjectionOptions) -> "VotedText":
        words = word_votes(text, options.frequent)
        rare = rarely_linked(text, words, options)
        registered = np.zeros_like(rare)
        registered[words.of_types] = [lower_form(form) in auxiliaries for form in text.vocabulary]
        votes = normalised(words.votes)[:, np.isin(text.tags, ["AUX"])].sum(axis=1)
        # 1,000 pairs are too few to show which words are rarely linked: Chinese *了* has .02 votes per word.
        unlinked = words.votes.sum(axis=1) < FEW * words.counts
        auxiliary = registered & words.frequent & (rare | unlinked | (votes >= options.least))
        verbal = words.votes[:, np.isin(text.tags, ["AUX", "VERB"])].max(axis=1, initial=0.0)
        linked = ~_few_votes(words.votes, words.counts, options)
        homograph = auxiliary & linked & (words.votes.max(axis=1) > verbal)
        unregistered = rare & ~registered & (votes < HALF) & bool(auxiliaries)
        second = (words.counts >= ENOUGH) & (share_second(text, words) >= options.agreeing)
        particle = rare & ~auxiliary & second
        return cls(text, words, rare, auxiliary, homograph, unregistered, particle)

    def with_types(self, types: NDArray[np.int32], old: NDArray[np.int64]) -> "VotedText":
        """Return the text with additional types, which are copies of the types ``old``, in this order."""
        vocabulary = (*self.text.vocabulary, *(self.text.vocabulary[one] for one in old.tolist()))
        of_types = np.concatenate([self.words.of_types, self.words.of_types[old]])
        text = replace(self.text, types=types, vocabulary=vocabulary)
        return self._replace(text=text, words=self.words._replace(of_types=of_types))


class WeighedVotes(NamedTuple):
    """Votes of a text, the shares of tags of each type, and the types whose shares are weights of tags."""

    text: LinkedText
    shares: Floats  # float64[V, T]
    weighted: Mask  # bool[V]


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """A text with a type of its own for each rarely linked word before each tag."""

    every: VotedText
    first: VotedText | None  # with several translations
    after: NDArray[np.int64]  # int64[N], the tag after each word, T at the end of a sentence

    @classmethod
    def of(
        cls, text: LinkedText, options: TagProjectionOptions, *, auxiliaries: frozenset[str] = frozenset()
    ) -> "Positions":
        """Number the types; ``auxiliaries``: words that may be AUX, lower-cased, if known."""
        every = VotedText.of(text, auxiliaries, options)
        first = None
        if text.first is not None:
            first = VotedText.of(replace(text, votes=text.first, first=None), auxiliaries, options)
        rare = every.rare if first is None else np.where(_decided(first), first.rare, every.rare)
        after = _next_tags(text, every.words)
        at = rare[every.words.of_types[text.types]]
        n_places = len(text.tags) + 1
        numbered = text.types[at].astype(np.int64) * n_places + after[at]
        named, numbers = np.unique(numbered, return_inverse=True)
        types = text.types.copy()
        types[at] = len(text.vocabulary) + numbers
        old = named // n_places
        return cls(every.with_types(types, old), first and first.with_types(types, old), after)

    def readings(self, allowed: Mask, classes: Classes, options: TagProjectionOptions) -> list[WeighedVotes]:
        """Return the weighed votes of all translations and, if there are several, those of the first alone.

        ``classes``: those of lower-cased words. In both, the first translation decides for frequent words:
        treebanks differ in the tags of function words, and words should not get tags of several conventions.
        """
        shares, weighted = with_function_tags(self.every, allowed, self.after, classes, options)
        if self.first is None:
            return [WeighedVotes(self.every.text, shares, weighted)]
        by_first, weighted_by_first = with_function_tags(self.first, allowed, self.after, classes, options)
        decided = _decided(self.first)[self.first.words.of_types] & by_first.any(axis=1)
        shares = np.where(decided[:, None], by_first, shares)
        weighted = np.where(decided, weighted_by_first, weighted)
        of_first = WeighedVotes(self.first.text, by_first, weighted_by_first)
        return [WeighedVotes(self.every.text, shares, weighted), of_first]


def _decided(first: VotedText) -> Mask:
    """Return the words for which the votes of the first translation decide, bool[W]."""
    return first.words.frequent & first.words.votes.any(axis=1)


def with_function_tags(
    voted: VotedText, allowed: Mask, after: NDArray[np.int64], classes: Classes, options: TagProjectionOptions
) -> tuple[Floats, Mask]:
    """Return the shares of tags of each type, and the types whose shares are weights: rarely linked words.

    ``after``: the tag after each word. Rarely linked words may be AUX, DET and PRON, besides the tags of
    links; not AUX if UD registers other auxiliaries and less than half of their votes are AUX. The weight of
    a tag is its share of the votes of well-linked words with the most similar neighbours, before the same
    tag, else anywhere: most links of Spanish *se* are to auxiliaries, but it occurs like *me* and *nos*.
    Words whose links agree on a tag keep their shares. Adpositions and conjunctions are not AUX, DET or PRON.
    AUX is the likeliest tag of auxiliaries, for homographs beside that of links, PARTICLE of particles. Tags
    not ``allowed`` bool[V, T] get 0.
    """
    text, words, rare, auxiliary, homograph, unregistered, particle = voted
    own = normalised(words.votes)
    function, translated = (np.isin(text.tags, list(tags)) for tags in (UNTRANSLATED, {TRANSLATED}))
    tags = ((function & (own > 0.0)) | (~translated & (own >= options.least))).astype(np.float64)
    named = np.isin(text.tags, ["AUX"])
    tags[np.ix_(unregistered, named)] = 0.0
    weights = np.zeros((len(allowed), len(text.tags)))
    for place, enough in ((after, ENOUGH), (np.zeros_like(after), 1)):
        company = _neighbour_weights(voted, tags, place, enough, classes, options)
        weights = np.where(weights.any(axis=1, keepdims=True), weights, company)
    weights = np.where(weights.any(axis=1, keepdims=True), weights, tags[words.of_types])
    weights[particle[words.of_types]] = np.isin(text.tags, [PARTICLE])
    agreed = own[:, np.isin(text.tags, list(NEVER_BOTH))] >= options.agreeing
    one_tag = words.frequent & agreed.any(axis=1) & ~rare
    allowed = allowed & ~(one_tag[:, None] & function)[words.of_types]
    weighted = rare[words.of_types]
    shares = np.where(weighted[:, None], normalised(weights * allowed), type_shares(text, allowed))
    registered = auxiliary[words.of_types]
    others = shares[registered] * np.where(homograph[words.of_types[registered]], 1.0, BARELY)[:, None]
    shares[registered] = normalised(np.where(named, 1.0, others) * allowed[registered])
    return shares, weighted | registered


def _neighbour_weights(
    voted: VotedText,
    tags: Floats,
    place: NDArray[np.int64],
    enough: int,
    classes: Classes,
    options: TagProjectionOptions,
) -> Floats:
    """Return the weights of tags of rarely linked types by words with similar neighbours, float64[V, T].

    0 without such words. ``tags`` float64[W, T]: 1 for those that a word may have. ``place``: of each word of
    the text; only words in the same place are compared. ``enough``: least count of such words there.
    """
    text, words, rare, *_ = voted
    n_places = len(text.tags) + 1
    named, group = np.unique(words.of_types[text.types] * n_places + place, return_inverse=True)
    word, place = np.divmod(named, n_places)
    counts = np.bincount(group)
    votes = summed(text.votes, group, len(named))
    known = (counts >= enough) & (words.counts[word] >= options.frequent * len(text.types) / RARER)
    sure = known & ~_few_votes(votes, counts, options)
    rows = np.cumsum(known) - 1
    contexts = _contexts(text, np.where(known, rows, -1)[group], classes)
    weights = np.zeros_like(votes)
    for one in np.flatnonzero(rare[word] & known).tolist():
        others = np.flatnonzero(sure & (place == place[one]))
        likeness = contexts[rows[others]] @ contexts[rows[one]]
        similar = others[np.argsort(-likeness, kind="stable")[: options.similar]]
        company = normalised(votes[similar]).sum(axis=0)
        if company.any():
            own = tags[word[one]]
            weights[one] = own * company if (own * company).any() else own
    of_types = np.zeros(len(text.vocabulary), dtype=np.int64)
    of_types[text.types] = group
    return weights[of_types]


def rarely_linked(text: LinkedText, words: WordVotes, options: TagProjectionOptions) -> Mask:
    """Return the frequent words with few votes per occurrence and no majority tag, bool[W]; no signs."""
    # In 600 pairs of news all words are rarely linked: .15 to .23 votes a word, in Testaments .49 to .71.
    enough_links = words.votes.sum() >= options.rarely_linked * len(text.types)
    few = _few_votes(words.votes, words.counts, options)
    spelled = np.zeros_like(words.frequent)
    spelled[words.of_types] = [any(map(str.isalpha, form)) for form in text.vocabulary]
    enough = [SURELY if tag == TRANSLATED else options.agreeing for tag in text.tags]
    agree = (normalised(words.votes) >= enough).any(axis=1)
    return words.frequent & spelled & few & ~agree & enough_links


def share_second(text: LinkedText, words: WordVotes) -> Floats:
    """Return the share of each word's occurrences that are second in a clause, float64[W]."""
    # Marks without letters, and the ends of sentences, divide clauses.
    spelled = np.array([any(map(str.isalpha, form)) for form in text.vocabulary])[text.types]
    initial = np.zeros_like(spelled)
    initial[text.starts[:-1]] = True
    first = spelled & (initial | ~np.roll(spelled, 1))
    second = spelled & ~first & np.roll(first, 1)
    return np.bincount(words.of_types[text.types], second, len(words.counts)) / words.counts


def _few_votes(votes: Floats, counts: NDArray[np.int64], options: TagProjectionOptions) -> Mask:
    """Return which rows have few votes per occurrence, compared with all rows."""
    return votes.sum(axis=1) * counts.sum() < options.rarely_linked * votes.sum() * counts


def _next_tags(text: LinkedText, words: WordVotes) -> NDArray[np.int64]:
    """Return the likeliest tag after each word, int64[N], by links, else form; T at the end of a sentence."""
    usual = words.votes.argmax(axis=1)[words.of_types[text.types]]
    linked = text.votes.sum(axis=1) > HALF
    tags = np.roll(np.where(linked, text.votes.argmax(axis=1), usual), -1)
    tags[text.starts[1:] - 1] = len(text.tags)
    return tags


def _contexts(text: LinkedText, rows: NDArray[np.int64], classes: Classes) -> Floats:
    """Return the root frequencies of the classes of previous and next words, by row, float64[R, C].

    ``rows``: the row of each word of the text; negative: none.
    """
    of_types = np.array([classes.get(lower_form(form), RARE_CLASS) for form in text.vocabulary])
    place = of_types[text.types]
    size = max(classes.values(), default=RARE_CLASS) + 1
    before, after = np.roll(place, 1), np.roll(place, -1)
    before[text.starts[:-1]] = after[text.starts[1:] - 1] = BOUNDARY_CLASS
    counts = np.zeros((rows.max() + 1, 2 * size))
    for neighbour in (before, size + after):
        np.add.at(counts, (rows[rows >= 0], neighbour[rows >= 0]), 1.0)
    return np.sqrt(normalised(counts))


class Contradiction(NamedTuple):
    """A frequent word whose usual tag differs from that of its links, with the shares of both."""

    word: str
    occurrences: int
    linked: str
    linked_share: float
    tagged: str
    share: float

    def __str__(self) -> str:
        word, _, linked, linked_share, tagged, share = self
        return f"{word} {linked} {100 * linked_share:.0f}%, tagged {tagged} {100 * share:.0f}%"


def contradictions(
    text: LinkedText, tag_words: TagWords, sentences: Sequence[int], options: TagProjectionOptions
) -> list[Contradiction]:
    """Return frequent words whose tags in ``sentences`` contradict their links, the commonest first."""
    words = word_votes(text, options.frequent)
    given = defaultdict[int, Counter[str]](Counter)
    for sentence in sentences:
        of_sentence = words.of_types[text.types[text.words_of(sentence)]].tolist()
        for word, tag in zip(of_sentence, tag_words(text.sentences[sentence]), strict=True):
            if words.frequent[word]:
                given[word][tag] += 1
    names = dict(zip(words.of_types.tolist(), map(lower_form, text.vocabulary), strict=True))
    shares = normalised(words.votes)
    found = []
    for word, counts in given.items():
        if not any(map(str.isalpha, names[word])):
            continue
        linked, linked_share = text.tags[shares[word].argmax()], float(shares[word].max())
        tag, count = min(counts.items(), key=lambda one: (-one[1], one[0]))
        share = count / counts.total()
        if tag != linked and linked_share >= HALF and share > HALF:
            found.append(
                Contradiction(names[word], int(words.counts[word]), linked, linked_share, tag, share)
            )
    return sorted(found, key=lambda one: (-one.occurrences, one.word))
