"""The joint model: what it learns from parallel pairs, its file, and pairs that it cannot join."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.bp.run import Status
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values, with_heads
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import make_alignment
from qsproj.errors import SentenceError, UsageError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions, JointTrainingOptions, Propagation
from qsproj.models.joint.joint_parser import JointParser, synchronous_parser
from qsproj.models.joint.joint_training import epoch_line, usable_pairs
from qsproj.models.joint.joint_trees import train_target
from qsproj.models.storage import load_model
from qsproj.models.tagging.link_tagger import untagged
from qsproj.pipelines.bilingual.biparse import ParsingCounts, parse_pairs, train_joint_parser

OPTIONS = TrainingOptions(epochs=2)
BIPARSE = BiparseOptions(target_training=OPTIONS)


@pytest.fixture(scope="module")
def pairs():
    return list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))


@pytest.fixture(scope="module")
def source_parser():
    return train_arc_parser(
        list(read_conllu("corpora/en.conllu")), rng=np.random.default_rng(1), options=OPTIONS
    )[0]


@pytest.fixture(scope="module")
def trained(pairs, source_parser):
    return train_joint_parser(pairs[:30], source_parser, rng=np.random.default_rng(1), options=BIPARSE)


def parsed_pair(parser, pair, **options):
    return parser.parse_pair(pair.source, pair.target, pair.alignment, **options)


def right_heads(parsed, gold):
    return sum(int((p.heads == g.heads)[1:].sum()) for p, g in zip(parsed, gold, strict=True))


def test_the_source_helps_the_target(pairs, trained):
    """Thirty trees teach little German; the English trees, found together with the German, teach more."""
    parser, report = trained
    test = pairs[30:]
    gold = [pair.target for pair in test]
    together = right_heads([parsed.target for parsed in parse_pairs(parser, test)], gold)
    assert together > right_heads([parser.parse(sentence) for sentence in gold], gold)
    assert report.pairs == 30
    assert report.epochs[-1].loss < report.epochs[0].loss
    assert "30 pairs" in report.summary()


def test_beliefs_of_a_parsed_pair_are_told(pairs, trained):
    parser, _ = trained
    parsed = parsed_pair(parser, pairs[40])
    assert parsed.status is Status.CONVERGED
    assert not parsed.alone
    for sentence in (parsed.source, parsed.target):
        assert all(0.0 <= float(value) <= 1.0 for value in misc_values(sentence, "ArcProb"))
    assert parsed.alignment.weights.min() >= 0.5
    linked, candidates = (set(map(tuple, x.links.tolist())) for x in (parsed.alignment, pairs[40].alignment))
    assert linked <= candidates


def test_how_long_messages_are_passed_is_stored(pairs, trained, tmp_path):
    """One iteration believes something else than forty; it was forgotten in the file."""
    parser, _ = trained
    hasty = replace(parser, options=replace(parser.options, propagation=Propagation(max_iterations=1)))
    hasty.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.options == hasty.options
    one, other, whole = (model.infer(model.prepare(pairs[31])).target for model in (hasty, again, parser))
    np.testing.assert_array_equal(one, other)
    assert np.abs(one - whole).max() > 1e-3


def test_how_the_weights_were_learned_and_which_links_are_taken_is_stored(pairs, trained, tmp_path):
    parser, report = trained
    options = replace(parser.options, link_threshold=0.999, least_probability=0.3)
    strict = replace(parser, options=options)
    strict.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.training == JointTrainingOptions()
    assert again.options == options
    arcs = [model.prepare(pairs[31]).structure.target.arcs >= 0 for model in (again, parser)]
    assert np.count_nonzero(arcs[0]) < np.count_nonzero(arcs[1])
    links, usual, all_links = (
        parsed_pair(model, pairs[31], **more).alignment.links
        for model, more in ((again, {}), (parser, {}), (again, {"link_threshold": 0.0}))
    )
    assert len(links) < len(usual) <= len(all_links) == len(pairs[31].alignment.links)
    lines = [epoch_line(*epoch) for epoch in zip(report.epochs, report.by_epoch, strict=True)]
    assert len(lines) == 10
    assert lines[0].startswith(f"epoch 1: target heads {report.epochs[0].loss:.3f} nats a pair; ")
    assert lines[-1].endswith("% of 90 runs")


def test_a_file_of_before_that_was_stored_loads(pairs, trained):
    parser, _ = trained
    header, arrays = parser.to_archive()
    for added in (
        "propagation",
        "link_threshold",
        "least_probability",
        "training",
        "labeller",
        "tagger",
    ):
        del header[added]
    again = JointParser.from_archive(header, arrays)
    assert again.options == parser.options
    assert again.options.propagation == Propagation()


def test_a_synchronous_parser_needs_no_training(pairs, trained, tmp_path):
    """Links count alike, which its file says too; no pair contradicts the constraint."""
    parser, _ = trained
    synchronous = synchronous_parser(parser.source, parser.target)
    synchronous.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    for pair in pairs[30:40]:
        parsed, same = parsed_pair(synchronous, pair), parsed_pair(again, pair)
        assert not parsed.alone
        assert parsed.target.heads.tolist() == same.target.heads.tolist()
    prepared = again.prepare(pairs[31])
    np.testing.assert_array_equal(again.weights.scores(prepared).links, 0.0)


def test_source_trees_joint_best_and_observed(pairs, trained, source_parser):
    parser, _ = trained
    pair = pairs[31]
    wrong = with_heads(pair.source, [-1, 0, *range(1, len(pair.source))])
    observed = parsed_pair(parser, replace(pair, source=wrong), source_tree="observed")
    assert observed.source.heads.tolist() == wrong.heads.tolist()
    best = parsed_pair(parser, pair, source_tree="best")
    assert best.source.heads.tolist() == source_parser.parse(pair.source).heads.tolist()
    with pytest.raises(UsageError, match="known: joint, best, observed"):
        parsed_pair(parser, pair, source_tree="none")
    headless = with_heads(pair.source, np.full(len(pair.source) + 1, -1))
    with pytest.raises(SentenceError, match="found no head at word 1 of source sentence"):
        parsed_pair(parser, replace(pair, source=headless), source_tree="observed")


def test_pairs_without_links_are_parsed_alone_and_counted(pairs, trained):
    parser, _ = trained
    pair = pairs[33]
    bare = replace(pair, alignment=make_alignment(len(pair.source), len(pair.target), []))
    counts = ParsingCounts()
    (parsed, other) = parse_pairs(parser, [bare, pair])
    counts.add(parsed)
    counts.add(other)
    assert parsed.alone
    assert parsed.target.heads.tolist() == parser.parse(pair.target).heads.tolist()
    assert not len(parsed.alignment.links)
    assert (counts.without_links, counts.contradictions) == (1, 0)
    assert counts.summary() == (
        "2 pairs; belief propagation converged in 100.0% of 1 run; parsed alone: 1 for no candidate link"
    )


def test_a_pair_whose_messages_contradict_is_parsed_alone_and_counted(pairs, trained, monkeypatch):
    parser, _ = trained
    beliefs = replace(parser.infer(parser.prepare(pairs[33])), status=Status.CONTRADICTION)
    monkeypatch.setattr(JointParser, "infer", lambda self, prepared: beliefs)
    counts = ParsingCounts()
    (parsed,) = parse_pairs(parser, [pairs[33]])
    counts.add(parsed)
    assert parsed.alone
    assert parsed.target.heads.tolist() == parser.parse(pairs[33].target).heads.tolist()
    assert parsed.source.heads.tolist() == parser.source.parse(pairs[33].source).heads.tolist()
    assert counts.summary() == (
        "1 pair; belief propagation converged in 0.0% of 1 run; parsed alone: 1 for contradicting factors"
    )


def test_a_pair_that_is_parsed_alone_is_as_sure_as_each_parser(pairs, trained):
    """Probabilities are divided by the temperature of either side, as where it parses alone."""
    parser, _ = trained
    source, target = (replace(one, temperature=5.0) for one in (parser.source, parser.target))
    pair = pairs[33]
    bare = replace(pair, alignment=make_alignment(len(pair.source), len(pair.target), []))
    parsed = parsed_pair(replace(parser, source=source, target=target), bare)
    for one, sentence, found in ((source, pair.source, parsed.source), (target, pair.target, parsed.target)):
        expected = one.parse(sentence, confidence=True)
        assert found.heads.tolist() == expected.heads.tolist()
        assert misc_values(found, "ArcProb") == misc_values(expected, "ArcProb")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "crafted",
    [
        {"target_scale": 0.0},
        {"target_scale": 1e9},
        {"aligner_scale": 0.0},
        {"aligner_scale": 1e9},
        {"weights": 1e9},
        {"weights": -1e9},
    ],
)
def test_weights_that_a_file_may_hold_are_parsed_with_in_silence(pairs, trained, tmp_path, crafted):
    parser, _ = trained
    if "weights" in crafted:
        crafted = {"weights": np.full_like(parser.weights.weights, crafted["weights"])}
    replace(parser, weights=replace(parser.weights, **crafted)).save(tmp_path / "model")
    parsed = parsed_pair(load_model(tmp_path / "model"), pairs[33])
    assert (parsed.target.heads[1:] >= 0).all()


def test_where_nothing_was_inferred_no_share_is_told():
    assert ParsingCounts(without_links=2).summary() == (
        "2 pairs; nothing to infer; parsed alone: 2 for no candidate link"
    )


def test_pairs_that_teach_nothing_are_left_out_and_counted(pairs, source_parser):
    pair = pairs[0]
    partial = replace(pair, target=with_heads(pair.target, np.full(len(pair.target) + 1, -1)))
    bare = replace(pair, alignment=make_alignment(len(pair.source), len(pair.target), []))
    usable, skipped = usable_pairs([partial, bare, pair])
    assert len(usable) == 1
    assert skipped == {"no whole target tree": 1, "no candidate link": 1}
    expected = r"found 1 pair to learn from.*left out: 1 for no whole target tree; 1 for no candidate link"
    with pytest.raises(UsageError, match=expected):
        train_joint_parser([partial, bare, pair], source_parser, rng=np.random.default_rng(1))


def test_options_that_name_nothing_or_are_out_of_range_are_refused(pairs, source_parser):
    def train(**options):
        options = BiparseOptions(**options)
        train_joint_parser(pairs[:4], source_parser, rng=np.random.default_rng(1), options=options)

    with pytest.raises(UsageError, match=r"unknown factor 'MONOO'; known: MONO, SWAP.*SOURCEHMM, ITG, SYNCH"):
        train(joint=JointOptions(families=("MONO", "MONOO")))
    with pytest.raises(UsageError, match="unknown source tree 'none'"):
        train(joint=JointOptions(source_tree="none"))
    with pytest.raises(UsageError, match="unknown labels 'none'; known: joint, after"):
        train(labels="none")
    with pytest.raises(UsageError, match="unknown tags 'none'; known: given, links, joint"):
        train(tags="none")
    for evidence in (-0.1, 1.5, np.nan):
        with pytest.raises(UsageError, match=f"source_evidence is {evidence}, expected 0 to 1"):
            train(training=JointTrainingOptions(source_evidence=evidence))


def test_target_text_without_tags_is_tagged_through_links(pairs, source_parser, tmp_path):
    options = BiparseOptions(
        target_training=TrainingOptions(epochs=1), training=JointTrainingOptions(epochs=1), tags="links"
    )
    parser, _ = train_joint_parser(pairs[:12], source_parser, rng=np.random.default_rng(1), options=options)
    parser.save(tmp_path / "model")
    bare = untagged(pairs[31])
    one, other = (parsed_pair(model, bare).target for model in (parser, load_model(tmp_path / "model")))
    assert one.upos == other.upos == parser.tagger.tag(bare).upos
    assert "_" not in one.upos
    assert one.heads.tolist() == other.heads.tolist()
    alone = parser.parse(bare.target)
    assert alone.upos == parser.tagger.tagger.tag(bare.target).upos
    assert alone.heads.tolist() == parser.target.parse(alone).heads.tolist()
    given = parsed_pair(parser, pairs[31]).target
    assert given.upos == pairs[31].target.upos


def test_scores_that_are_too_sure_are_scaled_down(pairs, source_parser):
    """Ten times as sure, the same parser ends with a much smaller scale, if not all the way in 200 steps."""
    target = train_target(
        pairs[:20], rng=np.random.default_rng(1), options=BiparseOptions(target_training=OPTIONS)
    )

    mono = BiparseOptions(joint=JointOptions(families=("MONO",)))

    def learned_scale(factor):
        scores = [replace(own, links=factor * own.links) for own in target.scores]
        surer = replace(target, scores=scores)
        parser, _ = train_joint_parser(
            pairs[:20], source_parser, rng=np.random.default_rng(1), options=mono, target=surer
        )
        return parser.weights.target_scale

    assert learned_scale(10.0) < 0.6 * learned_scale(1.0)
