"""Retrain a bootstrapped model in seconds on an annotator's answers: tagged words and corrected sentences.

A bootstrapped model lacks conventions and words of the text at hand. So its tagger is fine-tuned on the
answers and tags raw text, as the lexicon allows; a new tagger is trained on this text and the answers, twice.
Parser and labeller are fine-tuned on the trees. Unknown tags and heads are summed out.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import chain

import numpy as np

from qsproj.conventions import ROOT, Floats, spawned
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.contractions import learn_contractions
from qsproj.corpus.editing import with_columns
from qsproj.corpus.files import open_text
from qsproj.corpus.language.lexicon import Lexicon, WordTags
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Sentence, has_tree
from qsproj.errors import NothingToLearnError
from qsproj.features.hashing import FeatureIndex
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import tuned_and_judged
from qsproj.models.parser import Parser
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import (
    LogEvidence,
    SetExample,
    SetTrainingOptions,
    mean_tagger,
    train_on_sets,
)
from qsproj.models.text.text_parser import Readings, TextParser
from qsproj.pipelines.tagging.conventions import ORDINALS_IN_DIGITS
from qsproj.pipelines.tagging.few_tagged import tag_counts
from qsproj.pipelines.tagging.linked_text import Words
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.script_rules import ADJECTIVE, ScriptRules, is_number
from qsproj.pipelines.tagging.self_training import RawText, self_tagged, with_temperature
from qsproj.pipelines.tagging.tags_through_links import tagger_of_links
from qsproj.pipelines.tagging.type_dictionary import KNOWN, allowed_tags, with_listed_tags
from qsproj.training.cross_fitting import FEWEST, HeldOut, cross_fit, helpful_share, likeliest_temperature
from qsproj.training.objectives import LabelLikelihood

LEAST_CHANCE = 1e-5  # lower bound of the probability of an unknown tag
# Fine-tuning of the tagger before it tags raw text, then ROUNDS of training on this text and the answers. A
# tagger is the mean of DRAWS, which differ by .7 UPOS. Chosen on halves of development files of Wolof and
# Armenian; on the other halves, and in Estonian, no other value was better by more than chance.
FIRST = SetTrainingOptions(epochs=10, rate=0.15)
TRAINING = SetTrainingOptions(epochs=4)
ROUNDS = 2
DRAWS = 3
RAW_SENTENCES = 1500  # maximum number of raw sentences, sampled at random
RAW_STRENGTH = 3.0  # weight of a raw sentence
STRENGTH = 20.0  # weight of a corrected sentence
BALANCE = 0.4  # see qsproj.pipelines.tagging.self_training.balanced
# Temperature of a bootstrapped tagger, removed before training. Then it is fitted to held-out tags, changed
# by a factor of at most MOST; with ENOUGH_WORDS held-out words, half of the change (in logs) is made.
TEMPERATURE = 2.2
ENOUGH_WORDS = 100
MOST = 3.0
# Factor of this temperature, since trees overrule an uncertain tagger too often; the errors that it hides are
# counted as undoubted. LAS with .5 to 1: within .3 (Ukrainian, Estonian, Armenian).
SHARPER = 0.75
MOST_OF_PARSER = 4.0  # the largest factor of the parser's temperature
STEPS = 12  # bisection steps in the search for the parser's temperature
FOLDS = 3  # folds of cross-fitting
JUDGED = 200  # number of raw sentences on which the confidence of a tagger is measured


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutTags:
    """Tags of a sentence by a tagger not trained on it; their error probabilities, float64[n+1]."""

    tags: tuple[str, ...]
    doubts: Floats


@dataclass(frozen=True, slots=True)
class TaggerInputs:
    """Training data of the tagger of a bootstrap, except raw text."""

    corpora: Sequence[AlignedFiles]  # that with the largest treebank first
    tagged: Sequence[Sentence] = ()
    lexicon: Lexicon = field(default_factory=Lexicon)
    options: TagProjectionOptions | None = None


def learn_answers(
    model: TextParser,
    sentences: Sequence[Sentence],
    lexicon: WordTags,
    *,
    raw: Sequence[Sequence[str]],
    rng: np.random.Generator,
    inputs: TaggerInputs | None = None,
    columns: Sequence[str] = (),
) -> TextParser:
    """Retrain a bootstrapped model on an annotator's answers; without answers, return the model itself.

    ``sentences``: corrected ones, with ``_`` and -1 where tag or head is unknown. ``lexicon``: possible tags
    of words. ``raw``: tokenised sentences of the text to be parsed. ``inputs``: the tagger is the mean of
    two, of which one learns answers, completed by the other, through links again. It then also learns the
    ``columns`` of the sentences, feats or lemma. Time: seconds for a hundred answers and a thousand raw
    sentences; with the links of a New Testament, 15.
    """
    if not sentences and not lexicon:
        return model
    of_links, of_trees = spawned(rng, 2)  # separate: links change no tree of which all tags are known
    # The model has learned the bootstrap's words; when it learns again, they rule the tags of raw text.
    words = (Lexicon(tags=model.tagger.listed) if inputs is None else inputs.lexicon).corrected(lexicon)
    # Corrected words may have other tags now.
    before = replace(model.tagger, listed={}) if model.tagger.listed else model.tagger
    tagger, own = learned_tagger(before, sentences, words.tags, raw=raw, rng=rng)
    # A tagger without known words is of tagged sentences alone, which were better than links.
    if inputs is not None and tagger is not before and KNOWN in tagger.extractor.class_sets:
        answered = (one for one in sentences if set(one.upos) != {UNSPECIFIED})
        through_links = tagger_of_links(
            join_same_targets(inputs.corpora),
            like=tagger,
            rng=of_links,
            tagged=[*inputs.tagged, *(with_known_tags(tagger, one, words.tags) for one in answered)],
            raw=raw,
            lexicon=words,
            columns=columns,
            options=inputs.options,
        )
        mean = mean_tagger([with_tags(tagger, set(), set(through_links.tags)), through_links])
        tagger = replace(mean, morphology=through_links.morphology)
    if words.tags:
        tagger = with_listed_tags(tagger, words.tags, tag_counts(sentences))
    trees = {at: one for at, one in enumerate(sentences) if has_tree(one)}
    tagged = [with_known_tags(tagger, one, words.tags) for one in trees.values()]
    parser = model.base
    if not parser.refuses_training:
        # If the parser can build none of the trees, it stays unchanged.
        with suppress(NothingToLearnError):
            parser = tuned_parser(parser, tagged, list(map(own.get, trees)), rng=of_trees)
    return replace(model, tagger=tagger, base=parser)


def tuned_parser(
    parser: Parser, trees: Sequence[Sentence], own: Sequence[HeldOutTags | None], *, rng: np.random.Generator
) -> Parser:
    """Fine-tune a parser on trees; recalibrate the temperature of a first-order one.

    The temperature equates the mean probability of held-out arcs with their accuracy, when trees are parsed
    with the tagger's ``own`` tags: in new text about as many tags are wrong.
    """
    if not isinstance(parser, ArcParser):
        return parser.fine_tuned(trees, rng=rng)
    of_tree = {id(tree): tags for tree, tags in zip(trees, own, strict=True)}

    def seen(tree: Sentence) -> Sentence:
        tags = of_tree[id(tree)]
        return tree if tags is None else with_columns(tree, upos=tags.tags)

    tuned, judged = tuned_and_judged(parser, trees, rng=rng, seen=seen)
    own_tags = [(tree, scores, tags) for tree, scores in judged if (tags := of_tree[id(tree)]) is not None]
    words = sum(int(np.count_nonzero(tree.heads >= ROOT)) for tree, *_ in own_tags)
    if not words:
        return tuned

    def overconfidence(parser: ArcParser) -> float:
        """Return the expected number of right heads minus the actual number."""
        excess = 0.0
        for tree, scores, tags in own_tags:
            marked = parser.with_marks(scores, seen(tree), parser.inference)
            readings = Readings(marked, tags.tags, tags.doubts)
            known = np.flatnonzero(tree.heads >= ROOT)
            heads = parser.heads(readings.scores)[known]
            excess += float(readings.arc_probabilities(parser)[heads, known].sum())
            excess -= int((heads == tree.heads[known]).sum())
        return excess

    low, high = -np.log(MOST_OF_PARSER), np.log(MOST_OF_PARSER)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        flat = replace(tuned, temperature=parser.temperature * float(np.exp(middle)))
        low, high = (middle, high) if overconfidence(flat) > 0.0 else (low, middle)
    factor = np.exp(words / (words + ENOUGH_WORDS) * middle)
    return replace(tuned, temperature=parser.temperature * float(factor))


def learned_tagger(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    lexicon: WordTags,
    *,
    raw: Iterable[Sequence[str]],
    rng: np.random.Generator,
) -> tuple[Tagger, dict[int, HeldOutTags]]:
    """Train a tagger on answers and self-tagged raw text, calibrated on held-out sentences.

    Also returns, by the index of each sentence, the tags of a tagger trained on other sentences. Sentences
    change the tagger only as far as this improves the tags of held-out ones.
    """
    places = [at for at, one in enumerate(sentences) if set(one.upos) != {UNSPECIFIED}]
    places = places if len(places) >= FEWEST else []
    known = [sentences[at] for at in places]
    shown = {tag for one in known for tag in one.upos} - {UNSPECIFIED}
    listed = set(chain.from_iterable(lexicon.values()))
    # Without its temperature: self-training would soon overrule a flattened tagger's tags of rare words.
    sharp = with_temperature(tagger, 1.0 / TEMPERATURE)
    before, learned = (with_tags(one, set(), shown | listed) for one in (tagger, sharp))
    current = with_tags(sharp, shown, listed)
    contractions = {**tagger.contractions, **learn_contractions(known)}
    of_numbers = {tag for one in known for form, tag in zip(one.forms, one.upos) if is_number(form)}
    if tagger.language in ORDINALS_IN_DIGITS:
        of_numbers.add(ADJECTIVE)
    text = RawText.of(
        raw,
        current.tags,
        lexicon,
        contractions,
        most=RAW_SENTENCES,
        rng=rng,
        of_numbers=of_numbers,
    )
    if not known and not (lexicon and text.sentences):
        return tagger, {}

    trained = partial(_trained_in_rounds, text=text, lexicon=lexicon, rng=rng)
    if lexicon and text.sentences:
        learned = trained(learned, (), draws=DRAWS)
    held_out, share, judged, temperature = list[tuple[int, HeldOut]](), 0.0, 0.0, TEMPERATURE
    if known:
        fitted = cross_fit(
            len(known),
            lambda rest: trained(current, [known[at] for at in rest], draws=1),
            lambda one, _: one,
            folds=FOLDS,
        )
        held_out = [(at, _change(learned, after, known[at])) for at, after in fitted]
        changes = [change for _, change in held_out]
        share = helpful_share(changes)
        learned = mean_tagger([learned, trained(current, known, draws=DRAWS)], [1.0 - share, share])
        words = sum(tag != UNSPECIFIED for one in known for tag in one.upos)  # few words judge little
        judged = words / (words + ENOUGH_WORDS)
        factor = np.clip(likeliest_temperature(changes, share) / TEMPERATURE, 1.0 / MOST, MOST)
        temperature *= float(factor**judged)
    sharper = SHARPER**judged
    flat, sharp = (with_temperature(learned, factor * temperature) for factor in (1.0, sharper))
    undoubted = tagger.undoubted
    if text.sentences:
        right = (1.0 - judged) * (1.0 - undoubted) * _expected_accuracy(
            before, text
        ) + judged * _expected_accuracy(flat, text)
        undoubted = max(1.0 - right / _expected_accuracy(sharp, text), 0.0)
    potentials = {name: getattr(sharp, name) for name in ("tags", "index", "weights", "transitions")}
    divided = tagger.contractions if tagger.tokenizer else contractions
    found = replace(tagger, **potentials, undoubted=undoubted, contractions=divided)
    return found, {places[at]: _own_tags(found, one, share, sharper * temperature) for at, one in held_out}


def _own_tags(tagger: Tagger, change: HeldOut, share: float, temperature: float) -> HeldOutTags:
    scores = (change.before + share * (change.after - change.before)) / temperature
    sure = np.exp(scores.max(axis=1) - np.logaddexp.reduce(scores, axis=1))
    tags = tuple(tagger.tags[number] for number in scores.argmax(axis=1).tolist())
    return HeldOutTags(tags, np.concatenate([[0.0], 1.0 - (1.0 - tagger.undoubted) * sure]))


def _expected_accuracy(tagger: Tagger, text: RawText) -> float:
    """Return a tagger's mean probability of the best tag in a text, given the tags that words may have."""
    sentences = text.sentences[:JUDGED]
    emissions = (np.where(text.sets_of(forms), tagger.emissions(forms), -np.inf) for forms in sentences)
    tags = map(tagger.marginals, emissions)
    return float(np.concatenate([one.max(axis=1) for one in tags]).mean())


