"""Links between tokens as written, where treebanks count words: German *zum* is one token and two words."""

from collections.abc import Sequence
from itertools import product

from qsproj.corpus.contractions import tokens_of
from qsproj.corpus.sentence import Alignment, Sentence, make_alignment
from qsproj.errors import pluralise
from qsproj.progress import notice

_SIDES = ("source", "target")
# Behind the name of a format of alignments: the sides whose numbers count tokens.
_UNITS = {":tokens": (True, True), ":source-tokens": (True, False), ":target-tokens": (False, True)}
# From fewer pairs nothing is concluded; links over words reach beyond the number of tokens in most.
_FEWEST_PAIRS = 5


def token_sides(alignment_format: str) -> tuple[str, tuple[bool, bool]]:
    """Return the name of a format, and of which sides its numbers count tokens: ``pharaoh:target-tokens``."""
    name, colon, units = alignment_format.partition(":")
    known = _UNITS.get(colon + units)
    return (alignment_format, (False, False)) if known is None else (name, known)


def sizes_in(pair: tuple[Sentence, Sentence], by_tokens: tuple[bool, bool]) -> tuple[int, int]:
    """Return how many tokens or words the two sides have."""
    sizes = [len(tokens_of(one)) if tokens else len(one) for one, tokens in zip(pair, by_tokens, strict=True)]
    return sizes[0], sizes[1]


def over_words(
    alignment: Alignment, pair: tuple[Sentence, Sentence], by_tokens: tuple[bool, bool]
) -> Alignment:
    """Return links of tokens as links of all their words."""
    words = [_words(one, by_tokens=tokens) for one, tokens in zip(pair, by_tokens, strict=True)]
    links, kept = list[tuple[int, int]](), list[int]()
    for number, (source, target) in enumerate(alignment.links.tolist()):
        for link in product(words[0][source - 1], words[1][target - 1]):
            links.append(link)
            kept.append(number)
    weights = None if alignment.weights is None else alignment.weights[kept]
    return make_alignment(len(pair[0]), len(pair[1]), links, alignment.sure[kept], weights)


def _words(sentence: Sentence, *, by_tokens: bool) -> Sequence[range]:
    """Return the words of each token, or each word alone."""
    if not by_tokens:
        return [range(word, word + 1) for word in range(1, len(sentence) + 1)]
    return [range(first, first + max(count, 1)) for first, _, count in tokens_of(sentence)]


class TokenCounts:
    """Counts of pairs whose links reach the number of tokens of a side, not of words. Mutable; final."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pairs = [0, 0]
        self._ending = [0, 0]  # the last linked one has the number of the last token
        self._beyond = [0, 0]

    def add(self, pair: tuple[Sentence, Sentence], alignment: Alignment) -> None:
        """Count a pair whose links are read as those of words."""
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
        """Say where the links of a side seem to count tokens."""
        for side, role in enumerate(_SIDES):
            pairs = self._pairs[side]
            if pairs >= _FEWEST_PAIRS and not self._beyond[side] and 2 * self._ending[side] > pairs:
                notice(
                    f"{self._name}: links seem to count the tokens of the {role}, not its words: in none of "
                    f"{pluralise(pairs, 'pair')} with multiword tokens does one reach beyond the number of "
                    f"tokens; add :{role}-tokens to the format (--alignment-format pharaoh:{role}-tokens)"
                )
