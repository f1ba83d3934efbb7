"""Adaptation between annotation styles measured: accuracy by number of trees, speed. Writes docs/adaptation.md.

    QSPROJ_DATA=... .venv/bin/python -m scripts.experiments.styles.adaptation [--results FOLDER]

Parts run one after the other, each in a process of its own; what is in FOLDER already is not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.converter.converter import Converter
from qsproj.models.converter.converter_training import train_converter
from qsproj.models.storage import load_parser
from qsproj.styles.convert import convert_all
from qsproj.styles.style import parse_style

ROOT = Path(__file__).resolve().parents[3]
REPORT = ROOT / "docs" / "adaptation.md"

# The four styles of thesis table 4.1 as choices of qsproj.styles; all else is as in UD.
STYLES = {
    "CoNLL-PrepHead": "coordination=conll,prepositions=head",
    "CoNLL-PrepChild": "coordination=conll",
    "Prague-PrepHead": "coordination=prague,prepositions=head",
    "Prague-PrepChild": "coordination=prague",
}
TABLE_SIZES = (0, 10, 100)
TABLE_TEST = 1000
NAIJA_SIZES = (10, 100, 1000, None)
PUD_SIZES = (10, 100, 600)
PUD_TEST_FROM = 600
DRAWS = 5
PARSER_EPOCHS = 3
SEED = 1

Trees = list[Sentence]


def data(name: str) -> Path:
    return Path(os.environ["QSPROJ_DATA"]) / name


def treebank(name: str) -> Trees:
    return list(read_conllu(data(name)))


def trained(sources: Trees, targets: Trees) -> Converter:
    return train_converter(sources, targets, rng=np.random.default_rng(SEED))[0]


def accuracy(gold: Trees, system: Trees) -> tuple[float, float]:
    (scores,) = attachment_scores(gold, [system])
    return scores.uas, scores.las


def converted(converter: Converter, sources: Trees) -> Trees:
    return [converter.parse(sentence) for sentence in sources]


def style_pair_rows(
    sources: Trees, targets: Trees, test_sources: Trees, test_targets: Trees, sizes: tuple[int | None, ...]
) -> list[dict[str, Any]]:
    """Measure one direction: on the first trees, and for 10 and 100 on trees drawn at random."""
    rows = []
    for size in sizes:
        first = range(len(sources) if size is None else size)
        uas, las = accuracy(
            test_targets,
            converted(trained([sources[i] for i in first], [targets[i] for i in first]), test_sources),
        )
        row: dict[str, Any] = {"size": len(first), "uas": uas, "las": las}
        row["words"] = sum(len(sources[i]) for i in first)
        if size is not None and size <= 100:
            row["draws"] = []
            for seed in range(DRAWS):
                chosen = np.random.default_rng(seed).choice(len(sources), size, replace=False).tolist()
                converter = trained([sources[i] for i in chosen], [targets[i] for i in chosen])
                row["draws"].append(accuracy(test_targets, converted(converter, test_sources)))
        rows.append(row)
    return rows


def measure_naija(source: str, target: str) -> dict[str, Any]:
    train, test = (
        [treebank(f"styles/naija-{part}.{style}.conllu.gz") for style in (source, target)]
        for part in ("train", "test")
    )
    return {
        "copied": accuracy(test[1], test[0]),
        "rows": style_pair_rows(*train, *test, NAIJA_SIZES),
    }


def measure_pud(source: str, target: str) -> dict[str, Any]:
    trees = [treebank(f"styles/english-pud.{style}.conllu.gz") for style in (source, target)]
    train, test = ([side[:PUD_TEST_FROM] for side in trees], [side[PUD_TEST_FROM:] for side in trees])
    return {"copied": accuracy(test[1], test[0]), "rows": style_pair_rows(*train, *test, PUD_SIZES)}


def ewt(part: str, style: str, limit: int | None = None) -> Trees:
    trees = treebank(f"treebanks/english-ewt-{part}.conllu.gz")[:limit]
    return list(convert_all(trees, parse_style(STYLES[style])))


def measure_parser(style: str, folder: Path) -> dict[str, Any]:
    """Train a parser on all trees after the first 100, those that converters are trained on."""
    options = TrainingOptions(epochs=PARSER_EPOCHS)
    trees = ewt("train", style)[max(TABLE_SIZES) :]
    parser, _ = train_arc_parser(trees, rng=np.random.default_rng(SEED), options=options)
    parser.save(folder / f"{style}.parser")
    gold = ewt("test", style, TABLE_TEST)
    return {
        "sentences": len(trees),
        "scores": accuracy(gold, [parser.parse(sentence) for sentence in gold]),
    }


def measure_table(kind: str, folder: Path) -> dict[str, Any]:
    """Measure all pairs of styles.

    ``gold`` source trees; ``parsed`` ones to convert and gold ones to learn from; ``parsed-both``.
    """
    train = {style: ewt("train", style, max(TABLE_SIZES)) for style in STYLES}
    test = {style: ewt("test", style, TABLE_TEST) for style in STYLES}
    cells = {}
    for source in STYLES:
        train_sources, test_sources = train[source], test[source]
        if kind != "gold":
            parser = load_parser(folder / f"{source}.parser")
            test_sources = [parser.parse(sentence) for sentence in test_sources]
            if kind == "parsed-both":
                train_sources = [parser.parse(sentence) for sentence in train_sources]
        for target in STYLES:
            for size in TABLE_SIZES:
                converter = trained(train_sources[:size], train[target][:size])
                cells[f"{source} {target} {size}"] = accuracy(
                    test[target], converted(converter, test_sources)
                )
    return cells


def measure_speed() -> dict[str, Any]:
    """Time training on 100 trees and converting, median of five, the first call (compilation) apart."""
    result = {}
    for name, source, target, test in (
        ("Naija, UD to SUD", "naija-train.ud", "naija-train.sud", "naija-test.ud"),
        ("Naija, SUD to UD", "naija-train.sud", "naija-train.ud", "naija-test.sud"),
        ("English PUD, UD to SUD", "english-pud.ud", "english-pud.sud", "english-pud.ud"),
    ):
        sources, targets, tests = (treebank(f"styles/{file}.conllu.gz") for file in (source, target, test))
        training, converting = [], []
        converter = trained(sources[:100], targets[:100])
        converted(converter, tests[:10])
        for _ in range(DRAWS):
            start = time.process_time()
            converter = trained(sources[:100], targets[:100])
            middle = time.process_time()
            converted(converter, tests)
            training.append(middle - start)
            converting.append(len(tests) / (time.process_time() - middle))
        words = sum(map(len, tests)) / len(tests)
        result[name] = [statistics.median(training), statistics.median(converting), words]
    return result


def measure(part: str, folder: Path) -> Any:
    name, _, detail = part.partition(".")
    if name in ("naija", "pud"):
        source, _, target = detail.partition("-")
        return measure_naija(source, target) if name == "naija" else measure_pud(source, target)
    if name == "parser":
        return measure_parser(detail, folder)
    if name == "table":
        return measure_table(detail, folder)
    return measure_speed()


PARTS = (
    *(f"{name}.{direction}" for name in ("naija", "pud") for direction in ("ud-sud", "sud-ud")),
    "speed",
    "table.gold",
    *(f"parser.{style}" for style in STYLES),
    "table.parsed",
    "table.parsed-both",
)


def style_pair_table(found: dict[str, Any], name: str) -> str:
    lines = [
        "| direction | trees | words | UAS | LAS | UAS, random trees | LAS, random trees |",
        "|---|---|---|---|---|---|---|",
    ]
    for direction in ("ud-sud", "sud-ud"):
        label = direction.upper().replace("-", " to ")
        part = found[f"{name}.{direction}"]
        uas, las = part["copied"]
        lines.append(f"| {label} | 0 (the source, copied) |  | {uas:.1f} | {las:.1f} |  |  |")
        for row in part["rows"]:
            draws = ["", ""]
            if "draws" in row:
                draws = [
                    f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}"
                    for values in zip(*row["draws"], strict=True)
                ]
            lines.append(
                f"| {label} | {row['size']:,} | {row['words']:,} | {row['uas']:.1f} | {row['las']:.1f} "
                f"| {draws[0]} | {draws[1]} |"
            )
    return "\n".join(lines)


def adaptation_table(found: dict[str, Any]) -> str:
    lines = [
        "| source | " + " | ".join(f"{style}: 0 | 10 | 100" for style in STYLES) + " |",
        "|---" * (1 + 3 * len(STYLES)) + "|",
    ]
    for source in STYLES:
        for kind in ("gold", "parsed"):
            cells = found[f"table.{kind}"]
            values = [
                f"{cells[f'{source} {target} {size}'][0]:.1f}" for target in STYLES for size in TABLE_SIZES
            ]
            lines.append(f"| {kind} {source} | " + " | ".join(values) + " |")
    return "\n".join(lines)


def mean_table(found: dict[str, Any]) -> str:
    lines = ["| source | cells | 0 | 10 | 100 |", "|---|---|---|---|---|"]
    for kind in ("gold", "parsed", "parsed-both"):
        cells = found[f"table.{kind}"]
        for name, same in (("off the diagonal", False), ("diagonal", True)):
            for score, label in enumerate(("UAS", "LAS")):
                means = [
                    statistics.mean(
                        cells[f"{source} {target} {size}"][score]
                        for source in STYLES
                        for target in STYLES
                        if (source == target) == same
                    )
                    for size in TABLE_SIZES
                ]
                lines.append(f"| {kind} | {name}, {label} | " + " | ".join(f"{m:.2f}" for m in means) + " |")
    return "\n".join(lines)


def parser_table(found: dict[str, Any]) -> str:
    """Compare parsers of a target style with adapted parsers, the mean of the three other source styles."""
    cells = found["table.parsed"]
    lines = [
        "| style | parser of that style, UAS | adapted, 10 trees | adapted, 100 trees |",
        "|---|---|---|---|",
    ]
    for target in STYLES:
        means = [
            statistics.mean(cells[f"{source} {target} {size}"][0] for source in STYLES if source != target)
            for size in TABLE_SIZES[1:]
        ]
        own = found[f"parser.{target}"]["scores"][0]
        lines.append(f"| {target} | {own:.1f} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")
    return "\n".join(lines)


def speed_table(found: dict[str, Any]) -> str:
    lines = [
        "| styles | training on 100 trees, s | converting, sentences/s | words a sentence |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {training:.2f} | {converting:,.0f} | {words:.1f} |"
        for name, (training, converting, words) in found["speed"].items()
    ]
    return "\n".join(lines)


def report(found: dict[str, Any]) -> str:
    template = (ROOT / "scripts" / "experiments" / "pages" / "adaptation.md").read_text(encoding="utf-8")
    values = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "naija": style_pair_table(found, "naija"),
        "pud": style_pair_table(found, "pud"),
        "table": adaptation_table(found),
        "means": mean_table(found),
        "parsers": parser_table(found),
        "speed": speed_table(found),
        "parser_sentences": f"{found[f'parser.{next(iter(STYLES))}']['sentences']:,}",
        "parser_epochs": str(PARSER_EPOCHS),
        "test_sentences": f"{TABLE_TEST:,}",
    }
    for name, value in values.items():
        template = template.replace("{{" + name + "}}", value)
    return template


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--results", type=Path, default=Path(tempfile.gettempdir()) / "qsproj-adaptation", metavar="FOLDER"
    )
    parser.add_argument("--part", choices=PARTS, help="measure this alone, write no report")
    options = parser.parse_args()
    options.results.mkdir(exist_ok=True)
    if options.part:
        found = measure(options.part, options.results)
        (options.results / f"{options.part}.json").write_text(json.dumps(found))
        return
    for part in PARTS:
        if not (options.results / f"{part}.json").exists():
            command = [
                sys.executable,
                "-m",
                "scripts.experiments.styles.adaptation",
                "--results",
                str(options.results),
                "--part",
                part,
            ]
            subprocess.run(command, check=True)
    found = {part: json.loads((options.results / f"{part}.json").read_text()) for part in PARTS}
    REPORT.write_text(report(found), encoding="utf-8")


if __name__ == "__main__":
    main()
