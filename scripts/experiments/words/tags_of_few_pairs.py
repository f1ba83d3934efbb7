"""Tags through the links of PUD, sentences 1 to 600: Chinese, and translations in several languages that vote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.tagging.tagger import Tagger, load_tagger
from qsproj.models.tagging.tagger_training import accuracy, train_tagger
from qsproj.pipelines.tagging.tags_through_links import project_tags
from qsproj.pipelines.translations import join_translations
from scripts.experiments.harness.experiment import Lab
from scripts.experiments.joint.corpora import CORPORA, Corpus, Part, link_files, pairs_of
from scripts.experiments.transfer.stages import TAGGER_TREEBANKS, Stages

# A running text, cut nowhere, beside PUD: as a user has it.
CHINESE = replace(CORPORA["pud-zh"], conversion=None)
CHINESE_TAGGED = ("0", "20", "100", "300", "all")


def pud_corpus(source: str, target: str) -> Corpus:
    """Return PUD from one language to another; links are learned from its 1,000 sentences alone."""
    whole = Part(f"pud/{source}", f"pud/{target}")
    return replace(
        CORPORA["pud-de"],
        train=replace(whole, stop=600),
        test=replace(whole, start=600),
        aligned=(whole,),
        bitext=None,
    )


def source_tagger(stages: Stages, language: str) -> Path:
    """Train a tagger on the treebanks of a language alone."""
    treebanks = map(stages.lab.treebank_path, TAGGER_TREEBANKS[language])
    return stages.stage(f"{language}.plain.tagger", "tag", "--train", *treebanks, "--language", language)


def retagged(pairs: Iterable[SentencePair], tagger: Tagger) -> list[SentencePair]:
    """Give the sources the tags of a tagger, whatever their treebank says."""
    return [
        replace(pair, source=with_columns(pair.source, upos=tagger.tag_words(pair.source.forms)))
        for pair in pairs
    ]


def files_of(lab: Lab, target: str, sources: Sequence[str]) -> list[Path]:
    """Return what figures of :func:`voted` depend on."""
    return [lab.pud_path(language) for language in (*sources, target)]


def voted(lab: Lab, stages: Stages, target: str, sources: Sequence[str]) -> float:
    """Learn from translations in these languages; return the accuracy on sentences 601 to 1,000."""
    pairs = []
    for source in sources:
        train, test = pairs_of(lab, pud_corpus(source, target))
        pairs.append(retagged(train, load_tagger(source_tagger(stages, source))))
    tagger = project_tags(join_translations(tuple(pairs)), rng=np.random.default_rng(1)).tagger
    return accuracy(tagger, [pair.target for pair in test])


def chinese_files(lab: Lab) -> list[Path]:
    """Return what the figures of Chinese depend on."""
    return link_files(lab, CHINESE)


def chinese(lab: Lab, stages: Stages, tagged: str, *, links: bool) -> float:
    """Learn through links, or from tagged sentences alone; return the accuracy on sentences 601 to 1,000."""
    train, test = pairs_of(lab, CHINESE)
    known: list[Sentence] = [pair.target for pair in train][: len(train) if tagged == "all" else int(tagged)]
    rng = np.random.default_rng(1)
    if links:
        corpus = ((pair,) for pair in retagged(train, load_tagger(stages.tagger("en"))))
        tagger = project_tags(corpus, rng=rng, tagged=known).tagger
    else:
        tagger = train_tagger(known, rng=rng, raw=[pair.target.forms for pair in train])
    return accuracy(tagger, [pair.target for pair in test])
