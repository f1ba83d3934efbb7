"""The alignment part of the joint model on its own: an aligner that learns from hand alignments.

Where trees are not known, ALIGN, SOURCEFERT and TARGETFERT alone choose among the links that another aligner
proposes (thesis 4.7.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Alignment, SentencePair, make_alignment
from qsproj.models.joint_inference import JointBeliefs, JointScores, Propagation, infer_jointly
from qsproj.models.joint_sides import NONE, Relation, Side
from qsproj.models.joint_structure import joint_structure, known_states
from qsproj.models.joint_training import JointTrainer, JointTrainingOptions
from qsproj.models.joint_weights import JointWeights, PreparedPair, with_features
from qsproj.models.tree_inference import TreeInference
from qsproj.training.loop import run_epochs

NO_TREES = TreeInference(projective=True, single_root=True)


@dataclass(frozen=True)
class LinkChooser:
    """An aligner that chooses among candidate links.

    Attributes
    ----------
    weights : JointWeights
    threshold : float
        Links of at least this probability are taken.
    """

    weights: JointWeights
    threshold: float = 0.5

    def align(self, pair: SentencePair) -> Alignment:
        """Return the likely ones of the pair's candidate links, with their probabilities."""
        links = pair.alignment
        if not len(links.links):
            return links
        prepared = links_only(pair)
        chances = _infer(prepared, self.weights.scores(prepared), Propagation()).links
        likely = chances >= self.threshold
        return make_alignment(
            links.n_source, links.n_target, links.links[likely], weights=np.clip(chances[likely], 0.0, 1.0)
        )


def links_only(pair: SentencePair, families: tuple[str, ...] = ()) -> PreparedPair:
    """Return the graph of a pair without arcs, with those of ALIGN_HMMS that are named."""
    source, target = _without_arcs(len(pair.source)), _without_arcs(len(pair.target))
    structure = joint_structure(source, target, pair.alignment.links, 1, families=families)
    return with_features(pair, structure, np.zeros(source.arcs.shape), np.zeros(target.arcs.shape))


def _without_arcs(n: int) -> Side:
    """Return a side whose tree plays no part."""
    words = np.zeros(0, dtype=np.int32)
    none = Relation(np.zeros((n + 1, n + 1), dtype=np.bool_), words, words, np.zeros((0, 2), dtype=np.int32))
    return Side(np.full((n + 1, n + 1), NONE, dtype=np.int32), True, none, none)


def _infer(prepared: PreparedPair, scores: JointScores, propagation: Propagation) -> JointBeliefs:
    return infer_jointly(
        prepared.structure,
        scores,
        known_states(prepared.structure),
        source_trees=NO_TREES,
        target_trees=NO_TREES,
        propagation=propagation,
    )


def train_link_chooser(
    pairs: Sequence[SentencePair],
    gold: Sequence[Alignment],
    *,
    rng: np.random.Generator,
    options: JointTrainingOptions | None = None,
) -> LinkChooser:
    """Learn to choose links from hand alignments.

    Sure links are observed to be true and links that are not even possible to be false; those that annotators
    only called possible are hidden.

    Parameters
    ----------
    pairs : sequence of SentencePair
        With candidate links.
    gold : sequence of Alignment
        Their hand alignments.
    rng : numpy.random.Generator
        Orders the pairs.
    """
    options = options or JointTrainingOptions(l2=5.0)
    trainer = JointTrainer(options, source_trees=NO_TREES, target_trees=NO_TREES)
    usable = [(pair, hand) for pair, hand in zip(pairs, gold, strict=True) if len(pair.alignment.links)]
    examples = [(links_only(pair), _evidence(pair.alignment, hand)) for pair, hand in usable]

    def step(i: int) -> float:
        prepared, evidence = examples[i]
        scores = trainer.weights.scores(prepared)
        observed = replace(scores, links=scores.links + evidence)
        free = _infer(prepared, scores, options.propagation)
        trainer.learn(prepared, free, _infer(prepared, observed, options.propagation))
        wrong = np.where(evidence > 0, 1.0 - free.links, np.where(evidence < 0, free.links, 0.0))
        return float(wrong.sum())

    run_epochs(
        len(examples),
        step,
        epochs=options.epochs,
        rng=rng,
        finish_epoch=trainer.regularise,
        description="training links",
    )
    return LinkChooser(trainer.averaged())


def _evidence(candidates: Alignment, hand: Alignment) -> NDArray[np.float64]:
    """Return what is observed of each candidate, float64[k]: inf true, -inf false, 0 not known."""
    judged = dict(zip(map(tuple, hand.links.tolist()), hand.sure.tolist()))
    known = [judged.get(tuple(link)) for link in candidates.links.tolist()]
    return np.array([-np.inf if sure is None else np.inf if sure else 0.0 for sure in known])
