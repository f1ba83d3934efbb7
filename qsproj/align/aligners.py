"""Word alignment of a bitext by name of method: words in, :class:`~qsproj.corpus.sentence.Alignment` out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from qsproj.align.characters import carry_to_words, check_side, cut_pair
from qsproj.align.eflomal import check_links_only, eflomal_links, find_eflomal
from qsproj.align.encoding import alignable, encode_bitext
from qsproj.align.symmetrize import (
    DEFAULT_THRESHOLD,
    SYMMETRIZATIONS,
    THRESHOLD,
    Posteriors,
    check_symmetrization,
    link_weights,
    symmetrize,
)
from qsproj.corpus.sentence import Alignment, make_alignment
from qsproj.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from qsproj.align.hmm import HmmSettings

# Method, and the symmetrisation that it gets unless another is asked for.
METHODS = {"hmm": THRESHOLD, "eflomal": "grow-diag-final-and"}

Words = Sequence[str]
Pairs = Iterable[tuple[Words, Words]]
# Forward and backward, of each pair; [0, 0] where it cannot be aligned.
Directions = Iterator[tuple[Posteriors, Posteriors]]


def align_words(
    pairs: Pairs,
    *,
    method: str = "hmm",
    symmetrization: str | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    settings: HmmSettings | None = None,
    characters: str | None = None,
) -> Iterator[Alignment]:
    """Align a bitext, learning from nothing but itself.

    Parameters
    ----------
    pairs : iterable of (source words, target words)
        Tokenised sentences. More of them give better alignments.
    method : str
        ``hmm``, built in (:mod:`qsproj.align.hmm`), deterministic; or ``eflomal``, an external program.
    symmetrization : str or None
        How two directions become one, see :func:`qsproj.align.symmetrize.symmetrize`. None:
        ``METHODS[method]``.
    threshold : float
        For the symmetrisation ``threshold``: least mean probability of a link.
    settings : HmmSettings or None
        How ``hmm`` is trained.
    characters : str or None
        The side, ``source``, ``target`` or ``both``, that is written without spaces: its words are cut into
        characters to learn from, see :mod:`qsproj.align.characters`. Links are between words all the same.

    Returns
    -------
    iterator of Alignment
        One for each pair; without links where a side is empty or both are very long (more than 2^22 word
        pairs). With weights, the mean of both directions' probabilities, from ``hmm``.

    Raises
    ------
    UsageError
        At once, when a name is unknown, the threshold out of range, or eflomal missing.
    """
    if method not in METHODS:
        raise unknown_name("alignment method", method, list(METHODS))
    name = METHODS[method] if symmetrization is None else symmetrization
    check_symmetrization(name, threshold)
    if method == "eflomal":
        if settings is not None:
            raise UsageError("eflomal takes no settings of the built-in aligner")
        check_links_only(name)
        find_eflomal()
        return _by_eflomal(list(pairs), name)
    return _by_hmm(pairs, name, threshold, settings)


def _by_hmm(
    pairs: Iterable[tuple[Words, Words]], name: str, threshold: float, settings: HmmSettings | None
) -> Iterator[Alignment]:
    from qsproj.align.hmm import train_hmm

    bitext = encode_bitext(pairs)
    for size, (forward, backward) in zip(bitext.lengths, train_hmm(bitext, settings)):
        if not alignable(*size):
            yield make_alignment(*size, [], weights=[])
            continue
        links = symmetrize(forward, backward, name=name, threshold=threshold)
        weights = link_weights(forward, backward)[links]
        yield make_alignment(*size, np.argwhere(links) + 1, weights=weights)


def _by_eflomal(pairs: list[tuple[Words, Words]], name: str) -> Iterator[Alignment]:
    """Yield alignments; pairs that cannot be aligned are not shown to the program."""
    sizes = [(len(source), len(target)) for source, target in pairs]
    shown = eflomal_links(pair for pair, size in zip(pairs, sizes) if alignable(*size))
    for size in sizes:
        links: Links = np.zeros((0, 0), dtype=np.bool_)
        if alignable(*size):
            links = SYMMETRIZATIONS[name](*next(shown))
        yield make_alignment(*size, np.argwhere(links) + 1)