def _trained_in_rounds(
    tagger: Tagger,
    known: Sequence[Sentence],
    *,
    text: RawText,
    lexicon: WordTags,
    draws: int,
    rng: np.random.Generator,
) -> Tagger:
    """Fine-tune a tagger on sentences, then train new ones in rounds on these and on self-tagged raw text."""
    train = partial(train_on_sets, tags=tagger.tags, extractor=tagger.extractor, rng=rng)

    def corrected(strength: float) -> list[SetExample]:
        evidence = [_soft_evidence(current, one, lexicon) for one in known]
        return [SetExample(one.forms, of, strength, trusted=True) for one, of in zip(known, evidence)]

    current = tagger
    if known:
        current = train(corrected(1.0), options=FIRST, start=current)
    tuned = current
    for _ in range(ROUNDS):
        read = self_tagged(current, text, text.sentences, strength=RAW_STRENGTH, balance=BALANCE)
        examples = [*read, *corrected(STRENGTH)]
        current = mean_tagger([train(examples, options=TRAINING) for _ in range(draws)])
    return with_unseen_features(current, tuned, text.sentences)


def _change(before: Tagger, after: Tagger, sentence: Sentence) -> HeldOut:
    """Return the log probabilities of a sentence's tags by the taggers before and after training."""
    numbers = {tag: number for number, tag in enumerate(before.tags)}
    right = np.array([numbers.get(tag, -1) for tag in sentence.upos], dtype=np.int32)
    old, new = (np.log(np.maximum(one.tag_distribution(sentence), LEAST_CHANCE)) for one in (before, after))
    return HeldOut(LabelLikelihood(right), old, new)


