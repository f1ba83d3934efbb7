"""Sentence splitting of running text: logistic regression at each piece of a text.

Pieces are words, numbers, addresses, and runs of one sign: known in any language before sentences are. Their
features are attributes, and templates over neighbours. The rules are one of them, with an initial weight, so
that with few sentences the splitter is no worse than they.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Hashes, Mask, Numbers, Weights, starts_of
from qsproj.corpus.characters import readable
from qsproj.corpus.editing import comment_value
from qsproj.corpus.language.sentence_ends import ENDS, UNSPACED_ENDS, rule_starts
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.unspaced import UNSPACED
from qsproj.features.characters import Codes, code_of, joined, mixed, shifted
from qsproj.features.hashing import FeatureIndex, pair_templates
from qsproj.kernels.tagging.tag_features import feature_keys
from qsproj.models.schema import Archive, Arrays, ascending, checked, names, optional, shaped, text
from qsproj.training.objectives import logistic_loss

# Chosen on dev files of English, Greek, Hungarian, Turkish: L2 penalty, steps of L-BFGS, weight of the rules.
L2, STEPS, TRUST = 1.0, 60, 2.0
# Features of one place do not generalise; weights that stay below the second are dropped.
RAREST, FAINTEST = 2, 0.01
LONGEST_TEXT = 50  # texts without paragraphs are cut into texts of this many sentences
_BREAKS = ("# newpar", "# newdoc")
# Attributes of a piece alone, followed by those of its position.
_OF_PIECES = ("form", "lower", "kind", "type", "suffix2", "suffix3", "length")
ATTRIBUTES = (
    *_OF_PIECES,
    *("space", "spaced", "kinds2", "kinds3", "kinds4", "lowers3", "types5"),
    *("since", "until", "begun", "left", "bracket", "quote", "around", "near"),
    *("word", "signs", "next", "rule"),
)
TEMPLATES = (
    *("lower-3", "lower-2", "lower-1", "lower", "lower+1", "lower+2", "lower+3"),
    *("form-1", "form", "form+1", "suffix2-1", "suffix2", "suffix3-1", "suffix3", "suffix3+1"),
    *("kind-3", "kind-2", "kind-1", "kind", "kind+1", "kind+2", "kind+3"),
    *("lower-2 & lower-1", "lower-1 & lower", "lower & lower+1", "lower+1 & lower+2", "lowers3-1"),
    *("form-1 & form", "form & kind-1", "lower-1 & kind", "lower & kind-1"),
    *("suffix3-1 & suffix3", "suffix2-1 & suffix2", "suffix3-1 & kind", "suffix3 & kind-1"),
    *("kinds2", "kinds3", "kinds3-1", "kinds3+1", "kinds4", "kinds4+1", "types5-2"),
    *("kinds2-1 & kinds2+1", "kinds3-1 & kinds2+1", "lowers3-1 & kind+1", "lowers3-1 & kind-2"),
    *("kinds3 & lower", "kinds3 & lower-1", "kinds3 & lower+1", "kinds4 & lower"),
    *("space", "space-1", "space+1", "kinds2 & space", "space-1 & kinds3"),
    *("length & kinds2", "length-1 & kinds2"),
    *("kinds2 & since", "kinds2 & until", "kinds2 & begun", "kinds2 & left", "kind & since"),
    *("lower & since", "lower & until", "lower-1 & since", "lower-1 & until"),
    *("lower & begun", "lower-1 & begun", "lower & left", "lower-1 & left"),
    *("kinds2 & bracket", "kinds3 & bracket", "kinds2 & quote", "kinds3 & quote"),
    *("kinds2 & around", "lower & around", "lower-1 & around"),
    *("near", "near & kind-1", "near & kinds2", "near & lower"),
    *("word", "word & signs", "signs", "signs & next", "signs & kind", "signs & kinds3", "word & next"),
    *("rule", "rule & kinds2", "rule & lower-1", "rule & word", "rule & lower"),
)
_COMPILED = pair_templates(TEMPLATES, ATTRIBUTES)
SIGHT = 48  # maximum distance, in pieces, of visible context
_BLOCK = 4096  # pieces processed at a time
_NEAR, _AROUND, _FAR = 4, 30, 40
_ENDS = frozenset(ENDS + UNSPACED_ENDS)
_OPENING, _CLOSING = frozenset("([{（［「『【〔"), frozenset(")]}）］」』】〕")
_QUOTES = frozenset("\"'“”„«»‹›‘’")
_BOUNDS = np.array([0, 1, 2, 3, 4, 5, 6, 9, 14, 22, _FAR])


@lru_cache
def _pieces() -> re.Pattern[str]:
    marks = "".join(chr(at) for at in range(0x300, 0xAC00) if unicodedata.category(chr(at)).startswith("M"))
    letter = rf"(?:[^\W_]|[{marks}])"
    return re.compile(
        rf"{UNSPACED.pattern.removesuffix('+')}"
        r"|(?:[a-z]+://|www\.)[^\s<>\"]*[\w/]|[\w.+-]{1,64}@[\w.-]*\w"
        r"|\d+(?:[.,:/-]\d+)*"
        rf"|{letter}+(?:['’-]{letter}+)*"
        r"|(\S)\1*"
    )


def pieces(text: str) -> list[tuple[int, str]]:
    return [(found.start(), found[0]) for found in _pieces().finditer(text)]


def start_keys(text: str, found: list[tuple[int, str]], rules: set[int]) -> list[Hashes]:
    """Return the features of each piece as the first of a sentence, uint64[n, K], block by block."""
    blocks = []
    for begin in range(0, len(found), _BLOCK):
        first, last = max(0, begin - SIGHT), min(len(found), begin + _BLOCK + SIGHT)
        attributes = _attributes(text, found[first:last], rules)
        keys = np.empty((len(attributes), len(_COMPILED)), dtype=np.uint64)
        feature_keys(attributes, np.arange(len(attributes), dtype=np.int32), _COMPILED, keys)
        blocks.append(keys[begin - first : begin - first + _BLOCK])
    return blocks


@lru_cache(maxsize=1 << 16)
def _of_piece(piece: str) -> tuple[int, ...]:
    lower = "".join("0" if character.isdigit() else character for character in piece.lower())
    kind = _kind(piece)
    suffixes = lower[-2:] if len(lower) > 3 else "", lower[-3:] if len(lower) > 4 else ""
    values = (piece, lower, kind, "word" if piece[0].isalnum() else kind, *suffixes, str(min(len(piece), 6)))
    return tuple(code_of(name, value) if value else 0 for name, value in zip(_OF_PIECES, values, strict=True))


def _kind(piece: str) -> str:
    if piece[0].isdigit():
        return re.sub(r"\d+", "0", piece)[:8]
    if not any(character.isalnum() for character in piece):
        return piece[:2]
    if piece.islower():
        return "x"
    if len(piece) == 1:
        return "X" if piece.isupper() else "o"
    if piece.isupper():
        return "XX"
    if piece[0].isupper():
        return "Xx" if piece[1:].islower() else "XxX"
    return "o" if piece == piece.lower() else "xX"


def _attributes(text: str, found: list[tuple[int, str]], rules: set[int]) -> Codes:
    n = len(found)
    codes = np.zeros((n, len(ATTRIBUTES)), dtype=np.uint64)
    columns = {name: codes[:, at] for at, name in enumerate(ATTRIBUTES)}
    codes[:, : len(_OF_PIECES)] = [_of_piece(piece) for _, piece in found]
    spaces = np.array([begin == 0 or text[begin - 1] == " " for begin, _ in found])
    columns["space"][:] = spaces + np.uint64(1)
    columns["spaced"][:] = mixed(columns["kind"] * np.uint64(3) + columns["space"])
    for name, begin, end in (("kinds2", -1, 0), ("kinds3", -1, 1), ("kinds4", -2, 1)):
        columns[name][:] = _grams(columns["spaced"], begin, end)
    columns["lowers3"][:] = _grams(columns["lower"], 0, 2)
    columns["types5"][:] = _grams(mixed(columns["type"] * np.uint64(3) + columns["space"]), 0, 4)
    places = np.arange(n)
    firsts = [piece[0] for _, piece in found]
    ends = np.array([first in _ENDS for first in firsts])
    words = np.array([first.isalnum() for first in firsts])
    columns["since"][:] = _bucket(places - _last(ends) - 1)
    columns["until"][:] = _bucket((places - _last(ends[::-1]))[::-1])
    columns["begun"][:] = _bucket(places)
    columns["left"][:] = _bucket(n - places)
    _add_enclosed(columns, firsts, spaces)
    _add_surroundings(columns, [piece for _, piece in found], ends)
    before = _last(words)
    signs = np.zeros(n, dtype=np.uint64)
    for distance in range(1, 5):
        sign = shifted(columns["spaced"], -distance) + np.uint64(distance)
        signs = np.where(places - before > distance, mixed(signs * np.uint64(3) + sign), signs)
    columns["signs"][:] = mixed(signs * np.uint64(3) + columns["space"])
    columns["word"][:] = np.where(before >= 0, columns["lower"][before], 0)
    after = np.where(words, places, n - 1 - _last(words[::-1])[::-1])
    columns["next"][:] = np.where(after < n, columns["lower"][np.minimum(after, n - 1)], 0)
    columns["rule"][:] = [1 + (begin in rules) for begin, _ in found]
    return codes


def _last(marked: Mask) -> NDArray[np.int64]:
    """Return the last marked place before each place, -1 where there is none."""
    latest = np.maximum.accumulate(np.where(marked, np.arange(len(marked)), -1))
    return np.concatenate([np.full(1, -1), latest[:-1]])


def _bucket(distances: NDArray[np.int64]) -> Codes:
    return np.searchsorted(_BOUNDS, distances).astype(np.uint64) + np.uint64(1)


def _add_enclosed(columns: dict[str, Codes], firsts: list[str], spaces: Mask) -> None:
    opens, closes, quotes = (
        np.array([first in marks for first in firsts]) for marks in (_OPENING, _CLOSING, _QUOTES)
    )
    before_space = np.append(spaces[1:], True)
    quoted = quotes & spaces & ~before_space, quotes & ~spaces
    for name, (opening, closing) in {"bracket": (opens, closes), "quote": quoted}.items():
        opened, closed = _last(opening), _last(closing)
        columns[name][:] = 1 + ((opened > closed) & (np.arange(len(firsts)) - opened < _FAR))


def _add_surroundings(columns: dict[str, Codes], found: list[str], ends: Mask) -> None:
    n = len(found)
    large, small = (np.array([case(piece[0]) for piece in found]) for case in (str.isupper, str.islower))
    loud = np.array([len(piece) > 1 and piece.isupper() for piece in found])

    def within(marked: Mask, begin: int, end: int) -> NDArray[np.int64]:
        sums, places = starts_of(marked), np.arange(n)
        return sums[np.clip(places + end, 0, n)] - sums[np.clip(places + begin, 0, n)]

    near = np.zeros(n, dtype=np.int64)
    for marked, begin, end in ((large, -_NEAR, 0), (small, -_NEAR, 0), (large, 0, _NEAR), (small, 0, _NEAR)):
        near = 4 * near + np.minimum(within(marked, begin, end), 3)
    columns["near"][:] = near + 1
    cased = within(large | small, -_AROUND, _AROUND) + 1
    share, shouted = 4 * within(large, -_AROUND, _AROUND) // cased, within(loud, -_AROUND, _AROUND)
    ended = np.minimum(within(ends, -_AROUND, _AROUND), 2)
    columns["around"][:] = 1 + 16 * ended + 4 * share + 3 * shouted // cased


def _grams(codes: Codes, begin: int, end: int) -> Codes:
    return joined(np.zeros_like(codes), codes, range(begin, end + 1))


@dataclass(frozen=True, eq=False, kw_only=True)
class Splitter:
    """A model of sentence starts: ``weights`` float32[R], log-odds of the features in ``index``."""

    language: str | None
    index: FeatureIndex
    weights: Weights

    def starts(self, paragraph: str) -> list[int]:
        """Return the sentence starts in a text with single spaces, 0 first; O(characters)."""
        shown, places = readable(paragraph)
        found = pieces(shown)
        starts, at = [0], 0
        for keys in start_keys(shown, found, set(rule_starts(shown, self.language))):
            odds = self._padded[self.index.rows(keys)].sum(axis=1)
            starts += [found[at + int(place)][0] for place in np.flatnonzero(odds > 0.0)]
            at += len(keys)
        return sorted({start if places is None else places[start] for start in starts})

    @cached_property
    def _padded(self) -> Floats:
        """The weights, and 0 for features without one, whose row is -1."""
        return np.append(self.weights, 0.0)

    def to_archive(self) -> Archive:
        header = {"language": self.language, "templates": list(TEMPLATES)}
        return header, {"keys": self.index.keys, "weights": self.weights.astype(np.float16)}

    @staticmethod
    def from_archive(header: Mapping[str, Any], arrays: Arrays) -> "Splitter":
        checked(header, {"language": optional(text), "templates": names})
        if header["templates"] != list(TEMPLATES):
            raise ValueError("the model finds sentences by other templates than this version of qsproj")
        index = FeatureIndex(ascending(arrays, "keys", np.uint64, least=1))
        weights = shaped(arrays, "weights", (len(index.keys),))
        return Splitter(language=header["language"], index=index, weights=weights.astype(np.float32))


def running_texts(treebank: Iterable[Sentence]) -> Iterator[tuple[str, list[int]]]:
    """Yield paragraphs of a treebank: a text with single spaces, and its sentence starts.

    Sentences follow without a space where the last word has ``SpaceAfter=No``. Sentences without ``# text``
    separate paragraphs, as do ``# newpar`` and ``# newdoc``.
    """
    joined, starts = "", list[int]()
    for sentence in treebank:
        own = comment_value(sentence, "text")
        assert sentence.layout is not None
        if starts and (own is None or any(line.startswith(_BREAKS) for line in sentence.layout.lines)):
            yield joined.rstrip(" "), starts
            joined, starts = "", []
        if shown := readable(" ".join((own or "").split()))[0]:
            starts.append(len(joined))
            joined += shown if _goes_on(sentence) else shown + " "
    if starts:
        yield joined.rstrip(" "), starts


def _goes_on(sentence: Sentence) -> bool:
    assert sentence.layout is not None
    rows = [line.rstrip("\r").split("\t") for line in sentence.layout.lines if line[:1].isdigit()]
    last = str(len(sentence))
    return any(row[0].rpartition("-")[2] == last and "SpaceAfter=No" in row[-1].split("|") for row in rows)


def train_splitter(treebank: Sequence[Sentence], *, language: str | None = None) -> Splitter | None:
    """Train on consecutive sentences with ``# text``; return None where there are not two."""
    keys, outcomes = list[Hashes](), list[Mask]()
    for whole, firsts in running_texts(treebank):
        for begin, end in pairwise([*range(0, len(firsts), LONGEST_TEXT), len(firsts)]):
            stop = firsts[end] if end < len(firsts) else len(whole)
            own = whole[firsts[begin] : stop].rstrip(" ")
            wanted = {start - firsts[begin] for start in firsts[begin:end]}
            found = pieces(own)
            # The start of a text is certain.
            keys.append(np.concatenate(start_keys(own, found, set(rule_starts(own, language))))[1:])
            outcomes.append(np.array([place in wanted for place, _ in found[1:]], dtype=bool))
    if not any(one.any() for one in outcomes):
        return None
    all_keys, all_outcomes = np.concatenate(keys), np.concatenate(outcomes)
    seen, counts = np.unique(all_keys, return_counts=True)
    rules = np.concatenate(start_keys("a. B", pieces("a. B"), {3}))[[0, 2], TEMPLATES.index("rule")]
    index = FeatureIndex(np.union1d(seen[(counts >= RAREST) & (seen > 0)], rules))
    prior = np.zeros(len(index.keys))
    prior[index.rows(rules[None])[0]] = -TRUST, TRUST
    weights = _fit(index.rows(all_keys), all_outcomes, prior)
    kept = np.abs(weights) >= FAINTEST
    rounded = weights[kept].astype(np.float16).astype(np.float32)
    return Splitter(language=language, index=FeatureIndex(index.keys[kept]), weights=rounded)


def _fit(rows: Numbers, outcomes: Mask, prior: Floats) -> Floats:
    # Imported here: it takes a tenth of a second, and only training needs it.
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    known = rows >= 0
    starts = starts_of(known.sum(axis=1))
    features = csr_array((np.ones(starts[-1]), rows[known], starts), shape=(len(rows), len(prior)))

    def loss(weights: Floats) -> tuple[float, Floats]:
        away = weights - prior
        own, slopes = logistic_loss(features @ weights, outcomes)
        return own + 0.5 * L2 * float(away @ away), features.T @ slopes + L2 * away

    return minimize(loss, prior, jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "maxcor": 5}).x
