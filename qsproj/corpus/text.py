"""Plain text, one sentence a line, to words and sentences.

Words are cut by sacremoses (the Moses tokeniser) without its escapes. Lines that some earlier tool has
already tokenised, as half of any real bitext has been, come out as their text would: Moses escapes are
undone first, and English clitics that stand apart are put back before they are cut again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.contractions import Contractions, split_contractions
from qsproj.corpus.editing import sentence_from_words
from qsproj.corpus.sentence import Layout, Sentence
from qsproj.errors import DataError, UsageError

if TYPE_CHECKING:
    from sacremoses import MosesTokenizer

# What the Moses tokeniser writes for characters that its decoder reserves; the ampersand comes last, so
# that nothing is undone twice.
_MOSES_ESCAPES = (
    ("&apos;", "'"),
    ("&quot;", '"'),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&#124;", "|"),
    ("&#91;", "["),
    ("&#93;", "]"),
    ("&amp;", "&"),
)
_DETACHED_CLITIC = re.compile(r"(?<=\w) ?(['’]) ?(s|t|re|m|ll|ve|d)(?= |$)", re.IGNORECASE)
_NEGATION = re.compile(r"['’]t", re.IGNORECASE)
# Letters of scripts that put no space between words: kana and Han, Thai, Lao, Burmese, Khmer.
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
)
_UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "my", "km", "yue", "wuu", "lzh"})
# Words of such letters are shorter, but for rare names; and in a line without spaces, of such a language.
_LONGEST_WORD, _LONGEST_LINE = 15, 5
_LANGUAGE_CODE = re.compile("[a-z]{2,3}")
_EMPTY_COLUMNS = "\t".join(UNSPECIFIED * 7)


@lru_cache(maxsize=8)
def _moses(language: str) -> MosesTokenizer:
    from sacremoses import MosesTokenizer

    check_language(language)
    return MosesTokenizer(language)


def check_language(language: str) -> None:
    """Check that a language is given by its code.

    Raises
    ------
    UsageError
        When it is not two or three small letters; the codes that sacremoses has rules for are listed.
    """
    if _LANGUAGE_CODE.fullmatch(language):
        return
    from sacremoses.corpus import NonbreakingPrefixes

    known = {"ja", "ko", *NonbreakingPrefixes().available_langs.values()}
    raise UsageError(
        f"found language {language!r}, expected a code of two or three small letters; "
        f"with rules of their own: {', '.join(sorted(known))}; others are cut as English is"
    )


def tokenize(line: str, language: str) -> list[str]:
    """Return the words of one line of text.

    Parameters
    ----------
    line : str
        Raw or already tokenised text; a line end is ignored.
    language : str
        Code of two or three letters; it decides which abbreviations keep their full stop and how apostrophes
        are cut. A language that sacremoses does not know has the abbreviations of English.

    Returns
    -------
    list of str
        Empty for a blank line. Without white space inside words, except that no-break spaces never occur
        either. English negation is cut as treebanks cut it: ``do`` + ``n't``, not ``don`` + ``'t``.

    Raises
    ------
    UsageError
        See :func:`check_language`.
    """
    words: list[str] = _moses(language).tokenize(normalise(line, language), escape=False)
    return _negations_as_in_treebanks(words) if language == "en" else words


def normalise(line: str, language: str) -> str:
    """Return the text that :func:`tokenize` cuts: white space single, escapes and detached clitics undone."""
    text = " ".join(line.split())
    if "&" in text:
        for escape, character in _MOSES_ESCAPES:
            text = text.replace(escape, character)
    return _DETACHED_CLITIC.sub(r"\1\2", text) if language == "en" else text


def _negations_as_in_treebanks(words: list[str]) -> list[str]:
    """Move the n of a negated auxiliary: ``ca`` + ``n't``, as the Penn and UD treebanks have it."""
    result = list(words)
    for i in range(1, len(words)):
        if _NEGATION.fullmatch(words[i]) and len(words[i - 1]) > 1 and words[i - 1][-1] in "nN":
            result[i - 1] = words[i - 1][:-1]
            result[i] = words[i - 1][-1] + words[i]
    return result


def read_text(
    lines: Iterable[str], language: str, *, contractions: Contractions | None = None, name: str = "text"
) -> Iterator[Sentence]:
    """Yield one sentence for each line, so that line-aligned files stay aligned.

    A blank line, which CoNLL-U cannot hold, becomes a sentence of the single word ``_``; ``sent_id`` is
    the line number. Tokens in ``contractions`` are split into words under a range row.

    Raises
    ------
    UsageError
        See :func:`check_language`.
    DataError
        When the words of a line are not parted by spaces, as in Chinese or Japanese; ``name`` is its file's.
    """
    for number, line in enumerate(lines, start=1):
        _check_has_spaces(line, language, name, number)
        tokens = tokenize(line, language) or [UNSPECIFIED]
        yield sentence_from_text(
            tokens, normalise(line, language), sent_id=str(number), contractions=contractions or {}
        )


def _check_has_spaces(line: str, language: str, name: str, number: int) -> None:
    """Raise DataError for a line that rules would take for few and very long words."""
    longest = max(map(len, _UNSPACED.findall(line)), default=0)
    without_space = language in _UNSPACED_LANGUAGES and len(line.split()) == 1
    if longest > (_LONGEST_LINE if without_space else _LONGEST_WORD):
        raise DataError(
            name,
            number,
            found=f"{longest} letters without a space, in a script that does not part words",
            expected="words",
            remedy="train the tagger on a treebank with SpaceAfter=No in MISC, to learn where words end; "
            "or put spaces between them",
        )


def sentence_from_text(
    tokens: Sequence[str], text: str, *, sent_id: str, contractions: Contractions
) -> Sentence:
    """Return an unannotated sentence with the layout that writes it as valid CoNLL-U.

    ``text`` is what the tokens were cut from: it decides ``SpaceAfter=No``. Where the tokens cannot be
    found in it one after the other, the text is taken to be the tokens with single spaces.
    """
    gaps = _space_after(tokens, text)
    if gaps is None:
        text, gaps = " ".join(tokens), [True] * len(tokens)
    words, ranges = split_contractions(tokens, contractions)
    lines = [f"# sent_id = {sent_id}", f"# text = {text}"]
    word_lines = []
    spans = {span.first: span for span in ranges}
    number = 1
    for token, gap in zip(tokens, gaps, strict=True):
        misc = UNSPECIFIED if gap else "SpaceAfter=No"
        span = spans.get(number)
        if span is not None:
            lines.append(f"{span.first}-{span.last}\t{token}\t{_EMPTY_COLUMNS}\t{misc}")
            misc = UNSPECIFIED
        for _ in range(1 if span is None else span.last - span.first + 1):
            word_lines.append(len(lines))
            lines.append(f"{number}\t{words[number - 1]}\t{_EMPTY_COLUMNS}\t{misc}")
            number += 1
    plain = sentence_from_words(words, sent_id=sent_id)
    return replace(plain, layout=Layout(lines=tuple(lines), word_lines=tuple(word_lines)))


def _space_after(tokens: Sequence[str], text: str) -> list[bool] | None:
    """Return whether white space follows each token in ``text``; None where the tokens do not spell it."""
    gaps = []
    position = 0
    for token in tokens:
        if not text.startswith(token, position):
            return None
        position += len(token)
        gap = text.startswith(" ", position)
        position += gap
        gaps.append(gap or position == len(text))
    return gaps if position == len(text) else None
