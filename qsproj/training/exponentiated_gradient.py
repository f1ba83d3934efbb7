"""Max-margin training in the dual: weights are made of distributions, one over the trees of each sentence.

The weights are C times the sum, over all sentences, of the features of the right tree minus those that the
sentence's distribution expects. A step multiplies the probability of each tree by the exponential of how much
better than the right one it would score with a handicap of its wrong heads.
"""

from __future__ import annotations

import numpy as np

from qsproj.conventions import Heads, Scores
from qsproj.training.objectives import Infer

# What the arcs of the right tree start from; it was found to work well in the paper.
START = 9.0
# A change of a probability that is not worth moving weights for; it is made up for when it has grown.
NEGLIGIBLE = 1e-3


class DualTree:
    """The distribution of one sentence with a whole tree int32[n+1], by scores of arcs. Mutable; final.

    ``wrong`` is the expected number of wrong heads, 0 until the first step. ``share`` multiplies steps so
    that the dual objective does not fall; the trainer changes it.

    *Source*: Bartlett et al. 2004; Koo et al. 2007, 4.2 and figure 2.
    """

    def __init__(self, heads: Heads, infer: Infer) -> None:
        n, words = len(heads) - 1, np.arange(1, len(heads))
        self._infer = infer
        self._handicap = np.ones((n + 1, n + 1))
        self._handicap[heads[1:], words] = 0.0
        self._handicap[:, 0] = 0.0
        self._scores = START * (1.0 - self._handicap)
        self._in_weights = np.zeros((n + 1, n + 1))
        self._in_weights[heads[1:], words] = 1.0
        self.wrong = 0.0
        self.share = 1.0
        self._before = self._scores, self._in_weights, self.wrong

    def ascend(self, scores: Scores, *, share: float) -> Scores:
        """Take a step up the dual objective, of ``share`` (at most 1) divided by C.

        ``scores`` float64[n+1, n+1] are by the weights of the moment, the sum of what all sentences have put
        in. Returns float64[n+1, n+1], how much the weights' expectation of each arc falls short of the
        distribution's: C times the features of these is to be taken from the weights.
        """
        self._before = self._scores, self._in_weights, self.wrong
        self._scores = self._scores + share * (self._handicap + scores)
        marginals = self._infer(self._scores)[1]
        self.wrong = float((self._handicap * marginals).sum())
        change = marginals - self._in_weights
        change[np.abs(change) < NEGLIGIBLE] = 0.0
        self._in_weights = self._in_weights + change
        return change

    def take_back(self) -> None:
        """Undo the last step."""
        self._scores, self._in_weights, self.wrong = self._before

    def gain(self, change: Scores, scores: Scores, moved: Scores) -> float:
        """Return by how much a step has raised the dual objective, divided by C; negative where it fell.

        The objective is C times the wrong heads that are expected, minus half the squared length of the
        weights. What a step takes from the weights changes their squared length by what it scores before and
        after: ``scores`` and ``moved``, looked at where ``change``, as :meth:`ascend` returned it, is not 0.
        """
        return self.wrong - self._before[2] + float((change * 0.5 * (scores + moved)).sum())
