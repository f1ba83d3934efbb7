"""Soft projection, and each of its ingredients left out.

Parsed, tagged and aligned bitexts, and PUD with predicted tags, are those of projection.py. Every row is trained on the
first 20,000 pairs of a bitext, or fewer. No target tree is trained on, and settings were chosen on dev files
(German-GSD, Spanish-GSD, Swedish-Talbanken).
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.evaluation.attachment import attachment_scores
from qsproj.evaluation.calibration import expected_calibration_error, reliability
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tree_inference import TreeInference
from qsproj.pipelines.projection.method_options import SoftProjectionOptions
from qsproj.pipelines.projection.soft_evidence import arc_evidence
from qsproj.pipelines.projection.soft_grammar import train_grammar
from qsproj.pipelines.projection.soft_prior import join_priors, load_prior
from qsproj.pipelines.projection.soft_projection import SoftSources, project_soft
from qsproj.pipelines.projection.soft_selection import MIN_COVERAGE
from qsproj.pipelines.translations import Translations
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table
from scripts.experiments.pages.transfer import soft_projection
from scripts.experiments.transfer.projection import PARTIAL, pud_scores
from scripts.experiments.transfer.pud_sources import LANGUAGES, TRAINED_ON, ParallelTrees
from scripts.experiments.transfer.soft_tables import change_table, main_table, reliability_table, vote_table
from scripts.experiments.transfer.stages import NAMES, Stages

PAIRS, SENTENCES = 20_000, 5_000
EVERY_NAME = {"en": "English", **NAMES, "tr": "Turkish"}
DEV = {"de": "german-gsd-dev", "es": "spanish-gsd-dev", "sv": "swedish-talbanken-dev"}
SOURCES = {
    "english": ("english-ewt-train",),
    "de": (
        "danish-ddt-dev",
        "dutch-alpino-dev",
        "swedish-talbanken-dev",
        "spanish-gsd-dev",
        "spanish-ancora-dev",
    ),
    "es": ("danish-ddt-dev", "dutch-alpino-dev", "swedish-talbanken-dev", "german-gsd-dev"),
    "sv": ("danish-ddt-dev", "dutch-alpino-dev", "german-gsd-dev", "spanish-gsd-dev", "spanish-ancora-dev"),
}
FULL = SoftProjectionOptions(sentences=SENTENCES)
FEW_PAIRS = 8_000
FEW = SoftProjectionOptions(sentences=2_000, rounds=1)
Pairs = Sequence[SentencePair]


@dataclass(frozen=True, slots=True)
class Row:
    """A system: its priors, its options, what is done to the pairs, and whether a grammar weighs the evidence.

    ``main`` rows stand in the main table. ``voters`` are languages of PUD whose trees are the sources, with or without
    the bitext: these rows are tested on the sentences of PUD that are not trained on.
    """

    priors: tuple[str, ...]
    options: SoftProjectionOptions | None
    change: Callable[[Pairs], Pairs] = list
    grammar: bool = False
    main: bool = False
    voters: tuple[str, ...] | None = None
    bitext: bool = True


UNCHANGED = "unchanged"
SOFT = "soft, English"


def without_weights(pairs: Pairs) -> Pairs:
    """Take the weights off the links."""
    return [replace(pair, alignment=replace(pair.alignment, weights=None)) for pair in pairs]


def unchosen(pairs: Pairs) -> Pairs:
    """Keep as many pairs as are learned from, by chance, of the same lengths and with as much evidence."""
    fitting = [
        pair
        for pair in pairs
        if 6 <= len(pair.target) < 36 and arc_evidence(pair).sum() > MIN_COVERAGE * len(pair.target)
    ]
    kept = np.random.default_rng(1).permutation(len(fitting))[: FEW.sentences]
    return [fitting[index] for index in sorted(kept)]


ROWS = {
    "delexicalised, English": Row(("english",), None, main=True),
    SOFT: Row(("english",), FULL, main=True),
    "delexicalised, several sources": Row(("english", "others"), None, main=True),
    "soft, several sources": Row(("english", "others"), FULL, main=True),
    UNCHANGED: Row(("english",), FEW),
    "two rounds": Row(("english",), replace(FEW, rounds=2)),
    "several sources": Row(("english", "others"), FEW),
    "no prior": Row((), FEW),
    "no evidence": Row(("english",), None),
    "links without weights": Row(("english",), FEW, without_weights),
    "pairs not chosen": Row(("english",), replace(FEW, sentences=FEW_PAIRS), unchosen),
    "evidence nearly certain (strength 6)": Row(("english",), replace(FEW, strength=6.0)),
    "no pull towards the prior": Row(("english",), replace(FEW, l2=0.0)),
    "weighed by posteriors of the QG-DMV": Row(("english",), FEW, grammar=True),
}
VOTES = {
    "prior alone": Row(("english",), None, voters=()),
    **{
        f"PUD, {EVERY_NAME[language]}": Row(("english",), FEW, voters=(language,), bitext=False)
        # Of Turkish links, learned from 600 pairs, too few are sure for any pair to be learned from.
        for language in LANGUAGES
        if language != "tr"
    },
    "PUD, all four": Row(("english",), FEW, voters=LANGUAGES, bitext=False),
    "bitext": Row(("english",), FEW, voters=()),
    "bitext and PUD, English": Row(("english",), FEW, voters=("en",)),
    "bitext and PUD, all four": Row(("english",), FEW, voters=LANGUAGES),
}
EVERY_ROW = {**ROWS, **VOTES}


Scores = dict[str, Any]


class Laboratory:
    """Data and priors of one language, each read or trained when first asked for."""

    def __init__(self, stages: Stages, language: str) -> None:
        self.stages, self.lab, self.language = stages, stages.lab, language
        self._pairs: Pairs = []
        self._parallel = ParallelTrees(stages)

    def bitext(self) -> list[Path]:
        """Return the files of the parsed source, the tagged target, and the links."""
        stages, language = self.stages, self.language
        return [stages.parsed_english(language), stages.tagged(language, language), stages.links(language)]

    def pairs(self) -> Pairs:
        if not self._pairs:
            self._pairs = list(itertools.islice(AlignedFiles(*map(str, self.bitext())), PAIRS))
        return self._pairs

    def prior(self, name: str) -> ArcParser:
        """Load, or train and keep, a delexicalised parser of English or of the other sources."""
        key = self.language if name == "others" else name

        def train(path: Path) -> None:
            trees = [tree for treebank in SOURCES[key] for tree in self.lab.treebank(treebank)]
            options = TrainingOptions(
                template_set="delexicalised", epochs=6, projective=True, single_root=True
            )
            train_arc_parser(trees, rng=np.random.default_rng(1), options=options)[0].save(path)

        treebanks = list(map(self.lab.treebank_path, SOURCES[key]))
        return load_prior(str(self.lab.cache.file(f"{key}.prior", train, data=treebanks)))

    def files(self, row: Row) -> list[Path]:
        """Return the files that a row is trained and tested on."""
        voters = [language for language in row.voters or () if language != self.language]
        parallel = (path for voter in voters for path in self._parallel.files(voter, self.language))
        keys = (self.language if name == "others" else name for name in row.priors)
        treebanks = (self.lab.treebank_path(treebank) for key in keys for treebank in SOURCES[key])
        tests = (self.lab.pud_path(self.language), self.lab.treebank_path(DEV[self.language]))
        return list(dict.fromkeys([*self.bitext(), *parallel, *treebanks, *tests]))

    def corpus(self, row: Row) -> list[Translations]:
        """Return what a row learns from."""
        voters = [language for language in row.voters or () if language != self.language]
        voted = zip(*(self._parallel.pairs(language, self.language) for language in voters), strict=True)
        bitext = row.change(self.pairs()[: PAIRS if row.main else FEW_PAIRS]) if row.bitext else []
        return [*voted, *((pair,) for pair in bitext)]

    def parser(self, row: Row) -> tuple[ArcParser, str]:
        """Train a row's parser; return also what was said."""
        members = [self.prior(name) for name in row.priors] or [blank()]
        if row.options is None:
            prior = join_priors(members, projective=True)
            return (members[0] if len(members) == 1 else relabelled(prior.joined, members[0])), ""
        corpus = self.corpus(row)
        grammars = (train_grammar(pair for (pair,) in corpus),) if row.grammar else ()
        projected = project_soft(
            SoftSources(corpus=corpus, priors=members, grammars=grammars),
            rng=np.random.default_rng(1),
            options=row.options,
        )
        assert isinstance(projected.parser, ArcParser)
        return projected.parser, projected.report[0]


