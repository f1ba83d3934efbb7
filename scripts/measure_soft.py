"""Soft projection measured, and each of its ingredients left out. Writes docs/soft-projection.md.

    QSPROJ_DATA=... python scripts/measure_soft.py --work DIR [--languages de es sv]

DIR holds what scripts/measure_projection.py left there: the parsed, tagged and aligned bitexts, and PUD with
predicted tags. Every row is trained on the first 20,000 pairs of a bitext; rows whose file is in DIR/soft are not run
again. No target tree is trained on, and settings were chosen on dev files (German-GSD, Swedish-Talbanken).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.pairing import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.evaluation.attachment import attachment_scores
from qsproj.evaluation.calibration import expected_calibration_error, reliability
from qsproj.models.arc_parser import ArcParser
from qsproj.models.arc_scorer import ArcScorer
from qsproj.models.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.tree_inference import TreeInference
from qsproj.pipelines.soft_evidence import arc_evidence
from qsproj.pipelines.soft_prior import join_priors, load_prior
from qsproj.pipelines.soft_projection import SoftProjectionOptions, project_soft
from qsproj.pipelines.soft_selection import MIN_COVERAGE

REPORT = Path(__file__).resolve().parent.parent / "docs" / "soft-projection.md"
PAIRS, SENTENCES = 20_000, 5_000
NAMES = {"de": "German", "es": "Spanish", "sv": "Swedish"}
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
    """A system: its priors, its options, what is done to the pairs; and whether it is one of the main table."""

    priors: tuple[str, ...]
    options: SoftProjectionOptions | None
    change: Callable[[Pairs], Pairs] = list
    main: bool = False


UNCHANGED = "unchanged"


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
    "soft, English": Row(("english",), FULL, main=True),
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
}


class Laboratory:
    """Data and priors of one language, each read or trained when first asked for."""

    def __init__(self, work: Path, data: Path, language: str) -> None:
        self.work, self.data, self.language = work, data, language
        self.out = work / "soft"
        self.out.mkdir(exist_ok=True)
        self._pairs: Pairs = []

    def treebank(self, name: str) -> list[Sentence]:
        return list(read_conllu(self.data / "treebanks" / f"{name}.conllu.gz"))

    def pairs(self) -> Pairs:
        if not self._pairs:
            bitext = self.work / f"en-{self.language}"
            files = AlignedFiles(
                f"{bitext}.en.conllu", f"{bitext}.{self.language}.conllu", f"{bitext}.pharaoh", "pharaoh"
            )
            self._pairs = list(itertools.islice(files, PAIRS))
        return self._pairs

    def prior(self, name: str) -> ArcParser:
        """Load, or train and keep, a delexicalised parser of English or of the other sources."""
        key = self.language if name == "others" else name
        path = self.out / f"{key}.prior"
        if not path.exists():
            trees = [tree for treebank in SOURCES[key] for tree in self.treebank(treebank)]
            options = TrainingOptions(
                template_set="delexicalised", epochs=6, projective=True, single_root=True
            )
            train_arc_parser(trees, rng=np.random.default_rng(1), options=options)[0].save(path)
        return load_prior(str(path))

    def parser(self, row: Row) -> tuple[ArcParser, str]:
        """Train a row's parser; return also what was said."""
        members = [self.prior(name) for name in row.priors] or [blank()]
        prior = join_priors(members, projective=True)
        if row.options is None:
            return (members[0] if len(members) == 1 else relabelled(prior.joined, members[0])), ""
        projected = project_soft(
            [(pair,) for pair in row.change(self.pairs()[: PAIRS if row.main else FEW_PAIRS])],
            prior=prior,
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


def measure(
    parser: ArcParser, gold: list[Sentence], tagged: list[Sentence] | None = None
) -> dict[str, object]:
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
        "ece": 100.0 * expected_calibration_error(table),
        "bins": [[row.low, row.high, row.count, row.confidence, row.accuracy] for row in table],
    }


