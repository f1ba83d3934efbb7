"""Enhanced dependencies of Swedish from those of English: PUD, through links, and new text.

English trees and DEPS are gold, Swedish ones are tested on and not learned from. *Added* is F1 of edges between words that
the tree lacks, gold edges by the gold tree, others by the tree that they came with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.pairs.aligned import pair_aligned
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.enhanced.enhanced_parser import EnhancedParser
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.pipelines.projection.methods import METHODS
from qsproj.pipelines.projection.projected_graphs import project_graphs, with_edges_through_links
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.enhanced import by_rules, copied, scores

SEED = 1
# Of PUD, the first to choose by, the rest to report.
CHOSEN_ON = 600
DEV, TAGGED = "swedish-talbanken-dev", "swedish-talbanken-test"
WAYS = ("copy", "rules", "links alone", "learned", "learned and links")


def pairs_of(lab: Lab, target: Sequence[Sentence]) -> list[SentencePair]:
    """Link English PUD to these Swedish sentences; the training pairs of LinES help the aligner."""
    lines = [list(read_conllu(lab.data / "lines" / f"{one}-train.conllu.gz")) for one in ("en", "sv")]
    english = lab.pud("en")
    words = [(one.forms, other.forms) for one, other in [*zip(english, target), *zip(*lines)]]
    links = list(align_words(words))[: len(english)]
    return list(pair_aligned(english, target, links))


def measure(lab: Lab, *, own_tags: bool) -> dict[str, float]:
    """Project through all pairs of PUD, with gold tags or learned ones; score the trees it writes, and new text."""
    gold = lab.pud("sv")
    target, text = gold, lab.treebank(DEV)
    if own_tags:
        treebank = lab.treebank(TAGGED)
        tagger = train_tagger(treebank, rng=np.random.default_rng(SEED))
        morphology = train_morphology(treebank, rng=np.random.default_rng(SEED))
        assert morphology is not None
        target, text = ([morphology.fill(tagger.tag(one)) for one in own] for own in (target, text))
    pairs, rng = pairs_of(lab, target), np.random.default_rng(SEED)
    projected = project_graphs(METHODS["soft"].project([pairs], rng=rng), [pairs], rng=rng)
    parser = projected.parser
    assert isinstance(parser, EnhancedParser)
    written = {tree.forms: tree for tree in projected.trees()}
    places = [at for at, one in enumerate(gold) if one.forms in written]
    ways: dict[str, Callable[[Sentence, SentencePair], Sentence]] = {
        "copy": lambda tree, _: copied(tree),
        "rules": lambda tree, _: by_rules(tree),
        "links alone": lambda tree, pair: with_edges_through_links(copied(tree), pair),
        "learned": lambda tree, _: parser.enhanced(tree),
        "learned and links": lambda tree, pair: with_edges_through_links(parser.enhanced(tree), pair),
    }
    found: dict[str, float] = {}
    for part, first, last in (("first", 0, CHOSEN_ON), ("rest", CHOSEN_ON, len(gold))):
        own = [at for at in places if first <= at < last]
        for kind, trees in (
            ("gold trees", gold),
            ("projected trees", [written.get(g.forms, g) for g in gold]),
        ):
            for way, make in ways.items():
                made = [make(trees[at], pairs[at]) for at in own]
                for name, value in scores([gold[at] for at in own], made).items():
                    found[f"{part}|{kind}|{way}|{name}"] = value
        found[f"{part}|sentences"] = len(own)
    known = lab.treebank(DEV)
    for kind, trees in (("gold trees", known), ("parsed trees", list(parser.parse_all(text)))):
        for way in ("copy", "rules", "learned"):
            made = [ways[way](tree, pairs[0]) for tree in trees]
            for name, value in scores(known, made).items():
                found[f"text|{kind}|{way}|{name}"] = value
    return found


def run(lab: Lab) -> Figures:
    data = [lab.pud_path("en"), lab.pud_path("sv"), lab.treebank_path(DEV), lab.treebank_path(TAGGED)]
    rows, text = [], []
    values = {}
    for tags in ("gold tags", "own tags"):
        found = lab.cache.figures(
            f"projected graphs, {tags}", partial(measure, lab, own_tags=tags == "own tags"), data=data
        )
        for part, name in (("first", f"1-{CHOSEN_ON}"), ("rest", f"{CHOSEN_ON + 1}-1000")):
            values[f"{name}, sentences"] = str(found[f"{part}|sentences"])
            for kind in ("gold trees", "projected trees"):
                if tags == "own tags" and kind == "gold trees":
                    continue
                rows.append([f"PUD {name}", tags, kind, *_cells(found, f"{part}|{kind}", WAYS)])
        for kind in ("gold trees", "parsed trees"):
            if tags == "gold tags" or kind == "parsed trees":
                cells = _cells(found, f"text|{kind}", ("copy", "rules", "learned"))
                text.append(["Talbanken dev", tags, kind, *cells])
    return Figures(
        tables={"pairs": _table(rows, WAYS), "text": _table(text, ("copy", "rules", "learned"))},
        values=values,
    )


def _cells(found: dict[str, float], of: str, ways: Sequence[str]) -> list[str]:
    cells = [found[f"{of}|copy|LAS"]]
    for way in ways:
        cells += [found[f"{of}|{way}|{score}"] for score in ("ELAS", "added")]
    return [f"{cell:.1f}" for cell in cells]


def _table(rows: list[list[str]], ways: Sequence[str]) -> Table:
    heads = [f"{way}, {score}" for way in ways for score in ("ELAS", "added")]
    return table(["text", "tags", "trees", "LAS", *heads], rows)


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="enhanced-projected")

if __name__ == "__main__":
    EXPERIMENT.main()
