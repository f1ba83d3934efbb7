"""The tokeniser: a linear-chain conditional random field over characters, trained on treebanks.

Every character of a line begins a token, begins a token of several words, continues one, or is space between
tokens. The rules' decision is a feature, so that a few sentences show where the treebank differs from them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property, partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Hashes, Numbers, Weights
from qsproj.corpus import text as texts
from qsproj.corpus.characters import belongs_to_neighbour, readable, remembered
from qsproj.corpus.contractions import cased_like
from qsproj.corpus.editing import with_comment
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.unspaced import check_has_spaces, has_words_apart, with_spaces
from qsproj.features.characters import COMPILED_TEMPLATES, TEMPLATES, character_attributes
from qsproj.features.hashing import FeatureIndex
from qsproj.kernels.tagging.linear_chain import add_emissions, k_best, posterior, viterbi
from qsproj.kernels.tagging.tag_features import feature_keys
from qsproj.models import schema
from qsproj.models.chains import packed_chain, stored_chain

Words = tuple[str, ...]
STEM = "*"
Affixes = tuple[str, str]  # prefix and suffix of a token
# Least share of multiword tokens in the types that a rule fits, and in the occurrences of a token; share and
# fewest types of rules that always split.
LEAST_SHARE, SURE, FEWEST_SURE = 0.25, 0.85, 3
# Letters of the stem that a rule may require at either side, so that it does not fit everywhere.
CONTEXT = 3
# A token and its words, then those of a line.
Token = tuple[str, Words]
Tokens = list[Token]
SEGMENTATION_PROBABILITY = "segmentation_probability"
# States of a character, by number: begins a token, continues one, is a space, begins a multiword token.
BEGIN, INSIDE, SPACE, MULTIWORD = range(4)
N_STATES = 4
# States of characters within tokens.
_OF_TOKENS = np.array([BEGIN, INSIDE, MULTIWORD], dtype=np.int32)
MOST_SEQUENCES = 32  # state sequences listed for each segmentation of a line
_MARKS = re.compile(r"([。！？；，（）「」『』])\1*")  # tokens of their own in scripts without spaces
IMPOSSIBLE = -1e6  # score of impossible states: every sum of weights is small beside it


@dataclass(frozen=True, eq=False)
class Expansions:
    """The words of multiword tokens; all in lower case."""

    table: Mapping[str, Words]  # token of the treebank to words
    rules: Mapping[Affixes, Words]  # of others to words, one with STEM
    sure: Collection[Affixes] = frozenset()  # those that fit hardly a token of one word
    # Tokens of one word that are in the table, or which a rule fits; older models lack them: nothing is sure.
    whole: Collection[str] | None = None
    _found: dict[tuple[str, bool], Words] = field(default_factory=dict, repr=False)

    def words(self, token: str, *, sure: bool = False) -> Words:
        """Return the words of a multiword token; the token alone where neither table nor rule fits.

        ``sure``: also the token alone unless it is almost surely a multiword one.
        """
        return remembered(self._found, (token, sure), partial(self._words, token, sure=sure))

    def _words(self, token: str, *, sure: bool) -> Words:
        lower, whole = token.lower(), self.whole or ()
        if sure and (self.whole is None or lower in whole or texts.whole_tokens(token)):
            return (token,)
        parts = self.table.get(lower)
        if parts is None:
            ways = list(self._by_rules(lower))
            is_sure = any(
                rule in self.sure and own == ways[0][1] for rule, own in ways if _has_letter(lower, rule)
            )
            parts = ways[0][1] if ways and (is_sure or not (sure or lower in whole)) else None
        if parts is None:
            return (token,)
        if "".join(parts) == lower and len(lower) == len(token):
            ends = [*accumulate(map(len, parts))]
            return tuple(token[begin:end] for begin, end in zip([0, *ends], ends, strict=False))
        return tuple(cased_like(token, parts))

    def _by_rules(self, token: str) -> Iterator[tuple[Affixes, Words]]:
        """Yield the rules that fit and their words, that with the longest affixes, and suffix, first."""
        for prefix, suffix in self._affix_lengths:
            affixes = token[:prefix], token[len(token) - suffix :]
            if 0 < prefix + suffix < len(token) and (parts := self.rules.get(affixes)):
                stem = token[prefix : len(token) - suffix]
                yield affixes, tuple(part.replace(STEM, stem) for part in parts)

    @cached_property
    def _affix_lengths(self) -> list[tuple[int, int]]:
        """The lengths (prefix, suffix) of the rules' affixes, longest together first, then longest suffix."""
        lengths = {(len(prefix), len(suffix)) for prefix, suffix in self.rules}
        return sorted(lengths, key=lambda pair: (-sum(pair), -pair[1]))

    def to_json(self) -> dict[str, Any]:
        return {
            "table": {token: list(words) for token, words in self.table.items()},
            "rules": [[*affixes, *words] for affixes, words in self.rules.items()],
            "sure": sorted(map(list, self.sure)),
            "whole": None if self.whole is None else sorted(self.whole),
        }

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "Expansions":
        fields = {"table": schema.word_lists, "rules": schema.text_rows(3)}
        later = {"sure": schema.optional(schema.text_rows(2)), "whole": schema.optional(schema.names)}
        schema.checked(content, fields | later)  # older models lack these
        table = {token: tuple(words) for token, words in content["table"].items()}
        rules = {(row[0], row[1]): tuple(row[2:]) for row in content["rules"]}
        sure = frozenset((prefix, suffix) for prefix, suffix in content.get("sure") or ())
        whole = content.get("whole")
        return Expansions(table, rules, sure, None if whole is None else frozenset(whole))


