"""Train a tagger of a language without tagged text from tagged translations.

Links project tags; types and script constrain the tags of each word. A first tagger learns from these sets
alone and estimates how reliable the links of each type are; a second learns from sets and links. This is done
for several parts of the bitext, and the taggers are averaged. The mean tags the bitext again, with links but
without type sets, so words can get tags that are rare in their links; the next tagger learns from these
probabilities. A few tagged sentences, if given, correct systematic errors of translations.

Source: Taeckstroem, Das, McDonald, Petrov and Nivre (2013), "Token and type constraints for cross-lingual
part-of-speech tagging"; learning how projected tags err from few tagged sentences: Fang and Cohn (2016).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from qsproj.corpus.language.lexicon import Lexicon
from qsproj.corpus.pairs.translations import Translations
from qsproj.corpus.sentence import Sentence
from qsproj.errors import pluralise
from qsproj.features.tagging import Classes, templates_with, word_classes
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger
from qsproj.models.tagging.tagger_training import (
    LogEvidence,
    SetExample,
    SetTrainingOptions,
    mean_tagger,
    train_on_sets,
    train_tagger,
)
from qsproj.pipelines.tagging.extra_data import (
    FewTagged,
    RawText,
    as_tagged,
    balanced,
    compare_with_tagged_alone,
    in_digits,
)
from qsproj.pipelines.tagging.features_through_links import FeatureProjectionOptions, learn_features
from qsproj.pipelines.tagging.linked_text import LinkedText, read_linked_text
from qsproj.pipelines.tagging.tag_evidence import (
    Contradiction,
    LinkChannel,
    Sets,
    allowed_tags,
    channel_evidence,
    contradictions,
    corrected,
    distributional_tags,
    function_word_prior,
    learn_channel,
    set_evidence,
    type_sets,
    type_shares,
)
from qsproj.progress import track

# Columns learned beside UPOS by default.
PROJECTED_COLUMNS = ("feats", "lemma")
# One sentence in HELD_OUT is held out to measure the agreement of tagger and links.
HELD_OUT = 100
# Sentences searched for contradictions, and number of words named in the report.
COMPARED, NAMED = 2000, 10
# Minimum total vote of a word with evidence, in the report.
EVIDENT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TagProjectionOptions:
    """Options of a tagger learned through links (docs/notes/tags-through-links.md)."""

    # maximum number of target sentences, and of raw ones, kept in memory; a sample of more
    read: int = 100_000
    sentences: int = 60000  # maximum number of training sentences
    covered: float = 0.5  # minimum share of linked words in a training sentence
    shortest: int = 5  # sentence length in words
    longest: int = 49
    parts: int = 3  # maximum number of parts, each with its own tagger; the taggers are averaged
    # minimum sentences of a part; with too few for two parts, ``draws`` taggers learn from random halves
    fewest: int = 1200
    draws: int = 5
    # below this many sentences, forms with the same stem are smoothed together, and ``classes`` word classes
    # of the target are features
    little: int = 20000
    classes: int = 64
    # sentences of the first round in all parts, which learns from type sets alone and estimates the
    # reliability of links
    first_sentences: int = 12000
    first_least: float = 0.25  # minimum share of a type's links for a tag of its set, in the first round
    least: float = 0.15  # the same, in the second round
    # training of every round
    training: SetTrainingOptions = field(default_factory=lambda: SetTrainingOptions(epochs=2))
    # rounds of self-training on the bitext, without and with raw text
    rounds: int = 2
    rounds_of_raw: int = 3
    # power that discounts frequent tags there, see :func:`qsproj.pipelines.tagging.extra_data.balanced`
    balance: float = 0.4
    raw_sentences: int = 8000  # maximum number of raw training sentences; a sample of more
    raw_strength: float = 3.0  # weight of a raw sentence, 1 for one of the bitext
    # copies of sentences of each part with a number in digits, where the bitext spells numbers out
    in_digits: int = 300
    tagged_strength: float = 5.0  # weight of a tagged sentence, 1 for one of the bitext
    # final tuning on tagged sentences alone
    tuning: SetTrainingOptions = field(default_factory=lambda: SetTrainingOptions(epochs=5, rate=0.05))
    # divisor of the averaged potentials, because self-training makes the tagger overconfident
    temperature: float = 1.5
    temperature_of_raw: float = 2.2
    features: FeatureProjectionOptions = field(default_factory=FeatureProjectionOptions)


@dataclass(frozen=True, slots=True)
class ProjectedTagger:
    """A tagger of the target language, with a report of its training."""

    tagger: Tagger
    report: tuple[str, ...]
    # conventions of the source that do not hold in the target
    unshared: tuple[str, ...]
    # frequent words whose tags contradict their links
    contradicted: tuple[Contradiction, ...] = ()


def project_tags(
    corpus: Iterable[Translations],
    *,
    rng: np.random.Generator,
    tagged: Sequence[Sentence] = (),
    raw: Iterable[Sequence[str]] = (),
    lexicon: Lexicon | None = None,
    language: str | None = None,
    columns: Sequence[str] = PROJECTED_COLUMNS,
    options: TagProjectionOptions | None = None,
) -> ProjectedTagger:
    """Train a tagger of the target language on words and links of translations whose sources have UPOS.

    ``tagged``: target sentences with UPOS, as few as there are; their multiword tokens determine how those of
    the corpus are split. ``raw``: tokenised sentences, best with the text to be tagged among them; most
    useful where the pairs lack modern words, least with many pairs. ``lexicon``: allowed tags of words, or
    lemmas of forms. ``language``: kept in the model for tokenising plain text, and used to decide which
    conventions of the source hold. ``columns``: some of PROJECTED_COLUMNS: FEATS are learned where the
    sources have them (:mod:`qsproj.pipelines.tagging.features_through_links`), lemmas where lexicon or tagged
    sentences do.

    Raises UsageError when the target is empty, the source has no UPOS, or no word has a link. Memory: about
    800 bytes for each target word of the ``read`` sentences. Time: O(epochs words).
    """
    options, lexicon = options or TagProjectionOptions(), lexicon or Lexicon()
    few = FewTagged.of(tagged)
    text = read_linked_text(
        track(corpus, "reading links", unit="pair"),
        more_tags={*few.tags, *(tag for of_word in lexicon.tags.values() for tag in of_word)},
        contractions=few.contractions,
        known=few.counts,
        language=language,
        most=options.read,
        rng=rng,
        marked="feats" in columns,
    )
    chosen, held_out = choose_sentences(text, rng=rng, options=options)
    raw_text = RawText.of(
        raw, tags=text.tags, lexicon=lexicon.tags, contractions=few.contractions, most=options.read, rng=rng
    )
    little = len(chosen) < options.little
    allowed = allowed_tags(text.vocabulary, text.tags, lexicon.tags)
    shares = type_shares(text, text.votes, allowed, stems=little)
    shares = distributional_tags(text, function_word_prior(text, shares))
    classes = classes_of_both(text, raw_text, options.classes) if little else {}
    learner = _Learner(text, FeatureExtractor(templates_with(tuple(classes)), classes), rng, options)

    parts = deal_out(chosen, rng=rng, options=options)

    learned_from, aside = few.split()
    sets = type_sets(corrected(shares, text, learned_from.counts), allowed, least=options.first_least)
    deaf, channels = learner.first_round(parts, sets, learned_from)
    # Sorted only now: the first round takes the first sentences of each part in random order.
    parts = [sorted(part) for part in parts]
    alone_wins, judged = compare_with_tagged_alone(deaf, text, learned_from, aside, rng=rng)
    learn = partial(
        learn_features,
        text,
        chosen,
        few=few,
        lexicon=lexicon,
        columns=columns,
        rng=rng,
        options=options.features,
    )
    if alone_wins:
        tagger = train_tagger(
            few.sentences, rng=rng, raw=(*text.sentences, *raw_text.sentences), language=language
        )
        morphology, told = learn(tagger)
        return ProjectedTagger(
            replace(tagger, morphology=morphology), (summary(text), *judged, *told), text.unshared
        )

    sets = type_sets(corrected(shares, text, few.counts), allowed, least=options.least)
    tagger = learner.second_round(parts, sets, channels, few)
    drawn = usable_raw(raw_text, rng=rng, options=options)
    for _ in range(options.rounds_of_raw if drawn else options.rounds):
        more = as_tagged(tagger, raw_text, drawn, strength=options.raw_strength, balance=options.balance)
        tagger = learner.next_round(tagger, parts, allowed, channels, few, more)
    tagger = with_temperature(tagger, options.temperature_of_raw if drawn else options.temperature)
    report = [
        summary(text),
        *judged,
        f"learned from {len(chosen):,} of {pluralise(len(text.sentences), 'sentence')}"
        + (f" and {len(few.sentences)} tagged" if few.sentences else "")
        + (
            f", and from {pluralise(len(drawn), 'sentence')} of raw text as earlier taggers read them"
            if drawn
            else ""
        ),
    ]
    contradicted = contradictions(text, tagger, chosen[:: -(-len(chosen) // COMPARED)])
    if contradicted:
        and_others = ", ..." if len(contradicted) > NAMED else ""
        report.append(
            f"{pluralise(len(contradicted), 'frequent word')} tagged against most links: "
            f"{', '.join(map(str, contradicted[:NAMED]))}{and_others}"
        )
    agreed = agreement(tagger, text, held_out)
    if agreed is not None:
        report.append(f"held-out evidence: {100 * agreed:.1f}% of words are tagged as linked")
    morphology, told = learn(tagger)
    tagger = replace(tagger, contractions=few.contractions, language=language, morphology=morphology)
    return ProjectedTagger(tagger, (*report, *told), text.unshared, tuple(contradicted))


@dataclass(frozen=True, slots=True)
class _Learner:
    """State shared by all rounds of training."""

    text: LinkedText
    extractor: FeatureExtractor
    rng: np.random.Generator
    options: TagProjectionOptions

    def first_round(
        self, parts: Sequence[Sequence[int]], sets: Sets, few: FewTagged
    ) -> tuple[Tagger, list[LinkChannel]]:
        """Learn from type sets alone; return the mean of the parts' taggers, and a link channel of each."""
        share = self.options.first_sentences // len(parts)
        firsts = [sorted(part[:share]) for part in parts]
        taggers = [
            self.train(first, set_evidence(self.text, sets, first), few, "learning from types")
            for first in firsts
        ]
        channels = [
            learn_channel(self.text, sets, tagger, track(first, "weighing links", unit="sentence"))
            for tagger, first in zip(taggers, firsts, strict=True)
        ]
        return mean_tagger(taggers), channels

    def second_round(
        self, parts: Sequence[Sequence[int]], sets: Sets, channels: Sequence[LinkChannel], few: FewTagged
    ) -> Tagger:
        """Learn from sets and links; return the mean of the parts' taggers."""
        return mean_tagger(
            [
                self.train(part, channel_evidence(self.text, sets, channel, part), few, "learning from links")
                for part, channel in zip(parts, channels, strict=True)
            ]
        )

    def next_round(
        self,
        tagger: Tagger,
        parts: Sequence[Sequence[int]],
        allowed: Sets,
        channels: Sequence[LinkChannel],
        few: FewTagged,
        more: Sequence[SetExample],
    ) -> Tagger:
        """Self-train on the bitext with its links, and on more examples; return the mean of the taggers.

        Only script and lexicon (``allowed``) constrain the tags, not type sets, so that context can select a
        tag with few links. On dev files, from 8,000 pairs, UPOS German +1.5, Czech +1.6, Spanish +.8, Italian
        +.4, Swedish +.1; within the sets a third of that.
        """
        return mean_tagger(
            [
                self.train(part, self.read(tagger, part, allowed, channel), few, "learning again", more)
                for part, channel in zip(parts, channels, strict=True)
            ]
        )

    def read(
        self, tagger: Tagger, sentences: Sequence[int], allowed: Sets, channel: LinkChannel
    ) -> LogEvidence:
        """Return the balanced tag probabilities of ``sentences`` given a tagger and links, as evidence."""
        evidence = channel_evidence(self.text, allowed, channel, sentences)
        by_sentence = self.text.parted(evidence, sentences)
        for sentence, known in zip(
            track(sentences, "reading again", unit="sentence"), by_sentence, strict=True
        ):
            known[:] = tagger.distribution_given(self.text.sentences[sentence], known)
        return balanced(evidence, self.options.balance)

    def train(
        self,
        chosen: Sequence[int],
        evidence: LogEvidence,
        few: FewTagged,
        what: str,
        more: Sequence[SetExample] = (),
    ) -> Tagger:
        """Train on sentences of the bitext, tagged ones and ``more``; then tune on the tagged ones."""
        text, options = self.text, self.options
        by_sentence = text.parted(evidence, chosen)
        examples = [
            SetExample(text.sentences[s], known) for s, known in zip(chosen, by_sentence, strict=True)
        ]
        examples += in_digits(examples, text.tags, most=options.in_digits)
        examples += [*few.examples(text.tags, strength=options.tagged_strength), *more]
        tagger = train_on_sets(
            examples,
            tags=text.tags,
            extractor=self.extractor,
            rng=self.rng,
            options=options.training,
            what=what,
        )
        if not few.sentences:
            return tagger
        return train_on_sets(
            few.examples(text.tags, strength=1.0),
            tags=text.tags,
            extractor=self.extractor,
            rng=self.rng,
            options=options.tuning,
            start=tagger,
        )


