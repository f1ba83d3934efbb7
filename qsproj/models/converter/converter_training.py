"""Training of converters on the same sentences in two annotation styles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence, has_tree
from qsproj.errors import NothingToLearnError, pluralise
from qsproj.features.adaptation_templates import ARC_TEMPLATES, compile_templates
from qsproj.kernels.adaptation import adaptation_features as kernels
from qsproj.kernels.adaptation.adaptation_features import Templates
from qsproj.models.arc.arc_learners import tree_objective
from qsproj.models.converter import converter as converters
from qsproj.models.converter.converter import HASH_BITS, Converter, WeightedSource
from qsproj.models.converter.converter_parts import train_relations, train_turns
from qsproj.models.tree_decoder import TreeDecoder, choose_inference
from qsproj.training.loop import EpochRecord, Trainer, learn
from qsproj.training.objectives import Objective
from qsproj.training.optimiser import AdaGrad

# By default, as many epochs as give this number of steps, within bounds.
STEPS = 1500
FEWEST_EPOCHS, MOST_EPOCHS = 5, 30
_Example = tuple[list[WeightedSource], Objective]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConverterOptions:
    """Training of a converter; what is None follows from the data.

    ``kept_templates``: each step keeps every template with this probability, so that the general ones learn
    to do without the special ones, which are rarely seen again.
    """

    epochs: int | None = None
    rate: float = 0.2
    l2: float = 0.1
    kept_templates: float = 0.5
    projective: bool | None = None
    single_root: bool | None = None


@dataclass(frozen=True, slots=True)
class ConverterReport:
    """A report of training."""

    sentences: int
    epochs: tuple[EpochRecord, ...]
    skipped: int

    def summary(self, inference: TreeDecoder) -> str:
        left_out = f"; {self.skipped} left out: arcs that no possible tree contains" if self.skipped else ""
        sentences = pluralise(self.sentences, "sentence")
        return f"converter to {inference.described('trees')}, {sentences}{left_out}"


def train_converter(
    sources: Sequence[Sentence],
    targets: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    source_posteriors: Sequence[Scores] | None = None,
    options: ConverterOptions | None = None,
) -> tuple[Converter, ConverterReport]:
    """Train a converter; without any trees, return the one that returns its source.

    ``sources``, ``targets``: the same words in both styles. Missing parts of target trees are summed out
    (thesis 3.2.5). Raises UsageError when there are targets, but none with a head.
    """
    options = options or ConverterOptions()
    if not targets:
        return Converter.untrained(), ConverterReport(0, (), 0)
    usable = [i for i, target in enumerate(targets) if has_tree(target)]
    if not usable:
        raise NothingToLearnError("no target sentence has a head; is the HEAD column empty?")
    sources, targets = [sources[i] for i in usable], [targets[i] for i in usable]
    posteriors = [source_posteriors[i] if source_posteriors is not None else None for i in usable]
    epochs = options.epochs or min(max(STEPS // len(usable), FEWEST_EPOCHS), MOST_EPOCHS)
    heads = [target.heads for target in targets]
    inference = choose_inference(heads, projective=options.projective, single_root=options.single_root)
    plain = [converters.encode_sources(*pair) for pair in zip(sources, posteriors, strict=True)]
    turns = train_turns([trees[0].nodes for trees in plain], heads, rng=rng, epochs=epochs)
    encoded = [[WeightedSource(share, turns.turned(nodes)) for share, nodes in trees] for trees in plain]
    trainer = _ArcTrainer(options, rng)
    pairs = zip(encoded, heads, strict=True)
    judged = ((one, tree_objective(tree, converters.inference_for(inference, one))) for one, tree in pairs)
    examples: list[_Example] = [(one, objective) for one, objective in judged if objective]
    weights, records = learn(trainer, examples, epochs=epochs, rng=rng, description="training arcs")
    trees = [(one, own[0].nodes, target) for one, own, target in zip(sources, encoded, targets, strict=True)]
    relations = train_relations(trees, rng=rng, epochs=epochs)
    report = ConverterReport(len(examples), tuple(records), len(usable) - len(examples))
    seen = sorted({relation for source in sources for relation in source.deprels} - {UNSPECIFIED})
    converter = Converter(turns, weights, relations, inference, source_relations=tuple(seen))
    return converter, report


class _ArcTrainer(Trainer[_Example, NDArray[np.float32]]):
    def __init__(self, options: ConverterOptions, rng: np.random.Generator) -> None:
        self._options = options
        self._rng = rng
        self._templates = compile_templates(ARC_TEMPLATES, hash_bits=HASH_BITS)
        weights = np.zeros(1 << HASH_BITS, dtype=np.float32)
        # Capacity for the features of all arcs of all trees, which are one step.
        self._descent = AdaGrad(weights, rate=options.rate, l2=options.l2, capacity=2 << HASH_BITS)

    def step(self, example: _Example) -> float:
        sources, objective = example
        # The first template always stays, as it stands for arcs of long paths.
        kept = self._rng.random(len(ARC_TEMPLATES)) < self._options.kept_templates
        kept[0] = True
        operations, seeds, shift = self._templates
        templates = Templates(np.ascontiguousarray(operations[kept]), seeds[kept], shift)
        scale = 1.0 / self._options.kept_templates
        scores = converters.prior_scores(sources, Converter.prior)
        for share, nodes in sources:
            kernels.add_scores(nodes, templates, self._descent.weights, scale * share, scores)
        loss, slopes = objective.value_and_gradient(scores)
        for share, nodes in sources:
            self._descent.gather(kernels.gather_arcs, nodes, templates, slopes, scale * share)
        self._descent.step()
        return loss

    def regularise(self) -> None:
        self._descent.regularise()

    def averaged(self) -> NDArray[np.float32]:
        return self._descent.mean()
