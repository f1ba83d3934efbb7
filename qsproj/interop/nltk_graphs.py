"""Sentences and pairs to and from nltk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, overload

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns, with_heads
from qsproj.corpus.messages import described, words_of
from qsproj.corpus.sentence import Sentence, SentencePair, checked_heads, make_alignment
from qsproj.errors import UsageError, WrongTypeError
from qsproj.interop.exchange import package

if TYPE_CHECKING:
    from nltk.parse import DependencyGraph
    from nltk.translate import AlignedSent

# Our column, and what a node of nltk calls it.
_NODE_KEYS = {"lemmas": "lemma", "upos": "ctag", "xpos": "tag", "feats": "feats", "deprels": "rel"}


class _Graph(Protocol):
    """A ``DependencyGraph``; nltk itself tells no types."""

    nodes: Any


class _Aligned(Protocol):
    """An ``AlignedSent``."""

    words: Any
    mots: Any
    alignment: Any


@overload
def to_nltk(sentence_or_pair: Sentence) -> DependencyGraph: ...


@overload
def to_nltk(sentence_or_pair: SentencePair) -> AlignedSent: ...


def to_nltk(sentence_or_pair: Sentence | SentencePair) -> DependencyGraph | AlignedSent:
    """Turn a sentence into nltk's ``DependencyGraph``, an aligned pair into its ``AlignedSent``.

    ``sentence_or_pair``: Of a sentence, forms, lemmas, UPOS (``ctag``), XPOS (``tag``), FEATS, heads and
    relations go over; lost are its name, comments, multiword tokens, empty nodes, DEPS and MISC. Of a pair,
    words and links go over, the target's as ``words`` and the source's as ``mots``, as nltk documents them;
    lost are trees, weights, and which links are only possible.

    Raises UsageError when it is neither, or nltk cannot be imported.

    Examples
    --------
    >>> import qsproj
    >>> sentence = qsproj.Sentence.from_words(["Dogs", "bark"], heads=[2, 0], deprels=["nsubj", "root"])
    >>> qsproj.to_nltk(sentence).root["word"]
    'bark'
    """
    if isinstance(sentence_or_pair, SentencePair):
        translate = package("nltk.translate")
        links = translate.Alignment(
            (target - 1, source - 1) for source, target in sentence_or_pair.alignment.links.tolist()
        )
        return translate.AlignedSent(
            list(sentence_or_pair.target.forms), list(sentence_or_pair.source.forms), links
        )
    if isinstance(sentence_or_pair, Sentence):
        graph: DependencyGraph = package("nltk.parse").DependencyGraph()
        columns = {key: getattr(sentence_or_pair, column) for column, key in _NODE_KEYS.items()}
        for word, form in enumerate(sentence_or_pair.forms, start=1):
            cells = {key: values[word - 1] for key, values in columns.items()}
            head = int(sentence_or_pair.heads[word])
            graph.nodes[word].update(address=word, word=form, head=None if head == NO_HEAD else head, **cells)
            if head != NO_HEAD:
                graph.nodes[head]["deps"][cells["rel"]].append(word)
            if head == ROOT and graph.root is None:
                graph.root = graph.nodes[word]
        return graph
    raise WrongTypeError(f"found {described(sentence_or_pair)}, expected a Sentence or a SentencePair")


@overload
def from_nltk(graph_or_pair: _Graph) -> Sentence: ...


@overload
def from_nltk(graph_or_pair: _Aligned) -> SentencePair: ...


def from_nltk(graph_or_pair: _Graph | _Aligned) -> Sentence | SentencePair:
    """Turn nltk's ``DependencyGraph`` into a sentence, its ``AlignedSent`` into an aligned pair.

    What :func:`to_nltk` has put there comes back the same. What is unknown in a graph may be None or empty.

    ``graph_or_pair``: Of the latter, ``mots`` are the source, ``words`` the target; all links are sure.

    Raises UsageError when it is neither, or words, heads or links are not those of a sentence or a pair.

    Examples
    --------
    >>> import qsproj
    >>> from nltk.translate import AlignedSent, Alignment
    >>> pair = qsproj.from_nltk(AlignedSent(["das", "Haus"], ["the", "house"], Alignment([(0, 0), (1, 1)])))
    >>> pair.source.forms, pair.alignment.links.tolist()
    (('the', 'house'), [[1, 1], [2, 2]])
    """
    if isinstance(graph_or_pair, package("nltk.parse").DependencyGraph):
        nodes = [graph_or_pair.nodes[address] for address in sorted(graph_or_pair.nodes) if address != ROOT]
        if not nodes or [node["address"] for node in nodes] != list(range(1, len(nodes) + 1)):
            raise UsageError("found a graph whose words are not 1, 2, ..., expected those of a sentence")
        forms = words_of([node["word"] for node in nodes], what="the graph")
        columns = {
            column: words_of([node[key] or UNSPECIFIED for node in nodes], what=key)
            for column, key in _NODE_KEYS.items()
        }
        heads = checked_heads([node["head"] for node in nodes], len(nodes))
        return with_columns(with_heads(Sentence.from_words(forms), heads), **columns)
    if isinstance(graph_or_pair, package("nltk.translate").AlignedSent):
        source, target = Sentence.from_words(graph_or_pair.mots), Sentence.from_words(graph_or_pair.words)
        # A link of nltk may have a third element, and None for a word that is linked to nothing.
        links = [(link[1] + 1, link[0] + 1) for link in graph_or_pair.alignment if link[1] is not None]
        return SentencePair(source, target, make_alignment(len(source), len(target), links))
    raise WrongTypeError(f"found {described(graph_or_pair)}, expected nltk's DependencyGraph or AlignedSent")
