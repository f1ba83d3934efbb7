"""Training of the tagger: conditional likelihood by AdaGrad, word classes and self-training from raw text.

Raw text helps twice. Word classes learned from it tie words that the treebanks lack to words they have.
Then a first tagger tags some of it and a second is trained on treebanks and that text together, the
tagged sentences counting for less: what the contexts of a new domain teach outweighs the errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.contractions import learn_contractions, merge_contractions, split_contractions, word_ranges
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.features.feature_index import FeatureIndex
from qsproj.features.tagging import WORD_TEMPLATES, Classes, templates_with
from qsproj.features.tagging_classes import word_classes
from qsproj.kernels.tagging.linear_chain import gradient, step_emissions, step_transitions
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger
from qsproj.training.adagrad import RowAdaGrad
from qsproj.training.loop import Trainer, learn

UNTAGGED = "_"
# Features that only raw text has must occur this often, and features whose weights all stay below this are
# dropped from the model: together a quarter of the size at the same accuracy.
RAREST_OF_RAW = 3
FAINTEST = 0.1
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaggerOptions:
    """How to train a tagger; the defaults were chosen between German treebanks, see docs/tagging.md.

    Attributes
    ----------
    epochs : int
        Passes over the data; with ``dev`` data at most.
    rate : float
        AdaGrad's step size.
    lower_classes, cased_classes : int
        Sizes of the two sets of word classes: few for lower-cased words, many for words as written; 0 for
        none. Used where there is raw text.
    self_training : int
        Most raw sentences to tag and train on again; 0 for none.
    self_strength : float
        Weight of such a sentence against 1 for a treebank's.
    merge_contractions : bool
        Train also on sentences whose multiword tokens are left whole, as plain text has them.
    templates : tuple of str
        Templates other than those of word classes.
    """

    epochs: int = 10
    rate: float = 0.1
    lower_classes: int = 64
    cased_classes: int = 512
    self_training: int = 8000
    self_strength: float = 0.5
    merge_contractions: bool = True
    templates: tuple[str, ...] = WORD_TEMPLATES


@dataclass(frozen=True, slots=True)
class _Example:
    forms: Words
    tags: Words
    strength: float
    gold: bool = True


def train_tagger(
    treebank: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    raw: Iterable[Sequence[str]] = (),
    dev: Sequence[Sentence] = (),
    language: str | None = None,
    options: TaggerOptions | None = None,
) -> Tagger:
    """Train a tagger.

    Parameters
    ----------
    treebank : sequence of Sentence
        Sentences with UPOS on every word.
    rng : numpy.random.Generator
        Orders the sentences and picks those of ``raw`` to tag.
    raw : iterable of sequence of str
        Tokenised sentences of the language; their contractions are split as the treebank splits them.
    dev : sequence of Sentence
        Stop at the epoch after which these are tagged best.
    language : str or None
        Kept in the model, to tokenise plain text with.
    options : TaggerOptions or None
        None for the defaults.

    Raises
    ------
    UsageError
        When there is no sentence, or a word of ``treebank`` or ``dev`` has no UPOS.
    """
    settings = options or TaggerOptions()
    _check_tagged([*treebank, *dev])
    if not treebank:
        raise UsageError("no sentence to train the tagger on")
    contractions = learn_contractions(treebank)
    raw_words = [tuple(split_contractions(tokens, contractions)[0]) for tokens in raw if len(tokens)]
    gold = _examples(treebank, settings)
    class_sets = (
        _class_sets([*raw_words, *(example.forms for example in gold)], settings) if raw_words else {}
    )
    learner = _Learner(
        extractor=FeatureExtractor(templates_with(tuple(class_sets), settings.templates), class_sets),
        tags=tuple(sorted({tag for example in gold for tag in example.tags})),
        contractions=contractions,
        language=language,
        settings=settings,
        rng=rng,
    )
    tagger = learner.train(gold, dev)
    tagged = _self_tagged(tagger, raw_words, settings, rng)
    return learner.train([*gold, *tagged], dev) if tagged else tagger


def accuracy(tagger: Tagger, sentences: Sequence[Sentence]) -> float:
    """Return the share of words, in percent, whose UPOS the tagger gives."""
    right = total = 0
    for sentence in sentences:
        tags = tagger.tag_words(sentence.forms)
        right += sum(tag == gold for tag, gold in zip(tags, sentence.upos, strict=True))
        total += len(sentence)
    return 100.0 * right / total


def _check_tagged(sentences: Iterable[Sentence]) -> None:
    for number, sentence in enumerate(sentences, start=1):
        if UNTAGGED in sentence.upos:
            word = sentence.upos.index(UNTAGGED)
            raise UsageError(
                f"sentence {sentence.sent_id or number}: word {word + 1} ({sentence.forms[word]!r}) "
                "has no UPOS, expected one on every word; tag it or leave the sentence out"
            )


def _examples(treebank: Sequence[Sentence], settings: TaggerOptions) -> list[_Example]:
    """Return the treebank; a sentence with multiword tokens also with these whole, each at half weight."""
    examples = []
    for sentence in treebank:
        doubled = settings.merge_contractions and bool(word_ranges(sentence))
        strength = 0.5 if doubled else 1.0
        examples.append(_Example(sentence.forms, sentence.upos, strength))
        if doubled:
            examples.append(_Example(*merge_contractions(sentence), strength))
    return examples


def _class_sets(sentences: Sequence[Words], settings: TaggerOptions) -> dict[str, Classes]:
    sets: dict[str, Classes] = {}
    if settings.lower_classes:
        lowered = [[form.lower() for form in forms] for forms in sentences]
        sets["lowerclass"] = word_classes(lowered, settings.lower_classes)
    if settings.cased_classes:
        sets["casedclass"] = word_classes(sentences, settings.cased_classes)
    return sets


def _self_tagged(
    tagger: Tagger, raw: Sequence[Words], settings: TaggerOptions, rng: np.random.Generator
) -> list[_Example]:
    """Return some raw sentences with the tagger's own tags."""
    # Fragments teach little and very long lines are lists and tables.
    usable = [forms for forms in raw if 4 < len(forms) < 50]
    chosen = rng.permutation(len(usable))[: settings.self_training]
    return [
        _Example(usable[i], tagger.tag_words(usable[i]), settings.self_strength, gold=False)
        for i in chosen.tolist()
    ]


