"""Correct the most informative sentences in the browser, and retrain the model of a bootstrap on them.

DIR is the folder of `qsproj bootstrap --work DIR`. The command opens a page with 200 parsed sentences of the
raw text (--text), or else of the bitext, the most informative first. After ten corrections, "Train again"
teaches the model the corrected sentences in the background, which takes seconds, and parses the others
again. Corrections are never overwritten.

DIR/annotate.LANGUAGE.conllu holds the sentences, corrected ones marked Reviewed=Yes in MISC, and
DIR/annotate.LANGUAGE.words.tsv the most informative words to tag. With --lexicon the page lists these words
(key w) and writes their tags to that file, which each training reads. Corrections persist when the command is
stopped and started again. Twenty minutes of correcting words and sentences improve a model more than any
option of the bootstrap.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from qsproj.cli.options.files import check_files
from qsproj.cli.options.serving import add_address, add_reviewing

if TYPE_CHECKING:
    from qsproj.serve.review.relearning import Relearning

EXAMPLES = """examples:
  qsproj bootstrap --treebank en.conllu --bitext en.verses wo.verses --paired-by verse \\
      --languages en wo --text wo.txt --work wo.work -o wo.model
  qsproj annotate --work wo.work --lexicon words.wo.tsv -o better.wo.model
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--work", metavar="DIR", required=True, help="working folder of qsproj bootstrap")
    parser.add_argument("--language", metavar="CODE", help="target language, if DIR holds several")
    parser.add_argument(
        "-o", "--output", metavar="MODEL", required=True, help="where each trained model is written"
    )
    parser.add_argument("--lexicon", metavar="FILE", help="words and their tags, read by each training")
    add_reviewing(parser)
    add_address(parser)


def run(options: argparse.Namespace) -> None:
    from qsproj.models.parser import load_parser
    from qsproj.pipelines.bootstrap.call import BootstrapCall
    from qsproj.serve.compute import ComputePool
    from qsproj.serve.listening import check_installed, listen
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.inference import Inference
    from qsproj.serve.review.relearning import Relearning
    from qsproj.serve.review.serving import serve_review
    from qsproj.serve.review.session import WORTH, Session
    from qsproj.serve.review.words import WordList

    check_installed()
    folder = Path(options.work)
    call = BootstrapCall.load(folder, options.language)
    check_files(reads=[*call.options.files], model=options.output)
    learning = Relearning(call, folder, options.output, options.lexicon)
    with listen(options.host, options.port) as listening:
        draft = _draft(learning)
        session = Session(
            draft=Draft(str(draft), who=options.reviewer), train_after=options.train_after, order=WORTH
        )
        session.parts = learning.progress
        reviewed, left = session.trees()
        if reviewed:
            found = learning.parsed(session.draft.sentences, reviewed, left)
            session.take(found, session.versions())
        suggestions = str(draft.with_suffix(".words.tsv"))
        words = WordList(suggestions=suggestions, lexicon=options.lexicon) if options.lexicon else None
        inference = ComputePool(Inference(load_parser(options.output)), processes=1)
        training = ComputePool(learning, processes=1)
        serve_review(
            session,
            (training, inference),
            listening,
            host=options.host,
            seconds=options.seconds,
            command="annotate",
            words=words,
        )


def _draft(learning: Relearning) -> Path:
    """Train the model on the corrections of earlier sessions; return the file of sentences to correct."""
    from qsproj.corpus.formats import read_sentences
    from qsproj.pipelines.bootstrap.workspace import copy_to
    from qsproj.serve.review.correction import is_reviewed
    from qsproj.serve.review.relearning import OFFERED

    path = learning.folder / f"annotate.{learning.call.language}.conllu"
    reviewed = list(filter(is_reviewed, read_sentences(str(path)))) if path.exists() else []
    print(f"qsproj annotate: making {learning.output}", file=sys.stderr, flush=True)
    made = learning.make(reviewed, offered=OFFERED)
    if not path.exists():
        copy_to(made.suggested or "", str(path))
    copy_to(made.suggested_words or "", str(path.with_suffix(".words.tsv")))
    return path
