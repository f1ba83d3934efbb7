"""Multiword tokens: how a treebank splits surface tokens into words, learned and applied to plain text.

UD treebanks write German *am* as the two words *an dem* under a range row; a tokeniser leaves *am* whole.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from qsproj.corpus.sentence import Sentence
from qsproj.corpus.token import MultiwordToken, multiword_tokens

Contractions = Mapping[str, tuple[str, ...]]

# Marks of stress, call and question stand on the vowel of an Armenian word; treebanks have each as a word of
# its own behind that word, under one range row.
MARKS_ON_WORDS = "\u055b\u055c\u055e"
_ON_WORD = re.compile(f"[{MARKS_ON_WORDS}]")


def tokens_of(sentence: Sentence) -> list[tuple[int, str, int]]:
    """Return the tokens of a sentence as written: first word, form, words in its range, 0 without one."""
    tokens = [(word, form, 0) for word, form in enumerate(sentence.forms, start=1)]
    for span in reversed(multiword_tokens(sentence)):
        tokens[span.first - 1 : span.last] = [(span.first, span.form, span.last - span.first + 1)]
    return tokens


def learn_contractions(sentences: Iterable[Sentence]) -> dict[str, tuple[str, ...]]:
    """Return what each lower-cased surface token is split into by most of its occurrences.

    A token that mostly stands as one word is left out, as German *in* is and *ins* is not. Sorted by token,
    so that the same treebank gives the same table.
    """
    splits: dict[str, Counter[tuple[str, ...]]] = {}
    whole: Counter[str] = Counter()
    for sentence in sentences:
        covered: set[int] = set()
        for span in multiword_tokens(sentence):
            words = tuple(form.lower() for form in sentence.forms[span.first - 1 : span.last])
            splits.setdefault(span.form.lower(), Counter())[words] += 1
            covered.update(range(span.first - 1, span.last))
        whole.update(form.lower() for i, form in enumerate(sentence.forms) if i not in covered)
    table = {}
    for token in sorted(splits):
        # Of splits equally frequent the alphabetically first, whatever the order of the treebank.
        words, count = min(splits[token].items(), key=lambda item: (-item[1], item[0]))
        if count > whole[token]:
            table[token] = words
    return table


def split_contractions(tokens: Sequence[str], table: Contractions) -> tuple[list[str], list[MultiwordToken]]:
    """Return the words of ``tokens``, and the range of each that was split: in ``table``, or marked.

    Case carries over: *Im* gives *In dem*, *IM* gives *IN DEM*.
    """
    words: list[str] = []
    ranges = []
    for token in tokens:
        listed = table.get(token.lower())
        parts = _without_marks(token) if listed is None else cased_like(token, listed)
        if len(parts) > 1:
            ranges.append(MultiwordToken(len(words) + 1, len(words) + len(parts), token))
        words.extend(parts)
    return words, ranges


def _without_marks(token: str) -> list[str]:
    """Return a word and the marks that stand on it; one of nothing else stays whole."""
    bare = _ON_WORD.sub("", token)
    return [bare, *_ON_WORD.findall(token)] if bare and bare != token else [token]


def cased_like(token: str, parts: tuple[str, ...]) -> list[str]:
    """Return lower-cased words in the case of the token that they are of."""
    if len(token) > 1 and token.isupper():
        return [part.upper() for part in parts]
    if token[0].isupper():
        return [parts[0][0].upper() + parts[0][1:], *parts[1:]]
    return list(parts)


def merge_contractions(sentence: Sentence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (forms, UPOS) with each multiword token as one word, tagged as the first of its words."""
    tokens = tokens_of(sentence)
    return tuple([form for _, form, _ in tokens]), tuple([sentence.upos[first - 1] for first, *_ in tokens])


# Contractions that treebanks of UD split, where no sentence shows them: language code, then rows of the token
# and its words. Closed lists of one word for a preposition and an article or pronoun, or for a conjunction
# and an auxiliary, which are contractions more often than anything else and are split wherever they stand:
# French *des* is an article as well, which is then cut wrongly. Clitics behind verbs (Spanish *verlo*) are no
# closed list; tokenisers learn them.
_FILE = Path(__file__).with_name("language") / "contractions.tsv"
_TABLE = dict(line.split("\t") for line in _FILE.read_text(encoding="utf-8").splitlines())

# Languages with a table.
LANGUAGES = frozenset(_TABLE)


@cache
def contractions_of(language: str | None) -> Contractions:
    """Return what tokens of a language are split into, in lower case; nothing where no table is known."""
    rows = (row.split() for row in _TABLE.get(language or "", "").split(";"))
    return {row[0]: tuple(row[1:]) for row in rows if row}


def known_contractions(
    language: str | None, sentences: Iterable[Sentence] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the contractions that sentences show, and of the table those that they do not leave whole.

    Sorted by token.
    """
    seen = list(sentences)
    whole = {form.lower() for sentence in seen for form in sentence.forms}
    table = {token: words for token, words in contractions_of(language).items() if token not in whole}
    return dict(sorted((table | learn_contractions(seen)).items()))
