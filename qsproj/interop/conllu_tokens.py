"""Sentences to and from token lists of the ``conllu`` package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qsproj.corpus.messages import described
from qsproj.corpus.sentence import Sentence
from qsproj.errors import WrongTypeError
from qsproj.interop.exchange import package

if TYPE_CHECKING:
    from conllu import TokenList

# Fields of a token.
_FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


def to_token_list(sentence: Sentence) -> TokenList:
    """Convert a sentence to a ``TokenList`` of the ``conllu`` package, with comments, ranges and empty nodes.

    Lost, because the package cannot represent them: line ends, comments without a value, all but the last
    comment of the same key, and in FEATS and MISC the equals sign of an item without value.

    Raises UsageError when the argument is not a sentence, or ``conllu`` is not installed.

    Examples
    --------
    >>> import qsproj
    >>> sentence = qsproj.Sentence.from_words(["Dogs", "bark"], heads=[2, 0], sent_id="s1")
    >>> tokens = qsproj.to_token_list(sentence)
    >>> tokens.metadata["sent_id"], tokens[0]["head"]
    ('s1', 2)
    """
    if not isinstance(sentence, Sentence):
        raise WrongTypeError(f"found {described(sentence)}, expected a Sentence")
    return package("conllu").parse(sentence.to_conllu())[0]


def from_token_list(tokens: TokenList) -> Sentence:
    """Convert a ``TokenList`` of the ``conllu`` package to a sentence, without loss.

    Raises UsageError when the argument is not a token list, or ``conllu`` is not installed; DataError when it
    is not valid CoNLL-U: IDs out of order, heads that do not form a tree.

    Examples
    --------
    >>> import conllu, qsproj
    >>> tokens = conllu.TokenList([{"id": 1, "form": "Hush", "head": 0, "deprel": "root"}])
    >>> qsproj.from_token_list(tokens).deprels
    ('root',)
    """
    conllu = package("conllu")
    if not isinstance(tokens, conllu.TokenList):
        raise WrongTypeError(f"found {described(tokens)}, expected a TokenList of the package conllu")
    rows = [{name: token.get(name) for name in _FIELDS} for token in tokens]
    return Sentence.from_conllu(conllu.TokenList(rows, tokens.metadata).serialize())
