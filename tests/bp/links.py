"""Graphs in which any word may depend on any other."""

from __future__ import annotations

import numpy as np

from qsproj.bp.links import chosen_links


def all_links(n):
    """Return ``links`` for every arc over n words."""
    return chosen_links(np.ones((n + 1, n + 1), dtype=bool))
