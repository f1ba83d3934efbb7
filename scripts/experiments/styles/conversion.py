"""Measure conversions between annotation styles; prints the tables of docs/styles.md.

For each treebank of UD: how many heads each style changes, how many of them do not come back, how many
sentences a second of processor time are converted; how well the guess of shared dependents agrees with the
enhanced dependencies; with --combinations, whether detection finds every one of the 1,440 styles.

    QSPROJ_DATA=../shared/data python -m scripts.experiments.styles.conversion [--combinations]
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.styles.convert import convert, convert_all
from qsproj.styles.coordination_groups import find_groups
from qsproj.styles.detect import detect_style
from qsproj.styles.relations import base_relation
from qsproj.styles.round_trip import measure_round_trip
from qsproj.styles.shared_dependents import outside_dependents, shared_dependents
from qsproj.styles.style import DIMENSIONS, PRESETS, UD, Style, parse_style
from qsproj.styles.working_tree import WorkingTree

TREEBANKS = ("english-ewt", "german-gsd", "czech-cac")
STYLES = (
    *(f"{name}={choice}" for name, choices in DIMENSIONS.items() for choice in choices[1:]),
    *(name for name in PRESETS if name not in ("ud", "content-head")),
)
REPEATS = 5
DEPS = 8


def round_trip_table(treebanks: dict[str, list[Sentence]]) -> Iterator[str]:
    yield "| style | " + " | ".join(f"{name}: changed | lost | most of them" for name in treebanks) + " |"
    yield "|---" * (1 + 3 * len(treebanks)) + "|"
    for specification in STYLES:
        cells = []
        for sentences in treebanks.values():
            found = measure_round_trip(sentences, parse_style(specification))
            losers = [f"{relation} {count}" for relation, count in found.lost_by_relation.items()][:3]
            changed, lost = (100 * count / found.words for count in (found.changed_heads, found.lost_heads))
            cells += [f"{changed:.1f}", f"{lost:.2f}", ", ".join(losers) or "-"]
        yield f"| `{specification}` | " + " | ".join(cells) + " |"


def speed_table(treebanks: dict[str, list[Sentence]]) -> Iterator[str]:
    names = ("coordination=prague", "prepositions=head", "prague", "function-head", "moscow,function-head")
    yield "| sentences a second | " + " | ".join(treebanks) + " |"
    yield "|---" * (1 + len(treebanks)) + "|"
    for specification in names:
        style = parse_style(specification)
        cells = [f"{len(sentences) / seconds(sentences, style):,.0f}" for sentences in treebanks.values()]
        yield f"| `{specification}` | " + " | ".join(cells) + " |"


def seconds(sentences: list[Sentence], style: Style) -> float:
    """Return the median processor time of converting all sentences."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        for sentence in sentences:
            convert(sentence, style)
        times.append(time.process_time() - start)
    return statistics.median(times)


def shared_table(treebanks: dict[str, list[Sentence]]) -> Iterator[str]:
    """Compare the guess for subjects on the left with the enhanced graph, where that gives them to all."""
    yield "| subjects before the first conjunct | shared in DEPS | of these found | guessed shared | rightly |"
    yield "|---|---|---|---|---|"
    for name, sentences in treebanks.items():
        counts = Counter(pair for sentence in sentences for pair in subject_guesses(sentence))
        gold, guessed, both = (
            counts[True, True] + counts[True, False],
            counts[True, True] + counts[False, True],
            counts[True, True],
        )
        if gold:
            yield f"| {name} | {gold} | {both} | {guessed} | {both} |"


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


def undetected(sentences: list[Sentence]) -> Iterator[Style]:
    """Yield the styles that detection does not find in the sentences with coordination, converted to them."""
    sentences = [sentence for sentence in sentences if "conj" in sentence.deprels]
    for choices in itertools.product(*DIMENSIONS.values()):
        style = Style(*choices)
        if detect_style(convert_all(sentences, style)).style != style:
            yield style


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--combinations", action="store_true", help="try to detect all 1,440 styles (10 min)")
    options = parser.parse_args()
    folder = Path(os.environ["QSPROJ_DATA"]) / "treebanks"
    treebanks = {name: list(read_conllu(folder / f"{name}-dev.conllu.gz")) for name in TREEBANKS}
    for table in (round_trip_table, speed_table, shared_table):
        print(*table(treebanks), "", sep="\n")
    if options.combinations:
        missed = list(undetected(treebanks["english-ewt"]))
        print(
            f"{len(missed)} styles of English-EWT dev converted to all were not detected", *missed, sep="\n"
        )


if __name__ == "__main__":
    main()
