"""Measure the model of links, and the gain from hand alignments in the joint model (thesis 4.7.1, 4.7.6).

XL-WA English-Spanish (350 pairs), the only bitext here with hand alignments, has no trees. Its words are tagged, and its
Spanish trees parsed, by models of treebanks; these trees serve as training and test data.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.alignment.reading import read_word_pairs
from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, make_alignment
from qsproj.evaluation.alignment import alignment_scores
from qsproj.features.joint_templates import FAMILIES
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_alignment import train_link_chooser
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.pipelines.bilingual.biparse import CANDIDATE_THRESHOLD, train_joint_parser
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures as PageFigures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.joint.conditions import ALONE, accuracy, accuracy_alone, trained
from scripts.experiments.joint.corpora import (
    BITEXT_PAIRS,
    CORPORA,
    THRESHOLD,
    link_files,
    pairs_of,
    source_parser,
)
from scripts.experiments.joint.kept import Figures, Results, figure_table
from scripts.experiments.joint.setting import Setting

PARTS = ("dev", "test")
TREEBANKS = {
    "en": ("english-ewt-dev", "english-ewt-test"),
    "es": ("spanish-ancora-dev", "spanish-ancora-test", "spanish-gsd-dev"),
}
TREE = TrainingOptions(template_set="words")
SIZES = (50, 100, 200)
TESTED = 150
LINKS = ("hand alignments", "the aligner's links")
SOURCE_TREES = {"joint": "source tree inferred", "best": "1-best source tree"}
TAUGHT = "the aligner's links, those by hand observed in training"
FOLDS = 5


@dataclass(frozen=True)
class Learned:
    """A model of links, beyond ALIGN and fertilities with their default features."""

    tagged: bool = True
    families: tuple[str, ...] = ()


CHOOSERS = {
    "ALIGN and fertilities, without tags": Learned(tagged=False),
    "ALIGN and fertilities": Learned(),
    "with ALIGNHMM over target words": Learned(families=("TARGETHMM",)),
    "with ALIGNHMM over source words": Learned(families=("SOURCEHMM",)),
}
DEV_SIZE = 200
ON_DEV = {
    "full QG": Learned(),
    "with ALIGNHMM over target words": Learned(families=("TARGETHMM",)),
    "with ALIGNHMM over source words": Learned(families=("SOURCEHMM",)),
}


PARSING = (ALONE, *(f"{kind}, {name}" for name in SOURCE_TREES.values() for kind in (*LINKS, TAUGHT)))


def hand_path(lab: Lab, part: str) -> Path:
    return lab.data / "alignments" / "en-es" / f"xl-wa-{part}.tsv"


def words_of(lab: Lab, part: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of a file of XL-WA."""
    for line in hand_path(lab, part).read_text(encoding="utf-8").splitlines():
        source, target, _ = line.split("\t")
        yield source.split(), target.split()


def hand_links(lab: Lab, part: str) -> list[Alignment]:
    return list(read_alignments(hand_path(lab, part), "tsv"))


