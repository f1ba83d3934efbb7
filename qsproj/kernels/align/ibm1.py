"""IBM model 1, a mixture over the generating words regardless of position, and the word pairs of a bitext.

Sentence pair s holds source tokens ``source_words[source_offsets[s]:source_offsets[s + 1]]`` and target
tokens likewise. Its cells are numbered ``cell_offsets[s] + i * n + j`` for source token i, target token j and
n target tokens. Pairs of similar spelling (names, numbers, cognates) have larger Dirichlet pseudo-counts.

Source: Brown et al. (1993), section 4.1, with a NULL of fixed probability.
"""

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.copying import copy_into


@njit(cache=True, error_model="numpy", fastmath=FAST)
def ibm1_posteriors(emissions, null_emissions, null_probability, posteriors, null_posteriors):
    """Fill the posteriors of one sentence pair and return the log-likelihood; O(nm) time.

    ``emissions`` float64[n, m]: probability of generated word j given generating word i; ``null_emissions``
    float64[n]: given NULL, > 0. ``null_probability``: prior of NULL; the m words share the rest equally.
    Written, of their shapes: p(j comes from i), p(j comes from NULL); each row and its NULL sum to 1.
    """
    n, m = emissions.shape
    prior = (1.0 - null_probability) / m
    log_likelihood = 0.0
    for j in range(n):
        null = null_probability * null_emissions[j]
        total = null
        for i in range(m):
            posteriors[j, i] = prior * emissions[j, i]
            total += posteriors[j, i]
        for i in range(m):
            posteriors[j, i] /= total
        null_posteriors[j] = null / total
        log_likelihood += np.log(total)
    return log_likelihood


@njit(cache=True, error_model="numpy", fastmath=FAST)
def number_pairs(order, source_offsets, target_words, target_offsets, cell_offsets, target_vocabulary_size):
    """Number the distinct word pairs, source word by source word; O(cells) time.

    ``order``: source tokens by word, starts int64[V+1], tokens int64[T], sentences int32[T].
    Returns ``pair_starts`` int64[V+1], the start of each source word's pairs, ``pair_targets`` int32[P or
    more], target word of each pair (more is unused), and ``cell_pairs`` int32[cells]. One array of the target
    vocabulary besides the results.
    """
    starts, tokens, sentences = order
    vocabulary_size = starts.size - 1
    number = np.full(target_vocabulary_size, -1, np.int64)
    pair_starts = np.zeros(vocabulary_size + 1, np.int64)
    cell_pairs = np.empty(cell_offsets[-1], np.int32)
    pair_targets = np.empty(max(1024, cell_offsets[-1] // 8), np.int32)
    pairs = 0
    for word in range(vocabulary_size):
        first = pairs
        pair_starts[word] = first
        for place in range(starts[word], starts[word + 1]):
            s = sentences[place]
            begin, end = target_offsets[s], target_offsets[s + 1]
            row = cell_offsets[s] + (tokens[place] - source_offsets[s]) * (end - begin)
            if pairs + end - begin > pair_targets.size:
                larger = np.empty(2 * pair_targets.size + end - begin, np.int32)
                copy_into(larger, pair_targets[:pairs])
                pair_targets = larger
            for token in range(begin, end):
                target = target_words[token]
                # A number below ``first`` was given for an earlier source word.
                if number[target] < first:
                    number[target] = pairs
                    pair_targets[pairs] = target
                    pairs += 1
                cell_pairs[row + token - begin] = number[target]
    pair_starts[vocabulary_size] = pairs
    return pair_starts, pair_targets, cell_pairs


@njit(cache=True, error_model="numpy", fastmath=FAST)
def renumber(cells, numbers, following):
    """Renumber ``cells`` int32[k] in the order of first occurrence, so that neighbours are adjacent.

    ``numbers`` int32[P] has the new number of each old one, -1 for none yet; new ones are added from
    ``following`` on. Returns the next free number.
    """
    for cell in range(cells.size):
        old = cells[cell]
        if numbers[old] < 0:
            numbers[old] = following
            following += 1
        cells[cell] = numbers[old]
    return following


@njit(cache=True, error_model="numpy", fastmath=FAST)
def pair_pseudo_counts(
    pair_starts, pair_targets, source_letters, source_starts, target_letters, target_starts, base, likeness
):
    """Return the pseudo-count of each word pair, float32[P]; O(P) times the length of a shared prefix.

    ``base``, plus ``likeness`` times the square of the shared prefix's part of the longer word. Other than
    identical words need at least three shared letters. Letters are int32 code points, those of word v at
    ``letters[starts[v]:starts[v + 1]]``.
    """
    result = np.empty(pair_targets.size, np.float32)
    for e in range(pair_starts.size - 1):
        first, m = source_starts[e], source_starts[e + 1] - source_starts[e]
        for pair in range(pair_starts[e], pair_starts[e + 1]):
            f = pair_targets[pair]
            begin, n = target_starts[f], target_starts[f + 1] - target_starts[f]
            shared = 0
            while shared < min(m, n) and source_letters[first + shared] == target_letters[begin + shared]:
                shared += 1
            part = shared / max(m, n, 1)
            result[pair] = base + (likeness * part * part if part == 1.0 or shared >= 3 else 0.0)
    return result
