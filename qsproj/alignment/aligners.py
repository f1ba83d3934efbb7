"""Word alignment of a bitext by named methods, which return :class:`~qsproj.corpus.sentence.Alignment`.

Functions bool[m, n] x bool[m, n] -> bool[m, n], axes [source word, target word], 0-based, combine the two
directions without changing their arguments. *Source*: Och and Ney (2003), section 5, for intersection and
union; Koehn, Och and Marcu (2003), section 3.1, and Koehn et al. (2005) for growing.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from qsproj.alignment.encoding import LinkedPair, Posteriors, Words, alignable
from qsproj.alignment.unspaced import SIDES, carry_to_words, cut_pair, known_words
from qsproj.conventions import Floats, Mask
from qsproj.corpus.files import temporary_folder
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.sentence import Alignment, make_alignment
from qsproj.errors import QsprojError, UsageError, check_name
from qsproj.parallel import THIS_PROCESS, Workers

Links = Mask

DEFAULT_THRESHOLD = 0.5  # chosen on development data
_PROGRAM = "eflomal-align"


def grow_diagonal(forward: Links, backward: Links, *, final_and: bool) -> Links:
    """Return the intersection, grown by adjacent links of the union; then, if asked, between free words."""
    from qsproj.kernels.align.symmetrize_grow import add_between_free_words, grow

    links = forward & backward
    sources, targets = links.any(axis=1), links.any(axis=0)
    grow(links, forward | backward, sources, targets)
    if final_and:
        add_between_free_words(links, np.ascontiguousarray(forward), sources, targets)
        add_between_free_words(links, np.ascontiguousarray(backward), sources, targets)
    return links


# The intersection is precise, one to one where each direction is many to one; the union has high recall.
SYMMETRIZATIONS: dict[str, Callable[[Links, Links], Links]] = {
    "intersection": np.logical_and,
    "union": np.logical_or,
    "grow-diag": partial(grow_diagonal, final_and=False),
    "grow-diag-final-and": partial(grow_diagonal, final_and=True),
}
THRESHOLD = "threshold"  # not in the table above, as it needs probabilities
KNOWN = (THRESHOLD, *SYMMETRIZATIONS)


def directed_links(posteriors: Posteriors) -> Links:
    """Return the link of each generated word to its likeliest origin if that is likelier than NULL.

    ``posteriors`` float[m, n]: p(generated word of column j comes from row i); the rest of a column is NULL.
    """
    links = np.zeros(posteriors.shape, dtype=np.bool_)
    if posteriors.size:
        best = posteriors.argmax(axis=0), np.arange(posteriors.shape[1])
        links[best] = posteriors[best] > 1.0 - posteriors.sum(axis=0)
    return links


def link_weights(forward: Posteriors, backward: Posteriors) -> Floats:
    return np.clip(0.5 * (forward.astype(np.float64) + backward), 0.0, 1.0)


def symmetrize(forward: Posteriors, backward: Posteriors, *, name: str) -> Links:
    """Return one alignment from the posteriors of two directions, float[m, n], by SYMMETRIZATIONS."""
    return SYMMETRIZATIONS[name](directed_links(forward), directed_links(backward.T).T)


# Methods with their default symmetrisation.
METHODS = {"hmm": THRESHOLD, "eflomal": "grow-diag-final-and"}

Pairs = Iterable[tuple[Words, Words]]


def align_words(
    pairs: Pairs,
    *,
    method: str = "hmm",
    symmetrization: str | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    unspaced: str | None = None,
    workers: Workers = THIS_PROCESS,
) -> Iterator[Alignment]:
    """Align a bitext without other data; more pairs give better alignments.

    ``method``: ``hmm``, built in, deterministic; or ``eflomal``, an external program. ``symmetrization``: a
    name of :mod:`qsproj.alignment.aligners`; None: ``METHODS[method]``. ``threshold``: least mean
    probability of a link, for the symmetrisation of that name. ``unspaced``: the side, ``source``, ``target``
    or ``both``, written without spaces (:mod:`qsproj.alignment.unspaced`). Yields one alignment for each
    pair, without links for an empty side or more than 2^22 word pairs; from ``hmm`` with weights, the mean of
    both directions' probabilities. Raises UsageError, before reading, for bad arguments or missing eflomal.
    """
    check_name("alignment method", method, METHODS)
    name = METHODS[method] if symmetrization is None else symmetrization
    check_name("symmetrization", name, KNOWN)
    if not 0.0 <= threshold <= 1.0:
        raise UsageError(f"the threshold is {threshold}, expected a probability (0 to 1)")
    if unspaced is not None:
        check_name("side", unspaced, SIDES)
    if method == "eflomal":
        if name == THRESHOLD:
            remedy = "choose a --symmetrize other than threshold"
            raise UsageError(f"eflomal gives links without probabilities; {remedy}")
        find_eflomal()
        links = SYMMETRIZATIONS[name]
        return (
            make_alignment(*one.size, np.argwhere(links(one.forward > 0, one.backward > 0)) + 1)
            for one in _between_words(eflomal_links, list(pairs), unspaced)
        )
    from qsproj.alignment.hmm import train_hmm

    def alignment_of(pair: LinkedPair) -> Alignment:
        weights = link_weights(pair.forward, pair.backward)
        by_weight = name == THRESHOLD
        links = weights > threshold if by_weight else symmetrize(pair.forward, pair.backward, name=name)
        return make_alignment(*pair.size, np.argwhere(links) + 1, weights=weights[links])

    return map(alignment_of, _between_words(partial(train_hmm, workers=workers), pairs, unspaced))


def _between_words(
    align: Callable[[Pairs], Iterator[LinkedPair]], pairs: Pairs, side: str | None
) -> Iterator[LinkedPair]:
    if side is None:
        yield from align(pairs)
        return
    words = list(pairs)
    known = known_words(words, side)
    # Words are cut twice: storing all pieces would cost more memory than cutting costs time.
    pieces = ((source.pieces, target.pieces) for source, target in (cut_pair(pair, known) for pair in words))
    for pair, directed in zip(words, align(pieces)):
        forward, backward = carry_to_words(directed.forward, directed.backward, cut_pair(pair, known))
        yield LinkedPair((len(pair[0]), len(pair[1])), forward, backward)


def find_eflomal() -> str:
    program = shutil.which(_PROGRAM) or shutil.which(_PROGRAM, path=str(Path(sys.executable).parent))
    if program is None:
        remedy = "pip install 'qsproj[eflomal]', or align with --method hmm, which needs no other program"
        raise UsageError(f"the program {_PROGRAM} is not installed; install it: {remedy}")
    return program


def eflomal_links(pairs: Pairs) -> Iterator[LinkedPair]:
    """Yield the links of each sentence pair, 0 or 1; every target (source) word has at most one."""
    program, known = find_eflomal(), list(pairs)
    sizes = [(len(source), len(target)) for source, target in known]
    # Other pairs get no links.
    passed = [pair for pair, size in zip(known, sizes) if alignable(*size)]
    with temporary_folder() as folder:
        names = ("source", "target", "forward", "backward")
        source, target, forward, backward = (folder / name for name in names)
        for side, path in enumerate((source, target)):
            with path.open("w", encoding="utf-8", newline="\n") as handle:
                for pair in passed:
                    # White space inside a word (CoNLL-U allows it) would split it.
                    handle.write(" ".join("_".join(word.split()) or "_" for word in pair[side]) + "\n")
        files = ["-s", source, "-t", target, "-f", forward, "-r", backward]
        # The program starts a second one from its own folder.
        folders = os.pathsep.join([str(Path(program).parent), os.environ.get("PATH", "")])
        environment = {**os.environ, "PATH": folders}
        command = [program, "--overwrite", *map(str, files)]
        outcome = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if outcome.returncode != 0:
            lines = outcome.stderr.strip().splitlines() or ["it wrote nothing"]
            raise QsprojError(f"{_PROGRAM} failed with exit code {outcome.returncode}: {lines[-1]}")
        of_passed = [size for size in sizes if alignable(*size)]
        links = zip(*(read_alignments(path, sizes=of_passed) for path in (forward, backward)), strict=True)
        for size in sizes:
            tables = np.zeros((2, *(size if alignable(*size) else (0, 0))), dtype=np.float32)
            for table, alignment in zip(tables, next(links) if tables.size else ()):
                table[alignment.links[:, 0] - 1, alignment.links[:, 1] - 1] = 1.0
            yield LinkedPair(size, *tables)
