"""The E-steps of the DMV and the QG-DMV, timed on one core, on random tags.

Time is the processor's, the best of several runs, since other work on the machine only ever adds to it; compiling is
timed apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.models.dmv.dmv import TagCorpus, offsets, uniform_parameters
from qsproj.models.dmv.dmv_training import sum_e_step, viterbi_e_step
from qsproj.models.qg_dmv.qg_dmv import biased_parameters, expected_counts, pack_pairs, pair_nodes
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

TAGS = tuple(f"T{number}" for number in range(17))
REPEATS = 5


def seconds(run: Callable[[], object]) -> float:
    """Return the processor time of the best of several runs, after one that compiles."""
    run()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def random_tags(rng: np.random.Generator, lengths: NDArray[np.int64]) -> TagCorpus:
    words = int(lengths.sum())
    tags = rng.integers(0, len(TAGS), words).astype(np.int16)
    return TagCorpus(tags, offsets(lengths), np.full(words, -1, dtype=np.int16))


def random_pair(rng: np.random.Generator, n: int, *, more_links: float) -> SentencePair:
    """Draw a pair with links near the diagonal; a fifth of the words has none, some have two."""
    heads = [-1, 0, *(int(rng.integers(max(1, word - 4), word)) for word in range(2, n + 1))]
    source, target = (Sentence.from_words(["w"] * n, upos=rng.choice(TAGS, n), heads=heads) for _ in range(2))
    links = []
    for word in range(1, n + 1):
        near = int(np.clip(word + rng.integers(-2, 3), 1, n))
        if rng.random() >= 0.2:
            links.append((near, word))
            if rng.random() < more_links:
                links.append((min(near + 1, n), word))
    return SentencePair(source, target, make_alignment(n, n, links))


def rates(rng: np.random.Generator) -> list[list[str]]:
    """Return the rows of the table: sentences a second."""
    rows = []
    parameters = uniform_parameters(len(TAGS))
    cases = (
        ("1 to 10", rng.integers(1, 11, 20_000)),
        ("10", np.full(20_000, 10)),
        ("25", np.full(2_000, 25)),
    )
    for name, lengths in cases:
        corpus = random_tags(rng, lengths)
        for kind, e_step in (("sums", sum_e_step), ("Viterbi", viterbi_e_step)):
            rate = len(corpus) / seconds(partial(e_step, corpus, parameters))
            rows.append([f"DMV, {kind}, {name} words", f"{rate:,.0f}"])
    for more_links in (0.0, 0.5):
        pairs = [random_pair(rng, int(n), more_links=more_links) for n in rng.integers(1, 41, 1_000)]
        packed = pack_pairs(pair_nodes(pair, TAGS, TAGS, punctuation="keep") for pair in pairs)
        start_at = biased_parameters(len(TAGS), len(TAGS) + 1, parent_child=0.9)
        rate = len(packed) / seconds(partial(expected_counts, [packed], start_at))
        nodes = len(packed.tags) / packed.word_starts[-1]
        rows.append([f"QG-DMV, 1 to 40 words, {nodes:.2f} senses a word", f"{rate:,.0f}"])
    return rows


def run(lab: Lab) -> Figures:
    rng = np.random.default_rng(1)
    start = time.process_time()
    sum_e_step(random_tags(rng, np.array([3])), uniform_parameters(len(TAGS)))
    first_call = time.process_time() - start
    return Figures(
        tables={"rates": table(["E-step", "sentences a second"], rates(rng))},
        values={"first call": f"{first_call:.1f} s"},
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="bench-dmv", needs_data=False)

if __name__ == "__main__":
    EXPERIMENT.main()
