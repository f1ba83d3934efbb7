"""Measure the projection of English trees to other languages on real data.

Every stage is a timed qsproj command in a separate process. No target tree is used for training; treebanks of the target
supply only UPOS.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.pairs.aligned import pair_aligned
from qsproj.evaluation.attachment import PUNCTUATION_TAG, AttachmentScores, attachment_scores
from qsproj.pipelines.demo import attach_next, attach_previous
from qsproj.pipelines.projection.hard_projection import through_links
from qsproj.pipelines.projection.methods import HardProjectionOptions
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.stages import NAMES, Stages, took

TRANSFER = "delexicalised transfer"
PARTIAL = "hard, partial trees"
VARIANTS = {
    "hard, whole trees": HardProjectionOptions(min_attached=1.0),
    PARTIAL: HardProjectionOptions(),
    "hard, Hwa's completion, whole trees": HardProjectionOptions(completion="hwa", min_attached=1.0),
    "hard, Hwa's completion, partial trees": HardProjectionOptions(completion="hwa"),
}
BASELINES = {"attach left": attach_previous, "attach right": attach_next}
SCORES = ("UAS", "LAS", "LAS, no subtypes")
PROPORTIONS = ("precision", "recall", "precision, no punctuation", "recall, no punctuation")


def model_of(stages: Stages, language: str, name: str) -> Path:
    """Return the model file of a system."""
    if name == TRANSFER:
        return stages.delexicalised_parser()
    return stages.projected(language, name.replace(" ", "-"), VARIANTS[name])


def pud_scores(stages: Stages, language: str, name: str, *, tagged: bool) -> AttachmentScores:
    """Score a system on PUD with gold tags or the tagger's."""
    parsed = stages.parsed_pud(language, model_of(stages, language, name), tagged=tagged)
    return attachment_scores(read_conllu(stages.lab.pud_path(language)), [read_conllu(parsed)])[0]


def system_table(stages: Stages, language: str) -> Table:
    """Score all systems on PUD with gold and with predicted UPOS."""
    rows = []
    gold = stages.lab.pud(language)
    for name, attach in BASELINES.items():
        (scores,) = attachment_scores(gold, [map(attach, gold)])
        rows.append([name, *2 * (f"{scores.uas:.1f}", "", "")])
    for name in (TRANSFER, *VARIANTS):
        both = (pud_scores(stages, language, name, tagged=tagged) for tagged in (False, True))
        values = (value for one in both for value in (one.uas, one.las, one.las_no_subtypes))
        rows.append([name, *(f"{value:.1f}" for value in values)])
    return table(["system", *SCORES, *(f"{name}, predicted tags" for name in SCORES)], rows)


def stages_table(stages: Stages, language: str) -> Table:
    """Return the table of resources of each stage."""
    made = {
        **stages.main_job(language),
        "project, train the target parser": model_of(stages, language, PARTIAL),
    }
    found = {what: took(path) for what, path in made.items()}
    columns = [[float(one[key]) for one in found.values()] for key in ("wall", "cpu", "peak")]
    totals = [sum(columns[0]), sum(columns[1]), max(columns[2])]
    shown = [[name, *(f"{value:.0f}" for value in row)] for name, row in zip(found, zip(*columns))]
    shown.append(["all", *(f"{value:.0f}" for value in totals)])
    return table(["stage", "wall, s", "processor, s", "peak MB"], shown)


def direct_projection(stages: Stages, language: str) -> list[str]:
    """Table 4.2: precision and recall of projecting gold English PUD trees onto PUD, through our links."""
    lab = stages.lab
    sides = [
        stages.joined(f"pud+en-{language}.{side}.conllu", [lab.pud_path(side), stages.tagged(language, side)])
        for side in ("en", language)
    ]
    aligned = stages.stage(f"pud+en-{language}.pharaoh", "align", *sides)
    english, other = lab.pud("en"), lab.pud(language)
    links = (alignment for alignment, _ in zip(read_alignments(str(aligned)), english))
    judged = right = gold = judged_words = right_words = gold_words = 0
    for pair in pair_aligned(english, other, links):
        heads, _ = through_links(pair)
        word = [tag != PUNCTUATION_TAG for tag in pair.target.upos]
        found = heads[1:] >= 0
        correct = found & (heads[1:] == pair.target.heads[1:])
        judged, right, gold = judged + int(found.sum()), right + int(correct.sum()), gold + len(word)
        judged_words += int((found & word).sum())
        right_words += int((correct & word).sum())
        gold_words += sum(word)
    shares = (right / judged, right / gold, right_words / judged_words, right_words / gold_words)
    return [f"{100.0 * share:.1f}" for share in shares]


def run(lab: Lab) -> Figures:
    stages = Stages(lab)
    languages = {language: NAMES[language] for language in lab.options.languages}
    tables: dict[str, Table] = {}
    values: dict[str, str] = {}
    for language, name in languages.items():
        tables[name] = system_table(stages, language)
        tables[f"{name} stages"] = stages_table(stages, language)
        said = {variant: took(model_of(stages, language, variant))["said"] for variant in VARIANTS}
        values[f"{name}: said"] = "\n".join(
            f"- {variant}: {'; '.join(lines)}" for variant, lines in said.items()
        )
    direct = [[name, *direct_projection(stages, language)] for language, name in languages.items()]
    return Figures(tables={**tables, "direct": table(["language", *PROPORTIONS], direct)}, values=values)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--languages", nargs="+", default=list(NAMES), choices=list(NAMES), help="default: all"
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
