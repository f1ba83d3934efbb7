"""Linear chain over analyses: only the best few of the hundreds possible for a word's tag enter the chain.

An *analysis* is a set of *parts*, such as ``Case=Nom``. A word's potential of an analysis is the sum of those
of its parts, and of its frequency with this form in the treebank; two neighbours add a potential for each
attribute, by its values in both. All are natural logs. Arrays, with n words, P parts, A analyses, F
attributes, K candidates of a word:

- ``table``: ``starts`` int64[A+1] and ``parts`` int64[...], the parts of analysis a at starts[a]:starts[a+1];
  ``values`` int64[A+1, F], the value of each attribute in each analysis, row A at the start of a sentence;
  ``links`` int64[F, 2], the start of the pairs of values of an attribute in ``transitions``, and its number
  of values; ``offsets`` int64[A+1] and ``distinctive`` int64[...], the parts that some but not all
  analyses of a tag have, those of the tag whose first analysis is a at offsets[a]:offsets[a+1]. Other
  parts have no potentials, since parts common to all analyses cancel out.
- ``words``: ``ranges`` int64[n, 2], the analyses possible for the word's tag; ``seen`` int64[n+1] and
  ``known`` int64[..., 2], the analyses of its form in the treebank and their counts, those of word i at
  seen[i]:seen[i+1].
- ``support`` float64[L, L]: the potential of an analysis by the frequency of its form, and of both together.

Lemmas are a softmax over edit scripts applicable to a word's form: ``word`` uint64[F], features of the word
in its sentence; ``scripts`` uint64[C], the hash of each candidate's edit script; ``lemmas`` uint64[C, G],
features of the resulting lemma, 0 for none. Features of the word are conjoined with each script. ``weights``
float32[2^b], natural log; ``shift`` is 64 - b.

Source: pruning as in Mueller, Schmid and Schuetze (2013); one multinomial for each attribute as in Smith
(2010), section 5.2.1, tied there by factors, here by the list of attested analyses.
"""

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.features.sparse_gradient import move
from qsproj.kernels.prefetch import prefetch
from qsproj.kernels.tagging.tag_features import mixed

# Bins of counts: 0, 1, 2 to 3, 4 to 9, more.
LEVELS = 5
NO_ANALYSIS = -1
# Number of features by which weights are prefetched.
AHEAD = 6
# Analyses that score this much less than a word's best one, natural log, are no candidates.
HOPELESS = 8.0


