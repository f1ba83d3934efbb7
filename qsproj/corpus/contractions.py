"""Multiword tokens: learn how a treebank splits surface tokens into words, and split plain text.

UD treebanks write German *am* as the two words *an dem* under a range row; a tokeniser leaves *am* whole.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, product

from qsproj.corpus.characters import MOST_REMEMBERED, plain_form
from qsproj.corpus.files import packaged_rows
from qsproj.corpus.sentence import Sentence

Contractions = Mapping[str, tuple[str, ...]]

# Armenian marks of emphasis, exclamation and question are on vowels; in treebanks they are words, in a range.
MARKS_ON_WORDS = "\u055b\u055c\u055e"
_ON_WORD = re.compile(f"[{MARKS_ON_WORDS}]")


def tokens_of(sentence: Sentence) -> list[tuple[int, str, int]]:
    """Return the surface tokens of a sentence: first word, form, number of words in its range or 0."""
    tokens = [(word, form, 0) for word, form in enumerate(sentence.forms, start=1)]
    for span in reversed(sentence.multiword_tokens):
        tokens[span.first - 1 : span.last] = [(span.first, span.form, span.last - span.first + 1)]
    return tokens


CLAUSE = "^"  # in table keys: the word before the first word of a clause
# After these a token is split like the last one of its form in the sentence: *des hommes et des femmes*.
_CONJUNCTIONS = frozenset({",", "et", "ou", "ni", "e", "ed", "o", "od", "i", "y", "né"})
_WHOLE = ("",)  # the reading of a token that is not split
_LEAST_SEEN = 2  # occurrences after a word for a row of its own


def learn_contractions(sentences: Sequence[Sentence]) -> dict[str, tuple[str, ...]]:
    """Return the most frequent split of each lower-cased surface token, or of one after certain words."""
    found: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    behind: dict[tuple[str, str], Counter[tuple[str, ...]]] = defaultdict(Counter)
    tokenized = list(map(tokens_of, sentences))
    ever_split = {token_key(form) for tokens in tokenized for _, form, count in tokens if count > 1}
    for sentence, tokens in zip(sentences, tokenized, strict=True):
        forms = [form for _, form, _ in tokens]
        for at, (first, form, count) in enumerate(tokens):
            if (token := token_key(form)) in ever_split:
                words = tuple(map(token_key, sentence.forms[first - 1 : first - 1 + max(count, 1)]))
                found[token][words] += 1
                before = _as_context(token_key(forms[at - 1])) if at else CLAUSE
                behind[before, token][words] += 1
    table = {token: _commonest(counts, token) for token, counts in found.items()}
    rows = {
        f"{before} {token}": words
        for (before, token), counts in behind.items()
        if (words := _commonest(counts, token)) != table[token] and counts[words] >= _LEAST_SEEN
    }
    split = {token: words for token, words in table.items() if words != (token,)}
    return dict(sorted((split | rows).items()))


@lru_cache(maxsize=MOST_REMEMBERED)
def token_key(form: str) -> str:
    """Return the key of a token in a table of contractions, or a word of it."""
    return plain_form(form).lower()


def _commonest(counts: Counter[tuple[str, ...]], token: str) -> tuple[str, ...]:
    """Return the most frequent reading of a token, the first of equals; split only if more than half are."""
    splits = [(-count, words) for words, count in counts.items() if len(words) > 1]
    return min(splits)[1] if splits and -min(splits)[0] > counts[token,] else (token,)


@lru_cache(maxsize=MOST_REMEMBERED)
def _as_context(key: str) -> str:
    """Return the key of the word before a token, CLAUSE for punctuation other than a comma."""
    return key if key == "," or key.isalnum() or any(map(str.isalnum, key)) else CLAUSE


def words_of_tokens(tokens: Sequence[str], table: Contractions) -> list[list[str]]:
    """Return the words of each token of a sentence; tokens in ``table`` or with marks are split."""
    if not table and not _ON_WORD.search(" ".join(tokens)):
        return [[token] for token in tokens]
    found, before = list[list[str]](), CLAUSE
    last: dict[str, tuple[str, ...]] = {}
    for token, key in zip(tokens, map(token_key, tokens), strict=True):
        listed = last.get(key) if before in _CONJUNCTIONS else None
        last[key] = listed = listed or table.get(f"{before} {key}") or table.get(key) or _WHOLE
        if len(listed) > 1:
            found.append(cased_like(token, listed))
        else:
            found.append([token] if token.isascii() else _without_marks(token))
        before = _as_context(key)
    return found


def _without_marks(token: str) -> list[str]:
    """Return a word and the marks on it; a token of only marks is not split."""
    bare = _ON_WORD.sub("", token)
    return [bare, *_ON_WORD.findall(token)] if bare and bare != token else [token]


def cased_like(token: str, parts: tuple[str, ...]) -> list[str]:
    """Return lower-cased words in the case of their token."""
    if len(token) > 1 and token.isupper():
        return [part.upper() for part in parts]
    return [parts[0][0].upper() + parts[0][1:], *parts[1:]] if token[0].isupper() else list(parts)


def merge_contractions(sentence: Sentence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (forms, UPOS) with each multiword token as one word, with the tag of its first word."""
    tokens = tokens_of(sentence)
    return tuple([form for _, form, _ in tokens]), tuple([sentence.upos[first - 1] for first, *_ in tokens])


# Contractions of UD treebanks, used without training sentences: language code, then rows of a token and its
# words, then words after which a token is not split (French *avec des* has an article). They are closed lists
# of contractions of a preposition with an article or pronoun, or of a conjunction with an auxiliary. Verbal
# clitics (Spanish *verlo*) are an open class, learned by tokenisers.
_TABLE = {language: cells for language, *cells in packaged_rows(__file__, "language/contractions.tsv")}
LANGUAGES = frozenset(_TABLE)  # languages with a table


@cache
def contractions_of(language: str | None) -> Contractions:
    """Return the lower-cased contractions of a language, an empty table for an unknown one."""
    rows = (row.split() for row in _TABLE.get(language or "", [""])[0].split(";"))
    return {row[0]: tuple(row[1:]) for row in rows if row}


def _whole_behind(language: str | None) -> Contractions:
    """Return rows of a word and a following token that is not split there: ``avec des``."""
    rows = (row.partition(":") for row in "".join(_TABLE.get(language or "", [""])[1:]).split(";"))
    pairs = chain.from_iterable(product(tokens.split(), behind.split()) for tokens, _, behind in rows)
    return {f"{before} {token}": (token,) for token, before in pairs}


def known_contractions(
    language: str | None, sentences: Iterable[Sentence] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the contractions of sentences, with those of the language table that they do not contradict."""
    seen, behind = list(sentences), _whole_behind(language)
    table = {**contractions_of(language), **behind}
    doubtful = {key.rpartition(" ")[2] for key in behind}
    agreed: Counter[str] = Counter()
    for tokens in map(tokens_of, seen):
        forms = [form for _, form, _ in tokens]
        for (_, form, count), words in zip(tokens, words_of_tokens(forms, table), strict=True):
            token = token_key(form)
            if token in doubtful:
                agreed[token] += 1 if (count > 1) == (len(words) > 1) else -1
            elif count == 0:
                agreed[token] = -1
    kept = {key: words for key, words in table.items() if agreed[key.rpartition(" ")[2]] >= 0}
    return dict(sorted((kept | learn_contractions(seen)).items()))
