"""What the tests of projection share."""

from __future__ import annotations

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.pairs.aligned import pair_aligned


@pytest.fixture(scope="session")
def sample():
    """Return the pairs of the sample, trees on both sides."""
    return list(
        pair_aligned(
            read_conllu("corpora/en.conllu"),
            read_conllu("corpora/de.conllu"),
            read_alignments("corpora/en-de.pharaoh"),
        )
    )
