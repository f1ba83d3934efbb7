"""Word alignment by enumeration: every alignment of a tiny sentence pair, plain Python."""

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
    """Return (expected jumps, exposures) by clipped distance, see ``qsproj.kernels.hmm_posteriors``."""
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