def run_row(laboratory: Laboratory, row: Row) -> dict[str, object]:
    """Train and test one system."""
    pud = list(read_conllu(laboratory.data / "pud" / f"{laboratory.language}.conllu.gz"))
    start = time.process_time()
    parser, said = laboratory.parser(row)
    result: dict[str, object] = {"said": said, "seconds": time.process_time() - start}
    result["pud"] = measure(parser, pud)
    if row.main:
        result["dev"] = measure(parser, laboratory.treebank(DEV[laboratory.language]))
        tagged = list(read_conllu(laboratory.work / f"pud.{laboratory.language}.tagged.conllu"))
        result["tagged"] = measure(parser, pud, tagged)
    return result


def kept_row(laboratory: Laboratory, name: str) -> dict[str, object]:
    """Return what a row gave, measured now or before."""
    log = laboratory.out / f"{laboratory.language}.{name.replace(' ', '-')}.json"
    if not log.exists():
        log.write_text(json.dumps(run_row(laboratory, ROWS[name])), encoding="utf-8")
    return json.loads(log.read_text(encoding="utf-8"))


def hard_row(laboratory: Laboratory) -> dict[str, object]:
    """Score what scripts/measure_projection.py parsed with the hard projection on partial trees."""
    pud = list(read_conllu(laboratory.data / "pud" / f"{laboratory.language}.conllu.gz"))
    result: dict[str, object] = {}
    stem = f"pud.{laboratory.language}.{laboratory.language}.hard,-partial-trees.parser"
    for key, suffix in (("pud", ""), ("tagged", "_tagged")):
        parsed = list(read_conllu(laboratory.work / f"{stem}{suffix}.conllu"))
        (scores,) = attachment_scores(pud, [parsed])
        result[key] = {"uas": scores.uas, "las": scores.las}
    return result


