"""``serve`` as a command that ends: models loaded as a server loads them, one request for each way to ask."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from qsproj.corpus.files import open_output
from qsproj.errors import QsprojError

# What is asked of the text of a file; the answer to the last is written, where all are answered.
WAYS = (
    {"input": "conllu", "parser": "confidence"},
    {"input": "horizontal", "tagger": ""},
    {"input": "vertical", "tagger": "", "parser": "", "output": "vertical"},
    {"tokenizer": "presegmented", "output": "horizontal"},
    {"tokenizer": "", "tagger": "", "parser": ""},
)


def serve(words: list[str]) -> int:
    """Answer requests for the text of a file by a model: ``-m MODEL INPUT -o OUTPUT``.

    A request that is refused is told as an error of the input, as a server answers it with 400; all else
    that goes wrong in one, which a server answers with 500, is raised.
    """
    from qsproj.serve.udpipe import load_served, process

    parser = argparse.ArgumentParser()
    parser.add_argument("-m", "--model")
    parser.add_argument("-o", "--output")
    parser.add_argument("input")
    options = parser.parse_args(words)
    refused, answer = "", None
    try:
        models = load_served([options.model])
        data = Path(options.input).read_bytes().decode("utf-8", "replace")
        for way in WAYS:
            try:
                answer = process(models, {"data": data, **way})
            except QsprojError as error:
                refused, answer = f"{options.input}: {error}", None
        if answer is None:
            raise QsprojError(refused)
        with open_output(options.output) as handle:
            handle.write(answer.result)
    except (QsprojError, OSError) as error:
        print(f"qsproj serve: {error}", file=sys.stderr)
        return 2
    return 0