def _supported(keys: NDArray[np.uint64], n_gold: int) -> NDArray[np.uint64]:
    """Return the distinct features of the first ``n_gold`` words, and of all words those not too rare."""
    distinct, counts = np.unique(keys, return_counts=True)
    kept = counts >= RAREST_OF_RAW
    kept[np.searchsorted(distinct, np.unique(keys[:n_gold]))] = True
    kept &= distinct != 0
    supported: NDArray[np.uint64] = distinct[kept]
    return supported


@dataclass(frozen=True, slots=True)
class _Learner:
    """What stays the same between the first tagger and the second."""

    extractor: FeatureExtractor
    tags: Words
    contractions: Mapping[str, Words]
    language: str | None
    settings: TaggerOptions
    rng: np.random.Generator

    def train(self, examples: Sequence[_Example], dev: Sequence[Sentence]) -> Tagger:
        """Return the average of all weights visited, up to the epoch that is best on ``dev``."""
        keys = [self.extractor.keys(example.forms) for example in examples]
        n_gold = sum(len(example.forms) for example in examples if example.gold)
        index = FeatureIndex(_supported(np.concatenate(keys), n_gold))
        trainer = _TaggerTrainer(self, index)
        encoded = [trainer.encode(*each) for each in zip(examples, keys, strict=True)]
        return learn(
            trainer,
            encoded,
            epochs=self.settings.epochs,
            rng=self.rng,
            score=(lambda tagger: accuracy(tagger, dev)) if dev else None,
            patience=None,
            description="training the tagger",
        )[0]


@dataclass(frozen=True, slots=True, eq=False)
class _EncodedExample:
    """Rows of weights that fire int32[n, K], tags int32[n], and the weight in the objective."""

    rows: NDArray[np.int32]
    tags: NDArray[np.int32]
    strength: float


class _TaggerTrainer(Trainer[_EncodedExample, Tagger]):
    """Learns the weights of features and of tag pairs by conditional likelihood. Mutable; final.

    *Source*: averaging as in Daume's thesis (2006), figure 2.3: the start counts, too.
    """

    def __init__(self, learner: _Learner, index: FeatureIndex) -> None:
        n_tags, rate = len(learner.tags), learner.settings.rate
        self._learner = learner
        self._index = index
        self._numbers = {tag: number for number, tag in enumerate(learner.tags)}
        weights = np.zeros((len(index.keys), n_tags), dtype=np.float32)
        self._features = RowAdaGrad(weights, rate=rate, counts_start=True)
        self._chain = RowAdaGrad(np.zeros((n_tags + 1, n_tags)), rate=rate, counts_start=True)

    def encode(self, example: _Example, keys: NDArray[np.uint64]) -> _EncodedExample:
        """Look up the features and tags of a sentence."""
        tags = np.array([self._numbers[tag] for tag in example.tags], dtype=np.int32)
        return _EncodedExample(self._index.rows(keys), tags, example.strength)

    def step(self, example: _EncodedExample) -> float:
        """Learn from one sentence; return minus the log-likelihood of its tags, in nats, by its strength."""
        slopes = np.empty((len(example.tags), len(self._numbers)))
        pair_slopes = np.empty_like(self._chain.weights)
        likelihood: float = gradient(
            example.rows, example.tags, self._features.weights, self._chain.weights, slopes, pair_slopes
        )
        slopes *= -example.strength
        pair_slopes *= -example.strength
        self._features.step(step_emissions, example.rows, slopes)
        self._chain.step(step_transitions, pair_slopes)
        return -example.strength * likelihood

    def averaged(self) -> Tagger:
        """Return the tagger with the mean of the weights before every step so far, faint features dropped."""
        weights = self._features.mean()
        kept = np.abs(weights).max(axis=1) >= FAINTEST
        return Tagger(
            tags=self._learner.tags,
            extractor=self._learner.extractor,
            index=FeatureIndex(self._index.keys[kept]),
            weights=weights[kept],
            transitions=self._chain.mean(),
            contractions=self._learner.contractions,
            language=self._learner.language,
        )
