"""The parsers of both sides: their scores of trees, and training and storage of the target's.

A first-order parser scores arcs. A second-order parser adds its factors (GRAND, CHILDSEQ and VALENCE, as
trained), which become part of the pair's graph. A parser is overconfident on its own training trees, so that
joint weights would learn nothing: each tree is scored by a parser that was not trained on it.
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Heads, Mask, Rng, Scores
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import DataError, SentenceError, check_name
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import cross_fitted_parsers, train_arc_parser
from qsproj.models.checkpoint import Checkpoint, checksum
from qsproj.models.constraints import candidate_arcs
from qsproj.models.graph.graph_factors import FamilyFactors
from qsproj.models.graph.graph_parser import GraphParser, train_graph_parser
from qsproj.models.joint.joint_options import MIN_PROBABILITY, SOURCE_TREES, BiparseOptions
from qsproj.models.joint.joint_structure import Side, free_side, kept_arcs
from qsproj.models.joint.tag_choices import GIVEN, TagChoices, TaggedArcs, TargetTags, tagged_arcs
from qsproj.models.packing import nested, unnested
from qsproj.models.parser import Parser
from qsproj.models.schema import Arrays
from qsproj.models.storage import kind_of, load_model, model_from, reporting_damage
from qsproj.models.tree_decoder import TreeDecoder, arcs_in, reachable
from qsproj.progress import notice, track
from qsproj.training.cross_fitting import in_order

TreeParser = ArcParser | GraphParser
# Scores of the factors of each second-order family, float64[F], natural log.
FamilyScores = tuple[Floats, ...]
FOLDS = 5
STAGE = "target"


def is_tree_parser(model: object) -> TypeGuard[TreeParser]:
    return isinstance(model, ArcParser | GraphParser)


def load_tree_parser(path: str) -> TreeParser:
    model = load_model(path)
    parser = model.base if isinstance(model, Parser) and model.retagging() is not None else model
    if not is_tree_parser(parser):
        what = "a model of kind" if parser is model else "a model with a parser of kind"
        found = f"{what} {kind_of(parser)}"
        expected = (
            "a parser of order 1 or 2, trained without --labels joint, --objective hidden and --enhanced"
        )
        raise DataError(path, None, found=found, expected=expected, remedy="train one: qsproj train")
    return parser


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TreeScores:
    """The scores of the trees of a sentence."""

    marginals: Scores  # float64[n+1, n+1]: probability of each arc by the first order, for pruning
    kept: Mask  # bool[n+1, n+1]: the arcs left
    links: Scores  # float64[n+1, n+1]: arc scores beside the factors, natural log
    families: tuple[FamilyFactors, ...] = ()  # of the second order
    factors: FamilyScores = ()  # float64[F] for each family
    tagged: TaggedArcs | None = None  # arcs under other tags

    def side(self, first_variable: int, trees: TreeDecoder) -> Side:
        return free_side(self.marginals, self.kept, first_variable, trees, families=self.families)


def tree_scores(
    parser: TreeParser,
    sentence: Sentence,
    *,
    required: Heads | None = None,
    least_probability: float = MIN_PROBABILITY,
    choices: TagChoices | None = None,
) -> TreeScores:
    """Return a parser's scores for a sentence; a tree ``required`` int32[n+1] is not pruned away."""
    if choices is not None:
        found = tree_scores(parser, sentence, required=required, least_probability=least_probability)
        scorer = first_order(parser).scorer
        if isinstance(parser, GraphParser) and found.families:
            scorer = replace(scorer, weights=parser.links.weights)
        return replace(found, tagged=tagged_arcs(scorer, sentence, choices, found.kept))

    def pruned(scores: Scores, inference: TreeDecoder) -> TreeScores:
        marginals = inference.infer(scores)[1]
        trees = [inference.best(marginals), *([] if required is None else [required])]
        kept = kept_arcs(marginals, *trees, least_probability=least_probability)
        return TreeScores(marginals=marginals, kept=kept, links=scores)

    if isinstance(parser, ArcParser):
        return pruned(parser.marked_scores(sentence), parser.inference)
    base, options = parser.base, parser.options
    encoded = base.encode(sentence)
    features = base.scorer.features(encoded)
    scores = base.scorer.scores(features)
    marginals = base.inference.infer(scores)[1]
    kept = candidate_arcs(marginals, base.inference, threshold=options.threshold)
    if required is not None:
        kept |= arcs_in(required)
    graph = options.layout(kept, base.inference)
    if graph.n_factors > options.max_factors:
        return pruned(scores, base.inference)
    links = parser.links.scores(features)
    kept = graph.links >= 0
    families = tuple(family.numbered_from(0) for family in graph.families)
    factors = tuple(parser.factors.scores(parser.factors.features(encoded, graph.families)))
    return TreeScores(marginals=marginals, kept=kept, links=links, families=families, factors=factors)


