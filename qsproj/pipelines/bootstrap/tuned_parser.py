"""Teach a parser trees, and judge on held-out ones how sure it may be of text with its own tags."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from qsproj.conventions import ROOT, Floats
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.residual import tuned_and_judged
from qsproj.models.parser import Parser
from qsproj.models.text.text_parser import Readings

# The temperature before counts as judged on this many words.
ENOUGH_WORDS = 100
# Limit of the factor of the temperature, and steps to find it.
MOST = 4.0
STEPS = 12


@dataclass(frozen=True, slots=True, eq=False)
class OwnTags:
    """Tags of a sentence by a tagger that has not seen it; how probably each is wrong, float64[n+1]."""

    tags: tuple[str, ...]
    doubts: Floats


def tuned_parser(
    parser: Parser, trees: Sequence[Sentence], own: Sequence[OwnTags | None], *, rng: np.random.Generator
) -> Parser:
    """Return a parser fine-tuned on trees; of a first-order one the temperature is judged again.

    The mean probability of held-out arcs, parsed with the tagger's ``own`` tags of each tree, becomes the
    share of those that are right. So it is in new text, where about as many tags are wrong.
    """
    if not isinstance(parser, ArcParser):
        return parser.fine_tuned(trees, rng=rng)
    of_tree = {id(tree): tags for tree, tags in zip(trees, own, strict=True)}

    def seen(tree: Sentence) -> Sentence:
        tags = of_tree[id(tree)]
        return tree if tags is None else with_columns(tree, upos=tags.tags)

    tuned, judged = tuned_and_judged(parser, trees, rng=rng, seen=seen)
    own_tags = [(tree, scores, tags) for tree, scores in judged if (tags := of_tree[id(tree)]) is not None]
    words = sum(int(np.count_nonzero(tree.heads >= ROOT)) for tree, *_ in own_tags)
    if not words:
        return tuned

    def overconfidence(parser: ArcParser) -> float:
        """Return the expected number of right heads less that of right ones; marks as the parser judges."""
        excess = 0.0
        for tree, scores, tags in own_tags:
            readings = Readings(
                parser.with_marks(scores, seen(tree), parser.inference), tags.tags, tags.doubts
            )
            known = np.flatnonzero(tree.heads >= ROOT)
            heads = parser.heads(readings.scores)[known]
            excess += float(readings.arc_probabilities(parser)[heads, known].sum())
            excess -= int((heads == tree.heads[known]).sum())
        return excess

    low, high = -np.log(MOST), np.log(MOST)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        flat = replace(tuned, temperature=parser.temperature * float(np.exp(middle)))
        low, high = (middle, high) if overconfidence(flat) > 0.0 else (low, middle)
    factor = np.exp(words / (words + ENOUGH_WORDS) * middle)
    return replace(tuned, temperature=parser.temperature * float(factor))
