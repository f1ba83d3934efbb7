"""Measure what is learned of links, and what hand alignments are worth to the joint model (thesis 4.7.1, 4.7.6).

    QSPROJ_DATA=../shared/data python -m scripts.experiments.joint.links --work FOLDER [TASK ...]

`joint/report.py` writes the document. The one bitext here with hand alignments, XL-WA English-Spanish (350 pairs), has no trees: its words are tagged,
and its Spanish trees parsed, by models of treebanks; these trees are then what is learned from and tested on.
FOLDER is that of joint/parsing.py; the figures are xlwa-SIZE.json, xlwa-links.json and lines-dev-links-200.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.alignment.reading import read_word_pairs
from qsproj.corpus.alignments import read_alignments, write_alignments
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import sentence_from_words
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, make_alignment
from qsproj.evaluation.alignment import alignment_scores
from qsproj.features.dictionary import Dictionary, count_dictionary
from qsproj.features.joint_templates import FAMILIES
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.joint.joint_alignment import train_link_chooser
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.bilingual.choose_links import CANDIDATE_THRESHOLD
from scripts.experiments.joint.corpora import (
    BITEXT_PAIRS,
    CORPORA,
    THRESHOLD,
    data_folder,
    pairs_of,
    source_parser,
)
from scripts.experiments.joint.parsing import (
    TARGET_ONLY,
    Figures,
    Record,
    Setting,
    accuracy,
    accuracy_alone,
    trained,
)

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
    """What is learned of links, beyond ALIGN and fertilities with the features that they always have."""

    tagged: bool = True
    dictionary: bool = False
    families: tuple[str, ...] = ()


CHOOSERS = {
    "ALIGN and fertilities, without tags": Learned(tagged=False),
    "ALIGN and fertilities": Learned(),
    "with a dictionary": Learned(dictionary=True),
    "with ALIGNHMM over target words": Learned(families=("TARGETHMM",)),
    "with ALIGNHMM over source words": Learned(families=("SOURCEHMM",)),
    "with a dictionary and ALIGNHMM over source words": Learned(dictionary=True, families=("SOURCEHMM",)),
}
DEV_SIZE = 200
ON_DEV = {
    "full QG": Learned(),
    "with a dictionary": Learned(dictionary=True),
    "with ALIGNHMM over target words": Learned(families=("TARGETHMM",)),
    "with ALIGNHMM over source words": Learned(families=("SOURCEHMM",)),
}


def words_of(part: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of a file of XL-WA."""
    path = data_folder() / "alignments" / "en-es" / f"xl-wa-{part}.tsv"
    for line in path.read_text(encoding="utf-8").splitlines():
        source, target, _ = line.split("\t")
        yield source.split(), target.split()


def hand_links(part: str) -> list[Alignment]:
    return list(read_alignments(data_folder() / "alignments" / "en-es" / f"xl-wa-{part}.tsv", "tsv"))


def bitext() -> list[tuple[Sequence[str], Sequence[str]]]:
    """Return the words of all pairs, and of other bitext after them."""
    path = str(data_folder() / "bitext" / "en-es.tsv.xz")
    more = islice(read_word_pairs(path, None, languages=("en", "es")), BITEXT_PAIRS)
    return [*(pair for part in PARTS for pair in words_of(part)), *more]


def our_links(work: Path) -> list[Alignment]:
    """Align all pairs, together with other bitext."""
    path = work / "links-xlwa.pharaoh"
    if not path.exists():
        write_alignments(align_words(bitext(), threshold=THRESHOLD), path, with_weights=True)
    words = (pair for part in PARTS for pair in words_of(part))
    sizes = ((len(source), len(target)) for source, target in words)
    return [replace(links, n_source=m, n_target=n) for links, (m, n) in zip(read_alignments(path), sizes)]


def sentences(work: Path, language: str) -> list[Sentence]:
    """Return the sentences of one side with tags, the Spanish ones with trees, by models of treebanks."""
    path = work / f"xlwa.{language}.conllu"
    if not path.exists():
        files = (data_folder() / "treebanks" / f"{name}.conllu.gz" for name in TREEBANKS[language])
        treebank = list(chain.from_iterable(map(read_conllu, files)))
        rng = np.random.default_rng(1)
        tagger = train_tagger(treebank, rng=rng, language=language)
        side = list(TREEBANKS).index(language)
        own = (sentence_from_words(pair[side]) for part in PARTS for pair in words_of(part))
        tagged = [tagger.parse(sentence) for sentence in own]
        if language == "es":
            parser, _ = train_arc_parser(treebank, rng=rng, options=TREE)
            tagged = [parser.parse(sentence) for sentence in tagged]
        write_conllu(tagged, path)
    return list(read_conllu(path))


def pairs_by_links(work: Path) -> dict[str, list[SentencePair]]:
    """Return all pairs, in one random order, under each kind of links; those by hand are certain."""
    by_hand = [
        replace(links, weights=np.ones(len(links.links))) for part in PARTS for links in hand_links(part)
    ]
    sides = sentences(work, "en"), sentences(work, "es")
    order = np.random.default_rng(7).permutation(len(by_hand))
    return {
        kind: [SentencePair(sides[0][i], sides[1][i], links[i]) for i in order]
        for kind, links in zip(LINKS, (by_hand, our_links(work)), strict=True)
    }


