"""The mean of taggers: its potentials are the means of theirs, of every word."""

import numpy as np

from qsproj.models.tagging.tagger import FeatureExtractor
from qsproj.models.tagging.tagger_training import SetExample, SetTrainingOptions, mean_tagger, train_on_sets

TAGS = ("DET", "NOUN", "VERB")
EXTRACTOR = FeatureExtractor(("lower", "suffix2", "lower-1"), {})
SENTENCES = {
    ("der", "Hund", "jagt"): (0, 1, 2),
    ("die", "Maus", "schläft"): (0, 1, 2),
    ("Hunde", "jagen"): (1, 2),
}


def learned(*sentences):
    """Return a tagger of some of the sentences: others have other features."""
    settled = np.where(np.eye(len(TAGS), dtype=np.bool_), 0.0, -np.inf).astype(np.float32)
    return train_on_sets(
        [SetExample(forms, settled[list(SENTENCES[forms])]) for forms in sentences],
        tags=TAGS,
        extractor=EXTRACTOR,
        rng=np.random.default_rng(1),
        options=SetTrainingOptions(epochs=5, rarest=1),
    )


def potentials(tagger, forms):
    """Look every feature up in a dictionary, and add."""
    rows = dict(zip(tagger.index.keys.tolist(), tagger.weights.tolist(), strict=True))
    return [
        [sum(rows[key][tag] for key in keys if key in rows) for tag in range(len(TAGS))]
        for keys in tagger.extractor.keys(forms).tolist()
    ]


def test_potentials_are_the_means_of_those_of_all():
    one, two, three = SENTENCES
    taggers = [learned(one), learned(two, three), learned(three)]
    together = mean_tagger(taggers)
    assert len(together.index.keys) > max(len(tagger.index.keys) for tagger in taggers)
    for forms in SENTENCES:
        expected = np.mean([potentials(tagger, forms) for tagger in taggers], axis=0)
        np.testing.assert_allclose(potentials(together, forms), expected, atol=2e-3)  # of eleven bits each
    expected = np.mean([tagger.transitions for tagger in taggers], axis=0)
    np.testing.assert_allclose(together.transitions, expected, atol=1e-12)


def test_the_mean_of_one_is_itself():
    tagger = learned(*SENTENCES)
    together = mean_tagger([tagger])
    np.testing.assert_array_equal(together.weights, tagger.weights)
    np.testing.assert_array_equal(together.transitions, tagger.transitions)


def test_taggers_count_by_their_shares():
    one, two, three = SENTENCES
    first, second = taggers = [learned(one), learned(two, three)]
    together = mean_tagger(taggers, [0.25, 0.75])
    for forms in SENTENCES:
        expected = np.average([potentials(tagger, forms) for tagger in taggers], axis=0, weights=[1, 3])
        np.testing.assert_allclose(potentials(together, forms), expected, atol=2e-3)
    alone = mean_tagger(taggers, [0.0, 1.0])
    for forms in SENTENCES:
        np.testing.assert_allclose(potentials(alone, forms), potentials(second, forms), atol=2e-3)
    np.testing.assert_allclose(alone.transitions, second.transitions)
    assert not np.allclose(alone.transitions, first.transitions)