def classes_of_both(text: LinkedText, raw: RawText, count: int) -> dict[str, Classes]:
    """Return lower-cased word classes of the bitext's target side and raw text together; none for 0."""
    if not count:
        return {}
    lowered = [[form.lower() for form in forms] for forms in (*text.sentences, *raw.sentences)]
    return {"lowerclass": word_classes(lowered, count)}


def usable_raw(
    raw: RawText, *, rng: np.random.Generator, options: TagProjectionOptions
) -> list[tuple[str, ...]]:
    """Return a sample of raw sentences of suitable length, in text order."""
    usable = [forms for forms in raw.sentences if options.shortest <= len(forms) <= options.longest]
    chosen = np.sort(rng.permutation(len(usable))[: options.raw_sentences])
    return [usable[i] for i in chosen.tolist()]


def with_temperature(tagger: Tagger, temperature: float) -> Tagger:
    """Divide all potentials by a temperature: the same tags with flatter probabilities."""
    weights = (tagger.weights / temperature).astype(np.float32)
    return replace(tagger, weights=weights, transitions=tagger.transitions / temperature)


def choose_sentences(
    text: LinkedText, *, rng: np.random.Generator, options: TagProjectionOptions
) -> tuple[list[int], list[int]]:
    """Return the training sentences and the held-out ones, both in text order.

    If no sentence is sufficiently covered, as in a bitext of a few lines, all that are not held out are used.
    """
    lengths = np.diff(text.starts)
    linked = np.concatenate([[0], np.cumsum(text.votes.any(axis=1))])
    covered = np.diff(linked[text.starts]) >= options.covered * lengths
    fits = covered & (lengths >= options.shortest) & (lengths <= options.longest)
    held_out = np.arange(len(lengths)) % HELD_OUT == HELD_OUT - 1
    usable = np.nonzero(fits & ~held_out)[0]
    if not len(usable):
        usable = np.nonzero(~held_out)[0]
    chosen = np.sort(rng.permutation(usable)[: options.sentences])
    return chosen.tolist(), np.nonzero(fits & held_out)[0].tolist()


