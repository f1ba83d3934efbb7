"""The words of a bitext as raw text has them: their spelling, and those that the bitext attaches to others.

Some letters of an old text, such as a Bible, are hardly found in raw text: Basque *ç*, now *z*, or Armenian
*աւ*, now *ավ*. A rule rewrites them if that turns words that raw text lacks into words that it has. Endings
and prefixes that are frequent in the bitext alone are no rules: they stand at one border of words, and no
single other one takes their place.

Raw text from a treebank is often divided like its words: it has prepositions of Arabic and Hebrew apart.
Tokens of the bitext that begin or end with short words that are frequent in raw text alone are divided, too.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from qsproj.corpus.characters import composed_form, lower_case, lower_form
from qsproj.corpus.contractions import Contractions, cased_like, token_key

LONGEST = 3  # most letters that a rule rewrites; it writes one more or less at most
FREQUENT = 0.005  # least share of the words that only the bitext has to have these letters
# Least number of the words that only raw text has that would have these letters, were they as frequent there.
EXPECTED = 15
RARER = 0.25  # greatest share of this number that has them
LEAST_WORDS = 10  # least number of words that a rule turns into words of raw text
# Least share of all words that it rewrites, by the share of the words of the bitext that raw text has.
LEAST_SHARE = 0.5
# Least share of what a rule writes among all that raw text has between the same other letters: .2 to .5 for
# rules of Armenian, Basque and Nahuatl, .02 to .05 for letters of Arabic and Hebrew roots.
AGREED = 0.2
SAME_PLACE = 0.8  # greatest share of words with the same letter, or border, before or after what is rewritten
LEAST_CHANGED = 0.05  # least share of the words of the bitext that all rules change to be worth it
# Rules are found by the most frequent words of raw text, and by a sample of the words that a rule rewrites.
MOST_WORDS, MOST_REWRITTEN = 20_000, 2000
BORDER = "|"
LONGEST_ATTACHED = 3  # greatest length of an attached word
LEAST_COUNT = 20  # its least count in raw text, in proportion below SHORT words
SHORT = 1000
LEAST_RATE = 0.003  # its least share of raw text
MOST_ALONE = 0.1  # its greatest share of the bitext as a word of its own, by its share of the raw text
# Least share of the bitext that it is attached in, by its share of the raw text, and by the share of the raw
# text that it is attached in. In Arabic 42 to 509 tokens that raw text lacks are beyond both limits for some
# word; in eight languages whose texts divide words alike at most 7.
BY_SHARE = 0.2
BY_ATTACHED = 2.0
LEAST_TOKENS = 30  # least number of such tokens
MOST_BEFORE = 2  # most words before a stem
SHORTEST = 2  # least length of a stem that raw text has
SHORTEST_OF_BITEXT = 3  # least length of a stem that only the bitext has
# A short raw text that divides no token is reported if words that the bitext has attached, each with LEAST or
# more occurrences, have this share of it: 10 to 16% in ten Arabic sentences, in eight languages at most 6%.
REPORTED, LEAST = 0.09, 3


@dataclass(frozen=True, slots=True)
class Spelling:
    """Rules of spelling, in order, and the words of a bitext that they change, in lower case."""

    rules: tuple[tuple[str, str], ...]  # letters of the bitext, and those of raw text in their place
    words: Mapping[str, str]

    def of(self, lines: Iterable[str]) -> "Spelling":
        """Return the spelling with the words of these lines alone."""
        of_lines = sorted(self.words.keys() & _words(lines))
        return replace(self, words={word: self.words[word] for word in of_lines})

    def respell(self, line: str) -> str:
        """Return a line of text in this spelling; capitals stay."""
        return re.sub(r"\S+", lambda token: self._respelled(token[0]), line)

    def _respelled(self, token: str) -> str:
        word = token.strip(_marks(token))
        if not word or (new := self.words.get(lower_form(word))) is None:
            return token
        now = composed_form(word)
        for rule in self.rules:
            if lower_form(now) != new:
                now = _rewritten(now, *rule)
        # Words with optional marks between their letters lose these.
        return token.replace(word, now if lower_form(now) == new else new, 1)


def spelling_of(raw: Iterable[str], bitext: Iterable[str]) -> Spelling:
    """Find the spelling of raw text for the words of a bitext; both are lines of text."""
    counts, written = Counter(_words(raw)), set(_words(bitext))
    known = counts.keys()
    frequent = [word for word, _ in counts.most_common(MOST_WORDS)]
    of_raw, size = _part_counts(known - written), len(known - written)
    spelt = {word: word for word in sorted(written - known)}
    least = LEAST_SHARE * (1.0 - len(spelt) / max(len(written), 1))
    rules = list[tuple[str, str]]()
    while True:
        words = set(spelt.values()) - known
        candidates = {
            part: sorted(word for word in words if part in word)
            for part, count in sorted(_part_counts(words).items())
            if count >= FREQUENT * len(words)
            and max(EXPECTED, of_raw[part] / RARER) <= size * count / len(words)
        }
        if (rule := _best_rule(candidates, known, frequent, least)) is None:
            break
        rules.append(rule)
        for word, now in spelt.items():
            if now not in known:
                spelt[word] = now.replace(*rule)
    changed = {word: now for word, now in spelt.items() if now != word}
    if len(changed) < LEAST_CHANGED * len(written):
        return Spelling((), {})
    return Spelling(tuple(rules), changed)


def _words(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        for token in line.split():
            if word := token.strip(_marks(token)):
                yield lower_form(word)


def _marks(token: str) -> str:
    """Return the characters of a token that are neither letters nor belong to one."""
    if token.isalpha():
        return ""
    return "".join(one for one in token if unicodedata.category(one)[0] not in "LM")


def _rewritten(word: str, old: str, new: str) -> str:
    def cased(match: re.Match[str]) -> str:
        first = match[0][0]
        return cased_like(word if word.isupper() else first, (new,))[0] if first.isupper() else new

    return re.sub(re.escape(old), cased, word, flags=re.IGNORECASE)


def _best_rule(
    candidates: Mapping[str, Sequence[str]], known: Set[str], frequent: Sequence[str], least: float
) -> tuple[str, str] | None:
    """Return the rule that turns most words into ``known`` ones, None if none turns enough.

    ``candidates``: letters to rewrite, with the words that have them. ``least``: the least share of these.
    """
    best, most = None, 0
    for old, found in _replacements(candidates, frequent).items():
        ((new, count),) = found.most_common(1)
        if new and count >= AGREED * found.total():
            shown = [word for word in candidates[old] if word.replace(old, new) in known]
            enough = len(shown) >= max(LEAST_WORDS, least * len(candidates[old]))
            if enough and len(shown) > most and _in_several_places(shown, old):
                best, most = (old, new), len(shown)
    return best


def _replacements(candidates: Mapping[str, Sequence[str]], common: Iterable[str]) -> dict[str, Counter[str]]:
    """Count what words of raw text have in the place of parts within words, if all other letters agree."""
    places = defaultdict[tuple[str, str], list[str]](list)
    for old, words in candidates.items():
        for word in words[:: 1 + len(words) // MOST_REWRITTEN]:
            for at in range(1, len(word) - len(old)):
                if word.startswith(old, at):
                    places[word[:at], word[at + len(old) :]].append(old)
    found = defaultdict[str, Counter[str]](Counter)
    for word in common:
        for begin in range(len(word) + 1):
            for end in range(begin, min(begin + LONGEST, len(word)) + 1):
                for old in places.get((word[:begin], word[end:]), ()):
                    if word[begin:end] != old and abs(end - begin - len(old)) <= 1:
                        found[old][word[begin:end]] += 1
    return found


def _part_counts(words: Set[str]) -> Counter[str]:
    """Count the words with each part of up to LONGEST letters."""
    return Counter(
        part
        for word in words
        for part in {
            word[at : at + length] for length in range(1, LONGEST + 1) for at in range(len(word) - length + 1)
        }
    )


def _in_several_places(words: Sequence[str], part: str) -> bool:
    split = [word.partition(part) for word in words]
    before = Counter((BORDER + first)[-1] for first, _, _ in split)
    after = Counter((last + BORDER)[0] for _, _, last in split)
    return max(*before.values(), *after.values()) <= SAME_PLACE * len(words)


def attached_words(
    raw: Iterable[str], bitext: Iterable[str], *, cut: Callable[[str], list[str]]
) -> tuple[Contractions, int]:
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
        rare = count < min(LEAST, least_count) or rate < LEAST_RATE or len(word) > LONGEST_ATTACHED
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
