"""Scores of rules that give them no scale: multiplied so that trees which are known become most probable.

The perceptron and MIRA learn which tree scores best, and all multiples of their weights agree on that. What
asks for probabilities, minimum Bayes risk among them, needs one of these multiples.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice

import numpy as np
from scipy.optimize import minimize_scalar

from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_examples import tree_objective
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.hashed_weights import aligned_weights
from qsproj.models.tree_inference import TreeInference

# A sample is enough for one number. Scores are made to spread by this much, natural log.
MOST_SENTENCES = 300
LEAST_SPREAD, MOST_SPREAD = 0.1, 10.0


def scaled_to_likelihood(
    scorer: ArcScorer, sentences: Iterable[Sentence], inference: TreeInference
) -> ArcScorer | None:
    """Return the scorer with its weights times that factor under which trees are most probable.

    Parameters
    ----------
    scorer : ArcScorer
        Not changed.
    sentences : iterable of Sentence
        With whole or partial trees; the first MOST_SENTENCES that the model can build are looked at. Held-out
        ones give probabilities that can be trusted, those that were trained on give too sure ones.

    Returns
    -------
    ArcScorer or None
        None when there is no tree that the model can build.
    """
    trees = ((one, tree_objective(one.heads, inference)) for one in sentences)
    sample = islice(((one, objective) for one, objective in trees if objective), MOST_SENTENCES)
    known = [
        (objective, scorer.scores(scorer.features(scorer.encode(sentence)))) for sentence, objective in sample
    ]
    if not known:
        return None
    spread = float(np.std(np.concatenate([scores[:, 1:].ravel() for _, scores in known])))
    if spread == 0.0:
        return scorer

    def loss(log_scale: float) -> float:
        scale = math.exp(log_scale)
        return sum(objective.value_and_gradient(scale * scores)[0] for objective, scores in known)

    bounds = (math.log(LEAST_SPREAD / spread), math.log(MOST_SPREAD / spread))
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02})
    weights = scorer.weights * np.float32(math.exp(found.x))
    return ArcScorer(scorer.template_set, aligned_weights(weights))
