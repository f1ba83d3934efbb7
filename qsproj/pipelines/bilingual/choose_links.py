"""Supervised word alignment: the built-in aligner proposes links, a model of manual links chooses."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.conventions import MAX_WORDS
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, likely_links
from qsproj.errors import NothingToLearnError
from qsproj.features.joint_templates import link_posteriors
from qsproj.models.joint.joint_alignment import LinkChooser, train_link_chooser
from qsproj.models.joint.joint_structure import beyond_itg
from qsproj.models.joint.joint_training import HandLinkCounts, count_hand_links
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.pipelines.bilingual.biparse import itg_line
from qsproj.progress import notice

# Minimum mean probability of proposed links. At 0.1 fewer of the true links are among them; at 0.02 barely
# more are (XL-WA dev, cross-validated).
CANDIDATE_THRESHOLD = 0.05


def propose_links(
    sentences: Sequence[tuple[Sentence, Sentence]],
    *,
    unspaced: str | None = None,
    workers: Workers = THIS_PROCESS,
) -> Iterator[SentencePair]:
    words = ((source.forms, target.forms) for source, target in sentences)
    proposed = align_words(words, threshold=CANDIDATE_THRESHOLD, unspaced=unspaced, workers=workers)
    for (source, target), links in zip(sentences, proposed, strict=True):
        yield SentencePair(source, target, links)


def learn_to_choose(
    pairs: Sequence[SentencePair], *, rng: np.random.Generator, families: tuple[str, ...] = ()
) -> tuple[LinkChooser, HandLinkCounts]:
    by_hand = [pair for pair in pairs if pair.hand is not None]
    usable = [pair for pair in by_hand if _is_short(pair) and len(pair.alignment.links)]
    counts = count_hand_links(usable)
    if counts is None:
        expected = f"candidate links and sides of at most {MAX_WORDS} words"
        found = f"found no pair to learn from among the first {len(by_hand)}"
        raise NothingToLearnError(f"{found}, expected {expected}; align more text together with them")
    return train_link_chooser(usable, rng=rng, families=families), counts


def choose_links(
    chooser: LinkChooser, pairs: Iterable[SentencePair], *, threshold: float = 0.5
) -> Iterator[Alignment]:
    """Yield the links of each pair with at least the probability ``threshold``, with their probabilities."""
    without_itg = 0
    for pair in pairs:
        if _is_short(pair):
            without_itg += beyond_itg(chooser.families, pair.alignment.links)
            yield chooser.align(pair, threshold=threshold)
        else:
            yield likely_links(pair.alignment, link_posteriors(pair.alignment), threshold)
    if without_itg:
        notice(itg_line(without_itg))


def _is_short(pair: SentencePair) -> bool:
    return max(len(pair.source), len(pair.target)) <= MAX_WORDS
