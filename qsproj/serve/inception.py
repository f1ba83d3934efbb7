"""INCEpTION's external recommender protocol (its developer guide): JSON with a CAS as XMI in and out."""

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qsproj.conventions import MAX_WORDS, NO_HEAD
from qsproj.corpus.cells import UNIVERSAL_TAGS, UNSPECIFIED
from qsproj.corpus.editing import ARC_PROBABILITY, TAG_PROBABILITY, misc_values
from qsproj.corpus.sentence import Sentence
from qsproj.errors import QsprojError, UsageError
from qsproj.models.parser import Parser
from qsproj.serve import udpipe
from qsproj.serve.compute import ComputePool
from qsproj.serve.requests import Limits, RequestError, body_of, json_object
from qsproj.serve.review.inference import FixedCells, infer_rest

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
SENTENCE, TOKEN = f"{_DKPRO}.segmentation.type.Sentence", f"{_DKPRO}.segmentation.type.Token"
POS, DEPENDENCY = f"{_DKPRO}.lexmorph.type.pos.POS", f"{_DKPRO}.syntax.type.dependency.Dependency"
TAG_FEATURES = ("coarseValue", "PosValue")  # features that may hold a UD tag
# INCEpTION treats annotations with this flag as suggestions, all others as existing annotations.
IS_PREDICTED = "inception_internal_predicted"
_RELATION, _BASIC = "DependencyType", "basic"
_KNOWN = f"{DEPENDENCY} ({_RELATION}) or {POS} ({', '.join(TAG_FEATURES)})"
_OTHERWISE = "found a body that is no JSON object, expected metadata, document, typeSystem"
PATH = "/inception"
# The text is Unicode already, whatever encoding its XML declaration names.
_DECLARATION = re.compile(r"\A[\s\ufeff]*<\?xml[^>]*\?>")

Annotated = tuple[Sequence[Any], Sentence]  # n annotations of cassis, and their words with annotated tags


class Document:
    """A CAS from untrusted XML, to which suggestions are added. Mutable; final."""

    def __init__(self, xmi: str, type_system: str) -> None:
        import cassis

        types = _read("typeSystem", cassis.load_typesystem, type_system)
        self._cas = _read("document.xmi", cassis.load_cas_from_xmi, xmi, typesystem=types)

    def sentences(self) -> Iterator[Annotated]:
        for sentence in _checked(self._cas.select, SENTENCE):
            if tokens := list(_checked(self._cas.select_covered, TOKEN, sentence)):
                words = [_checked(token.get_covered_text) for token in tokens]
                yield tokens, Sentence.from_words(words, upos=map(_tag_of, tokens))

    def arcs(self) -> dict[int, tuple[Any, str | None]]:
        if not self._cas.typesystem.contains_type(DEPENDENCY):
            return {}
        return {
            id(one.Dependent): (one.Governor, getattr(one, _RELATION, None))
            for one in _checked(self._cas.select, DEPENDENCY)
            if not getattr(one, IS_PREDICTED, None) and getattr(one, "flavor", None) in (None, _BASIC)
        }

    def suggest(self, token: Any, layer: str, feature: str, label: str, **others: Any) -> None:
        """Add a suggestion at a token: a label, and those of the other features that the layer has."""
        kind = _checked(self._cas.typesystem.get_type, layer)
        known = {one.name for one in kind.all_features}
        for name in (feature, IS_PREDICTED):
            if name not in known:
                raise UsageError(f"found no feature {name!r} of {layer} in typeSystem, expected one")
        values = {name: value for name, value in others.items() if name in known}
        marked = {feature: label, IS_PREDICTED: True}
        self._cas.add(kind(begin=token.begin, end=token.end, **values, **marked))

    def xmi(self) -> str:
        return str(_checked(self._cas.to_xmi))


def _read(name: str, load: Any, text: str, **options: Any) -> Any:
    """Load untrusted XML; a DTD is refused, so no entities are expanded and no files fetched."""
    bare = _DECLARATION.sub("", text, count=1)
    if "<!DOCTYPE" in bare:
        raise UsageError(f"found a document type (<!DOCTYPE) in {name}, expected none")
    return _checked(load, bare, name=name, **options)


