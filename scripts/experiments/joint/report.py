"""Write the documents on joint parsing from the figures that measure_joint*.py have kept.

    QSPROJ_DATA=../shared/data python -m scripts.experiments.joint.report --work FOLDER

The prose is in scripts/experiments/joint-parsing*.template.md, where {{name}} stands for a table made here.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from qsproj.corpus.sentence import SentencePair
from qsproj.viz.markup import svg_document
from qsproj.viz.plots import Axis, Series, line_plot
from scripts.experiments.joint.corpora import CORPORA, pairs_of
from scripts.experiments.joint.parsing import (
    ABLATIONS,
    CONDITIONS,
    JOINT,
    MONO_TRAINING,
    PIPELINED,
    TARGET_ONLY,
    TRUE_SOURCE,
    Figures,
)
from scripts.experiments.joint.links import CHOOSERS, DEV_SIZE, LINKS, ON_DEV, SOURCE_TREES, TAUGHT
from scripts.experiments.joint.monolingual import CONDITIONS as MONOLINGUAL

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = ("joint-parsing", "joint-parsing-links", "joint-parsing-monolingual")
CORPORA_SHOWN = ("lines", "partut", "pud-de", "pud-zh")
DEV = "lines-dev"

# Figures by number of trees, then by condition.
Results = dict[int, dict[str, Figures]]
Lines = Iterator[str]


def results_of(work: Path, corpus: str, kind: str = "") -> Results:
    """Read the figures of a corpus, by number of training pairs."""
    found = {}
    for path in work.glob(f"{corpus}-*{kind}.json"):
        size = path.stem.removeprefix(f"{corpus}-").removesuffix(kind)
        if size.isdecimal():
            found[int(size)] = json.loads(path.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def table(results: Results, key: str, conditions: Iterable[str], *, digits: int = 2) -> Lines:
    """Show one figure by condition and number of trees; conditions without any are left out."""
    yield "| condition | " + " | ".join(map(str, results)) + " |"
    yield "|---" + "|---:" * len(results) + "|"
    for condition in conditions:
        cells = [figures.get(condition, {}).get(key) for figures in results.values()]
        if any(cell is not None for cell in cells):
            shown = ("" if cell is None else f"{cell:.{digits}f}" for cell in cells)
            yield f"| {condition} | " + " | ".join(shown) + " |"


def plot(results: Results, conditions: Sequence[str], *, title: str, language: str) -> str:
    """Draw wrong heads over numbers of trees, both on logarithmic axes."""
    series = []
    for condition in conditions:
        points = [
            (size, 100 - figures[condition]["target"])
            for size, figures in results.items()
            if condition in figures
        ]
        series.append(Series(condition, [size for size, _ in points], [wrong for _, wrong in points]))
    drawing = line_plot(
        series,
        title=title,
        x=Axis(f"{language} trees", logarithmic=True),
        y=Axis("wrong heads, %", logarithmic=True),
    )
    return svg_document([drawing])


def corpus_section(work: Path, name: str) -> Lines:
    """Show both sides of a corpus, and draw the target's."""
    corpus, results = CORPORA[name], results_of(work, name)
    drawing = f"joint-parsing-{name}.svg"
    text = plot(results, tuple(CONDITIONS), title=corpus.title, language=corpus.language)
    (ROOT / "docs" / drawing).write_text(text, encoding="utf-8")
    yield f"### {corpus.title}"
    yield ""
    yield f"{corpus.language} UAS by number of {corpus.language} trees:"
    yield ""
    yield from table(results, "target", CONDITIONS)
    yield ""
    yield f"![wrong heads by number of trees]({drawing})"
    yield ""
    yield "English UAS; the English parser alone stands in the first row:"
    yield ""
    yield from table(results, "source", (name for name in CONDITIONS if name != TRUE_SOURCE))


def corpora(work: Path) -> Lines:
    for name in CORPORA_SHOWN:
        if results_of(work, name):
            yield from corpus_section(work, name)
            yield ""


def goals(work: Path) -> Lines:
    """Hold the figures against what was to be reached."""
    named = {name: results_of(work, name) for name in CORPORA_SHOWN}
    named = {name: results for name, results in named.items() if results}
    yield "| | wanted | " + " | ".join(CORPORA[name].language for name in named) + " |"
    yield "|---|---:" + "|---:" * len(named) + "|"
    sizes = sorted({size for results in named.values() for size in results})
    for what, wanted, measure in goal_rows(sizes):
        found = [measure(results) for results in named.values()]
        if any(value is not None for value in found):
            cells = ("" if value is None else f"{value:+.2f}" for value in found)
            yield f"| {what} | {wanted} | " + " | ".join(cells) + " |"


Goal = tuple[str, str, Callable[[Results], float | None]]


def goal_rows(sizes: Sequence[int]) -> Iterator[Goal]:
    """Yield what is compared, the difference that was wanted, and how to find it."""
    for size in sizes:
        what = f"full QG with {size} trees, above target only with {2 * size}"
        yield what, "0", difference("target", (size, JOINT), (2 * size, TARGET_ONLY))
    for size in (size for size in sizes if size >= 400):
        what = f"full QG above QG-mono training, {size} trees"
        yield what, "0.5", difference("target", (size, JOINT), (size, MONO_TRAINING))
    for size in (size for size in sizes if size >= 400):
        what = f"joint above 1-best source, {size} trees"
        yield what, "0.5", difference("target", (size, JOINT), (size, PIPELINED))
    for size in sizes:
        what = f"English by joint decoding, above the English parser, {size} trees"
        yield what, "0.5", difference("source", (size, JOINT), (size, TARGET_ONLY))


