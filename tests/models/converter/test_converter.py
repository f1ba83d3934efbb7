"""Converters: identity without trees, learning, posteriors, relations, files, seeds; adapted parsers."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values, with_columns, with_heads
from qsproj.errors import SentenceLengthError, UsageError
from qsproj.evaluation.attachment import attachment_scores
from qsproj.features.adaptation_templates import encode_source
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.converter.converter import (
    AdaptedParser,
    Converter,
    train_converter,
)
from qsproj.models.converter.converter_parts import (
    RelationAdapter,
    TurnModel,
    relation_loss,
    right_outcomes,
    turned_arcs,
)
from qsproj.models.storage import kind_of, load_model
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import text_parser
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.styles.convert import convert
from qsproj.styles.style import parse_style
from qsproj.training.objectives import logistic_loss
from tests.oracles import finite_differences
from tests.sentences import make_sentence

STYLE = parse_style("prague,auxiliaries=head")


@pytest.fixture(scope="module")
def sources():
    return list(read_conllu("corpora/en.conllu"))


@pytest.fixture(scope="module")
def targets(sources):
    return [convert(source, STYLE) for source in sources]


@pytest.fixture(scope="module")
def converter(sources, targets):
    return train_converter(sources[:40], targets[:40], rng=np.random.default_rng(1))[0]


def scores_of(converter, sources, targets):
    (scores,) = attachment_scores(targets, [[converter.parse(sentence) for sentence in sources]])
    return scores


def test_without_trees_the_source_comes_back(sources, data_dir):
    untrained, report = train_converter([], [], rng=np.random.default_rng(1))
    assert report.sentences == 0
    crossing = itertools.islice(read_conllu(data_dir / "treebanks" / "hungarian-szeged-dev.conllu.gz"), 50)
    for sentence in [*sources[:20], *crossing]:
        converted = untrained.parse(sentence)
        assert converted.heads.tolist() == sentence.heads.tolist()
        assert converted.deprels == sentence.deprels


def test_forty_trees_are_enough_for_a_regular_style(converter, sources, targets):
    same = np.mean([np.mean(s.heads[1:] == t.heads[1:]) for s, t in zip(sources[40:], targets[40:])])
    assert same < 0.75
    scores = scores_of(converter, sources[40:], targets[40:])
    assert scores.uas > 97
    assert scores.las > 94


def test_the_same_style_is_kept(sources):
    converter, _ = train_converter(sources[:10], sources[:10], rng=np.random.default_rng(1))
    scores = scores_of(converter, sources[10:], sources[10:])
    assert (scores.uas, scores.las) == (100, 100)


def test_real_styles(data_dir):
    folder = data_dir / "styles"
    ud, sud = (
        list(itertools.islice(read_conllu(folder / f"naija-dev.{style}.conllu.gz"), 260))
        for style in ("ud", "sud")
    )
    for sources, targets, least in ((ud, sud, 90), (sud, ud, 85)):
        converter, _ = train_converter(sources[:60], targets[:60], rng=np.random.default_rng(1))
        assert scores_of(converter, sources[60:], targets[60:]).uas > least


def test_crossing_arcs_of_the_source_are_kept_by_a_projective_converter(sources):
    converter, _ = train_converter(sources[:10], sources[:10], rng=np.random.default_rng(1))
    assert converter.inference.projective
    crossing = make_sentence("a b c d", "DET NOUN VERB NOUN", [3, 4, 0, 3], "det obj root nsubj")
    assert converter.parse(crossing).heads.tolist() == [-1, 3, 4, 0, 3]


def test_partial_targets_train(sources, targets):
    partial = []
    for target in targets[:40]:
        heads = target.heads.copy()
        heads[1::3] = -1
        partial.append(with_heads(target, heads))
    converter, _ = train_converter(sources[:40], partial, rng=np.random.default_rng(1))
    assert scores_of(converter, sources[40:], targets[40:]).uas > 93


def test_targets_without_heads_are_refused(sources):
    bare = with_heads(sources[0], np.full(len(sources[0]) + 1, -1))
    with pytest.raises(UsageError, match="is the HEAD column empty"):
        train_converter([sources[0]], [bare], rng=np.random.default_rng(1))


def test_a_sentence_that_is_too_long_is_refused(converter):
    with pytest.raises(SentenceLengthError):
        converter.parse(make_sentence("a " * 1001, "X " * 1001, [0] * 1001))


def test_the_seed_decides(sources, targets, tmp_path):
    def trained(name, seed):
        train_converter(sources[:5], targets[:5], rng=np.random.default_rng(seed), epochs=2)[0].save(
            tmp_path / name
        )
        return (tmp_path / name).read_bytes()

    assert trained("a", 1) == trained("b", 1)
    assert trained("a", 1) != trained("c", 2)


def test_turned_arcs_are_those_whose_head_hangs_on_the_phrase():
    # she(1) has(2) been(3) seen(4): both auxiliaries come above the verb, in a chain.
    fan, chain = [-1, 4, 4, 4, 0], [-1, 2, 0, 2, 3]
    assert turned_arcs(np.array(fan), np.array(chain)).tolist() == [False, False, True, True, False]
    # Back, the verb comes above its auxiliary, and with it the auxiliary's phrase above the outer one.
    assert turned_arcs(np.array(chain), np.array(fan)).tolist() == [False, False, False, True, True]


def test_gradients_of_turns_and_relations_by_finite_differences():
    rng = np.random.default_rng(3)
    log_odds = rng.normal(size=5)
    log_odds[0] = -np.inf
    turned = np.array([False, True, False, True, False])
    wanted = finite_differences.gradient(lambda point: logistic_loss(point, turned)[0], log_odds)
    np.testing.assert_allclose(logistic_loss(log_odds, turned)[1], wanted, atol=1e-8)
    scores = rng.normal(size=(4, 5))
    right = rng.random((4, 5)) < 0.5
    right[1] = False
    wanted = finite_differences.gradient(lambda point: relation_loss(point, right)[0], scores)
    np.testing.assert_allclose(relation_loss(scores, right)[1], wanted, atol=1e-8)
    assert not relation_loss(scores, right)[1][1].any()


def test_a_promoted_word_may_copy_the_relation_of_its_phrase():
    source = make_sentence("in Paris lives", "ADP PROPN VERB", [2, 3, 0], "case obl root")
    target = make_sentence("in Paris lives", "ADP PROPN VERB", [3, 1, 0], "obl comp root")
    adapter = RelationAdapter.untrained(("comp", "obl", "root"))
    right = right_outcomes(adapter, source, encode_source(source), target)
    # Columns: own, branch, comp, obl, root.
    assert right[1].tolist() == [False, True, False, True, False]
    assert right[2].tolist() == [False, False, True, False, False]
    assert right[3].tolist() == [True, True, False, False, True]


def test_before_training_a_word_keeps_its_relation_where_its_phrase_has_another():
    source = make_sentence("in Paris lives", "ADP PROPN VERB", [2, 3, 0], "z a root")
    promoted = make_sentence("in Paris lives", "ADP PROPN VERB", [3, 1, 0], "z a root").heads
    adapter = RelationAdapter.untrained(("a", "root", "z"))
    assert adapter.adapt(source, encode_source(source), promoted) == ("z", "a", "root")


def test_an_unseen_relation_is_kept():
    adapter = RelationAdapter.untrained(("obj", "root"))
    source = make_sentence("a b", "X X", [2, 0], "odd root")
    assert adapter.adapt(source, encode_source(source), source.heads) == ("odd", "root")


def test_only_dependents_of_the_root_are_labelled_root(converter, sources):
    for sentence in sources[40:]:
        converted = converter.parse(sentence)
        roots = [relation == "root" for relation in converted.deprels]
        assert roots == (converted.heads[1:] == 0).tolist()


def test_nothing_is_turned_before_training(sources):
    nodes = encode_source(sources[0])
    turned = TurnModel.untrained().turned(nodes)
    assert (turned.turned_heads == nodes.heads).all()


def test_an_adapted_parser_parses_converts_and_is_stored(converter, sources, tmp_path):
    options = TrainingOptions(epochs=2)
    parser, _ = train_arc_parser(sources, rng=np.random.default_rng(1), options=options)
    adapted = AdaptedParser(parser, converter)
    adapted.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert kind_of(adapted) == "adapted-parser"
    for gold in sources[:10]:
        sentence = with_heads(gold, np.full(len(gold) + 1, -1))
        parsed = adapted.parse(sentence, confidence=True)
        step_by_step = converter.parse(parser.parse(sentence))
        assert parsed.heads.tolist() == step_by_step.heads.tolist()
        assert parsed.deprels == step_by_step.deprels
        assert again.parse(sentence, confidence=True).layout == parsed.layout
        written = [float(value) for value in misc_values(parsed, "ArcProb")]
        chosen = adapted.arc_probabilities(sentence)[parsed.heads[1:], np.arange(1, len(sentence) + 1)]
        np.testing.assert_allclose(written, chosen, atol=6e-5)


def test_an_adapted_parser_is_as_unsure_as_its_parser(sources):
    options = TrainingOptions(epochs=1)
    parser, _ = train_arc_parser(sources[:20], rng=np.random.default_rng(1), options=options)
    adapted = AdaptedParser(parser, Converter.untrained())
    sure = [
        [
            float(value)
            for sentence in sources[20:40]
            for value in misc_values(model.parse(sentence, confidence=True), "ArcProb")
        ]
        for model in (parser, adapted)
    ]
    assert np.mean(sure[0]) < 0.95
    assert abs(np.mean(sure[1]) - np.mean(sure[0])) < 0.02


def test_an_adapted_parser_writes_the_tags_that_its_trees_rest_on(sources):
    tagger = train_tagger(sources[:5], rng=np.random.default_rng(1), epochs=1, language="en")
    inner = ArcParser(ArcScorer.untrained("words"), None, TreeDecoder(projective=True, single_root=True))
    adapted = AdaptedParser(text_parser(tagger, inner), Converter.untrained())
    sentence = sources[0]
    bare = with_columns(sentence, upos=["_"] * len(sentence))
    assert adapted.parse(bare).upos == tagger.tag(bare).upos
    assert adapted.parse(sentence).upos == sentence.upos
    assert adapted.retagging().parse(sentence).upos == tagger.tag(bare).upos
    assert AdaptedParser(inner, Converter.untrained()).retagging() is None
    (read,) = adapted(sentence.text)
    assert (read.forms, read.upos) == (sentence.forms, adapted.parse(bare).upos)
    other = replace(tagger, weights=-tagger.weights)
    assert text_parser(other, adapted).parse(bare).upos == tagger.tag(bare).upos


def test_a_parser_without_a_kind_cannot_be_stored():
    class Foreign:
        pass

    with pytest.raises(UsageError, match="Foreign cannot be stored; known: "):
        kind_of(Foreign())
