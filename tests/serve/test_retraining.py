"""What training on reviewed trees gains, measured as the parser is used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.corpus.alignments import with_links_in_misc, write_alignments
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns, with_misc
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import UsageError
from qsproj.evaluation.alignment import alignment_scores
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_options import BiparseOptions, JointTrainingOptions
from qsproj.models.storage import load_model
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import text_parser
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.serve.review.draft import Draft
from qsproj.serve.review.retraining import (
    Retraining,
    Reviewed,
    gain_of,
    tagged_itself,
)
from qsproj.serve.review.session import Session


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/de.conllu"))


@pytest.fixture(scope="module")
def model(sample):
    rng = np.random.default_rng(1)
    tagger = train_tagger(sample[:8], rng=rng, language="de", epochs=3)
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


LEARN = {
    *("arc-parser", "enhanced-parser", "graph-parser", "labelled-parser", "tagging-parser", "text-parser"),
    *("cluster-parser", "dmv", "joint-parser", "qg-dmv"),
}


@pytest.mark.parametrize("kind", sorted({*LEARN, "adapted-parser", "converter"}))
def test_what_learns_from_reviewed_trees(kind, sample):
    parser = load_model(f"tests/kept_models/{kind}.model")
    assert (parser.refuses_training is None) == (kind in LEARN)
    if kind not in LEARN:
        with pytest.raises(UsageError, match="trees in both styles: qsproj adapt"):
            parser.fine_tuned(sample[:8], rng=np.random.default_rng(1))
        return
    tuned = parser.fine_tuned(sample[:8], rng=np.random.default_rng(1))
    heads = [[(one.parse(tree).heads == tree.heads).sum() for tree in sample[:8]] for one in (parser, tuned)]
    assert sum(heads[1]) > sum(heads[0])


def test_the_tagger_learns_corrected_tags(model, sample):
    other = [with_columns(one, upos=["ADJ" if tag == "ADV" else tag for tag in one.upos]) for one in sample]
    assert any("ADV" in model.tagger.tag(one).upos for one in sample)
    tuned = model.fine_tuned(other, rng=np.random.default_rng(1))
    assert not any("ADV" in tuned.tagger.tag(one).upos for one in sample)


@pytest.mark.slow
@pytest.mark.parametrize("change", ["learned", "new", "worse"])
def test_a_parser_that_became_worse_is_not_taken(change, model, sample, tmp_path, monkeypatch):
    """It has learned these trees already and stays; others, of another style, are learned."""
    trees = [renamed(one) for one in sample[:12]] if change == "new" else sample[:12]
    if change == "worse":
        chains = [replace(one, heads=frozen_heads([-1, *range(len(one))])) for one in sample]
        parser, _ = train_arc_parser(chains, rng=np.random.default_rng(1), options=TrainingOptions(epochs=1))
        monkeypatch.setattr(
            type(model), "fine_tuned", lambda self, *_, **__: text_parser(self.tagger, parser)
        )
    path, output = tmp_path / "draft.conllu", tmp_path / "trained.model"
    write_conllu(trees, path)
    training = Retraining(model, str(output), 1)
    found = training(Reviewed(path.read_bytes(), str(path), range(8), range(8, 12)))
    gain = found.summary["after"]["las"] - found.summary["before"]["las"]
    assert np.sign(gain) == {"learned": 0, "new": 1, "worse": -1}[change]
    assert (len(found.beliefs), found.model, output.exists()) == (
        (0, None, False) if change == "worse" else (4, str(output), True)
    )
    assert found.summary.get("worse", False) == (change == "worse")
    assert training.progress[1] == 7 == training.progress[0] + (2 if change == "worse" else 0)


@pytest.mark.slow
def test_corrected_links_are_learned(tmp_path):
    """Half of the candidate links are wrong; where the annotator parted them, a joint parser learns which."""
    source, german = (list(read_conllu(f"corpora/{language}.conllu")) for language in ("en", "de"))
    sizes = [(len(one), len(other)) for one, other in zip(source, german, strict=True)]
    right = list(read_alignments("corpora/en-de.pharaoh", "pharaoh", sizes))
    rng = np.random.default_rng(1)
    given = [
        make_alignment(m, n, [*one.links, *rng.integers(1, (m + 1, n + 1), one.links.shape)])
        for one, (m, n) in zip(right, sizes, strict=True)
    ]
    pairs = list(map(SentencePair, source, german, given))
    english, _ = train_arc_parser(source, rng=rng, options=TrainingOptions(epochs=2))
    options = BiparseOptions(training=JointTrainingOptions(epochs=1))
    joint, _ = train_joint_parser(pairs[:20], english, rng=rng, options=options)
    scores = {}
    for corrected in (True, False):
        path, links = tmp_path / f"{corrected}.conllu", tmp_path / "links"
        reviewed = [with_misc(one, "Reviewed", ["Yes"] * len(one)) for one in german[20:44]]
        if corrected:
            reviewed = list(map(with_links_in_misc, reviewed, right[20:44]))
        write_conllu([*reviewed, *german[44:50]], path)
        write_conllu(source[20:50], tmp_path / "en.conllu")
        write_alignments(given[20:50], links)
        files = AlignedFiles(str(tmp_path / "en.conllu"), str(path), str(links))
        session = Session(draft=Draft(str(path)), pairs=files, learns_links=True)
        training = Retraining(joint, str(tmp_path / "trained.model"), 1)
        found = training(Reviewed(path.read_bytes(), str(path), *session.trees(), session.training_pairs()))
        assert set(found.beliefs) == set(range(24, 30))
        trained = load_model(found.model)
        chosen = [trained.parse_pair(one.source, one.target, one.alignment).alignment for one in pairs[60:]]
        scores[corrected] = alignment_scores(right[60:], chosen).f1
    assert scores[True] > scores[False] + 5.0


def renamed(sentence):
    return with_columns(sentence, deprels=["x"] * len(sentence))
