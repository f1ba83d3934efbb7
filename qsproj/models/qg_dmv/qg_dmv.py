"""The quasi-synchronous DMV, which generates target sentences given the trees of their translations.

It is trained by conditional EM, given source trees and word links (thesis 4.6.3.4). Pairs are packed into
files, a part at a time in memory. Parts have a fixed size, so that sums do not depend on the workers.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import MAX_WORDS, ROOT, Floats, Scores, is_whole, starts_of
from qsproj.corpus.files import temporary_folder
from qsproj.corpus.sentence import Alignment, SentencePair
from qsproj.errors import NothingToLearnError, SentenceError, UsageError, listed_reasons
from qsproj.features import qg_configurations
from qsproj.features.qg_configurations import CONFIGURATION_NAMES, PARENT_CHILD
from qsproj.kernels.dmv.qg_expectation import QgCorpus, qg_expectation
from qsproj.models.checkpoint import LOCAL_RUN, EMRun, checksum, run_em_kept
from qsproj.models.dmv import dmv
from qsproj.models.dmv.dmv_options import QgOptions
from qsproj.models.dmv.dmv_training import TagNumbering
from qsproj.models.parser import Wrapper
from qsproj.models.schema import Archive, Arrays, anything, checked, names, number, optional, shaped
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.progress import track
from qsproj.training.em import EMProblem, EMReport, EMState, reached

LEAST_PRIOR = 1e-3  # a link to which the aligner gave weight 0 remains a candidate
PART_PAIRS = 10_000
# Placeholder: the tag of NULL follows those of the source, which are complete after the last part.
NULL_FOR_NOW = -1


def nodes_of(
    pair: SentencePair, tags: dmv.Tags, source_tags: dmv.Tags, *, null_tag: int, punctuation: str
) -> QgCorpus:
    """Return the nodes of one pair: one for each linked source word, or one for NULL (thesis 4.6.3.1).

    ``tags``, ``source_tags`` int16[n], int16[m]; ``null_tag``: the number of the tag of NULL. Stripped target
    punctuation has no nodes; that of the source stays in its tree.
    """
    kept = dmv.kept_words(pair.target.upos, punctuation=punctuation)
    words, senses, priors = _candidates(pair.alignment, kept, null=len(pair.source) + 1)
    table = qg_configurations.configurations(pair.source.heads)
    of_senses = np.concatenate([[0], source_tags, [null_tag]]).astype(np.int16)
    head_senses = np.concatenate([[ROOT], senses])
    return QgCorpus(
        word_starts=np.array([0, len(kept)]),
        first_nodes=np.searchsorted(words, np.arange(len(kept) + 1)).astype(np.int32),
        node_starts=np.array([0, len(words)]),
        tags=tags[kept - 1][words],
        source_tags=of_senses[senses],
        priors=priors,
        relation_starts=np.array([0, len(words) * (len(words) + 1)]),
        relations=np.ascontiguousarray(table[np.ix_(head_senses, senses)]).reshape(-1),
        choices=qg_configurations.configuration_choices(table)[head_senses].astype(np.int16),
    )


def _candidates(
    alignment: Alignment, kept: NDArray[np.int64], *, null: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    places = np.full(alignment.n_target + 1, -1, dtype=np.int64)
    places[kept] = np.arange(len(kept))
    chosen = places[alignment.links[:, 1]] >= 0
    links, weights = alignment.links[chosen], np.maximum(alignment.shares[chosen], LEAST_PRIOR)
    linked = places[links[:, 1]]
    unlinked = np.setdiff1d(np.arange(len(kept)), linked)
    words = np.concatenate([linked, unlinked])
    senses = np.concatenate([links[:, 0].astype(np.int64), np.full(len(unlinked), null)])
    order = np.argsort(words, kind="stable")
    return words[order], senses[order], np.concatenate([weights, np.ones(len(unlinked))])[order]


def pack_pairs(pairs: Sequence[QgCorpus]) -> QgCorpus:
    """Join corpora, at least one; their starts are moved."""
    columns: dict[str, Any] = {}
    for name in QgCorpus._fields:
        arrays = [getattr(pair, name) for pair in pairs]
        of_starts = name.endswith("_starts")
        joined = np.concatenate(list(map(np.diff, arrays)) if of_starts else arrays)
        columns[name] = starts_of(joined) if of_starts else joined
    return QgCorpus(**columns)


@dataclass(frozen=True, slots=True, eq=False)
class QgParameters:
    """Probabilities of the QG-DMV over T target tags, G tags of senses and C configurations.

    ``stop`` float64[T, 2, 2]: probability of stopping, [head tag, direction, valence]. ``configuration``
    float64[C]: probability of a configuration, in the order of CONFIGURATION_NAMES. ``child`` float64[T, 2,
    G, T]: probability of a dependent's tag, [head tag, direction, tag of its sense, tag]; rows sum to 1.
    ``root`` float64[G, T]: of the tag of the root's one child, [tag of its sense, tag]; rows sum to 1.

    *Source*: thesis 4.6.1; unlike there, only the model for new text conditions on the most recent sibling.
    """

    stop: Floats
    configuration: Floats
    child: Floats
    root: Floats


@dataclass(frozen=True, slots=True, eq=False)
class QgStep(QgParameters):
    """Parameters, with the monolingual counts of the EM step that gave them.

    ``monolingual_stop``, ``monolingual_child``, ``monolingual_root``: those of
    :meth:`QgCounts.without_source`, with the layout of :class:`dmv.DmvCounts`; 0 before the first step.
    """

    monolingual_stop: Floats
    monolingual_child: Floats
    monolingual_root: Floats


class QgCounts(NamedTuple):
    """Expected counts of the decisions of a QG-DMV, laid out as parameters and :class:`dmv.DmvCounts`."""

    stop: Floats
    configuration: Floats
    child: Floats
    root: Floats

    def estimate(self, smoothing: float) -> QgParameters:
        return QgParameters(**dmv.frequencies(self._asdict(), smoothing))

    def without_source(self) -> dmv.DmvCounts:
        """Return monolingual counts (thesis 4.6), without senses of NULL, which EM attaches arbitrarily."""
        return dmv.DmvCounts(self.stop, self.child[:, :, :-1].sum(axis=2), self.root[:-1].sum(axis=0))


def step_of(parameters: QgParameters, monolingual: dmv.DmvCounts) -> QgStep:
    own = parameters.configuration, parameters.child, parameters.root
    return QgStep(parameters.stop, *own, *monolingual)


def biased_parameters(start: dmv.DmvParameters, source_tags: int, *, parent_child: float) -> QgParameters:
    """Return parameters equal in every sense, with a preference for parent-child (thesis 4.6.2, 4.6.3.4)."""
    kinds = len(CONFIGURATION_NAMES)
    configuration = np.full(kinds, (1.0 - parent_child) / (kinds - 1))
    configuration[PARENT_CHILD] = parent_child
    child = np.repeat(start.child[:, :, None, :], source_tags, axis=2)
    return QgParameters(start.stop, configuration, child, np.repeat(start.root[None], source_tags, axis=0))


@dataclass(frozen=True)
class QgDmv(Wrapper[dmv.Dmv]):
    """A trained QG-DMV.

    ``source_inventory``: tags of source words; the first represents all unknown tags. The number of NULL
    follows them. ``base`` parses new text: from the expected counts of linked words, source summed out.

    *Source*: thesis 4.6; Smith and Eisner 2006b.
    """

    source_inventory: tuple[str, ...]
    parameters: QgParameters
    base: dmv.Dmv

    def arc_probabilities_given_source(self, pair: SentencePair) -> Scores:
        """Return the posterior probability of every target arc given the source tree and the links.

        The result is float64[n+1, n+1], senses summed out; columns 1..n sum to one. Stripped punctuation has
        one head, by rule. SentenceError unless the source has a whole tree; UsageError for a pair of
        probability 0 (possible only without smoothing).
        """
        if not is_whole(pair.source.heads):
            found, remedy = "a source tree without all heads", "parse the source first"
            raise SentenceError(found=found, expected="a whole one", remedy=remedy)
        base = self.base
        tags = dmv.tag_numbers(pair.target.upos, base.inventory)
        source_tags = dmv.tag_numbers(pair.source.upos, self.source_inventory)
        null_tag = len(self.source_inventory)
        nodes = nodes_of(pair, tags, source_tags, null_tag=null_tag, punctuation=base.punctuation)
        *_, logs, arcs, root_arcs = expectation(nodes, self.parameters)
        if logs[0] == -np.inf:
            raise UsageError("a sentence pair has probability 0 under the model; train with smoothing")
        kept = dmv.kept_words(pair.target.upos, punctuation=base.punctuation)
        words = nodes.first_nodes[:-1]
        among_kept = np.zeros((len(kept) + 1, len(kept) + 1))
        among_kept[1:, 1:] = np.add.reduceat(np.add.reduceat(arcs, words, axis=0), words, axis=1)
        among_kept[ROOT, 1:] = np.add.reduceat(root_arcs, words)
        return dmv.over_all_words(among_kept, kept, len(pair.target))

    def to_archive(self) -> Archive:
        header, arrays = self.base.to_archive()
        parameters = self.parameters
        return {
            "source_inventory": list(self.source_inventory),
            "configurations": dict(zip(CONFIGURATION_NAMES, parameters.configuration.tolist(), strict=True)),
            "monolingual": header,
        }, {**arrays, "qg-stop": parameters.stop, "qg-child": parameters.child, "qg-root": parameters.root}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "QgDmv":
        checked(header, {"configurations": anything, "source_inventory": names, "monolingual": anything})
        checked(header["configurations"], dict.fromkeys(CONFIGURATION_NAMES, optional(number(0.0, 1.0))))
        configuration = np.array([header["configurations"].get(name) or 0.0 for name in CONFIGURATION_NAMES])
        monolingual = dmv.Dmv.from_archive(header["monolingual"], arrays)
        source_inventory = tuple(header["source_inventory"])
        tags, senses = len(monolingual.inventory), len(source_inventory) + 1
        chances = partial(shaped, arrays, least=0.0, most=1.0)
        stop, child = chances("qg-stop", (tags, 2, 2)), chances("qg-child", (tags, 2, senses, tags))
        parameters = QgParameters(stop, configuration, child, chances("qg-root", (senses, tags)))
        return QgDmv(source_inventory, parameters, monolingual)


def expectation(corpus: QgCorpus, parameters: QgParameters) -> tuple[Floats, ...]:
    own = parameters.configuration, parameters.child, parameters.root
    return qg_expectation(corpus, parameters.stop, *own)


def expected_counts(
    corpora: Iterable[QgCorpus], parameters: QgParameters, *, workers: Workers = THIS_PROCESS
) -> tuple[QgCounts, float]:
    """Return expected counts and log-likelihood over a corpus; UsageError for a pair of probability 0."""
    return dmv.summed(partial(_counts_of_part, parameters=parameters), corpora, workers)


def _counts_of_part(corpus: QgCorpus, parameters: QgParameters) -> tuple[QgCounts, float]:
    stop, configuration, child, root, logs, _, _ = expectation(corpus, parameters)
    dmv.check_possible(logs, "sentence pairs")
    return QgCounts(stop, configuration, child, root), float(logs.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class QgReport(EMReport):
    """``skipped``: pairs left out, by reason."""

    pairs: int
    configurations: dict[str, float]
    skipped: dict[str, int]


def train_qg_dmv(
    pairs: Iterable[SentencePair],
    *,
    start: Callable[[], dmv.Dmv | None] = lambda: None,
    options: QgOptions | None = None,
    run: EMRun = LOCAL_RUN,
) -> tuple[QgDmv, QgReport]:
    """Train on tagged target sentences, parsed source sentences and the links between them.

    ``pairs``: consumed one at a time and packed into temporary files, 1 to 2 kB a pair. ``start``: called
    after all pairs have been read; returns a DMV of the target, or None for uniform parameters with a
    preference for parent-child. Raises UsageError without a usable pair or for a bad option; DataError when a
    checkpoint is of other data or options.
    """
    options = options or QgOptions()
    skipped: dict[str, int] = {}
    with temporary_folder() as folder:
        usable = _usable(track(pairs, "packing", unit="pair"), options, skipped)
        first = next(usable, None)
        if first is None:
            raise NothingToLearnError(f"no usable sentence pair (left out: {listed_reasons(skipped)})")
        packed = pack_into(folder, itertools.chain([first], usable), punctuation=options.punctuation)
        tags, began = packed.inventory, start()
        if began is None:
            alone = dmv.uniform_parameters(len(tags))
        else:
            alone = began.parameters.over(dmv.tag_numbers(tags, began.inventory))
        result, log_likelihood = _run_em(packed, alone, options, run)
    parameters = result.parameters
    counts = parameters.monolingual_stop, parameters.monolingual_child, parameters.monolingual_root
    # The parser of new text: from the counts of EM, or the initial one if EM returns its start.
    if counts[0].any():
        alone = dmv.DmvCounts(*counts).estimate(options.monolingual_smoothing)
    monolingual = dmv.Dmv(tags, alone, options.punctuation)
    report = QgReport(
        iterations=result.records,
        log_likelihood=log_likelihood,
        converged=result.converged,
        pairs=packed.pairs,
        configurations=dict(zip(CONFIGURATION_NAMES, parameters.configuration.tolist(), strict=True)),
        skipped=skipped,
    )
    return QgDmv(packed.source_inventory, parameters, monolingual), report


def _run_em(
    packed: "PackedPairs", start: dmv.DmvParameters, options: QgOptions, run: EMRun
) -> tuple[EMState[QgStep], float]:
    tags, source_tags = packed.inventory, packed.source_inventory
    initial = biased_parameters(start, len(source_tags) + 1, parent_child=options.parent_child)
    crc = checksum((initial.stop, initial.child, initial.root), packed.crc)
    problem: EMProblem[QgStep, QgCounts] = EMProblem(
        iterations=options.iterations,
        tolerance=options.tolerance,
        e_step=lambda parameters: expected_counts(packed, parameters, workers=run.workers),
        m_step=lambda counts: step_of(counts.estimate(options.smoothing), counts.without_source()),
        log_prior=lambda p: dmv.log_dirichlet(options.smoothing, p.stop, p.configuration, p.child, p.root),
    )
    fingerprint = f"{crc:08x} {tags} {source_tags} {replace(options, iterations=0)}"
    nothing = np.zeros((*start.stop.shape, 2)), np.zeros_like(start.child), np.zeros_like(start.root)
    begin = partial(step_of, initial, dmv.DmvCounts(*nothing))
    result = run_em_kept(begin, problem, checkpoint=run.checkpoint, fingerprint=fingerprint)
    return result, reached(result, problem)


def linked_share(pair: SentencePair) -> float:
    """Return the share of target words, punctuation apart, that have links, or of their weights."""
    words = np.array([tag != dmv.PUNCTUATION_TAG for tag in pair.target.upos], dtype=np.bool_)
    shares = np.zeros(len(words))
    np.maximum.at(shares, pair.alignment.links[:, 1] - 1, pair.alignment.shares)
    return float(shares[words].mean()) if words.any() else 0.0


def _usable(
    pairs: Iterable[SentencePair], options: QgOptions, skipped: dict[str, int]
) -> Iterator[SentencePair]:
    for pair in pairs:
        if not 0 < len(pair.target) <= options.max_words:
            reason = f"no target words, or more than {options.max_words}"
        elif not 0 < len(pair.source) <= MAX_WORDS:
            reason = f"no source words, or more than {MAX_WORDS}"
        elif not is_whole(pair.source.heads):
            reason = "a source word without a head"
        elif linked_share(pair) < options.min_linked:
            reason = f"a linked share of target words below {options.min_linked:g}"
        else:
            yield pair
            continue
        skipped[reason] = skipped.get(reason, 0) + 1


@dataclass(frozen=True, slots=True)
class PackedPairs:
    """Pairs for :func:`expected_counts`, a file for each part."""

    paths: tuple[Path, ...]
    inventory: tuple[str, ...]
    source_inventory: tuple[str, ...]
    pairs: int
    crc: int

    def __iter__(self) -> Iterator[QgCorpus]:
        null_tag = np.int16(len(self.source_inventory))
        for path in self.paths:
            with np.load(path) as arrays:
                corpus = QgCorpus(**arrays)
            tags = corpus.source_tags
            yield corpus._replace(source_tags=np.where(tags == NULL_FOR_NOW, null_tag, tags))


def pack_into(folder: Path, pairs: Iterable[SentencePair], *, punctuation: str) -> PackedPairs:
    numbering, source_numbering = TagNumbering(), TagNumbering()
    packed_nodes = partial(nodes_of, null_tag=NULL_FOR_NOW, punctuation=punctuation)
    numbered = ((one, numbering.number(one.target.upos), one.source.upos) for one in pairs)
    nodes = (packed_nodes(pair, tags, source_numbering.number(upos)) for pair, tags, upos in numbered)
    paths: list[Path] = []
    packed = crc = 0
    while part := list(itertools.islice(nodes, PART_PAIRS)):
        corpus = pack_pairs(part)
        paths.append(folder / f"part-{len(paths):05d}.npz")
        arrays = corpus._asdict()
        np.savez(paths[-1], **arrays)
        packed, crc = packed + len(part), checksum(arrays.values(), crc)
    inventory, source_inventory = numbering.inventory("the target"), source_numbering.inventory("the source")
    return PackedPairs(tuple(paths), inventory, source_inventory, pairs=packed, crc=crc)