def _checked(work: Any, *arguments: Any, name: str = "document.xmi", **options: Any) -> Any:
    """Call cassis, which raises errors of any type for invalid input; its warnings add nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work(*arguments, **options)
        except QsprojError:
            raise
        except Exception as error:
            found = f"{name} that cannot be read ({type(error).__name__})"
            types = "its types in typeSystem, with sentences and tokens of DKPro Core"
            raise UsageError(f"found {found}, expected a UIMA CAS as XMI, {types}") from None


def _tag_of(token: Any) -> str | None:
    annotated = getattr(token, "pos", None)
    values = (getattr(annotated, feature, None) for feature in TAG_FEATURES)
    return next((value for value in values if value in UNIVERSAL_TAGS), None)


@dataclass(frozen=True, slots=True)
class SuggestionRequest:
    """A request of INCEpTION to a recommender: the document, and the layer and feature to suggest."""

    model: str
    layer: str
    feature: str
    xmi: str
    type_system: str


def suggest(models: udpipe.ServedModels, asked: SuggestionRequest) -> udpipe.Processed:
    model = udpipe.chosen_model(models, asked.model)
    check_layer(asked.layer, asked.feature)
    document = Document(asked.xmi, asked.type_system)
    read = list(document.sentences())
    if asked.layer == POS:
        _suggest_tags(document, read, model, asked.feature)
    else:
        _suggest_arcs(document, read, model)
    return udpipe.Processed(model.name, document.xmi(), len(read), sum(len(tokens) for tokens, _ in read))


def check_layer(layer: str, feature: str) -> None:
    if (layer, feature) != (DEPENDENCY, _RELATION) and (layer != POS or feature not in TAG_FEATURES):
        raise UsageError(f"found layer {layer!r}, feature {feature!r}, expected {_KNOWN}")


def _suggest_tags(document: Document, read: list[Annotated], model: udpipe.ServedModel, feature: str) -> None:
    if model.tagger is None:
        raise model.unable(udpipe.TAGGER)
    for tokens, sentence in read:
        tagged = model.tagger.tag(sentence, confidence=True)
        scores = _probabilities(tagged, TAG_PROBABILITY)
        for token, tag, score in zip(tokens, tagged.upos, scores, strict=True):
            document.suggest(token, POS, feature, tag, **{f"{feature}_score": score})


def _suggest_arcs(document: Document, read: list[Annotated], model: udpipe.ServedModel) -> None:
    """Suggest trees; the arc of a root is a loop on the word, as in DKPro Core."""
    if model.parser is None:
        raise model.unable(udpipe.PARSER)
    read = [one for one in read if len(one[1]) <= MAX_WORDS]
    arcs, sentences = document.arcs(), [sentence for _, sentence in read]
    trees = udpipe.parsed(model, model.parser, sentences, retag=False, confidence=True)
    for (tokens, sentence), tree in zip(read, trees, strict=True):
        found = _under(arcs, model.parser, tokens, sentence, tree)
        for token, head, relation, score in zip(tokens, *found, strict=True):
            governor = tokens[head - 1] if head > 0 else token
            arc = {"Governor": governor, "Dependent": token, "flavor": _BASIC}
            label = relation if relation != UNSPECIFIED else "root" if head == 0 else "dep"
            document.suggest(token, DEPENDENCY, _RELATION, label, **arc, DependencyType_score=score)


def _under(
    arcs: Mapping[int, tuple[Any, str | None]],
    parser: Parser,
    tokens: Sequence[Any],
    sentence: Sentence,
    tree: Sentence,
) -> tuple[Sequence[int], Sequence[str], Sequence[float]]:
    """Return heads, relations, probabilities, given the annotated arcs if these can form a tree."""
    numbers = {id(token): number for number, token in enumerate(tokens, start=1)}
    heads, relations = list[int](), list[str]()
    for token in tokens:
        governor, relation = arcs.get(id(token), (None, None))
        heads.append(0 if governor is token else numbers.get(id(governor), NO_HEAD))
        relations.append(relation if relation and heads[-1] != NO_HEAD else UNSPECIFIED)
    if max(heads) != NO_HEAD:
        tags = tuple(tag != UNSPECIFIED for tag in sentence.upos)
        try:
            rest = infer_rest(parser, tree, FixedCells(tuple(heads), tuple(relations), tree.upos, tags))
        except QsprojError:  # two roots, a cycle; a model that takes no constraints
            pass
        else:
            return rest.heads, rest.relations, rest.chances
    return tree.heads[1:].tolist(), tree.deprels, tuple(_probabilities(tree, ARC_PROBABILITY))


def _probabilities(sentence: Sentence, key: str) -> Iterator[float]:
    return (float(value or 0.0) for value in misc_values(sentence, key))


def inception_routes(models: udpipe.ServedModels, pool: ComputePool, limits: Limits) -> list[Route]:
    return [
        Route(f"{PATH}/{{model}}/predict", partial(_predict, pool, limits), methods=["POST"]),
        Route(f"{PATH}/{{model}}/train", partial(_train, models, limits), methods=["POST"]),
    ]


def work_on(models: udpipe.ServedModels, job: Any) -> udpipe.Processed:
    return suggest(models, job) if isinstance(job, SuggestionRequest) else udpipe.process(models, job)


async def _predict(pool: ComputePool, limits: Limits, request: Request) -> Response:
    if find_spec("cassis") is None:
        refusal = "this server cannot read CAS XMI; install it: pip install 'qsproj[inception]'"
        raise RequestError(501, refusal)
    body = await body_of(request, limits)
    content = json_object(body, _OTHERWISE)
    layer = _text(content, "metadata", "layer"), _text(content, "metadata", "feature")
    document = _text(content, "document", "xmi"), _text(content, "typeSystem")
    asked = SuggestionRequest(request.path_params["model"], *layer, *document)
    done = await udpipe.processed(asked, size=len(body), pool=pool, limits=limits, request=request)
    return Response(json.dumps({"document": done.result}, ensure_ascii=False), media_type="application/json")


async def _train(models: udpipe.ServedModels, limits: Limits, request: Request) -> Response:
    """Report success at once: a served model is not trained, and is always ready."""
    content = json_object(await body_of(request, limits), _OTHERWISE)
    udpipe.chosen_model(models, request.path_params["model"])
    check_layer(_text(content, "metadata", "layer"), _text(content, "metadata", "feature"))
    return Response(status_code=204)


def _text(content: Any, *names: str) -> str:
    for name in names:
        content = content.get(name) if isinstance(content, dict) else None
    if not isinstance(content, str):
        raise UsageError(f"found no string {'.'.join(names)!r} in the request, expected one")
    return content
