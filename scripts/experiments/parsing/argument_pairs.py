"""Relations of neighbouring dependents of a head: what setting arguments right could gain, and what a chain gains.

The relations of a head's dependents on one side, outwards, are a chain: its scores are those of each relation given
the tree, and of each pair of neighbours how much oftener it was seen with such a head than by chance. First-order parsers, gold tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from qsproj.conventions import Floats
from qsproj.corpus.cells import bare_relation
from qsproj.corpus.sentence import Sentence
from qsproj.kernels.tagging.linear_chain import viterbi
from qsproj.models.arc.arc_training import train_arc_parser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.parsing.arguments import EVERY, FOLD, TREEBANKS
from scripts.experiments.parsing.treebank_rows import SEED

ARGUMENTS = {"nsubj", "csubj", "obj", "iobj", "obl", "ccomp", "xcomp"}
WEIGHTS = (0.25, 0.5, 1.0)
# Of pairs that are neither seen nor expected.
SHRINKAGE = 2.0


def chains(sentence: Sentence) -> Iterator[tuple[tuple[str, int], list[int]]]:
    """Yield the dependents of each head on one side, outwards, with its tag and the side."""
    for head in range(1, len(sentence.heads)):
        for side, words in enumerate((range(head - 1, 0, -1), range(head + 1, len(sentence.heads)))):
            dependents = [word for word in words if sentence.heads[word] == head]
            if dependents:
                yield (sentence.upos[head - 1], side), dependents


def neighbours(sentences: Sequence[Sentence], relations: Sequence[str]) -> dict[tuple[str, int], Floats]:
    """Return for each kind of chain how much oftener each pair was seen than by chance, as of ``viterbi``."""
    places = {relation: place for place, relation in enumerate(relations)}
    first = len(relations)
    counts: dict[tuple[str, int], Floats] = {}
    for sentence in sentences:
        for kind, words in chains(sentence):
            seen = counts.setdefault(kind, np.zeros((first + 1, first)))
            before = first
            for word in words:
                place = places.get(sentence.deprels[word - 1])
                if place is None:
                    break
                seen[before, place] += 1.0
                before = place
    return {
        kind: np.log((seen + SHRINKAGE) / (seen.sum(1, keepdims=True) * seen.sum(0) / seen.sum() + SHRINKAGE))
        for kind, seen in counts.items()
        if seen.any()
    }


def measure(lab: Lab, train: str, test: str | None) -> dict[str, float]:
    """Return percentages of the words of a test file, or of a fifth of the file that is trained on."""
    sentences = lab.treebank(train)
    seen = [one for at, one in enumerate(sentences) if at % FOLD] if test is None else sentences[::EVERY]
    parser, _ = train_arc_parser(seen, rng=np.random.default_rng(SEED))
    labeller = parser.labeller
    assert labeller is not None
    pairs = neighbours(seen, labeller.relations)
    gold = sentences[::FOLD] if test is None else lab.treebank(test)
    total = dict.fromkeys(["words", "right", "wrong", "arguments", *map(str, WEIGHTS)], 0)
    for one, tree in zip(gold, parser.parse_all(gold), strict=True):
        attached = (one.heads == tree.heads)[1:]
        expected = np.array([bare_relation(own) for own in one.deprels])

        def right(relations: Sequence[str], expected: object = expected, on: object = attached) -> int:
            return int(
                np.count_nonzero(on & (np.array([bare_relation(own) for own in relations]) == expected))
            )

        found = [bare_relation(own) for own in tree.deprels]
        total["words"] += len(one)
        total["right"] += right(tree.deprels)
        total["wrong"] += int(attached.sum()) - right(tree.deprels)
        total["arguments"] += sum(
            on and a != b and {a, b} <= ARGUMENTS for on, a, b in zip(attached, found, expected, strict=True)
        )
        with np.errstate(divide="ignore"):
            scores = np.maximum(np.log(labeller.chances(labeller.encode(tree), tree.heads)), -50.0)
        for weight in WEIGHTS:
            relations = list(tree.deprels)
            for kind, words in chains(tree):
                if kind in pairs:
                    best = np.empty(len(words), dtype=np.int32)
                    viterbi(scores[words], weight * pairs[kind], best)
                    for word, place in zip(words, best.tolist(), strict=True):
                        relations[word - 1] = labeller.relations[place]
            total[str(weight)] += right(relations)
    return {name: 100 * count / total["words"] for name, count in total.items()}


def run(lab: Lab) -> Figures:
    rows = []
    for title, (train, test) in TREEBANKS.items():
        name = title.removesuffix(", order 2")
        paths = [lab.treebank_path(file) for file in (train, test) if file]
        found = lab.cache.figures(name, partial(measure, lab, train, test), data=paths)
        gains = [f"{found[str(weight)] - found['right']:+.2f}" for weight in WEIGHTS]
        rows.append([name, *(f"{found[one]:.2f}" for one in ("right", "wrong", "arguments")), *gains])
    header = [
        "parser",
        "LAS",
        "wrong relation",
        "of arguments",
        *(f"chain, {weight:g}" for weight in WEIGHTS),
    ]
    return Figures(tables={"pairs": table(header, rows)})


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="argument-pairs")

if __name__ == "__main__":
    EXPERIMENT.main()