def blank() -> ArcParser:
    """Return a parser that knows nothing."""
    inference = TreeInference(projective=True, single_root=True)
    return ArcParser(ArcScorer.untrained("delexicalised"), None, inference)


def relabelled(joined: ArcParser, member: ArcParser) -> ArcParser:
    """Return the joined prior as a parser that reads tags alone, as its members' labeller does."""
    scorer = replace(joined.scorer, template_set=member.scorer.template_set)
    return replace(joined, scorer=scorer, labeller=member.labeller)


def measure(parser: ArcParser, gold: list[Sentence], tagged: list[Sentence] | None = None) -> Scores:
    """Score a parser on gold trees, with their tags or others, and its probabilities."""
    upos = [sentence.upos for sentence in (tagged or gold)]
    inputs = [with_columns(sentence, upos=tags) for sentence, tags in zip(gold, upos, strict=True)]
    parsed = [parser.parse(sentence) for sentence in inputs]
    (scores,) = attachment_scores(gold, [parsed])
    confidences, right = [], []
    for tree, sentence, truth in zip(parsed, inputs, gold, strict=True):
        words = np.arange(1, len(tree) + 1)
        confidences.append(parser.arc_probabilities(sentence)[tree.heads[1:], words])
        right.append(tree.heads[1:] == truth.heads[1:])
    table = reliability(np.clip(np.concatenate(confidences), 0.0, 1.0), np.concatenate(right))
    return {
        "uas": scores.uas,
        "las": scores.las,
        "las_no_subtypes": scores.las_no_subtypes,
        "ece": 100.0 * expected_calibration_error(table),
        "bins": [[row.low, row.high, row.count, row.confidence, row.accuracy] for row in table],
    }