def deal_out(
    chosen: Sequence[int], *, rng: np.random.Generator, options: TagProjectionOptions
) -> list[list[int]]:
    """Return the sentences of each tagger in random order: a part each, or random halves of few sentences.

    Averaging removes errors due to the sample. On dev files, UPOS from 1,000 pairs, five halves against all
    of them once: Chinese and German +1.2, Czech and Turkish +1.0, Spanish +.6, Swedish +.1. From New
    Testaments five draws were no better than three parts.

    *Source*: Breiman (1996), "Bagging predictors".
    """
    count = min(options.parts, len(chosen) // options.fewest)
    if count > 1:
        return [part.tolist() for part in np.array_split(rng.permutation(chosen), count)]
    half = -(-len(chosen) // 2)
    return [rng.permutation(chosen)[:half].tolist() for _ in range(options.draws)]


def summary(text: LinkedText) -> str:
    words = len(text.types)
    evident = np.mean(text.votes.sum(axis=1) >= EVIDENT)
    kept = len(text.sentences)
    drawn = f"{kept:,} of {kept + text.left_out:,} sentences drawn by chance: " if text.left_out else ""
    return drawn + (
        f"{pluralise(words, 'target word')} of {pluralise(len(text.vocabulary), 'type')}: "
        f"{text.links / words:.2f} links a word, {100 * evident:.1f}% of words with evidence"
    )


def agreement(tagger: Tagger, text: LinkedText, sentences: Sequence[int]) -> float | None:
    """Return the share of words with evidence whose tag has most votes; None without any."""
    agreed = total = 0
    for sentence in sentences:
        votes = text.votes[text.words_of(sentence)]
        for tag, row in zip(tagger.tag_words(text.sentences[sentence]), votes, strict=True):
            if row.sum() >= EVIDENT:
                total += 1
                agreed += text.tags[int(row.argmax())] == tag
    return agreed / total if total else None
