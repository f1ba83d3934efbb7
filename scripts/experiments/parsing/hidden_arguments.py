"""Arguments that no treebank of the language shows: a hidden status of each arc, and a valence that counts arguments.

Each dependent is an argument, an adjunct or neither (thesis 5.1.1). Its status has the probability that the relations of a
projected parser give it; how many arguments a type of head takes is learned by EM from parsed text of the
language. Relations are then the most probable ones under both. Tags are gold; relations are compared without subtypes.
"""

from __future__ import annotations

import argparse
import lzma
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.labeller import Labeller
from qsproj.models.storage import load_model_of
from qsproj.models.text.text_parser import TextParser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

LANGUAGES = {
    "German": ("de", "german-gsd-dev"),
    "Spanish": ("es", "spanish-gsd-dev"),
    "Swedish": ("sv", "swedish-talbanken-dev"),
}
ARGUMENTS = ("nsubj", "csubj", "obj", "iobj", "ccomp", "xcomp")
ADJUNCTS = ("obl", "advcl", "advmod", "nmod", "acl", "vocative", "dislocated", "expl")
ADJUNCT, ARGUMENT, NEITHER = 0, 1, 2
TEXT, STEPS = 600, 3
# Counts of its tag that a type of head starts from.
SMOOTHING = 5.0
COLUMNS = ("told", "valence")
# Heads count their arguments up to so many, which stands for more as well.
MOST = 5
# Where a child leads from each number, intp[2, MOST + 1]: nowhere, or to one more.
MOVES = np.stack([np.arange(MOST + 1), np.minimum(np.arange(MOST + 1) + 1, MOST)])

Valence = dict[tuple[str, str], Floats]


def status(relation: str) -> int:
    """Return whether a relation is that of an argument, an adjunct or neither."""
    name = relation.partition(":")[0]
    return ARGUMENT if name in ARGUMENTS else ADJUNCT if name in ADJUNCTS else NEITHER


