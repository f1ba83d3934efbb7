"""Evidence for the arcs and relations of a target sentence from its parsed translations."""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import pairwise

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT, Floats, Heads, Rng, Scores
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.characters import lower_form
from qsproj.corpus.editing import with_heads
from qsproj.corpus.pairs.translations import Translations, link_strengths
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.evaluation.calibration import stated_confidences
from qsproj.models.arc.labeller import Labeller, start_residual, train_on_evidence
from qsproj.pipelines.projection.priors import TEMPLATE_SET
from qsproj.pipelines.tagging.conventions import EXPLETIVE
from qsproj.pipelines.tagging.options import TagProjectionOptions

SHORTEST, LONGEST = 3, 60  # length of training sentences in words; arcs without evidence are summed out
# Reasons to leave out a sentence, for messages.
TOO_SHORT, TOO_LONG = f"fewer than {SHORTEST} words", f"more than {LONGEST} words"
NO_EVIDENCE = "links that project no arc"
LESS_EVIDENCE = "less evidence than others"
REMEDIES = {
    TOO_SHORT: "give whole sentences, with more words",
    TOO_LONG: "split the text into sentences, one per pair",
    NO_EVIDENCE: "more pairs give more links; check that the source has trees and that links are right",
}
# English compounds precede their heads. A linked target word after its head is an nmod, an appos or a name:
# ignoring these gains .1 and .3 LAS on two dev files of Spanish with the model's tags, .1 in Czech.
COMPOUND = "compound"
MODIFIER, NAME = "nmod", "flat"  # of a noun; of the first word of a name
REFLEXIVES = frozenset({"expl:impers", "expl:pass", "expl:pv"})  # relations of reflexive pronouns in sources


def arc_probabilities(source: Sentence) -> Floats:
    """Return the probability of each word's arc, float64[m+1]: ``ArcProb`` of MISC or 1; 0 without a head."""
    stated = stated_confidences(source, name="source")
    return np.where(source.heads == NO_HEAD, 0.0, np.where(np.isnan(stated), 1.0, stated))


def arc_evidence(pair: SentencePair) -> Scores:
    """Return the evidence of one translation for each target arc, float64[n+1, n+1] in 0..1.

    The source arc's probability times the strengths of the links at its two ends, summed over the source
    arcs (direct projection, thesis 4.5, with weighted links and arcs).
    """
    source, strengths = pair.source, link_strengths(pair.alignment)
    # [target word, source word]: its strength as the head of the source word.
    above = strengths.T.take(source.heads, axis=1) * arc_probabilities(source)
    evidence = above @ strengths
    np.fill_diagonal(evidence, 0.0)
    evidence[:, ROOT] = 0.0
    return np.minimum(evidence, 1.0)


def pooled_evidence(translations: Translations) -> Scores:
    """Return the sum of the evidence for each target arc over translations, at most 1; float64[n+1, n+1]."""
    return np.minimum(sum(map(arc_evidence, translations)), 1.0)


class DensestPairs:
    """The added targets with most evidence per word; ties go to the earlier. Mutable; final.

    ``sentences``: maximum number; None: the fewest that have at least ``words`` words in all, because the
    densest pairs of one bitext have seven words, of another twenty. Only chosen ones are held in memory.
    """

    def __init__(self, *, sentences: int | None = None, words: float = math.inf) -> None:
        self._sentences, self._words = sentences, words
        self._best: list[tuple[float, int, Translations, Scores]] = []
        self._added = self._held = 0
        self._left_out = dict.fromkeys((TOO_SHORT, TOO_LONG, NO_EVIDENCE, LESS_EVIDENCE), 0)

    def add(self, translations: Translations) -> None:
        """Add a target with its translations; drop the least dense ones beyond the limit."""
        self._added += 1
        words = len(translations[0].target)
        if not SHORTEST <= words <= LONGEST:
            self._left_out[TOO_SHORT if words < SHORTEST else TOO_LONG] += 1
            return
        evidence = pooled_evidence(translations)
        covered = float(evidence.sum()) / (len(evidence) - 1)
        if not covered:
            self._left_out[NO_EVIDENCE] += 1
            return
        # Distinct numbers, so that translations are never compared.
        heapq.heappush(self._best, (covered, -self._added, translations, evidence))
        self._held += words
        while True:
            fewer = self._held - len(self._best[0][2][0].target)
            if not (len(self._best) > self._sentences if self._sentences else fewer >= self._words):
                break
            heapq.heappop(self._best)
            self._held = fewer
            self._left_out[LESS_EVIDENCE] += 1

    @property
    def chosen(self) -> list[Translations]:
        return [entry[2] for entry in sorted(self._best, key=lambda entry: -entry[1])]

    @property
    def evidence(self) -> list[Scores]:
        """Return the :func:`pooled_evidence` of the chosen translations."""
        return [entry[3] for entry in sorted(self._best, key=lambda entry: -entry[1])]

    @property
    def left_out(self) -> dict[str, int]:
        return {reason: count for reason, count in self._left_out.items() if count}


