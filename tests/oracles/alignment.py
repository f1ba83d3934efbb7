"""Word alignment by enumeration: every alignment of a tiny sentence pair, plain Python."""

from functools import partial
from itertools import pairwise, product
from math import log


def clipped(distance, reach):
    return max(-reach - 1, min(reach + 1, distance))


def alignments(n, m):
    """Yield tuples: for each generated word the word (1..m) that it comes from, 0 for NULL."""
    return product(range(m + 1), repeat=n)


def ibm1_weight(links, emissions, null_emissions, null_probability):
    m = len(emissions[0])
    weight = 1.0
    for j, i in enumerate(links):
        if i == 0:
            weight *= null_probability * null_emissions[j]
        else:
            weight *= (1 - null_probability) / m * emissions[j][i - 1]
    return weight


def hmm_jumps(links, m):
    """Return the pairs (last position, next position) of an alignment, the jump to the end included."""
    stops = [0, *(i for i in links if i != 0), m + 1]
    return list(pairwise(stops))


def hmm_weight(links, emissions, null_emissions, null_probability, jump):
    m = len(emissions[0])
    reach = len(jump) // 2 - 1
    weight = 1.0
    for p, q in hmm_jumps(links, m):
        total = sum(jump[clipped(other - p, reach) + reach + 1] for other in range(1, m + 2))
        weight *= jump[clipped(q - p, reach) + reach + 1] / total
    for j, i in enumerate(links):
        if i == 0:
            weight *= null_probability * null_emissions[j]
        else:
            weight *= (1 - null_probability) * emissions[j][i - 1]
    return weight


def posteriors(n, m, weight):
    """Return (posteriors[n][m], null posteriors[n], log-likelihood) under ``weight(links)``."""
    table = [[0.0] * (m + 1) for _ in range(n)]
    total = 0.0
    for links in alignments(n, m):
        mass = weight(links)
        total += mass
        for j, i in enumerate(links):
            table[j][i] += mass
    rows = [[value / total for value in row] for row in table]
    return [row[1:] for row in rows], [row[0] for row in rows], log(total)


def jump_statistics(n, m, weight, jump):
    """Return (expected jumps, exposures) by clipped distance, see ``qsproj.kernels.align.hmm``."""
    reach = len(jump) // 2 - 1
    counts, exposures = [0.0] * len(jump), [0.0] * len(jump)
    total = sum(weight(links) for links in alignments(n, m))
    for links in alignments(n, m):
        share = weight(links) / total
        for p, q in hmm_jumps(links, m):
            counts[clipped(q - p, reach) + reach + 1] += share
            places = [clipped(other - p, reach) + reach + 1 for other in range(1, m + 2)]
            normaliser = sum(jump[place] for place in places)
            for place in places:
                exposures[place] += share / normaliser
    return counts, exposures


def shared_pairs(sources, targets):
    """Return the set of (source word, target word) that occur in one sentence pair."""
    return {(e, f) for source, target in zip(sources, targets) for e in source for f in target}


def alignment_scores(gold, found):
    """Return (precision, recall, AER) from (sure set, possible set) pairs and link sets."""
    right_sure = sum(len(links & sure) for (sure, _), links in zip(gold, found))
    right_possible = sum(len(links & (sure | possible)) for (sure, possible), links in zip(gold, found))
    sure_total = sum(len(sure) for sure, _ in gold)
    found_total = sum(len(links) for links in found)
    return (
        right_possible / found_total,
        right_sure / sure_total,
        1 - (right_sure + right_possible) / (sure_total + found_total),
    )


def grow_diag(forward, backward):
    """Return the links of Koehn, Och and Marcu's grow-diag, from sets of (source, target)."""
    links = forward & backward
    union = forward | backward
    grown = True
    while grown:
        grown = False
        for i, j in sorted(links):
            for di, dj in [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]:
                new = (i + di, j + dj)
                free = all(i + di != a for a, _ in links) or all(j + dj != b for _, b in links)
                if new in union and new not in links and free:
                    links = links | {new}
                    grown = True
    return links


def grow_diag_final_and(forward, backward):
    links = grow_diag(forward, backward)
    for candidates in (forward, backward):
        for i, j in sorted(candidates):
            if all(i != a for a, _ in links) and all(j != b for _, b in links):
                links = links | {(i, j)}
    return links


def emissions(generated, origins, counts, null_counts, prior, null_prior, pairs):
    """Return p(generated word | origin) [n][m] and p(generated word | NULL) [n] from dictionaries of counts.

    ``counts`` and ``pairs``, the pairs that may be linked, hold (origin, generated).
    """
    vocabulary = {f for _, f in pairs}
    table = [
        [
            (counts.get((e, f), 0.0) + prior)
            / sum(counts.get((e, other), 0.0) + prior for other in vocabulary if (e, other) in pairs)
            for e in origins
        ]
        for f in generated
    ]
    null_total = sum(null_counts.get(f, 0.0) + null_prior for f in vocabulary)
    return table, [(null_counts.get(f, 0.0) + null_prior) / null_total for f in generated]


def leave_one_out_sweep(sources, targets, shares, nulls, *, model, prior, null_prior, null_probability):
    """Align each sentence by the shares of all others, and replace its share; return its posteriors.

    ``shares[s]`` maps (i, j) to a weight, ``nulls[s]`` is (source weights, target weights); both change.
    ``model`` is ``"ibm1"``, or the jump weights of both directions.
    """
    pairs = shared_pairs(sources, targets)
    reversed_pairs = {(f, e) for e, f in pairs}
    results = []
    for s, (source, target) in enumerate(zip(sources, targets)):
        counts, source_nulls, target_nulls = {}, {}, {}
        for o, (one, other) in enumerate(zip(sources, targets)):
            if o == s:
                continue
            for (i, j), share in shares[o].items():
                counts[one[i], other[j]] = counts.get((one[i], other[j]), 0.0) + share
            for words, weights, table in (
                (one, nulls[o][0], source_nulls),
                (other, nulls[o][1], target_nulls),
            ):
                for word, weight in zip(words, weights):
                    table[word] = table.get(word, 0.0) + weight
        reversed_counts = {(f, e): count for (e, f), count in counts.items()}
        directions = (
            (target, source, counts, target_nulls, pairs),
            (source, target, reversed_counts, source_nulls, reversed_pairs),
        )
        both = []
        for direction, (generated, origins, table, null_table, known) in enumerate(directions):
            words, null_words = emissions(generated, origins, table, null_table, prior, null_prior, known)
            if model == "ibm1":
                weight = partial(ibm1_weight, emissions=words, null_emissions=null_words)
            else:
                weight = partial(
                    hmm_weight, emissions=words, null_emissions=null_words, jump=model[direction]
                )
            weight = partial(weight, null_probability=null_probability)
            both.append(posteriors(len(generated), len(origins), weight))
        forward, backward = both
        for i, j in shares[s]:
            there, back = forward[0][j][i], backward[0][i][j]
            shares[s][i, j] = (there + back) / 2 if model == "ibm1" else there * back
        nulls[s] = (backward[1], forward[1])
        results.append((forward[0], backward[0]))
    return results
