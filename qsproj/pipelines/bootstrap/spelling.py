"""The spelling of raw text for the words of an older bitext, as Bibles often are.

Some letters of an old text are hardly found in raw text: Basque *ç*, now *z*, or Armenian *աւ*, now *ավ*. A
rule rewrites them if that turns words of the bitext that raw text lacks into words that it has. Endings and
prefixes that are frequent in the bitext alone, such as those of the second person, are no rules: they stand
at one border of words, and no single other one takes their place.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from qsproj.corpus.characters import lower_form

# Greatest length of what a rule rewrites and of what it writes, which is at most one letter longer.
LONGEST = 3
# Least share of what is rewritten in the words that only the bitext has; least number of those that only raw
# text has to have it, by this share; and how many of them have it, at most.
FREQUENT, EXPECTED, RARER = 0.005, 15, 0.25
# Least number of words of raw text that a rule makes; least share of the words that it rewrites, by the share
# of the words of the bitext that raw text has.
LEAST_WORDS, LEAST_SHARE = 10, 0.5
# Least share of what a rule writes among all that stands there in raw text: .2 to .5 for rules of Armenian,
# Basque and Nahuatl, .02 to .05 for letters of Arabic and Hebrew roots.
AGREED = 0.2
# Greatest share of the words that have the same letter, or border, before or after what is rewritten.
SAME_PLACE = 0.8
# Least share of the words of the bitext that all rules change; fewer are not worth another spelling.
LEAST_CHANGED = 0.05
# The most frequent words of raw text, and this number of the words that a rule rewrites, show rules.
MOST_WORDS, MOST_REWRITTEN = 20_000, 2000
BORDER = "|"


class SpellingRule(NamedTuple):
    """Letters of a bitext, those of raw text in their place, and the number of its words that show this."""

    old: str
    new: str
    words: int


def respelled_words(raw: Iterable[str], bitext: Iterable[str]) -> tuple[dict[str, str], list[SpellingRule]]:
    """Return the lower-cased words of a bitext that raw text spells otherwise, as it does, and the rules.

    ``raw``, ``bitext``: lines of text.
    """
    counts, written = Counter(_words(raw)), set(_words(bitext))
    known = counts.keys()
    frequent = [word for word, _ in counts.most_common(MOST_WORDS)]
    of_raw, size = _part_counts(known - written), len(known - written)
    spelt = {word: word for word in sorted(written - known)}
    least = LEAST_SHARE * (1.0 - len(spelt) / max(len(written), 1))
    rules = list[SpellingRule]()
    while True:
        words = set(spelt.values()) - known
        olds = [
            part
            for part, count in sorted(_part_counts(words).items())
            if count >= FREQUENT * len(words)
            and max(EXPECTED, of_raw[part] / RARER) <= size * count / len(words)
        ]
        rule = _best_rule(
            {old: sorted(word for word in words if old in word) for old in olds}, known, frequent, least
        )
        if rule is None:
            changed = {word: now for word, now in spelt.items() if now != word}
            return (changed, rules) if len(changed) >= max(LEAST_CHANGED * len(written), 1) else ({}, [])
        rules.append(rule)
        for word, now in spelt.items():
            if now not in known:
                spelt[word] = now.replace(rule.old, rule.new)


def respelled(line: str, words: Mapping[str, str]) -> str:
    """Return a line of text with other words, by those in lower case; capitals stay."""

    def other(match: re.Match[str]) -> str:
        token = match[0]
        word = token.strip(_no_letters(token))
        new = words.get(lower_form(word)) if word else None
        if new is None:
            return token
        if word[0].isupper():
            new = new.upper() if len(word) > 1 and word.isupper() else new[0].upper() + new[1:]
        return token.replace(word, new, 1)

    return re.sub(r"\S+", other, line)


def _words(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        for token in line.split():
            if word := token.strip(_no_letters(token)):
                yield lower_form(word)


def _no_letters(token: str) -> str:
    return (
        "" if token.isalpha() else "".join(one for one in token if unicodedata.category(one)[0] not in "LM")
    )


def _best_rule(
    rewritten: Mapping[str, Sequence[str]], known: Set[str], frequent: Sequence[str], least: float
) -> SpellingRule | None:
    """Return the rule that turns most words into ``known`` ones, None if none turns enough.

    ``rewritten``: what rules may rewrite, with the words that have it. ``least``: the least share of these.
    """
    best = None
    for old, found in _replacements(rewritten, frequent).items():
        ((new, count),) = found.most_common(1)
        if new and count >= AGREED * found.total():
            shown = [word for word in rewritten[old] if word.replace(old, new) in known]
            enough = len(shown) >= max(LEAST_WORDS, least * len(rewritten[old]))
            if enough and _anywhere(shown, old) and (best is None or len(shown) > best.words):
                best = SpellingRule(old, new, len(shown))
    return best


def _replacements(rewritten: Mapping[str, Sequence[str]], frequent: Iterable[str]) -> dict[str, Counter[str]]:
    """Count what words of raw text have in the place of each part of words, in which they are else alike."""
    places = defaultdict[tuple[str, str], list[str]](list)
    for old, words in rewritten.items():
        for word in words[:: 1 + len(words) // MOST_REWRITTEN]:
            for at in range(1, len(word) - len(old)):
                if word.startswith(old, at):
                    places[word[:at], word[at + len(old) :]].append(old)
    found = defaultdict[str, Counter[str]](Counter)
    for word in frequent:
        for begin in range(len(word) + 1):
            for end in range(begin, min(begin + LONGEST, len(word)) + 1):
                for old in places.get((word[:begin], word[end:]), ()):
                    if word[begin:end] != old and abs(end - begin - len(old)) <= 1:
                        found[old][word[begin:end]] += 1
    return found


def _part_counts(words: Set[str]) -> Counter[str]:
    """Count the words with each part."""
    return Counter(
        part
        for word in words
        for part in {
            word[at : at + length] for length in range(1, LONGEST + 1) for at in range(len(word) - length + 1)
        }
    )


def _anywhere(words: Sequence[str], part: str) -> bool:
    """Tell whether a part of words has several neighbours on both sides."""
    split = [word.partition(part) for word in words]
    before = Counter((BORDER + first)[-1] for first, _, _ in split)
    after = Counter((last + BORDER)[0] for _, _, last in split)
    return max(*before.values(), *after.values()) <= SAME_PLACE * len(words)
