"""Scores of ways to make a lemma of a word, a softmax over those that fit its form.

Arrays: ``word`` uint64[F], features of the word in its sentence; ``scripts`` uint64[C], the hash of each
candidate's edit script; ``lemmas`` uint64[C, G], features of the lemma that it gives, 0 for none. A feature
of the word counts for each script anew. ``weights`` float32[2^b], natural log; ``shift`` is 64 - b.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.features.adagrad import move
from qsproj.kernels.tagging.tag_features import mixed


@njit(cache=True, error_model="numpy", fastmath=FAST)
def script_scores(word, scripts, lemmas, weights, shift, scores):
    """Fill ``scores`` float64[C]."""
    for c in range(scripts.shape[0]):
        score = 0.0
        for feature in word:
            score += weights[mixed(feature + scripts[c]) >> shift]
        for feature in lemmas[c]:
            if feature != np.uint64(0):
                score += weights[mixed(feature) >> shift]
        scores[c] = score


@njit(cache=True, error_model="numpy", fastmath=FAST)
def learn_script(word, scripts, lemmas, right, shift, weights, state, rate, step):
    """Take a step of AdaGrad towards the candidate ``right``; return minus its log-probability."""
    scores = np.empty(scripts.shape[0])
    script_scores(word, scripts, lemmas, weights[0], shift, scores)
    highest = scores.max()
    total = np.exp(scores - highest).sum()
    loss = highest + np.log(total) - scores[right]
    for c in range(scripts.shape[0]):
        slope = np.exp(scores[c] - highest) / total - (1.0 if c == right else 0.0)
        if abs(slope) < 1e-4:
            continue
        for feature in word:
            move(weights, state, 0, mixed(feature + scripts[c]) >> shift, slope, rate, step)
        for feature in lemmas[c]:
            if feature != np.uint64(0):
                move(weights, state, 0, mixed(feature) >> shift, slope, rate, step)
    return loss
