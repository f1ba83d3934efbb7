"""Training of the QG-DMV by conditional EM, given source trees and word links (thesis 4.6.3.4).

Pairs are packed part by part into files, so that memory holds one part at a time. Parts have a fixed size, so
that sums of counts over parts do not depend on the number of workers.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from qsproj.conventions import MAX_WORDS, is_whole
from qsproj.corpus.files import temporary_folder
from qsproj.corpus.sentence import SentencePair
from qsproj.errors import NothingToLearnError, listed_reasons
from qsproj.features.qg_configurations import CONFIGURATION_NAMES
from qsproj.kernels.dmv.qg_expectation import QgCorpus
from qsproj.models.checkpoint import LOCAL_RUN, EMRun, checksum, run_em_kept
from qsproj.models.dmv import dmv
from qsproj.models.dmv.dmv_options import QgOptions
from qsproj.models.dmv.dmv_training import TagNumbering
from qsproj.models.qg_dmv import qg_dmv
from qsproj.progress import track
from qsproj.training.em import EMProblem, EMReport, EMState, reached

PART_PAIRS = 10_000
# Placeholder: the tag of NULL follows those of the source, which are complete after the last part.
NULL_FOR_NOW = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class QgReport(EMReport):
    """``learned``: False when the start is the result; ``skipped``: pairs left out, by reason."""

    learned: bool
    pairs: int
    configurations: dict[str, float]
    skipped: dict[str, int]


def train_qg_dmv(
    pairs: Iterable[SentencePair],
    *,
    start: Callable[[], dmv.Dmv | None] = lambda: None,
    options: QgOptions | None = None,
    run: EMRun = LOCAL_RUN,
) -> tuple[qg_dmv.QgDmv, QgReport]:
    """Train on tagged target sentences, parsed source sentences and the links between them.

    ``pairs``: consumed one at a time and packed into temporary files, 1 to 2 kB a pair. ``start``: called
    after all pairs have been read; returns a DMV of the target, or None for uniform parameters with a
    preference for parent-child. Raises UsageError when no pair is usable or an option is wrong; DataError
    when a checkpoint is of other data or options.
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
    learned = bool(counts[0].any())
    # The parser of new text: from the counts of EM, or the initial one if EM returns its start.
    if learned:
        alone = dmv.DmvCounts(*counts).estimate(options.monolingual_smoothing)
    monolingual = dmv.Dmv(tags, alone, options.punctuation)
    report = QgReport(
        iterations=result.records,
        log_likelihood=log_likelihood,
        converged=result.converged,
        learned=learned,
        pairs=packed.pairs,
        configurations=dict(zip(CONFIGURATION_NAMES, parameters.configuration.tolist(), strict=True)),
        skipped=skipped,
    )
    return qg_dmv.QgDmv(packed.source_inventory, parameters, monolingual), report


def _run_em(
    packed: "PackedPairs", start: dmv.DmvParameters, options: QgOptions, run: EMRun
) -> tuple[EMState[qg_dmv.QgStep], float]:
    tags, source_tags = packed.inventory, packed.source_inventory
    initial = qg_dmv.biased_parameters(start, len(source_tags) + 1, parent_child=options.parent_child)
    crc = checksum((initial.stop, initial.child, initial.root), packed.crc)
    problem: EMProblem[qg_dmv.QgStep, qg_dmv.QgCounts] = EMProblem(
        iterations=options.iterations,
        tolerance=options.tolerance,
        e_step=lambda parameters: qg_dmv.expected_counts(packed, parameters, workers=run.workers),
        m_step=lambda counts: counts.step(options.smoothing),
        log_prior=lambda own: dmv.log_dirichlet(
            options.smoothing, own.stop, own.configuration, own.child, own.root
        ),
    )
    fingerprint = f"{crc:08x} {tags} {source_tags} {replace(options, iterations=0)}"
    begin = partial(qg_dmv.before_first_step, initial)
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
    """Pairs for :func:`qsproj.models.qg_dmv.qg_dmv.expected_counts`, a file for each part."""

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
    nodes_of = partial(qg_dmv.nodes_of, null_tag=NULL_FOR_NOW, punctuation=punctuation)
    numbered = ((one, numbering.number(one.target.upos), one.source.upos) for one in pairs)
    nodes = (nodes_of(pair, tags, source_numbering.number(upos)) for pair, tags, upos in numbered)
    paths: list[Path] = []
    packed = crc = 0
    while part := list(itertools.islice(nodes, PART_PAIRS)):
        corpus = qg_dmv.pack_pairs(part)
        paths.append(folder / f"part-{len(paths):05d}.npz")
        arrays = corpus._asdict()
        np.savez(paths[-1], **arrays)
        packed, crc = packed + len(part), checksum(arrays.values(), crc)
    inventory, source_inventory = numbering.inventory("the target"), source_numbering.inventory("the source")
    return PackedPairs(tuple(paths), inventory, source_inventory, pairs=packed, crc=crc)
