"""Word alignment of a bitext by name of method: words in, :class:`~qsproj.corpus.sentence.Alignment` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qsproj.alignment.eflomal import check_links_only, eflomal_links, find_eflomal
from qsproj.alignment.encoding import alignable
from qsproj.alignment.symmetrize import (
    DEFAULT_THRESHOLD,
    SYMMETRIZATIONS,
    THRESHOLD,
    Posteriors,
    check_symmetrization,
    link_weights,
    symmetrize,
)
from qsproj.alignment.unspaced import carry_to_words, check_side, cut_pair, known_words
from qsproj.corpus.sentence import Alignment, make_alignment
from qsproj.errors import UsageError, unknown_name
from qsproj.parallel import THIS_PROCESS, Workers

if TYPE_CHECKING:
    from qsproj.alignment.hmm import HmmSettings

# Method, and the symmetrisation that it gets unless another is asked for.
METHODS = {"hmm": THRESHOLD, "eflomal": "grow-diag-final-and"}

Words = Sequence[str]
Pairs = Iterable[tuple[Words, Words]]


class Directed(NamedTuple):
    """Link probabilities of a sentence pair, by any aligner.

    ``size``: words of both sides. ``forward``, ``backward`` float[m, n]: p(target word comes from source
    word), p(source word comes from target word); 0 and 1 of an aligner that gives links only. [0, 0] where
    the pair cannot be aligned.
    """

    size: tuple[int, int]
    forward: Posteriors
    backward: Posteriors


def align_words(
    pairs: Pairs,
    *,
    method: str = "hmm",
    symmetrization: str | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    settings: HmmSettings | None = None,
    unspaced: str | None = None,
    workers: Workers = THIS_PROCESS,
) -> Iterator[Alignment]:
    """Align a bitext, learning from nothing but itself; more pairs give better alignments.

    ``method``: ``hmm``, built in (:mod:`qsproj.alignment.hmm`), deterministic; or ``eflomal``, an external
    program. ``symmetrization``: a name of :mod:`qsproj.alignment.symmetrize`; None: ``METHODS[method]``.
    ``threshold``: least mean probability of a link, for the symmetrisation of that name. ``unspaced``: the
    side, ``source``, ``target`` or ``both``, that is written without spaces: its words are cut into pieces to
    learn from (:mod:`qsproj.alignment.unspaced`); links are between words all the same. Yields one alignment
    for each pair, without links where a side is empty or both are very long (more than 2^22 word pairs); from
    ``hmm`` with weights, the mean of both directions' probabilities, whoever computes. Raises UsageError at
    once, when a name is unknown, the threshold out of range, or eflomal missing.
    """
    if method not in METHODS:
        raise unknown_name("alignment method", method, list(METHODS))
    name = METHODS[method] if symmetrization is None else symmetrization
    check_symmetrization(name, threshold)
    if unspaced is not None:
        check_side(unspaced)
    if method == "eflomal":
        if settings is not None:
            raise UsageError("eflomal takes no settings of the built-in aligner")
        check_links_only(name)
        find_eflomal()
        links = SYMMETRIZATIONS[name]
        return (
            make_alignment(*one.size, np.argwhere(links(one.forward > 0, one.backward > 0)) + 1)
            for one in _between_words(_by_eflomal, list(pairs), unspaced)
        )
    by_hmm = partial(_by_hmm, settings=settings, workers=workers)
    return _links_of_hmm(_between_words(by_hmm, pairs, unspaced), name, threshold)


def _between_words(
    align: Callable[[Pairs], Iterator[Directed]], pairs: Pairs, side: str | None
) -> Iterator[Directed]:
    if side is None:
        yield from align(pairs)
        return
    words = list(pairs)
    known = known_words(words, side)
    # Cut twice, as keeping all pieces takes more memory than cutting takes time.
    pieces = ((source.pieces, target.pieces) for source, target in (cut_pair(pair, known) for pair in words))
    for pair, directed in zip(words, align(pieces)):
        forward, backward = carry_to_words(directed.forward, directed.backward, cut_pair(pair, known))
        yield Directed((len(pair[0]), len(pair[1])), forward, backward)


def _by_hmm(pairs: Pairs, settings: HmmSettings | None, workers: Workers) -> Iterator[Directed]:
    from qsproj.alignment.hmm import train_hmm

    for pair in train_hmm(pairs, settings, workers=workers):
        yield Directed(pair.size, pair.forward, pair.backward)


def _links_of_hmm(directions: Iterable[Directed], name: str, threshold: float) -> Iterator[Alignment]:
    for directed in directions:
        if not directed.forward.size:
            yield make_alignment(*directed.size, [], weights=[])
            continue
        weights = link_weights(directed.forward, directed.backward)
        if name == THRESHOLD:
            links = weights > threshold
        else:
            links = symmetrize(directed.forward, directed.backward, name=name)
        yield make_alignment(*directed.size, np.argwhere(links) + 1, weights=weights[links])


def _by_eflomal(pairs: Pairs) -> Iterator[Directed]:
    """Yield links; pairs that cannot be aligned are not shown to the program."""
    known = list(pairs)
    sizes = [(len(source), len(target)) for source, target in known]
    shown = eflomal_links(pair for pair, size in zip(known, sizes) if alignable(*size))
    none = np.zeros((0, 0), dtype=np.bool_)
    for size in sizes:
        forward, backward = next(shown) if alignable(*size) else (none, none)
        yield Directed(size, forward.astype(np.float32), backward.astype(np.float32))