@njit(cache=True)
def level(count):
    if count < 2:
        return max(count, 0)
    return 2 if count < 4 else (3 if count < 10 else 4)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_distinctive(rows, weights, table, words, emissions):
    """Fill ``emissions`` float64[n, P] for the ``distinctive`` parts of each word from rows int32[n, T]."""
    offsets, distinctive = table[4], table[5]
    ranges = words[0]
    flat = weights.reshape(-1)
    width = weights.shape[1]
    sums = np.empty(width)
    for i in range(rows.shape[0]):
        emissions[i] = 0.0
        first = ranges[i, 0]
        asked = distinctive[offsets[first] : offsets[first + 1]]
        if ranges[i, 1] - first < 2 or asked.shape[0] == 0:
            continue
        sums[: asked.shape[0]] = 0.0
        for k in range(rows.shape[1]):
            if k + AHEAD < rows.shape[1] and rows[i, k + AHEAD] >= 0:
                coming = np.int64(rows[i, k + AHEAD]) * width
                prefetch(flat, coming + asked[0])
                prefetch(flat, coming + asked[-1])
            row = rows[i, k]
            if row >= 0:
                of_row = weights[row]
                for q in range(asked.shape[0]):
                    sums[q] += of_row[asked[q]]
        for q in range(asked.shape[0]):
            emissions[i, asked[q]] = sums[q]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def propose(emissions, table, words, support, gold, candidates, scores):
    """Fill the K best analyses of each word, ``candidates`` int64[n, K], and their potentials, best first.

    ``emissions`` float64[n, P]. ``gold`` int64[n]: correct analyses, which are always candidates and have
    their counts reduced by one; NO_ANALYSIS for none. Where the tag has fewer than K, and where others are
    HOPELESS, the rest have -inf.
    """
    starts, parts = table[0], table[1]
    ranges, seen, known = words
    n, places = candidates.shape
    of_analysis = np.empty(starts.shape[0] - 1)
    for i in range(n):
        first, last = ranges[i, 0], ranges[i, 1]
        of_form = level(known[seen[i] : seen[i + 1], 1].sum() - (1 if gold[i] >= 0 else 0))
        for a in range(first, last):
            score = support[of_form, 0]
            for q in range(starts[a], starts[a + 1]):
                score += emissions[i, parts[q]]
            of_analysis[a] = score
        for q in range(seen[i], seen[i + 1]):
            a = known[q, 0]
            count = known[q, 1] - (1 if a == gold[i] else 0)
            of_analysis[a] += support[of_form, level(count)] - support[of_form, 0]
        there = False
        right = of_analysis[gold[i]] if gold[i] >= 0 else 0.0
        found = 0
        while found < min(places, last - first):
            best = first
            for a in range(first, last):
                if of_analysis[a] > of_analysis[best]:
                    best = a
            if found > 0 and of_analysis[best] < scores[i, 0] - HOPELESS:
                break
            candidates[i, found] = best
            scores[i, found] = of_analysis[best]
            there = there or best == gold[i]
            of_analysis[best] = -np.inf
            found += 1
        if gold[i] >= 0 and not there:
            found = min(found, places - 1)
            candidates[i, found] = gold[i]
            scores[i, found] = right
            found += 1
        candidates[i, found:] = first
        scores[i, found:] = -np.inf


@njit(cache=True)
def count_candidates(scores):
    """Return a word's number of candidates, given their potentials ``scores`` float64[K], -inf at the end."""
    count = scores.shape[0]
    while count > 1 and scores[count - 1] == -np.inf:
        count -= 1
    return count


@njit(cache=True, error_model="numpy", fastmath=FAST)
def link(candidates, scores, table, transitions, links):
    """Fill the potentials of neighbouring candidates, float64[n, K, K]; of the first word those in row 0."""
    values, attributes = table[2], table[3]
    n = candidates.shape[0]
    start = values.shape[0] - 1
    there = 1
    for i in range(n):
        earlier, there = there, count_candidates(scores[i])
        for j in range(earlier):
            before = candidates[i - 1, j] if i else start
            for k in range(there):
                score = 0.0
                for f in range(values.shape[1]):
                    score += transitions[
                        pair_place(attributes, f, values[before, f], values[candidates[i, k], f])
                    ]
                links[i, j, k] = score


@njit(cache=True, error_model="numpy", inline="always")
def pair_place(attributes, f, before, after):
    return attributes[f, 0] + before * attributes[f, 1] + after


@njit(cache=True, error_model="numpy", fastmath=FAST)
def candidate_posterior(scores, links, marginals, pairs):
    """Fill posteriors of candidates float64[n, K], and of pairs with the word before; return log Z."""
    n, places = scores.shape
    counts = np.empty(n, np.int64)
    for i in range(n):
        counts[i] = count_candidates(scores[i])
    forward = np.empty((n, places))
    backward = np.zeros((n, places))
    terms = np.empty(places)
    for k in range(counts[0]):
        forward[0, k] = links[0, 0, k] + scores[0, k]
    for i in range(1, n):
        for k in range(counts[i]):
            for j in range(counts[i - 1]):
                terms[j] = forward[i - 1, j] + links[i, j, k]
            forward[i, k] = log_sum(terms[: counts[i - 1]]) + scores[i, k]
    log_z = log_sum(forward[n - 1, : counts[n - 1]])
    for i in range(n - 1, 0, -1):
        for j in range(counts[i - 1]):
            for k in range(counts[i]):
                terms[k] = links[i, j, k] + scores[i, k] + backward[i, k]
            backward[i - 1, j] = log_sum(terms[: counts[i]])
    marginals[:] = 0.0
    pairs[:] = 0.0
    for i in range(n):
        for k in range(counts[i]):
            after = scores[i, k] + backward[i, k] - log_z
            marginals[i, k] = np.exp(forward[i, k] + backward[i, k] - log_z)
            for j in range(counts[i - 1] if i else 1):
                before = forward[i - 1, j] if i else 0.0
                pairs[i, j, k] = np.exp(before + links[i, j, k] + after)
    return log_z