def main_table(rows: dict[str, dict]) -> list[str]:
    """Format the systems of one language."""
    lines = [
        "| system | UAS | LAS | UAS, predicted tags | LAS, predicted tags | dev UAS | ECE | dev ECE |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in ("hard, partial trees", *(name for name, row in ROWS.items() if row.main)):
        if name not in rows:
            continue
        row = rows[name]
        cells = [row["pud"]["uas"], row["pud"]["las"], row["tagged"]["uas"], row["tagged"]["las"]]
        more = [row["dev"]["uas"], row["pud"]["ece"], row["dev"]["ece"]] if "dev" in row else []
        shown = [f"{value:.1f}" for value in (*cells, *more)] + [""] * (3 - len(more))
        lines.append(f"| {name} | {' | '.join(shown)} |")
    return lines


def ablation_table(rows: dict[str, dict]) -> list[str]:
    """Format what each ingredient is worth."""
    changes = [name for name, row in ROWS.items() if not row.main and name in rows]
    if not changes:
        return []
    lines = [
        "What each ingredient is worth: English prior, the first 8,000 pairs, 2,000 of them learned from in one round.",
        "",
        "| change | UAS | LAS |",
        "|---|---|---|",
    ]
    for name in changes:
        lines.append(f"| {name} | {rows[name]['pud']['uas']:.1f} | {rows[name]['pud']['las']:.1f} |")
    return [*lines, ""]


def reliability_table(row: dict) -> list[str]:
    """Format the bins of one system."""
    lines = ["| ArcProb | arcs | mean ArcProb | right |", "|---|---|---|---|"]
    for low, high, count, confidence, accuracy in row["pud"]["bins"]:
        shown = f"{100 * confidence:.1f}% | {100 * accuracy:.1f}%" if count else " | "
        lines.append(f"| {low:.1f} to {high:.1f} | {count:,} | {shown} |")
    return lines


def report(results: dict[str, dict[str, dict]], reading: Sequence[str]) -> str:
    """Format everything as Markdown."""
    lines = [
        "# Soft projection",
        "",
        "Made by `scripts/measure_soft.py`: `qsproj project --method soft` on the first 20,000 pairs of each bitext,",
        "5,000 of them learned from in a round. Tests: the whole of PUD, all tokens. ECE: expected calibration error of",
        "`ArcProb` in percent, ten bins, gold tags; the temperature is fitted on projected arcs. Dev: German-GSD,",
        "Spanish-GSD, Swedish-Talbanken. *Several sources*: a second prior votes, trained on the dev files of Danish,",
        "Dutch and those of German, Spanish and Swedish that are not the target. The hard projection is that of",
        "[projection.md](projection.md), trained on all pairs.",
        "",
        *METHOD,
    ]
    for language, rows in results.items():
        lines += [f"## {NAMES[language]}", "", *main_table(rows), "", *ablation_table(rows)]
        if "soft, English" in rows:
            seconds = rows["soft, English"]["seconds"]
            said = rows["soft, English"]["said"]
            lines += [f"*soft, English*: {said}; {seconds:.0f} s of processor time.", ""]
            lines += [
                "How `ArcProb` of *soft, English* keeps its word:",
                "",
                *reliability_table(rows["soft, English"]),
                "",
            ]
    return "\n".join([*lines, *reading]) + "\n"


METHOD = (
    "## The method",
    "",
    "1. *Prior*: a delexicalised parser of English, or several parsers whose scores are averaged.",
    "2. *Evidence* for a target arc, between 0 and 1: the source arcs that links carry over to it, weighted by the",
    "   links. A link counts its weight times its share in the weights of all links of either of its words.",
    "3. *Choice*: within each band of lengths, the pairs with evidence for half of the words at least, and the largest",
    "   share of that evidence expected to agree with the parser: close translations, well tagged, of today.",
    "4. *Learning*: minus the log of the expected exp(strength x evidence) of a tree, a partial-tree likelihood in",
    "   which what is known is uncertain. The weights, of words too, start at the prior's, and L2 pulls them there: what",
    "   no evidence reaches stays as the prior has it.",
    "5. *Second round*: pairs are chosen again, by the parser of the first; learning starts from the prior again.",
    "6. *Relations* are the source's where the best tree has an arc with evidence, else the prior's.",
    "7. *Temperature*: fitted on the projected arcs of held-out pairs, with the share of wrong ones as a second unknown;",
    "   wrong ones are drawn from the parser's own posterior, flattened, since free translations are plausible trees, too.",
    "",
    "Tried on the dev files and worse: a fixed target distribution from prior and evidence (cross-entropy) in place of 4;",
    "adding cross-entropy to the prior in place of the pull; choosing the pairs with the most evidence, or with the most",
    "words on which it agrees; learning from fewer pairs; weighing evidence",
    "by how often its relation agrees with the prior; no evidence for punctuation; learning on from the first round.",
    "",
)
READING: tuple[str, ...] = (
    "## Reading the figures",
    "",
    "- In German and Spanish, a second prior from other treebanks and the bitext each bring what the other does not. In",
    "  Swedish, what the bitext adds to the English prior the second prior adds as well, and more; on top of both, evidence",
    "  does harm: much of that bitext is verses of an old Bible. Neither a lower `--strength` nor another choice of pairs",
    "  mends that. On dev files, scores half-way between prior and result were better than the result in Swedish, but",
    "  worse in German and Spanish; agreement with held-out evidence does not tell these cases apart.",
    "- `ArcProb` says too little for Swedish PUD, which is easier than the pairs that its temperature comes from.",
    "- With predicted tags the gain over the hard projection shrinks: the prior reads nothing but tags.",
    "- The probabilities of links matter little beside their number. The prior, and evidence that is not too certain,",
    "  matter most. *Pairs not chosen* draws at random among pairs with evidence for half of the words: beyond that",
    "  condition, the choice by agreement brings nothing in German.",
    "- Left out: posteriors of the QG-DMV as evidence, and probabilities of source arcs, which are read where the source",
    "  has `ArcProb` but were not in these files.",
)


def main() -> None:
    """Run what has not been run, write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder of scripts/measure_projection.py")
    parser.add_argument("--languages", nargs="+", default=list(NAMES), choices=list(NAMES))
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS), metavar="ROW")
    options = parser.parse_args()
    results = {}
    for language in options.languages:
        laboratory = Laboratory(options.work, Path(os.environ["QSPROJ_DATA"]), language)
        # What an ingredient is worth is measured on German alone.
        asked = [name for name in ROWS if name in options.rows and (ROWS[name].main or language == "de")]
        rows = {"hard, partial trees": hard_row(laboratory)}
        for name in asked:
            rows[name] = kept_row(laboratory, name)
            print(
                language,
                name,
                f"{rows[name]['pud']['uas']:.2f}",
                rows[name]["said"],
                file=sys.stderr,
                flush=True,
            )
        results[language] = rows
    text = report(results, READING)
    print(text)
    if options.languages == list(NAMES) and options.rows == list(ROWS):
        REPORT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