def difference(key: str, one: tuple[int, str], other: tuple[int, str]) -> Callable[[Results], float | None]:
    """Return what subtracts a figure from another, where there are both."""

    def measure(results: Results) -> float | None:
        first, second = (
            results.get(size, {}).get(condition, {}).get(key) for size, condition in (one, other)
        )
        return None if first is None or second is None else first - second

    return measure


def links(work: Path) -> Lines:
    """Show how good the links of each corpus are: whether they carry arcs of gold trees to arcs of gold trees."""
    yield "| corpus | candidate links a target word | linked pairs of head and dependent | of these parallel, % |"
    yield "|---|---:|---:|---:|"
    for name in CORPORA_SHOWN:
        if results_of(work, name):
            _, test = pairs_of(CORPORA[name], work)
            candidates = sum(len(pair.alignment.links) for pair in test) / sum(
                len(pair.target) for pair in test
            )
            carried = [parallel for pair in test for parallel in parallel_arcs(pair)]
            share = 100 * sum(carried) / len(carried)
            yield f"| {CORPORA[name].title} | {candidates:.2f} | {len(carried):,} | {share:.1f} |"


def parallel_arcs(pair: SentencePair) -> Iterator[bool]:
    """Tell of each two likely links whose source words are head and dependent whether the target's are."""
    likely = pair.alignment.links[pair.alignment.weights >= 0.5].tolist()
    for source, target in likely:
        for source_head, target_head in likely:
            if source_head == pair.source.heads[source]:
                yield bool(target_head == pair.target.heads[target])


def ablations(work: Path) -> Lines:
    """Show what was measured on dev: what families are worth, and what helps to infer the source tree."""
    for size, figures in results_of(work, DEV).items():
        yield "## What pays: LinES dev"
        yield ""
        yield f"| {size} trees | Swedish UAS | English UAS | ms a pair |"
        yield "|---|---:|---:|---:|"
        for name in (TARGET_ONLY, JOINT, MONO_TRAINING, PIPELINED, TRUE_SOURCE, *ABLATIONS):
            if name in figures:
                row = figures[name]
                yield f"| {name} | {row['target']:.2f} | {row['source']:.2f} | {row['milliseconds']:.1f} |"
        yield ""


def hand_alignments(work: Path) -> Lines:
    conditions = [f"{kind}, {name}" for name in SOURCE_TREES.values() for kind in (*LINKS, TAUGHT)]
    yield from table(results_of(work, "xlwa"), "target", (TARGET_ONLY, *conditions))


def alignment_errors(work: Path) -> Lines:
    path = work / "xlwa-links.json"
    figures = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    yield "| links | dev, five folds | test |"
    yield "|---|---:|---:|"
    for name in (LINKS[1], *CHOOSERS):
        if name in figures:
            yield f"| {name} | {figures[name]['dev']:.2f} | {figures[name]['test']:.2f} |"


def link_features(work: Path) -> Lines:
    """Show what parsing gains by what is learned of links."""
    path = work / f"{DEV}-links-{DEV_SIZE}.json"
    figures = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    yield f"| LinES dev, {DEV_SIZE} trees | Swedish UAS | ms a pair |"
    yield "|---|---:|---:|"
    for name in ON_DEV:
        if name in figures:
            row = figures[name]
            yield f"| {name} | {row['target']:.2f} | {row['milliseconds']:.1f} |"


def monolingual(work: Path) -> Lines:
    """Show, and draw, parsers of the target alone."""
    for name in CORPORA_SHOWN:
        results = results_of(work, name, "-monolingual")
        if not results:
            continue
        corpus, drawing = CORPORA[name], f"joint-parsing-monolingual-{name}.svg"
        text = plot(results, MONOLINGUAL, title=corpus.title, language=corpus.language)
        (ROOT / "docs" / drawing).write_text(text, encoding="utf-8")
        yield f"{corpus.title}; {corpus.language} UAS:"
        yield ""
        yield from table(results, "target", MONOLINGUAL)
        yield ""
        yield f"![wrong heads by number of trees]({drawing})"
        yield ""


def tables(work: Path) -> dict[str, Lines]:
    """Return what the placeholders of the templates stand for."""
    lines = results_of(work, "lines")
    return {
        "corpora": corpora(work),
        "milliseconds": table(lines, "milliseconds", CONDITIONS, digits=1),
        "converged": table(lines, "converged", CONDITIONS, digits=1),
        "converged in training": table(lines, "converged in training", CONDITIONS, digits=1),
        "goals": goals(work),
        "links": links(work),
        "ablations": ablations(work),
        "hand alignments": hand_alignments(work),
        "alignment errors": alignment_errors(work),
        "link features": link_features(work),
        "monolingual": monolingual(work),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder of joint/parsing.py")
    shown = {name: "\n".join(lines).rstrip() for name, lines in tables(parser.parse_args().work).items()}
    for document in DOCUMENTS:
        text = (ROOT / "scripts" / "experiments" / "pages" / f"{document}.md").read_text(encoding="utf-8")
        for name, value in shown.items():
            text = text.replace("{{" + name + "}}" + ("" if value else "\n\n"), value)
        (ROOT / "docs" / f"{document}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
