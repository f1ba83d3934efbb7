"""Kernels compiled ahead, for the argument types of commands (:mod:`qsproj.kernels.ahead`)."""

import numpy as np

from qsproj.kernels.features.arc_features import ArcFeatures
from qsproj.kernels.features.label_features import score_labels, step_label_evidence, step_labels
from qsproj.kernels.trees.eisner import eisner_best, eisner_posterior
from qsproj.kernels.trees.eisner_block import decode_block

if __name__ == "__main__":
    heads = np.zeros(3, dtype=np.int32)
    eisner_posterior(np.zeros((3, 3)), heads, False)
    eisner_best(np.zeros((3, 3)), False)
    done = np.zeros(1, dtype=np.bool_)
    decode_block(np.zeros(9), np.array([3]), False, False, heads.copy(), np.zeros(3), done)
    parts = np.zeros((3, 1), dtype=np.uint64)
    features = ArcFeatures(
        parts, parts, np.zeros(3, dtype=np.uint8), np.zeros(1, dtype=np.int32), 1, 1, np.uint64(60)
    )
    weights, state = np.zeros((16, 2), dtype=np.float32), np.zeros((2, 16, 2), dtype=np.float32)
    score_labels(features, heads, weights, np.zeros((3, 2)))
    given = heads.copy()
    given.flags.writeable = False
    step_labels(features, given, heads, weights, state, 0.1, 0.0)
    step_label_evidence(features, given, np.zeros((3, 2)), weights, state, 0.1, 0.0)
