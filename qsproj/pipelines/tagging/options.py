"""Options of tags and features that are learned through links."""

from dataclasses import dataclass, field

from qsproj.models.tagging.tagger_training import SetTrainingOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureProjectionOptions:
    """Options of features learned through links; chosen on development files.

    ``sentences``: maximum number of training sentences. ``epochs``: passes over them, ``epochs_of_many`` at
    the maximum. ``leaning``: prior votes from all words with the same suffix. ``trust``: prior votes from
    the type beside the links of a word. ``shown``: share of an attribute's uncertainty given the tag that
    forms must remove. ``agreeing``: the same for attributes that adjectives share with nouns, whose endings
    often mark something else. ``precision``: minimum expected precision of written values. ``rarest``:
    minimum share of a tag's votes for a combination of features. ``temperature``: divisor of the potentials,
    because the training data is more certain than links are correct. ``one_tense``: minimum share of a
    type's votes for its likeliest tense, which no neighbour determines, unlike number or gender.
    """

    sentences: int = 12000
    epochs: int = 10
    epochs_of_many: int = 5
    leaning: float = 3.0
    trust: float = 0.5
    shown: float = 0.03
    agreeing: float = 0.12
    precision: float = 0.6
    rarest: float = 0.002
    temperature: float = 2.0
    one_tense: float = 0.75


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
    # power that discounts frequent tags there, see :func:`qsproj.pipelines.tagging.self_training.balanced`
    balance: float = 0.4
    # whether raw text is learned from; None: if its share of unknown words is at least ``least_unknown``, and
    # the share of held-out words that are tagged as linked falls by at most ``most_fall``
    learn_raw: bool | None = None
    least_unknown: float = 0.05
    most_fall: float = 0.05
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