def reflexives_of(corpus: Iterable[Translations]) -> frozenset[str]:
    """Return the frequent pronouns that are linked to auxiliaries, or REFLEXIVES, more than to other tags.

    These are reflexive ones, as Spanish *se* in *se celebra*, is celebrated; lower-cased.
    """
    counts, votes, words = Counter[str](), Counter[tuple[str, str]](), 0
    for translations in corpus:
        pronouns = _pronouns(translations[0].target)
        words += len(translations[0].target)
        counts.update(pronouns.values())
        for pair in translations:
            links, shares = pair.alignment.links.tolist(), pair.alignment.shares.tolist()
            for (source, word), share in zip(links, shares, strict=True):
                if word in pronouns:
                    reflexive = pair.source.deprels[source - 1] in REFLEXIVES
                    votes[pronouns[word], "AUX" if reflexive else pair.source.upos[source - 1]] += share
    tags = {form: tag for (form, tag), _ in reversed(votes.most_common())}
    least = TagProjectionOptions().frequent * words
    return frozenset(form for form, tag in tags.items() if tag == "AUX" and counts[form] >= least)


def _pronouns(sentence: Sentence) -> dict[int, str]:
    words = enumerate(zip(sentence.forms, sentence.upos, strict=True), start=1)
    return {word: lower_form(form) for word, (form, tag) in words if tag == "PRON"}


def parts_of_names(sentence: Sentence, heads: Heads) -> list[int]:
    """Return the proper nouns that directly follow a head that is also one, and have no adposition.

    These are NAME in nearly all treebanks, also where they translate a modifier (*Simon, son of Jonah*).
    """
    marked = {head for head, tag in zip(heads[1:].tolist(), sentence.upos, strict=True) if tag == "ADP"}
    return [
        word
        for word, (one, other) in enumerate(pairwise(sentence.upos), start=2)
        if one == other == "PROPN" and heads[word] == word - 1 and word not in marked
    ]


def relation_evidence(
    translations: Translations, heads: Heads, numbers: Mapping[str, int], reflexives: Set[str] = frozenset()
) -> Floats:
    """Return the evidence of source arcs for each relation of each target arc, float64[n+1, L] in 0..1.

    ``heads`` int32[n+1], -1 where missing. ``numbers``: column of each relation; other relations are ignored,
    as is a COMPOUND on the other side of its head. The ``reflexives`` are EXPLETIVE, with or without subtype.
    :func:`parts_of_names` are NAME, not MODIFIER.
    """
    precede = np.arange(len(heads)) < heads
    cells, carried = [], []
    for pair in translations:
        strengths, (words, targets) = link_strengths(pair.alignment), pair.alignment.links.T
        columns = np.array([-1, *(numbers.get(relation, -1) for relation in pair.source.deprels)])[words]
        above, over = pair.source.heads[words], heads[targets]
        same_side = (words < above) == precede[targets]
        known = (above >= 0) & (over >= 0) & (columns >= 0)
        known &= same_side | (columns != numbers.get(COMPOUND, -2))
        # The source arc's evidence for the target arc.
        evidence = strengths[words, targets] * arc_probabilities(pair.source)[words] * strengths[above, over]
        cells.append((targets * len(numbers) + columns)[known])
        carried.append(evidence[known])
    total = np.bincount(np.concatenate(cells), np.concatenate(carried), len(heads) * len(numbers))
    evidence = total.reshape(len(heads), len(numbers))
    if MODIFIER in numbers and NAME in numbers:
        parts = parts_of_names(translations[0].target, heads)
        evidence[parts, numbers[NAME]] += evidence[parts, numbers[MODIFIER]]
        evidence[parts, numbers[MODIFIER]] = 0.0
    evidence = np.minimum(evidence, 1.0)
    if reflexives and any(expletive := [bare_relation(relation) == EXPLETIVE for relation in numbers]):
        own = [word for word, form in _pronouns(translations[0].target).items() if form in reflexives]
        evidence[own] *= expletive
        if EXPLETIVE in numbers:
            evidence[own, numbers[EXPLETIVE]] += np.maximum(0.0, 1.0 - evidence[own].sum(axis=1))
    return evidence


def learn_relations(
    trees: Sequence[Sentence],
    corpus: Sequence[Translations],
    *,
    prior: Labeller | None,
    rng: Rng,
    strength: float,
    reflexives: Set[str] = frozenset(),
) -> tuple[Labeller | None, list[Sentence]]:
    """Learn relations from the evidence for the arcs of target trees, one tree for each of ``corpus``.

    Returns the labeller, None if no relation is known, and the trees with its best relations; ``strength``:
    log of the likelihood ratio of a relation whose evidence is 1.
    """
    found = {relation for translations in corpus for pair in translations for relation in pair.source.deprels}
    relations = found - {UNSPECIFIED}
    if not relations and prior is None:
        return None, list(trees)
    start = start_residual(prior, TEMPLATE_SET, relations)
    numbers = {relation: number for number, relation in enumerate(start.relations)}
    evidence = partial(relation_evidence, numbers=numbers, reflexives=reflexives)
    examples = [
        (start.encode_tree(tree), tree.heads, strength * evidence(translations, tree.heads))
        for tree, translations in zip(trees, corpus, strict=True)
    ]
    labeller = train_on_evidence(start, examples, rng=rng)
    labels = (labeller.label(*example) for example in examples)
    return labeller, [with_heads(tree, tree.heads, own) for tree, own in zip(trees, labels)]
