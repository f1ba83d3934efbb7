"""qsproj: project, adapt and jointly parse dependency treebanks across languages and styles.

The names below are imported at first use: ``qsproj --help`` should not wait for numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qsproj.corpus.alignments import read_alignments
    from qsproj.corpus.conllu import read_conllu, write_conllu
    from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
    from qsproj.models.storage import load_model

__version__ = "0.1.0"
__all__ = [
    "Alignment",
    "Sentence",
    "SentencePair",
    "__version__",
    "load_model",
    "read_alignments",
    "read_conllu",
    "write_conllu",
]

_HOMES = {
    "Alignment": "qsproj.corpus.sentence",
    "Sentence": "qsproj.corpus.sentence",
    "SentencePair": "qsproj.corpus.sentence",
    "load_model": "qsproj.models.storage",
    "read_alignments": "qsproj.corpus.alignments",
    "read_conllu": "qsproj.corpus.conllu",
    "write_conllu": "qsproj.corpus.conllu",
}


def __getattr__(name: str) -> object:
    """Import a public name from its home when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Name what can be asked for, imported or not."""
    return sorted({*globals(), *__all__})