def run_row(laboratory: Laboratory, row: Row) -> Scores:
    """Train and test one system."""
    pud = laboratory.lab.pud(laboratory.language)
    tagged = list(read_conllu(laboratory.stages.tagged_pud(laboratory.language)))
    if row.voters is not None:
        pud, tagged = pud[TRAINED_ON:], tagged[TRAINED_ON:]
    start = time.process_time()
    parser, said = laboratory.parser(row)
    return {
        "said": said,
        "seconds": time.process_time() - start,
        "pud": measure(parser, pud),
        "dev": measure(parser, laboratory.lab.treebank(DEV[laboratory.language])),
        "tagged": measure(parser, pud, tagged),
    }


def hard_row(stages: Stages, language: str) -> Scores:
    """Score what projection.py parsed with the hard projection on partial trees."""
    result: Scores = {}
    for key, tagged in (("pud", False), ("tagged", True)):
        scores = pud_scores(stages, language, PARTIAL, tagged=tagged)
        result[key] = {"uas": scores.uas, "las": scores.las, "las_no_subtypes": scores.las_no_subtypes}
    return result


def rows_of(lab: Lab, stages: Stages, language: str) -> dict[str, Scores]:
    """Return the rows of a language: those asked for, and others that are kept."""
    laboratory = Laboratory(stages, language)
    rows = {PARTIAL: hard_row(stages, language)}
    for name, row in EVERY_ROW.items():
        if row.voters == (language,):
            continue
        options, files = {"row": name, "language": language}, laboratory.files(row)
        kept = lab.cache.kept(f"soft {language} {name}", options=options, data=files)
        if kept is None and name in lab.options.rows:
            measure_row = partial(run_row, laboratory, row)
            kept = lab.cache.figures(f"soft {language} {name}", measure_row, options=options, data=files)
            print(language, name, f"{kept['pud']['uas']:.2f}", kept["said"], file=sys.stderr, flush=True)
        if kept is not None:
            rows[name] = kept
    return rows


def run(lab: Lab) -> Figures:
    stages = Stages(lab)
    results = {NAMES[language]: rows_of(lab, stages, language) for language in lab.options.languages}
    tables: dict[str, Table] = {}
    values: dict[str, str] = {}
    for name, rows in results.items():
        tables[name] = main_table(rows, (PARTIAL, *(row for row in ROWS if ROWS[row].main)))
        tables[f"{name} changes"] = change_table(rows, [row for row in ROWS if not ROWS[row].main])
        if SOFT in rows:
            tables[f"{name} reliability"] = reliability_table(rows[SOFT])
            values[f"{name}: said"] = f"{rows[SOFT]['said']}; {rows[SOFT]['seconds']:.0f} s of processor time"
    tables["votes"] = vote_table(results, list(VOTES))
    return Figures(tables=tables, values=values)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--languages", nargs="+", default=list(NAMES), choices=list(NAMES), help="default: all"
    )
    text = "measure these, and show others that are kept (default: all)"
    parser.add_argument(
        "--rows", nargs="+", default=list(EVERY_ROW), choices=EVERY_ROW, metavar="ROW", help=text
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="soft-projection",
    reading=soft_projection,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