def counted(chances: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the distribution of the numbers of arguments, and what each child is.

    ``chances`` float64[children, 2]: of being none, and of being one, each child for itself. ``weights``
    float64[MOST + 1]: the factor of each number. The second value is the posterior, shaped as ``chances``.
    """
    steps = np.zeros((len(chances) + 1, MOST + 1))
    steps[0, 0] = 1.0
    for child, own in enumerate(chances):
        for chance, move in zip(own, MOVES, strict=True):
            np.add.at(steps[child + 1], move, chance * steps[child])
    back = weights
    posterior = np.empty_like(chances)
    for child in range(len(chances) - 1, -1, -1):
        after = chances[child][:, None] * back[MOVES]
        posterior[child] = after @ steps[child]
        back = after.sum(axis=0)
    numbers = steps[-1] * weights
    return numbers / numbers.sum(), posterior / posterior.sum(axis=1, keepdims=True)


def families(tree: Sentence, chances: Floats) -> Iterable[tuple[tuple[str, str], list[int], Floats]]:
    """Yield, for each head that is a word, its tag and form, its children, and how probably each is an argument."""
    for head in range(1, len(tree) + 1):
        children = np.flatnonzero(tree.heads == head)
        if len(children):
            yield (tree.upos[head - 1], tree.forms[head - 1].lower()), children.tolist(), chances[children]


def learn(trees: Sequence[tuple[Sentence, Floats]]) -> Valence:
    """Learn by EM how much oftener than by the chances alone a type of head has numbers of arguments.

    Keys are tags with forms, and tags with an empty form for types that are not known.
    """
    cases = [case for tree, chances in trees for case in families(tree, chances)]
    few = np.full(MOST + 1, 0.1)
    plain: dict[str, Floats] = {}
    for (tag, _), _, chances in cases:
        plain[tag] = plain.get(tag, few) + counted(chances, np.ones(MOST + 1))[0]
    base = {tag: numbers / numbers.sum() for tag, numbers in plain.items()}
    valence: Valence = {}
    for _ in range(STEPS):
        by_tag = {tag: 0.1 * numbers for tag, numbers in base.items()}
        by_type: Valence = {}
        for key, _, chances in cases:
            number = counted(chances, factors(valence, key))[0]
            by_tag[key[0]] = by_tag[key[0]] + number
            by_type[key] = by_type.get(key, 0.0) + number
        found = {tag: numbers / numbers.sum() for tag, numbers in by_tag.items()}
        valence = {(tag, ""): numbers / base[tag] for tag, numbers in found.items()}
        for (tag, form), numbers in by_type.items():
            smoothed = numbers + SMOOTHING * found[tag]
            valence[tag, form] = smoothed / smoothed.sum() / base[tag]
    return valence


def factors(valence: Valence, key: tuple[str, str]) -> Floats:
    """Return the factors of the numbers of arguments of a type of head; ones where its tag is not known."""
    return valence.get(key, valence.get((key[0], ""), np.ones(MOST + 1)))


def relations_of(labeller: Labeller, tree: Sentence) -> Floats:
    """Return the probability of each relation of each arc, float64[n+1, L]."""
    return np.clip(labeller.chances(labeller.encode(tree), tree.heads), 1e-9, None)


def statuses(labeller: Labeller) -> NDArray[np.intp]:
    return np.array([status(name) for name in labeller.relations])


def chances_of(labeller: Labeller, relations: Floats) -> Floats:
    """Return the probability of being no argument, and of being one, float64[n+1, 2]."""
    argument = statuses(labeller) == ARGUMENT
    return np.clip(
        np.stack([relations[:, own].sum(axis=1) for own in (~argument, argument)], axis=1), 1e-6, None
    )


def decided(labeller: Labeller, tree: Sentence, valence: Valence) -> list[str]:
    """Return the relations of a tree, where heads count their arguments."""
    relations, own = relations_of(labeller, tree), (statuses(labeller) == ARGUMENT).astype(np.intp)
    for key, children, before in families(tree, chances_of(labeller, relations)):
        after = counted(before, factors(valence, key))[1]
        relations[children] *= (after / before)[:, own]
    return bare(labeller.relations[best] for best in relations.argmax(axis=1)[1:])


def bare(relations: Iterable[str]) -> list[str]:
    return [relation.partition(":")[0] for relation in relations]


def told(labeller: Labeller, tree: Sentence, gold: Sequence[str]) -> list[str]:
    """Return the most probable relations of which each has the status of the gold one."""
    relations = relations_of(labeller, tree)
    for word, name in enumerate(gold, start=1):
        allowed = statuses(labeller) == status(name)
        if allowed.any():
            relations[word, ~allowed] = 0.0
    return bare(labeller.relations[best] for best in relations.argmax(axis=1)[1:])


def measured(model: Path, lines: str, gold: Sequence[Sentence]) -> dict[str, float | str]:
    """Return figures in percent of words, and the most frequent confusions under right heads."""
    made = load_model_of(model, TextParser, expected="a model of text", remedy="make one: qsproj bootstrap")
    parser = made.parser
    if not isinstance(parser, ArcParser) or parser.labeller is None:
        raise ValueError("expected a first-order parser that names relations")
    labeller = parser.labeller
    trees = made.parse_text(lines)
    shown = [relations_of(labeller, tree) for tree in trees]
    parsed = list(parser.parse_all(gold))
    words = sum(map(len, gold))

    def right(ways: Iterable[Sequence[str]]) -> float:
        count = 0
        for one, tree, names in zip(gold, parsed, ways, strict=True):
            heads = (one.heads == tree.heads)[1:].tolist()
            count += sum(on and a == b for on, a, b in zip(heads, names, bare(one.deprels), strict=True))
        return 100 * count / words

    plain = right(bare(tree.deprels) for tree in parsed)
    found: dict[str, float | str] = {"LAS": plain}
    pairs = list(zip(parsed, gold, strict=True))
    found["told"] = right(told(labeller, tree, one.deprels) for tree, one in pairs) - plain
    valence = learn([(tree, chances_of(labeller, own)) for tree, own in zip(trees, shown, strict=True)])
    found["valence"] = right(decided(labeller, tree, valence) for tree in parsed) - plain
    wrong: Counter[tuple[str, str]] = Counter()
    for tree, one in pairs:
        on = (one.heads == tree.heads)[1:].tolist()
        names = zip(on, bare(one.deprels), bare(tree.deprels), strict=True)
        wrong.update((a, b) for same, a, b in names if same and a != b)
    across = sum(count for (a, b), count in wrong.items() if status(a) != status(b))
    found["wrong"], found["across"] = 100 * wrong.total() / words, 100 * across / words
    arguments = {pair: n for pair, n in wrong.items() if ARGUMENT in map(status, pair)}
    most = sorted(arguments.items(), key=lambda item: -item[1])[:6]
    return found | {"confusions": ", ".join(f"{b} for {a} {100 * n / words:.2f}" for (a, b), n in most)}


def run(lab: Lab) -> Figures:
    rows = []
    for name, (language, test) in LANGUAGES.items():
        with lzma.open(lab.bitext_path(language), "rt", encoding="utf-8") as pairs:
            lines = "".join(f"{pair.rstrip().split(chr(9))[-1]}\n" for pair in islice(pairs, TEXT))
        found = measured(lab.options.models / f"{language}.model", lines, lab.treebank(test))
        shares = [f"{found[name]:.2f}" for name in ("LAS", "wrong", "across")]
        gains = [f"{found[name]:+.2f}" for name in COLUMNS]
        rows.append([name, *shares, *gains, str(found["confusions"])])
    header = ["parser", "LAS", "wrong relation", "of another status", *COLUMNS, "most frequent"]
    return Figures(tables={"arguments": table(header, rows)}, values={"text": f"{TEXT:,}"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--models",
        type=Path,
        default=Path("models"),
        metavar="FOLDER",
        help="de.model, es.model and sv.model, of qsproj bootstrap from English (default: %(default)s)",
    )


EXPERIMENT = Experiment(
    file=__file__, about=__doc__, measure=run, page="hidden-arguments", add_arguments=add_arguments
)

if __name__ == "__main__":
    EXPERIMENT.main()
