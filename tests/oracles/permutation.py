"""All ways to swap the results of two systems, sentence by sentence."""

from itertools import product


def enumerate_swaps(first, second, statistic):
    """Return the share of swaps that put the two systems at least as far apart as they are.

    ``first`` and ``second`` are lists of lists of counts, one inner list a sentence; ``statistic`` takes the
    list of summed counts of one system.
    """
    columns = range(len(first[0])) if first else range(1)

    def gap(swaps):
        ones = [other if swap else one for swap, one, other in zip(swaps, first, second)]
        others = [one if swap else other for swap, one, other in zip(swaps, first, second)]
        return abs(
            statistic([sum(row[column] for row in ones) for column in columns])
            - statistic([sum(row[column] for row in others) for column in columns])
        )

    observed = gap([False] * len(first))
    gaps = [gap(swaps) for swaps in product((False, True), repeat=len(first))]
    return sum(value >= observed - 1e-12 for value in gaps) / len(gaps)
