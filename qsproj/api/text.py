"""Readers of plain text and bitexts, and tokenization."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from qsproj.corpus import bitext as bitext_files
from qsproj.corpus.files import PathOrFile, name_of
from qsproj.corpus.formats import open_raw_text
from qsproj.corpus.language.recognition import check_known_language
from qsproj.corpus.language.sentence_ends import read_running_text, rule_starts
from qsproj.corpus.messages import check_type, described
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import lines_of, words_of_lines
from qsproj.corpus.text import read_text as read_lines
from qsproj.errors import UsageError, WrongTypeError, check_name

if TYPE_CHECKING:
    from qsproj.models.tagging.tagger import Tagger
    from qsproj.models.text.text_parser import TextParser


def read_text(
    path_or_file: PathOrFile,
    *,
    language: str | None = None,
    model: Tagger | TextParser | None = None,
    paragraphs: bool = False,
) -> Iterator[Sentence]:
    """Yield the sentences of plain text, one a line, tokenized and without annotation.

    Raises UsageError when neither a language nor a model is given; DataError for CoNLL-U, an empty file, and
    at a line that the language's rules cannot tokenize.

    Parameters
    ----------
    path_or_file : path or open file
        Plain text, or an archive of one file.
    language : str, optional
        Language code; selects the tokenization rules.
    model : Tagger or TextParser, optional
        A model whose trained tokenizer replaces the rules.
    paragraphs : bool
        Split running text into sentences. A line break ends a paragraph, unless lines are wrapped.

    Examples
    --------
    >>> import io
    >>> [one.forms for one in qsproj.read_text(io.StringIO("Der Hund bellt."), language="de")]
    [('Der', 'Hund', 'bellt', '.')]
    """
    name = name_of(path_or_file)
    read = _reader(language, model, name)
    if paragraphs and model is not None:
        of_model: Any = model
        read = partial(of_model.read, paragraphs=True, name=name)
    elif paragraphs:
        read = partial(read_running_text, read=read, starts=partial(rule_starts, language=language))

    def sentences() -> Iterator[Sentence]:
        with open_raw_text(path_or_file) as lines:
            yield from read(lines)

    return sentences()


def _reader(language: str | None, model: Any, name: str) -> Callable[[Iterable[str]], Iterator[Sentence]]:
    if model is not None:
        tagger = getattr(model, "tagger", model)
        if not hasattr(tagger, "reader"):
            raise WrongTypeError(f"found {described(model)} as model, expected a tagger or a text model")
        return tagger.reader(name=name)
    if language is None:
        raise UsageError('found neither language nor model, expected one, to tokenise text: language="de"')
    check_known_language(language)
    return partial(read_lines, language=language, name=name)


def tokenize(
    text: str | Iterable[str], *, language: str | None = None, model: Tagger | TextParser | None = None
) -> list[tuple[str, ...]]:
    """Return the words of each line of a text; none for a blank line.

    Raises as :func:`read_text`.

    Parameters
    ----------
    text : str or iterable of str
        Lines, one sentence each.
    language, model
        As :func:`read_text`.

    Examples
    --------
    >>> qsproj.tokenize("Der Hund bellt.", language="de")
    [('Der', 'Hund', 'bellt', '.')]
    """
    read = _reader(language, model, "text")
    check_type(text, Iterable, "a text, or its lines", "text")
    lines = lines_of(text) if isinstance(text, str) else list(text)
    for number, line in enumerate(lines, start=1):
        check_type(line, str, "a string", f"line {number}")
    return list(words_of_lines(lines, read))


def read_bitext(
    source: PathOrFile,
    target: PathOrFile | None = None,
    *,
    languages: tuple[str, str] | None = None,
    paired_by: str = "line",
) -> Iterator[tuple[str, str]]:
    r"""Yield the pairs (source, target) of a bitext.

    Raises DataError when files have unequal numbers of lines or are CoNLL-U, or a line has no separator.

    Parameters
    ----------
    source, target : path or open file
        Two files, one sentence a line; or one file of pairs separated by a tab or ``|||``, or TMX.
    languages : (str, str), optional
        Codes of source and target, for TMX with more than two languages.
    paired_by : str
        ``line``; or ``verse``: both are files of reference, tab, text (``MAT 1:5``), or Bibles in USFM or
        USX, and verses of the same reference are paired.

    Examples
    --------
    >>> import io
    >>> list(qsproj.read_bitext(io.StringIO("the dog\tder Hund\n")))
    [('the dog', 'der Hund')]
    """
    from qsproj.pipelines.bootstrap.texts import PAIRED_BY, VERSE
    from qsproj.pipelines.bootstrap.verses import paired_verses

    check_name("pairing", paired_by, PAIRED_BY)
    if paired_by != VERSE:
        return bitext_files.read_bitext(source, target, languages=languages)
    if not all(isinstance(side, str | PathLike) for side in (source, target)):
        raise UsageError("found no two paths, expected two files of verses: paired_by='verse'")
    verses = paired_verses(str(source), str(target), Counter())
    return ((one, other) for _, one, other in verses)