def with_tags(tagger: Tagger, shown: set[str], listed: set[str]) -> Tagger:
    """Return a tagger that also has the tags ``shown`` in sentences, and those ``listed`` in a lexicon.

    Tags of sentences start with weights of zero, which few sentences can change. Tags of the lexicon alone
    would then replace every uncertain tag in raw text, so they start as improbable as the least probable tag.
    """
    tags = tuple(sorted({*tagger.tags, *shown, *listed}))
    if tags == tagger.tags:
        return tagger
    columns = [tags.index(tag) for tag in tagger.tags]
    weights = np.repeat(tagger.weights.min(axis=1, keepdims=True), len(tags), axis=1)
    weights[:, [tag in shown for tag in tags]] = 0.0
    weights[:, columns] = tagger.weights
    transitions = np.full((len(tags) + 1, len(tags)), float(tagger.transitions.min()))
    transitions[np.ix_([*columns, len(tags)], columns)] = tagger.transitions
    return replace(tagger, tags=tags, weights=weights, transitions=transitions)


def with_unseen_features(tagger: Tagger, earlier: Tagger, text: Sequence[Words]) -> Tagger:
    """Add the features of an earlier tagger that a text lacks, such as words that only the bitext has."""
    seen = [tagger.index.keys, *(tagger.extractor.keys(forms).ravel() for forms in text)]
    # UPOS on other text, after twenty trees: Armenian +3.3, Wolof +1.0.
    unseen = ~np.isin(earlier.index.keys, np.concatenate(seen))
    keys = np.concatenate([tagger.index.keys, earlier.index.keys[unseen]])
    order = np.argsort(keys)
    weights = np.concatenate([tagger.weights, earlier.weights[unseen]])[order]
    return replace(tagger, index=FeatureIndex(keys[order]), weights=weights)


