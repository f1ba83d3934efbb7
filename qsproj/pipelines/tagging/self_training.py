"""Train taggers in rounds: on the type dictionary and links, then on the taggers' own probabilities.

A New Testament lacks most modern words; raw text has them in context, so each tagger labels it for the next.

Source: Taeckstroem, Das, McDonald, Petrov and Nivre (2013) for the first; the others are ours.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Mask
from qsproj.corpus.characters import lower_form, plain_form
from qsproj.corpus.contractions import Contractions, words_of_tokens
from qsproj.corpus.language.lexicon import WordTags
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger
from qsproj.models.tagging.tagger_training import (
    FIGURES,
    NUMERAL,
    LogEvidence,
    SetExample,
    mean_tagger,
    train_on_sets,
)
from qsproj.pipelines.tagging.conventions import ADJECTIVES_IN_NAMES
from qsproj.pipelines.tagging.few_tagged import FewTagged
from qsproj.pipelines.tagging.function_words import WeighedVotes
from qsproj.pipelines.tagging.linked_text import LinkedText, Words, normalised, sampled
from qsproj.pipelines.tagging.options import FEW, HALF, TagProjectionOptions
from qsproj.pipelines.tagging.relatives import RelativeVoter, distribution_with
from qsproj.pipelines.tagging.script_rules import ADJECTIVE, ScriptRules
from qsproj.pipelines.tagging.type_dictionary import allowed_tags, corrected_shares, type_weights


def link_evidence(text: LinkedText, weights: Floats | Mask, sentences: Sequence[int]) -> LogEvidence:
    """Return the link evidence of the words of sentences, float32[M, T], natural log.

    ``weights`` [V, T]: of the tags of types. The best tag has 0. Half of a link's evidence is for its tag,
    half for all tags alike; votes below 1 weaken it.
    """
    places = text.places(sentences)
    votes = text.votes[places].astype(np.float64)
    likelihood = normalised(votes) + 1.0 / len(text.tags)
    likelihood /= likelihood.max(axis=1, keepdims=True)
    certainty = np.minimum(votes.sum(axis=1, keepdims=True), 1.0)
    with np.errstate(divide="ignore"):
        logs = np.log(weights[text.types[places]] * ((1.0 - certainty) + certainty * likelihood))
    return (logs - logs.max(axis=1, keepdims=True)).astype(np.float32)


def share_unknown(forms: Iterable[str], vocabulary: Iterable[str]) -> float:
    """Return the share of words with letters that are not in a vocabulary in any case; 0 without words."""
    known = set(map(lower_form, vocabulary))
    words = [lower_form(form) for form in forms if any(map(str.isalpha, form))]
    return sum(word not in known for word in words) / max(len(words), 1)


@dataclass(frozen=True, slots=True, eq=False)
class RawText:
    """Raw sentences of the target language."""

    sentences: tuple[Words, ...]  # plain forms of each sentence; none is empty
    allowed: Mapping[str, Mask]  # bool[T] of each word: tags that script and lexicon allow
    capitalised: frozenset[str] = frozenset()  # unknown words that may be adjectives of names

    @classmethod
    def of(
        cls,
        sentences: Iterable[Sequence[str]],
        tags: Sequence[str],
        lexicon: WordTags,
        contractions: Contractions,
        *,
        most: int,
        rng: np.random.Generator,
        of_numbers: Iterable[str] = (),
        language: str | None = None,
        known: Iterable[str] = (),
    ) -> "RawText":
        """Split contractions and look up the allowed tags of each word, for a sample of at most ``most``.

        ``of_numbers``: tags of numbers in digits beside NUM. ``language``: shows which of them, and which
        capitalised words that are not ``known``, are adjectives.
        """
        words, _ = sampled(
            filter(len, sentences),
            lambda tokens: tuple(map(plain_form, chain.from_iterable(words_of_tokens(tokens, contractions)))),
            most=most,
            rng=rng,
        )
        rows = dict.fromkeys(form for forms in words for form in forms)
        rules = ScriptRules.of(rows, language=language, of_numbers=of_numbers)
        allowed = allowed_tags(tuple(rows), tags, lexicon, rules)
        names = frozenset[str]()
        if language in ADJECTIVES_IN_NAMES:
            before = set(map(lower_form, known))
            names = frozenset(one for one in rows if _is_capitalised(one) and lower_form(one) not in before)
        return cls(tuple(words), dict(zip(rows, allowed, strict=True)), names)

    def frequent(self, share: float) -> list[str]:
        counts = Counter(lower_form(form) for forms in self.sentences for form in forms)
        least = share * counts.total()
        return [word for word, count in counts.items() if count >= least]

    def sets_of(self, forms: Words) -> Mask:
        return np.array([self.allowed[form] for form in forms])

    def drawn(self, most: int, rng: np.random.Generator) -> list[Words]:
        chosen = np.sort(rng.permutation(len(self.sentences))[:most])
        return [self.sentences[number] for number in chosen.tolist()]


RAREST = 0.03  # lower bound of a tag's frequency where probabilities are divided by it


@dataclass(frozen=True, slots=True)
class SelfTraining:
    """State shared by all rounds of training from one reading of the votes."""

    reading: WeighedVotes
    allowed: Mask
    parts: Sequence[Sequence[int]]  # sentences of each tagger
    extractor: FeatureExtractor
    rng: np.random.Generator
    options: TagProjectionOptions
    rules: ScriptRules

    def weights(self, few: FewTagged) -> Floats:
        """Return the weights of the type dictionary, corrected by tagged sentences."""
        text, shares, weighted = self.reading
        shares = corrected_shares(shares, text, few.counts)
        return type_weights(shares, self.allowed, weighted, least=self.options.least)

    def from_links(self, few: FewTagged) -> Tagger:
        evidence_of = partial(link_evidence, self.reading.text, self.weights(few))
        return self.fit(evidence_of, few, "learning from links")

    def fit(
        self,
        evidence_of: Callable[[Sequence[int]], LogEvidence],
        few: FewTagged,
        what: str,
        more: Sequence[SetExample] = (),
    ) -> Tagger:
        """Train a tagger on each part of the bitext, tagged sentences and ``more``; return their mean."""
        text, options = self.reading.text, self.options
        train = partial(train_on_sets, tags=text.tags, extractor=self.extractor, rng=self.rng)
        taggers = []
        for part in self.parts:
            forms = [text.sentences[number] for number in part]
            examples = list(map(SetExample, forms, text.parted(evidence_of(part), part)))
            examples += in_digits(examples, text.tags, self.rules, most=options.in_digits)
            examples += [*few.examples(text.tags, strength=options.tagged_strength), *more]
            tagger = train(examples, options=options.training, what=what)
            if few.sentences:
                # Tuned on the tagged sentences at the end.
                tagged = few.examples(text.tags, strength=1.0)
                tagger = train(tagged, options=options.tuning, start=tagger)
            taggers.append(tagger)
        return mean_tagger(taggers)

    def self_train(
        self,
        tagger: Tagger,
        few: FewTagged,
        raw: RawText,
        drawn: Sequence[Words],
        voter: RelativeVoter | None,
        adapted: Callable[[Tagger, Iterable[str]], Tagger],
    ) -> Tagger:
        """Self-train once on the bitext, or in several rounds also on sentences ``drawn`` from raw text.

        In each round the last tagger labels the raw text. ``adapted``: adapts a tagger to unknown words,
        given more known words; frequent words of raw text may be of any class.
        """
        text, options = self.reading.text, self.options

        def read(tagger: Tagger, sentences: Sequence[int]) -> LogEvidence:
            # Only script and lexicon constrain the tags, so that context can select a tag with few links.
            evidence = link_evidence(text, self.allowed, sentences)
            forms = [text.sentences[number] for number in sentences]
            evidence[:] = distribution_with(voter, tagger, forms, evidence)
            return balanced(evidence, options.balance)

        once = replace(self, options=replace(options, training=replace(options.training, epochs=1)))
        for later_rounds in reversed(range(options.rounds_of_raw if drawn else 1)):
            reader = adapted(tagger, raw.frequent(options.frequent)) if drawn else tagger
            how = {"strength": options.raw_strength, "balance": options.balance}
            more = self_tagged(reader, raw, drawn, **how, voter=voter)
            learner = once if later_rounds else self
            tagger = learner.fit(partial(read, tagger), few, "learning again", more)
        return tagger


def in_digits(
    examples: Sequence[SetExample], tags: Sequence[str], rules: ScriptRules, *, most: int
) -> list[SetExample]:
    """Return up to ``most`` sentences with their first sure number word in digits: a Testament has none."""
    found = list[SetExample]()
    for example in examples if NUMERAL in tags else ():
        # Links alone never make a tag negligible; type sets and a confident tagger do.
        possible = example.log_evidence >= np.log(FEW)
        numbers = np.flatnonzero(possible[:, tags.index(NUMERAL)] & (possible.sum(axis=1) == 1))
        if len(numbers) and len(found) < most:
            forms = list(example.forms)
            forms[numbers[0]] = figure = FIGURES[len(found) % len(FIGURES)]
            evidence = example.log_evidence
            if rules.allowed(figure, tags) == {ADJECTIVE}:
                evidence = evidence.copy()
                evidence[numbers[0]] = np.where(np.array(tags) == ADJECTIVE, 0.0, -np.inf)
            found.append(replace(example, forms=tuple(forms), log_evidence=evidence))
    return found


def balanced(probabilities: NDArray[np.floating], power: float) -> LogEvidence:
    """Return a tagger's probabilities of words' tags, [N, T], as training evidence, natural log.

    Self-training favours frequent tags, NOUN over ADJ, so they are divided by a ``power`` of their frequency.
    Source: Xie, Girshick and Farhadi (2016), "Unsupervised deep embedding for clustering analysis", equation
    3; the power is ours.
    """
    frequency = np.maximum(probabilities.mean(axis=0, dtype=np.float64), RAREST)
    with np.errstate(divide="ignore"):
        evidence = np.log(probabilities) - power * np.log(frequency)
    return (evidence - evidence.max(axis=1, keepdims=True)).astype(np.float32)


def with_temperature(tagger: Tagger, temperature: float) -> Tagger:
    """Divide all potentials by a temperature: the same tags with flatter probabilities."""
    weights = (tagger.weights / temperature).astype(np.float32)
    return replace(tagger, weights=weights, transitions=tagger.transitions / temperature)


def _is_capitalised(form: str) -> bool:
    return form[:1].isupper() and form[1:].islower()


def _lowered(capitalised: Collection[str], form: str) -> str:
    return form.lower() if form in capitalised else form


def self_tagged(
    tagger: Tagger,
    raw: RawText,
    sentences: Sequence[Words],
    *,
    strength: float,
    balance: float,
    voter: RelativeVoter | None = None,
) -> list[SetExample]:
    """Return examples of raw sentences, with the probabilities of a tagger and a voter as evidence."""
    if not sentences:
        return []
    allowed = raw.sets_of(tuple(chain.from_iterable(sentences)))
    possible = np.where(allowed, np.float32(0.0), np.float32(-np.inf))
    chances = distribution_with(voter, tagger, sentences, possible)
    if raw.capitalised and ADJECTIVE in tagger.tags:
        # Capitals show names; an ending that shows an adjective counts more.
        lower = [(one[0], *map(partial(_lowered, raw.capitalised), one[1:])) for one in sentences]
        as_lower = distribution_with(voter, tagger, lower, possible)
        pairs = zip(chain(*sentences), chain(*lower), strict=True)
        is_adjective = as_lower[:, tagger.tags.index(ADJECTIVE)] > HALF
        moved = is_adjective & np.array([one != other for one, other in pairs])
        chances[moved] = as_lower[moved]
    found = balanced(chances, balance)
    evidence = np.split(found, np.cumsum([len(forms) for forms in sentences])[:-1])
    return [SetExample(forms, of, strength) for forms, of in zip(sentences, evidence, strict=True)]
