"""Training of the tagger where each word has a weighted set of tags, of which one is right.

The objective is the log-probability of all tag sequences that the sets leave, each times its weight. A word
with one tag is learned as from a treebank, a word with all tags teaches nothing of itself but lets its
neighbours speak, and what is between is decided by what the other sentences say.

Source: Taeckstroem, Das, McDonald, Petrov and Nivre (2013), "Token and type constraints for cross-lingual
part-of-speech tagging"; theirs is L-BFGS on hard sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.features.hashing import FeatureIndex
from qsproj.models.tagging.chain_trainer import FROM_SETS, ChainExample, ChainTrainer
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger
from qsproj.training.loop import learn

# So many sentences' features are counted at a time.
BLOCK_SENTENCES = 2048

Words = tuple[str, ...]
# Natural-log weights, at most 0; -inf forbids.
LogEvidence = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class SetExample:
    """A sentence with what is known of its tags.

    Attributes
    ----------
    forms : tuple of str
        The n words.
    log_evidence : float32[n, T]
        Natural-log weight of each tag, at most 0, -inf for one that is ruled out; one or more finite a word.
    strength : float
        Weight of the sentence in the objective.
    trusted : bool
        Whether all its features are to be learned, not only those that occur ``rarest`` times.
    """

    forms: Words
    log_evidence: LogEvidence
    strength: float = 1.0
    trusted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTrainingOptions:
    """How weights are learned from sets.

    Attributes
    ----------
    epochs : int
        Passes over the sentences.
    rate : float
        AdaGrad's step size.
    rarest : int
        Features of sentences that are not trusted must occur this often.
    """

    epochs: int = 5
    rate: float = 0.1
    rarest: int = 3


def train_on_sets(
    examples: Sequence[SetExample],
    *,
    tags: tuple[str, ...],
    extractor: FeatureExtractor,
    rng: np.random.Generator,
    options: SetTrainingOptions,
    start: Tagger | None = None,
    what: str = "training the tagger",
) -> Tagger:
    """Return the average of all weights visited.

    Parameters
    ----------
    examples : sequence of SetExample
        At least one; ``log_evidence`` over ``tags``.
    tags : tuple of str
        The T tags.
    extractor : FeatureExtractor
    rng : numpy.random.Generator
        Orders the sentences.
    start : Tagger or None
        Weights to go on from, those of a tagger of the same tags and extractor; None: from zero.
    what : str
        What the progress bar says.

    Notes
    -----
    Memory: 4 bytes for each word and template, and 12 T for each feature. Time: O(epochs words (K T + T^2)).
    """
    index = FeatureIndex(_supported(examples, extractor, options.rarest, start))
    weights = np.zeros((len(index.keys), len(tags)), dtype=np.float32)
    transitions = np.zeros((len(tags) + 1, len(tags)))
    if start is not None:
        weights[index.rows(start.index.keys[:, None])[:, 0]] = start.weights
        transitions[:] = start.transitions
    begun = Tagger(tags=tags, extractor=extractor, index=index, weights=weights, transitions=transitions)
    encoded = [
        ChainExample(index.rows(extractor.keys(example.forms)), example.log_evidence, example.strength)
        for example in examples
    ]
    trainer = ChainTrainer(begun, rate=options.rate, kernels=FROM_SETS)
    return learn(trainer, encoded, epochs=options.epochs, rng=rng, description=what)[0]


def _supported(
    examples: Sequence[SetExample], extractor: FeatureExtractor, rarest: int, start: Tagger | None
) -> NDArray[np.uint64]:
    """Return the distinct features of trusted sentences and of ``start``, and of all those not too rare."""
    known = [] if start is None else [start.index.keys]
    parts, counts = [], []
    for first in range(0, len(examples), BLOCK_SENTENCES):
        block = examples[first : first + BLOCK_SENTENCES]
        keys = [extractor.keys(example.forms) for example in block]
        known += [part.ravel() for part, example in zip(keys, block, strict=True) if example.trusted]
        of_block = np.unique(np.concatenate(keys), return_counts=True)
        parts.append(of_block[0])
        counts.append(of_block[1])
    distinct, place = np.unique(np.concatenate(parts), return_inverse=True)
    often = np.bincount(place, np.concatenate(counts)) >= rarest
    supported: NDArray[np.uint64] = np.unique(np.concatenate([distinct[often], *known]))
    return np.delete(supported, np.nonzero(supported == 0))