def learn_expansions(tokens: Iterable[tuple[str, Words]]) -> Expansions:
    """Learn from a treebank's tokens and their words; the result does not depend on their order.

    Rules are for tokens that are not in the table. Those that fit mostly tokens of one word are left out, as
    are tokens that mostly are one word: errors.
    """
    seen: dict[str, Counter[Words]] = {}
    single = Counter[str]()
    for token, words in tokens:
        if len(words) == 1:
            single[token.lower()] += 1
        else:
            seen.setdefault(token.lower(), Counter())[tuple(word.lower() for word in words)] += 1
    table = {
        token: _most_common(seen[token])
        for token in sorted(seen)
        if seen[token].total() >= LEAST_SHARE * (seen[token].total() + single[token])
    }
    stems: dict[Words, set[str]] = {}
    for words in table.values():
        for at, word in enumerate(words):
            if _has_letters_alone(word):
                stems.setdefault(_without(words, at), set()).add(word)
    votes: dict[Affixes, Counter[Words]] = {}
    for token, words in table.items():
        for prefix, suffix, parts in _rules_of(token, words, stems):
            votes.setdefault((prefix, suffix), Counter())[parts] += 1  # one of each type
    lengths, fitting = {(len(prefix), len(suffix)) for prefix, suffix in votes}, dict[str, set[Affixes]]()
    for token in single:
        cuts = [(front, len(token) - back) for front, back in lengths if front + back < len(token)]
        fitting[token] = votes.keys() & {(token[:front], token[end:]) for front, end in cuts}
    whole = Counter(affixes for of_token in fitting.values() for affixes in of_token)
    shares = {one: counts.total() / (counts.total() + whole[one]) for one, counts in votes.items()}
    rules = {one: _most_common(votes[one]) for one in sorted(votes) if shares[one] >= LEAST_SHARE}
    sure = {one for one in rules if shares[one] >= SURE and votes[one].total() >= FEWEST_SURE}
    kept = {token for token in single if token in table or not rules.keys().isdisjoint(fitting[token])}
    return Expansions(table, rules, frozenset(sure), frozenset(kept))


def _has_letter(token: str, rule: Affixes) -> bool:
    """Return whether a rule's stem has a letter, unlike that of *1930* + *'s*."""
    return any(map(str.isalpha, token[len(rule[0]) : len(token) - len(rule[1])]))