def parsing_conditions(work: Path, size: int) -> None:
    """Train on some pairs and parse others, with hand alignments in both or in neither."""
    record = Record.of(work, "xlwa", size)
    source = source_parser(work)
    for kind, pairs in pairs_by_links(work).items():
        conditions = {f"{kind}, {name}": source_tree for source_tree, name in SOURCE_TREES.items()}
        if set(conditions) <= set(record.figures):
            continue
        setting = Setting(source, pairs[:size], pairs[-TESTED:])
        record.add(TARGET_ONLY, accuracy_alone(setting.target.parser, setting.test))
        for condition, source_tree in conditions.items():
            record.add(condition, trained(source_tree)(setting))


def taught_conditions(work: Path, size: int) -> None:
    """Train on the aligner's links with those by hand observed, and parse others by the aligner's links."""
    record = Record.of(work, "xlwa", size)
    by_hand, pairs = pairs_by_links(work).values()
    hand = [pair.alignment for pair in by_hand[:size]]
    setting = Setting(source_parser(work), pairs[:size], pairs[-TESTED:])
    for source_tree, name in SOURCE_TREES.items():
        if f"{TAUGHT}, {name}" not in record.figures:
            figures = joint_accuracy(setting, Learned(), source_tree=source_tree, hand=hand)
            record.add(f"{TAUGHT}, {name}", figures)


def dev_conditions(work: Path) -> None:
    """Parse dev pairs of LinES, with 1-best source trees, by joint models that learn more of links."""
    record = Record.of(work, "lines-dev-links", DEV_SIZE)
    missing = [name for name in ON_DEV if name not in record.figures]
    if not missing:
        return
    train, test = pairs_of(CORPORA["lines-dev"], work)
    setting = Setting(source_parser(work), train[:DEV_SIZE], test)
    for name in missing:
        record.add(name, joint_accuracy(setting, ON_DEV[name], source_tree="best"))


def joint_accuracy(
    setting: Setting, learned: Learned, *, source_tree: str, hand: Sequence[Alignment] = ()
) -> Figures:
    """Train a joint model and score it."""
    parser, _ = train_joint_parser(
        setting.train,
        setting.source,
        rng=np.random.default_rng(1),
        source_tree=source_tree,
        families=(*FAMILIES, *learned.families),
        target=setting.target,
        hand=hand,
        with_dictionary=learned.dictionary,
    )
    return accuracy(parser, setting.test)


def link_conditions(work: Path) -> None:
    """Choose among the aligner's links by what hand alignments have taught: trained on dev, tested on test.

    On dev itself, each fold is aligned by what the others have taught.
    """
    record = Record.of(work, "xlwa", "links")
    missing = [name for name in CHOOSERS if name not in record.figures]
    if not missing:
        return
    words = bitext()
    links = align_words(words, threshold=CANDIDATE_THRESHOLD)
    plain = [
        SentencePair(sentence_from_words(source), sentence_from_words(target), own)
        for (source, target), own in zip(words, links, strict=True)
    ]
    sides = zip(sentences(work, "en"), sentences(work, "es"))
    tagged = [SentencePair(*sentences, pair.alignment) for sentences, pair in zip(sides, plain)]
    dictionary = count_dictionary(plain)
    dev, test = (hand_links(part) for part in PARTS)
    own = [likely(pair.alignment) for pair in tagged]
    record.add(LINKS[1], {"dev": error_rate(dev, own[: len(dev)]), "test": error_rate(test, own[len(dev) :])})
    for name in missing:
        learned = CHOOSERS[name]
        pairs = tagged if learned.tagged else plain[: len(tagged)]
        record.add(name, chosen(learned, pairs, dev, test, dictionary if learned.dictionary else None))


def chosen(
    learned: Learned,
    pairs: Sequence[SentencePair],
    dev: Sequence[Alignment],
    test: Sequence[Alignment],
    dictionary: Dictionary | None,
) -> Figures:
    """Return the AER of links chosen for the dev pairs, which come first, and for the test pairs."""

    def taught_by(places: Sequence[int], aligned: Sequence[int]) -> list[Alignment]:
        chooser = train_link_chooser(
            [pairs[i] for i in places],
            [dev[i] for i in places],
            rng=np.random.default_rng(1),
            families=learned.families,
            dictionary=dictionary,
        )
        return [chooser.align(pairs[i], counted=True) for i in aligned]

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


TASKS: dict[str, Callable[[Path], None]] = {
    "links": link_conditions,
    **{f"parsing-{size}": partial(parsing_conditions, size=size) for size in SIZES},
    **{f"taught-{size}": partial(taught_conditions, size=size) for size in SIZES},
    "lines-dev": dev_conditions,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for models, links and figures")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)} (default: all)")
    options = parser.parse_args()
    for task in options.tasks or TASKS:
        TASKS[task](options.work)


if __name__ == "__main__":
    main()
