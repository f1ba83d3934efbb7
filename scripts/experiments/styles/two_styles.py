"""Measure joint parsing of two annotation styles of one text (thesis 5.1.4).

A few sentences have trees in both styles, all others only in the old one. Tags are those of the old style's file (gold).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import permutations, product
from pathlib import Path
from statistics import mean

import numpy as np

from qsproj.corpus.editing import with_heads
from qsproj.corpus.pairs.aligned import pair_aligned
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_options import BiparseOptions, JointTrainingOptions
from qsproj.models.joint.joint_parser import JointParser, ParsedPair
from qsproj.models.storage import load_model_of
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.styles.adaptation import (
    PARSER_EPOCHS,
    PUD_TEST_FROM,
    SEED,
    STYLES,
    TABLE_TEST,
    Scores,
    Trees,
    accuracy,
    converted,
    ewt,
    style_path,
    styled,
    trained,
)

# Pairs of an old tree and its conversion that the joint model learns from beside the known ones, and how often.
MORE_PAIRS, EPOCHS = 1000, 4
DRAW_SEED = 0
# Sentences of EWT that settings were chosen on.
DEV = 500
# Of the converter's scores, beside those of a parser of converted trees.
CONVERTER_SHARE = 0.15

Both = tuple[Trees, Trees]
NATIVE, ADAPTED, CONVERTED = "parser of the new style", "adapted parser", "parser of converted trees"
SUM = "sum of scores"
SMALL, FEW, JOINT = "joint, known pairs alone", "joint, known pairs", "joint"
OLD, OLD_JOINT = "parser of the old style", "joint, old style"
GIVEN, GIVEN_JOINT = "converter, old tree given", "joint, old tree given"
# Share of words whose relation is among those of the known trees.
SEEN = "relations known"
ROWS = (NATIVE, ADAPTED, CONVERTED, SUM, SMALL, FEW, JOINT, OLD, OLD_JOINT, GIVEN, GIVEN_JOINT, SEEN)


@dataclass(frozen=True, kw_only=True)
class Case:
    """Two styles of a corpus, of which ``size`` sentences are known in both: the first, or some at random."""

    corpus: str
    old: str
    new: str
    size: int = 100
    random: bool = False

    @property
    def known(self) -> str:
        return f"{self.size}{' at random' if self.random else ''}"

    @property
    def name(self) -> str:
        return f"{self.corpus}, {self.old} to {self.new}, {self.known}"


EWT_CASES = tuple(Case(corpus="EWT", old=old, new=new) for old, new in permutations(STYLES, 2))
STYLE_PAIRS = (("ud", "sud"), ("sud", "ud"))
OTHER_CASES = tuple(
    Case(corpus=corpus, old=old, new=new, size=size, random=corpus == "Naija")
    for corpus in ("Naija", "English PUD")
    for old, new in STYLE_PAIRS
    for size in ((10, 100) if corpus == "Naija" else (100,))
)


def trees_of(lab: Lab, corpus: str, style: str) -> dict[str, Trees]:
    """Return the trees of a corpus in a style: ``train``, ``dev`` if any, ``test``."""
    if corpus == "EWT":
        limits = {"train": None, "dev": DEV, "test": TABLE_TEST}
        return {part: ewt(lab, part, style, limit) for part, limit in limits.items()}
    if corpus == "Naija":
        return {part: styled(lab, f"naija-{part}.{style}") for part in ("train", "dev", "test")}
    trees = styled(lab, f"english-pud.{style}")
    return {"train": trees[:PUD_TEST_FROM], "test": trees[PUD_TEST_FROM:]}


def files_of(lab: Lab, case: Case) -> list[Path]:
    if case.corpus == "EWT":
        return [lab.treebank_path(f"english-ewt-{part}") for part in ("train", "dev", "test")]
    if case.corpus == "Naija":
        parts = product(("train", "dev", "test"), (case.old, case.new))
        return [style_path(lab, f"naija-{part}.{style}") for part, style in parts]
    return [style_path(lab, f"english-pud.{style}") for style in (case.old, case.new)]


def measure(lab: Lab, case: Case) -> dict[str, dict[str, Scores]]:
    """Return the scores of the rows in ROWS for each part of the corpus."""
    old, new = (trees_of(lab, case.corpus, style) for style in (case.old, case.new))
    for part, trees in old.items():
        new[part] = [
            with_heads(one, two.heads, two.deprels) for one, two in zip(trees, new[part], strict=True)
        ]
    known: list[int] = list(range(case.size))
    if case.random:
        rng = np.random.default_rng(DRAW_SEED)
        known = rng.choice(len(old["train"]), case.size, replace=False).tolist()
    rest = sorted(set(range(len(old["train"]))).difference(known))
    pairs: Both = ([old["train"][i] for i in known], [new["train"][i] for i in known])
    old_trees = [old["train"][i] for i in rest]

    def parser(name: str, trees: Trees) -> ArcParser:
        def train(path: Path) -> None:
            options = TrainingOptions(epochs=PARSER_EPOCHS)
            train_arc_parser(trees, rng=np.random.default_rng(SEED), options=options)[0].save(path)

        name = f"{case.corpus}, {name}, {case.known}.parser"
        path = lab.cache.file(name, train, data=files_of(lab, case))
        return load_model_of(path, ArcParser, expected="a parser", remedy="")

    old_parser = parser(case.old, old_trees)
    # The styles of EWT have the same tags.
    tags = "" if case.corpus == "EWT" else f", tags of {case.old}"
    native = parser(f"{case.new}{tags}", [new["train"][i] for i in rest])
    converter = trained(*pairs)
    conversions = converted(converter, old_trees)
    new_parser = parser(f"{case.old} to {case.new}", conversions)

    def joint(more: int, target: ArcParser | None) -> JointParser:
        sides = ([*pairs[0], *old_trees[:more]], [*pairs[1], *conversions[:more]])
        training = JointTrainingOptions(epochs=EPOCHS if more else JointTrainingOptions().epochs)
        return train_joint_parser(
            pair_aligned(*sides, None),
            old_parser,
            rng=np.random.default_rng(SEED),
            options=BiparseOptions(training=training),
            target=target,
        )[0]

    def summed(sentence: Sentence) -> Sentence:
        """Parse a sentence, whose tree is that of the old parser, with the sum of the scores of two models."""
        of_source = converter.scores(converter.encode(sentence))
        scores = new_parser.scores(sentence) + CONVERTER_SHARE * of_source
        _, chances = new_parser.inference.infer(scores)
        return new_parser.attached(sentence, new_parser.inference.best(chances), probabilities=chances)

    found = {}
    both = joint(MORE_PAIRS, new_parser)
    for part in [part for part in old if part != "train"]:

        def parsed(model: JointParser, source_tree: str | None = None, part: str = part) -> list[ParsedPair]:
            return [model.parse_pair(one, one, None, source_tree=source_tree) for one in old[part]]

        together = parsed(both)
        in_old = [old_parser.parse(sentence) for sentence in old[part]]
        in_new = {
            NATIVE: [native.parse(sentence) for sentence in old[part]],
            ADAPTED: converted(converter, in_old),
            CONVERTED: [new_parser.parse(sentence) for sentence in old[part]],
            SUM: [summed(sentence) for sentence in in_old],
            JOINT: [pair.target for pair in together],
            GIVEN: converted(converter, old[part]),
            GIVEN_JOINT: [pair.target for pair in parsed(both, "observed")],
        }
        if part == "dev" and case.corpus == "EWT":
            in_new |= {
                name: [pair.target for pair in parsed(joint(0, target))]
                for name, target in ((SMALL, None), (FEW, new_parser))
            }
        found[part] = {row: accuracy(new[part], trees) for row, trees in in_new.items()}
        found[part][OLD] = accuracy(old[part], in_old)
        found[part][OLD_JOINT] = accuracy(old[part], [pair.source for pair in together])
        relations = {relation for tree in pairs[1] for relation in tree.deprels}
        of_words = [relation in relations for tree in new[part] for relation in tree.deprels]
        found[part][SEEN] = (100.0 * mean(of_words),) * 3
    return found


def four_styles(cells: dict[str, dict[str, dict[str, Scores]]]) -> Table:
    """Show means over the twelve pairs of the four styles."""

    def of_part(part: str, row: str, score: int) -> str:
        found = [cells[case.name][part][row][score] for case in EWT_CASES if row in cells[case.name][part]]
        return f"{mean(found):.2f}" if found else ""

    shown = tuple(product(("dev", "test"), enumerate(("UAS", "LAS"))))
    rows = [[row, *(of_part(part, row, score) for part, (score, _) in shown)] for row in ROWS[:-1]]
    return table(["", *(f"{part}, {name}" for part, (_, name) in shown)], rows)


def each_pair(cells: dict[str, dict[str, dict[str, Scores]]]) -> Table:
    """Show the UAS of each pair of styles on the test file."""
    shown = (NATIVE, ADAPTED, CONVERTED, JOINT, OLD, OLD_JOINT)
    rows = [
        [f"{case.old} to {case.new}", *(f"{cells[case.name]['test'][row][0]:.1f}" for row in shown)]
        for case in EWT_CASES
    ]
    return table(["old style to new", *shown], rows)


def others(cells: dict[str, dict[str, dict[str, Scores]]]) -> Table:
    """Show UAS and LAS of UD and SUD."""
    shown = [row for row in ROWS if row not in (SMALL, FEW)]
    rows = []
    for case in OTHER_CASES:
        for part, found in cells[case.name].items():
            scores = [f"{found[row][0]:.1f} / {found[row][1]:.1f}" for row in shown[:-1]]
            direction = f"{case.old} to {case.new}".upper().replace("TO", "to")
            rows.append([f"{case.corpus} {part}, {direction}", case.known, *scores, f"{found[SEEN][1]:.1f}"])
    return table(["UAS / LAS", "known in both", *shown], rows)


def run(lab: Lab) -> Figures:
    cells = {
        case.name: lab.cache.figures(case.name, partial(measure, lab, case), data=files_of(lab, case))
        for case in (*EWT_CASES, *OTHER_CASES)
    }
    return Figures(
        tables={"four": four_styles(cells), "each": each_pair(cells), "others": others(cells)},
        values={
            "dev sentences": str(DEV),
            "test sentences": f"{TABLE_TEST:,}",
            "parser epochs": str(PARSER_EPOCHS),
            "more pairs": f"{MORE_PAIRS:,}",
            "epochs": str(EPOCHS),
        },
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run)

if __name__ == "__main__":
    EXPERIMENT.main()
