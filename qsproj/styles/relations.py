"""What the rules need to know of relations and of punctuation marks."""

from __future__ import annotations

from functools import cache
from unicodedata import category

CONJUNCT = "conj"
#: A word's relation to the function word that heads it: ``comp:`` and the relation that was turned round,
#: such as ``comp:case`` or ``comp:aux:pass`` (SUD writes ``comp:aux`` in the same sense).
COMPLEMENT = "comp"
SUBJECTS = frozenset({"nsubj", "csubj"})
#: Parts of one word or name: they stay with the word that they hang on, whatever becomes of it.
INSEPARABLE = frozenset({"fixed", "flat", "goeswith", "reparandum"})

_QUOTES = frozenset("\"'`´")
_BRACKET_OR_QUOTE = frozenset({"Ps", "Pe", "Pi", "Pf"})
_TERMINAL = frozenset(".!?…。！？।؟")


@cache
def base_relation(relation: str) -> str:
    """Return the relation without its subtype (``aux:pass``; ``aux@pass`` in SUD)."""
    return relation.partition(":")[0].partition("@")[0]


@cache
def turned_relation(relation: str) -> str:
    """Return the relation that was turned round to ``comp:RELATION``; empty for any other relation."""
    base, _, turned = relation.partition(":")
    return turned if base == COMPLEMENT else ""


@cache
def is_separator(form: str) -> bool:
    """Tell whether a punctuation mark can separate conjuncts: all but brackets, quotes and full stops."""
    first = form[:1] or '"'
    return first not in _QUOTES and category(first) not in _BRACKET_OR_QUOTE and form not in _TERMINAL


@cache
def is_terminal(form: str) -> bool:
    """Tell whether a punctuation mark ends a sentence: full stops, exclamation and question marks."""
    return form != "" and all(character in _TERMINAL for character in form)
