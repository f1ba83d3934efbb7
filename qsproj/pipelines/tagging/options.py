"""Options of tags and features that are learned through links."""

from dataclasses import dataclass, field

from qsproj.models.tagging.tagger_training import FINE_EPOCHS, FINE_RATE, SetTrainingOptions, TaggerOptions

# A majority: of the words of a sentence that have links, of the votes of a word, of its occurrences.
HALF = 0.5
# A negligible share: of unknown words in raw text, of words tagged otherwise than before, of a tag's
# probability relative to the likeliest.
FEW = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureProjectionOptions:
    """Options of features learned through links; chosen on development files.

    ``sentences``: maximum number of training sentences. ``epochs``: passes over them; on Ukrainian dev 10
    gave the same features. ``leaning``: prior votes from all words with the same suffix. ``trust``: prior
    votes from the type beside the links of a word. ``shown``: share of an attribute's uncertainty given the
    tag that forms must remove. ``agreeing``: the same for attributes that adjectives share with nouns, whose
    endings often mark something else. ``precision``: minimum expected precision of written values.
    ``temperature``: divisor of the potentials, because the training data is more certain than links are
    correct. ``one_tense``: minimum share of a type's votes for its likeliest tense, which no neighbour
    determines, unlike number or gender.
    """

    sentences: int = 12000
    epochs: int = 4
    leaning: float = 3.0
    trust: float = 0.5
    shown: float = 0.03
    agreeing: float = 0.12
    precision: float = 0.6
    temperature: float = 2.0
    one_tense: float = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class TagProjectionOptions:
    """Options of a tagger learned through links (docs/notes/tags-through-links.md)."""

    # Maximum number of target sentences, and of raw ones, in memory; a sample of more.
    sentences: int = 60_000
    # Power of a link's probability in its vote.
    sureness: float = 4.0
    # Minimum share of a type's votes for a tag of its set.
    least: float = 0.15
    # Frequent words: minimum share of the text.
    frequent: float = 0.001
    # Rarely linked words: votes per occurrence, relative to the mean of all words; links of a word agree from
    # this share for one tag on; number of words with similar neighbours that vote with it.
    rarely_linked: float = 0.4
    agreeing: float = 0.6
    similar: int = 4
    # Number of taggers that are averaged: each learns from a part of the bitext, or from a random half if
    # parts were smaller than ``fewest`` sentences.
    taggers: int = 3
    fewest: int = 1200
    # Number of word classes of the target that are features.
    classes: int = TaggerOptions().lower_classes
    training: SetTrainingOptions = field(default_factory=lambda: SetTrainingOptions(epochs=2))
    # Power that discounts frequent tags in self-training, see
    # :func:`qsproj.pipelines.tagging.self_training.balanced`.
    balance: float = 0.4
    # Whether raw text is learned from; None: if its share of unknown words is at least FEW, and the share of
    # held-out words that are tagged as linked falls by at most FEW.
    learn_raw: bool | None = None
    rounds_of_raw: int = 3  # rounds of self-training with raw text, one without
    raw_sentences: int = (
        TaggerOptions().self_training
    )  # maximum number of raw training sentences; a sample of more
    raw_strength: float = 3.0  # weight of a raw sentence, 1 for one of the bitext
    # Copies of sentences of each part with a number in digits, where the bitext spells numbers out.
    in_digits: int = 300
    tagged_strength: float = 5.0  # weight of a tagged sentence, 1 for one of the bitext
    # Final tuning on tagged sentences alone.
    tuning: SetTrainingOptions = field(
        default_factory=lambda: SetTrainingOptions(epochs=FINE_EPOCHS, rate=FINE_RATE)
    )
    # Divisor of the averaged potentials for each round of self-training, which makes taggers overconfident.
    temperature: float = 1.3
    features: FeatureProjectionOptions = field(default_factory=FeatureProjectionOptions)
