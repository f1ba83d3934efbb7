"""Training of the tagger: conditional likelihood by AdaGrad, from tags or from weighted sets of tags.

Raw text helps twice: by word classes, which relate words that the treebanks lack to words they have; and by
sentences of a new domain, which a first tagger tags and a second learns from, with a lower weight.

Where each word has a weighted set of tags, the objective is the log-probability of all tag sequences that
the sets allow, each times its weight. A word with all tags only passes on the evidence of its neighbours.
*Source*: Taeckstroem, Das, McDonald, Petrov and Nivre (2013), "Token and type constraints for cross-lingual
part-of-speech tagging"; theirs is L-BFGS on hard sets.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

from qsproj.conventions import Hashes, Rng, Weights
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.contractions import learn_contractions, merge_contractions, words_of_tokens
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import sentence_from_tokens
from qsproj.errors import UsageError
from qsproj.features.hashing import FeatureIndex, commonest
from qsproj.features.tagging import as_one, class_sets_of, templates_with
from qsproj.models.chains import ChainExample, ChainTrainer
from qsproj.models.packing import in_half_the_bytes
from qsproj.models.tagging.tagger import NOT_A_WORD, SEGMENTATIONS, FeatureExtractor, Tagger
from qsproj.models.tokens.tokenizer import Tokens
from qsproj.models.tokens.tokenizer_training import TokenizedText, tokenized_text, train_tokenizer
from qsproj.training.loop import learn

# Defaults chosen on German treebanks.
EPOCHS, RATE = 10, 0.1
# Sizes of the two sets of word classes, where there is raw text: of lower-cased words, and of words.
LOWER_CLASSES, CASED_CLASSES = 64, 512
# Most raw sentences to tag and train on again, and the weight of each.
SELF_TRAINING, SELF_STRENGTH = 8000, 0.5
# Features whose weights all stay below the first are dropped, and treebank weights below the second.
FAINTEST, FAINT = 0.1, 0.05
# Least count of features that only raw text has; with FAINTEST, this quarters the model, as good as before.
RAREST_OF_RAW = 3
# A treebank without a digit, such as Czech-CAC, gets copies of sentences with a number as one of the FIGURES.
NUMERAL = "NUM"
FIGURES = ("7", "12", "150", "2015", "3,5", "1.000")
# Largest number of a treebank's features, the commonest: those of a single word do not help in a large one.
MOST_FEATURES = 500_000
FINE_EPOCHS, FINE_RATE = 5, 0.05  # of fine-tuning
# Folds for tokenisers that have not seen a sentence; segmentations of each line to train on.
FOLDS, LEARNED = 3, 3
WHAT = "training the tagger"
Words = tuple[str, ...]
LogEvidence = Weights  # natural-log weights, at most 0; -inf forbids


@dataclass(frozen=True, slots=True)
class _Example:
    forms: Words
    tags: Words
    strength: float
    gold: bool = True


def train_tagger(
    treebank: Sequence[Sentence],
    *,
    rng: Rng,
    raw: Iterable[Sequence[str]] = (),
    dev: Sequence[Sentence] = (),
    language: str | None = None,
    epochs: int = EPOCHS,
    self_training: int = SELF_TRAINING,
) -> Tagger:
    """Train a tagger on sentences with UPOS on every word.

    ``raw``: tokenised sentences of the language; ``rng`` picks ``self_training`` to tag. ``dev``: keep the
    epoch that tags these best. ``language``: kept in the model. UsageError for a word without UPOS.
    """
    _check_tagged([*treebank, *dev])
    contractions = learn_contractions(treebank)
    raw_words = [
        tuple(chain.from_iterable(words_of_tokens(tokens, contractions))) for tokens in raw if len(tokens)
    ]
    gold = _examples(treebank)
    words = [*raw_words, *(example.forms for example in gold)]
    class_sets = class_sets_of(words, lower=LOWER_CLASSES, cased=CASED_CLASSES) if raw_words else {}
    extractor = FeatureExtractor(templates_with(tuple(class_sets)), class_sets)
    tags = tuple(sorted({tag for example in gold for tag in example.tags}))

    def learned(examples: Sequence[_Example]) -> Tagger:
        keys = [extractor.keys(example.forms) for example in examples]
        n_gold = sum(len(example.forms) for example in examples if example.gold)
        joined = np.concatenate(keys)
        known = commonest(joined[:n_gold], MOST_FEATURES)
        if len(joined) > n_gold:
            known = np.union1d(known, commonest(joined, joined.size, least=RAREST_OF_RAW))
        start = _untrained(tags, extractor, FeatureIndex(known))
        start = replace(start, contractions=contractions, language=language)
        trainer = ChainTrainer(start, rate=RATE, faintest=FAINTEST)
        encoded = _encoded(start, examples, keys)
        score = partial(accuracy, sentences=dev) if dev else None
        tagger, _ = learn(
            trainer, encoded, epochs=epochs, rng=rng, score=score, patience=None, description=WHAT
        )
        faint = np.abs(tagger.weights) < FAINT
        return replace(tagger, weights=np.where(faint, np.float32(0.0), tagger.weights))

    tagger = learned(gold)
    # Fragments have little information; very long lines are lists and tables.
    usable = [forms for forms in raw_words if 4 < len(forms) < 50]
    chosen = [usable[i] for i in rng.permutation(len(usable))[:self_training].tolist()]
    tagged = [_Example(forms, tagger.tag_words(forms), SELF_STRENGTH, gold=False) for forms in chosen]
    return learned([*gold, *tagged]) if tagged else tagger


def _untrained(tags: tuple[str, ...], extractor: FeatureExtractor, index: FeatureIndex) -> Tagger:
    weights = np.zeros((len(index.keys), len(tags)), dtype=np.float32)
    transitions = np.zeros((len(tags) + 1, len(tags)))
    return Tagger(tags=tags, extractor=extractor, index=index, weights=weights, transitions=transitions)


def fine_tuned_tagger(tagger: Tagger, sentences: Sequence[Sentence], *, rng: Rng) -> Tagger:
    """Return a tagger trained further on some more sentences; those with new tags are left out."""
    usable = [_Example(one.forms, one.upos, 1.0) for one in sentences if set(one.upos) <= set(tagger.tags)]
    if not usable:
        return tagger
    keys = [tagger.extractor.keys(one.forms) for one in usable]
    index = FeatureIndex(np.union1d(tagger.index.keys, np.concatenate([one.ravel() for one in keys])))
    weights = np.zeros((len(index.keys), len(tagger.tags)), dtype=np.float32)
    weights[np.searchsorted(index.keys, tagger.index.keys)] = tagger.weights
    start = replace(tagger, index=index, weights=weights, transitions=tagger.transitions.copy())
    trainer = ChainTrainer(start, rate=FINE_RATE, faintest=FAINTEST)
    return learn(trainer, _encoded(start, usable, keys), epochs=FINE_EPOCHS, rng=rng, description=WHAT)[0]


def _encoded(start: Tagger, examples: Sequence[_Example], keys: Sequence[Hashes]) -> list[ChainExample]:
    numbers = {tag: number for number, tag in enumerate(start.tags)}
    known = (np.array([numbers[tag] for tag in one.tags], dtype=np.int32) for one in examples)
    rows = zip(map(start.index.rows, keys), known, examples, strict=True)
    return [ChainExample(own, tags, one.strength) for own, tags, one in rows]


def accuracy(tagger: Tagger, sentences: Sequence[Sentence]) -> float:
    rows = (zip(tagger.tag_words(one.forms), one.upos, strict=True) for one in sentences)
    right = [tag == gold for row in rows for tag, gold in row]
    return 100.0 * sum(right) / len(right)


def _check_tagged(sentences: Iterable[Sentence]) -> None:
    for number, sentence in enumerate(sentences, start=1):
        if UNSPECIFIED in sentence.upos:
            word = sentence.upos.index(UNSPECIFIED)
            where = f"sentence {sentence.sent_id or number}: word {word + 1} ({sentence.forms[word]!r})"
            remedy = "expected one on every word; tag it or leave the sentence out"
            raise UsageError(f"{where} has no UPOS, {remedy}")


def _examples(treebank: Sequence[Sentence]) -> list[_Example]:
    """Return the sentences, also with multiword tokens left whole, as plain text has them."""
    examples = []
    for sentence in treebank:
        if sentence.multiword_tokens:
            versions = (sentence.forms, sentence.upos), merge_contractions(sentence)
            examples += [_Example(*version, 0.5) for version in versions]
        else:
            examples.append(_Example(sentence.forms, sentence.upos, 1.0))
    return examples + _in_digits(examples)


def _in_digits(examples: Sequence[_Example]) -> list[_Example]:
    """Return copies of the examples with a number, the first in digits; empty where any word has a digit."""
    if any(form[0].isdigit() for example in examples for form in example.forms):
        return []
    copies = []
    for number, example in enumerate(one for one in examples if NUMERAL in one.tags):
        forms, place = list(example.forms), example.tags.index(NUMERAL)
        forms[place] = FIGURES[number % len(FIGURES)]
        copies.append(replace(example, forms=tuple(forms)))
    return copies


@dataclass(frozen=True, slots=True, eq=False)
class SetExample:
    """A sentence with evidence about its tags."""

    forms: Words
    # float32[n, T]: natural-log weight of each tag, at most 0; -inf: excluded, but not all of a word.
    log_evidence: LogEvidence
    strength: float = 1.0
    trusted: bool = False  # whether all its features are trained, not only frequent ones


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTrainingOptions:
    """Training from sets: features of untrusted sentences must occur at least ``rarest`` times."""

    epochs: int = 5
    rate: float = 0.1
    rarest: int = 3


def train_on_sets(
    examples: Sequence[SetExample],
    *,
    tags: tuple[str, ...],
    extractor: FeatureExtractor,
    rng: Rng,
    options: SetTrainingOptions,
    start: Tagger | None = None,
    what: str = WHAT,
) -> Tagger:
    """Return the average of all weights visited, starting from those of ``start``, if given."""
    forms, places = as_one(example.forms for example in examples)
    keys = extractor.keys(forms)
    known = [keys[place].ravel() for place, one in zip(places, examples, strict=True) if one.trusted]
    known += [] if start is None else [start.index.keys]
    known.append(commonest(keys, keys.size, least=options.rarest))
    supported = np.unique(np.concatenate(known))
    index = FeatureIndex(supported[supported != 0])
    begun = _untrained(tags, extractor, index)
    if start is not None:
        begun.weights[index.rows(start.index.keys[:, None])[:, 0]] = start.weights
        begun.transitions[:] = start.transitions
    rows = index.rows(keys)
    pairs = zip(places, examples, strict=True)
    encoded = [ChainExample(rows[place], one.log_evidence, one.strength) for place, one in pairs]
    trainer = ChainTrainer(begun, rate=options.rate, faintest=FAINTEST)
    return learn(trainer, encoded, epochs=options.epochs, rng=rng, description=what)[0]


def mean_tagger(taggers: Sequence[Tagger], shares: Sequence[float] = ()) -> Tagger:
    """Return the tagger of the mean potentials of taggers with the same tags and extractor.

    ``shares``: equal by default. A missing feature counts 0; all else is of the first. Averages out noise.
    """
    index = FeatureIndex(np.unique(np.concatenate([tagger.index.keys for tagger in taggers])))
    weights = np.zeros((len(index.keys), len(taggers[0].tags)), dtype=np.float32)
    transitions = np.zeros_like(taggers[0].transitions)
    divisors = [1.0 / share if share else np.inf for share in shares] or [float(len(taggers))] * len(taggers)
    for tagger, divisor in zip(taggers, divisors, strict=True):
        weights[index.rows(tagger.index.keys[:, None])[:, 0]] += tagger.weights / np.float32(divisor)
        transitions += tagger.transitions / divisor
    return replace(taggers[0], index=index, weights=in_half_the_bytes(weights), transitions=transitions)


def train_segmentation_reranker(
    treebank: Sequence[Sentence], *, rng: Rng, language: str | None = None
) -> Tagger | None:
    """Train a tagger with a tag for wrongly cut words, so that words and tags are chosen jointly.

    It learns from segmentations of parts of a treebank by tokenisers of the others; None without errors.
    """
    examples = [one for one in treebank if UNSPECIFIED not in one.upos]
    untagged = [one for one in treebank if UNSPECIFIED in one.upos]
    shown = [(one, text) for one in examples if (text := tokenized_text(one, language)) is not None]
    if len(shown) < FOLDS:
        return None
    for fold in range(FOLDS):
        rest = [*(one for at, (one, _) in enumerate(shown) if at % FOLDS != fold), *untagged]
        tokenizer = train_tokenizer(rest, rng=rng, language=language)
        for one, text in shown[fold::FOLDS]:
            for way, _ in tokenizer.segmentations(text.text, SEGMENTATIONS)[:LEARNED]:
                examples.append(_judged(way, one, text))
    wrong = any(NOT_A_WORD in one.upos for one in examples)
    return train_tagger(examples, rng=rng, language=language) if wrong else None


def _judged(way: Tokens, gold: Sentence, text: TokenizedText) -> Sentence:
    """Return a segmented line with tags: NOT_A_WORD for words that differ from the treebank's."""
    places = _places([(text.text[a:b], words) for a, b, words in text.tokens])
    tags = dict(zip(places, gold.upos, strict=True))
    found = sentence_from_tokens(way, text.text, sent_id="1")
    return with_columns(found, upos=[tags.get(place, NOT_A_WORD) for place in _places(way)])


def _places(tokens: Tokens) -> list[tuple[int, int, str]]:
    """Return each word with first and last character of its token, white space left out."""
    places, at = list[tuple[int, int, str]](), 0
    for token, words in tokens:
        end = at + len(token.replace(" ", ""))
        places += [(at, end, word) for word in words]
        at = end
    return places