def bitext(lab: Lab) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Return the words of all pairs, and of other bitext after them."""
    more = read_word_pairs(str(lab.bitext_path("es")), None, languages=("en", "es"))
    return [*(pair for part in PARTS for pair in words_of(lab, part)), *islice(more, BITEXT_PAIRS)]


def hand_files(lab: Lab) -> list[Path]:
    """Return the files that links and trees of XL-WA come from."""
    treebanks = (name for names in TREEBANKS.values() for name in (*names, "english-ewt-train"))
    return [
        *(hand_path(lab, part) for part in PARTS),
        lab.bitext_path("es"),
        *map(lab.treebank_path, dict.fromkeys(treebanks)),
    ]


def our_links(lab: Lab) -> list[Alignment]:
    """Align all pairs, together with other bitext."""

    def align(path: Path) -> None:
        write_alignments(align_words(bitext(lab), threshold=THRESHOLD), path, with_weights=True)

    path = lab.cache.file("links-xlwa.pharaoh", align, data=hand_files(lab))
    words = (pair for part in PARTS for pair in words_of(lab, part))
    sizes = ((len(source), len(target)) for source, target in words)
    return [replace(links, n_source=m, n_target=n) for links, (m, n) in zip(read_alignments(path), sizes)]


def sentences(lab: Lab, language: str) -> list[Sentence]:
    """Return the sentences of one side with tags, the Spanish ones with trees, by models of treebanks."""

    def write(path: Path) -> None:
        treebank = list(chain.from_iterable(map(lab.treebank, TREEBANKS[language])))
        rng = np.random.default_rng(1)
        tagger = train_tagger(treebank, rng=rng, language=language)
        side = list(TREEBANKS).index(language)
        own = (Sentence.from_words(pair[side]) for part in PARTS for pair in words_of(lab, part))
        tagged = [tagger.parse(sentence) for sentence in own]
        if language == "es":
            parser, _ = train_arc_parser(treebank, rng=rng, options=TREE)
            tagged = [parser.parse(sentence) for sentence in tagged]
        write_conllu(tagged, path)

    return list(read_conllu(lab.cache.file(f"xlwa.{language}.conllu", write, data=hand_files(lab))))


def pairs_by_links(lab: Lab) -> dict[str, list[SentencePair]]:
    """Return all pairs, in one random order, under each kind of links; those by hand are certain."""
    by_hand = [
        replace(links, weights=np.ones(len(links.links))) for part in PARTS for links in hand_links(lab, part)
    ]
    sides = sentences(lab, "en"), sentences(lab, "es")
    order = np.random.default_rng(7).permutation(len(by_hand))
    return {
        kind: [SentencePair(sides[0][i], sides[1][i], links[i]) for i in order]
        for kind, links in zip(LINKS, (by_hand, our_links(lab)), strict=True)
    }


def parsing(lab: Lab, size: int) -> dict[str, Figures]:
    """Train on some pairs and parse others: with hand alignments in both, in neither, or observed in training."""
    source = source_parser(lab)
    by_hand, ours = (Setting(source, pairs[:size], pairs[-TESTED:]) for pairs in pairs_by_links(lab).values())
    found = {ALONE: accuracy_alone(ours.target.parser, ours.test)}
    hand = [known.alignment for known in by_hand.train]
    taught = Setting(
        source, [replace(pair, hand=links) for pair, links in zip(ours.train, hand, strict=True)], ours.test
    )
    for source_tree, name in SOURCE_TREES.items():
        for kind, setting in zip(LINKS, (by_hand, ours), strict=True):
            found[f"{kind}, {name}"] = trained(source_tree)(setting)
        found[f"{TAUGHT}, {name}"] = joint_accuracy(taught, Learned(), source_tree=source_tree)
    return found


def on_dev(lab: Lab) -> dict[str, Figures]:
    """Parse dev pairs of LinES, with 1-best source trees, by joint models that learn more of links."""
    train, test = pairs_of(lab, CORPORA["lines-dev"])
    setting = Setting(source_parser(lab), train[:DEV_SIZE], test)
    return {name: joint_accuracy(setting, learned, source_tree="best") for name, learned in ON_DEV.items()}


def joint_accuracy(setting: Setting, learned: Learned, *, source_tree: str) -> Figures:
    """Train a joint model and score it."""
    parser, _ = train_joint_parser(
        setting.train,
        setting.source,
        rng=np.random.default_rng(1),
        target=setting.target,
        options=BiparseOptions(
            joint=JointOptions(families=(*FAMILIES, *learned.families), source_tree=source_tree),
        ),
    )
    return accuracy(parser, setting.test)


def choosing(lab: Lab) -> dict[str, Figures]:
    """Select among the aligner's links by a model of hand alignments: trained on dev, tested on test.

    On dev itself, each fold is aligned by what the others have taught.
    """
    words = bitext(lab)
    links = align_words(words, threshold=CANDIDATE_THRESHOLD)
    plain = [
        SentencePair(Sentence.from_words(source), Sentence.from_words(target), own)
        for (source, target), own in zip(words, links, strict=True)
    ]
    sides = zip(sentences(lab, "en"), sentences(lab, "es"))
    tagged = [SentencePair(*both, pair.alignment) for both, pair in zip(sides, plain)]
    dev, test = (hand_links(lab, part) for part in PARTS)
    own = [likely(pair.alignment) for pair in tagged]
    found = {LINKS[1]: {"dev": error_rate(dev, own[: len(dev)]), "test": error_rate(test, own[len(dev) :])}}
    for name, learned in CHOOSERS.items():
        pairs = tagged if learned.tagged else plain[: len(tagged)]
        found[name] = chosen(learned, pairs, dev, test)
    return found


def chosen(
    learned: Learned,
    pairs: Sequence[SentencePair],
    dev: Sequence[Alignment],
    test: Sequence[Alignment],
) -> Figures:
    """Return the AER of links chosen for the dev pairs, which come first, and for the test pairs."""

    def taught_by(places: Sequence[int], aligned: Sequence[int]) -> list[Alignment]:
        chooser = train_link_chooser(
            [replace(pairs[i], hand=dev[i]) for i in places],
            rng=np.random.default_rng(1),
            families=learned.families,
        )
        return [chooser.align(pairs[i]) for i in aligned]

    fold_of = np.random.default_rng(1).permutation(len(dev)) % FOLDS
    by_place: dict[int, Alignment] = {}
    for fold in range(FOLDS):
        held_out = np.flatnonzero(fold_of == fold).tolist()
        by_place |= zip(held_out, taught_by(np.flatnonzero(fold_of != fold).tolist(), held_out))
    tested = taught_by(range(len(dev)), range(len(dev), len(pairs)))
    return {
        "dev": error_rate(dev, [by_place[i] for i in range(len(dev))]),
        "test": error_rate(test, tested),
    }


def error_rate(gold: Sequence[Alignment], links: Sequence[Alignment]) -> float:
    return alignment_scores(gold, links).error_rate


def likely(links: Alignment) -> Alignment:
    """Return the links that the aligner finds more likely than not."""
    assert links.weights is not None
    return make_alignment(links.n_source, links.n_target, links.links[links.weights >= 0.5])


def run(lab: Lab) -> PageFigures:
    hand: Source = {"data": hand_files(lab)}
    results: Results = {
        size: lab.cache.figures(f"xlwa {size}", partial(parsing, lab, size), **hand)
        for size in lab.options.sizes
    }
    rates = lab.cache.figures("xlwa links", partial(choosing, lab), **hand)
    lines = [*link_files(lab, CORPORA["lines-dev"]), lab.treebank_path("english-ewt-train")]
    dev = lab.cache.figures("lines-dev links", partial(on_dev, lab), data=lines)
    return PageFigures(
        tables={
            "hand alignments": figure_table(results, "target", PARSING),
            "alignment errors": error_table(rates),
            "link features": dev_table(dev),
        }
    )


def error_table(rates: dict[str, Figures]) -> Table:
    rows = [[name, f"{figures['dev']:.2f}", f"{figures['test']:.2f}"] for name, figures in rates.items()]
    return table(["links", "dev, five folds", "test"], rows)


def dev_table(figures: dict[str, Figures]) -> Table:
    rows = [[name, f"{row['target']:.2f}", f"{row['milliseconds']:.1f}"] for name, row in figures.items()]
    return table([f"LinES dev, {DEV_SIZE} trees", "Swedish UAS", "ms a pair"], rows)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES), help="numbers of training pairs")


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
