"""Lemmas from simplemma, an external package with word lists of many languages."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.language.lexicon import Inflection, Lexicon, read_lexicon
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, unknown_name

SIMPLEMMA = "simplemma"
# Codes of the package that differ from those of qsproj.
OTHER_CODES = {"no": "nb", "bs": "hbs", "hr": "hbs", "sr": "hbs"}
# Words with these tags are looked up as written, others in lower case first.
CASED = ("NOUN", "PROPN")
# Tags for which a word list gives no lemmas.
NOT_LISTED = frozenset({"PUNCT", "SYM", "X"})


def lexicon_of(path: str | None, lemmatizer: str | None, language: str | None) -> Lexicon:
    """Return the lexicon of a file, with a lemmatizer for other words; either may be None.

    Raises UsageError when the package is unknown or not installed, or lacks the language; DataError as
    :func:`read_lexicon`.
    """
    lexicon = Lexicon() if path is None else read_lexicon(path)
    if lemmatizer is None:
        return lexicon
    if lemmatizer != SIMPLEMMA:
        raise unknown_name("lemmatizer", lemmatizer, [SIMPLEMMA])
    if language is None:
        raise UsageError("--lemmatizer needs --language CODE, the language of the lemmas")
    try:
        package = import_module(SIMPLEMMA)
    except ImportError as error:
        raise UsageError(
            f"--lemmatizer: found no package {SIMPLEMMA}; install it: pip install 'qsproj[lemmas]'"
        ) from error
    code = OTHER_CODES.get(language, language)
    try:
        package.is_known("a", code)
    except ValueError as error:
        raise UsageError(
            f"--lemmatizer: {SIMPLEMMA} has no lemmas of {language!r}; give a --lexicon of lemma, form and "
            "features"
        ) from error
    return replace(lexicon, more=partial(_listed, package, code))


def _listed(package: Any, code: str, sentences: Iterable[Sentence]) -> Iterator[Inflection]:
    """Yield each word of tagged sentences that the package lists, once."""
    words = dict.fromkeys(pair for one in sentences for pair in zip(one.forms, one.upos, strict=True))
    for form, tag in words:
        ways = (form, form.lower()) if tag in CASED else (form.lower(), form)
        known = next((way for way in ways if package.is_known(way, code)), None)
        if known is not None and tag not in NOT_LISTED:
            yield Inflection(form, package.lemmatize(known, code), (tag,), UNSPECIFIED)
