"""Provenance record of a model file."""

import argparse
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from qsproj import __version__
from qsproj.corpus.files import PACKED
from qsproj.corpus.language.recognition import recognise
from qsproj.corpus.sentence import Sentence

# Options without effect on the model in any command, beside outputs; and what a command adds to them.
_WITHOUT_EFFECT = {"jobs", "backend", "scheduler", "checkpoint", "resume", "work", "clean", "verbose"}
_WITHOUT_EFFECT |= {"suggest_sentences", "weights", "module", "own_parser", "unread", "command"}
# Number of sentences used to identify the language.
_LOOKED_AT = 1000


def made_by(options: argparse.Namespace, **facts: Any) -> dict[str, Any]:
    """Return the reproducible provenance of a model: command, version, options with an effect, ``facts``."""
    outputs = {action.dest for action in options.own_parser._actions if hasattr(action, "writes")}
    without_effect = _WITHOUT_EFFECT.union(getattr(options, "unread", ()), outputs)
    own = ((name, value) for name, value in sorted(vars(options).items()) if name not in without_effect)
    kept = {name: _plain(value) for name, value in own if value not in (None, False, [])}
    return {"command": options.command, "version": __version__, "options": kept, **facts}


def languages_of(sentences: Iterable[Sentence]) -> dict[str, float]:
    return recognise(" ".join(sentence.forms) for sentence in islice(sentences, _LOOKED_AT)).likely()


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str) and ("/" in value or "\\" in value or value.endswith(PACKED)):
        path = Path(value)
        return path.stem if path.suffix in PACKED else path.name
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
