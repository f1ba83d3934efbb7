"""Attach punctuation marks as the guidelines of Universal Dependencies say, given the tree of the words.

Marks are leaves. A mark between two parts of a sentence depends on the highest word of the part that depends
on the other one: a comma on the verb of the subordinate clause that it opens or closes, or on the following
conjunct. Brackets and quotation marks depend on the head of what they enclose, final marks on the root. No
arc crosses another because of a mark.

*Source*: https://universaldependencies.org/u/dep/punct.html; the code is ours.
"""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from qsproj.conventions import ROOT, Heads, Mask, Scores
from qsproj.models.constraints import ConstrainedInference
from qsproj.models.tree_decoder import TreeDecoder

PUNCT = "PUNCT"
# Words that a mark after them does not depend on, unless it ends the sentence.
FUNCTION_TAGS = frozenset({"ADP", "AUX", "CCONJ", "DET", "PART", "SCONJ"})
# Number of trees whose words marks are attached to, drawn from the parser's distribution; fewer for sentences
# of more than LONG words. With a fixed seed, parsing a sentence again gives the same tree.
SAMPLED, LONG, SEED = 20, 150, 1
LEAST = 1e-9  # smallest probability of an arc into a mark, so that scores stay finite
# In UD, brackets and quotation marks attach to one word between them: 88 to 99% of them, in PUD of six
# languages. An arc's score does not see the other mark, and closing ones often attach to the root or the next
# verb. So their arcs gain this times the probability of those of the opening ones; 8 and 16 were alike.
TOGETHER = 12.0
# Closing marks by opening mark; German closes with the mark that opens in English, and some print »so«.
_CLOSING = {
    **dict(zip("([{«»‹›“‘（「『《【", ")]}»«›‹”’）」』》】", strict=True)),
    **{"„": "“”", "‚": "‘’", '"': '"', "``": ("''",), "<<": (">>",), ">>": ("<<",)},
}


def are_marks(tags: Sequence[str]) -> Mask:
    """Return which words are tagged as marks, bool[n+1]."""
    return np.array([False, *(tag == PUNCT for tag in tags)])


