"""Two subjects of one head: how many errors they are, and what a decoder that excludes them gains (thesis 2.2.5).

Relations are named when the tree is there. The decoder finds the most probable relations of the children of each head
of which one at most is a subject, one an object and one an indirect object. Tags are gold; relations are compared
without subtypes.
"""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from qsproj.conventions import Floats
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.labeller import Labeller
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.models.graph.graph_training import train_graph_parser
from qsproj.models.storage import load_model_of
from qsproj.models.text.text_parser import TextParser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.pages.parsing import arguments
from scripts.experiments.parsing.treebank_rows import SEED
from scripts.experiments.transfer.bootstrap_runs import bootstrap

# Of each kind a head has one at most.
KINDS = (("nsubj", "csubj"), ("obj",), ("iobj",))
# A treebank: which sentences are trained on, and which tested.
TREEBANKS = {
    "Danish-DDT, order 2": ("danish-ddt-dev", None),
    "German-GSD, order 2": ("german-gsd-dev", None),
    "English-EWT 1 in 12, order 2": ("english-ewt-train", "english-ewt-dev"),
}
PROJECTED = {
    "German, projected": ("de", "german-gsd-dev"),
    "Spanish, projected": ("es", "spanish-gsd-dev"),
    "Swedish, projected": ("sv", "swedish-talbanken-dev"),
}
EVERY, FOLD, PAIRS = 12, 5, 2000


def kind_of(relation: str) -> int:
    """Return which of KINDS a relation is; -1 for none."""
    name = relation.partition(":")[0]
    return next((place for place, kind in enumerate(KINDS) if name in kind), -1)


def best_relations(scores: Floats, kinds: Sequence[int]) -> list[int]:
    """Choose the relations of one head's children, float64[children, L]: each kind at most once.

    ``kinds`` of the L relations, -1 for those that may come again. States are the sets of kinds that are taken.
    """
    groups = {kind: np.flatnonzero(np.array(kinds) == kind) for kind in sorted(set(kinds))}
    best: dict[int, tuple[float, list[int]]] = {0: (0.0, [])}
    for row in scores:
        choices = [(kind, int(group[np.argmax(row[group])])) for kind, group in groups.items()]
        after: dict[int, tuple[float, list[int]]] = {}
        for taken, (total, relations) in best.items():
            for kind, relation in choices:
                bit = 0 if kind < 0 else 1 << kind
                reached = total + float(row[relation])
                if not taken & bit and reached > after.get(taken | bit, (-np.inf, []))[0]:
                    after[taken | bit] = (reached, [*relations, relation])
        best = after
    return max(best.values())[1]


def relabelled(labeller: Labeller, tree: Sentence) -> list[str]:
    """Return the relations of a tree by the decoder."""
    with np.errstate(divide="ignore"):
        scores = np.log(labeller.chances(labeller.encode(tree), tree.heads))
    kinds = list(map(kind_of, labeller.relations))
    relations = [""] * len(tree)
    for head in range(len(tree.heads)):
        children = np.flatnonzero(tree.heads == head)
        for child, relation in zip(children.tolist(), best_relations(scores[children], kinds)):
            relations[child - 1] = labeller.relations[relation]
    return relations


def doubled(heads: Sequence[int], relations: Sequence[str]) -> list[int]:
    """Return the words, from 0, that are one of several arguments of a kind of their head."""
    found: dict[tuple[int, int], list[int]] = {}
    for word, (head, relation) in enumerate(zip(heads, relations, strict=True)):
        if kind_of(relation) >= 0:
            found.setdefault((head, kind_of(relation)), []).append(word)
    return [word for words in found.values() if len(words) > 1 for word in words]