def _has_letters_alone(word: str) -> bool:
    """Return whether a word is of letters, with their marks, and digits: no clitic with an apostrophe."""
    return all(unicodedata.category(character)[0] in "LMN" for character in word)


def _without(words: Words, at: int) -> Words:
    return (*words[:at], STEM, *words[at + 1 :])


def _most_common(counts: Counter[Words]) -> Words:
    return min(counts.items(), key=lambda item: (-item[1], item[0]))[0]


def _rules_of(
    token: str, words: Words, stems: Mapping[Words, Collection[str]]
) -> Iterable[tuple[str, str, Words]]:
    """Yield prefixes and suffixes with the words of such a token, in which STEM is the part between.

    It is part of a long word that, by ``stems``, often varies beside the others: of *do* in *do* + *n't*.
    """
    shared = [SequenceMatcher(None, token, word, autojunk=False).find_longest_match() for word in words]
    at, (before, place, size) = max(
        enumerate(shared), key=lambda found: found[1].size * len(stems.get(_without(words, found[0]), ()))
    )
    if size < 2 or not _has_letters_alone(words[at]):
        return
    after = before + size
    for left in range(min(CONTEXT, size - 1) + 1):
        for right in range(min(CONTEXT, size - 1 - left) + 1):
            if (left and not before) or (right and after == len(token)):
                continue
            word = words[at][: place + left] + STEM + words[at][place + size - right :]
            yield token[: before + left], token[after - right :], (*words[:at], word, *words[at + 1 :])


