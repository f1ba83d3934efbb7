"""Conversions between annotation styles.

For each treebank of UD: how many heads each style changes, how many of them do not come back, how many
sentences a second of processor time are converted; how well the guess of shared dependents agrees with the
enhanced dependencies; whether detection finds every one of the styles (ten minutes).
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping

from qsproj.corpus.sentence import Sentence
from qsproj.styles.convert import convert, convert_all, measure_round_trip
from qsproj.styles.coordination import find_groups, outside_dependents, shared_dependents
from qsproj.styles.detect import detect_style
from qsproj.styles.style import DIMENSIONS, PRESETS, UD, Style, parse_style
from qsproj.styles.working_tree import WorkingTree, base_relation
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table

TREEBANKS = ("english-ewt", "german-gsd", "czech-cac")
STYLES = (
    *(f"{name}={choice}" for name, choices in DIMENSIONS.items() for choice in choices[1:]),
    *(name for name in PRESETS if name not in ("ud", "content-head")),
)
TIMED = ("coordination=prague", "prepositions=head", "prague", "function-head", "moscow,function-head")
REPEATS = 5
DEPS = 8
SHOWN_LOSERS = 3

Treebanks = Mapping[str, list[Sentence]]


def round_trip_table(treebanks: Treebanks) -> Table:
    columns = [f"{name}: {what}" for name in treebanks for what in ("changed", "lost", "most of them")]
    rows = []
    for specification in STYLES:
        row = [f"`{specification}`"]
        for sentences in treebanks.values():
            found = measure_round_trip(sentences, parse_style(specification))
            losers = [f"{relation} {count}" for relation, count in found.lost_by_relation.items()]
            changed, lost = (100 * count / found.words for count in (found.changed_heads, found.lost_heads))
            row += [f"{changed:.1f}", f"{lost:.2f}", ", ".join(losers[:SHOWN_LOSERS]) or "-"]
        rows.append(row)
    return table(["style", *columns], rows)


def speed_table(treebanks: Treebanks) -> Table:
    rows = []
    for specification in TIMED:
        style = parse_style(specification)
        rates = (len(sentences) / seconds(sentences, style) for sentences in treebanks.values())
        rows.append([f"`{specification}`", *(f"{rate:,.0f}" for rate in rates)])
    return table(["sentences a second", *treebanks], rows)


def seconds(sentences: list[Sentence], style: Style) -> float:
    """Return the median processor time of converting all sentences."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        for sentence in sentences:
            convert(sentence, style)
        times.append(time.process_time() - start)
    return statistics.median(times)


def shared_table(treebanks: Treebanks) -> Table:
    """Compare the guess for subjects on the left with the enhanced graph, where that gives them to all."""
    rows = []
    for name, sentences in treebanks.items():
        counts = Counter(pair for sentence in sentences for pair in subject_guesses(sentence))
        both = counts[True, True]
        gold, guessed = both + counts[True, False], both + counts[False, True]
        if gold:
            rows.append([name, str(gold), str(both), str(guessed), str(both)])
    header = (
        "subjects before the first conjunct",
        "shared in DEPS",
        "of these found",
        "guessed shared",
        "rightly",
    )
    return table(header, rows)


def subject_guesses(sentence: Sentence) -> Iterator[tuple[bool, bool]]:
    """Yield (shared in DEPS, guessed to be shared) for each subject of a first conjunct, on its left."""
    tree = WorkingTree(sentence)
    assert sentence.layout is not None
    deps = [sentence.layout.lines[i].split("\t")[DEPS] for i in sentence.layout.word_lines]
    for group in find_groups(tree, UD):
        guessed = shared_dependents(tree, group, UD)
        others = {str(conjunct) for conjunct in group.conjuncts[1:]}
        for word in outside_dependents(tree, group.top, group):
            if word < group.top and base_relation(tree.relations[word]) in ("nsubj", "csubj"):
                enhanced_heads = {item.partition(":")[0] for item in deps[word - 1].split("|")}
                yield bool(enhanced_heads & others), word in guessed


def all_styles() -> Iterator[Style]:
    """Yield every combination of choices."""
    for choices in itertools.product(*DIMENSIONS.values()):
        yield parse_style(",".join(f"{name}={choice}" for name, choice in zip(DIMENSIONS, choices)))


def detected(sentences: list[Sentence]) -> int:
    """Return how many styles detection finds in sentences that were converted to them."""
    return sum(detect_style(convert_all(sentences, style)).style == style for style in all_styles())


def run(lab: Lab) -> Figures:
    treebanks = {name: lab.treebank(f"{name}-dev") for name in TREEBANKS}
    coordinations = [one for one in treebanks[TREEBANKS[0]] if "conj" in one.deprels]
    found = lab.cache.figures(
        "detected styles",
        lambda: detected(coordinations),
        data=[lab.treebank_path(f"{TREEBANKS[0]}-dev")],
    )
    return Figures(
        tables={
            "round trip": round_trip_table(treebanks),
            "shared": shared_table(treebanks),
            "speed": speed_table(treebanks),
        },
        values={
            **{f"{name}: sentences": f"{len(sentences):,}" for name, sentences in treebanks.items()},
            "sentences with coordination": f"{len(coordinations):,}",
            "styles found": f"{found:,} of {sum(1 for _ in all_styles()):,}",
        },
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="styles")

if __name__ == "__main__":
    EXPERIMENT.main()
