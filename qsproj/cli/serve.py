"""Serve models by UDPipe's REST API, or a page in the browser on which trees are reviewed and corrected.

With -m alone, clients of UDPipe find GET /models and POST /process (data, model, input, output, tokenizer,
tagger, parser) at the address that is shown. Plain text is one sentence a line; parser=confidence adds
ArcProb to MISC. It serves this machine alone unless --host says otherwise.
"""

from __future__ import annotations

import argparse
import sys

from qsproj.cli.options.common import add_number, add_whole_number
from qsproj.errors import UsageError

EXAMPLES = """examples:
  qsproj serve -m de.model
  qsproj serve -m de=german.model -m en=english.model --port 8001 --jobs 4
  curl -F data=@text.txt -F tokenizer= -F tagger= -F parser= http://127.0.0.1:8001/process
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        default=[],
        metavar="[NAME=]MODEL",
        help="a model to serve, by its name (default: that of its file); several may be given",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="to serve at (default: 127.0.0.1)"
    )
    add_whole_number(parser, "--port", least=0, default=8001, help="to serve at; 0: a free one")
    add_whole_number(
        parser, "--jobs", least=1, default=1, help="processes that tag and parse; they share the models"
    )
    add_number(parser, "--megabytes", least=0.001, default=4, help="the largest request", metavar="M")
    add_number(
        parser, "--seconds", least=0.01, default=60, help="the longest that a request may take", metavar="S"
    )
    add_whole_number(
        parser, "--waiting", least=0, default=64, help="requests that may wait; more are told to come again"
    )


def run(options: argparse.Namespace) -> None:
    """Serve until stopped."""
    from qsproj.serve.listening import check_installed

    check_installed()
    if not options.model:
        raise UsageError("found no model to serve; name one: -m MODEL")
    _serve_models(options)


def _serve_models(options: argparse.Namespace) -> None:
    from functools import partial

    from qsproj.serve.compute import ComputePool
    from qsproj.serve.listening import address_of, listen, serve
    from qsproj.serve.outermost import outermost
    from qsproj.serve.requests import Limits
    from qsproj.serve.udpipe.app import HEADERS, PATHS, udpipe_app
    from qsproj.serve.udpipe.processing import process
    from qsproj.serve.udpipe.served_models import load_served

    limits = Limits(
        bytes=int(options.megabytes * (1 << 20)), seconds=options.seconds, waiting=options.waiting
    )
    with listen(options.host, options.port) as listening:
        models = load_served(options.model)
        pool = ComputePool(partial(process, models), processes=options.jobs)
        app = outermost(udpipe_app(models, pool, limits), paths=PATHS, headers=HEADERS)
        say = f"qsproj serve: {', '.join(models)} at {address_of(listening)} (Ctrl-C stops)"
        try:
            serve(
                app,
                listening,
                seconds=limits.seconds,
                started=lambda: print(say, file=sys.stderr, flush=True),
            )
        finally:
            pool.stop()
