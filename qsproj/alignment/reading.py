"""The words of a bitext, from text or CoNLL-U, whichever format a file has."""

import re
from collections.abc import Iterator
from itertools import chain, islice

from qsproj.corpus.bitext import read_bitext
from qsproj.corpus.files import open_text
from qsproj.corpus.formats import format_of, opening
from qsproj.corpus.pairs.aligned import pair_with_text
from qsproj.corpus.pairs.pairing import BY_ID, pair_files
from qsproj.corpus.text import tokenize
from qsproj.corpus.unspaced import UNSPACED, are_parted
from qsproj.errors import DataError, UsageError
from qsproj.progress import notice

Pairs = Iterator[tuple[tuple[str, ...], tuple[str, ...]]]
_LOOKED_AT = 100  # pairs in which to look for raw text
_RAW = re.compile(r"\w{3,}[.!?]")  # its last word in a line


def is_conllu(path: str) -> bool:
    """Return whether a file is CoNLL-U rather than text; ``-``, which cannot be inspected, counts as text."""
    if path == "-":
        return False
    with open_text(path) as lines:
        head = opening(lines)
        return bool(head) and format_of(path, head) is not None


def read_word_pairs(
    source: str, target: str | None = None, *, languages: tuple[str, str] | None = None, pairing: str = BY_ID
) -> Pairs:
    """Yield (source words, target words) of text, CoNLL-U or TMX; ``languages``: codes to tokenise by."""
    formats = [is_conllu(path) for path in (source, target) if path is not None]
    if formats == [True]:
        remedy = "name the file of the other language, too"
        raise UsageError(f"{source} is CoNLL-U and has no translations; {remedy}")
    if target is not None and len(set(formats)) == 2:
        if "-" in (source, target):
            trees = source if formats[0] else target
            raise UsageError(f"found CoNLL-U in {trees} and text in -; name a file, as - is text")
        return _checked(_words_of_either(source, target, languages, trees_first=formats[0]), source, target)
    if languages is not None and all(formats):
        raise UsageError("CoNLL-U is tokenised already; leave out --tokenize")
    if all(formats) and target is not None:
        paired = pair_files(source, target, pairing=pairing)
        return _checked(((one.forms, other.forms) for one, other in paired), source, target)
    return _checked(_words_of_text(source, target, languages), *filter(None, (source, target)))


def _words_of_either(
    source: str, target: str, languages: tuple[str, str] | None, *, trees_first: bool
) -> Pairs:
    trees, text = (source, target) if trees_first else (target, source)
    code = languages[int(trees_first)] if languages else None
    for sentence, words in pair_with_text(trees, text, language=code):
        yield (sentence.forms, words) if trees_first else (words, sentence.forms)


def _words_of_text(source: str, target: str | None, languages: tuple[str, str] | None) -> Pairs:
    codes = languages or (None, None)
    for pair in read_bitext(source, target, languages=languages):
        one, other = (
            tuple(tokenize(text, code) if code else text.split()) for text, code in zip(pair, codes)
        )
        yield one, other


def _checked(pairs: Pairs, *paths: str) -> Pairs:
    """Yield the pairs; DataError if there is none, a notice for equal sides and for sides of raw text."""
    path, head = paths[0], list(islice(pairs, _LOOKED_AT))
    if not head:
        raise DataError(path, None, "no line", "sentence pairs", "check that it is the right file")
    if any(source for source, _ in head) and all(source == target for source, target in head):
        looked_at = f"in the first {len(head)} pairs" if len(head) == _LOOKED_AT else "in all pairs"
        notice(f"{path}: both sides are the same text {looked_at}; check that one is the translation")
    for number, side in enumerate(("source", "target")):
        path = paths[min(number, len(paths) - 1)]
        lines = [" ".join(pair[number]) for pair in head]
        unspaced = sum(len(stretch) for line in lines for stretch in UNSPACED.findall(line))
        if 2 * unspaced > sum(map(len, lines)) and not are_parted(lines):
            remedy = "whole clauses are aligned as words; segment them first (qsproj tokenize -m MODEL)"
            notice(f"{path}: the {side} side has few spaces, in a script without them; {remedy}")
        last = [pair[number][-1] for pair in head if pair[number]]
        raw = list(filter(_RAW.fullmatch, last))
        if 2 * len(raw) > len(last):
            notice(f"{path}: the {side} side has words such as {raw[0]!r}; tokenise raw text: --tokenize")
    yield from chain(head, pairs)
