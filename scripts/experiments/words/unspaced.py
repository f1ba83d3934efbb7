"""`qsproj align --unspaced` on Chinese, and on German written without spaces. Needs the extra `measure`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from qsproj.alignment.aligners import align_words
from qsproj.alignment.reading import read_word_pairs
from qsproj.evaluation.alignment import alignment_scores
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.joint.corpora import CORPORA, Corpus, link_files, pairs_of, parallel_arcs
from scripts.experiments.pages.words import unspaced
from scripts.experiments.words.alignment import SETS, Pairs, gold_links, gold_pairs

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


def in_kana(lab: Lab) -> Iterator[Pairs]:
    """Yield the hand-aligned pairs, those cut into words, and the others; German in letters of another script."""
    letters: dict[str, str] = {}

    def word(german: str) -> str:
        return "".join(
            letters.setdefault(letter, chr(FIRST_LETTER + len(letters))) if letter.isalpha() else letter
            for letter in german.lower()
        )

    path = lab.bitext_path("de")
    more = list(islice(read_word_pairs(str(path), languages=("en", "de")), GERMAN_PAIRS))
    hand = [pair for name in GERMAN_SETS for pair in gold_pairs(lab.data, name)]
    for pairs in (hand, more[:GERMAN_CUT], more[GERMAN_CUT:]):
        yield [(list(english), [word(german) for german in words]) for english, words in pairs]


def german(lab: Lab) -> list[list[str]]:
    """Return the rows of the table: the error rates of the hand-aligned sets."""
    hand, cut, rest = in_kana(lab)
    running = [(english, ["".join(words)]) for english, words in rest]
    rows = []
    for title, pairs, side in (
        ("all cut into words", rest, None),
        ("running text, without the option", running, None),
        ("running text, with the option", running, "target"),
    ):
        links = align_words([*hand, *cut, *pairs], unspaced=side)
        rates = []
        for name in GERMAN_SETS:
            gold = gold_links(lab.data, name, gold_pairs(lab.data, name))
            rates.append(f"{alignment_scores(gold, islice(links, len(gold))).error_rate:.1f}")
        rows.append([title, *rates])
    return rows


def link_figures(lab: Lab, corpus: Corpus) -> list[str]:
    """Return the cells of a row: what the links carry of the trees that there are to train on."""
    train, _ = pairs_of(lab, corpus)
    carried = [parallel for pair in train for parallel in parallel_arcs(pair)]
    candidates = sum(len(pair.alignment.links) for pair in train) / sum(len(pair.target) for pair in train)
    share = 100 * sum(carried) / len(carried) if carried else 0.0
    return [f"{candidates:.2f}", f"{len(carried):,}", f"{sum(carried):,}", f"{share:.1f}"]


def run(lab: Lab) -> Figures:
    hand = [lab.data / getattr(SETS[name], field) for name in GERMAN_SETS for field in ("sentences", "links")]
    files = [path for path in hand if path.exists()]
    german_rows = lab.cache.figures(
        "unspaced German", partial(german, lab), data=[*files, lab.bitext_path("de")]
    )
    chinese_rows = [
        [
            title,
            *lab.cache.figures(
                f"unspaced {title}", partial(link_figures, lab, corpus), data=link_files(lab, corpus)
            ),
        ]
        for title, corpus in CHINESE_LINKS.items()
    ]
    header = ("Chinese", "candidate links a word", "linked pairs of head and dependent", "parallel", "%")
    return Figures(
        tables={
            "german": table(["German", *GERMAN_SETS], german_rows),
            "chinese": table(header, chinese_rows),
        }
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="unspaced", reading=unspaced)

if __name__ == "__main__":
    EXPERIMENT.main()
