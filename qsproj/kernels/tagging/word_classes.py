"""Exchange clustering of words into classes by the likelihood of a class bigram model."""

import numpy as np

from qsproj.kernels.compilation import FAST, njit


@njit(cache=True, error_model="numpy", fastmath=FAST)
def exchange_pass(order, followers, predecessors, classes, bigrams, left, right, entropy):
    """Move each word in ``order`` to its best class; return the number of moved words.

    The log-likelihood of the text given the classes is the sum of x log x over class bigrams minus that over
    ``left`` and over ``right``, plus a constant. ``followers``: starts, words and counts, rows of the bigram
    counts: word w precedes ``words[e]`` ``counts[e]`` times for e in ``starts[w]:starts[w + 1]``;
    ``predecessors`` the same by columns. ``classes`` int32[V] are updated, and ``bigrams``, ``left``,
    ``right`` int64[C, C], int64[C], int64[C], counts of class bigrams and their sums over rows and columns.
    ``entropy``: x log x for every count x that can occur.

    *Source*: Martin, Liermann and Ney (1998), section 3.
    """
    next_starts, next_words, next_counts = followers
    last_starts, last_words, last_counts = predecessors
    n_classes = len(left)
    after, before = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    after_classes, before_classes = np.empty(n_classes, np.int32), np.empty(n_classes, np.int32)
    moved = 0
    for w in order:
        begin, end = next_starts[w], next_starts[w + 1]
        n_after, following, own = _by_class(
            w, next_words[begin:end], next_counts[begin:end], classes, after, after_classes
        )
        begin, end = last_starts[w], last_starts[w + 1]
        n_before, preceding, _ = _by_class(
            w, last_words[begin:end], last_counts[begin:end], classes, before, before_classes
        )
        home = classes[w]
        # The word is removed first; the gain of a class is then that of adding it.
        _shift(home, -1, own, after, after_classes[:n_after], before, before_classes[:n_before], bigrams)
        left[home] -= following
        right[home] -= preceding
        best, best_gain = home, -np.inf
        for c in range(n_classes):
            gain = entropy[left[c]] - entropy[left[c] + following]
            gain += entropy[right[c]] - entropy[right[c] + preceding]
            for d in after_classes[:n_after]:
                if d != c:
                    gain += entropy[bigrams[c, d] + after[d]] - entropy[bigrams[c, d]]
            for d in before_classes[:n_before]:
                if d != c:
                    gain += entropy[bigrams[d, c] + before[d]] - entropy[bigrams[d, c]]
            inside = bigrams[c, c]
            gain += entropy[inside + own + after[c] + before[c]] - entropy[inside]
            if gain > best_gain:
                best, best_gain = c, gain
        _shift(best, 1, own, after, after_classes[:n_after], before, before_classes[:n_before], bigrams)
        left[best] += following
        right[best] += preceding
        after[:] = 0
        before[:] = 0
        classes[w] = best
        moved += best != home
    return moved


@njit(cache=True)
def _by_class(w, words, counts, classes, sums, seen):
    """Sum the neighbours of ``w`` by class into ``sums``, classes in ``seen``; return three numbers."""
    n_seen = total = own = 0
    for e in range(len(words)):
        total += counts[e]
        if words[e] == w:
            own = counts[e]
            continue
        c = classes[words[e]]
        if sums[c] == 0:
            seen[n_seen] = c
            n_seen += 1
        sums[c] += counts[e]
    return n_seen, total, own


@njit(cache=True)
def _shift(c, sign, own, after, after_classes, before, before_classes, bigrams):
    """Add a word's bigrams to those of class ``c``, or subtract them where ``sign`` is -1."""
    for d in after_classes:
        bigrams[c, d] += sign * after[d]
    for d in before_classes:
        bigrams[d, c] += sign * before[d]
    bigrams[c, c] += sign * own
