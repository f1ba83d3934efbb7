"""The converter: from a tree in one annotation style to a tree in another over the same words.

An edge-factored conditional log-linear model of the target tree. The score of an arc is a prior for the arcs
of the source tree and its turned trees, plus learned weights of the path between the two words there.

*Source*: thesis 4.1 and 4.4. Turned trees, path features and copied relations are ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from qsproj.conventions import NO_HEAD, Floats, Heads, Rng, Scores, Weights, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import ARC_PROBABILITY, with_heads, with_predicted_heads, with_probabilities
from qsproj.corpus.sentence import Sentence, check_sentence, has_tree
from qsproj.errors import MissingTreeError, NothingToLearnError, listed_reasons, pluralise
from qsproj.features.adaptation_templates import ARC_TEMPLATES, compile_templates, encode_source
from qsproj.kernels.adaptation import adaptation_features as kernels
from qsproj.kernels.adaptation.source_paths import SourceNodes
from qsproj.models.arc.arc_learners import tree_objective
from qsproj.models.constraints import Given
from qsproj.models.converter.converter_parts import RelationAdapter, TurnModel, train_relations, train_turns
from qsproj.models.packing import joined, packed_weights, unpack_weights
from qsproj.models.parser import ArcPosterior, Parser, Posterior, parser_in
from qsproj.models.schema import Archive, Arrays, anything, checked, flag, labels, number, one_of
from qsproj.models.storage import KINDS, described, kind_of
from qsproj.models.tree_decoder import TreeDecoder, check_decoder, choose_inference, of_tree
from qsproj.training.loop import Steps, learn
from qsproj.training.objectives import Objective
from qsproj.training.optimiser import AdaGrad
from qsproj.trees.crossings import has_crossings

HASH_BITS = 20
# Initial score of an arc in both turned trees of the source; and in the untrained converter, which copies.
PRIOR, UNTRAINED_PRIOR = 3.0, 30.0
SOURCE_PREFIX = "source_"
# By default, as many epochs as give this number of steps, within bounds.
STEPS = 1500
FEWEST_EPOCHS, MOST_EPOCHS = 5, 30
RATE, L2 = 0.2, 0.1
# Probability that a step keeps a template (dropout), so that general templates do not rely on specific ones,
# which rarely recur.
KEPT_TEMPLATES = 0.5


@dataclass(frozen=True, slots=True)
class Conversion:
    """Read-only heads int32[n+1], relations, and the probability of the arc into each word, float64[n]."""

    heads: Heads
    relations: tuple[str, ...]
    probabilities: Floats


def check_has_whole_tree(sentence: Sentence) -> None:
    """Raise MissingTreeError unless each word has a head."""
    if headless := int((sentence.heads[1:] == NO_HEAD).sum()):
        raise MissingTreeError(headless)


@dataclass(frozen=True)
class Converter(Parser):
    """A converter of trees from one annotation style to another, trained on trees in both.

    ``weights`` float32[2**HASH_BITS]. ``inference``: the trees of the target style; where arcs of a source
    tree cross, those of the target tree may. ``prior``: log-odds of the arcs of the source tree without
    training. ``source_relations``: those of the source training trees, sorted; empty where not stored.
    """

    turns: TurnModel
    weights: Weights
    relations: RelationAdapter
    inference: TreeDecoder
    prior: float = PRIOR
    source_relations: tuple[str, ...] = ()

    @staticmethod
    def untrained() -> "Converter":
        trees = TreeDecoder(projective=False, single_root=False)
        weights = np.zeros(1 << HASH_BITS, dtype=np.float32)
        turns = TurnModel.untrained()
        return Converter(turns, weights, RelationAdapter.untrained(), trees, UNTRAINED_PRIOR)

    def encode(self, sentence: Sentence) -> SourceNodes:
        return self.turns.turned(encode_source(check_sentence(sentence)))

    def scores(self, source: SourceNodes) -> Scores:
        """Return arc scores float64[n+1, n+1], natural log, up to a constant."""
        scores = prior_scores(source, self.prior)
        templates = compile_templates(ARC_TEMPLATES, hash_bits=HASH_BITS)
        kernels.add_scores(source, templates, self.weights, 1.0, scores)
        return scores

    refuses_parts = (
        "a model of kind converter does not accept partial trees, as it reads complete ones; give the "
        "known part to a parser"
    )
    refuses_training = "a converter learns from trees in both styles: qsproj adapt"
    reads = ("forms", "upos", "heads", "deprels")

    def check_input(self, sentence: Sentence) -> None:
        check_has_whole_tree(check_sentence(sentence))

    def posterior(self, sentence: Sentence, given: Given = None) -> Posterior:
        source = self.encode(sentence)
        return ArcPosterior(self.inference_of(source.heads, given).infer(self.scores(source))[1])

    def inference_of(self, heads: Heads, given: Given) -> TreeDecoder:
        """Return the trees that a source tree with these heads may become."""
        inference = inference_for(self.inference, heads)
        return inference if given is None or given.leave_trees_free else given.within(inference)

    def convert(self, sentence: Sentence, *, decode: str = "mbr", given: Given = None) -> Conversion:
        """Find the target tree of a sentence whose heads and relations are its source tree.

        ``decode``: of DECODERS. ``given``: the known part of the target tree. Raises UsageError,
        SentenceLengthError.
        """
        check_decoder(decode)
        source = self.encode(sentence)
        inference = self.inference_of(source.heads, given)
        scores = self.scores(source)
        marginals = inference.infer(scores)[1]
        heads = frozen_heads(inference.best(marginals if decode == "mbr" else scores))
        relations = self.relations.adapt(sentence, source, heads)
        if given is not None:
            relations = given.keep_relations(relations)
        return Conversion(heads, relations, np.clip(of_tree(marginals, heads), 0.0, 1.0))

    def convert_sentence(
        self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False
    ) -> Sentence:
        """Return the sentence with its tree converted; MissingTreeError when a word has no head."""
        self.check_input(sentence)
        return converted_sentence(sentence, self.convert(sentence, decode=decode), confidence=confidence)

    def parsed(self, sentence: Sentence, *, decode: str, confidence: bool, given: Given) -> Sentence:
        return self.convert_sentence(sentence, decode=decode, confidence=confidence)

    def to_archive(self) -> Archive:
        header, arrays = joined({"relations": ("", self.relations)})
        header |= asdict(self.inference) | {"prior": self.prior}
        header["source_relations"] = list(self.source_relations)
        return header, {**packed_weights("", self.weights), **arrays, **self.turns.to_archive()}

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        trees = "projective" if header["projective"] else "any, arcs may cross"
        return {"trees": trees, "relations": header["relations"]["relations"]}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "Converter":
        header = {"source_relations": [], **header}
        checked(header, {"projective": flag, "single_root": flag, "prior": number()})
        checked(header, {"relations": anything, "source_relations": labels(0)})
        weights = unpack_weights("", arrays, np.zeros(1 << HASH_BITS, dtype=np.float32))
        turns = TurnModel.from_archive(arrays)
        relations = RelationAdapter.from_archive(header["relations"], arrays)
        trees = TreeDecoder(projective=header["projective"], single_root=header["single_root"])
        return Converter(turns, weights, relations, trees, header["prior"], tuple(header["source_relations"]))


def converted_sentence(sentence: Sentence, conversion: Conversion, *, confidence: bool) -> Sentence:
    result = with_predicted_heads(sentence, conversion.heads, conversion.relations)
    return with_probabilities(result, ARC_PROBABILITY, conversion.probabilities) if confidence else result


def prior_scores(source: SourceNodes, prior: float) -> Scores:
    """Return float64[n+1, n+1]: ``prior`` for each source arc, shared by the first two turned trees."""
    size = len(source.heads)
    scores = np.zeros((size, size))
    for heads in source.turned_heads[:2]:
        words = np.flatnonzero(heads[1:] >= 0) + 1
        scores[heads[words], words] += 0.5 * prior
    return scores


def inference_for(inference: TreeDecoder, heads: Heads) -> TreeDecoder:
    if inference.projective and has_crossings(heads):
        return replace(inference, projective=False)
    return inference


# Number of source trees that are drawn for probabilities; least probability of their arcs.
DRAWN, LEAST_CHANCE = 20, 1e-6


@dataclass(frozen=True)
class AdaptedParser(Parser):
    """A parser in the source style with a converter of its trees; other columns are those of the parser."""

    base: Parser
    converter: Converter
    refuses_training = Converter.refuses_training

    def parsed(self, sentence: Sentence, *, decode: str, confidence: bool, given: Given) -> Sentence:
        """Parse and convert the best tree; probabilities are those of :meth:`posterior`."""
        source = self.base.parse(sentence, decode=decode)
        conversion = self.converter.convert(source, decode=decode, given=given)
        if confidence:
            marginals = self._marginals(source, given)
            conversion = replace(conversion, probabilities=of_tree(marginals, conversion.heads))
        return converted_sentence(source, conversion, confidence=confidence)

    def retagging(self) -> "AdaptedParser | None":
        base = self.base.retagging()
        return None if base is None else replace(self, base=base)

    def posterior(self, sentence: Sentence, given: Given = None) -> Posterior:
        return ArcPosterior(self._marginals(self.base.parse(sentence), given))

    def _marginals(self, source: Sentence, given: Given) -> Scores:
        """Return the mean probabilities of arcs over the best source tree, and others drawn by probability.

        Arcs of drawn trees may cross, and leave several roots; words keep their relations. The calibration
        error of arcs is 5%, with the best tree alone 20%, with projective trees of one root 8% (SUD from ten
        English trees, PUD).
        """
        chances = np.log(np.maximum(self.base.posterior(source).marginals, LEAST_CHANCE))
        trees = TreeDecoder(projective=False, single_root=False)
        drawn = np.vstack([source.heads, trees.sample(chances, DRAWN, np.random.default_rng(0))])
        inference = self.converter.inference_of(source.heads, given)
        summed = np.zeros_like(chances)
        for heads, count in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
            scores = self.converter.scores(self.converter.encode(with_heads(source, heads)))
            summed += count * inference.infer(scores)[1]
        return np.clip(summed / len(drawn), 0.0, 1.0)

    def allowing_crossings(self) -> Self | None:
        inference = self.converter.inference
        if not inference.projective:
            return None
        free = replace(self.converter, inference=replace(inference, projective=False))
        return replace(self, converter=free)

    def to_archive(self) -> Archive:
        header, arrays = joined({"source": (SOURCE_PREFIX, self.base), "converter": ("", self.converter)})
        return {"source_kind": kind_of(self.base), **header}, arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        converter = Converter.described(header["converter"])
        return {"parser": described(header["source_kind"], header["source"]), "converter": converter}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "AdaptedParser":
        checked(header, {"source_kind": one_of(KINDS), "source": anything, "converter": anything})
        source = parser_in(header["source_kind"], header["source"], arrays, SOURCE_PREFIX)
        return AdaptedParser(source, Converter.from_archive(header["converter"], arrays))


@dataclass(frozen=True, slots=True)
class ConverterReport:
    """A report of training."""

    sentences: int
    skipped: Mapping[str, int]  # sentences left out, by reason

    def summary(self, inference: TreeDecoder) -> str:
        left_out = f"; left out: {listed_reasons(self.skipped)}" if self.skipped else ""
        sentences = pluralise(self.sentences, "sentence")
        return f"converter to {inference.described('trees')}, {sentences}{left_out}"


def train_converter(
    sources: Sequence[Sentence],
    targets: Sequence[Sentence],
    *,
    rng: Rng,
    epochs: int | None = None,
    projective: bool | None = None,
) -> tuple[Converter, ConverterReport]:
    """Train a converter; without any trees, return the one that returns its source.

    ``sources``, ``targets``: the same words in both styles. Missing parts of target trees are summed out
    (thesis 3.2.5). ``epochs``, ``projective``: None: from the data. Raises UsageError when there are targets,
    but none with a head.
    """
    if not targets:
        return Converter.untrained(), ConverterReport(0, {})
    usable = [i for i, target in enumerate(targets) if has_tree(target)]
    if not usable:
        raise NothingToLearnError("no target sentence has a head; is the HEAD column empty?")
    without_head = len(targets) - len(usable)
    sources, targets = [sources[i] for i in usable], [targets[i] for i in usable]
    epochs = epochs or min(max(STEPS // len(usable), FEWEST_EPOCHS), MOST_EPOCHS)
    heads = [target.heads for target in targets]
    inference = choose_inference(heads, projective=projective, single_root=None)
    plain = list(map(encode_source, map(check_sentence, sources)))
    turns = train_turns(plain, heads, rng=rng, epochs=epochs)
    encoded = list(map(turns.turned, plain))
    trainer = _arc_trainer(rng)
    pairs = zip(encoded, heads, strict=True)
    judged = ((one, tree_objective(tree, inference_for(inference, one.heads))) for one, tree in pairs)
    examples: list[_Example] = [(one, objective) for one, objective in judged if objective]
    weights, _ = learn(trainer, examples, epochs=epochs, rng=rng, description="training arcs")
    trees = list(zip(sources, encoded, targets, strict=True))
    relations = train_relations(trees, rng=rng, epochs=epochs)
    reasons = {
        "no head in the target": without_head,
        "arcs that no possible tree contains": len(usable) - len(examples),
    }
    report = ConverterReport(len(examples), {reason: count for reason, count in reasons.items() if count})
    seen = sorted({relation for source in sources for relation in source.deprels} - {UNSPECIFIED})
    return Converter(turns, weights, relations, inference, source_relations=tuple(seen)), report


_Example = tuple[SourceNodes, Objective]


def _arc_trainer(rng: Rng) -> Steps[_Example, Weights]:
    operations, seeds, shift = compile_templates(ARC_TEMPLATES, hash_bits=HASH_BITS)
    weights = np.zeros(1 << HASH_BITS, dtype=np.float32)
    # Capacity for the features of all arcs of all trees, which are one step.
    descent = AdaGrad(weights, rate=RATE, l2=L2, capacity=2 << HASH_BITS)

    def step(example: _Example) -> float:
        source, objective = example
        # The first template always stays, as it stands for arcs of long paths.
        kept = rng.random(len(ARC_TEMPLATES)) < KEPT_TEMPLATES
        kept[0] = True
        templates = kernels.Templates(np.ascontiguousarray(operations[kept]), seeds[kept], shift)
        scale = 1.0 / KEPT_TEMPLATES
        scores = prior_scores(source, Converter.prior)
        kernels.add_scores(source, templates, weights, scale, scores)
        loss, slopes = objective.value_and_gradient(scores)
        descent.gather(kernels.gather_arcs, source, templates, slopes, scale)
        descent.step()
        return loss

    return Steps(step, descent.mean, [descent])
