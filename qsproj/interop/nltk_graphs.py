"""Conversion of sentences and pairs to and from nltk."""

from typing import TYPE_CHECKING, Any, Protocol, overload

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.messages import described
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.errors import UsageError, WrongTypeError
from qsproj.interop.exchange import package

if TYPE_CHECKING:
    from nltk.parse import DependencyGraph
    from nltk.translate import AlignedSent

# Column -> key of a node in nltk.
_NODE_KEYS = {"lemmas": "lemma", "upos": "ctag", "xpos": "tag", "feats": "feats", "deprels": "rel"}


# The types of nltk, which has no type annotations.
class _Graph(Protocol):
    nodes: Any


class _Aligned(Protocol):
    words: Any
    mots: Any
    alignment: Any


@overload
def to_nltk(sentence_or_pair: Sentence) -> "DependencyGraph": ...


@overload
def to_nltk(sentence_or_pair: SentencePair) -> "AlignedSent": ...


def to_nltk(sentence_or_pair: Sentence | SentencePair) -> "DependencyGraph | AlignedSent":
    """Convert a sentence to nltk's ``DependencyGraph``, or an aligned pair to its ``AlignedSent``.

    ``sentence_or_pair``: A sentence keeps forms, lemmas, UPOS (``ctag``), XPOS (``tag``), FEATS, heads and
    relations; it loses its ID, comments, multiword tokens, empty nodes, DEPS and MISC. A pair keeps words and
    links, the target's as ``words`` and the source's as ``mots``, as nltk documents them; it loses trees,
    weights, and the distinction of sure and possible links.

    Raises UsageError for other types, or when nltk cannot be imported.

    Examples
    --------
    >>> sentence = qsproj.Sentence.from_words(["Dogs", "bark"], heads=[2, 0], deprels=["nsubj", "root"])
    >>> qsproj.to_nltk(sentence).root["word"]
    'bark'
    """
    if isinstance(sentence_or_pair, SentencePair):
        pair, translate = sentence_or_pair, package("nltk.translate")
        links = ((target - 1, source - 1) for source, target in pair.alignment.links.tolist())
        words = list(pair.target.forms), list(pair.source.forms)
        return translate.AlignedSent(*words, translate.Alignment(links))
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
    """Convert nltk's ``DependencyGraph`` to a sentence, or its ``AlignedSent`` to an aligned pair.

    Inverts :func:`to_nltk`. Unknown values in a graph may be None or empty.

    ``graph_or_pair``: An ``AlignedSent`` has ``mots`` as source, ``words`` as target, and only sure links.

    Raises UsageError for other types, or when words, heads or links do not form a valid sentence or pair.

    Examples
    --------
    >>> from nltk.translate import AlignedSent, Alignment
    >>> pair = qsproj.from_nltk(AlignedSent(["das", "Haus"], ["the", "house"], Alignment([(0, 0), (1, 1)])))
    >>> pair.source.forms, pair.alignment.links.tolist()
    (('the', 'house'), [[1, 1], [2, 2]])
    """
    if isinstance(graph_or_pair, package("nltk.parse").DependencyGraph):
        nodes = [graph_or_pair.nodes[address] for address in sorted(graph_or_pair.nodes) if address != ROOT]
        if not nodes or [node["address"] for node in nodes] != list(range(1, len(nodes) + 1)):
            raise UsageError("found a graph whose words are not 1, 2, ..., expected those of a sentence")
        columns: Any = {column: [node[key] or None for node in nodes] for column, key in _NODE_KEYS.items()}
        forms, heads = ([node[key] for node in nodes] for key in ("word", "head"))
        return Sentence.from_words(forms, heads=heads, **columns)
    if isinstance(graph_or_pair, package("nltk.translate").AlignedSent):
        source, target = Sentence.from_words(graph_or_pair.mots), Sentence.from_words(graph_or_pair.words)
        # A link of nltk may have a third element, and None for an unaligned word.
        links = [(link[1] + 1, link[0] + 1) for link in graph_or_pair.alignment if link[1] is not None]
        return SentencePair(source, target, make_alignment(len(source), len(target), links))
    raise WrongTypeError(f"found {described(graph_or_pair)}, expected nltk's DependencyGraph or AlignedSent")
