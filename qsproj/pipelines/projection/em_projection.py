"""Train a DMV by EM: from tags alone, from projected arcs, or through a quasi-synchronous grammar."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from qsproj.conventions import MAX_WORDS, NO_HEAD, Rng, is_whole
from qsproj.corpus.editing import with_predicted_heads, without_tree
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import UsageError, listed_reasons, pluralise
from qsproj.features.arc_templates import IN_TREE
from qsproj.models.arc.labeller import train_labeller
from qsproj.models.checkpoint import LOCAL_RUN, EMRun
from qsproj.models.constraints import strip_heads
from qsproj.models.dmv.dmv import TREES, Dmv, kept_words
from qsproj.models.dmv.dmv_options import DmvOptions, QgOptions
from qsproj.models.dmv.dmv_training import DmvReport, train_dmv
from qsproj.models.qg_dmv.qg_dmv import QgDmv, linked_share, train_qg_dmv
from qsproj.parallel import map_in_order
from qsproj.pipelines.projection import hard_projection, methods
from qsproj.pipelines.projection.hard_projection import attached_share, project_tree
from qsproj.pipelines.projection.methods import Projected, ProjectedArcs
from qsproj.pipelines.projection.priors import PRIOR_TEMPLATE_SET
from qsproj.pipelines.projection.soft_evidence import learn_relations

Item = TypeVar("Item", Sentence, SentencePair)
BLOCK_SENTENCES = 64  # for other processes: sending a sentence takes longer than parsing it with a DMV
MOST_WHOLE_TREES = 10_000  # enough for the counts of a DMV over tags
# Maximum number of pairs to learn relations from; longer sentences have worse trees and take longer.
LABELLED_PAIRS, LONGEST = 5000, 40


def project_hard_em(
    pairs: Iterable[SentencePair],
    *,
    projection: ProjectedArcs,
    training: DmvOptions,
    rng: Rng,
    run: EMRun = LOCAL_RUN,
) -> Projected:
    """Train a DMV on projected arcs, imputing missing ones (thesis 4.6.3.3, "hard projection with EM").

    The returned trees are projected arcs, completed by the model. ``training``: with ``keep_heads``, and no
    iterations for a DMV of complete projected trees alone. Raises UsageError when there is nothing to learn
    from, DataError when the checkpoint is of other data or options.
    """
    kept = list[SentencePair]()
    projected = hard_projection.ProjectedTrees(keeping_first(pairs, kept), projection)
    dense = (tree for tree in projected if len(tree) and attached_share(tree) >= projection.min_attached)
    first = next(dense, None)
    if first is None:
        raise hard_projection.none_dense_enough(projection.min_attached)
    unlabelled, report = train_dmv(chain([first], dense), options=training, run=run)
    trees = [project_tree(pair, projection)[0] for pair in kept]
    if training.sibling_pairs:
        usable = (tree for tree in trees if attached_share(tree) >= projection.min_attached)
        completed = map(unlabelled.complete, islice(usable, training.sibling_pairs))
        unlabelled = unlabelled.with_siblings(completed)
    model = with_relations(unlabelled, kept, map(unlabelled.complete, trees), rng=rng)
    least = 100 * projection.min_attached
    read = report.sentences + sum(report.skipped.values())
    sparse = {f"projected heads for less than {least:g}% of their words": projected.counts.pairs - read}
    trained = _summary(replace(report, skipped=report.skipped | sparse))
    remedy = hard_projection.MORE_LINKS + (", or raise --max-words" if report.skipped else "")
    few = hard_projection.few_sentences(report.sentences, remedy=remedy)
    report_lines = (*projected.counts.summary(), *trained, *few)
    again = partial(hard_projection.ProjectedTrees, pairs, projection)
    return Projected(model, report_lines, trees=lambda: _mapped(model.complete, again(), run))


def project_tags_only(
    pairs: Iterable[SentencePair], *, training: DmvOptions, rng: Rng, run: EMRun = LOCAL_RUN
) -> Projected:
    """Train a DMV on the target's tags by EM, without the source (thesis 4.6.3.2): a baseline."""
    if training.start == "trees":
        raise UsageError("--method em uses no trees; choose --start harmonic or uniform")
    kept = list[SentencePair]()
    targets = (pair.target for pair in keeping_first(pairs, kept) if len(pair.target))
    unlabelled, report = train_dmv(targets, options=training, run=run)
    # Relations are projected from the source to the arcs of the DMV.
    model = with_relations(unlabelled, kept, (unlabelled.parse(pair.target) for pair in kept), rng=rng)
    trees = partial(_mapped, partial(tree_by_tags, model), pairs, run)
    return Projected(model, _summary(report), trees=trees)


def tree_by_tags(model: Dmv, pair: SentencePair) -> Sentence:
    return model.parse(pair.target)


