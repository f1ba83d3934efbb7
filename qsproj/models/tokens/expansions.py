"""Split multiword tokens into words as the treebank did, or by rules of affixes learned from it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from qsproj.corpus.contractions import cased_like
from qsproj.models.schema import checked, text_rows, word_lists

Words = tuple[str, ...]
# A rule: a token that begins with the first and ends with the second string becomes the words, in which STEM
# stands for what is between.
Rule = tuple[str, str, Words]

STEM = "*"
# Letters of the stem that rules may be made to need at either side, so that they do not fit everywhere.
CONTEXT = 3


@dataclass(frozen=True, eq=False)
class Expansions:
    """The words of multiword tokens; all in lower case.

    ``table``: token to words, for the tokens of the treebank. ``rules``: (prefix, suffix) to words with STEM
    in one of them, for other tokens.
    """

    table: Mapping[str, Words]
    rules: Mapping[tuple[str, str], Words]

    def words(self, token: str) -> Words:
        """Return the words of a multiword token; the token alone where nothing is known that fits it."""
        lower = token.lower()
        parts = self.table.get(lower) or self._by_rule(lower)
        return (token,) if parts is None else tuple(cased_like(token, parts))

    def _by_rule(self, token: str) -> Words | None:
        """Return what the rule of the longest affixes makes of a token; of those the longest suffix.

        Linear in the token: only lengths of affixes that rules have are looked up.
        """
        for prefix, suffix in self._affix_lengths:
            if not 0 < prefix + suffix < len(token):
                continue
            parts = self.rules.get((token[:prefix], token[len(token) - suffix :]))
            if parts is not None:
                stem = token[prefix : len(token) - suffix]
                return tuple(part.replace(STEM, stem) for part in parts)
        return None

    @cached_property
    def _affix_lengths(self) -> list[tuple[int, int]]:
        """The lengths (prefix, suffix) of the rules' affixes, longest together first, then longest suffix."""
        lengths = {(len(prefix), len(suffix)) for prefix, suffix in self.rules}
        return sorted(lengths, key=lambda pair: (-sum(pair), -pair[1]))

    def to_json(self) -> dict[str, Any]:
        return {
            "table": {token: list(words) for token, words in self.table.items()},
            "rules": [[*affixes, *words] for affixes, words in self.rules.items()],
        }

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "Expansions":
        checked(content, {"table": word_lists, "rules": text_rows(3)})
        table, rules = content["table"], content["rules"]
        return Expansions(
            {token: tuple(words) for token, words in table.items()},
            {(row[0], row[1]): tuple(row[2:]) for row in rules},
        )


def learn_expansions(tokens: Iterable[tuple[str, Words]]) -> Expansions:
    """Learn from the multiword tokens of a treebank and their words; the same for any order of them."""
    seen: dict[str, Counter[Words]] = {}
    for token, words in tokens:
        seen.setdefault(token.lower(), Counter())[tuple(word.lower() for word in words)] += 1
    table = {token: _most_common(seen[token]) for token in sorted(seen)}
    votes: dict[tuple[str, str], Counter[Words]] = {}
    for token, words in table.items():
        # Each type votes once: a rule is about tokens that are not in the table.
        for prefix, suffix, parts in _rules_of(token, words):
            votes.setdefault((prefix, suffix), Counter())[parts] += 1
    return Expansions(table, {affixes: _most_common(votes[affixes]) for affixes in sorted(votes)})


def _most_common(counts: Counter[Words]) -> Words:
    """Return the most frequent; of those equally frequent the first in the alphabet."""
    return min(counts.items(), key=lambda item: (-item[1], item[0]))[0]


def _rules_of(token: str, words: Words) -> Iterable[Rule]:
    """Yield the rules that split a token so, from the shortest affixes to longer ones."""
    stretches = ((_common_stretch(token, word), -at) for at, word in enumerate(words))
    stem, place = max(stretches, key=lambda found: (len(found[0]), found[1]))
    if len(stem) < 2:
        return
    at = -place
    before, after = token.find(stem), token.find(stem) + len(stem)
    for left in range(min(CONTEXT, len(stem) - 1) + 1):
        for right in range(min(CONTEXT, len(stem) - 1 - left) + 1):
            if (left and not before) or (right and after == len(token)):
                continue
            inner = stem[left : len(stem) - right]
            place_in_word = words[at].find(stem)
            word = words[at][: place_in_word + left] + STEM + words[at][place_in_word + left + len(inner) :]
            yield token[: before + left], token[after - right :], (*words[:at], word, *words[at + 1 :])


def _common_stretch(first: str, second: str) -> str:
    """Return the longest string that both contain, the first of them."""
    best = ""
    for begin in range(len(first)):
        while first[begin : begin + len(best) + 1] in second and begin + len(best) < len(first):
            best = first[begin : begin + len(best) + 1]
    return best
