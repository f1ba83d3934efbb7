"""Serve models by the REST API of UDPipe, or serve a page to review and correct trees in the browser.

With -m alone, the server prints its address and offers clients of UDPipe GET /models and POST /process (data,
model, input, output, tokenizer, tagger, parser). Plain text is split into sentences by the tagger, if
it was trained to, or by rules, unless tokenizer=presegmented; parser=confidence adds ArcProb to MISC.
/inception/MODEL is an external recommender of tags and dependencies for INCEpTION (docs/guides/rest-api.md;
pip install 'qsproj[inception]').

With --review, the printed address opens a page with the sentences of FILE (CoNLL-U), the least confident
first if MISC has ArcProb (qsproj parse --confidence). Confirmed sentences get Reviewed=Yes in MISC and are
saved at once; the rest of the file is unchanged, and FILE.history records the changes for undo. With -m, a
parser, the rest of a sentence is parsed again after each correction, given all corrections; the page can
train the parser on reviewed sentences and parse the others again. Both servers accept only local connections
unless --host is given.
"""

import tempfile
from argparse import ArgumentParser, Namespace
from functools import partial
from socket import socket
from typing import TYPE_CHECKING

from qsproj.cli.command_parser import say
from qsproj.cli.options.declare import Heading, Option, only_where
from qsproj.cli.options.pair_files import ALIGNMENT_FORMAT
from qsproj.cli.options.shared import ADDRESS, PAIRING, REVIEWING, SEED
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.errors import UsageError
from qsproj.serve.listening import address_of, check_installed, listen, serve

if TYPE_CHECKING:
    from qsproj.serve.review.app import Review

OPTIONS = (
    Option(
        "-m, --model [NAME=]MODEL",
        "model to serve under NAME (default: file name); repeatable; with --review: one MODEL",
        several=True,
    ),
    Option("--review FILE", "serve a page to correct the trees of FILE"),
    *ADDRESS,
    Heading("models", "for -m without --review"),
    Option("--jobs N", "number of processes; they share the models", default=1),
    Option("--megabytes M", "maximum size of a request", default=4, least=0.001),
    Option("--waiting N", "maximum number of queued requests; others get status 429", default=64, least=0),
    Heading("review", "for --review", needs="--review"),
    Option("--source FILE", "translations, CoNLL-U"),
    Option("--alignment FILE", "word links between --source and FILE"),
    Option("--pairs FILE FILE ", "", hidden=True),
    ALIGNMENT_FORMAT,
    PAIRING,
    Option("-o, --output MODEL", "where a parser trained by the page is written"),
    *REVIEWING,
    Option(
        "--first",
        "order of sentences: least confident, most informative (see qsproj suggest), as in the file, or "
        "different from --versus first",
        default="unsure",
        choices=("unsure", "worth", "file", "differing"),
        former="--order",
    ),
    Option("--versus FILE", "the same sentences by another annotator, for comparison", former="--beside"),
    Option("--words FILE", "words to tag, as written by qsproj bootstrap --suggest-words"),
    Option("--lexicon FILE", "where tags of --words are written", writes=""),
    SEED,
)
EXAMPLES = """examples:
  qsproj serve -m de.model
  qsproj serve -m de=german.model -m en=english.model --port 8001 --jobs 4
  curl -F data=@text.txt -F tokenizer= -F tagger= -F parser= http://127.0.0.1:8001/process
  qsproj serve --review draft.conllu
  qsproj serve --review de.conllu --source en.conllu --alignment en-de.pharaoh \\
      -m de.model -o better.model
"""


def add_conditions(parser: ArgumentParser) -> None:
    only_where(parser, "-m alone", lambda options: options.review is None, "jobs", "megabytes", "waiting")
    only_where(
        parser, "--source", lambda of: of.source or of.alignment or of.pairs, "pair", "alignment_format"
    )
    only_where(parser, "-m", lambda options: bool(options.model), "train_after", "seed")


def run(options: Namespace) -> None:
    check_installed()
    if options.review is None and not options.model:
        raise UsageError("found nothing to serve; name a model: -m MODEL, or a file to review: --review FILE")
    with listen(options.host, options.port) as listening:
        if options.review is None:
            _serve_models(options, listening)
            return
        from qsproj.serve.review.app import serve_review

        with tempfile.TemporaryDirectory(prefix="qsproj-") as folder:
            serve_review(_review(options, folder), listening, host=options.host, seconds=options.seconds)


def _serve_models(options: Namespace, listening: socket) -> None:
    from qsproj.serve.compute import ComputePool
    from qsproj.serve.inception import PATH, inception_routes, work_on
    from qsproj.serve.requests import Limits, with_access_log
    from qsproj.serve.udpipe import HEADERS, PATHS, load_served, udpipe_app

    size = int(options.megabytes * (1 << 20))
    limits = Limits(bytes=size, seconds=options.seconds, waiting=options.waiting)
    models = load_served(options.model)
    pool = ComputePool(partial(work_on, models), processes=options.jobs)
    answers = udpipe_app(models, pool, limits, others=inception_routes(models, pool, limits))
    app = with_access_log(answers, paths=(*PATHS, PATH), headers=HEADERS)
    said = f"qsproj serve: {', '.join(models)} at {address_of(listening)} (Ctrl-C stops)"
    serve(app, listening, seconds=options.seconds, started=partial(say, said), pools=[pool])


def _review(options: Namespace, folder: str) -> "Review":
    from qsproj.models.parser import load_parser
    from qsproj.serve.compute import ComputePool
    from qsproj.serve.review.app import Review
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.inference import Inference, features_of
    from qsproj.serve.review.retraining import Retraining
    from qsproj.serve.review.session import DIFFERING, Session
    from qsproj.serve.review.words import WordList

    source, links = options.pairs or (options.source, options.alignment)
    if (source is None) != (links is None):
        raise UsageError("--source and --alignment go together: give both, or neither")
    if (options.words is None) != (options.lexicon is None):
        raise UsageError("--words and --lexicon go together: give both, or neither")
    if options.first == DIFFERING and options.versus is None:
        raise UsageError(f"--first {DIFFERING} needs --versus FILE, which the trees of --review differ from")
    words = WordList(suggestions=options.words, lexicon=options.lexicon) if options.words else None
    pairs = None
    if source is not None:
        pairs = AlignedFiles(source, options.review, links, options.alignment_format, options.pair)
    session = Session(
        draft=Draft(options.review, who=options.reviewer),
        pairs=pairs,
        train_after=options.train_after if options.model else None,
        order=options.first,
        beside=options.versus,
    )
    if len(options.model) > 1:
        raise UsageError(f"found {len(options.model)} models, expected the one parser that made the file")
    if not options.model and options.output is not None:
        raise UsageError("-o is where the model of -m is written once it was trained; give -m MODEL")
    inference = training = None
    if options.model:
        parser = load_parser(options.model[0])
        session.features = features_of(parser)
        why = parser.refuses_training
        if why is not None and options.output is not None:
            raise UsageError(f"-m {options.model[0]} is not trained again: {why}; leave -o out")
        inference = ComputePool(Inference(parser), processes=1)
        if why is None:
            retraining = Retraining(parser, options.output or f"{folder}/trained.model", options.seed)
            session.parts, session.learns_links = retraining.progress, parser.parses_pairs
            training = ComputePool(retraining, processes=1)
        else:
            session.train_after, session.summary = None, {"error": f"This model is not trained again: {why}."}
    return Review(session=session, training=training, inference=inference, words=words)
