"""Correct sentences that teach most, and make the model of a bootstrap again from them, in the browser.

DIR is the folder of `qsproj bootstrap --work DIR`. The page that opens shows 200 sentences of the raw text
(--text), or else of the bitext, as the model parses them, those that teach most first. After ten corrections
"Train again" repeats the bootstrap with all that was corrected, in the background: stages that do not depend
on it are kept, and the drafts that are left are parsed again. What was corrected stays as it is.

DIR/annotate.LANGUAGE.conllu holds the sentences, those corrected with Reviewed=Yes in MISC, and
DIR/annotate.LANGUAGE.words.tsv the words whose tags would teach most. With --lexicon the page lists these
words (key w); the tags that are given there are written to that file, which each training reads again.
Stopped and started again, the command goes on with what was corrected. Twenty minutes of words and sentences
are worth more than any option of the bootstrap.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from qsproj.cli.options.files import check_files
from qsproj.cli.options.former_names import with_former_name
from qsproj.cli.options.numbers import number, whole_number

if TYPE_CHECKING:
    from qsproj.serve.review.relearning import Relearning

EXAMPLES = """examples:
  qsproj bootstrap --treebank en.conllu --bitext en.verses wo.verses --paired-by verse \\
      --languages en wo --text wo.txt --work wo.work -o wo.model
  qsproj annotate --work wo.work --lexicon words.wo.tsv -o better.wo.model
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--work", metavar="DIR", required=True, help="the folder of a bootstrap")
    parser.add_argument("--language", metavar="CODE", help="the target language, where DIR holds several")
    parser.add_argument(
        "-o", "--output", metavar="MODEL", required=True, help="where the model of each training is written"
    )
    parser.add_argument("--lexicon", metavar="FILE", help="words and their tags, read again by each training")
    parser.add_argument(
        "--draws",
        metavar="N",
        type=whole_number(least=1),
        default=1,
        help="parsers of which the mean is taken; more are better and take longer (default: 1)",
    )
    parser.add_argument(
        "--train-after",
        metavar="N",
        type=whole_number(least=1),
        default=10,
        help="sentences to be corrected before the page may train (default: 10)",
    )
    reviewer = parser.add_argument(
        "--reviewer", metavar="NAME", help='a comment "# reviewed_by = NAME" on what is confirmed'
    )
    with_former_name(parser, reviewer, "--by")
    parser.add_argument(
        "--host", metavar="ADDRESS", default="127.0.0.1", help="to serve at (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=whole_number(least=0),
        default=8001,
        help="to serve at; 0: a free one (default: 8001)",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=number(least=0.01),
        default=60,
        help="the longest that a request may take (default: 60)",
    )


def run(options: argparse.Namespace) -> None:
    from dataclasses import replace

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
    call = replace(call, options=replace(call.options, draws=options.draws))
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
    """Make the model, from what an earlier session corrected; return the file of sentences."""
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
