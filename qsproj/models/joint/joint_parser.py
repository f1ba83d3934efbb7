"""The joint model: parses both sides of a sentence pair and aligns them, in one factor graph."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from qsproj.bp.run import Status, probability
from qsproj.conventions import MAX_WORDS, Heads, Rng, is_whole
from qsproj.corpus.pairs.aligned import paired
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, likely_links
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.joint import joint_graph, joint_trees
from qsproj.models.joint.joint_graph import JointBeliefs, JointWeights, PreparedPair
from qsproj.models.joint.joint_labeller import JointLabeller
from qsproj.models.joint.joint_options import LINK_FACTORS, SYNCH, JointOptions, JointTrainingOptions
from qsproj.models.joint.joint_structure import States, beyond_itg, known_states, observed_side
from qsproj.models.joint.joint_trees import TreeParser, TreeScores, first_order
from qsproj.models.joint.tag_choices import NEUTRAL, TagChoices, prepared_tags, tag_choices
from qsproj.models.packing import joined, unnested
from qsproj.models.parser import TrainingTree, Wrapper
from qsproj.models.schema import Archive, Arrays, checked, number, whole
from qsproj.models.storage import described, load_model_of, model_from
from qsproj.models.tagging.link_tagger import LinkTagger

RELATIONS, TAGS = "relations_", "tags_"  # prefixes of the arrays of labeller and tagger
# Kind of a side's parser by its order in the model file.
_KINDS = {1: "arc-parser", 2: "graph-parser"}
_SIDES = ("source", "target")


def _tag_scales(value: Any) -> None:
    if not isinstance(value, list) or len(value) != len(NEUTRAL):
        raise ValueError(f"is {value!r}, expected {len(NEUTRAL)} numbers")
    for scale in value:
        number()(scale)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParsedPair(SentencePair):
    """Two parsed sentences, with ``ArcProb=`` in MISC, and their likely links.

    ``status``: of belief propagation; None: no candidate link. ``alone``: both sides were parsed alone
    instead. ``without_itg``: ALIGNITG was left out, as too many words have candidate links.
    """

    status: Status | None
    alone: bool
    without_itg: bool = False


@dataclass(frozen=True, kw_only=True)
class JointParser(Wrapper[TreeParser]):
    """A trained joint model (thesis 4.7).

    Its parsers are trained monolingually; second-order factors of either side take part. ``training``: None
    where weights were not trained, or by an older version. ``labeller`` predicts target relations with those
    of the source as evidence; None: the target's labeller does. ``tagger``: of untagged target words.
    """

    takes = "pairs of sentences: parse_pair(source, target, alignment)"
    parses_pairs = True

    source: TreeParser
    target: TreeParser
    weights: JointWeights
    options: JointOptions = field(default_factory=JointOptions)
    training: JointTrainingOptions | None = None
    labeller: JointLabeller | None = None
    tagger: LinkTagger | None = None

    def of_parsers(self, source: TreeParser, target: TreeParser) -> "JointParser":
        """Return this model with the parsers of two other languages.

        Joint weights depend on tags and links, almost never on words. The target's scores count in full, as
        the learned scale is that of the other target parser. Relations are those of the new target parser;
        tags must be given.
        """
        weights = replace(self.weights, target_scale=1.0)
        return replace(self, source=source, target=target, weights=weights, labeller=None, tagger=None)

    def prepare(
        self,
        pair: SentencePair,
        *,
        source_tree: str | None = None,
        source_heads: Heads | None = None,
        target_scores: TreeScores | None = None,
        choices: TagChoices | None = None,
    ) -> PreparedPair:
        """Build the graph of a pair; a tree ``source_heads`` int32[m+1] is not pruned away."""
        kind = source_tree or self.options.source_tree
        given = joint_trees.given_source_heads(kind, self.source, pair.source)
        scores_of = partial(joint_trees.tree_scores, least_probability=self.options.least_probability)
        source_scores = scores_of(self.source, pair.source, required=source_heads)
        source = source_scores.side(1, self.source.inference) if given is None else observed_side(given)
        if target_scores is None:
            target_scores = scores_of(self.target, pair.target, choices=choices)
        target = target_scores.side(int(source.arcs.max()) + 1, self.target.inference)
        sides, scores = (source, target), (source_scores, target_scores)
        prepared = joint_graph.prepare_pair(pair, sides, scores, families=self.options.families)
        structure, tagged = prepared.structure, target_scores.tagged
        # Arcs are scored under other tags where there are choices.
        if choices is not None and self.tagger is not None and tagged is not None:
            scored = tagged, structure, target_scores.marginals
            variables, tags = prepared_tags(pair, self.tagger, choices, *scored)
            prepared = replace(prepared, structure=replace(structure, tags=variables), tags=tags)
        return replace(prepared, source_relations=pair.source.deprels) if kind == "observed" else prepared

    def infer(
        self, prepared: PreparedPair, target_heads: Heads | None = None, *, target_tags: States | None = None
    ) -> JointBeliefs:
        """Run belief propagation, given a target tree int32[n+1] and tags int8[U] where they are known."""
        structure, scores = prepared.structure, self.weights.scores(prepared)
        known = known_states(structure, target_heads, target_tags=target_tags)
        return joint_graph.infer_jointly(structure, scores, known, self.options.propagation)

    def parse_pair(
        self,
        source: Sentence,
        target: Sentence,
        alignment: Alignment | None,
        *,
        source_tree: str | None = None,
        link_threshold: float | None = None,
    ) -> ParsedPair:
        """Parse both sides and align them, each by minimum Bayes risk under the beliefs.

        A pair without candidate links, or with contradictory messages, gets monolingual parses and the
        aligner's links, with ``alone`` set. Target tags may be missing where the model tags. ``alignment``:
        candidate links, best with weights; None: both are one sentence in two annotation styles.
        ``source_tree`` (``joint``, ``best`` or ``observed``), ``link_threshold``: None: as in the options.

        Raises DataError when the alignment reaches past its sentences, or when there is none and their words
        differ; UsageError or SentenceLengthError for a missing tree, an unknown name, or a sentence too long.
        """
        pair, choices = self.tag_choices(paired(source, target, alignment))
        kind = source_tree or self.options.source_tree
        prepared = self.prepare(pair, source_tree=kind, choices=choices)
        beliefs = self.infer(prepared) if len(pair.alignment.links) else None
        alone = beliefs is None or beliefs.status is Status.CONTRADICTION
        parsed_source = pair.source
        if beliefs is None or alone:
            if kind != "observed":
                parsed_source = next(self.source.parse_all([pair.source], confidence=True))
            parsed_target = next(self.target.parse_all([pair.target], confidence=True))
            link_chances = probability(prepared.prior)
        else:
            if kind != "observed":
                heads = self.source.inference.best(beliefs.source)
                one = first_order(self.source)
                parsed_source = one.attached(pair.source, heads, probabilities=beliefs.source)
            target_heads = self.target.inference.best(beliefs.target)
            pair, tags = _decided(pair, choices, beliefs)
            evidence = None
            if self.labeller is not None:
                given = self.infer(prepared, target_heads, target_tags=tags)
                if given.status is not Status.CONTRADICTION:
                    senses = self.labeller.of_pair(self.source, pair, prepared, given, target_heads)
                    evidence = self.labeller.table.evidence(senses, len(target_heads))
            parsed_target = first_order(self.target).attached(
                pair.target, target_heads, probabilities=beliefs.target, evidence=evidence
            )
            link_chances = beliefs.links
        threshold = self.options.link_threshold if link_threshold is None else link_threshold
        return ParsedPair(
            source=parsed_source,
            target=parsed_target,
            alignment=likely_links(pair.alignment, link_chances, threshold),
            status=None if beliefs is None else beliefs.status,
            alone=alone,
            without_itg=beyond_itg(self.options.families, pair.alignment.links),
        )

    @property
    def base(self) -> TreeParser:  # type: ignore[override]
        return self.target

    def prepared(self, sentence: Sentence) -> Sentence:
        return sentence if self.tagger is None else self.tagger.tag_alone(sentence)

    @property
    def reads(self) -> tuple[str, ...]:
        if self.tagger is None:
            return self.base.reads
        return ("forms", *(name for name in self.base.reads if name not in ("forms", "upos", "xpos")))

    def over(self, base: TreeParser) -> "JointParser":
        own = self.labeller
        of_target = first_order(base).labeller
        if own is not None and of_target is not None:
            own = own.with_relations(of_target.relations)
        return replace(self, target=base, labeller=own)

    def fine_tuned(self, trees: Sequence[TrainingTree], *, rng: Rng) -> "JointParser":
        from qsproj.models.joint.joint_training import train_on_more_pairs

        pairs = [tree for tree in trees if isinstance(tree, SentencePair) and is_whole(tree.target.heads)]
        learned = train_on_more_pairs(self, pairs, rng=rng) if pairs else self
        return learned.over(learned.target.fine_tuned(trees, rng=rng))

    def with_tags(self, pair: SentencePair) -> SentencePair:
        if max(len(pair.source), len(pair.target)) > MAX_WORDS:
            return pair
        pair, choices = self.tag_choices(pair)
        if choices is None or not len(pair.alignment.links):
            return pair
        beliefs = self.infer(self.prepare(pair, choices=choices))
        return pair if beliefs.status is Status.CONTRADICTION else _decided(pair, choices, beliefs)[0]

    def tag_choices(self, pair: SentencePair) -> tuple[SentencePair, TagChoices | None]:
        if self.tagger is None:
            return pair, None
        least = self.options.tag_threshold
        if least is None:
            return replace(pair, target=self.tagger.tag(pair)), None
        scores = self.tagger.scores(pair.target)
        target, choices = tag_choices(self.tagger, pair, scores, least_probability=least)
        return replace(pair, target=target), choices

    def to_archive(self) -> Archive:
        header = asdict(self.options) | {"families": list(self.options.families)}
        header["training"] = None if self.training is None else asdict(self.training)
        header["target_scale"] = self.weights.target_scale
        header["aligner_scale"] = self.weights.aligner_scale
        header["tag_scales"] = list(self.weights.tag_scales)
        learned, arrays = joined({"labeller": (RELATIONS, self.labeller), "tagger": (TAGS, self.tagger)})
        header |= learned
        for side, one in (("source", self.source), ("target", self.target)):
            own, of_side = joined({side: (f"{side}_", one)})
            header |= own | {f"{side}_order": 1 if isinstance(one, ArcParser) else 2}
            arrays |= of_side
        return header, self.weights.to_arrays() | arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        options = JointOptions.from_header(dict(header))
        training = JointTrainingOptions.from_header(header.get("training"))
        tags = "links" if options.tag_threshold is None else "joint"
        return {
            "factors": [*LINK_FACTORS, *options.families],
            "source_tree": options.source_tree,
            "labels": "after" if header.get("labeller") is None else "joint",
            "tags": "given" if header.get("tagger") is None else tags,
            "least_probability_of_an_arc": options.least_probability,
            "least_probability_of_a_link": options.link_threshold,
            "weight_of_the_target_parser": header["target_scale"],
            "propagation": asdict(options.propagation),
            "training": None if training is None else asdict(training),
            **{side: described(_KINDS[header[f"{side}_order"]], header[side]) for side in _SIDES},
        }

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "JointParser":
        scales = dict.fromkeys(("target_scale", "aligner_scale"), number(0.0))
        orders = dict.fromkeys((f"{side}_order" for side in _SIDES), whole(1, 2))
        checked(header, {**scales, "tag_scales": _tag_scales, **orders})
        weights = JointWeights.from_arrays(
            arrays,
            target_scale=header["target_scale"],
            aligner_scale=header["aligner_scale"],
            tag_scales=tuple(header["tag_scales"]),
        )
        parts: dict[str, Any] = {"weights": weights}
        for side in _SIDES:
            kind = _KINDS[header[f"{side}_order"]]
            parts[side] = model_from(kind, header[side], unnested(f"{side}_", arrays))
        labeller, tagger = header.get("labeller"), header.get("tagger")
        parts["labeller"] = labeller and JointLabeller.from_archive(labeller, unnested(RELATIONS, arrays))
        parts["tagger"] = tagger and LinkTagger.from_archive(tagger, unnested(TAGS, arrays))
        training = JointTrainingOptions.from_header(header.get("training"))
        return JointParser(**parts, options=JointOptions.from_header(header), training=training)


def synchronous_parser(source: TreeParser, target: TreeParser) -> JointParser:
    """Join two parsers by the hard constraint SYNCH alone (thesis 4.7.4); nothing is trained.

    Links are dropped where a tree would become impossible, so no pair contradicts the constraint.
    """
    weights = replace(JointWeights.untrained(), aligner_scale=0.0)
    return JointParser(source=source, target=target, weights=weights, options=JointOptions(families=(SYNCH,)))


def _decided(
    pair: SentencePair, choices: TagChoices | None, beliefs: JointBeliefs
) -> tuple[SentencePair, States | None]:
    if choices is None or beliefs.tags is None:
        return pair, None
    states = beliefs.tags.words.argmax(axis=1).astype(np.int8)
    return replace(pair, target=choices.applied(pair.target, states)), states


def load_joint_parser(path: str) -> JointParser:
    remedy = "train one: qsproj train-biparser"
    return load_model_of(path, JointParser, expected="a joint parser", remedy=remedy)