def first_order(parser: TreeParser) -> ArcParser:
    return parser if isinstance(parser, ArcParser) else parser.base


def monolingual_heads(parser: TreeParser, sentence: Sentence) -> Heads:
    if isinstance(parser, GraphParser):
        believed = parser.arc_beliefs(sentence)
        if believed.order == 2:
            return parser.inference.most_right(believed.probabilities)
        parser = parser.base
    return parser.heads(parser.marked_scores(sentence))


def relation_chances(
    parser: TreeParser, sentence: Sentence, heads: Heads, *, names: Sequence[str], given: Sequence[str] | None
) -> Scores:
    """Return the probability of each relation in ``names`` for each word of a tree int32[m+1]: [m+1, R]."""
    labeller = first_order(parser).labeller
    assert labeller is not None  # checked by the callers
    chances = np.zeros((len(heads), len(names)))
    numbers = {name: number for number, name in enumerate(names)}
    shared = [(number, numbers[name]) for number, name in enumerate(labeller.relations) if name in numbers]
    columns, places = np.array(shared, dtype=np.int64).reshape(-1, 2).T
    chances[:, places] = labeller.chances(labeller.encode(sentence), heads)[:, columns]
    for word, relation in enumerate(given or (), start=1):
        if relation != UNSPECIFIED:
            chances[word] = np.arange(len(names)) == numbers.get(relation, -1)
    return chances


def given_source_heads(source_tree: str, parser: TreeParser, sentence: Sentence) -> Heads | None:
    """Return the source tree to condition on; None if it is inferred."""
    check_name("source tree", source_tree, SOURCE_TREES)
    if source_tree == "joint":
        return None
    if source_tree == "best":
        return monolingual_heads(parser, sentence)
    missing = np.flatnonzero(sentence.heads[1:] < 0)
    if missing.size:
        name = sentence.sent_id or "(without sent_id)"
        found = f"no head at word {missing[0] + 1} of source sentence {name}"
        remedy = "parse the source first, or choose --source-tree joint or best"
        raise SentenceError(found=found, expected="a whole tree", remedy=remedy, word=int(missing[0]) + 1)
    return sentence.heads


def kept_stages(
    checkpoint: Checkpoint,
    pairs: Sequence[SentencePair],
    parsers: Sequence[TreeParser],
    *,
    rng: Rng,
    options: BiparseOptions,
) -> Checkpoint:
    """Return the checkpoint of a training run; its fingerprint covers all inputs but the number of epochs."""
    crc = 0
    for pair in pairs:
        for one in (pair.source, pair.target):
            columns = (one.forms, one.lemmas, one.upos, one.xpos, one.feats, one.deprels)
            crc = checksum((one.heads,), zlib.crc32(repr(columns).encode(), crc))
        for links in (pair.alignment, pair.hand):
            if links is None:
                crc = zlib.crc32(b"none", crc)
            else:
                weights = np.zeros(0) if links.weights is None else links.weights
                crc = checksum((links.links, links.sure, weights), crc)
    for parser in parsers:
        header, arrays = parser.to_archive()
        crc = zlib.crc32(json.dumps(header).encode(), crc)
        crc = checksum((arrays[name] for name in sorted(arrays)), crc)
    settings = replace(options, training=replace(options.training, epochs=1))
    return checkpoint.of(f"{crc:08x} {len(parsers)} {settings} {rng.bit_generator.state}")


def packed(scores: Sequence[TreeScores]) -> dict[str, NDArray[Any]]:
    tagged = [own.tagged for own in scores]
    there = [own for own in tagged if own is not None]
    lists: dict[str, list[NDArray[Any]]] = {
        "marginals": [own.marginals for own in scores],
        "kept": [own.kept.astype(np.uint8) for own in scores],
        "links": [own.links for own in scores],
        "factors": [values for own in scores for values in own.factors],
        **{name: [getattr(own, name) for own in there] for name in ("heads", "dependents")},
        "tag_scores": [own.scores for own in there],
    }
    arrays: dict[str, NDArray[Any]] = {
        # None for the first order.
        "factor_counts": np.array([len(own.factors) for own in scores], dtype=np.int64),
        "tagged": np.array([own is not None for own in tagged], dtype=np.uint8),
    }
    for name, parts in lists.items():
        arrays[name] = np.concatenate([part.reshape(-1) for part in parts]) if parts else np.zeros(0)
        arrays[f"{name}_shapes"] = np.array([part.shape for part in parts], dtype=np.int64)
    return arrays


