"""Serve models by UDPipe's REST API, or a page in the browser on which trees are reviewed and corrected.

With -m alone, clients of UDPipe find GET /models and POST /process (data, model, input, output, tokenizer,
tagger, parser) at the address that is shown. The lines of plain text are cut into sentences by rules, unless
tokenizer=presegmented; parser=confidence adds ArcProb to MISC. INCEpTION finds an external recommender for
tags and dependencies at /inception/MODEL (docs/guides/rest-api.md; pip install 'qsproj[inception]').

With --review, the address that is shown opens a page with the sentences of FILE, CoNLL-U, the least sure
first where MISC has ArcProb (qsproj parse --confidence). What is confirmed there gets Reviewed=Yes in MISC
and is saved at once; all else in the file stays as it is; FILE.history keeps what was changed, for undo. With
-m, a parser, the rest of a sentence is inferred again after each correction, under all that was corrected;
the page can train the parser on what was reviewed, and shows new trees for the rest. Both serve this machine
alone unless --host says otherwise.
"""

from __future__ import annotations

import argparse
import tempfile
from typing import TYPE_CHECKING

from qsproj.cli.options.common import add_options, add_pairing, add_seed, declare_ways, refuse_unread
from qsproj.cli.options.pair_files import add_alignment_format
from qsproj.errors import UsageError

if TYPE_CHECKING:
    from socket import socket

    from qsproj.serve.compute import ComputePool
    from qsproj.serve.review.session import Session

EXAMPLES = """examples:
  qsproj serve -m de.model
  qsproj serve -m de=german.model -m en=english.model --port 8001 --jobs 4
  curl -F data=@text.txt -F tokenizer= -F tagger= -F parser= http://127.0.0.1:8001/process
  qsproj serve --review draft.conllu
  qsproj serve --review de.conllu --pairs en.conllu en-de.pharaoh -m de.model -o better.model
"""

MODELS, REVIEW = "-m alone", "--review"
WAYS = {
    MODELS: ("jobs", "megabytes", "waiting"),
    REVIEW: ("pairs", "alignment_format", "pair", "output", "train_after", "by", "order", "beside", "seed"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        default=[],
        metavar="[NAME=]MODEL",
        help="a model to serve, by its name (default: that of its file); several may be given",
    )
    add_options(parser)("""
        --review FILE: open a page to correct the trees of FILE
        --host ADDRESS=127.0.0.1: to serve at (default: 127.0.0.1)
        --port N[0..]=8001: to serve at; 0: a free one
        --seconds S[0.01..]=60: the longest that a request may take
    """)
    models = parser.add_argument_group("models", "for -m without --review")
    add_options(models)("""
        --jobs N[1..]=1: processes; they share the models
        --megabytes M[0.001..]=4: the largest request
        --waiting N[0..]=64: requests that may wait; more are told to come again
    """)
    review = parser.add_argument_group("review", "for --review")
    add_options(review)("--pairs SOURCE LINKS: translations, CoNLL-U, and links to FILE's words")
    add_alignment_format(review)
    add_pairing(review)
    add_options(review)("""
        -o --output MODEL: where the page's training writes the parser
        --train-after N[1..]=10: sentences to be reviewed before it may train
        --by NAME: who reviews: a comment "# reviewed_by = NAME" on what is confirmed
        --order {unsure,worth,file,differing}=unsure: which sentences come first: the least sure, those that
            teach most (see qsproj suggest), the first of the file, those that differ from --beside
        --beside FILE: the same sentences by another annotator, shown beside, to be compared
    """)
    add_seed(review)
    declare_ways(parser, WAYS)


def run(options: argparse.Namespace) -> None:
    from qsproj.serve.listening import check_installed, listen

    check_installed()
    refuse_unread(options, WAYS, MODELS if options.review is None else REVIEW)
    if options.review is None and not options.model:
        raise UsageError("found nothing to serve; name a model: -m MODEL, or a file to review: --review FILE")
    with listen(options.host, options.port) as listening:
        if options.review is None:
            _serve_models(options, listening)
        else:
            _serve_review(options, listening)


def _serve_models(options: argparse.Namespace, listening: socket) -> None:
    from functools import partial

    from qsproj.serve.access_log import with_access_log
    from qsproj.serve.compute import ComputePool
    from qsproj.serve.inception import PATH, inception_routes, work_on
    from qsproj.serve.listening import address_of, serve_until_stopped
    from qsproj.serve.requests import Limits
    from qsproj.serve.udpipe.app import HEADERS, PATHS, udpipe_app
    from qsproj.serve.udpipe.processing import load_served

    limits = Limits(
        bytes=int(options.megabytes * (1 << 20)), seconds=options.seconds, waiting=options.waiting
    )
    models = load_served(options.model)
    pool = ComputePool(partial(work_on, models), processes=options.jobs)
    answers = udpipe_app(models, pool, limits, others=inception_routes(models, pool, limits))
    app = with_access_log(answers, paths=(*PATHS, PATH), headers=HEADERS)
    said = f"qsproj serve: {', '.join(models)} at {address_of(listening)}"
    serve_until_stopped(app, listening, seconds=options.seconds, said=said, pools=[pool])


def _serve_review(options: argparse.Namespace, listening: socket) -> None:
    from qsproj.cli.options.common import check_files
    from qsproj.serve.review.serving import serve_review

    check_files(
        reads=(options.review, *options.model, *(options.pairs or ()), options.beside), model=options.output
    )
    session = _session(options)
    with tempfile.TemporaryDirectory(prefix="qsproj-") as folder:
        training, inference = _processes(options, session, folder)
        pages = training, inference
        serve_review(session, pages, listening, host=options.host, seconds=options.seconds)


def _session(options: argparse.Namespace) -> Session:
    from qsproj.corpus.pairs.aligned import AlignedFiles
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.session import Session

    pairs = None
    if options.pairs is not None:
        source, links = options.pairs
        pairs = AlignedFiles(source, options.review, links, options.alignment_format, options.pair)
    return Session(
        draft=Draft(options.review, who=options.by),
        pairs=pairs,
        train_after=options.train_after if options.model else None,
        order=options.order,
        beside=options.beside,
    )


def _processes(
    options: argparse.Namespace, session: Session, folder: str
) -> tuple[ComputePool | None, ComputePool | None]:
    """Return the process that trains the model, where it learns, and the one that infers by it."""
    from qsproj.models.parser import load_parser
    from qsproj.serve.compute import ComputePool
    from qsproj.serve.review.inference import Inference, features_of
    from qsproj.serve.review.retraining import Retraining

    if len(options.model) > 1:
        raise UsageError(f"found {len(options.model)} models, expected the one parser that made the file")
    if not options.model:
        if options.output is not None:
            raise UsageError("-o is where the model of -m is written once it was trained; give -m MODEL")
        return None, None
    parser = load_parser(options.model[0])
    session.features = features_of(parser)
    inference = ComputePool(Inference(parser), processes=1)
    why = parser.refuses_training
    if why is not None:
        if options.output is not None:
            raise UsageError(f"-m {options.model[0]} is not trained again: {why}; leave -o out")
        session.train_after, session.told = None, {"error": f"This model is not trained again: {why}."}
        return None, inference
    training = Retraining(parser, options.output or f"{folder}/trained.model", options.seed)
    session.parts = training.progress
    session.learns_links = parser.parses_pairs
    return ComputePool(training, processes=1), inference
