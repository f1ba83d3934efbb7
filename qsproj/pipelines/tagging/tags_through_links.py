"""Train a tagger of a language without tagged text from tagged translations.

Links project tags; types and script constrain the tags of each word. Taggers of several parts of the bitext
learn from these sets and from links, and are averaged. Their mean tags the bitext again, with links but
without type sets, so that words can get tags that are rare in their links, for the next tagger. A few tagged
sentences correct systematic errors.

Source: Taeckstroem, Das, McDonald, Petrov and Nivre (2013), "Token and type constraints for cross-lingual
part-of-speech tagging".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, starmap
from typing import Any

import numpy as np

from qsproj.conventions import Floats, Rng, spawned, starts_of
from qsproj.corpus.characters import lower_form
from qsproj.corpus.language.lexicon import Lexicon
from qsproj.corpus.pairs.translations import Translations
from qsproj.corpus.sentence import Sentence
from qsproj.errors import listed_first, pluralise
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger, TagWords
from qsproj.models.tagging.tagger_training import mean_tagger, train_tagger
from qsproj.pipelines.tagging import function_words, type_dictionary
from qsproj.pipelines.tagging.conventions import registered_auxiliaries
from qsproj.pipelines.tagging.features_through_links import learn_features
from qsproj.pipelines.tagging.few_tagged import FewTagged, compare_with_tagged_alone
from qsproj.pipelines.tagging.linked_text import LinkedText, Words, read_linked_text
from qsproj.pipelines.tagging.options import BARELY, FEW, HALF, TagProjectionOptions
from qsproj.pipelines.tagging.relatives import relative_voter
from qsproj.pipelines.tagging.script_rules import ScriptRules
from qsproj.pipelines.tagging.self_training import RawText, SelfTraining, share_unknown, with_temperature
from qsproj.pipelines.treebanks import Treebank, tagged_alone
from qsproj.progress import track

PROJECTED_COLUMNS = ("feats", "lemma")  # columns learned beside UPOS by default
HELD_OUT = 100  # one sentence in HELD_OUT is held out to measure the agreement of tagger and links
# Errors that a tagger does not expect: held-out words tagged unlike their links, in excess of both the errors
# that it expects and the usual share of wrong links, LINK_ERRORS. Each counts UNDOUBTED times, since it also
# harms the arcs of neighbours; ENOUGH_WORDS with the usual share are added; the result is at most HALF. With
# link errors alone, calibration errors of arcs were 5.8 on dev files of Arabic, whose tagger is uncertain;
# with expected errors alone, 5.9 and 8.0 on news in German and Spanish. Words on which sources disagree are
# not evidence (Wolof with five: 9, not 2.3); as sources agree on easy words, those of the first count, too.
LINK_ERRORS = 0.125
ENOUGH_WORDS = 20
UNDOUBTED = 4.0
NAMED = 10  # maximum number of words named in the report


@dataclass(frozen=True, slots=True)
class ProjectedTagger:
    """A tagger of the target language, with a report of its training."""

    tagger: Tagger
    report: tuple[str, ...]
    unknown: float  # share of the words of raw text that are not in the bitext
    contradicted: tuple[function_words.Contradiction, ...] = ()  # words tagged against their links


def project_tags(
    corpus: Iterable[Translations],
    *,
    rng: Rng,
    tagged: Sequence[Sentence] = (),
    raw: Iterable[Sequence[str]] = (),
    lexicon: Lexicon | None = None,
    relatives: Sequence[Treebank] = (),
    language: str | None = None,
    columns: Sequence[str] = PROJECTED_COLUMNS,
    options: TagProjectionOptions | None = None,
) -> ProjectedTagger:
    """Train a tagger of the target language on words and links of translations whose sources have UPOS.

    ``corpus``: of several sources, the one with the largest treebank should come first: taggers are also
    trained on its votes alone. ``tagged``: target sentences with UPOS; their multiword tokens show how to
    split those of the corpus. ``raw``: tokenised sentences, best with the text to be tagged; most useful if
    the pairs lack modern words. ``lexicon``: allowed tags of words, or lemmas of forms. ``relatives``:
    treebanks of other languages. ``language``: stored in the model for tokenising plain text, and used to
    decide which conventions of the source hold. ``columns``: some of PROJECTED_COLUMNS: FEATS are learned if
    the sources have them, lemmas if lexicon or tagged sentences do.

    Raises UsageError when the target is empty, the source or a relative has no UPOS, or no word has a link.
    Memory: about 800 bytes for each target word of the ``sentences`` read. Time: O(epochs words).
    """
    options, lexicon, few = options or TagProjectionOptions(), lexicon or Lexicon(), FewTagged.of(tagged)
    relatives = [replace(one, sentences=list(tagged_alone(one.name, one.sentences))) for one in relatives]
    given = _gather(corpus, few, raw, lexicon, rng=rng, language=language, columns=columns, options=options)
    text, chosen = given.text, given.chosen
    teach = partial(learn_features, text, chosen, few=few, lexicon=lexicon, columns=columns)
    learn = partial(teach, language=language, rng=rng, options=options)
    learned_from, aside = few.split()
    linked = [one.from_links(learned_from) for one in given.learners]
    alone, judged = compare_with_tagged_alone(mean_tagger(linked), text, learned_from, aside, rng=rng)
    if alone:
        every = (*text.sentences, *given.raw.sentences)
        tagger = train_tagger(few.sentences, rng=rng, raw=every, language=language)
        tagger = type_dictionary.with_listed_tags(tagger, lexicon.tags, few.counts)
        morphology, lines = learn(tagger.tag_words)
        report = [summary(text), *judged, *lines]
        tagger = replace(tagger, unshared=text.unshared, morphology=morphology)
        return ProjectedTagger(tagger, tuple(report), given.unknown)

    if aside:
        linked = [one.from_links(few) for one in given.learners]
    tagger, drawn, on_raw, of_relatives = _self_trained(given, linked, relatives, rng=rng, options=options)
    tagger = type_dictionary.with_listed_tags(tagger, lexicon.tags, few.counts)
    tag_words = given.tags_by(tagger)
    contradicted = function_words.contradictions(text, tag_words, chosen, options)
    of_held_out = [disagreement(tagger, one.reading.text, given.held_out) for one in given.learners]
    of_training = _lines(given, drawn, contradicted, of_held_out[0])
    report = [summary(text) + on_raw, *judged, *of_relatives, *of_training]
    morphology, lines = learn(tag_words)
    tagger = replace(
        tagger,
        contractions=few.contractions,
        language=language,
        undoubted=float(np.mean(list(starmap(undoubted_errors, of_held_out)))),
        unshared=text.unshared,
        morphology=morphology,
    )
    return ProjectedTagger(tagger, (*report, *lines), given.unknown, tuple(contradicted))


def tagger_of_links(
    corpus: Iterable[Translations],
    *,
    like: Tagger,
    rng: Rng,
    tagged: Sequence[Sentence] = (),
    raw: Iterable[Sequence[str]] = (),
    lexicon: Lexicon | None = None,
    columns: Sequence[str] = (),
    options: TagProjectionOptions | None = None,
) -> Tagger:
    """Train a tagger as :func:`project_tags` does, with features and at least the tags of one of its taggers.

    So both can be averaged. Without ``columns`` (feats, lemma), those of that tagger stay. Relatives do not
    vote, links are used however many sentences are ``tagged``, and of several sources, no tagger is of the
    first alone: these take time.
    """
    options, lexicon, few = options or TagProjectionOptions(), lexicon or Lexicon(), FewTagged.of(tagged)
    given = _gather(
        corpus,
        few,
        raw,
        lexicon,
        rng=rng,
        language=like.language,
        columns=columns,
        options=options,
        extractor=type_dictionary.link_features_of(like),
        more_tags=like.tags,
    )
    given = replace(given, learners=given.learners[:1])
    linked = [one.from_links(few) for one in given.learners]
    tagger, *_ = _self_trained(given, linked, [], rng=rng, options=options)
    potentials = {name: getattr(tagger, name) for name in ("index", "weights", "transitions")}
    found = replace(like, tags=tagger.tags, **potentials)
    if columns:
        how: Any = {"few": few, "lexicon": lexicon, "columns": columns, "language": like.language}
        how |= {"rng": rng, "options": options}
        morphology, _ = learn_features(given.text, given.chosen, given.tags_by(tagger), **how)
        found = replace(found, morphology=morphology or like.morphology)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """All that taggers learn from."""

    text: LinkedText
    few: FewTagged
    lexicon: Lexicon
    raw: RawText
    unknown: float  # share of the words of raw text that are not in the bitext
    learns_raw: bool
    chosen: Sequence[int]  # training sentences of the text
    held_out: Sequence[int]
    learners: Sequence[SelfTraining]  # of the votes of all sources; of several, also of those of the first
    prior: Floats  # of the tags of unknown words

    def tags_by(self, tagger: Tagger) -> TagWords:
        """Return the tags of the training sentences, by their words."""
        forms = [self.text.sentences[number] for number in self.chosen]
        return dict(zip(forms, tagger.tag_block(forms), strict=True)).__getitem__

    def adapted(self, tagger: Tagger, more: Iterable[str]) -> Tagger:
        """Adapt a tagger to words that are unknown to the bitext, to answers and to ``more``."""
        known = chain(self.text.vocabulary, self.few.counts, self.lexicon.tags, more)
        return type_dictionary.with_prior_of_unknown(tagger, known, self.prior)


def _gather(
    corpus: Iterable[Translations],
    few: FewTagged,
    raw: Iterable[Sequence[str]],
    lexicon: Lexicon,
    *,
    rng: Rng,
    language: str | None,
    columns: Sequence[str],
    options: TagProjectionOptions,
    extractor: FeatureExtractor | None = None,
    more_tags: Iterable[str] = (),
) -> _Given:
    """Read text and links, constrain the tags of types, and divide the sentences among the taggers."""
    text = read_linked_text(
        track(corpus, "reading links", unit="pair"),
        more_tags=chain(*few.counts.values(), *lexicon.tags.values(), more_tags),
        contractions=few.contractions,
        known={word: {tags[0]: 1} for word, tags in lexicon.tags.items() if len(tags) == 1}
        | dict(few.counts),
        language=language,
        most=options.sentences,
        rng=rng,
        marked="feats" in columns,
        link_power=options.link_power,
    )
    positions = function_words.Positions.of(text, options, auxiliaries=registered_auxiliaries(language))
    text = positions.every.text
    chosen, held_out = choose_sentences(text, rng=rng, options=options)
    raw_text = RawText.of(
        raw,
        text.tags,
        lexicon.tags,
        few.contractions,
        most=options.sentences,
        rng=rng,
        language=language,
        known=text.vocabulary,
    )
    rules = ScriptRules.of(text.vocabulary, language=language)
    allowed = type_dictionary.allowed_tags(text.vocabulary, text.tags, lexicon.tags, rules)
    pronouns = registered_auxiliaries(language, pronouns=True).difference(map(lower_form, lexicon.tags))
    are_pronouns = np.isin(list(map(lower_form, text.vocabulary)), list(pronouns))
    allowed &= ~(are_pronouns[:, None] & np.isin(text.tags, ["AUX"]))
    allowed = type_dictionary.with_seen_tags(allowed, text, few.counts)
    unknown = share_unknown(chain.from_iterable(raw_text.sentences), text.vocabulary)
    learns_raw = unknown >= FEW if options.learn_raw is None else options.learn_raw
    read = [*text.sentences, *(raw_text.sentences if learns_raw else ())]
    if extractor is None:
        extractor = type_dictionary.link_features(read, classes=options.classes, rng=spawned(rng, 1)[0])
    parts = split_sentences(chosen, rng=rng, options=options)
    learners = [
        SelfTraining(
            reading,
            allowed=allowed,
            parts=parts,
            extractor=extractor,
            rng=rng,
            options=options,
            rules=rules,
        )
        for reading in positions.readings(allowed, extractor.class_sets.get("lowerclass", {}), options)
    ]
    return _Given(
        text=text,
        few=few,
        lexicon=lexicon,
        raw=raw_text,
        unknown=unknown,
        learns_raw=learns_raw,
        chosen=chosen,
        held_out=held_out,
        learners=learners,
        prior=type_dictionary.prior_of_unknown(text),
    )


def _self_trained(
    given: _Given,
    linked: Sequence[Tagger],
    relatives: Sequence[Treebank],
    *,
    rng: Rng,
    options: TagProjectionOptions,
) -> tuple[Tagger, list[Words], str, Sequence[str]]:
    """Self-train the taggers of links; without raw text if with it the mean follows fewer held-out links.

    Returns the mean, the sentences of raw text learned from, a clause about them, and lines on relatives.
    """
    text = given.text
    first = mean_tagger(linked)
    drawn = given.raw.drawn(options.raw_sentences, rng) if given.learns_raw else []
    forms = [text.sentences[number] for number in given.chosen]
    voter, of_relatives = relative_voter(relatives, first, forms, rng=rng)

    def trained(drawn: Sequence[Words]) -> Tagger:
        of_links = zip(given.learners, linked, strict=True)
        return mean_tagger(
            [one.self_train(own, given.few, given.raw, drawn, voter, given.adapted) for one, own in of_links]
        )

    tagger = trained(drawn)
    on_raw = decision_on_raw(given.raw, given.unknown, drawn, options.learn_raw)
    if drawn and options.learn_raw is None:
        (before, _, words), (after, *_) = (disagreement(one, text, given.held_out) for one in (first, tagger))
        if after - before > FEW * words:
            drawn, tagger = [], trained([])
            on_raw = (
                f", raw text not learned from: fewer held-out words would be tagged as linked, "
                f"{100 - 100 * after / words:.1f}% instead of {100 - 100 * before / words:.1f}%"
            )
    tagger = with_temperature(tagger, options.temperature ** (options.rounds_of_raw if drawn else 1))
    return given.adapted(tagger, chain.from_iterable(drawn)), drawn, on_raw, of_relatives


def _lines(
    given: _Given,
    drawn: Sequence[Words],
    contradicted: Sequence[function_words.Contradiction],
    of_held_out: tuple[int, float, int],
) -> list[str]:
    """Report what the taggers learned from, and how their mean agrees with the links."""
    text, few, (wrong, _, words) = given.text, given.few.sentences, of_held_out
    line = f"trained on {len(given.chosen):,} of {pluralise(len(text.sentences), 'sentence')}"
    line += f" and {len(few)} tagged" if few else ""
    raw = f", and from {pluralise(len(drawn), 'sentence')} of raw text as earlier taggers read them"
    lines = [line + (raw if drawn else "")]
    in_text = {*map(lower_form, chain(text.vocabulary, *drawn))}
    if absent := {*map(lower_form, given.lexicon.tags)} - in_text:
        lines.append(
            f"{pluralise(len(absent), 'word')} of the lexicon in no text, which teach nothing about others"
        )
    if contradicted:
        named = listed_first(contradicted, NAMED)
        lines.append(f"{pluralise(len(contradicted), 'frequent word')} tagged against most links: {named}")
    if words:
        lines.append(f"held-out evidence: {100 - 100 * wrong / words:.1f}% of words are tagged as linked")
    return lines


def choose_sentences(
    text: LinkedText, *, rng: Rng, options: TagProjectionOptions
) -> tuple[list[int], list[int]]:
    """Return training sentences that links cover (if none, any) and covered held-out ones, in text order."""
    linked = starts_of(text.votes.any(axis=1))
    covered = np.diff(linked[text.starts]) >= HALF * np.diff(text.starts)
    held_out = np.arange(len(covered)) % HELD_OUT == HELD_OUT - 1
    usable = np.nonzero(covered & ~held_out if (covered & ~held_out).any() else ~held_out)[0]
    chosen = np.sort(rng.permutation(usable)[: options.sentences])
    return chosen.tolist(), np.nonzero(covered & held_out)[0].tolist()


def split_sentences(chosen: Sequence[int], *, rng: Rng, options: TagProjectionOptions) -> list[list[int]]:
    """Assign sentences to the averaged taggers, in text order: disjoint parts, or random halves of few ones.

    Averaging removes errors due to the sample (Breiman 1996, "Bagging predictors").
    """
    if len(chosen) >= options.taggers * options.fewest:
        parts = np.array_split(rng.permutation(chosen), options.taggers)
    else:
        parts = [rng.permutation(chosen)[: (len(chosen) + 1) // 2] for _ in range(options.taggers)]
    return [np.sort(part).tolist() for part in parts]


def summary(text: LinkedText) -> str:
    words, kept = len(text.types), len(text.sentences)
    evident = np.mean(text.votes.sum(axis=1) >= HALF)
    drawn = f"{kept:,} of {kept + text.left_out:,} sentences drawn by chance: " if text.left_out else ""
    return drawn + (
        f"{pluralise(words, 'target word')} of {pluralise(len(set(text.vocabulary)), 'type')}: "
        f"{text.links / words:.2f} links a word, {100 * evident:.1f}% of words with evidence"
    )


def decision_on_raw(raw: RawText, unknown: float, drawn: Sequence[Words], learn_raw: bool | None) -> str:
    """Return a clause that says whether raw text is used, and why; empty without raw text."""
    if not raw.sentences:
        return ""
    lacking = f"{100 * unknown:.0f}% of its words are not in the bitext"
    least = f", fewer than {100 * FEW:.0f}%" if unknown < FEW and not drawn and learn_raw is None else ""
    return f", raw text {'' if drawn else 'not '}learned from: {lacking}{least}"


def disagreement(tagger: Tagger, text: LinkedText, sentences: Sequence[int]) -> tuple[int, float, int]:
    """Return the number of words tagged against clear links, its expectation, and that of all with links."""
    wrong, expected, total = 0, 0.0, 0
    for sentence in sentences:
        forms, votes = text.sentences[sentence], text.votes[text.words_of(sentence)]
        evident = (votes.sum(axis=1) >= HALF) & (votes.max(axis=1) >= (1.0 - BARELY) * votes.sum(axis=1))
        chances = tagger.marginals(tagger.emissions(forms))
        wrong += int((chances.argmax(axis=1) != votes.argmax(axis=1))[evident].sum())
        expected += float((1.0 - chances[evident].max(axis=1)).sum())
        total += int(evident.sum())
    return wrong, expected, total


def undoubted_errors(wrong: int, expected: float, words: int) -> float:
    """Return the share of errors that a tagger does not doubt, by its :func:`disagreement`."""
    counted = words + ENOUGH_WORDS
    usual = LINK_ERRORS * counted
    excess = (wrong + LINK_ERRORS * ENOUGH_WORDS - max(expected, usual)) / counted
    return float(np.clip(UNDOUBTED * excess, 0.0, HALF))
