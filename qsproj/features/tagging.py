"""Features of the tagger: attributes of word types, templates that join them in context, word classes.

Templates are text: ``lower-1 & suffix3`` joins the lower-cased previous word to the last letters of this one.
Words with similar neighbours get the same class, by exchange clustering (Martin, Liermann and Ney 1998).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np

from qsproj.conventions import Numbers, Rng
from qsproj.corpus.cells import OUTSIDE
from qsproj.corpus.characters import MOST_REMEMBERED, lower_case, lower_form, plain_form
from qsproj.features.hashing import pair_templates, stable_hash
from qsproj.kernels.tagging.word_classes import exchange_pass

LONGEST_AFFIX = 5
WORD_ATTRIBUTES = (
    *("kind", "form", "lower"),
    *(f"{affix}{length}" for affix in ("prefix", "suffix") for length in range(1, LONGEST_AFFIX + 1)),
    "shape",
)

# Attributes of spelling; a word for which all of them are unseen has unseen characters.
SPELLING = WORD_ATTRIBUTES[1:-1]
# For the morphological features of words, which long endings express.
LONG_SUFFIXES = ("suffix6", "suffix7")
# The longest known lemma at the start of a word, and the ending after it: evler is ev and ler.
STEM_AND_ENDING, SHORTEST_STEM = ("stem", "ending"), 2

WORD_TEMPLATES = (
    *WORD_ATTRIBUTES,
    *("lower-2", "lower-1", "lower+1", "lower+2"),
    *("suffix2-1", "suffix3-1", "suffix2+1", "suffix3+1", "shape-1", "shape+1"),
    # Kind of the previous word: a capital after a full stop, a quotation mark or nothing is uninformative.
    "shape & kind-1",
    *("lower-1 & lower", "lower & lower+1", "lower-1 & lower+1", "lower-1 & lower-2", "lower+1 & lower+2"),
    *("lower-1 & suffix3", "lower+1 & suffix3", "suffix3-1 & suffix3", "suffix3 & suffix3+1"),
    *("suffix2 & kind", "suffix3 & kind"),
)

# One copy for each set of word classes, whose name replaces CLASS.
CLASS_TEMPLATES = (
    *("CLASS", "CLASS-2", "CLASS-1", "CLASS+1", "CLASS+2"),
    *("CLASS-1 & CLASS", "CLASS & CLASS+1", "CLASS-1 & CLASS+1"),
    *("CLASS & shape", "CLASS-1 & suffix3", "CLASS+1 & suffix3"),
)

_SIGN_AND_NUMBER = re.compile(r"(?:[Nn][ro]?\.?|№)?[°ºª№#]?\.?\d[\d.,/-]*[°ºª]?")
_DIGIT, _QUOTES = re.compile(r"[0-9]"), re.compile("[„“”«»‹›]|``|''")
# Beyond this number of types the table is cleared, to tag unlimited text in bounded memory.
_MOST_TYPES = 1 << 18

Classes = Mapping[str, int]
REACH = 2  # places OUTSIDE between sentences encoded as one: templates read no farther


def as_one(sentences: Iterable[Sequence[str]]) -> tuple[list[str], list[slice]]:
    """Return the cells of several sentences with places OUTSIDE between them, and where each sentence is."""
    cells, places = list[str](), list[slice]()
    for sentence in sentences:
        cells += [OUTSIDE] * REACH if places else []
        places.append(slice(len(cells), len(cells) + len(sentence)))
        cells += sentence
    return cells, places


def templates_with(class_sets: Sequence[str]) -> tuple[str, ...]:
    of_classes = (one.replace("CLASS", name) for name in class_sets for one in CLASS_TEMPLATES)
    return (*WORD_TEMPLATES, *of_classes)


def compiled(templates: Sequence[str], class_sets: Sequence[str]) -> Numbers:
    return pair_templates(templates, (*WORD_ATTRIBUTES, *LONG_SUFFIXES, *STEM_AND_ENDING, *class_sets))


class WordTable:
    """Word types seen so far, numbered, and their attributes; -1 is OUTSIDE.

    ``lemmas``: maps each lemma to its only form, in lower case, or to an empty text where it has several.
    ``attributes`` uint64[V', A] with V' >= V: attribute codes of the word types, 0 for a missing one.
    """

    def __init__(self, class_sets: Mapping[str, Classes], lemmas: Mapping[str, str] | None = None) -> None:
        self._classes = tuple(class_sets.values())
        self._lemmas = lemmas or {}
        self._numbers = {OUTSIDE: -1}
        width = len(WORD_ATTRIBUTES) + len(LONG_SUFFIXES) + len(STEM_AND_ENDING) + len(self._classes)
        self.attributes = np.zeros((1024, width), dtype=np.uint64)

    def encode(self, forms: Sequence[str]) -> Numbers:
        """Return the types of the words, int32[n]; valid until the next call for other words."""
        if len(self._numbers) > _MOST_TYPES:
            self._numbers = {OUTSIDE: -1}
        numbers = self._numbers
        found = list(map(numbers.get, forms))
        if None in found:
            for form in forms:
                if form not in numbers:
                    self._add(form)
            found = list(map(numbers.get, forms))
        return np.array(found, dtype=np.int32)

    def _add(self, form: str) -> None:
        number = self._numbers[form] = len(self._numbers) - 1
        if number == len(self.attributes):
            self.attributes = np.vstack([self.attributes, np.zeros_like(self.attributes)])
        form = plain_form(form)
        lower, spelling = _spelling(form)
        cut = _stem_and_ending(form, lower, self._lemmas) if self._lemmas else ("", "")
        classes = (known.get(form, known.get(lower_form(form), -1)) + 1 for known in self._classes)
        self.attributes[number] = np.array([*spelling, *map(_code, cut), *classes], dtype=np.uint64)


@lru_cache(maxsize=MOST_REMEMBERED)
def _spelling(form: str) -> tuple[str, tuple[int, ...]]:
    texts = word_attributes(form)
    lower = texts[WORD_ATTRIBUTES.index("lower")]
    longer = (lower[-size:] if size <= len(lower) else "" for size in (LONGEST_AFFIX + 1, LONGEST_AFFIX + 2))
    return lower, tuple(map(_code, (*texts, *longer)))


def _code(text: str) -> int:
    return stable_hash(text) | 1 if text else 0


def _stem_and_ending(form: str, lower: str, lemmas: Mapping[str, str]) -> tuple[str, str]:
    """Split a word after the longest lemma of another word; return empty texts where there is none."""
    for length in range(len(form), SHORTEST_STEM - 1, -1):
        for stem in (form[:length], lower[:length]):
            if lemmas.get(stem, lower) != lower:
                # The empty ending counts as well.
                return stem, f"-{lower[length:]}"
    return "", ""


def word_kind(form: str) -> str:
    return _kind(_plain(form))


def _plain(form: str) -> str:
    return _QUOTES.sub('"', _DIGIT.sub("0", form))


def word_attributes(form: str) -> tuple[str, ...]:
    """Return the text of each of ``WORD_ATTRIBUTES``; digits become 0, quotation marks ``"``."""
    plain = _plain(form)
    lower, lengths = lower_case(plain), range(1, LONGEST_AFFIX + 1)
    prefixes = (lower[:length] if length <= len(lower) else "" for length in lengths)
    suffixes = (lower[-length:] if length <= len(lower) else "" for length in lengths)
    return _kind(plain), form, lower, *prefixes, *suffixes, _shape(plain)


@lru_cache(maxsize=1 << 14)
def likely_tags(form: str) -> tuple[str, ...]:
    """Return the tags, the likeliest first, of a word of unseen characters, such as n°12; empty: any tag."""
    plain = plain_form(form)
    if _SIGN_AND_NUMBER.fullmatch(plain):
        return () if form.isascii() else ("NUM", "X")
    categories = {unicodedata.category(character)[0] for character in plain}
    if categories <= {"S", "M", "C"}:
        return "SYM", "PUNCT"
    if categories <= {"P", "S", "M", "C"}:
        return "PUNCT", "SYM"
    return () if form.isascii() or not categories <= {"L", "M", "C"} else ("PROPN", "X")


def _kind(form: str) -> str:
    if not any(character.isalnum() for character in form):
        return form
    if form[0].isdigit():
        return "0"
    if len(form) > 1 and form.isupper():
        return "XX"
    return "X" if form[0].isupper() else "x"


def _shape(form: str) -> str:
    """Return the word with letters as X and x, other signs by Unicode category, runs cut to two."""
    shape: list[str] = []
    for character in form:
        if character.isalpha():
            sign = "X" if character.isupper() else "x"
        else:
            sign = character if character in "-0" else unicodedata.category(character)
        if shape[-2:] != [sign, sign]:
            shape.append(sign)
    return "".join(shape)


# Classes of sentence boundaries and of words rarer than RAREST; those of other words start from RESERVED.
BOUNDARY_CLASS, RARE_CLASS, RESERVED = range(3)
# Passes over the vocabulary; fewer when few words move.
RAREST, PASSES = 2, 8


def class_sets_of(
    sentences: Sequence[Sequence[str]], *, lower: int, cased: int = 0, rng: Rng | None = None
) -> dict[str, Classes]:
    """Return sets of this many classes of lower-cased words and of words, by name; none for 0."""
    kinds = ("lowerclass", lower, lower_form), ("casedclass", cased, plain_form)
    wanted = ((name, count, form) for name, count, form in kinds if count)
    return {
        name: word_classes([list(map(form, one)) for one in sentences], n, rng) for name, n, form in wanted
    }


def word_classes(
    sentences: Sequence[Sequence[str]], n_classes: int, rng: Rng | None = None
) -> dict[str, int]:
    """Return classes below ``n_classes``, at least 3, of words that occur at least RAREST times.

    Words start in the classes in turn, by frequency; with ``rng``, words of similar frequency are shuffled.
    """
    # Imported here: it takes a tenth of a second, and tagging does not need it.
    from scipy import sparse

    counts = Counter(chain.from_iterable(sentences))
    frequent = [word for word, count in counts.items() if count >= RAREST]
    vocabulary = sorted(frequent, key=lambda word: (-counts[word], word))
    numbers = {word: number for number, word in enumerate(vocabulary, start=RESERVED)}
    numbered = ([*(numbers.get(word, RARE_CLASS) for word in one), BOUNDARY_CLASS] for one in sentences)
    text = np.fromiter(chain([BOUNDARY_CLASS], chain.from_iterable(numbered)), dtype=np.int64)
    n_words = len(vocabulary) + RESERVED
    cells = np.ones(len(text) - 1, dtype=np.int64), (text[:-1], text[1:])
    bigrams = sparse.coo_array(cells, shape=(n_words, n_words)).tocsr()
    matrices = bigrams, bigrams.T.tocsr()
    links = [(one.indptr.astype(np.int64), one.indices.astype(np.int32), one.data) for one in matrices]
    width = n_classes - RESERVED
    ranks = np.arange(n_words - RESERVED)
    turns = ranks + RESERVED if rng is None else np.argsort(ranks // width + rng.random(ranks.size))
    classes = np.array([BOUNDARY_CLASS, RARE_CLASS, *(turns % width + RESERVED)], dtype=np.int32)
    member_cells = np.ones(n_words, dtype=np.int64), (np.arange(n_words), classes)
    member = sparse.csr_array(member_cells, shape=(n_words, n_classes))
    class_bigrams = np.ascontiguousarray((member.T @ bigrams @ member).toarray())
    left, right = class_bigrams.sum(axis=1), class_bigrams.sum(axis=0)
    sizes = np.arange(int(bigrams.sum()) + 1, dtype=np.float64)
    entropy = np.zeros(len(sizes))
    entropy[1:] = sizes[1:] * np.log(sizes[1:])
    order = np.arange(RESERVED, n_words)
    for _ in range(PASSES):
        moved = exchange_pass(order, *links, classes, class_bigrams, left, right, entropy)
        if moved < 0.005 * n_words:
            break
    return {word: int(classes[number]) for word, number in numbers.items()}
