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


# Stands for the word before one that begins a clause, in keys of a table.
CLAUSE = "^"
# After these a token is read as the last of its kind in the sentence: *des hommes et des femmes*.
_CONJUNCTIONS = frozenset({",", "et", "ou", "ni", "e", "ed", "o", "od", "i", "y", "né"})
# Of tagged sentences so many places behind a word show that a token is read otherwise there.
_LEAST_SEEN = 2


def learn_contractions(sentences: Iterable[Sentence]) -> dict[str, tuple[str, ...]]:
    """Return what each lower-cased surface token is split into by most of its occurrences.

    A token that mostly stands as one word is left out, as German *in* is and *ins* is not; one that is read
    otherwise behind some words has rows for these: French *des* is split, ``avec des`` is *des*. Sorted, so
    that the same treebank gives the same table.
    """
    found: dict[str, Counter[tuple[str, ...]]] = {}
    behind: dict[tuple[str, str], Counter[tuple[str, ...]]] = {}
    for sentence in sentences:
        tokens = tokens_of(sentence)
        forms = [form for _, form, _ in tokens]
        for at, (first, form, count) in enumerate(tokens):
            token = form.lower()
            words = tuple(word.lower() for word in sentence.forms[first - 1 : first - 1 + max(count, 1)])
            found.setdefault(token, Counter())[words] += 1
            behind.setdefault((_before(forms, at), token), Counter())[words] += 1
    table = {
        token: _commonest(counts, token) for token, counts in found.items() if len(max(counts, key=len)) > 1
    }
    rows = {
        f"{before} {token}": words
        for (before, token), counts in behind.items()
        if token in table
        and (words := _commonest(counts, token)) != table[token]
        and counts[words] >= _LEAST_SEEN
    }
    split = {token: words for token, words in table.items() if words != (token,)}
    return dict(sorted((split | rows).items()))


def _commonest(counts: Counter[tuple[str, ...]], token: str) -> tuple[str, ...]:
    """Return how a token is read most often: split only where more than half are, the first of equals."""
    whole = counts[token,]
    splits = [(-count, words) for words, count in counts.items() if len(words) > 1]
    return min(splits)[1] if splits and -min(splits)[0] > whole else (token,)


def _before(tokens: Sequence[str], at: int) -> str:
    """Return the word before a token, in lower case: CLAUSE behind a sign other than a comma."""
    before = tokens[at - 1].lower() if at else CLAUSE
    return before if before == "," or any(map(str.isalnum, before)) else CLAUSE


def words_of_tokens(tokens: Sequence[str], table: Contractions) -> list[list[str]]:
    """Return the words of each token of a sentence: those in ``table``, or marked, have several.

    Case carries over: *Im* gives *In dem*, *IM* gives *IN DEM*. A row for the token and the word before it
    goes first.
    """
    found = []
    last: dict[str, tuple[str, ...]] = {}
    for at, token in enumerate(tokens):
        lower, before = token.lower(), _before(tokens, at)
        listed = (
            (last.get(lower) if before in _CONJUNCTIONS else None)
            or table.get(f"{before} {lower}")
            or table.get(lower, (token,))
        )
        last[lower] = listed
        found.append(cased_like(token, listed) if len(listed) > 1 else _without_marks(token))
    return found


def split_contractions(tokens: Sequence[str], table: Contractions) -> tuple[list[str], list[MultiwordToken]]:
    """Return the words of ``tokens`` (:func:`words_of_tokens`), and the range of each that was split."""
    words: list[str] = []
    ranges = []
    for token, parts in zip(tokens, words_of_tokens(tokens, table), strict=True):
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
# and its words, then words behind which some tokens are none: French *avec des* has an article. Closed lists
# of one word for a preposition and an article or pronoun, or for a conjunction and an auxiliary. Clitics
# behind verbs (Spanish *verlo*) are no closed list; tokenisers learn them.
_FILE = Path(__file__).with_name("language") / "contractions.tsv"
_TABLE = {
    language: cells
    for language, *cells in (line.split("\t") for line in _FILE.read_text(encoding="utf-8").splitlines())
}

# Languages with a table.
LANGUAGES = frozenset(_TABLE)


@cache
def contractions_of(language: str | None) -> Contractions:
    """Return what tokens of a language are split into, in lower case; nothing where no table is known."""
    rows = (row.split() for row in _TABLE.get(language or "", [""])[0].split(";"))
    return {row[0]: tuple(row[1:]) for row in rows if row}


def _whole_behind(language: str | None) -> Contractions:
    """Return rows of a word and a token behind it, ``avec des``, that is no contraction there."""
    rows = (row.partition(":") for row in "".join(_TABLE.get(language or "", [""])[1:]).split(";"))
    return {
        f"{before} {token}": (token,)
        for tokens, _, behind in rows
        for token in tokens.split()
        for before in behind.split()
    }


def known_contractions(
    language: str | None, sentences: Iterable[Sentence] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the contractions that sentences show, and of the table those that they do not contradict.

    They contradict it where they leave a token whole; where a token is whole behind some words, if they read
    it otherwise more often than the table does. Sorted by token.
    """
    seen, behind = list(sentences), _whole_behind(language)
    table = {**contractions_of(language), **behind}
    doubtful = {key.rpartition(" ")[2] for key in behind}
    agreed: dict[str, int] = {}
    for sentence in seen:
        tokens = tokens_of(sentence)
        forms = [form for _, form, _ in tokens]
        for (_, form, count), words in zip(tokens, words_of_tokens(forms, table), strict=True):
            token = form.lower()
            if token in doubtful:
                agreed[token] = agreed.get(token, 0) + (1 if (count > 1) == (len(words) > 1) else -1)
            elif count == 0:
                agreed[token] = -1
    kept = {key: words for key, words in table.items() if agreed.get(key.rpartition(" ")[2], 0) >= 0}
    return dict(sorted((kept | learn_contractions(seen)).items()))
