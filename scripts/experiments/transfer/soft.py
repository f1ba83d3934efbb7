"""Soft projection measured, and each of its ingredients left out. Writes docs/soft-projection.md.

    QSPROJ_DATA=... python -m scripts.experiments.transfer.soft --work DIR [--languages de es sv]

DIR holds what scripts/experiments/transfer/projection.py left there: the parsed, tagged and aligned bitexts, and PUD with
predicted tags. Every row is trained on the first 20,000 pairs of a bitext; rows whose file is in DIR/soft are not run
again. No target tree is trained on, and settings were chosen on dev files (German-GSD, Spanish-GSD,
Swedish-Talbanken).
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
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.tree_inference import TreeInference
from qsproj.pipelines.projection.soft_evidence import arc_evidence
from qsproj.pipelines.projection.soft_grammar import train_grammar
from qsproj.pipelines.projection.soft_prior import join_priors, load_prior
from qsproj.pipelines.projection.soft_projection import SoftProjectionOptions, project_soft
from qsproj.pipelines.projection.soft_selection import MIN_COVERAGE
from qsproj.pipelines.projection.soft_sources import Translations
from scripts.experiments.transfer.pud_sources import LANGUAGES, TRAINED_ON, ParallelTrees
from scripts.experiments.transfer.soft_report import NAMES, report

REPORT = Path(__file__).resolve().parents[3] / "docs" / "soft-projection.md"
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


class Laboratory:
    """Data and priors of one language, each read or trained when first asked for."""

    def __init__(self, work: Path, data: Path, language: str) -> None:
        self.work, self.data, self.language = work, data, language
        self.out = work / "soft"
        self.out.mkdir(exist_ok=True)
        self._pairs: Pairs = []
        self._parallel = ParallelTrees(work, data)

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

    def corpus(self, row: Row) -> list[Translations]:
        """Return what a row learns from."""
        voters = [language for language in row.voters or () if language != self.language]
        voted = zip(*(self._parallel.pairs(language, self.language) for language in voters), strict=True)
        bitext = row.change(self.pairs()[: PAIRS if row.main else FEW_PAIRS]) if row.bitext else []
        return [*voted, *((pair,) for pair in bitext)]

    def parser(self, row: Row) -> tuple[ArcParser, str]:
        """Train a row's parser; return also what was said."""
        members = [self.prior(name) for name in row.priors] or [blank()]
        prior = join_priors(members, projective=True)
        if row.options is None:
            return (members[0] if len(members) == 1 else relabelled(prior.joined, members[0])), ""
        corpus = self.corpus(row)
        projected = project_soft(
            corpus,
            prior=prior,
            grammars=(train_grammar(pair for (pair,) in corpus),) if row.grammar else (),
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
    if row.voters is not None:
        pud = pud[TRAINED_ON:]
    start = time.process_time()
    parser, said = laboratory.parser(row)
    result: dict[str, object] = {"said": said, "seconds": time.process_time() - start}
    result["pud"] = measure(parser, pud)
    result["dev"] = measure(parser, laboratory.treebank(DEV[laboratory.language]))
    if row.main:
        tagged = list(read_conllu(laboratory.work / f"pud.{laboratory.language}.tagged.conllu"))
        result["tagged"] = measure(parser, pud, tagged)
    return result


def kept_row(laboratory: Laboratory, name: str) -> dict[str, object]:
    """Return what a row gave, measured now or before."""
    log = laboratory.out / f"{laboratory.language}.{name.replace(' ', '-')}.json"
    if not log.exists():
        log.write_text(json.dumps(run_row(laboratory, EVERY_ROW[name])), encoding="utf-8")
    return json.loads(log.read_text(encoding="utf-8"))


def hard_row(laboratory: Laboratory) -> dict[str, object]:
    """Score what scripts/experiments/transfer/projection.py parsed with the hard projection on partial trees."""
    pud = list(read_conllu(laboratory.data / "pud" / f"{laboratory.language}.conllu.gz"))
    result: dict[str, object] = {}
    stem = f"pud.{laboratory.language}.{laboratory.language}.hard,-partial-trees.parser"
    for key, suffix in (("pud", ""), ("tagged", "_tagged")):
        parsed = list(read_conllu(laboratory.work / f"{stem}{suffix}.conllu"))
        (scores,) = attachment_scores(pud, [parsed])
        result[key] = {"uas": scores.uas, "las": scores.las}
    return result


def main() -> None:
    """Run what has not been run, write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--work", type=Path, required=True, help="folder of scripts/experiments/transfer/projection.py"
    )
    parser.add_argument("--languages", nargs="+", default=list(NAMES), choices=list(NAMES))
    parser.add_argument("--rows", nargs="+", default=list(EVERY_ROW), choices=list(EVERY_ROW), metavar="ROW")
    options = parser.parse_args()
    results = {}
    for language in options.languages:
        laboratory = Laboratory(options.work, Path(os.environ["QSPROJ_DATA"]), language)
        asked = [name for name in EVERY_ROW if name in options.rows and EVERY_ROW[name].voters != (language,)]
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
    text = report(
        results,
        main=("hard, partial trees", *(name for name, row in ROWS.items() if row.main)),
        changes=[name for name, row in ROWS.items() if not row.main],
        votes=list(VOTES),
    )
    print(text)
    if options.languages == list(NAMES) and options.rows == list(EVERY_ROW):
        REPORT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
