"""Scores of training sentences, of arcs and of their relations, by models that were trained on the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from qsproj.conventions import Scores
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_examples import tree_examples
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import train_scorer
from qsproj.models.arc.feature_selection import supported_by
from qsproj.models.arc.labeller import Labeller, train_labeller
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tree_inference import TreeInference


def cross_fitted_scores(
    sentences: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    template_set: str,
    inference: TreeInference,
    options: TrainingOptions,
    folds: int = 5,
) -> list[Scores]:
    """Score each sentence's arcs, float64[n+1, n+1], by a parser that was not trained on it."""
    scores: list[Scores] = [np.zeros((0, 0))] * len(sentences)
    scorers = cross_fitted_scorers(
        sentences, rng=rng, template_set=template_set, inference=inference, options=options, folds=folds
    )
    for i, scorer in scorers:
        scores[i] = scorer.scores(scorer.features(scorer.encode(sentences[i])))
    return scores


def cross_fitted_scorers(
    sentences: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    template_set: str,
    inference: TreeInference,
    options: TrainingOptions,
    folds: int = 5,
    again: Sequence[Sentence] = (),
) -> Iterator[tuple[int, ArcScorer]]:
    """Train parsers on all but a part of some sentences, and yield each for the sentences of that part.

    A parser is surer of its own training trees than of any others: joint weights that were learned beside its
    scores would find nothing left to explain, and prune as they never will again.

    The sentences, at least two, have whole trees; ``again`` are the same with other tags, to learn from as
    well, or none. ``rng`` deals them out, and orders them in each epoch. Of the ``folds`` parsers one is held
    in memory at a time. Yields the number of each sentence once, with a scorer that has not seen it.
    """
    untrained = ArcScorer.untrained(template_set)
    every = [*sentences, *again]
    encoded = [untrained.encode(sentence) for sentence in every]
    made = tree_examples(every, untrained, inference, objective=options.objective)
    fold_of = rng.permutation(len(sentences)) % min(folds, len(sentences))
    for fold in range(fold_of.max() + 1):
        others = np.flatnonzero(fold_of != fold).tolist()
        rest = [*others, *(len(sentences) + i for i in others if again)]
        support = supported_by(
            template_set,
            ((encoded[i], every[i].heads) for i in rest),
            cutoff=options.cutoff,
            criterion=options.support,
        )
        examples = [example for i in rest if (example := made[i])]
        scorer, _ = train_scorer(
            examples, template_set, support=support, rng=rng, inference=inference, options=options
        )
        for i in np.flatnonzero(fold_of == fold).tolist():
            yield i, scorer


def cross_fitted_relations(
    sentences: Sequence[Sentence], labeller: Labeller, *, rng: np.random.Generator, folds: int = 5
) -> list[Scores]:
    """Score the relations of each tree by a labeller that was not trained on it.

    ``labeller`` was trained on all of them: the others have its templates. ``rng`` deals out the trees, and
    orders them in each epoch. Returns float64[n+1, L] of each tree, natural log, by the relations of
    ``labeller``; one that the other trees do not have gets the least score of the sentence.
    """
    fold_of = rng.permutation(len(sentences)) % min(folds, len(sentences))
    scores: list[Scores] = [np.zeros((0, 0))] * len(sentences)
    for fold in range(fold_of.max(initial=-1) + 1):
        rest = [sentences[i] for i in np.flatnonzero(fold_of != fold).tolist()]
        other = train_labeller(rest, rng=rng, template_set=labeller.template_set, ignored=labeller.ignored)
        for i in np.flatnonzero(fold_of == fold).tolist():
            sentence = sentences[i]
            scores[i] = np.zeros((len(sentence) + 1, len(labeller.relations)))
            if other is not None:
                own = other.scores(other.encode(sentence), sentence.heads)
                scores[i][:] = own.min()
                scores[i][:, [labeller.relations.index(name) for name in other.relations]] = own
    return scores
