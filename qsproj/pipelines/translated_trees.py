"""Translate treebanks into the words and word order of another language through the links of a bitext.

Trees are translated word by word and keep gold arcs, so that a parser learns target words. Links show how
often a function word has no translation, and how often the dependent of each kind of arc is on the other side
of its head: in that share of trees the word is left out, or the dependent is moved with its subtree.

*Source*: treebanks translated word for word (Tiedemann 2014), through links alone (Rasooli and Collins 2017);
reordered by projected arcs (Rasooli and Collins 2019), who learn one order for each head; ours draws each
side, as languages such as German have two orders.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT, Floats, Rng, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.characters import lower_form
from qsproj.corpus.pairs.translations import link_strengths
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.pipelines.tagging.type_dictionary import CLOSED

SEEN = 5.0  # prior count of the next wider kind in the share of a kind; unseen kinds have share 0
LEAST_STRENGTH = 0.1  # minimum product of the strengths of an arc's two links, and of the link of a word
# Arc: side of the dependent, relation, both tags; word: tag, form. Wider kinds are the first parts of these.
Kind = tuple[object, ...]
LEAST_LINK = 0.3  # minimum weight of a link
LEAST_LINKS = 1.5  # minimum summed weight of a word's commonest translation
LEAST_SHARE = 0.2  # minimum share of links to words of its own tag
MOST_TRANSLATIONS = 20
WRITTEN_ALIKE = frozenset({"PUNCT", "NUM", "SYM"})  # tags of words that are not translated
LEXICON_PAIRS = 20_000  # for the lexicon, which then covers seven of ten words of a treebank
TaggedWord = tuple[str, str]  # a lower-cased word with its UPOS
LinkedWords = Mapping[TaggedWord, Mapping[TaggedWord, float]]


class _Shares(dict[Kind, float]):
    """Weighted shares of cases by kind, each with the share of the next wider kind as prior. Mutable."""

    def __init__(self, *widths: int) -> None:
        super().__init__()
        self._widths = widths  # the numbers of parts of the kinds, the widest first
        self._seen: defaultdict[Kind, float] = defaultdict(float)
        self._true: defaultdict[Kind, float] = defaultdict(float)

    def count(self, kind: Kind, weight: float, *, true: bool) -> None:
        self.clear()
        for width in self._widths:
            self._seen[kind[:width]] += weight
            if true:
                self._true[kind[:width]] += weight

    def __missing__(self, kind: Kind) -> float:
        share = 0.0
        for width in self._widths:
            wider = kind[:width]
            share = (self._true.get(wider, 0.0) + SEEN * share) / (self._seen.get(wider, 0.0) + SEEN)
        self[kind] = share
        return share


class MissingWords:
    """Share of words of a closed class, without dependents, that have no link though their head has one."""

    def __init__(self) -> None:
        self._missing = _Shares(1, 2)

    def observe(self, source: Sentence, strengths: list[float]) -> None:
        """Count the words of a tree; ``strengths``: of the strongest link of each."""
        heads = source.heads.tolist()
        for word in _function_words(source.upos, heads):
            unlinked = strengths[word] < LEAST_STRENGTH
            self._missing.count(_word_kind(source, word), strengths[heads[word]], true=unlinked)

    def share(self, sentence: Sentence, word: int) -> float:
        return self._missing[_word_kind(sentence, word)]

    def left_out(self, sentence: Sentence, rng: Rng) -> Sentence:
        """Return a tree without function words drawn by ``rng``, as often as they have no translation."""
        heads = sentence.heads.tolist()
        if NO_HEAD in heads[1:]:
            return sentence
        draws, words = rng.random(len(heads)).tolist(), _function_words(sentence.upos, heads)
        missing = {word for word in words if draws[word] < self.share(sentence, word)}
        kept = [word for word in range(1, len(heads)) if word not in missing]
        return _in_order(sentence, kept) if missing else sentence


def _function_words(tags: Sequence[str], heads: list[int]) -> list[int]:
    inner = set(heads)
    words = enumerate(zip(heads[1:], tags, strict=True), start=1)
    return [word for word, (head, tag) in words if tag in CLOSED and head > ROOT and word not in inner]


def _word_kind(sentence: Sentence, word: int) -> Kind:
    return sentence.upos[word - 1], lower_form(sentence.forms[word - 1])


class WordOrder:
    """Sides of dependents in the target, estimated from observed pairs."""

    def __init__(self) -> None:
        self._crossed = _Shares(1, 2, 4)

    def observe(self, source: Sentence, partners: list[int], strengths: list[float]) -> None:
        """Count the arcs of a tree; ``partners``, ``strengths``: of the strongest link of each word."""
        for word, head in enumerate(source.heads.tolist()):
            both = strengths[word] * strengths[head]
            if head > ROOT and both >= LEAST_STRENGTH and partners[head] != partners[word]:
                crossed = (word > head) != (partners[word] > partners[head])
                self._crossed.count(_arc_kind(source, word, head), both, true=crossed)

    def crossing(self, sentence: Sentence, word: int, head: int) -> float:
        return self._crossed[_arc_kind(sentence, word, head)]

    def reordered(self, sentence: Sentence, rng: Rng) -> Sentence:
        """Return a tree with dependents on sides drawn by ``rng``, at the same distance from their heads."""
        heads = sentence.heads.tolist()
        if NO_HEAD in heads[1:]:
            return sentence
        # One draw for all dependents on a side: a verb that moves to the end passes all of them.
        draws = rng.random((len(heads), 2)).tolist()
        arcs = [(word, head) for word, head in enumerate(heads) if head > ROOT]
        moved = {one for one, head in arcs if draws[head][one > head] < self.crossing(sentence, one, head)}
        if not moved:
            return sentence
        # Left and right dependents of each word, the nearest first.
        sides: list[tuple[list[int], list[int]]] = [([], []) for _ in heads]
        for word, head in enumerate(heads[1:], start=1):
            left, right = sides[head]
            left.insert(0, word) if word < head else right.append(word)
        for head in {heads[word] for word in moved}:
            left, right = sides[head]
            sides[head] = _side(left, right, moved), _side(right, left, moved)
        order = []
        # A word, or ``~word`` when its left dependents have been read.
        waiting = [*reversed(sides[ROOT][1])]
        while waiting:
            if (word := waiting.pop()) < 0:
                order.append(~word)
            else:
                left, right = sides[word]
                waiting += [*reversed(right), ~word, *left]
        return _in_order(sentence, order)


def _side(own: list[int], other: list[int], moved: set[int]) -> list[int]:
    """Return the dependents on one side; those moved from the other side keep their rank from the head."""
    side = [word for word in own if word not in moved]
    for rank, word in enumerate(other):
        if word in moved:
            side.insert(rank, word)
    return side


def _in_order(sentence: Sentence, order: list[int]) -> Sentence:
    """Return the tree of some words in another order; no other word has dependents."""
    heads, place = sentence.heads.tolist(), {word: number for number, word in enumerate([ROOT, *order])}
    rows = [word - 1 for word in order]
    names = ("forms", "lemmas", "upos", "xpos", "feats", "deprels")
    columns: Any = {name: tuple(map(getattr(sentence, name).__getitem__, rows)) for name in names}
    above = np.array([NO_HEAD, *(place[heads[word]] for word in order)], dtype=np.int32)
    return replace(sentence, heads=frozen_heads(above), layout=None, **columns)


def _arc_kind(sentence: Sentence, word: int, head: int) -> Kind:
    side, relation = word > head, bare_relation(sentence.deprels[word - 1])
    return side, relation, sentence.upos[head - 1], sentence.upos[word - 1]


@dataclass(frozen=True, eq=False)
class WordTranslations:
    """Lower-cased translations of a source word with UPOS, the commonest first."""

    words: tuple[TaggedWord, ...]
    shares: Floats  # float64[k], relative frequency of each translation; sums to one

    def draw(self, rng: Rng) -> TaggedWord:
        return self.words[bisect_right(self._sums, rng.random())]

    @cached_property
    def _sums(self) -> list[float]:
        return np.cumsum(self.shares[:-1]).tolist()


Lexicon = Mapping[TaggedWord, WordTranslations]


@dataclass(frozen=True, slots=True)
class Translate:
    """Translate trees; translations, word orders and, unless ``complete``, missing words are drawn."""

    lexicon: Lexicon
    order: WordOrder
    missing: MissingWords

    def __call__(self, sentences: Iterable[Sentence], rng: Rng, *, complete: bool) -> Iterator[Sentence]:
        if not complete:
            sentences = (self.missing.left_out(sentence, rng) for sentence in sentences)
        return (self.order.reordered(one, rng) for one in translated_trees(sentences, self.lexicon, rng=rng))


def make_translator(pairs: Iterable[SentencePair]) -> Translate:
    """Learn translations, word order and missing words from the first LEXICON_PAIRS pairs."""
    order, missing = WordOrder(), MissingWords()

    def observed() -> Iterator[SentencePair]:
        for pair in islice(pairs, LEXICON_PAIRS):
            links = link_strengths(pair.alignment)
            strengths = links.max(axis=1).tolist()
            order.observe(pair.source, links.argmax(axis=1).tolist(), strengths)
            missing.observe(pair.source, strengths)
            yield pair

    return Translate(lexicon_of(linked_words(observed())), order, missing)


def linked_words(pairs: Iterable[SentencePair]) -> LinkedWords:
    counts: defaultdict[TaggedWord, defaultdict[TaggedWord, float]] = defaultdict(lambda: defaultdict(float))
    for pair in pairs:
        source, target, links = pair.source, pair.target, pair.alignment
        kept = links.shares >= LEAST_LINK
        for (i, j), weight in zip(links.links[kept].tolist(), links.shares[kept].tolist(), strict=True):
            word = lower_form(source.forms[i - 1]), source.upos[i - 1]
            counts[word][lower_form(target.forms[j - 1]), target.upos[j - 1]] += weight
    return counts


def lexicon_of(counts: LinkedWords) -> Lexicon:
    found = {}
    for word, linked in counts.items():
        alike = Counter({other: weight for other, weight in linked.items() if other[1] == word[1]})
        best = alike.most_common(MOST_TRANSLATIONS)
        if alike.total() >= LEAST_SHARE * sum(linked.values()) and best[0][1] >= LEAST_LINKS:
            weights = np.array([weight for _, weight in best])
            found[word] = WordTranslations(tuple(other for other, _ in best), weights / weights.sum())
    return found


def translated_trees(sentences: Iterable[Sentence], lexicon: Lexicon, *, rng: Rng) -> Iterator[Sentence]:
    """Yield sentences with translations drawn from a lexicon, ``_`` for missing words; trees stay."""
    for sentence in sentences:
        words = list(zip(sentence.forms, sentence.upos, strict=True))
        for place, (form, tag) in enumerate(words):
            if tag not in WRITTEN_ALIKE:
                translations = lexicon.get((lower_form(form), tag))
                if translations is not None:
                    words[place] = translations.draw(rng)
                elif tag != "PROPN":
                    words[place] = UNSPECIFIED, tag
        forms, tags = zip(*words, strict=True)
        yield replace(sentence, forms=forms, upos=tags, layout=None)