@njit(cache=True, error_model="numpy", fastmath=FAST)
def log_sum(terms):
    """Return the log of the sum of exponentials; at least one is finite."""
    highest = terms.max()
    total = 0.0
    for term in terms:
        total += np.exp(term - highest)
    return highest + np.log(total)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def best_candidates(scores, links, best):
    """Fill the places int64[n] of the best sequence among the candidates. O(n K^2)."""
    n, places = scores.shape
    back = np.empty((n, places), np.int64)
    score = np.full(places, -np.inf)
    there = count_candidates(scores[0])
    for k in range(there):
        score[k] = links[0, 0, k] + scores[0, k]
    following = np.empty(places)
    for i in range(1, n):
        before, there = there, count_candidates(scores[i])
        following[:] = -np.inf
        for k in range(there):
            origin = 0
            for j in range(1, before):
                if score[j] + links[i, j, k] > score[origin] + links[i, origin, k]:
                    origin = j
            following[k] = score[origin] + links[i, origin, k] + scores[i, k]
            back[i, k] = origin
        score, following = following, score
    best[n - 1] = np.argmax(score)
    for i in range(n - 1, 0, -1):
        best[i - 1] = back[i, best[i]]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def analysis_gradient(rows, gold, table, words, weights, transitions, support, places, slopes):
    """Fill the gradient of the gold analyses' loss among candidates; return the loss.

    ``rows`` int32[n, T]: rows of ``weights`` float[R, P] that fire, -1 for none. ``slopes``, filled: by the
    emissions float64[n, P], by ``transitions`` float64[1, X], and by ``support`` float64[L, L].
    """
    starts, parts, values, attributes, _, _ = table
    _, seen, known = words
    of_parts, of_pairs, of_support = slopes
    n = rows.shape[0]
    add_distinctive(rows, weights, table, words, of_parts)
    candidates = np.empty((n, places), np.int64)
    scores = np.empty((n, places))
    propose(of_parts, table, words, support, gold, candidates, scores)
    links = np.empty((n, places, places))
    link(candidates, scores, table, transitions[0], links)
    marginals = np.empty((n, places))
    pairs = np.empty((n, places, places))
    loss = candidate_posterior(scores, links, marginals, pairs)
    of_parts[:] = 0.0
    of_pairs[:] = 0.0
    of_support[:] = 0.0
    # Gold analyses count -1, those of words and of neighbouring pairs.
    before = 0
    for i in range(n):
        right = 0
        while candidates[i, right] != gold[i] or scores[i, right] == -np.inf:
            right += 1
        loss -= scores[i, right] + links[i, before, right]
        marginals[i, right] -= 1.0
        pairs[i, before, right] -= 1.0
        before = right
    there = 1
    for i in range(n):
        earlier, there = there, count_candidates(scores[i])
        of_form = level(known[seen[i] : seen[i + 1], 1].sum() - 1)
        for k in range(there):
            a = candidates[i, k]
            slope = marginals[i, k]
            for q in range(starts[a], starts[a + 1]):
                of_parts[i, parts[q]] += slope
            count = 0
            for q in range(seen[i], seen[i + 1]):
                if known[q, 0] == a:
                    count = known[q, 1] - (1 if a == gold[i] else 0)
            of_support[of_form, level(count)] += slope
            for j in range(earlier):
                start = candidates[i - 1, j] if i else values.shape[0] - 1
                for f in range(values.shape[1]):
                    of_pairs[0, pair_place(attributes, f, values[start, f], values[a, f])] += pairs[i, j, k]
    return loss


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