def counts(parser: ArcParser | GraphParser, gold: list[Sentence]) -> dict[str, int]:
    """Count words that are doubled, wrong, and set right."""
    labeller = (parser.base if isinstance(parser, GraphParser) else parser).labeller
    names = (
        "words",
        "heads right",
        "right",
        "doubled",
        "doubled of gold",
        "wrong",
        "decoded",
        "still doubled",
    )
    total = dict.fromkeys(names, 0)
    if labeller is None:
        raise ValueError("expected a parser that names relations")
    for one, tree in zip(gold, parser.parse_all(gold), strict=True):
        attached = (one.heads == tree.heads)[1:].tolist()
        heads = tree.heads[1:].tolist()

        def right(
            relations: Sequence[str], one: Sentence = one, attached: list[bool] = attached
        ) -> list[bool]:
            bare = [relation.partition(":")[0] for relation in relations]
            expected = [relation.partition(":")[0] for relation in one.deprels]
            return [on and a == b for on, a, b in zip(attached, bare, expected, strict=True)]

        before, relations = right(tree.deprels), relabelled(labeller, tree)
        twice = doubled(heads, tree.deprels)
        total["words"] += len(one)
        total["heads right"] += sum(attached)
        total["right"] += sum(before)
        total["doubled"] += len(twice)
        total["doubled of gold"] += len(doubled(one.heads[1:].tolist(), one.deprels))
        total["wrong"] += sum(attached[word] and not before[word] for word in twice)
        total["decoded"] += sum(right(relations))
        total["still doubled"] += len(doubled(heads, relations))
    return total


def supervised(lab: Lab, train: str, test: str | None) -> dict[str, int]:
    """Train on a twelfth, or on all of a file but a fifth, which is then parsed."""
    sentences = lab.treebank(train)
    seen = (
        [one for place, one in enumerate(sentences) if place % FOLD] if test is None else sentences[::EVERY]
    )
    parser, _ = train_graph_parser(seen, rng=np.random.default_rng(SEED))
    return counts(parser, sentences[::FOLD] if test is None else lab.treebank(test))


def projected(lab: Lab, language: str, test: str) -> dict[str, int]:
    """Bootstrap a model with the first pairs of a bitext; parse."""
    folder = lab.cache.folder / "arguments"
    folder.mkdir(parents=True, exist_ok=True)
    pairs, model = folder / f"{language}.tsv", folder / f"{language}.model"
    with lzma.open(lab.bitext_path(language), "rb") as lines:
        pairs.write_bytes(b"".join(islice(lines, PAIRS)))
    treebank: Path = lab.treebank_path("english-ewt-train")
    command: list[str | Path] = ["--treebank", treebank, "--bitext", pairs, "--languages", "en", language]
    bootstrap(command, model, work=folder / "work")
    text = load_model_of(model, TextParser, expected="a model of text", remedy="make one: qsproj bootstrap")
    if not isinstance(text.parser, ArcParser):
        raise ValueError("expected a first-order parser")
    return counts(text.parser, lab.treebank(test))


def run(lab: Lab) -> Figures:
    found: dict[str, dict[str, int]] = {}
    for name, (train, test) in TREEBANKS.items():
        paths = [lab.treebank_path(file) for file in (train, test) if file]
        found[name] = lab.cache.figures(name, partial(supervised, lab, train, test), data=paths)
    for name, (language, test) in PROJECTED.items():
        paths = [lab.treebank_path("english-ewt-train"), lab.bitext_path(language), lab.treebank_path(test)]
        found[name] = lab.cache.figures(name, partial(projected, lab, language, test), data=paths)
    rows = []
    for name, one in found.items():
        share = {what: 100 * count / one["words"] for what, count in one.items()}
        rows.append(
            [
                name,
                f"{share['right']:.2f}",
                f"{share['heads right'] - share['right']:.2f}",
                f"{share['doubled']:.2f}",
                f"{share['doubled of gold']:.2f}",
                f"{share['wrong']:.2f}",
                f"{share['decoded'] - share['right']:+.2f}",
                f"{share['still doubled']:.2f}",
            ]
        )
    header = [
        "parser",
        "LAS",
        "wrong relation",
        "doubled",
        "doubled in gold",
        "ceiling",
        "decoder",
        "doubled after",
    ]
    return Figures(tables={"arguments": table(header, rows)}, values={"pairs": f"{PAIRS:,}"})


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="arguments", reading=arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
