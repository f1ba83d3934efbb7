"""Words that raw text has apart and the bitext attached to others, such as Arabic and Hebrew prepositions.

Raw text from a treebank is often divided like its words. Where it has short frequent words that the bitext
lacks, and that many tokens of the bitext begin or end with, these tokens are divided as well.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise

from qsproj.corpus.characters import lower_case, lower_form
from qsproj.corpus.contractions import Contractions, token_key

# Greatest length of an attached word; its least count, in proportion in texts of fewer words than SHORT, and
# share of the raw text; its greatest share of the bitext as a word of its own, by its share of the raw text.
LONGEST, LEAST_COUNT, SHORT, LEAST_SHARE, MOST_ALONE = 3, 20, 1000, 0.003, 0.1
# Least share of the bitext that it is attached in, by its share of the raw text, and by the share of the raw
# text that it is attached in; least number of such tokens that raw text lacks. In Arabic 42 to 509 tokens of
# a word are beyond both limits; in eight languages whose texts divide words alike at most 7.
BY_SHARE, BY_ATTACHED, LEAST_TOKENS = 0.2, 2.0, 30
# Most words before a stem; least length of a stem that raw text has, and of one that only the bitext has.
MOST_BEFORE, SHORTEST, SHORTEST_OF_BITEXT = 2, 2, 3
# A short raw text that divides no token is reported if words that the bitext has attached, each with LEAST or
# more occurrences, have this share of it: 10 to 16% in ten Arabic sentences, in eight languages at most 6%.
REPORTED, LEAST = 0.09, 3


CutLine = Callable[[str], list[str]]


def attached_words(raw: Iterable[str], bitext: Iterable[str], *, cut: CutLine) -> tuple[Contractions, int]:
    """Return the tokens of a bitext to divide, in plain lower case, with their words.

    ``raw``, ``bitext``: lines of text, whose tokens ``cut`` returns. Also returns the number of words of a
    raw text that is too short to divide them, although it has their words; else 0.
    """
    written = list(chain.from_iterable(map(cut, bitext)))
    tokens, known = _counts(written), _counts(chain.from_iterable(map(cut, raw)))
    size, raw_size = max(tokens.total(), 1), known.total()
    least_count = LEAST_COUNT * min(raw_size / SHORT, 1.0)
    before, after, seen = set[str](), set[str](), 0
    for word, count in known.items():
        rate = count / raw_size
        rare = count < min(LEAST, least_count) or rate < LEAST_SHARE or len(word) > LONGEST
        if rare or tokens[word] > MOST_ALONE * rate * size:
            continue
        if raw_size < SHORT:
            longer = [token for token in tokens if len(token) >= len(word) + SHORTEST]
            attached = (
                sum(tokens[one] for one in longer if is_part(one, word))
                for is_part in (str.startswith, str.endswith)
            )
            seen += count * any(one >= BY_SHARE * rate * size for one in attached)
        if count < least_count:
            continue
        for words, rest in ((before, str.removeprefix), (after, str.removesuffix)):
            found, of_raw = (
                {token: n for token, n in counts.items() if _is_stem(rest(token, word), token, known)}
                for counts in (tokens, known)
            )
            new = len(found.keys() - known.keys())
            share = sum(found.values()) / size
            least = BY_ATTACHED * sum(of_raw.values()) / raw_size
            if share >= max(BY_SHARE * rate, least) and new >= LEAST_TOKENS:
                words.add(word)

    def ways(token: str) -> Iterator[tuple[tuple[int, int, int], tuple[int, ...]]]:
        """Yield rank and limits of the words of a token: the best has few words and a frequent stem."""
        for starts in _starts(token, before):
            for end in {len(token), *(len(token.removesuffix(word)) for word in after)}:
                stem, limits = token[starts[-1] : end], tuple(sorted({*starts, end, len(token)}))
                if _is_stem(stem, token, known):
                    yield (0, len(limits), -known[stem]), limits
                elif len(stem) >= SHORTEST_OF_BITEXT and stem != token and tokens[stem] >= tokens[token]:
                    yield (1, len(limits), -tokens[stem]), limits

    table = dict[str, tuple[str, ...]]()
    for token in sorted(set(map(token_key, written))) if before or after else ():
        lower = lower_case(token)
        if lower not in known and (best := min(ways(lower), default=None)):
            table[token] = tuple(token[begin:end] for begin, end in pairwise(best[1]))
    return table, raw_size if not table and raw_size < SHORT and seen >= REPORTED * raw_size else 0


def _is_stem(stem: str, token: str, known: Counter[str]) -> bool:
    return len(stem) >= SHORTEST and stem != token and stem in known


def _starts(token: str, before: Iterable[str], found: tuple[int, ...] = (0,)) -> Iterator[tuple[int, ...]]:
    """Yield the starts of the words of a token, of those attached before the stem and of the stem."""
    yield found
    if len(found) <= MOST_BEFORE:
        for word in before:
            if token.startswith(word, found[-1]):
                yield from _starts(token, before, (*found, found[-1] + len(word)))


def _counts(tokens: Iterable[str]) -> Counter[str]:
    return Counter(lower_form(token) for token in tokens if any(map(str.isalpha, token)))