def _mapped(tree: Callable[[Item], Sentence], items: Iterable[Item], run: EMRun) -> Iterator[Sentence]:
    """Yield the sentences, or the targets of pairs, with trees; too long sentences unchanged."""
    return map_in_order(partial(_with_tree, tree), items, workers=run.workers, block=BLOCK_SENTENCES)


def _with_tree(tree: Callable[[Item], Sentence], item: Item) -> Sentence:
    target = item.target if isinstance(item, SentencePair) else item
    if not len(target):  # aligners accept these
        raise UsageError("a target sentence has no words, and so no tree; leave out --trees, or the pair")
    if len(target) > MAX_WORDS:
        return item if isinstance(item, Sentence) else without_tree(target)
    return tree(item)


def _summary(report: DmvReport) -> tuple[str, ...]:
    whole = f", of which {report.whole} with all heads" if report.whole else ""
    what = f"trained on {pluralise(report.sentences, 'sentence')}{whole}"
    return (f"{what}; left out: {listed_reasons(report.skipped)}", *report.ending())


def project_qg(
    pairs: Iterable[SentencePair], *, training: QgOptions, rng: Rng, run: EMRun = LOCAL_RUN
) -> Projected:
    """Train a QG-DMV on the pairs (thesis 4.6.3.4), by default from counts of completely projected trees.

    The returned trees maximise the expected number of correct heads given the source tree and the links, or
    given the target's tags alone if the source tree is incomplete. Errors as :func:`project_hard_em`.
    """
    kept, whole = list[SentencePair](), list[Sentence]()
    most = MOST_WHOLE_TREES if training.start == "trees" else 0

    def observed() -> Iterator[SentencePair]:
        # Keeps the first completely projected targets, from whose counts EM starts.
        for pair in methods.with_trees_and_tags(keeping_first(pairs, kept)):
            if len(whole) < most and len(pair.target):
                tree, _ = project_tree(pair)
                words = kept_words(tree.upos, punctuation=training.punctuation)
                if np.all(strip_heads(tree.heads, words)[1:] != NO_HEAD):
                    whole.append(tree)
            yield pair

    def counted() -> Dmv | None:
        options = DmvOptions(start="trees", keep_heads=True, iterations=0, punctuation=training.punctuation)
        return train_dmv(whole, options=options)[0] if whole else None

    unlabelled, report = train_qg_dmv(observed(), start=counted, options=training, run=run)
    given_source = partial(tree_given_source, unlabelled)
    monolingual = unlabelled.base
    if training.sibling_pairs:
        linked = (pair for pair in kept if linked_share(pair) >= training.min_linked)
        usable = (pair for pair in linked if is_whole(pair.source.heads))
        monolingual = monolingual.with_siblings(map(given_source, islice(usable, training.sibling_pairs)))
    model = replace(unlabelled, base=with_relations(monolingual, kept, map(given_source, kept), rng=rng))
    learned = ", ".join(f"{name} {share:.3f}" for name, share in report.configurations.items())
    trained = f"trained on {pluralise(report.pairs, 'pair')}; left out: {listed_reasons(report.skipped)}"
    lines = (trained, *report.ending(), f"configurations: {learned}")
    return Projected(model, lines, trees=partial(_mapped, partial(tree_given_source, model), pairs, run))


def tree_given_source(model: QgDmv, pair: SentencePair) -> Sentence:
    """Return the target with its minimum-risk tree, given source tree and links."""
    if not len(pair.source) or not is_whole(pair.source.heads):
        return model.parse(pair.target)
    heads = TREES.best(model.arc_probabilities_given_source(pair))
    return with_predicted_heads(pair.target, heads, model.base.relations(pair.target, heads))


def keeping_first(pairs: Iterable[SentencePair], kept: list[SentencePair]) -> Iterator[SentencePair]:
    """Yield pairs, adding the first LABELLED_PAIRS that can project relations to ``kept``."""
    for pair in pairs:
        if len(kept) < LABELLED_PAIRS and 0 < len(pair.target) <= LONGEST and len(pair.alignment.links):
            kept.append(pair)
        yield pair


def with_relations(model: Dmv, pairs: list[SentencePair], trees: Iterable[Sentence], *, rng: Rng) -> Dmv:
    """Add a labeller of projected relations, given the trees of all targets, if a source word has any."""
    sources, alone = [pair.source for pair in pairs], [(pair,) for pair in pairs]
    prior = train_labeller(sources, rng=rng, template_set=f"{PRIOR_TEMPLATE_SET}{IN_TREE}")
    if prior is None:
        return model
    strength = methods.SoftProjectionOptions().strength
    labeller, _ = learn_relations(list(trees), alone, prior=prior, rng=rng, strength=strength)
    return replace(model, labeller=labeller)
