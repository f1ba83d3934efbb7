"""Inference over the trees that a model allows: projective or not, one root or several."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, ROOT, Floats, Heads, Mask, Numbers, Rng, Scores
from qsproj.errors import UsageError, check_name
from qsproj.kernels.trees import eisner_block
from qsproj.trees import nonprojective, projective
from qsproj.trees.crossings import nearest_projective
from qsproj.trees.family import NoTreeError

DECODERS = ("map", "mbr")
MAX_Z = "max-z"  # only for parsers with hidden clusters
Number = TypeVar("Number", bound=np.generic)

# Up to 1.9% of non-projective arcs (Hungarian; Danish 1.3%, Dutch 0.8%), excluding them was better on dev
# files, by 0.2 to 0.8 UAS. The threshold is a guess: no treebank at hand has a higher share.
NONPROJECTIVE_SHARE = 0.03
# Trees with several roots: also a guess. UD treebanks have none.
SEVERAL_ROOTS_SHARE = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDecoder:
    """The trees that a model chooses from: with or without crossing arcs, with one root or several."""

    projective: bool
    single_root: bool

    @property
    def _trees(self) -> ModuleType:
        return projective if self.projective else nonprojective

    def infer(self, scores: Scores) -> tuple[float, Scores]:
        """Return log Z and arc marginals float64[n+1, n+1]; columns 1..n sum to one."""
        return self._trees.marginals(scores, single_root=self.single_root)

    def best(self, scores: Scores) -> Heads:
        return self._trees.best(scores, single_root=self.single_root)[0]

    def ranked(self, scores: Scores, k: int) -> list[Heads]:
        return [heads for heads, _ in self._trees.k_best(scores, k, single_root=self.single_root)]

    def sample(self, scores: Scores, size: int, rng: Rng) -> Numbers:
        """Draw trees by their probabilities, int32[size, n+1]."""
        return self._trees.sample(scores, size, rng, single_root=self.single_root)

    def decode(self, scores: Scores, decode: str) -> Heads:
        """Return the most probable tree (``map``), or that of highest expected accuracy (``mbr``)."""
        check_decoder(decode)
        return self.best(self.infer(scores)[1] if decode == "mbr" else scores)

    def decode_block(self, scores: Floats, sizes: NDArray[np.int64], decode: str) -> tuple[Heads, Floats]:
        """Run :meth:`decode` for several concatenated sentences; return heads int32[sum of sizes].

        ``scores`` float64[sum of sizes squared]: finite; ``sizes`` int64[S]: n + 1 of each sentence. Each
        first head is -1. Also returns the arcs' probabilities, float64[sum of sizes], NaN if not computed.
        """
        check_decoder(decode)
        heads = np.empty(int(sizes.sum()), dtype=np.int32)
        chances = np.full(len(heads), np.nan)
        done = np.zeros(len(sizes), dtype=np.bool_)
        if self.projective:
            eisner_block.decode_block(scores, sizes, self.single_root, decode == "mbr", heads, chances, done)
        if not done.all():
            ends, of_sentences = np.cumsum(sizes), squares(scores, sizes)
            for sentence in np.flatnonzero(~done).tolist():
                words = slice(ends[sentence] - sizes[sentence], ends[sentence])
                heads[words], chances[words] = self.decode(of_sentences[sentence], decode), np.nan
        return heads, chances

    def most_right(self, probabilities: Scores) -> Heads:
        return self.best(np.where(probabilities > 0.0, probabilities, -np.inf))

    def described(self, what: str) -> str:
        shape = "projective" if self.projective else "non-projective"
        return f"{shape} {what}, {'one root' if self.single_root else 'any number of roots'}"

    def expect(self, scores: Scores, values: Scores) -> tuple[float, Scores]:
        """Return the expected sum of ``values`` over the arcs of a tree, and its derivative by the scores."""
        return self._trees.expectation(scores, values, single_root=self.single_root)

    def admits(self, allowed: Mask) -> bool:
        try:
            self.best(np.where(allowed, 0.0, -np.inf))
        except NoTreeError:
            return False
        return True


def squares(scores: Floats, sizes: NDArray[np.int64]) -> list[Scores]:
    """Return views of the concatenated scores of sentences, [size, size] each."""
    ends = zip(sizes.tolist(), np.cumsum(sizes**2).tolist(), strict=True)
    return [scores[end - size**2 : end].reshape(size, size) for size, end in ends]


def check_decoder(decode: str) -> None:
    if decode == MAX_Z:
        raise UsageError(f"{MAX_Z} is for parsers with hidden clusters; take one of: {', '.join(DECODERS)}")
    check_name("decoder", decode, DECODERS)


def choose_inference(
    trees: Sequence[Heads], *, projective: bool | None, single_root: bool | None
) -> TreeDecoder:
    """Infer from training trees, whole or partial, the settings that are None; a few errors do not count."""
    if projective is None:
        changed = sum(int(np.count_nonzero(nearest_projective(heads) != heads)) for heads in trees)
        arcs = sum(int(np.count_nonzero(heads[1:] >= ROOT)) for heads in trees)
        projective = changed <= NONPROJECTIVE_SHARE * arcs
    if single_root is None:
        single_root = sum(map(has_several_roots, trees)) <= SEVERAL_ROOTS_SHARE * len(trees)
    return TreeDecoder(projective=projective, single_root=single_root)


def has_several_roots(heads: Heads) -> bool:
    return int(np.count_nonzero(heads[1:] == ROOT)) > 1


def arcs_in(heads: Heads) -> Mask:
    """Return bool[n+1, n+1], true for the arcs of a tree; all arcs into a word whose head is missing."""
    n = len(heads) - 1
    arcs = np.zeros((n + 1, n + 1), dtype=np.bool_)
    arcs[:, 1:] = heads[1:] == NO_HEAD
    known = np.flatnonzero(heads[1:] != NO_HEAD) + 1
    arcs[heads[known], known] = True
    np.fill_diagonal(arcs, False)
    return arcs


def of_tree(values: NDArray[Number], heads: Heads) -> NDArray[Number]:
    """Return the entries of a matrix over arcs [n+1, n+1] for the arcs of a tree int32[n+1]: [n], by word."""
    return values[heads[1:], np.arange(1, len(heads))]


def reachable(heads: Heads, inference: TreeDecoder) -> Heads:
    """Return the tree, or if the model cannot build it, the nearest one that it can."""
    return nearest_projective(heads) if inference.projective else heads
