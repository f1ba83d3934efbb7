"""Report of a bootstrap: stages, confidence of the model, example pairs, suggestions for annotation."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import comment_value
from qsproj.corpus.files import open_output
from qsproj.errors import pluralise
from qsproj.evaluation.calibration import BINS, stated_confidences
from qsproj.pipelines.bootstrap.bootstrap import Bootstrapped
from qsproj.pipelines.bootstrap.workspace import Workspace
from qsproj.viz.drawing import Mark, legend
from qsproj.viz.page import Heading, Piece, Table, page
from qsproj.viz.trees import draw_pair, with_features_shown

SHOWN_WORDS = range(6, 21)  # lengths of example sentences: shorter ones show little, longer ones do not fit
SHOWN_OF_EACH = 10
SHOWN_WORDS_OF_LEXICON = 50


def write_report(path: str, made: Bootstrapped, workspace: Workspace, *, title: str, features: bool) -> None:
    """Write the page; ``features``: show feature values in pairs. UsageError when it cannot be written."""
    with open_output(path) as handle:
        handle.writelines(page(title, _pieces(made, workspace, features=features)))


def _pieces(made: Bootstrapped, workspace: Workspace, *, features: bool) -> Iterator[Piece]:
    path = made.examples or ""
    examples = [replace(pair, target=one) for pair, one in zip(made.corpora[0], read_conllu(path))]
    stated = [stated_confidences(pair.target, name=path)[1:] for pair in examples]
    means = [float(np.nanmean(of_pair)) for of_pair in stated]
    trees, mean = Path(made.trees).read_bytes().count(b"\n\n"), float(np.nanmean(np.concatenate(stated)))
    yield (
        f"The model was trained on {pluralise(trees, 'sentence')} of the bitext. In "
        f"{pluralise(len(examples), 'sentence')} parsed for this page, the mean probability of an arc is "
        f"{mean:.2f}: expect at least {100 * (1 - mean):.0f} of 100 heads to be wrong."
    )
    yield (
        "Next: parse text (qsproj parse -m MODEL FILE). To improve the model, correct the sentences "
        "(qsproj serve --review FILE) and words listed below, and run the command again with --annotated "
        "FILE and --lexicon FILE."
    )
    yield Heading("Confidence of the model")
    yield (
        "The model's probability of each arc, over sentences of the bitext. It is not checked against gold "
        "trees and ignores tagging errors: expect fewer arcs to be correct."
    )
    counts, edges = np.histogram(np.concatenate(stated), bins=BINS, range=(0.0, 1.0))
    shares = [
        (f"{low:.1f} to {high:.1f}", int(count), f"{100 * count / max(counts.sum(), 1):.1f}%")
        for low, high, count in zip(edges, edges[1:], counts)
    ]
    yield Table(("probability", "arcs", "share"), shares)
    yield Heading("Sentences to annotate next")
    yield (
        "Correcting the trees of these sentences, in this order, would improve the model most; --suggest "
        "FILE writes them as CoNLL-U. Pass the corrected file as --annotated."
    )
    suggested = read_conllu(made.suggested or "")
    rows = [(one.sent_id or "", len(one), comment_value(one, "text") or "") for one in suggested]
    yield Table(("sentence", "words", "text"), rows)
    lines = Path(made.suggested_words or "").read_text(encoding="utf-8").splitlines()
    words = [line for line in lines if not line.startswith("# ")]
    if words:
        yield Heading("Words to tag in a lexicon")
        yield (
            "Tagging these words would improve the tagger most. --suggest-words FILE writes all of them; "
            "correct the tags there, delete words that you did not check, and pass the file as --lexicon."
        )
        cells = [tuple(line.split("\t")) for line in words[:SHOWN_WORDS_OF_LEXICON]]
        yield Table(("word", "tags", "in text", "in bitext", "expected wrong", "example"), cells)
    yield from _contradicted(workspace)
    yield legend({Mark.PROBABILITY, Mark.LINK, Mark.LINK_PROBABILITY})
    fitting = [(mean, pair) for mean, pair in zip(means, examples) if len(pair.target) in SHOWN_WORDS]
    ordered = sorted(fitting, key=lambda example: -example[0])
    least_sure = ordered[SHOWN_OF_EACH:][-SHOWN_OF_EACH:][::-1]
    for name, chosen in (("most", ordered[:SHOWN_OF_EACH]), ("least", least_sure)):
        yield Heading(f"The {name} confident pairs")
        for confidence, pair in chosen:
            yield Heading(f"mean probability {confidence:.2f}", 3)
            if features:
                source, target = map(with_features_shown, (pair.source, pair.target))
                pair = replace(pair, source=source, target=target)
            yield draw_pair(pair)
    yield Heading("Stages")
    word = {True: "kept", False: ""}
    done = [(one.name, one.report.line, round(one.seconds, 1), word[one.kept]) for one in workspace.stages]
    yield Table(("stage", "result", "seconds", ""), done)
    yield (
        "The model does not need the files of these stages. --work keeps them for the next run; they may be "
        "deleted."
    )
    if unused := workspace.unused():
        names = ", ".join(path.name for path in unused)
        yield f"Left by other runs of this language and not used by this one; --clean removes them: {names}."
    others, runs = workspace.of_other_runs()
    if others:
        yield f"The same folder holds {pluralise(len(others), 'file')} of other runs, which stay: {runs}."


def _contradicted(workspace: Workspace) -> Iterator[Piece]:
    rows = [row for stage in workspace.stages for row in stage.report.figures.get("contradicted", ())]
    if not rows:
        return
    yield Heading("Frequent words tagged against their links")
    yield (
        "Most links of these words lead to words with another tag. Either the links are wrong, for instance "
        "because a word has no translation, or the tags are; a line of a lexicon decides."
    )
    shown = [
        (word, count, linked, f"{100 * believed:.0f}%", given, f"{100 * share:.0f}%")
        for word, count, linked, believed, given, share in rows
    ]
    yield Table(("word", "in bitext", "linked to", "share", "tagged", "share"), shown)