def with_known_tags(tagger: Tagger, sentence: Sentence, lexicon: WordTags) -> Sentence:
    """Replace the missing tags of a sentence by the most probable ones, given the known tags."""
    if UNSPECIFIED not in sentence.upos:
        return sentence
    best = tagger.best_tags(tagger.emissions(sentence.forms) + _evidence(sentence, tagger.tags, lexicon))
    return with_columns(sentence, upos=best)


def _soft_evidence(tagger: Tagger, sentence: Sentence, lexicon: WordTags) -> LogEvidence:
    """Return the evidence of known tags, and a tagger's log probabilities of the others given these."""
    evidence = _evidence(sentence, tagger.tags, lexicon)
    if UNSPECIFIED in sentence.upos:
        unknown = [tag == UNSPECIFIED for tag in sentence.upos]
        probabilities = tagger.marginals(tagger.emissions(sentence.forms) + evidence)[unknown]
        evidence[unknown] = np.log(np.maximum(probabilities, LEAST_CHANCE))
    return evidence


def _evidence(sentence: Sentence, tags: tuple[str, ...], lexicon: WordTags) -> LogEvidence:
    """Return 0 for the tags that each word may have, -inf for others, float32[n, T]."""
    # A single sentence does not show which script is foreign, nor how numbers are tagged.
    possible = allowed_tags(sentence.forms, tags, lexicon, ScriptRules(of_numbers=frozenset(tags)))
    for row, tag in zip(possible, sentence.upos, strict=True):
        if tag != UNSPECIFIED:
            row[:] = [one == tag for one in tags]
    return np.where(possible, np.float32(0.0), np.float32(-np.inf))


def text_to_parse(
    model: TextParser, paths: Sequence[str], *, paragraphs: bool, bitext: Sequence[AlignedFiles]
) -> Iterator[Sentence]:
    """Yield the distinct sentences of raw text as the model tokenises it, or else of the first bitext."""
    if not paths:
        yield from read_conllu(bitext[0].target)
    seen = set[bytes]()
    for path in paths:
        with open_text(path) as lines:
            for sentence in model.read(lines, paragraphs=paragraphs, name=path):
                # A digest of 16 bytes saves memory.
                words = blake2b("\n".join(sentence.forms).encode("utf-8"), digest_size=16).digest()
                if words not in seen:
                    seen.add(words)
                    yield sentence
