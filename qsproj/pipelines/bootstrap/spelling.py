"""Adapt the words of a bitext to raw text: modernise their spelling, and divide tokens into words.

Some letters of an old text, such as a Bible, are rare in raw text: Basque *ç*, now *z*, or Armenian *աւ*, now
*ավ*. A rule rewrites them if that turns unknown words into words of the raw text. Affixes that are frequent
only in the bitext must not become rules: they occur at one end of words, and no single affix of the raw text
corresponds to them.

Raw text from a treebank is often divided into its words, with separate prepositions in Arabic and Hebrew.
Then tokens of the bitext are divided, too, if they begin or end with short words frequent in raw text alone.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from qsproj.corpus.characters import composed_form, lower_case, lower_form
from qsproj.corpus.contractions import Contractions, cased_like, token_key

LONGEST = 3  # most letters that a rule rewrites; their number changes by at most one
FREQUENT = 0.005  # least share of words with these letters among the words only in the bitext
# Least expected number of words with these letters among the words only in raw text, at the same frequency,
# and the greatest actual number, as a share of it.
EXPECTED = 15
RARER = 0.25
LEAST_WORDS = 10  # least number of words that a rule turns into words of raw text
# Least share of these among all words with the letters, times the share of bitext words in raw text.
LEAST_SHARE = 0.5
# Least share of the new letters among all that occur in raw text in the same contexts: .2 to .5 for rules of
# Armenian, Basque and Nahuatl, .02 to .05 for letters of Arabic and Hebrew roots.
AGREED = 0.2
SAME_PLACE = 0.8  # greatest share of words with the same letter, or word border, before or after the letters
LEAST_CHANGED = 0.05  # least share of bitext words changed by all rules; with fewer no rule is used
# Sizes of the samples that rules are found in: most frequent words of raw text, words with the letters.
MOST_WORDS, MOST_REWRITTEN = 20_000, 2000
BORDER = "|"
LONGEST_ATTACHED = 3  # greatest length of an attached word
LEAST_COUNT = 20  # its least count in raw text; proportionally lower below SHORT words
SHORT = 1000
LEAST_RATE = 0.003  # its least relative frequency in raw text
MOST_ALONE = 0.1  # its greatest frequency as a separate word of the bitext, relative to that in raw text
# Least frequency of bitext tokens with the word attached, relative to that of the word in raw text, and to
# that of raw tokens with it attached. In Arabic some word exceeds both limits in 42 to 509 tokens that raw
# text lacks; in eight languages whose texts divide words alike, in at most 7.
BY_SHARE = 0.2
BY_ATTACHED = 2.0
LEAST_TOKENS = 30  # least number of such tokens
MOST_BEFORE = 2  # most words before a stem
SHORTEST = 2  # least length of a stem that raw text has
SHORTEST_OF_BITEXT = 3  # least length of a stem that only the bitext has
# A short raw text that divides no token is reported if words that the bitext attaches, each with LEAST or
# more occurrences, make up this share of it: 10 to 16% in ten Arabic sentences, at most 6% in 8 languages.
REPORTED, LEAST = 0.09, 3


@dataclass(frozen=True, slots=True)
class Spelling:
    """Spelling rules, in order of application, and the lower-cased words of a bitext that they change."""

    rules: tuple[tuple[str, str], ...]  # letters of the bitext, and those of raw text in their place
    words: Mapping[str, str]

    def of(self, lines: Iterable[str]) -> "Spelling":
        """Restrict the spelling to the words of these lines."""
        of_lines = sorted(self.words.keys() & _words(lines))
        return replace(self, words={word: self.words[word] for word in of_lines})

    def respell(self, line: str) -> str:
        """Rewrite a line of text in this spelling; capitals stay."""
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
    """Return the rule that turns most words into ``known`` ones; None if no rule changes enough.

    ``candidates``: letters to rewrite, with the words that have them. ``least``: least share of these words.
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
    """Count the replacements of parts of words in raw-text words whose other letters are the same."""
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

    ``raw``, ``bitext``: lines of text, which ``cut`` tokenises. Also returns the number of words of a raw
    text that seems to divide tokens, but is too short to decide it; else 0.
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
        """Yield rank and word limits of each way to divide a token; few words, frequent stems rank first."""
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
    """Yield the starts of the words that may be attached before the stem of a token, and of the stem."""
    yield found
    if len(found) <= MOST_BEFORE:
        for word in before:
            if token.startswith(word, found[-1]):
                yield from _starts(token, before, (*found, found[-1] + len(word)))


def _counts(tokens: Iterable[str]) -> Counter[str]:
    return Counter(lower_form(token) for token in tokens if any(map(str.isalpha, token)))
