"""Measure joint parsing without target trees: a model of English and Italian, with projected parsers of other languages.

Projected parsers are trained on a part of each bitext, with tags of taggers of other treebanks. Test data are all of PUD
with gold tags; its trees are used neither for training nor for choosing settings.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.joint.joint_options import MIN_PROBABILITY_OF_GIVEN, BiparseOptions, JointOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.storage import load_model_of
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.projection.priors import translated_prior
from qsproj.pipelines.projection.soft_projection import project_soft
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures as PageFigures
from scripts.experiments.harness.tables import table
from scripts.experiments.joint.conditions import accuracy, accuracy_alone
from scripts.experiments.joint.corpora import (
    CORPORA,
    Corpus,
    aligned_bitext,
    link_files,
    pairs_of,
    pud_corpus,
    source_parser,
)
from scripts.experiments.joint.kept import Figures
from scripts.experiments.joint.real_tags import english_tagger

PROJECTED = "the projected parser"
JOINT, PIPELINED = "in the joint model, source tree inferred", "in the joint model, 1-best source tree"
# By language: its name, and a treebank of which its tagger knows.
LANGUAGES = {
    "de": ("German", "german-gsd-dev"),
    "es": ("Spanish", "spanish-gsd-dev"),
    "sv": ("Swedish", "swedish-talbanken-dev"),
}
# Number of pairs for training the joint model; the Italian parser is projected through the others.
LENDER, LENT = "partut", 400
PROJECTED_PAIRS, LONGEST = 4000, 40
WAYS = {JOINT: "joint", PIPELINED: "best"}


def corpus_of(language: str) -> Corpus:
    """Return English PUD with that of a language, all of it to test on."""
    name = LANGUAGES[language][0]
    corpus = pud_corpus(language, name, (f"bitext/en-{language}.tsv.xz", ("en", language)))
    return replace(corpus, test=corpus.aligned[0], title=f"PUD, English-{name}")


def projected(pairs: Iterable[SentencePair]) -> ArcParser:
    """Project a parser through pairs whose source sides have trees, as `qsproj project` does."""
    rng, corpora = np.random.default_rng(1), [list(pairs)]
    found = project_soft(corpora, priors=[translated_prior(corpora, rng=rng)], rng=rng).parser
    assert isinstance(found, ArcParser)
    return found


def parsed_pairs(lab: Lab, pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    """Parse the source sides; drop the trees of target sides."""
    parser = source_parser(lab)
    for pair in pairs:
        bare = replace(pair.target, heads=np.full(len(pair.target) + 1, -1, dtype=np.int32))
        yield replace(pair, source=parser.parse(pair.source), target=bare)


def tagged_bitext(lab: Lab, language: str) -> Iterator[SentencePair]:
    """Yield pairs of a bitext, both sides tagged, with their links."""
    english = english_tagger(lab)
    target = train_tagger(lab.treebank(LANGUAGES[language][1]), rng=np.random.default_rng(1))
    short = (
        (one, other, links)
        for one, other, links in aligned_bitext(lab, corpus_of(language))
        if max(len(one), len(other)) <= LONGEST
    )
    for one, other, links in islice(short, PROJECTED_PAIRS):
        source, words = english.tag(Sentence.from_words(one)), target.tag(Sentence.from_words(other))
        yield SentencePair(source, words, links)


def projected_parser(lab: Lab, language: str) -> ArcParser:
    """Return the projected parser of a language, made when it is first asked for."""

    def make(path: Path) -> None:
        projected(parsed_pairs(lab, tagged_bitext(lab, language))).save(path)

    treebanks = [lab.treebank_path(name) for name in (LANGUAGES[language][1], "english-ewt-train")]
    data = [*link_files(lab, corpus_of(language)), *treebanks]
    path = lab.cache.file(f"{language}.projected", make, options={"pairs": PROJECTED_PAIRS}, data=data)
    return load_model_of(path, ArcParser, expected="a projected parser", remedy="remove it")


def lender(lab: Lab, source_tree: str) -> JointParser:
    """Return the joint model of English and Italian, trained with a projected Italian parser."""

    def make(path: Path) -> None:
        train, _ = pairs_of(lab, CORPORA[LENDER])
        lent = min(LENT, len(train) // 2)
        options = BiparseOptions(
            labels="after",
            joint=JointOptions(source_tree=source_tree, least_probability=MIN_PROBABILITY_OF_GIVEN),
        )
        train_joint_parser(
            train[:lent],
            source_parser(lab),
            rng=np.random.default_rng(1),
            options=options,
            target=projected(parsed_pairs(lab, train[lent:])),
        )[0].save(path)

    data = [*link_files(lab, CORPORA[LENDER]), lab.treebank_path("english-ewt-train")]
    path = lab.cache.file(f"{LENDER}.joint", make, options={"source tree": source_tree}, data=data)
    return load_model_of(path, JointParser, expected="a joint parser", remedy="remove it")


def score(lab: Lab, language: str, way: str) -> Figures:
    """Score the projected parser of a language, alone or in the joint model."""
    parser = projected_parser(lab, language)
    _, test = pairs_of(lab, corpus_of(language))
    if way == PROJECTED:
        return accuracy_alone(parser, test)
    return accuracy(lender(lab, WAYS[way]).of_parsers(source_parser(lab), parser), test)


def run(lab: Lab) -> PageFigures:
    found = {language: figures_of(lab, language) for language in LANGUAGES}
    rows = [
        [
            way,
            *(
                cell(figures.get(way, {}), key)
                for figures in found.values()
                for key in ("target", "target LAS")
            ),
        ]
        for way in (PROJECTED, *WAYS)
    ]
    headings = (f"{name}, {score}" for name, _ in LANGUAGES.values() for score in ("UAS", "LAS"))
    times = [
        [way, *(cell(figures.get(way, {}), "milliseconds", 1) for figures in found.values())]
        for way in (PROJECTED, *WAYS)
    ]
    names = [name for name, _ in LANGUAGES.values()]
    return PageFigures(
        tables={"scores": table(["parser", *headings], rows), "times": table(["parser", *names], times)}
    )


def figures_of(lab: Lab, language: str) -> dict[str, Figures]:
    """Return the figures of a language by parsing method: measured if chosen, else stored."""
    corpus = corpus_of(language)
    treebanks = [lab.treebank_path(name) for name in (LANGUAGES[language][1], "english-ewt-train")]
    found = {}
    for way in (PROJECTED, *WAYS):
        source: Source = {
            "options": {"language": language, "way": way},
            "data": [*link_files(lab, corpus), *link_files(lab, CORPORA[LENDER]), *treebanks],
        }
        if language in lab.options.languages:
            found[way] = lab.cache.figures(f"{language} {way}", partial(score, lab, language, way), **source)
        elif (kept := lab.cache.kept(f"{language} {way}", **source)) is not None:
            found[way] = kept
    return found


def cell(figures: Figures, key: str, digits: int = 2) -> str:
    return f"{figures[key]:.{digits}f}" if key in figures else ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--languages",
        nargs="*",
        choices=list(LANGUAGES),
        default=list(LANGUAGES),
        help="languages to measure; others show stored figures (default: all)",
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
