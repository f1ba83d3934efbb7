"""Measure what hand alignments are worth to the joint model (thesis 4.7.6); `report_joint.py` writes the document.

    QSPROJ_DATA=../shared/data python scripts/measure_joint_links.py --work FOLDER

The one bitext here with hand alignments, XL-WA English-Spanish (350 pairs), has no trees: its words are tagged,
and its Spanish trees parsed, by models of treebanks; these trees are then what is learned from and tested on.
FOLDER is that of measure_joint.py; the figures are xlwa-SIZE.json and xlwa-links.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

import numpy as np
from joint_corpora import BITEXT_PAIRS, THRESHOLD, data_folder, source_parser
from measure_joint import TARGET_ONLY, Figures, Record, Setting, accuracy_alone, trained

from qsproj.align.aligners import align_words
from qsproj.align.reading import read_word_pairs
from qsproj.corpus.alignments import read_alignments, write_alignments
from qsproj.corpus.conllu import read_conllu, sentence_from_words, write_conllu
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, make_alignment
from qsproj.evaluation.alignment import alignment_scores
from qsproj.models.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.joint_alignment import train_link_chooser
from qsproj.models.tagger_training import train_tagger

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
CHOSEN = "chosen by ALIGN and fertilities"


def words_of(part: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of a file of XL-WA."""
    path = data_folder() / "alignments" / "en-es" / f"xl-wa-{part}.tsv"
    for line in path.read_text(encoding="utf-8").splitlines():
        source, target, _ = line.split("\t")
        yield source.split(), target.split()


def hand_links(part: str) -> list[Alignment]:
    return list(read_alignments(data_folder() / "alignments" / "en-es" / f"xl-wa-{part}.tsv", "tsv"))


def our_links(work: Path) -> list[Alignment]:
    """Align all pairs, together with other bitext."""
    path = work / "links-xlwa.pharaoh"
    words = [pair for part in PARTS for pair in words_of(part)]
    if not path.exists():
        bitext = str(data_folder() / "bitext" / "en-es.tsv.xz")
        more = islice(read_word_pairs(bitext, None, languages=("en", "es")), BITEXT_PAIRS)
        write_alignments(align_words([*words, *more], threshold=THRESHOLD), path, with_weights=True)
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
    """Return all pairs, in one random order, under each kind of links."""
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


def link_conditions(work: Path) -> None:
    """Choose among the aligner's links by what hand alignments have taught: trained on dev, tested on test."""
    record = Record.of(work, "xlwa", "links")
    if CHOSEN in record.figures:
        return
    gold = {part: hand_links(part) for part in PARTS}
    links = iter(our_links(work))
    pairs = {
        part: [
            SentencePair(sentence_from_words(source), sentence_from_words(target), next(links))
            for source, target in words_of(part)
        ]
        for part in PARTS
    }
    chooser = train_link_chooser(pairs["dev"], gold["dev"], rng=np.random.default_rng(1))
    record.add(LINKS[1], errors(gold["test"], [likely(pair.alignment) for pair in pairs["test"]]))
    record.add(CHOSEN, errors(gold["test"], [chooser.align(pair) for pair in pairs["test"]]))


def errors(gold: Sequence[Alignment], links: Sequence[Alignment]) -> Figures:
    return {"AER": alignment_scores(gold, links).error_rate}


def likely(links: Alignment) -> Alignment:
    """Return the links that the aligner finds more likely than not."""
    assert links.weights is not None
    return make_alignment(links.n_source, links.n_target, links.links[links.weights >= 0.5])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for models, links and figures")
    options = parser.parse_args()
    link_conditions(options.work)
    for size in SIZES:
        parsing_conditions(options.work, size)


if __name__ == "__main__":
    main()
