"""Codes of languages, as far as a short list can tell."""

from __future__ import annotations

from qsproj.corpus.text import check_language
from qsproj.errors import UsageError

# All codes of ISO 639-1: first letters, each with the second letters that may follow.
_LETTERS = (
    "aabefkmnrsvyz baeghimnors caehorsuvy daevz eelnostu fafijory gadlnuv haeiortuyz iadegikostu jav "
    "kagijklmnorsuvwy labginotuv mghiklnrsty nabdeglnorvy ocjmrs pailst qu rmnouw "
    "sacdeghiklmnoqrstuvw taeghiklnorstwy ugkrz veio wao xh yio zahu"
)
TWO_LETTERS = frozenset(row[0] + second for row in _LETTERS.split() for second in row[1:])


def check_known_language(language: str) -> None:
    """Check that a code of two letters is one of ISO 639-1; those of three letters are too many to list.

    Raises UsageError when it is not, or :func:`~qsproj.corpus.text.check_language` refuses it.
    """
    check_language(language)
    if len(language) == 2 and language not in TWO_LETTERS:
        raise UsageError(
            f"found language {language!r}, expected a code of ISO 639: two letters (en, de), or three where "
            "a language has no two; for one without a code take qaa to qtz. Languages that sacremoses has no "
            "rules for are cut into words as English is, or as tagged sentences show it"
        )
