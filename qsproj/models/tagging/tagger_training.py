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
from qsproj.features.hashing import FeatureIndex
from qsproj.features.tagging import WORD_TEMPLATES, Classes, templates_with, word_classes
from qsproj.models.tagging.chain_trainer import FROM_TAGS, ChainExample, ChainTrainer
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger
from qsproj.training.loop import learn

UNTAGGED = "_"
# Features that only raw text has must occur this often. With the faintest dropped as well, the model is a
# quarter of the size at the same accuracy.
RAREST_OF_RAW = 3
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
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
        start = Tagger(
            tags=self.tags,
            extractor=self.extractor,
            index=index,
            weights=np.zeros((len(index.keys), len(self.tags)), dtype=np.float32),
            transitions=np.zeros((len(self.tags) + 1, len(self.tags))),
            contractions=self.contractions,
            language=self.language,
        )
        return learn(
            ChainTrainer(start, rate=self.settings.rate, kernels=FROM_TAGS),
            [self._encoded(example, index.rows(rows)) for example, rows in zip(examples, keys, strict=True)],
            epochs=self.settings.epochs,
            rng=self.rng,
            score=(lambda tagger: accuracy(tagger, dev)) if dev else None,
            patience=None,
            description="training the tagger",
        )[0]

    def _encoded(self, example: _Example, rows: NDArray[np.int32]) -> ChainExample:
        known = np.array([self.tags.index(tag) for tag in example.tags], dtype=np.int32)
        return ChainExample(rows, known, example.strength)
