"""Features through links, on development treebanks and PUD; then with few tagged sentences.

English alone, the first pairs of each bitext. Attributes count where they are written; each word's features are
compared one by one. Own tags are those of a tagger that has learned from the same links.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.pairs.aligned import AlignedText
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.evaluation.calibration import expected_calibration_error, reliability
from qsproj.models.morphology.analyses import feature_pairs
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.pipelines.tagging.tags_through_links import project_tags
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.pages.words import features_through_links
from scripts.experiments.transfer.stages import NAMES, Stages

# The second was not looked at when settings were chosen, but for Swedish.
TESTED = {
    "de": ("treebanks/german-gsd-dev", "pud/de"),
    "es": ("treebanks/spanish-gsd-dev", "treebanks/spanish-ancora-dev", "pud/es"),
    "sv": ("treebanks/swedish-talbanken-dev", "lines/sv-dev", "pud/sv"),
}


# Whose sentences are tagged: the first so many of a file, which is tested on from the first after them on.
FEW = (20, 100)
WAYS = ("with links", "alone")


def english(stages: Stages, language: str, pairs: int) -> tuple[Path, Path, Path]:
    """Tag and parse English, with features, cut the other side into words, link both."""
    lab = stages.lab
    ewt = lab.treebank_path("english-ewt-train")
    texts = {side: first_lines(lab, stages.text(language, side), pairs) for side in ("en", language)}
    tagged = stages.stage(
        f"en-{language}.{pairs}.tagged.conllu", "tag", "-m", stages.tagger("en"), texts["en"]
    )
    parser = stages.stage("en.fast.parser", "train", ewt, "--features", "words", "--epochs", "3")
    parsed = stages.stage(f"en-{language}.{pairs}.en.conllu", "parse", "-m", parser, tagged)
    links = stages.stage(
        *(f"en-{language}.{pairs}.pharaoh", "align", parsed, texts[language], "--tokenize", "en", language),
        *("--weights", "--threshold", "0.1"),
    )
    return parsed, texts[language], links


def first_lines(lab: Lab, path: Path, count: int) -> Path:
    def write(out: Path) -> None:
        with path.open(encoding="utf-8") as lines:
            out.write_text("".join(line for line, _ in zip(lines, range(count))), encoding="utf-8")

    name = f"{path.name}.{count}"
    return lab.cache.file(name, write, options={"count": count}, data=[path], experiment=Path(__file__))


def scores(tagger: Tagger, gold: Sequence[Sentence], *, own_tags: bool) -> dict[str, Any]:
    """Return percentages: F1 over attributes written, precision and recall of each; and how FeatProb fares."""
    assert tagger.morphology is not None
    right, said, there = Counter[str](), Counter[str](), Counter[str]()
    stated, correct = [], []
    for sentence in gold:
        tags = tagger.tag_words(sentence.forms) if own_tags else sentence.upos
        cells = [one.feats for one in tagger.morphology.analyses(sentence.forms, tags)]
        sure = tagger.morphology.feature_probabilities(sentence.forms, tags, cells)
        for cell, own, probability in zip(cells, sentence.feats, sure, strict=True):
            found, expected = set(feature_pairs(cell)), set(feature_pairs(own))
            said.update(name for name, _ in found)
            there.update(name for name, _ in expected)
            right.update(name for name, _ in found & expected)
            if found:
                stated.append(min(probability, 1.0))
                correct.append(found <= expected)
    names = sorted(said)
    return {
        "F1": f1(names, right, said, there),
        # Of the others the file tells nearly nothing.
        "F1, told": f1([name for name in names if 10 * there[name] >= said[name]], right, said, there),
        "F1, all": f1(sorted(said | there), right, said, there),
        "calibration": 100 * expected_calibration_error(reliability(stated, correct)),
        "all right": 100 * float(np.mean(correct)),
        "attributes": {
            name: [100 * right[name] / said[name], 100 * right[name] / max(there[name], 1), said[name]]
            for name in names
        },
    }


def f1(names: Sequence[str], *counts: Counter[str]) -> float:
    """Return F1 in percent by how many values are right, said, and there."""
    right, said, there = (sum(of_name[name] for name in names) for of_name in counts)
    return 200 * right / max(said + there, 1)


def corrected(pairs: Iterable[SentencePair], language: str, gold: Sequence[Sentence]) -> dict[str, float]:
    """Return F1 of all attributes with tagged sentences, and of a tagger that has seen no other."""
    found = {}
    for number in FEW:
        few, test = gold[:number], gold[max(FEW) :]
        rng = np.random.default_rng(1)
        with_links = project_tags(((pair,) for pair in pairs), rng=rng, tagged=few, language=language)
        alone = train_tagger(few, rng=np.random.default_rng(1))
        learned = train_morphology(few, rng=np.random.default_rng(1), columns=["feats"])
        taggers = with_links.tagger, replace(alone, morphology=learned)
        for way, tagger in zip(WAYS, taggers, strict=True):
            found[f"{number} {way}"] = scores(tagger, test, own_tags=True)["F1, all"]
    return found


def measured(lab: Lab, stages: Stages, language: str) -> dict[str, Any]:
    """Learn through links; return scores on each file, with own tags and with gold tags, and what was said."""
    source, target, links = map(str, english(stages, language, lab.options.pairs))
    pairs = AlignedText(source, target, links, "pharaoh", language)
    projected = project_tags(((pair,) for pair in pairs), rng=np.random.default_rng(1), language=language)
    files = {name: lab.data / f"{name}.conllu.gz" for name in TESTED[language]}
    return {
        "few": corrected(pairs, language, list(read_conllu(files[TESTED[language][0]]))),
        "said": [line for line in projected.report if line.startswith("features")],
        **{
            f"{name} {tags}": scores(projected.tagger, list(read_conllu(path)), own_tags=tags == "own")
            for name, path in files.items()
            for tags in ("own", "gold")
        },
    }


def run(lab: Lab) -> Figures:
    stages = Stages(lab)
    overall, attributes, said, few = [], [], [], []
    for language in lab.options.languages:
        data = [lab.bitext_path(language), lab.treebank_path("english-ewt-train")]
        data += [lab.data / f"{name}.conllu.gz" for name in TESTED[language]]
        found = lab.cache.figures(
            f"features {language}",
            partial(measured, lab, stages, language),
            options={"pairs": lab.options.pairs},
            data=data,
        )
        few.append([TESTED[language][0].partition("/")[2], *(f"{one:.1f}" for one in found["few"].values())])
        said.append([NAMES[language], ". ".join(found["said"])])
        for name in TESTED[language]:
            own, gold = found[f"{name} own"], found[f"{name} gold"]
            shown = [
                f"{one[key]:.1f}"
                for key in ("F1", "F1, told", "all right", "calibration")
                for one in (own, gold)
            ]
            overall.append([name.partition("/")[2] if "tree" in name else name, *shown])
            for attribute, (precision, recall, words) in own["attributes"].items():
                of_gold = gold["attributes"].get(attribute, [0.0, 0.0, 0])
                attributes.append(
                    [overall[-1][0], attribute, f"{words:,}"]
                    + [f"{one:.1f}" for one in (precision, recall, of_gold[0], of_gold[1])]
                )
    heads = [
        f"{what}, {tags} tags"
        for what in ("F1", "F1 of what the file tells", "all right", "calibration")
        for tags in ("own", "gold")
    ]
    columns = ["words, own tags"] + [
        f"{what}, {tags} tags" for tags in ("own", "gold") for what in ("precision", "recall")
    ]
    return Figures(
        tables={
            "overall": table(["file", *heads], overall),
            "attributes": table(["file", "attribute", *columns], attributes),
            "said": table(["bitext", "report"], said),
            "few": table(["file", *(f"{number}, {way}" for number in FEW for way in WAYS)], few),
        },
        values={"pairs": f"{lab.options.pairs:,}"},
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--languages", nargs="*", default=list(NAMES), choices=list(NAMES))
    parser.add_argument(
        "--pairs", type=int, default=8_000, help="of each bitext the first so many (default: %(default)s)"
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="features-through-links",
    reading=features_through_links,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
