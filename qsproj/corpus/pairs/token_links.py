"""Links between surface tokens, converted to words of treebanks: German *zum* is one token, two words."""

from collections.abc import Sequence
from itertools import product

from qsproj.corpus.contractions import tokens_of
from qsproj.corpus.sentence import Alignment, Sentence, make_alignment
from qsproj.errors import pluralise
from qsproj.progress import notice

_SIDES = ("source", "target")
# Suffix of an alignment format, and whether links count tokens on the source and target side.
_UNITS = {":tokens": (True, True), ":source-tokens": (True, False), ":target-tokens": (False, True)}
# Minimum number of pairs for a notice; in most pairs, links of words exceed the number of tokens.
_FEWEST_PAIRS = 5


def token_sides(alignment_format: str) -> tuple[str, tuple[bool, bool]]:
    """Return the name of a format such as ``pharaoh:target-tokens``, and whether each side counts tokens."""
    name, colon, units = alignment_format.partition(":")
    known = _UNITS.get(colon + units)
    return (alignment_format, (False, False)) if known is None else (name, known)


def sizes_in(pair: tuple[Sentence, Sentence], by_tokens: tuple[bool, bool]) -> tuple[int, int]:
    """Return the number of tokens or words of both sides."""
    sizes = [len(tokens_of(one)) if tokens else len(one) for one, tokens in zip(pair, by_tokens, strict=True)]
    return sizes[0], sizes[1]


def over_words(
    alignment: Alignment, pair: tuple[Sentence, Sentence], by_tokens: tuple[bool, bool]
) -> Alignment:
    """Convert links of tokens to links of all their words."""
    words = [_words(one, by_tokens=tokens) for one, tokens in zip(pair, by_tokens, strict=True)]
    links, kept = list[tuple[int, int]](), list[int]()
    for number, (source, target) in enumerate(alignment.links.tolist()):
        for link in product(words[0][source - 1], words[1][target - 1]):
            links.append(link)
            kept.append(number)
    weights = None if alignment.weights is None else alignment.weights[kept]
    return make_alignment(len(pair[0]), len(pair[1]), links, alignment.sure[kept], weights)


def _words(sentence: Sentence, *, by_tokens: bool) -> Sequence[range]:
    """Return the words of each token, or each single word."""
    if not by_tokens:
        return [range(word, word + 1) for word in range(1, len(sentence) + 1)]
    return [range(first, first + max(count, 1)) for first, _, count in tokens_of(sentence)]


class TokenCounts:
    """Counts of pairs whose links end at the number of tokens of a side, not of words. Mutable; final."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pairs = [0, 0]
        self._ending = [0, 0]  # pairs whose last linked word has the number of the last token
        self._beyond = [0, 0]

    def add(self, pair: tuple[Sentence, Sentence], alignment: Alignment) -> None:
        """Count a pair whose links are read as links of words."""
        for side, sentence in enumerate(pair):
            if sentence.layout is None or not len(alignment.links):
                continue
            tokens = len(tokens_of(sentence))
            if tokens < len(sentence):
                last = int(alignment.links[:, side].max())
                self._pairs[side] += 1
                self._ending[side] += last == tokens
                self._beyond[side] += last > tokens

    def note(self) -> None:
        """Report the sides whose links seem to count tokens."""
        for side, role in enumerate(_SIDES):
            pairs = self._pairs[side]
            if pairs >= _FEWEST_PAIRS and not self._beyond[side] and 2 * self._ending[side] > pairs:
                notice(
                    f"{self._name}: links seem to count the tokens of the {role}, not its words: in none of "
                    f"{pluralise(pairs, 'pair')} with multiword tokens does one reach beyond the number of "
                    f"tokens; add :{role}-tokens to the format (--alignment-format pharaoh:{role}-tokens)"
                )
