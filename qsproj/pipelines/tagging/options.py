"""Options of taggers and features learned through links."""

from dataclasses import dataclass, field

from qsproj.models.tagging import tagger_training as defaults
from qsproj.models.tagging.tagger_training import LOWER_CLASSES, SELF_TRAINING, SetTrainingOptions

HALF = 0.5  # a majority: of words with links, of votes, of occurrences; also half a vote, and half as likely
# A negligible share: of unknown words in raw text, of words with another tag than before, of the uncertainty
# about a feature that forms remove; also a tag's probability relative to the likeliest.
FEW = 0.05
# Number of votes of prior evidence: of similar forms, of words with the same suffix, of other languages.
PRIOR_VOTES = 2.0
ENOUGH = 10  # occurrences in a position for words to vote for similar ones; links that show a convention
BARELY = 0.1  # weight of evidence that barely counts
# Nearly all votes of a rarely linked conjunction, or links of *I* and *we*; hardly any votes of a rarely
# linked word, or links to auxiliaries of one that shows the person.
SURELY, HARDLY = 0.75, 0.03
ENDING = 4  # letters of the longest suffix in use, and of the shortest stem


@dataclass(frozen=True, slots=True, kw_only=True)
class TagProjectionOptions:
    """Options of a tagger learned through links (docs/notes/tags-through-links.md)."""

    sentences: int = (
        30_000  # maximum number of target sentences and of raw sentences; larger sets are sampled
    )
    link_power: float = 4.0  # power of a link's probability in its vote
    least: float = 0.15  # minimum share of a type's votes for a tag of its set
    frequent: float = 0.001  # frequent words: minimum share of the text
    # Rarely linked words: most votes per occurrence, relative to the mean of all words; least share of votes
    # for one tag for links to agree, and of occurrences second in a clause of particles; number of words with
    # similar neighbours whose votes are used.
    rarely_linked: float = 0.4
    agreeing: float = 0.6
    similar: int = 4
    # Number of taggers that are averaged: each learns from a part of the bitext, or from a random half if
    # parts were smaller than ``fewest`` sentences.
    taggers: int = 3
    fewest: int = 1200
    classes: int = LOWER_CLASSES  # number of word classes of the target that are features
    training: SetTrainingOptions = field(default_factory=lambda: SetTrainingOptions(epochs=2))
    balance: float = 0.4  # power that discounts frequent tags, see ``self_training.balanced``
    # Whether to train on raw text; None: if its share of unknown words is at least FEW, and the share of
    # held-out words tagged like their links falls by at most FEW.
    learn_raw: bool | None = None
    rounds_of_raw: int = 3  # rounds of self-training with raw text; without, there is one
    raw_sentences: int = SELF_TRAINING  # maximum number of raw training sentences
    raw_strength: float = 3.0  # weight of a raw sentence, 1 for one of the bitext
    in_digits: int = 300  # copies of sentences of each part with a number in digits, if numbers are spelt out
    tagged_strength: float = 5.0  # weight of a tagged sentence, 1 for one of the bitext
    # Final tuning on tagged sentences alone.
    tuning: SetTrainingOptions = field(
        default_factory=lambda: SetTrainingOptions(epochs=defaults.FINE_EPOCHS, rate=defaults.FINE_RATE)
    )
    temperature: float = 1.3  # divisor of potentials for each round of self-training: they are overconfident
    feature_sentences: int = SELF_TRAINING  # maximum number of sentences to learn features from
    feature_epochs: int = 2  # 4 gain nothing in Wolof, Italian, Ukrainian, Armenian and Turkish
    feature_temperature: float = 2.0  # divisor of potentials: training data looks more certain than it is
