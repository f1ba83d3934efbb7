"""Lemmas where nothing is annotated: by a lexicon of so many entries, and by simplemma where it is installed.

English alone, the first pairs of each bitext; tags are those that were learned through links.
"""

from __future__ import annotations

import argparse
import lzma
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import qsproj
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.language.lemmas import SIMPLEMMA, lexicon_of
from qsproj.corpus.language.lexicon import Inflection
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.corpus.text import read_text
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.pipelines.tagging.tags_through_links import project_tags
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.transfer.stages import NAMES

# Whose words are entries of a lexicon, and on what it is tested.
LISTED = {
    "de": (("treebanks/german-gsd-dev", "treebanks/german-lit-test"), "treebanks/german-gsd-test"),
    "es": (("treebanks/spanish-ancora-dev",), "treebanks/spanish-ancora-test"),
    "sv": (("lines/sv-train",), "lines/sv-dev"),
}
ENTRIES = (500, 2_000, 10_000)
ORDERS = ("commonest first", "by chance")
# English is tagged by a tagger of so many sentences; lemmas are learned from so many of the bitext.
ENGLISH_SENTENCES, LEMMA_SENTENCES = 3_000, 3_000
THRESHOLD = 0.1
SIGNS = ("PUNCT", "SYM")


def tagger_through_links(lab: Lab, language: str) -> tuple[Tagger, list[Sentence]]:
    """Learn tags from English; return the tagger, and the text of the target."""
    english = train_tagger(
        lab.treebank("english-ewt-train")[:ENGLISH_SENTENCES], rng=np.random.default_rng(1), language="en"
    )
    with lzma.open(lab.bitext_path(language), "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t")[:2] for line in islice(lines, lab.options.pairs)]
    sides = [
        list(read_text((pair[side] for pair in pairs), language=code, name=code))
        for side, code in enumerate(("en", language))
    ]
    source, target = [english.tag(one) for one in sides[0]], sides[1]
    links = qsproj.align(source, target, threshold=THRESHOLD)
    made = [(SentencePair(*one),) for one in zip(source, target, links, strict=True)]
    projected = project_tags(made, rng=np.random.default_rng(1), language=language, columns=())
    return projected.tagger, target


def entries_of(listed: Sequence[Sentence]) -> list[Inflection]:
    """Return what a lexicon may list, the commonest first."""
    counts = Counter(
        Inflection(form, lemma, (upos,), feats)
        for one in listed
        for form, lemma, upos, feats in zip(one.forms, one.lemmas, one.upos, one.feats, strict=True)
        if upos not in SIGNS
    )
    return [entry for entry, _ in counts.most_common()]


def measured(lab: Lab, language: str) -> dict[str, Any]:
    """Return the percentage of words with the right lemma, by what tells lemmas."""
    tagger, text = tagger_through_links(lab, language)
    tagged = [tagger.tag(sentence) for sentence in text[:LEMMA_SENTENCES]]
    files, test = LISTED[language]
    gold = list(read_conllu(lab.data / f"{test}.conllu.gz"))
    common = entries_of([one for file in files for one in read_conllu(lab.data / f"{file}.conllu.gz")])
    drawn = [common[place] for place in np.random.default_rng(1).permutation(len(common)).tolist()]
    simplemma = lexicon_of(None, SIMPLEMMA, language).inflections_of(tagged)
    told = {
        f"{order} {number}": entries[:number]
        for order, entries in zip(ORDERS, (common, drawn), strict=True)
        for number in ENTRIES
    }
    told |= {SIMPLEMMA: simplemma, "both": [*common[: ENTRIES[1]], *simplemma]}

    def right(inflections: Sequence[Inflection]) -> float:
        learned = train_morphology(
            tagged, rng=np.random.default_rng(1), columns=["lemma"], inflections=inflections
        )
        one = replace(tagger, morphology=learned)
        return lemma_accuracy(gold, [one.tag(sentence).lemmas for sentence in gold])

    found = {name: right(inflections) for name, inflections in told.items()}
    forms = lemma_accuracy(gold, [one.forms for one in gold])
    return {**found, "entries": len(common), "forms": forms}


def lemma_accuracy(gold: Sequence[Sentence], found: Sequence[Sequence[str]]) -> float:
    """Return the percentage of words, signs left out, whose lemma is right."""
    right = [
        own == one
        for sentence, cells in zip(gold, found, strict=True)
        for tag, own, one in zip(sentence.upos, sentence.lemmas, cells, strict=True)
        if tag not in SIGNS
    ]
    return 100 * float(np.mean(right))


def rows(lab: Lab) -> Iterator[list[str]]:
    for language in lab.options.languages:
        files, test = LISTED[language]
        found = lab.cache.figures(
            f"lemmas {language}",
            partial(measured, lab, language),
            options={"pairs": lab.options.pairs},
            data=[
                lab.bitext_path(language),
                lab.treebank_path("english-ewt-train"),
                *(lab.data / f"{name}.conllu.gz" for name in (*files, test)),
            ],
        )
        for order in ORDERS:
            yield [
                *(Path(test).name, order, f"{found['entries']:,}"),
                *(f"{found[f'{order} {number}']:.1f}" for number in ENTRIES),
                *(f"{found[name]:.1f}" for name in (SIMPLEMMA, "both", "forms")),
            ]


def run(lab: Lab) -> Figures:
    heads = ["file", "drawn", "entries in all", *(f"{number:,}" for number in ENTRIES)]
    heads += [SIMPLEMMA, f"{ENTRIES[1]:,} commonest, then {SIMPLEMMA}", "form as it is"]
    return Figures(
        tables={"lemmas": table(heads, list(rows(lab)))}, values={"pairs": f"{lab.options.pairs:,}"}
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--languages", nargs="*", default=list(NAMES), choices=list(NAMES))
    parser.add_argument(
        "--pairs", type=int, default=5_000, help="of each bitext the first so many (default: %(default)s)"
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="lemmas", add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
