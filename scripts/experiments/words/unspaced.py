"""Measure `qsproj align --unspaced` on Chinese, and on German written without spaces; write docs/unspaced.md.

    QSPROJ_DATA=../shared/data python -m scripts.experiments.words.unspaced --work FOLDER

FOLDER keeps the Chinese links. They need the extra `measure`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from qsproj.alignment.aligners import align_words
from qsproj.alignment.reading import read_word_pairs
from qsproj.evaluation.alignment import alignment_scores
from scripts.experiments.joint.corpora import CORPORA, Corpus, data_folder, pairs_of
from scripts.experiments.words.alignment import Pairs, gold_links, gold_pairs
from scripts.experiments.joint.report import parallel_arcs

ROOT = Path(__file__).resolve().parents[3]
GERMAN_SETS = ("naacl-sample", "de-en")
GERMAN_PAIRS = 10000
# Of the bitext, those that show where words end, as the hand-aligned ones do.
GERMAN_CUT = 500
# Hiragana, which German does not need more of than it has letters.
FIRST_LETTER = 0x3041

CHINESE = CORPORA["pud-zh"]
CHINESE_LINKS = {
    "PUD alone": replace(CHINESE, bitext=None, unspaced=False, conversion=None),
    "with bitext, without the option": replace(CHINESE, unspaced=False, conversion=None),
    "with bitext and the option": replace(CHINESE, conversion=None),
    "with bitext, the option, and OpenCC": CHINESE,
}


def in_kana() -> Iterator[Pairs]:
    """Yield the hand-aligned pairs, those cut into words, and the others; German in letters of another script."""
    letters: dict[str, str] = {}

    def word(german: str) -> str:
        return "".join(
            letters.setdefault(letter, chr(FIRST_LETTER + len(letters))) if letter.isalpha() else letter
            for letter in german.lower()
        )

    path = data_folder() / "bitext" / "en-de.tsv.xz"
    more = list(islice(read_word_pairs(str(path), languages=("en", "de")), GERMAN_PAIRS))
    hand = [pair for name in GERMAN_SETS for pair in gold_pairs(data_folder(), name)]
    for pairs in (hand, more[:GERMAN_CUT], more[GERMAN_CUT:]):
        yield [(list(english), [word(german) for german in words]) for english, words in pairs]


def german() -> Iterator[str]:
    """Yield the rows of the table: the error rates of the hand-aligned sets."""
    hand, cut, rest = in_kana()
    running = [(english, ["".join(words)]) for english, words in rest]
    yield "| German | " + " | ".join(GERMAN_SETS) + " |"
    yield "|---" + "|---:" * len(GERMAN_SETS) + "|"
    for title, pairs, side in (
        ("all cut into words", rest, None),
        ("running text, without the option", running, None),
        ("running text, with the option", running, "target"),
    ):
        links = align_words([*hand, *cut, *pairs], unspaced=side)
        rates = []
        for name in GERMAN_SETS:
            gold = gold_links(data_folder(), name, gold_pairs(data_folder(), name))
            rates.append(alignment_scores(gold, islice(links, len(gold))).error_rate)
        yield f"| {title} | " + " | ".join(f"{rate:.1f}" for rate in rates) + " |"


def chinese(work: Path) -> Iterator[str]:
    """Yield the rows of the table: what the links carry of the trees that there are to train on."""
    yield "| Chinese | candidate links a word | linked pairs of head and dependent | parallel | % |"
    yield "|---|---:|---:|---:|---:|"
    for number, (title, corpus) in enumerate(CHINESE_LINKS.items()):
        folder = work / f"unspaced-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        yield f"| {title} | " + " | ".join(link_figures(corpus, folder)) + " |"


def link_figures(corpus: Corpus, folder: Path) -> Iterator[str]:
    """Yield the cells of a row."""
    train, _ = pairs_of(corpus, folder)
    carried = [parallel for pair in train for parallel in parallel_arcs(pair)]
    yield f"{sum(len(pair.alignment.links) for pair in train) / sum(len(pair.target) for pair in train):.2f}"
    yield f"{len(carried):,}"
    yield f"{sum(carried):,}"
    yield f"{100 * sum(carried) / len(carried):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for links")
    work = parser.parse_args().work
    text = (ROOT / "scripts" / "experiments" / "pages" / "unspaced.md").read_text(encoding="utf-8")
    for name, rows in (("german", german()), ("chinese", chinese(work))):
        text = text.replace("{{" + name + "}}", "\n".join(rows))
    (ROOT / "docs" / "unspaced.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
