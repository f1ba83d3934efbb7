"""Training of the DMV: from tags alone, from tags with some heads known, or from trees."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, Floats, Heads, Mask, Rng, is_whole, starts_of
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError, listed_reasons
from qsproj.features.arc_templates import IN_TREE
from qsproj.kernels.dmv.dmv_expectation import dmv_expectation, dmv_harmonic_counts, dmv_tree_counts
from qsproj.models.arc.labeller import train_labeller
from qsproj.models.checkpoint import LOCAL_RUN, EMRun, checksum, run_em_kept
from qsproj.models.constraints import strip_heads
from qsproj.models.dmv import dmv
from qsproj.models.dmv.dmv import Tags
from qsproj.models.dmv.dmv_options import DmvOptions
from qsproj.models.tree_decoder import arcs_in, reachable
from qsproj.parallel import blocks_of
from qsproj.training.em import EMProblem, EMReport, reached

# Counts are summed part by part; the size of parts must not depend on the number of workers.
PART_SENTENCES = 10_000
# Pseudo-count of a grammar's own decisions of each kind; the best of 0.1 to 100 (dev, German and Swedish).
OWN_DECISIONS = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class TagCorpus:
    """Tags and known heads of S sentences, W words in all."""

    tags: Tags  # int16[W]: numbers in a tag inventory
    starts: NDArray[np.int64]  # int64[S+1]: the start of each sentence, and W
    heads: NDArray[np.int16]  # int16[W]: 1-based within the sentence, 0 for the root, -1 where free

    def __len__(self) -> int:
        return len(self.starts) - 1

    def select(self, wanted: Mask) -> "TagCorpus":
        lengths = np.diff(self.starts)
        words = np.repeat(wanted, lengths)
        return TagCorpus(self.tags[words], starts_of(lengths[wanted]), self.heads[words])


class TagNumbering:
    """Numbers of tags in the order of their first occurrence; 0 is the unknown tag's."""

    def __init__(self) -> None:
        self._numbers = {UNSPECIFIED: 0}

    def number(self, upos: Sequence[str]) -> Tags:
        numbers = self._numbers
        return np.array([numbers.setdefault(tag, len(numbers)) for tag in upos], dtype=np.int16)

    def inventory(self, of: str = "the training data") -> tuple[str, ...]:
        """Return the tags so far, in the order of their numbers; UsageError when no word had a tag."""
        if len(self._numbers) == 1:
            raise NothingToLearnError(f"no word of {of} has a UPOS tag; tag it first: qsproj tag --help")
        return tuple(self._numbers)


def pack(
    sentences: Sequence[Sentence], tags: Iterable[Tags], *, punctuation: str, heads: list[Heads] | None = None
) -> TagCorpus:
    """Pack sentences and their tags, without stripped punctuation; ``heads`` int32[n+1] are known heads."""
    kept = [dmv.kept_words(sentence.upos, punctuation=punctuation) for sentence in sentences]
    empty, lengths = np.zeros(0, dtype=np.int16), np.array(list(map(len, kept)), dtype=np.int64)
    left = [own[words - 1] for own, words in zip(tags, kept, strict=True)]
    known = np.full(lengths.sum(), NO_HEAD, dtype=np.int16)
    if heads is not None:
        stripped = (strip_heads(own, words)[1:] for own, words in zip(heads, kept, strict=True))
        known = np.concatenate([empty, *stripped]).astype(np.int16)
    return TagCorpus(np.concatenate([empty, *left]), starts_of(lengths), known)


@dataclass(frozen=True, slots=True, kw_only=True)
class DmvReport(EMReport):
    """``whole``: sentences whose heads were all given and used; ``skipped``: those left out, by reason."""

    sentences: int
    whole: int
    skipped: dict[str, int]


def train_dmv(
    sentences: Iterable[Sentence], *, options: DmvOptions | None = None, run: EMRun = LOCAL_RUN
) -> tuple[dmv.Dmv, DmvReport]:
    """Train on tagged sentences, by default ignoring their heads.

    Raises UsageError without a usable sentence; DataError for another run's checkpoint.
    """
    options = options or DmvOptions()
    parts, inventory, skipped = _packed_parts(sentences, options)
    free = parts
    if not options.keep_heads:
        free = [replace(part, heads=np.full_like(part.heads, NO_HEAD)) for part in parts]
    problem: EMProblem[dmv.DmvParameters, dmv.DmvCounts] = EMProblem(
        iterations=options.iterations,
        tolerance=options.tolerance,
        e_step=lambda parameters: dmv.summed(partial(e_step_of, parameters=parameters), free, run.workers),
        m_step=lambda counts: counts.estimate(options.smoothing),
        log_prior=lambda own: dmv.log_dirichlet(options.smoothing, own.stop, own.child, own.root),
    )
    crc = checksum(array for part in parts for array in (part.tags, part.starts, part.heads))
    # All options but the number of iterations.
    fingerprint = f"{crc:08x} {inventory} {replace(options, iterations=0)}"
    start = partial(initial_parameters, parts, len(inventory), options)
    result = run_em_kept(start, problem, checkpoint=run.checkpoint, fingerprint=fingerprint)
    report = DmvReport(
        iterations=result.records,
        log_likelihood=reached(result, problem) if result.records else None,
        converged=result.converged,
        sentences=sum(map(len, parts)),
        whole=sum(int(_is_whole(part).sum()) for part in parts),
        skipped=skipped,
    )
    return dmv.Dmv(inventory, result.parameters, options.punctuation), report