def _parts(arrays: Arrays, name: str) -> list[NDArray[Any]]:
    shapes = arrays[f"{name}_shapes"]
    ends = np.cumsum([np.prod(shape) for shape in shapes], dtype=np.int64)[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(arrays[name], ends), shapes, strict=False)]


def unpacked(arrays: Arrays, parser: TreeParser) -> list[TreeScores]:
    tables = [_parts(arrays, name) for name in ("marginals", "kept", "links")]
    factors = iter(_parts(arrays, "factors"))
    of_tags = zip(*(_parts(arrays, name) for name in ("heads", "dependents", "tag_scores")), strict=True)
    rows = zip(*tables, arrays["factor_counts"].tolist(), arrays["tagged"].tolist(), strict=True)
    result = []
    for marginals, kept, links, n_families, has_tags in rows:
        own, values = kept.astype(np.bool_), tuple(next(factors) for _ in range(n_families))
        families: tuple[FamilyFactors, ...] = ()
        if values:
            if not isinstance(parser, GraphParser):
                raise ValueError("factors of the second order, and a parser of the first")
            graph = parser.options.layout(own, parser.base.inference)
            families = tuple(family.numbered_from(0) for family in graph.families)
        if [len(family.scored) for family in families] != [len(one) for one in values]:
            raise ValueError("the factors of a sentence are not those of its arcs")
        tagged = TaggedArcs(*next(of_tags)) if has_tags else None
        arcs = {"marginals": marginals, "kept": own, "links": links}
        result.append(TreeScores(**arcs, families=families, factors=values, tagged=tagged))
    return result


@dataclass(frozen=True, slots=True, eq=False)
class TrainedTarget:
    """The parser of the target side, and scores of its training trees by parsers not trained on them."""

    parser: TreeParser
    scores: list[TreeScores]
    unseen: bool = False


def train_target(
    pairs: Sequence[SentencePair],
    *,
    rng: Rng,
    options: BiparseOptions,
    stages: Checkpoint | None = None,
    tags: TargetTags = GIVEN,
) -> TrainedTarget:
    """Train the target parser, and score each tree by one not trained on it; ``stages`` stores both."""
    parser: TreeParser
    if stages is not None and (found := stages.read(STAGE, rng)) is not None:
        header, arrays = found
        with reporting_damage(stages.path(STAGE)):
            own = unnested("parser_", arrays)
            parser = cast(TreeParser, model_from(header["kind"], header["parser"], own))
            kept = TrainedTarget(parser, unpacked(unnested("scores_", arrays), parser))
        notice(f"{stages.path(STAGE)}: using the target parser from this file")
        return kept
    training, targets = options.target_training, [pair.target for pair in pairs]
    again, choices = tags.true or (), tags.choices or [None] * len(targets)
    every = [*targets, *again]
    if options.order == 2:
        parser = train_graph_parser(every, rng=rng, options=training)[0]
    else:
        parser = train_arc_parser(every, rng=rng, options=training)[0]
    shape = training.with_shape(first_order(parser).scorer.template_set, parser.inference)

    def train(rest: list[Sentence]) -> TreeParser:
        if isinstance(parser, GraphParser):
            graph = parser.options
            return train_graph_parser(rest, rng=rng, options=shape, graph_options=graph, label_epochs=0)[0]
        return train_arc_parser(rest, rng=rng, options=shape, label_epochs=0)[0]

    others = cross_fitted_parsers(train, targets, folds=FOLDS, rng=rng, again=again)
    score = partial(_with_own_tree, least_probability=options.joint.least_probability)
    scored = ((i, score(other, targets[i], choices[i])) for i, other in others)
    scores = in_order(track(scored, "training on other folds", total=len(targets), unit="sentence"))
    if stages is not None:
        header, of_parser = parser.to_archive()
        arrays = nested("parser_", of_parser) | nested("scores_", packed(scores))
        stages.write(STAGE, {"kind": kind_of(parser), "parser": header}, arrays, rng)
    return TrainedTarget(parser, scores)


def given_target(
    pairs: Sequence[SentencePair], parser: TreeParser, *, least_probability: float, tags: TargetTags = GIVEN
) -> TrainedTarget:
    score = partial(_with_own_tree, parser, least_probability=least_probability)
    rows = zip(pairs, tags.choices or [None] * len(pairs), strict=True)
    return TrainedTarget(parser, [score(pair.target, own) for pair, own in rows], unseen=True)


def _with_own_tree(
    parser: TreeParser, target: Sentence, choices: TagChoices | None, *, least_probability: float
) -> TreeScores:
    tree = reachable(target.heads, parser.inference)
    return tree_scores(parser, target, required=tree, least_probability=least_probability, choices=choices)
