"""Trees of a treebank in the words and the word order of another language, as links of a bitext show them.

They have the words of the target, translated one by one, with the arcs of the source: all that a parser of
the target can learn of its words from trees that people have annotated. Of each kind of arc, links tell how
often the dependent stands on the other side of its head in the target. In that share of a treebank's trees it
is moved there, with all that is below it.

*Source*: treebanks translated word for word (Tiedemann 2014), through links alone (Rasooli and Collins 2017);
reordered by projected arcs (Rasooli and Collins 2019), who learn one order for each head; ours draws each
side, so that a language with two orders, such as German in main and other clauses, has both. On dev files,
UAS and LAS by own tags: of 1,000 pairs +1.9, +1.6 in Turkish, +2.7, +2.8 in German; of a New Testament
+1.4, +1.1 in Armenian. Orders told apart by clause, and siblings put where pairs of relations stand,
gained no more.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, ROOT, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.pairs.translations import link_strengths
from qsproj.corpus.sentence import Sentence, SentencePair

# The share of a kind of arcs is that of a wider kind until so many were seen; of none at all, nothing moves.
SEEN = 5.0
# Arcs whose links are weaker, both together, say nothing.
LEAST_STRENGTH = 0.1
# An arc's kinds, the widest first: the side on which the dependent stands, its relation, both tags.
Kinds = tuple[tuple[object, ...], ...]


class WordOrder:
    """On which side of their heads dependents stand in the target, told by the pairs that were observed."""

    def __init__(self) -> None:
        self.pairs = 0
        # Of each kind of arc: how often it is carried over, links weighed, and how often to the other side.
        self._carried: defaultdict[tuple[object, ...], float] = defaultdict(float)
        self._crossed: defaultdict[tuple[object, ...], float] = defaultdict(float)

    def observing(self, pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
        for pair in pairs:
            strengths = link_strengths(pair.alignment)
            partners, strength = strengths.argmax(axis=1).tolist(), strengths.max(axis=1)
            heads = pair.source.heads
            both = np.where(heads > ROOT, strength * strength[heads], 0.0)
            for word in np.flatnonzero(both >= LEAST_STRENGTH).tolist():
                head = int(heads[word])
                if partners[head] == partners[word]:
                    continue
                crossed = (word > head) != (partners[word] > partners[head])
                for kind in _kinds(pair.source, word, head):
                    self._carried[kind] += both[word]
                    self._crossed[kind] += both[word] * crossed
            self.pairs += 1
            yield pair

    @property
    def difference(self) -> float:
        """The share of arcs that have their dependent on the other side of the head."""
        carried = sum(self._carried[side,] for side in (False, True))
        return sum(self._crossed[side,] for side in (False, True)) / carried if carried else 0.0

    def crossing(self, sentence: Sentence, word: int) -> float:
        """Return how probably the dependent of an arc stands on the other side of its head in the target."""
        share = 0.0
        for kind in _kinds(sentence, word, int(sentence.heads[word])):
            share = (self._crossed.get(kind, 0.0) + SEEN * share) / (self._carried.get(kind, 0.0) + SEEN)
        return share

    def reordered(self, sentence: Sentence, rng: np.random.Generator) -> Sentence:
        """Return a tree with its dependents on the sides that ``rng`` draws, as near to their heads.

        Where one moves, words below a word come to stand together. A sentence that lacks heads stays.
        """
        heads = sentence.heads.tolist()
        if NO_HEAD in heads[1:]:
            return sentence
        # Of each word, the dependents on its left and on its right, the nearest first.
        sides: list[tuple[list[int], list[int]]] = [([], []) for _ in heads]
        for word in range(1, len(heads)):
            left, right = sides[heads[word]]
            if word < heads[word]:
                left.insert(0, word)
            else:
                right.append(word)
        # One draw for all dependents on a side: what moves a verb to the end moves all that followed it.
        draws = rng.random((len(heads), 2))
        moved = {
            word
            for word, head in enumerate(heads)
            if head > ROOT and draws[head, int(word > head)] < self.crossing(sentence, word)
        }
        if not moved:
            return sentence
        both = [(_side(left, right, moved), _side(right, left, moved)) for left, right in sides]
        return _in_order(sentence, _read_off(both))


def _side(own: list[int], other: list[int], moved: set[int]) -> list[int]:
    """Return the dependents on one side, those that moved there from the other as far out as they were."""
    side = [word for word in own if word not in moved]
    for rank, word in enumerate(other):
        if word in moved:
            side.insert(rank, word)
    return side


def _read_off(sides: list[tuple[list[int], list[int]]]) -> list[int]:
    """Return the words from left to right, the root left out."""
    order = []
    waiting = [(ROOT, False)]
    while waiting:
        word, is_next = waiting.pop()
        if is_next:
            order.append(word)
            continue
        left, right = sides[word]
        waiting += [(one, False) for one in reversed(right)]
        waiting.append((word, True))
        waiting += [(one, False) for one in left]
    order.remove(ROOT)
    return order


def _in_order(sentence: Sentence, order: list[int]) -> Sentence:
    """Return a tree with its words in another order."""
    place = np.zeros(len(order) + 1, dtype=np.int32)
    place[order] = np.arange(1, len(order) + 1)
    heads = np.full(len(order) + 1, NO_HEAD, dtype=np.int32)
    heads[place[order]] = place[sentence.heads[order]]
    columns: dict[str, Any] = {
        name: tuple([getattr(sentence, name)[word - 1] for word in order])
        for name in ("forms", "lemmas", "upos", "xpos", "feats", "deprels")
    }
    return replace(sentence, heads=frozen_heads(heads), layout=None, **columns)


def _kinds(sentence: Sentence, word: int, head: int) -> Kinds:
    side, relation = word > head, bare_relation(sentence.deprels[word - 1])
    return (side,), (side, relation), (side, relation, sentence.upos[head - 1], sentence.upos[word - 1])


# Lighter links are not followed.
LEAST_LINK = 0.3
# A word is translated where its commonest translation was linked to it so often, weights added up, and where
# words of its own tag have this share of its links. So many translations are kept.
LEAST_LINKS = 1.5
LEAST_SHARE = 0.2
MOST_TRANSLATIONS = 20
# Tags of what is written alike in most languages, and is not translated.
WRITTEN_ALIKE = frozenset({"PUNCT", "NUM", "SYM"})
NAME = "PROPN"

# How words are translated is learned from so many pairs: seven of ten words of a treebank are found in them.
LEXICON_PAIRS = 20_000
# From so many pairs on, links teach an order that differs in fewer arcs than this, and no tree is moved. In
# German, Spanish, Swedish and Czech news .04 to .09 of the arcs are the other way round, in the Wolof and the
# Ukrainian Testament .05 and .09: trees that are moved lost .1 and .3 UAS there on the mean of dev files. In
# Armenian it is .14, in Turkish .26.
FEW_PAIRS = 5_000
LIKE_ORDER = 0.1
# A word in lower case, with its UPOS.
TaggedWord = tuple[str, str]
LinkedWords = Mapping[TaggedWord, Counter[TaggedWord]]
Translate = Callable[[Iterable[Sentence]], Iterable[Sentence]]


@dataclass(frozen=True, eq=False)
class WordTranslations:
    """The translations of a source word: in lower case, with UPOS, the commonest first."""

    words: tuple[TaggedWord, ...]
    shares: NDArray[np.float64]  # float64[k], how often each is the translation; they sum to one

    def draw(self, rng: np.random.Generator) -> TaggedWord:
        return self.words[min(bisect_right(self._sums, rng.random()), len(self.words) - 1)]

    @cached_property
    def _sums(self) -> list[float]:
        """The share of each word and those before it: added up once, however often one is drawn."""
        return np.cumsum(self.shares).tolist()


Lexicon = Mapping[TaggedWord, WordTranslations]


def way_to_translate(pairs: Iterable[SentencePair], *, rng: np.random.Generator) -> Translate:
    """Return what translates trees by the first pairs; ``rng`` draws translations whenever it does.

    Words stand in the target's order then, but for what LIKE_ORDER says.
    A second parser, of translations with the tags that the target's tagger gives them, was worth nothing on
    the mean of development files, and took as long as the first.
    """
    order = WordOrder()
    lexicon = lexicon_of(linked_words(order.observing(islice(pairs, LEXICON_PAIRS))))
    moves = order.pairs < FEW_PAIRS or order.difference > LIKE_ORDER

    def translate(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        translated = translated_trees(sentences, lexicon, rng=rng)
        return (order.reordered(sentence, rng) for sentence in translated) if moves else translated

    return translate


def linked_words(pairs: Iterable[SentencePair]) -> LinkedWords:
    """Return for each tagged source word how often target words are linked to it, weights added up."""
    counts: defaultdict[TaggedWord, Counter[TaggedWord]] = defaultdict(Counter)
    for pair in pairs:
        source, target, links = pair.source, pair.target, pair.alignment
        weights = np.ones(len(links.links)) if links.weights is None else links.weights
        kept = weights >= LEAST_LINK
        for (i, j), weight in zip(links.links[kept].tolist(), weights[kept].tolist(), strict=True):
            word = source.forms[i - 1].lower(), source.upos[i - 1]
            counts[word][target.forms[j - 1].lower(), target.upos[j - 1]] += weight
    return counts


def lexicon_of(counts: LinkedWords) -> Lexicon:
    """Return what source words, as :func:`linked_words` counts them, are translated into.

    Translations have the tag of their word; words that are linked to too few of these are missing.
    """
    found = {word: _translations(word[1], linked) for word, linked in counts.items()}
    return {word: translations for word, translations in found.items() if translations is not None}


def _translations(tag: str, linked: Counter[TaggedWord]) -> WordTranslations | None:
    """Return what a word with a tag is translated into; None where it is linked too seldom."""
    alike = Counter({word: weight for word, weight in linked.items() if word[1] == tag})
    best = alike.most_common(MOST_TRANSLATIONS)
    if alike.total() < LEAST_SHARE * linked.total() or best[0][1] < LEAST_LINKS:
        return None
    weights = np.array([weight for _, weight in best])
    return WordTranslations(tuple(word for word, _ in best), weights / weights.sum())


def translated_trees(
    sentences: Iterable[Sentence], lexicon: Lexicon, *, rng: np.random.Generator
) -> Iterator[Sentence]:
    """Yield sentences with their words translated; trees stay as they were.

    Translations are drawn, not the commonest alone: forms of one word then share what its trees teach. On
    development files of Spanish and Swedish such a parser alone was as good or .4 UAS better.

    ``sentences``: with UPOS. ``lexicon``: a word that it does not have becomes ``_``, but for names, numbers
    and punctuation. ``rng``: the same seed gives the same words.
    """
    for sentence in sentences:
        words = zip(sentence.forms, sentence.upos, strict=True)
        translated = [_translated(form, tag, lexicon, rng) for form, tag in words]
        forms, tags = (tuple(word[part] for word in translated) for part in (0, 1))
        yield replace(sentence, forms=forms, upos=tags, layout=None)


def _translated(form: str, tag: str, lexicon: Lexicon, rng: np.random.Generator) -> TaggedWord:
    if tag in WRITTEN_ALIKE:
        return form, tag
    translations = lexicon.get((form.lower(), tag))
    if translations is not None:
        return translations.draw(rng)
    return (form if tag == NAME else UNSPECIFIED), tag