def _is_whole(part: TagCorpus) -> Mask:
    return np.asarray(np.minimum.reduceat(part.heads, part.starts[:-1]) != NO_HEAD)


def _packed_parts(
    sentences: Iterable[Sentence], options: DmvOptions
) -> tuple[list[TagCorpus], tuple[str, ...], dict[str, int]]:
    numbering = TagNumbering()
    parts: list[TagCorpus] = []
    skipped: dict[str, int] = {}

    def has_few_words(corpus: TagCorpus) -> Mask:
        lengths = np.diff(corpus.starts)
        return np.asarray((lengths > 0) & (lengths <= options.max_words))

    too_long = f"no words, or more than {options.max_words} words"
    reasons = ((has_few_words, too_long), (admits_any_tree, "arcs that no possible tree contains"))
    for chunk in blocks_of(sentences, PART_SENTENCES):
        heads = None
        if options.keep_heads or options.start == "trees":
            heads = [reachable(sentence.heads, dmv.TREES) for sentence in chunk]
        tags = (numbering.number(sentence.upos) for sentence in chunk)
        corpus = pack(chunk, tags, punctuation=options.punctuation, heads=heads)
        for admits, reason in reasons:
            wanted = admits(corpus)
            if not wanted.all():
                skipped[reason] = skipped.get(reason, 0) + int((~wanted).sum())
            corpus = corpus.select(wanted)
        if len(corpus):
            parts.append(corpus)
    inventory = numbering.inventory()
    if not parts:
        left_out = f"left out: {listed_reasons(skipped)}"
        remedy = "; add shorter sentences, or choose another method" if too_long in skipped else ""
        raise NothingToLearnError(f"no usable sentence in the training data ({left_out}){remedy}")
    return parts, inventory, skipped


def e_step_of(corpus: TagCorpus, parameters: dmv.DmvParameters) -> tuple[dmv.DmvCounts, float]:
    own = parameters.stop, parameters.child, parameters.root
    stop, child, root, logs = dmv_expectation(corpus.tags, corpus.starts, corpus.heads, *own)
    dmv.check_possible(logs)
    return dmv.DmvCounts(stop, child, root), float(logs.sum())


def admits_any_tree(corpus: TagCorpus) -> Mask:
    """Return whether any tree has all known heads of each sentence, bool[S]."""
    trees = (np.concatenate([[NO_HEAD], corpus.heads[i:j]]) for i, j in pairwise(corpus.starts))
    admitted = [(tree == NO_HEAD).all() or dmv.TREES.admits(arcs_in(tree)) for tree in trees]
    return np.array(admitted, dtype=np.bool_)


def initial_parameters(parts: Sequence[TagCorpus], tags: int, options: DmvOptions) -> dmv.DmvParameters:
    if options.start == "uniform":
        return dmv.uniform_parameters(tags)
    if options.start == "harmonic":
        found = [dmv.DmvCounts(*dmv_harmonic_counts(part.tags, part.starts, tags)) for part in parts]
    else:
        whole = [part.select(_is_whole(part)) for part in parts]
        if not any(map(len, whole)):
            none = "no training sentence has all its heads, which --start trees counts"
            raise NothingToLearnError(f"{none}; choose --start harmonic or uniform")
        counted = (dmv_tree_counts(part.tags, part.starts, part.heads, tags) for part in whole if len(part))
        found = [dmv.DmvCounts(*counts) for counts in counted]
    return reduce(dmv.added, found).estimate(options.smoothing)


def fine_tuned_dmv(parser: dmv.Dmv, trees: Sequence[Sentence], *, rng: Rng) -> dmv.Dmv:
    own, whole = parser.parameters, [one for one in trees if len(one) and is_whole(one.heads)]
    known = [one for one in trees if (one.heads != NO_HEAD).any()]
    if not known:
        raise NothingToLearnError("no annotated sentence has a head; is the HEAD column empty?")
    tags = (dmv.tag_numbers(one.upos, parser.inventory) for one in known)
    heads = [reachable(one.heads, dmv.TREES) for one in known]
    corpus = pack(known, tags, punctuation=parser.punctuation, heads=heads)
    corpus = corpus.select(np.diff(corpus.starts) > 0)
    found, seen = _is_whole(corpus), dmv.DmvCounts(*map(np.zeros_like, _decisions(own)))
    if found.any():
        part = corpus.select(found)
        seen = dmv.DmvCounts(*dmv_tree_counts(part.tags, part.starts, part.heads, len(parser.inventory)))
    part = corpus.select(~found & admits_any_tree(corpus))
    if not found.any() and not len(part):
        raise NothingToLearnError("no possible tree has the known heads of an annotated sentence")
    if len(part):
        seen = dmv.added(seen, e_step_of(part, own)[0])
    counts = dmv.DmvCounts(*(OWN_DECISIONS * values for values in _decisions(own)))
    start = parser.labeller
    templates = start.template_set if start else f"delexicalised{IN_TREE}"
    labeller = train_labeller(known, rng=rng, template_set=templates, start=start)
    tuned = replace(parser, parameters=dmv.added(counts, seen).estimate(0.0), labeller=labeller)
    return tuned if parser.siblings is None or not whole else tuned.with_siblings(whole)


def _decisions(parameters: dmv.DmvParameters) -> tuple[Floats, Floats, Floats]:
    """Return probabilities in the layout of DmvCounts."""
    return np.stack([parameters.stop, 1.0 - parameters.stop], axis=-1), parameters.child, parameters.root
