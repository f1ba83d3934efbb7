"""Match the words of two files of the same text, however each file cuts it.

*Source*: the scorer of the CoNLL 2018 shared task (universaldependencies.org/conll18/evaluation.html):

- A word that is a token of its own is aligned with such a word of the same characters.
- Where either file has a multiword token, the words of both under it, and under all tokens that overlap with
  it, are aligned by the longest common subsequence of their lower-cased forms.
"""

from __future__ import annotations

from collections.abc import Sequence

# First character and the one after the last, counted in the text of both files without white space.
Span = tuple[int, int]
# The span of a word's token, and whether that is a multiword token.
PlacedWord = tuple[Span, bool]


def aligned_words(
    gold: Sequence[PlacedWord],
    system: Sequence[PlacedWord],
    gold_forms: Sequence[str],
    system_forms: Sequence[str],
) -> list[tuple[int, int]]:
    """Return which words of two files are the same, as pairs of indices in ascending order.

    ``gold``, ``system``: The words in order. ``gold_forms``, ``system_forms``: Their forms, compared in lower
    case.
    """
    pairs = []
    i = j = 0
    while i < len(gold) and j < len(system):
        if gold[i][1] or system[j][1]:
            i, j, ends = _stretch(gold, system, i, j)
            common = _common(
                [form.lower() for form in gold_forms[i : ends[0]]],
                [form.lower() for form in system_forms[j : ends[1]]],
            )
            pairs += [(i + a, j + b) for a, b in common]
            i, j = ends
        elif gold[i][0] == system[j][0]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif gold[i][0][0] <= system[j][0][0]:
            i += 1
        else:
            j += 1
    return pairs


def _stretch(
    gold: Sequence[PlacedWord], system: Sequence[PlacedWord], i: int, j: int
) -> tuple[int, int, tuple[int, int]]:
    """Return where the words under multiword tokens that overlap begin and end in both files.

    Word ``i`` or word ``j`` is part of such a token. One word of the other file that begins before it is
    passed over, as the shared task's scorer does.
    """
    (gold_span, multiword), (system_span, _) = gold[i], system[j]
    end = gold_span[1] if multiword else system_span[1]
    if multiword and not system[j][1] and system_span[0] < gold_span[0]:
        j += 1
    elif not multiword and gold_span[0] < system_span[0]:
        i += 1
    ends = [i, j]
    sides = (gold, system)
    while any(_reaches_into(words, at, end) for words, at in zip(sides, ends)):
        # Whichever begins first belongs to it, even a word that begins within and ends behind.
        side = min((words[at][0][0], n) for n, (words, at) in enumerate(zip(sides, ends)) if at < len(words))[
            1
        ]
        span, multiword = sides[side][ends[side]]
        end = max(end, span[1]) if multiword else end
        ends[side] += 1
    return i, j, (ends[0], ends[1])


def _reaches_into(words: Sequence[PlacedWord], at: int, end: int) -> bool:
    """Return whether a word lies before ``end``, or the multiword token that it is part of begins before."""
    if at == len(words):
        return False
    (first, last), multiword = words[at]
    return first < end if multiword else last <= end


def _common(gold: Sequence[str], system: Sequence[str]) -> list[tuple[int, int]]:
    """Return the indices of a longest common subsequence, the one that matches words as early as it can."""
    longest = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]
    for i in range(len(gold) - 1, -1, -1):
        for j in range(len(system) - 1, -1, -1):
            if gold[i] == system[j]:
                longest[i][j] = 1 + longest[i + 1][j + 1]
            else:
                longest[i][j] = max(longest[i + 1][j], longest[i][j + 1])
    pairs = []
    i = j = 0
    while i < len(gold) and j < len(system):
        if gold[i] == system[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
