"""Evaluation page against gold trees: scores, confusions, calibration, learning curve, sentences."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qsproj.conventions import NO_HEAD
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.files import open_output
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError
from qsproj.evaluation import attachment
from qsproj.evaluation.calibration import confidences_of, expected_calibration_error, reliability
from qsproj.evaluation.score_tables import SENTENCE_SCORES, WORD_SCORES, p_text
from qsproj.viz.drawing import Drawing, legend
from qsproj.viz.page import Heading, Piece, Series, Table, line_plot, page
from qsproj.viz.trees import draw_versus

SHOWN_CONFUSIONS, SHOWN_SENTENCES = 20, 10
# Maximum length of a sentence in words, and of a name in characters, to fit on a screen.
_LONGEST, _LONGEST_NAME = 40, 28
_SCORES = (*((label, name) for name, label, *_ in (*WORD_SCORES, *SENTENCE_SCORES)), ("root F1", "root_f1"))
RELATIONS, TAGS = "deprels", "upos"


@dataclass(frozen=True, slots=True)
class Compared:
    """The systems of a report and the gold trees."""

    paths: Sequence[str]  # files of the gold trees, then of each system
    gold: Sequence[Sentence]
    systems: Sequence[Sequence[Sentence]]  # trees of the same words
    punctuation: bool = True  # whether words whose gold UPOS is PUNCT count
    sizes: Sequence[float] = ()  # of the training data of each system; none: no learning curve

    @property
    def names(self) -> list[str]:
        short = [Path(path).name for path in self.paths[1:]]
        names = short if len(set(short)) == len(short) else list(self.paths[1:])
        return [name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}" for name in names]


def write_report(path: str, compared: Compared, scores: Sequence[attachment.AttachmentScores]) -> None:
    """Write the page; ``scores``: of each system, by relation. DataError for an impossible ``ArcProb``."""
    pieces = [*_score_pieces(compared, scores)]
    if compared.sizes:
        pieces += Heading("Learning"), _learning_curve(compared.sizes, scores)
    pieces += _calibration_pieces(compared)
    for name, system, score in zip(compared.names, compared.systems, scores, strict=True):
        pieces += _system_pieces(name, system, score, compared)
    with open_output(path) as handle:
        handle.writelines(page(f"Scores against {compared.paths[0]}", pieces))


def _score_pieces(compared: Compared, scores: Sequence[attachment.AttachmentScores]) -> Iterator[Piece]:
    first = scores[0]
    yield Heading("Scores")
    yield (
        f"{first.sentences:,} sentences, {first.tokens:,} words scored, punctuation "
        f"{'included' if compared.punctuation else 'left out'}; all scores in percent."
    )

    def p_values(other: attachment.AttachmentScores) -> str:
        differences = (other.counts[name] - first.counts[name] for name in ("unlabelled", "labelled"))
        values = (p_text(attachment.exact_paired_test(one)) for one in differences)
        return "" if other is first else ", ".join(values)

    columns = ("system", *(label for label, _ in _SCORES))
    rows = [
        (name, *(_percent(getattr(score, field)) for _, field in _SCORES))
        for name, score in zip(compared.names, scores, strict=True)
    ]
    if len(scores) == 1:
        yield Table(columns, rows)
    else:
        tested = [(*row, p_values(score)) for row, score in zip(rows, scores, strict=True)]
        yield Table((*columns, "p of UAS, LAS"), tested)
        yield (
            "p: the exact two-sided probability that swapping the results of a system and the first at "
            "random, sentence by sentence, sets them as far apart."
        )


def _learning_curve(sizes: Sequence[float], scores: Sequence[attachment.AttachmentScores]) -> Drawing:
    order = np.argsort(sizes, kind="stable")
    wrong = [
        Series(label, [sizes[k] for k in order], [100.0 - getattr(scores[k], field) for k in order])
        for label, field in (("heads", "uas"), ("heads or relations", "las"))
    ]
    return line_plot(wrong, title="Errors by the size of the training data", x="size", y="wrong, %")


def _calibration_pieces(compared: Compared) -> Iterator[Piece]:
    lines, rows = [Series("as stated", [0.0, 1.0], [0.0, 1.0])], []
    for name, path, system in zip(compared.names, compared.paths[1:], compared.systems, strict=True):
        try:
            confidences, right = confidences_of(
                compared.gold, system, punctuation=compared.punctuation, name=path
            )
        except DataError as error:
            if "no ArcProb" not in str(error):
                raise
            continue
        bins = [row for row in reliability(confidences, right) if row.count]
        lines.append(Series(name, [row.confidence for row in bins], [row.accuracy for row in bins]))
        rows.append((name, _percent(100.0 * expected_calibration_error(bins)), len(confidences)))
    if rows:
        yield Heading("Calibration")
        yield (
            "Of the arcs that a system gives 80%, 80% should be right: the nearer to the diagonal, the "
            "better. The expected calibration error is the mean distance from it."
        )
        yield line_plot(lines, title="Calibration of ArcProb", x="probability stated", y="share correct")
        yield Table(("system", "expected calibration error, %", "arcs"), rows)


def _system_pieces(
    name: str, system: Sequence[Sentence], scores: attachment.AttachmentScores, compared: Compared
) -> Iterator[Piece]:
    yield Heading(name)
    yield Heading("Relations", 3)
    rows: list[tuple[str | float, ...]] = []
    for relation, group in scores.groups.items():
        shares = group.uas, group.las, attachment.percentage(group.total("labelled"), group.predicted)
        rows.append((relation, group.tokens, group.predicted, *map(_percent, shares)))
    yield Table(("relation", "words", "found", "UAS", "LAS", "of those found, right"), rows)
    for title, column in (("Confused relations", RELATIONS), ("Confused tags", TAGS)):
        found = confusions(compared.gold, system, column=column, punctuation=compared.punctuation)
        if found:
            yield Heading(title, 3)
            rows = []
            for one in found[:SHOWN_CONFUSIONS]:
                of_gold, right = one.count / one.words, one.heads_right / one.count
                rows.append((one.gold, one.found, one.count, f"{100 * of_gold:.1f}%", f"{100 * right:.1f}%"))
            yield Table(("gold", "found", "words", "of the gold ones", "with the right head"), rows)
    yield from _worst_sentences(system, scores, compared)


def _worst_sentences(
    system: Sequence[Sentence], scores: attachment.AttachmentScores, compared: Compared
) -> Iterator[Piece]:
    words = scores.counts["tokens"]
    wrong = words - scores.counts["labelled"]
    chosen = [k for k, sentence in enumerate(compared.gold) if wrong[k] and len(sentence) <= _LONGEST]
    chosen.sort(key=lambda k: -wrong[k] / words[k])
    if not chosen:
        return
    yield Heading("Sentences with the most errors", 3)
    drawings = [draw_versus(system[k], compared.gold[k]) for k in chosen[:SHOWN_SENTENCES]]
    yield legend({mark for drawing in drawings for mark in drawing.marks})
    for k, drawing in zip(chosen, drawings, strict=False):
        yield f"{compared.gold[k].sent_id or f'sentence {k + 1}'}: {wrong[k]} of {words[k]} words"
        yield drawing


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class Confusion:
    """A gold relation or tag and the one predicted in its place."""

    gold: str
    found: str
    count: int  # number of confusions
    words: int  # words with the gold name
    heads_right: int  # confusions with a correct head


def confusions(
    gold: Iterable[Sentence], system: Iterable[Sentence], *, column: str = RELATIONS, punctuation: bool = True
) -> tuple[Confusion, ...]:
    """Count confusions of RELATIONS (for words with gold heads) or TAGS, the most frequent first."""
    words, pairs, heads_right = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for truth, parsed in zip(gold, system, strict=True):
        names = (getattr(truth, column), getattr(parsed, column))
        heads = truth.heads[1:].tolist()
        columns = zip(*names, truth.upos, heads, parsed.heads[1:].tolist(), strict=True)
        for right, found, tag, head, found_head in columns:
            known = head != NO_HEAD if column == RELATIONS else right != UNSPECIFIED
            if not known or (not punctuation and tag == attachment.PUNCTUATION_TAG):
                continue
            words[right] += 1
            if right != found:
                pairs[right, found] += 1
                heads_right[right, found] += head == found_head
    return tuple(
        Confusion(right, found, count, words[right], heads_right[right, found])
        for (right, found), count in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    )