@dataclass(frozen=True, eq=False, kw_only=True)
class Tokenizer:
    """A trained tokeniser; :func:`qsproj.models.tokens.tokenizer_training.train_tokenizer` makes one."""

    language: str | None  # its rules are a feature; None: those of no language
    index: FeatureIndex
    weights: Weights  # float32[R, 4]: natural-log potentials of the states by the R features of ``index``
    transitions: Floats  # float64[5, 4]: of [previous state, state]; last row: before the first character
    expansions: Expansions  # words of tokens
    known: frozenset[str]  # words of the treebank; empty where spaces separate words
    inner_spaces: bool  # whether tokens may have spaces inside, as in 10 000

    def read(
        self,
        lines: Iterable[str],
        *,
        name: str = "text",
        segmentations: int | None = None,
        cut: Callable[[str], Tokens] | None = None,
    ) -> Iterator[Sentence]:
        """Yield one sentence for each line of text that is not blank, cut into tokens and words.

        ``# newpar`` marks a line that follows a blank one. ``segmentations``: how many for each line; the
        second best of line 7 is *7.2*, with its probability in a comment. ``cut``: replaces :meth:`tokens`.
        Raises DataError as :func:`qsproj.corpus.unspaced.check_has_spaces`.
        """
        for number, line, begins in texts.numbered(lines):
            if self.known:
                line = with_spaces(line)
            else:
                check_has_spaces(line, self.language, name=name, number=number)
            text = texts.normalise(line, self.language or "")
            if segmentations is None:
                tokens = (cut or self.tokens)(readable(text)[0])
                yield texts.sentence_from_tokens(tokens, text, sent_id=str(number), begins_paragraph=begins)
                continue
            for rank, (way, chance) in enumerate(self.segmentations(readable(text)[0], segmentations)):
                own, first = f"{number}.{rank + 1}", begins and rank == 0
                one = texts.sentence_from_tokens(way, text, sent_id=own, begins_paragraph=first)
                yield with_comment(one, SEGMENTATION_PROBABILITY, f"{chance:.4g}")

    def tokens(self, text: str) -> Tokens:
        """Return the tokens of a line with single spaces, each with its words, in O(characters).

        Rules cut a line of a script without spaces that has them between words.
        """
        if not text:
            return []
        if self.known and has_words_apart(text):
            return [(token, (token,)) for token in texts.tokenize(text, self.language or "")]
        emissions, transitions = self._emissions(text), self._possible_transitions
        places: NDArray[np.int64] | None = None
        if self.inner_spaces:
            emissions, transitions, places = _without_gaps(emissions, transitions, text)
        states = np.empty(len(emissions), dtype=np.int32)
        viterbi(emissions, transitions, states)
        return self._cut(text, states if places is None else _with_gaps(states, places, len(text)))

    def segmentations(self, text: str, k: int) -> list[tuple[Tokens, float]]:
        """Return the k best segmentations of a line with single spaces, best first, with probabilities.

        Sequences are listed until all others are less probable than the last of k, at most MOST_SEQUENCES k
        of them; probabilities are exact sums over all sequences of the same words. O(k log k) a character.
        """
        if not text or (self.known and has_words_apart(text)):
            return [(self.tokens(text), 1.0)]
        emissions, transitions = self._emissions(text), self._possible_transitions
        log_z = _log_sum(emissions, transitions)
        joined, of_joined, places = _without_gaps(emissions, transitions, text)
        sequences = possible = k
        ways: dict[tuple[Token, ...], float] = {}
        found = list[tuple[Tokens, float]]()
        while possible == sequences < MOST_SEQUENCES * k:
            sequences *= 2
            states = np.empty((sequences, len(places)), dtype=np.int32)
            scores = np.empty(sequences)
            k_best(joined, of_joined, states, scores)
            possible = int((scores > scores[0] + IMPOSSIBLE / 2).sum())
            for own in states[:possible]:
                whole = _with_gaps(own, places, len(text))
                way = tuple(self._cut(text, whole))
                if way not in ways:
                    other = emissions + self._other(way, whole)
                    ways[way] = float(np.exp(_log_sum(other, transitions) - log_z))
            found = sorted(((list(way), chance) for way, chance in ways.items()), key=lambda one: -one[1])[:k]
            if len(found) == k and found[-1][1] >= 1.0 - sum(ways.values()):
                break
        return found

    def _other(self, tokens: Iterable[Token], states: Numbers) -> Floats:
        other = np.full((len(states), N_STATES), IMPOSSIBLE)
        other[np.arange(len(states)), states] = 0.0
        begins = np.flatnonzero((states == BEGIN) | (states == MULTIWORD))
        for begin, (token, words) in zip(begins, tokens, strict=True):
            # Both ways to begin often make the same words.
            if words == self.expansions.words(token, sure=True) == self.expansions.words(token):
                other[begin, [BEGIN, MULTIWORD]] = 0.0
            # A space before a gap makes the same token whether inside it or not.
            if begin and states[begin - 1] == SPACE:
                other[begin - 1, INSIDE] = 0.0
        return other

    def _cut(self, text: str, states: Numbers) -> Tokens:
        begins = np.flatnonzero((states == BEGIN) | (states == MULTIWORD)).tolist()
        tokens = []
        for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
            token = text[begin:end].rstrip(" ")
            tokens.append((token, self.expansions.words(token, sure=states[begin] != MULTIWORD)))
        return tokens

    def words(self, line: str) -> list[str]:
        text = readable(texts.normalise(line, self.language or ""))[0]
        return [word for _, words in self.tokens(text) for word in words]

    def _emissions(self, text: str) -> Floats:
        emissions = np.empty((len(text), N_STATES))
        add_emissions(self.index.rows(keys_of(text, self.language, self.known)), self.weights, emissions)
        spaces = np.array([character == " " for character in text])
        emissions[~spaces, SPACE] += IMPOSSIBLE
        for state in (BEGIN, MULTIWORD) if self.inner_spaces else (BEGIN, MULTIWORD, INSIDE):
            emissions[spaces, state] += IMPOSSIBLE
        joined = [at > 0 and text[at - 1] != " " and belongs_to_neighbour(one) for at, one in enumerate(text)]
        emissions[np.ix_(joined, [BEGIN, MULTIWORD])] += IMPOSSIBLE
        if self.known:
            for mark in _MARKS.finditer(text):
                begins = [at for at in mark.span() if at < len(text) and not joined[at]]
                emissions[begins, INSIDE] += IMPOSSIBLE
        for begin, end in texts.whole_tokens(text):
            emissions[begin, [INSIDE, MULTIWORD]] += IMPOSSIBLE
            emissions[begin + 1 : end, [BEGIN, MULTIWORD]] += IMPOSSIBLE
        return emissions

    @cached_property
    def _possible_transitions(self) -> Floats:
        possible = self.transitions.copy()
        possible[np.ix_([SPACE, N_STATES], [INSIDE, SPACE])] += IMPOSSIBLE
        return possible

    def to_archive(self) -> schema.Archive:
        header = {
            "language": self.language,
            "templates": list(TEMPLATES),
            "expansions": self.expansions.to_json(),
            "inner_spaces": self.inner_spaces,
        }
        known = "\n".join(sorted(self.known)).encode("utf-8")
        return header, {**packed_chain(self), "known": np.frombuffer(known, dtype=np.uint8)}

    @staticmethod
    def from_archive(header: Mapping[str, Any], arrays: schema.Arrays) -> "Tokenizer":
        fields = {"language": schema.optional(schema.text), "templates": schema.names}
        schema.checked(header, fields | {"inner_spaces": schema.flag})
        if header["templates"] != list(TEMPLATES):
            raise ValueError("the tokeniser has other templates than this version of qsproj")
        return Tokenizer(
            **stored_chain(arrays, N_STATES),
            language=header["language"],
            expansions=Expansions.from_json(header["expansions"]),
            known=frozenset(schema.lines_of(arrays, "known")) - {""},
            inner_spaces=header["inner_spaces"],
        )


