"""Tags through the links of few pairs: PUD, sentences 1 to 600, tested on sentences 601 to 1,000.

Chinese, whose bitext is not cut into words; translations in several languages that vote; a lexicon.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from qsproj.corpus.editing import with_columns
from qsproj.corpus.language.lexicon import Lexicon
from qsproj.corpus.pairs.translations import join_translations
from qsproj.corpus.sentence import SentencePair
from qsproj.models.tagging.tagger import Tagger, load_tagger
from qsproj.models.tagging.tagger_training import accuracy, train_tagger
from qsproj.pipelines.tagging.tags_through_links import project_tags
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.joint.corpora import CORPORA, Corpus, Part, link_files, pairs_of
from scripts.experiments.transfer.stages import NAMES, TAGGER_TREEBANKS, Stages

TAGGED = ("0", "20", "100", "300", "all")
# Running text, cut nowhere, beside PUD: as a user has it.
CHINESE = replace(CORPORA["pud-zh"], conversion=None)


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


def tagger_of(stages: Stages, language: str) -> Tagger:
    """Train a tagger on the treebanks of a source language, without raw text."""
    if language == "en":
        return load_tagger(stages.tagger("en"))
    treebanks = map(stages.lab.treebank_path, TAGGER_TREEBANKS[language])
    name = f"{language}.plain.tagger"
    return load_tagger(stages.stage(name, "tag", "--train", *treebanks, "--language", language))


def retagged(pairs: Iterable[SentencePair], tagger: Tagger) -> list[SentencePair]:
    """Give the sources the tags of a tagger, whatever their treebank says."""
    return [
        replace(pair, source=with_columns(pair.source, upos=tagger.tag_words(pair.source.forms)))
        for pair in pairs
    ]


def voted(lab: Lab, stages: Stages, target: str, sources: Sequence[str], *, listed: bool = False) -> str:
    """Learn from translations in these languages; return the accuracy of the tagger, in percent."""
    pairs = []
    for source in sources:
        train, test = pairs_of(lab, pud_corpus(source, target))
        pairs.append(retagged(train, tagger_of(stages, source)))
    lexicon = lexicon_of(lab, target) if listed else None
    corpus = join_translations(tuple(pairs))
    tagger = project_tags(corpus, rng=np.random.default_rng(1), lexicon=lexicon).tagger
    return f"{accuracy(tagger, [pair.target for pair in test]):.1f}"


def lexicon_of(lab: Lab, language: str) -> Lexicon:
    """Return the words of the treebanks with all tags that they have there, as a dictionary lists them."""
    lexicon: dict[str, set[str]] = {}
    for name in TAGGER_TREEBANKS[language]:
        for sentence in lab.treebank(name):
            for form, tag in zip(sentence.forms, sentence.upos, strict=True):
                lexicon.setdefault(form.lower(), set()).add(tag)
    return Lexicon({form: tuple(sorted(tags)) for form, tags in lexicon.items()})


def chinese(lab: Lab, stages: Stages, tagged: str, *, links: bool) -> str:
    """Learn through links, or from tagged sentences alone; return the accuracy of the tagger, in percent."""
    train, test = pairs_of(lab, CHINESE)
    known = [pair.target for pair in train][: len(train) if tagged == "all" else int(tagged)]
    rng = np.random.default_rng(1)
    if links:
        corpus = ((pair,) for pair in retagged(train, tagger_of(stages, "en")))
        tagger = project_tags(corpus, rng=rng, tagged=known).tagger
    else:
        tagger = train_tagger(known, rng=rng, raw=[pair.target.forms for pair in train])
    return f"{accuracy(tagger, [pair.target for pair in test]):.1f}"


def run(lab: Lab) -> Figures:
    stages, figures = Stages(lab), lab.cache.figures
    votes = []
    for target, name in NAMES.items():
        others = [source for source in ("en", *NAMES) if source != target]
        data: list[Path] = [lab.treebank_path(one) for one in TAGGER_TREEBANKS[target]]
        data += [lab.pud_path(language) for language in (*others, target)]
        cells = [f"{len(lexicon_of(lab, target).tags):,}"]
        for sources, listed in ((["en"], False), (["en"], True), (others, False), (others, True)):
            measure = partial(voted, lab, stages, target, sources, listed=listed)
            options = {"sources": sources, "listed": listed, "target": target}
            cells.append(figures(f"votes {target}", measure, options=options, data=data))
        votes.append([name, *cells])
    rows = []
    for title, links in (("through links", True), ("tagged sentences alone", False)):
        cells = []
        for tagged in TAGGED if links else TAGGED[1:]:
            measure = partial(chinese, lab, stages, tagged, links=links)
            options = {"tagged": tagged, "links": links}
            cells.append(figures("chinese", measure, options=options, data=link_files(lab, CHINESE)))
        rows.append([title, *([""] * (len(TAGGED) - len(cells))), *cells])
    heading = ("words listed", "English", "English, lexicon", "three sources", "three sources, lexicon")
    return Figures(
        tables={
            "votes": table(["nothing tagged", *heading], votes),
            "chinese": table(["learned", *(f"{one} tagged" for one in TAGGED)], rows),
        }
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="tags-of-few-pairs")

if __name__ == "__main__":
    EXPERIMENT.main()
