"""Measure relations and tags in joint parsing, with and without those of the source, by number of trees."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.joint.joint_options import BiparseOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_trees import first_order
from qsproj.models.storage import load_model_of
from qsproj.models.tagging.link_tagger import untagged
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.tagging.tagging_parser_training import cross_fitted_tags
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures as PageFigures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.joint.corpora import CORPORA, link_files, pairs_of, source_parser

# Kinds of tags, and ways to decide relations.
GOLD, SECOND_ORDER = "gold tags and features", "gold tags and features, second order"
TAGGER, LINKS, JOINTLY = "the tagger's tags", "tags through links", "tags decided with trees"
TARGET_PARSER, AFTER, TOGETHER = "target parser alone", "joint, labels after", "joint, labels joint"
NAMES = ("lines", "partut")
SIZES = (100, 200)
KINDS = (GOLD, SECOND_ORDER, TAGGER, LINKS, JOINTLY)
# Values of --tags.
TAGS = {LINKS: "links", JOINTLY: "joint"}
ENGLISH_SENTENCES = 5000

# UAS, LAS, LAS without subtypes, UPOS; by way to parse.
Scores = dict[str, list[float]]


def bare(sentence: Sentence) -> Sentence:
    """Return the sentence with forms, UPOS and tree, and nothing else."""
    cells = (UNSPECIFIED,) * len(sentence)
    return with_columns(sentence, lemmas=cells, xpos=cells, feats=cells)


def english_tagger(lab: Lab) -> Tagger:
    """Return a tagger of English trained on other data than the corpora."""

    def train(path: Path) -> None:
        sentences = list(islice(lab.treebank("english-ewt-train"), ENGLISH_SENTENCES))
        train_tagger(sentences, rng=np.random.default_rng(1)).save(path)

    data = [lab.treebank_path("english-ewt-train")]
    path = lab.cache.file("en.tagger", train, data=data, experiment=Path(__file__))
    return load_model_of(path, Tagger, expected="the English tagger", remedy="remove it")


Pairs = list[SentencePair]


def tagged(kind: str, english: Tagger, train: Pairs, test: Pairs) -> tuple[Pairs, Pairs]:
    """Return pairs with the tags of a kind: to train on as if they had not been seen, and to parse."""
    if kind in {GOLD, SECOND_ORDER}:
        return train, test
    train, test = (
        [replace(pair, source=english.tag(bare(pair.source)), target=bare(pair.target)) for pair in pairs]
        for pairs in (train, test)
    )
    if kind in TAGS:
        return train, [untagged(pair) for pair in test]
    targets = [pair.target for pair in train]
    tagger = train_tagger(targets, rng=np.random.default_rng(1))
    _, crossed = cross_fitted_tags(targets, tagger, rng=np.random.default_rng(1))
    train = [replace(pair, target=target) for pair, target in zip(train, crossed, strict=True)]
    return train, [replace(pair, target=tagger.tag(pair.target)) for pair in test]


def scores(lab: Lab, corpus: str, size: int, kind: str) -> Scores:
    """Train a joint parser on pairs with the tags of a kind, and score it."""
    train, gold = pairs_of(lab, CORPORA[corpus])
    first, test = tagged(kind, english_tagger(lab), train[:size], gold)
    options = BiparseOptions(order=2 if kind == SECOND_ORDER else 1, tags=TAGS.get(kind, "given"))
    parser, _ = train_joint_parser(first, source_parser(lab), rng=np.random.default_rng(1), options=options)
    return parsed(parser, test, [pair.target for pair in gold])


def parsed(parser: JointParser, test: Pairs, gold: Sequence[Sentence]) -> Scores:
    """Score a joint parser, its trees with the relations of the target's labeller, and its target parser."""
    joint = [parser.parse_pair(pair.source, pair.target, pair.alignment).target for pair in test]
    labeller = first_order(parser.target)
    ways = {
        TARGET_PARSER: [parser.target.parse(sentence) for sentence in joint],
        AFTER: [labeller.attached(sentence, sentence.heads) for sentence in joint],
        TOGETHER: joint,
    }
    found = zip(ways, attachment_scores(gold, list(ways.values())), strict=True)
    return {way: [one.uas, one.las, one.las_no_subtypes, one.upos] for way, one in found}


def run(lab: Lab) -> PageFigures:
    tables: dict[str, Table] = {}
    for corpus in lab.options.corpora:
        rows = []
        files = [*link_files(lab, CORPORA[corpus]), lab.treebank_path("english-ewt-train")]
        for size in lab.options.sizes:
            for kind in KINDS:
                found = lab.cache.figures(
                    f"{corpus} {size} {kind}",
                    partial(scores, lab, corpus, size, kind),
                    options={"corpus": corpus, "size": size, "tags": kind},
                    data=files,
                )
                rows += [
                    [str(size), kind, way, *(f"{value:.2f}" for value in values)]
                    for way, values in found.items()
                ]
        tables[corpus] = table(["trees", "tags", "parser", "UAS", "LAS", "LAS, no subtypes", "UPOS"], rows)
    return PageFigures(tables=tables)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpora", nargs="*", choices=NAMES, default=list(NAMES), help="default: all")
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES), help="numbers of training pairs")


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
