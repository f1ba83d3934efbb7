"""One request for suggestions: from what INCEpTION sent to what it is answered, without any of HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import ARC_PROBABILITY, TAG_PROBABILITY, misc_values
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.serve.inception.documents import DEPENDENCY, POS, TAG_FEATURES, AnnotatedSentence, Document
from qsproj.serve.udpipe.processing import parsed
from qsproj.serve.udpipe.served_models import PARSER, TAGGER, ServedModel, ServedModels, chosen_model

_RELATION = "DependencyType"
_KNOWN = f"{DEPENDENCY} ({_RELATION}) or {POS} ({', '.join(TAG_FEATURES)})"


@dataclass(frozen=True, slots=True)
class Asked:
    """What INCEpTION asks a recommender.

    Attributes
    ----------
    model : str
        The name of a model.
    layer, feature : str
        What is to be suggested.
    xmi, type_system : str
        The document, as XML.
    """

    model: str
    layer: str
    feature: str
    xmi: str
    type_system: str


@dataclass(frozen=True, slots=True)
class Suggested:
    """What it is answered.

    Attributes
    ----------
    model : str
        The name of the model that was used.
    xmi : str
        The document with suggestions.
    sentences, words : int
        How many there were.
    """

    model: str
    xmi: str
    sentences: int
    words: int


def suggest(models: ServedModels, asked: Asked) -> Suggested:
    """Suggest a tag or an arc for every word of a document.

    Raises QsprojError when the layer or its feature is another, the model cannot do it, or the document
    cannot be read.
    """
    model = chosen_model(models, asked.model)
    check_layer(asked.layer, asked.feature)
    document = Document(asked.xmi, asked.type_system)
    read = list(document.sentences())
    if asked.layer == POS:
        _suggest_tags(document, read, model, asked.feature)
    else:
        _suggest_arcs(document, read, model)
    return Suggested(model.name, document.xmi(), len(read), sum(len(one.tokens) for one in read))


def check_layer(layer: str, feature: str) -> None:
    """Raise UsageError when a feature of a layer is none that can be suggested."""
    if (layer, feature) != (DEPENDENCY, _RELATION) and (layer != POS or feature not in TAG_FEATURES):
        raise UsageError(f"found layer {layer!r}, feature {feature!r}, expected {_KNOWN}")


def _suggest_tags(
    document: Document, read: list[AnnotatedSentence], model: ServedModel, feature: str
) -> None:
    if model.tagger is None:
        raise model.unable(TAGGER)
    for one in read:
        tagged = model.tagger.tag(one.sentence, confidence=True)
        scores = _probabilities(tagged, TAG_PROBABILITY)
        for token, tag, score in zip(one.tokens, tagged.upos, scores, strict=True):
            document.suggest(token, POS, feature, tag, **{f"{feature}_score": score})


def _suggest_arcs(document: Document, read: list[AnnotatedSentence], model: ServedModel) -> None:
    """Suggest trees; the arc of a root leads from the word to itself, as in DKPro Core."""
    if model.parser is None:
        raise model.unable(PARSER)
    trees = parsed(model, model.parser, [one.sentence for one in read], retag=False, confidence=True)
    for one, tree in zip(read, trees, strict=True):
        heads, scores = tree.heads[1:].tolist(), _probabilities(tree, ARC_PROBABILITY)
        for token, head, relation, score in zip(one.tokens, heads, tree.deprels, scores, strict=True):
            document.suggest(
                token,
                DEPENDENCY,
                _RELATION,
                _label(head, relation),
                Governor=one.tokens[head - 1] if head > 0 else token,
                Dependent=token,
                flavor="basic",
                DependencyType_score=score,
            )


def _label(head: int, relation: str) -> str:
    """Return the relation of an arc; of a parser without relations, what a tree has at least."""
    if relation != UNSPECIFIED:
        return relation
    return "root" if head == 0 else "dep"


def _probabilities(sentence: Sentence, key: str) -> Iterator[float]:
    return (float(value or 0.0) for value in misc_values(sentence, key))
