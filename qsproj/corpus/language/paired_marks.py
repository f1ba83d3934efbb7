"""Brackets and quotation marks that belong together."""

from collections.abc import Sequence

# What closes an opening mark; German closes with the mark that opens in English, and some print »so«.
_CLOSING = {
    "(": ")",
    "[": "]",
    "{": "}",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "“": "”",
    "„": "“”",
    "‘": "’",
    "‚": "‘’",
    "``": ("''",),
    "<<": (">>",),
    ">>": ("<<",),
    '"': '"',
    "（": "）",
    "「": "」",
    "『": "』",
    "《": "》",
    "【": "】",
}


def paired_marks(forms: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places 1..n of marks that open and close; what is left open is no pair."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for place, form in enumerate(forms, start=1):
        closed = next((i for i in reversed(opened) if form in _CLOSING[forms[i - 1]]), None)
        if form and closed is not None:
            found.append((closed, place))
            del opened[opened.index(closed) :]
        elif form in _CLOSING:
            opened.append(place)
    return found
