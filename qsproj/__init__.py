"""qsproj: project, adapt and jointly parse dependency treebanks across languages and styles.

Read sentences or build them from words; train, save and load models; parse. Inference over trees is in
:mod:`qsproj.trees`. Names are imported at first use, so that ``qsproj --help`` does not wait for numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qsproj.api.bitext import align, cotrain, project, project_tags, train_biparser
    from qsproj.api.bootstrapping import bootstrap
    from qsproj.api.text import read_bitext, read_text, tokenize
    from qsproj.api.training import adapt, bundle, train_converter, train_parser, train_tagger
    from qsproj.api.trees import convert, detect_style, draw, evaluate, load_model, search, suggest
    from qsproj.corpus.conllu import read_conllu, write_conllu
    from qsproj.corpus.document import Document
    from qsproj.corpus.formats import read_alignments
    from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
    from qsproj.corpus.token import EmptyNode, MultiwordToken, Token
    from qsproj.errors import QsprojError
    from qsproj.interop.exchange import from_token_list, from_udapi, to_token_list, to_udapi
    from qsproj.interop.nltk_graphs import from_nltk, to_nltk
    from qsproj.interop.pandas_frames import from_pandas, to_pandas
    from qsproj.interop.spacy_docs import from_spacy, to_spacy
    from qsproj.interop.stanza_dicts import from_stanza, to_stanza
    from qsproj.models.joint.joint_options import BiparseOptions
    from qsproj.models.parser import complete
    from qsproj.progress import progress_bars

__version__ = "0.9.0"
__all__ = ["Alignment", "BiparseOptions", "Document", "EmptyNode", "MultiwordToken", "QsprojError"]
__all__ += ["Sentence", "SentencePair", "Token", "__version__", "adapt", "align", "bootstrap", "bundle"]
__all__ += ["complete", "convert", "cotrain", "detect_style", "draw", "evaluate", "from_nltk", "from_pandas"]
__all__ += ["from_spacy", "from_stanza", "from_token_list", "from_udapi", "load_model", "progress_bars"]
__all__ += ["project", "project_tags", "read_alignments", "read_bitext", "read_conllu", "read_text", "search"]
__all__ += ["suggest", "to_nltk", "to_pandas", "to_spacy", "to_stanza", "to_token_list", "to_udapi"]
__all__ += ["tokenize", "train_biparser", "train_converter", "train_parser", "train_tagger", "write_conllu"]

_HOMES = {
    name: f"qsproj.{module}"
    for module, names in (
        ("api.bitext", "align cotrain project project_tags train_biparser"),
        ("api.bootstrapping", "bootstrap"),
        ("api.text", "read_bitext read_text tokenize"),
        ("api.training", "adapt bundle train_converter train_parser train_tagger"),
        ("api.trees", "convert detect_style draw evaluate load_model search suggest"),
        ("corpus.conllu", "read_conllu write_conllu"),
        ("corpus.document", "Document"),
        ("corpus.formats", "read_alignments"),
        ("corpus.sentence", "Alignment Sentence SentencePair"),
        ("corpus.token", "EmptyNode MultiwordToken Token"),
        ("errors", "QsprojError"),
        ("interop.exchange", "from_token_list from_udapi to_token_list to_udapi"),
        ("interop.nltk_graphs", "from_nltk to_nltk"),
        ("interop.pandas_frames", "from_pandas to_pandas"),
        ("interop.spacy_docs", "from_spacy to_spacy"),
        ("interop.stanza_dicts", "from_stanza to_stanza"),
        ("models.joint.joint_options", "BiparseOptions"),
        ("models.parser", "complete"),
        ("progress", "progress_bars"),
    )
    for name in names.split()
}


if not TYPE_CHECKING:  # Type checkers see only the names above.

    def __getattr__(name: str) -> object:
        """Import a public name from its module at first access."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
