"""Argument types for columns of words."""

import argparse


def column_names(text: str) -> tuple[str, ...]:
    """Read a list of columns; an argument type for ``add_argument``."""
    names = tuple(name.strip().lower() for name in text.split(","))
    known = ("upos", "xpos", "feats", "lemma")
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"found {name!r}, expected some of {', '.join(known)}")
    return names
