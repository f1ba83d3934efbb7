"""Soft projection: a parser of other languages, and what uncertain arcs of translations add to it.

The prior is a parser that reads tags alone, trained on trees of one or several other languages. Above it,
weights are learned for all features of words and tags, so that the evidence which parsed translations give
for the arcs of target sentences becomes more probable. Where no link reaches, or where evidence is weak,
the prior stands; L2 keeps what is learned close to it. Heads and relations of the target are never seen.

*Source*: ours, after the transfer with distributions over trees of Ma and Xia 2014 (papers: thesis 4.5 for
projection, 3.2.5 for what is summed out).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from qsproj.conventions import Scores
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.editing import with_heads
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import UsageError
from qsproj.models.arc_parser import ArcParser
from qsproj.models.arc_scorer import HASH_BITS, ArcScorer, supported_buckets
from qsproj.models.arc_training import Example, TrainingOptions, train_scorer
from qsproj.models.labeller import train_labeller
from qsproj.pipelines.projected import Projected
from qsproj.pipelines.soft_calibration import fit_temperature
from qsproj.pipelines.soft_evidence import arc_evidence, carried_relations
from qsproj.pipelines.soft_prior import TEMPLATE_SET, Prior
from qsproj.pipelines.soft_selection import choose_pairs
from qsproj.progress import track
from qsproj.training.objectives import AboveBase, EvidenceLikelihood

# Evidence above which an arc takes the relation of the source arc; below, that of the prior.
RELATION_EVIDENCE = 0.3
# One pair of so many is kept for the temperature.
HELD_OUT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftProjectionOptions:
    """How far evidence moves the prior.

    Attributes
    ----------
    strength : float
        Log of the likelihood ratio of an arc whose evidence is 1.
    sentences : int
        How many pairs are learned from in each round.
    rounds : int
        From the second on, the pairs are those on which evidence and the parser of the round before agree.
    epochs : int
        Passes over the pairs of a round.
    l2 : float
        Strength of the pull towards the prior.
    """

    strength: float = 1.5
    sentences: int = 8000
    rounds: int = 2
    epochs: int = 3
    l2: float = 100.0


def project_soft(
    pairs: Iterable[SentencePair],
    *,
    prior: Prior,
    rng: np.random.Generator,
    options: SoftProjectionOptions | None = None,
    trees: str | None = None,
) -> Projected:
    """Train a parser of the target language from a prior and the evidence of translations.

    Parameters
    ----------
    pairs : iterable of SentencePair
        The source with trees, the target with tags; gone through once for each round and once more. One in
        ten is not learned from, but used to fit the temperature.
    prior : Prior
    rng : numpy.random.Generator
        Orders the sentences of each epoch; the same seed gives the same model.
    trees : path or None
        Where to write the chosen target sentences with their best trees under parser and evidence.

    Raises
    ------
    UsageError
        When no pair has evidence for half of its words.
    """
    options = options or SoftProjectionOptions()
    parser, chosen = prior.joined, list[SentencePair]()
    for round_number in range(1, options.rounds + 1):
        following = track(_split(pairs, held_out=False), f"choosing pairs, round {round_number}", unit="pair")
        chosen = choose_pairs(following, parser, sentences=options.sentences)
        if not chosen:
            raise UsageError(
                "no pair has links that carry arcs over to half its words; parse the source, check the links"
            )
        parser = replace(prior.joined, scorer=learn_above(prior.joined, chosen, rng=rng, options=options))
    labelled = [best_tree(pair, parser, prior, strength=options.strength) for pair in chosen]
    if trees:
        write_conllu(labelled, trees)
    labeller = train_labeller(labelled, rng=rng, template_set=TEMPLATE_SET)
    # Chosen as what is learned from, but by the prior, which has seen no more of them than of the test.
    unseen = choose_pairs(
        _split(pairs, held_out=True), prior.joined, sentences=max(options.sentences // HELD_OUT, 1)
    )
    temperature = fit_temperature(parser, unseen)
    words = sum(len(pair.target) for pair in chosen)
    summary = (
        f"{len(prior.members)} prior parser{'s' if len(prior.members) > 1 else ''}; "
        f"learned from {len(chosen)} pairs of {words} target words in the last of {options.rounds} rounds; "
        f"temperature {temperature:.2f}"
    )
    return Projected(replace(parser, labeller=labeller, temperature=temperature), (summary,))


def _split(pairs: Iterable[SentencePair], *, held_out: bool) -> Iterator[SentencePair]:
    """Yield every HELD_OUT-th pair, or all the others."""
    for number, pair in enumerate(pairs, start=1):
        if (number % HELD_OUT == 0) == held_out:
            yield pair


def learn_above(
    base: ArcParser,
    pairs: Sequence[SentencePair],
    *,
    rng: np.random.Generator,
    options: SoftProjectionOptions,
) -> ArcScorer:
    """Return the base's scorer, its weights moved so that the evidence of the pairs is more probable."""
    examples: list[Example] = []
    infer = base.inference.infer
    for pair in pairs:
        encoded = base.scorer.encode(pair.target)
        scores: Scores = base.scorer.scores(base.scorer.features(encoded))
        likelihood = EvidenceLikelihood(options.strength * arc_evidence(pair), infer)
        examples.append((encoded, AboveBase(scores, likelihood)))
    above, _ = train_scorer(
        examples,
        base.scorer.template_set,
        supported_buckets(base.scorer.template_set, (), cutoff=0, hash_bits=HASH_BITS),
        rng=rng,
        inference=base.inference,
        options=TrainingOptions(epochs=options.epochs, l2=options.l2),
    )
    return replace(base.scorer, weights=base.scorer.weights + above.weights)


def best_tree(pair: SentencePair, parser: ArcParser, prior: Prior, *, strength: float) -> Sentence:
    """Return the target with the best tree under parser and evidence, and relations.

    A relation is that of the source arc where the evidence carries one over to this very arc, else the one
    that the prior gives.
    """
    evidence = arc_evidence(pair)
    heads = parser.heads(parser.scores(pair.target) + strength * evidence)
    relations = list(prior.relations(pair.target, heads))
    for word, carried in enumerate(carried_relations(pair), start=1):
        if evidence[heads[word], word] > RELATION_EVIDENCE:
            relations[word - 1] = carried
    return with_heads(pair.target, heads, relations)
