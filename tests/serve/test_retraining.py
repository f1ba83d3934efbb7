"""What training on reviewed trees gains, measured as the parser is used."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tagging.tagger_training import TaggerOptions, train_tagger
from qsproj.models.text.text_parser import text_parser
from qsproj.serve.review.retraining import gain_of, tagged_itself


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/de.conllu"))


@pytest.fixture(scope="module")
def model(sample):
    rng = np.random.default_rng(1)
    tagger = train_tagger(sample[:8], rng=rng, language="de", options=TaggerOptions(epochs=3))
    parser, _ = train_arc_parser(sample, rng=rng, options=TrainingOptions(epochs=2, template_set="words"))
    return text_parser(tagger, parser, readings=200)


def test_a_draft_of_untagged_text_is_right_before(model, sample):
    """Read by several tag sequences, as it was made: by the tags alone that it has, other trees come out."""
    untagged = [with_columns(one, upos=("_",) * len(one)) for one in sample[15:30]]
    draft = [model.parse(one) for one in untagged]
    assert any((model.parse(one).heads != one.heads).any() for one in draft)
    assert all(tagged_itself(model, one) for one in draft)
    gain = gain_of(model, draft, seed=1)
    assert (gain.before.uas, gain.before.las) == (100.0, 100.0)


def test_tags_of_another_origin_stay(model, sample):
    """The parser read them, and so it does where it is measured."""
    draft = [model.parse(with_columns(one, upos=("X", *one.upos[1:]))) for one in sample[15:20]]
    assert not any(tagged_itself(model, one) for one in draft)
    assert gain_of(model, draft, seed=1).before.uas == 100.0