def _without_gaps(
    emissions: Floats, transitions: Floats, text: str
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the chain without spaces: emissions float64[m, 9], transitions float64[10, 9], places int64[m].

    A state combines those of a character and of the previous one, so that spaces between are summed out: a
    space that continues a token which ends there makes the same tokens as one between tokens.
    """
    places = np.array([at for at, character in enumerate(text) if character != " "], dtype=np.int64)
    size = len(_OF_TOKENS)
    pairs = transitions[np.ix_(_OF_TOKENS, _OF_TOKENS)] + np.zeros((len(places), 1, 1))
    gaps = np.flatnonzero(np.diff(places, prepend=-1) > 1)
    ways = [
        transitions[_OF_TOKENS, by][:, None]
        + transitions[by, _OF_TOKENS]
        + emissions[places[gaps] - 1, by][:, None, None]
        for by in (SPACE, INSIDE)
    ]
    pairs[gaps] = np.logaddexp(*ways)
    pairs[0] = IMPOSSIBLE
    pairs[0, 0] = transitions[N_STATES, _OF_TOKENS]
    pairs += emissions[places][:, None, _OF_TOKENS]
    fits = np.equal.outer(np.tile(np.arange(size), size), np.repeat(np.arange(size), size))
    follows = np.vstack([np.where(fits, 0.0, IMPOSSIBLE), np.zeros(size * size)])
    return pairs.reshape(len(places), -1), follows, places


def _with_gaps(states: Numbers, places: NDArray[np.int64], length: int) -> Numbers:
    """Return the states of all characters of a line: a space before a continued token is inside it."""
    whole = np.full(length, SPACE, dtype=np.int32)
    whole[places] = _OF_TOKENS[states % len(_OF_TOKENS)]
    inner = places[whole[places] == INSIDE] - 1
    whole[inner[whole[inner] == SPACE]] = INSIDE
    return whole


def _log_sum(emissions: Floats, transitions: Floats) -> float:
    return posterior(emissions.copy(), transitions, np.empty_like(emissions), np.zeros_like(transitions))


def keys_of(text: str, language: str | None, known: frozenset[str]) -> Hashes:
    attributes = character_attributes(text, texts.rule_starts(text, language), known)
    keys = np.empty((len(text), len(COMPILED_TEMPLATES)), dtype=np.uint64)
    feature_keys(attributes, np.arange(len(text), dtype=np.int32), COMPILED_TEMPLATES, keys)
    return keys