def paired_marks(forms: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places 1..n of opening and closing marks; an unclosed mark has no pair."""
    found, opened = list[tuple[int, int]](), list[int]()
    for place, form in enumerate(forms, start=1):
        closed = next((i for i in reversed(opened) if form in _CLOSING[forms[i - 1]]), None)
        if form and closed is not None:
            found.append((closed, place))
            del opened[opened.index(closed) :]
        elif form in _CLOSING:
            opened.append(place)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class TreeOfWords:
    """A tree without its marks."""

    forms: Sequence[str]
    tags: Sequence[str]  # UPOS of words and marks
    words: list[int]  # places of the words, ascending
    heads: list[int]  # of each word 1..n, marks passed over; those of marks are not read
    first: list[int]  # the first word of each word's subtree

    def part_within(self, word: int, places: range) -> list[int]:
        """Return the word and those above it, up to the first with a head outside some places."""
        found = [word]
        while self.heads[found[-1]] in places:
            found.append(self.heads[found[-1]])
        return found

    def attachment(self, mark: int) -> int:
        """Return the word that a mark depends on."""
        at, end = bisect(self.words, mark), len(self.heads)
        left = self.part_within(self.words[at - 1], range(1, mark)) if at > 0 else []
        right = self.part_within(self.words[at], range(mark + 1, end)) if at < len(self.words) else []
        if not (left and right):
            return (left or right)[-1]
        above_left, above_right = self.heads[left[-1]], self.heads[right[-1]]
        # The shorter of the two arcs over the mark is inside the other one; that to the root is the longest.
        if above_left == ROOT or (above_right != ROOT and above_left - left[-1] > right[-1] - above_right):
            return right[-1]
        if self.tags[left[-1] - 1] in FUNCTION_TAGS:
            # "And, however, they left": the part after the mark with the same head; else that head.
            return next((one for one in right if self.heads[one] == above_left), above_left)
        # A part between two equal marks: "the man, who came, left".
        closed = [one for one in left if self.mark_before(one) == self.forms[mark - 1]]
        return closed[-1] if closed else left[-1]

    def mark_before(self, word: int) -> str | None:
        """Return the mark directly before the first word under a word."""
        place = self.first[word] - 1
        return self.forms[place - 1] if place > 0 and self.tags[place - 1] == PUNCT else None


def tree_of_words(forms: Sequence[str], tags: Sequence[str], heads: Heads) -> TreeOfWords:
    """Take the marks, words tagged PUNCT, out of a tree int32[n+1]; their dependents rise to their heads."""
    above = heads.tolist()
    is_mark = are_marks(tags).tolist()
    words = [word for word in range(1, len(above)) if not is_mark[word]]
    for word in words:
        while is_mark[above[word]]:
            above[word] = above[above[word]]
    first = list(range(len(above)))
    for word in words:
        ancestor = word
        while ancestor != ROOT:
            first[ancestor] = min(first[ancestor], word)
            ancestor = above[ancestor]
    return TreeOfWords(forms, tags, words, above, first)


def mark_heads(tree: TreeOfWords, pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return the head of each mark by the guidelines, given the :func:`paired_marks`."""
    if not tree.words:
        # The first mark is the root, and head of the others.
        return {mark: min(mark - 1, 1) for mark in range(1, len(tree.forms) + 1)}
    found = {mark: tree.attachment(mark) for mark, tag in enumerate(tree.tags, start=1) if tag == PUNCT}
    for opening, closing in pairs:
        # The words between two marks with heads outside: to a single one both marks are attached.
        inside = [word for word in tree.words if opening < word < closing]
        outer = [word for word in inside if not opening < tree.heads[word] < closing]
        if len(outer) == 1 and opening in found and closing in found:
            found[opening] = found[closing] = outer[0]
    return found


def with_marks_attached(
    scores: Scores, forms: Sequence[str], tags: Sequence[str], trees: TreeDecoder, *, temperature: float = 1.0
) -> Scores:
    """Return arc scores with other arcs into the marks of a sentence; those into words stay.

    The probability of such an arc is the mean of the parser's own and of the share of sampled trees in which
    the guidelines attach the mark so: the best tree alone would pass all its errors on to the marks. Closing
    marks gain the arcs of opening ones. ``scores`` float64[n+1, n+1], natural log, divided by ``temperature``
    for probabilities.
    """
    if PUNCT not in tags:
        return scores
    tempered = scores / temperature
    marked = are_marks(tags)
    if isinstance(trees, ConstrainedInference):
        # Decoding adds the evidence of known relations to the new scores of marks.
        trees = replace(trees, evidence=np.where(marked, 0.0, trees.evidence))
    by_guidelines = np.zeros_like(scores)
    size = max(min(SAMPLED, SAMPLED * LONG // len(forms)), 1)
    pairs = [(a, b) for a, b in paired_marks(forms) if b > a + 1 and marked[a] and marked[b]]
    for heads in trees.sample(tempered, size, np.random.default_rng(SEED)):
        for mark, head in mark_heads(tree_of_words(forms, tags, heads), pairs).items():
            by_guidelines[head, mark] += 1.0 / size
    # Marks alone follow the guidelines in full: half the probability of each would make chains.
    own = by_guidelines if set(tags) == {PUNCT} else trees.infer(tempered)[1]
    marks = np.flatnonzero(by_guidelines.any(axis=0))
    mixed = np.maximum(0.5 * (own[:, marks] + by_guidelines[:, marks]), LEAST)
    changed = scores.copy()
    changed[:, marks] = temperature * np.log(mixed)
    if pairs:
        chances = trees.infer(changed / temperature)[1]
        for first, last in pairs:
            changed[first + 1 : last, last] += TOGETHER * chances[first + 1 : last, first]
    return changed
