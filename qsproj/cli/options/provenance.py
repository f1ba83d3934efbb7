"""Provenance record of a model file."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from qsproj import __version__
from qsproj.corpus.files import PACKED
from qsproj.corpus.language.recognition import recognise
from qsproj.corpus.sentence import Sentence

# Options without effect on the model in any command: parallelism and further outputs.
_WITHOUT_EFFECT = frozenset(
    {
        *("module", "own_parser", "unread", "command", "output", "jobs", "backend", "scheduler"),
        *(
            "checkpoint",
            "resume",
            "work",
            "clean",
            "report",
            "suggest",
            "verbose",
            "suggest_sentences",
            "suggest_words",
            "save_model",
            "linked",
            "weights",
        ),
    }
)
# Commands whose --trees is an output; elsewhere it is an input.
_WRITE_TREES = frozenset({"project", "bootstrap"})
# Number of sentences used to identify the language.
_LOOKED_AT = 1000


def made_by(options: argparse.Namespace, **facts: Any) -> dict[str, Any]:
    """Return the provenance record of a model: command, version, options, and ``facts`` such as counts.

    The record is reproducible: the same command on files of the same names and content gives the same record
    on every machine. It holds no date, and paths are reduced to the file name without the ending of an
    archive. Options that are unset, do not change the model, or are not read
    (:mod:`qsproj.cli.options.declare`) are left out.
    """
    without_effect = _WITHOUT_EFFECT.union(getattr(options, "unread", ()))
    if options.command in _WRITE_TREES:
        without_effect |= {"trees"}
    kept = {
        name: _plain(value)
        for name, value in sorted(vars(options).items())
        if name not in without_effect and value not in (None, False, [])
    }
    return {"command": options.command, "version": __version__, "options": kept, **facts}


def languages_of(sentences: Iterable[Sentence]) -> dict[str, float]:
    """Return the likely languages of the first sentences, each with the share of its commonest words."""
    return recognise(" ".join(sentence.forms) for sentence in islice(sentences, _LOOKED_AT)).likely()


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str) and ("/" in value or "\\" in value or value.endswith(PACKED)):
        path = Path(value)
        return path.stem if path.suffix in PACKED else path.name
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
