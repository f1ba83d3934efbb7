"""Edit scripts: how the lemma is made of the form, the same for words that inflect alike.

``ging -> gehen`` is "take away nothing, then ing, and put ehen after". A script is text, as it is stored.
"""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

AS_IT_IS, LOWER, TITLE, UPPER = "as", "lower", "title", "upper"
# The lemma is the script's own, whatever the form.
WHOLE = "whole"
_CASINGS: dict[str, Callable[[str], str]] = {
    LOWER: str.lower,
    TITLE: lambda text: text[:1].upper() + text[1:].lower(),
    UPPER: str.upper,
    AS_IT_IS: lambda text: text,
}
# A form and a lemma that share less are a pair of words, not of an inflection.
SHARED = 1


def cased_as(casing: str, form: str) -> str:
    """Return a form as scripts of a casing see it."""
    return _CASINGS.get(casing, _CASINGS[AS_IT_IS])(form)


class EditScript(NamedTuple):
    """What is cut off and put on at both ends of a form, and how the lemma is cased.

    ``casing``: ``lower``, ``title`` and ``upper`` change the form first; ``as`` leaves it. ``whole``: the
    lemma is ``suffix``, whatever the form. ``cut_prefix``, ``prefix``, ``cut_suffix``, ``suffix``: of the
    form as cased.
    """

    casing: str
    cut_prefix: str = ""
    prefix: str = ""
    cut_suffix: str = ""
    suffix: str = ""

    def fits(self, form: str) -> bool:
        """Tell whether the form, cased already, has what is to be cut off."""
        room = len(self.cut_prefix) + len(self.cut_suffix)
        return (
            len(form) >= room + (self.casing != WHOLE)
            and form.startswith(self.cut_prefix)
            and form.endswith(self.cut_suffix)
        )

    def apply(self, form: str) -> str | None:
        """Return the lemma of a form; None where the script does not fit."""
        if self.casing == WHOLE:
            return self.suffix
        cased = _CASINGS[self.casing](form)
        if not self.fits(cased):
            return None
        return self.prefix + cased[len(self.cut_prefix) : len(cased) - len(self.cut_suffix)] + self.suffix

    def text(self) -> str:
        """Return the script in one line, by which its features are hashed."""
        return "\t".join(self)

    @staticmethod
    def from_fields(fields: Sequence[str]) -> "EditScript":
        """Make a script of its five fields.

        Raises ValueError when these are no script.
        """
        if len(fields) != 5 or fields[0] not in (*_CASINGS, WHOLE):
            raise ValueError(f"found {list(fields)!r:.60}, expected the five fields of an edit script")
        return EditScript(*fields)


def edit_script(form: str, lemma: str) -> EditScript:
    """Return the script that makes the lemma of the form, with the longest stem that both share."""
    for casing, cased in _CASINGS.items():
        if cased(lemma) == lemma or casing == AS_IT_IS:
            own = cased(form)
            stem = SequenceMatcher(None, own, lemma, autojunk=False).find_longest_match()
            if stem.size >= SHARED:
                ends = own[stem.a + stem.size :], lemma[stem.b + stem.size :]
                return EditScript(casing, own[: stem.a], lemma[: stem.b], *ends)
    return EditScript(WHOLE, suffix=lemma)
