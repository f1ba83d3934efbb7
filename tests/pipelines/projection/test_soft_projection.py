"""Soft projection: evidence against sums over links, the choice of pairs, the prior, and the whole."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from qsproj.conventions import is_whole
from qsproj.corpus.editing import misc_values, with_heads, with_misc
from qsproj.corpus.pairs.translations import link_strengths
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.errors import DataError, UsageError
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.pipelines.projection.methods import SoftProjectionOptions
from qsproj.pipelines.projection.priors import (
    HELD_OUT,
    PRIOR_EPOCHS,
    PRIOR_TEMPLATE_SET,
    join_priors,
    load_prior,
    translated_prior,
)
from qsproj.pipelines.projection.soft_evidence import (
    DensestPairs,
    arc_evidence,
    arc_probabilities,
    learn_relations,
    pooled_evidence,
    reflexives_of,
    relation_evidence,
)
from qsproj.pipelines.projection.soft_projection import (
    USUAL_TEMPERATURE,
    annotated_report,
    checked_translations,
    overconfidence,
    project_soft,
)
from tests.oracles import arc_evidence as oracle
from tests.sentences import make_sentence

OTHERWISE = {"obj": "nsubj"}
INFERENCE = TreeDecoder(projective=True, single_root=True)
ENGLISH = make_sentence(
    "She likes old cats .", "PRON VERB ADJ NOUN PUNCT", [2, 0, 4, 2, 2], "nsubj root amod obj punct"
)


def pair(n_target, links, weights=None, source=ENGLISH):
    target = make_sentence(" ".join("w" for _ in range(n_target)), " ".join("X" for _ in range(n_target)))
    return SentencePair(source, target, make_alignment(len(source), n_target, links, weights=weights))


def alone(pairs):
    """Take each pair as all there is of translations of its target sentence."""
    return [(pair,) for pair in pairs]


def train_prior(pairs, *, seed):
    """Train a parser of tags alone on source trees."""
    options = TrainingOptions(template_set=PRIOR_TEMPLATE_SET, epochs=PRIOR_EPOCHS)
    trees = [one.source for one in pairs]
    return train_arc_parser(trees, rng=np.random.default_rng(seed), options=options)[0]


@pytest.fixture(scope="module")
def english(sample):
    return train_prior(sample, seed=1)


def test_evidence_is_the_sum_over_links_and_arcs():
    rng = np.random.default_rng(5)
    for _ in range(20):
        links = {(int(s), int(t)): float(rng.uniform(0.1, 1)) for s, t in rng.integers(1, 5, size=(7, 2))}
        example = pair(4, list(links), list(links.values()))
        evidence = arc_evidence(example)
        for head in range(5):
            for dependent in range(1, 5):
                if head != dependent:
                    wanted = oracle.arc_evidence(ENGLISH.heads.tolist(), links, head, dependent)
                    assert evidence[head, dependent] == pytest.approx(wanted, abs=1e-12)
        assert not evidence.diagonal().any()


def test_certain_one_to_one_links_give_the_source_tree():
    evidence = arc_evidence(pair(5, [(word, word) for word in range(1, 6)]))
    expected = np.zeros((6, 6))
    expected[ENGLISH.heads[1:], np.arange(1, 6)] = 1.0
    np.testing.assert_allclose(evidence, expected)


def test_without_links_there_is_neither_evidence_nor_relation():
    example = pair(2, [])
    assert not arc_evidence(example).any()
    assert not relation_evidence((example,), np.array([-1, 2, 0]), {"nsubj": 0}).any()


def test_a_word_linked_twice_counts_half():
    strengths = link_strengths(make_alignment(2, 2, [(1, 1), (1, 2)]))
    np.testing.assert_allclose(strengths, [[1, 0, 0], [0, 0.5, 0.5], [0, 0, 0]])


def test_source_arcs_are_as_sure_as_the_parser_was():
    doubtful = with_misc(ENGLISH, "ArcProb", ["0.5", None, "0.25", None, None])
    assert arc_probabilities(doubtful).tolist() == [0.0, 0.5, 1.0, 0.25, 1.0, 1.0]
    assert arc_probabilities(with_heads(doubtful, [-1, -1, 0, 4, 2, 2]))[1] == 0.0
    with pytest.raises(DataError, match=r"found ArcProb=7 of word .*, expected a probability"):
        arc_probabilities(with_misc(ENGLISH, "ArcProb", ["7", None, None, None, None]))


def test_what_several_translations_say_is_added_up_to_one_at_most():
    first, second = pair(3, [(1, 1), (2, 2)], [0.8, 0.6]), pair(3, [(2, 2), (4, 3), (1, 1)], [0.7, 0.9, 0.5])
    pooled = pooled_evidence((first, second))
    assert pooled[2, 1] == pytest.approx(0.8 * 0.6 + 0.5 * 0.7)
    assert pooled[0, 2] == 1.0
    assert pooled[2, 3] == pytest.approx(0.7 * 0.9)
    np.testing.assert_allclose(pooled_evidence((first,)), arc_evidence(first))


def test_evidence_for_relations_is_that_for_arcs_told_apart():
    """Each relation gets what a source would carry over in which no other word had a head."""
    rng = np.random.default_rng(9)
    numbers = {"nsubj": 0, "amod": 1, "obj": 2, "root": 3, "punct": 4, "unseen": 5}
    for _ in range(10):
        example, other = (
            pair(4, list(links), list(links.values()))
            for links in (
                {(int(s), int(t)): float(rng.uniform(0.1, 1)) for s, t in rng.integers(1, 5, size=(7, 2))}
                for _ in range(2)
            )
        )
        heads = np.array([-1, *(int(rng.choice([h for h in range(-1, 5) if h != w])) for w in range(1, 5))])
        found = relation_evidence((example, other), heads, numbers)
        for word, head in enumerate(heads[1:].tolist(), start=1):
            for relation, column in numbers.items():
                kept = np.where(np.array(["", *ENGLISH.deprels]) == relation, ENGLISH.heads, -1)
                wanted = sum(
                    arc_evidence(replace(one, source=replace(ENGLISH, heads=kept)))[head, word]
                    for one in (example, other)
                )
                assert found[word, column] == pytest.approx(min(wanted, 1.0) if head >= 0 else 0)


@pytest.mark.parametrize("relation", ["compound", "amod"])
def test_a_compound_on_the_other_side_of_its_head_tells_no_relation(relation):
    source = Sentence.from_words(["health", "system"], heads=[-1, 2, 0], deprels=[relation, "root"])
    numbers = {relation: 0, "root": 1}
    for links, heads, told in (
        ([(1, 1), (2, 2)], [-1, 2, 0], 1),
        ([(1, 2), (2, 1)], [-1, 0, 1], relation == "amod"),
    ):
        target = Sentence.from_words(["a", "b"])
        one = SentencePair(source, target, make_alignment(2, 2, links))
        assert relation_evidence((one,), np.array(heads), numbers).sum(axis=0).tolist() == [told, 1]


@pytest.mark.parametrize(("tags", "told"), [("PROPN PROPN", [0, 1, 0]), ("NOUN PROPN", [1, 0, 0])])
def test_a_proper_noun_behind_another_is_part_of_a_name(tags, told):
    """*Simon, son of Jonah* is *Simon Jonah* in some translations; *city of Rome* has a modifier."""
    source = Sentence.from_words(["Simon", "Jonah"], heads=[-1, 0, 1], deprels=["root", "nmod"])
    target = Sentence.from_words(["Moor", "Anta"], upos=tags.split())
    one = SentencePair(source, target, make_alignment(2, 2, [(1, 1), (2, 2)]))
    numbers = {"nmod": 0, "flat": 1, "root": 2}
    assert relation_evidence((one,), np.array([-1, 0, 1]), numbers)[2].tolist() == told
    flat = replace(
        one, source=Sentence.from_words(["Simon", "J"], heads=[-1, 0, 1], deprels=["root", "flat"])
    )
    assert relation_evidence((one, flat), np.array([-1, 0, 1]), numbers)[2].max() == 1.0
    marked = Sentence.from_words(["Moor", "ci", "Anta"], upos=["PROPN", "ADP", "PROPN"])
    other = SentencePair(source, marked, make_alignment(2, 3, [(1, 1), (2, 3)]))
    assert relation_evidence((other,), np.array([-1, 0, 3, 1]), numbers)[3].tolist() == [1, 0, 0]


def test_evidence_for_a_relation_is_one_at_most():
    example = pair(2, [(1, 1), (2, 2)])
    heads = np.array([-1, 2, 0])
    for times in (1, 2, 3):
        found = relation_evidence((example,) * times, heads, {"nsubj": 0, "root": 1})
        np.testing.assert_allclose(found, [[0, 0], [1, 0], [0, 1]])


def test_frequent_pronouns_that_are_linked_to_auxiliaries_are_reflexive():
    """*The day is celebrated*, *se celebra el día*; *él* is linked to *he* more than to *is*."""
    source = Sentence.from_words(
        ["he", "is", "celebrated"],
        upos=["PRON", "AUX", "VERB"],
        heads=[-1, 3, 3, 0],
        deprels=["nsubj:pass", "aux:pass", "root"],
    )
    target = Sentence.from_words(["él", "se", "celebra"], upos=["PRON", "PRON", "VERB"])
    links = [make_alignment(3, 3, [(linked, 1), (2, 2), (3, 3)]) for linked in (1, 2, 1)]
    corpus = [(SentencePair(source, target, one),) for one in links]
    assert reflexives_of(corpus) == {"se"}
    other = Sentence.from_words(["no"] * 3000, upos=["ADV"] * 3000)
    rare = (SentencePair(source, other, make_alignment(3, 3000, [])),)
    assert reflexives_of([*corpus, rare]) == frozenset()
    numbers, heads = {"expl": 0, "aux:pass": 1, "root": 2}, np.array([-1, 3, 3, 0])
    found = [relation_evidence(corpus[0], heads, numbers, some)[2].tolist() for some in ((), {"se"})]
    assert found == [[0, 1, 0], [1, 0, 0]]
    assert not relation_evidence(corpus[0], heads, {"root": 0}, {"se"})[2].any()
    french = replace(source, upos=("PRON", "PRON", "VERB"), deprels=("nsubj", "expl:pass", "root"))
    assert reflexives_of([(replace(corpus[0][0], source=french),)]) == {"se"}, "as in the source"
    (own,) = corpus[0]
    both, columns = (
        (own, replace(own, source=french)),
        {"expl": 0, "aux:pass": 1, "expl:pass": 2, "expl:pv": 3},
    )
    assert relation_evidence(both, heads, columns, {"se"})[2].tolist() == [0, 0, 1, 0], "the source's subtype"
    more = (*both, replace(own, source=replace(french, deprels=("nsubj", "expl:pv", "root"))))
    assert relation_evidence(more, heads, columns, {"se"})[2].tolist() == [0, 0, 1, 1]
    subtypes = {"aux:pass": 0, "expl:pass": 1}
    assert relation_evidence(both, heads, subtypes, {"se"})[2].tolist() == [0, 1], "no bare expl is known"
    there = replace(source, upos=("PRON", "PRON", "VERB"), deprels=("nsubj", "expl", "root"))
    assert not reflexives_of([(replace(corpus[0][0], source=there),)]), "pronouns for there or it"


def test_relations_follow_the_evidence_and_else_the_prior(sample, english):
    """Sources that call every object a subject move relations as far as links carry them over."""
    renamed = [
        replace(
            pair,
            source=replace(
                pair.source, deprels=tuple(OTHERWISE.get(name, name) for name in pair.source.deprels)
            ),
        )
        for pair in sample
    ]

    def objects(pairs, strength):
        trees = [pair.target for pair in pairs]
        learned = learn_relations(
            trees,
            alone(pairs),
            prior=english.labeller,
            rng=np.random.default_rng(1),
            strength=strength,
        )
        return [
            sum(tree.deprels.count("obj") for tree in found) for found in (learned[1], relabelled(*learned))
        ]

    def relabelled(labeller, trees):
        encoded = [labeller.encode(tree) for tree in trees]
        return [
            replace(tree, deprels=labeller.label(words, tree.heads))
            for tree, words in zip(trees, encoded, strict=True)
        ]

    without = objects(renamed, 0.0)
    assert without[0] == without[1] > 0
    assert max(objects(renamed, 6.0)) < 0.5 * without[0] < min(objects(sample, 6.0))


def test_corpora_without_trees_or_tags_are_refused():
    one = pair(2, [(1, 1)])
    assert list(checked_translations([[one], [one]])) == [(one, one)]
    with pytest.raises(UsageError, match="tag the target first"):
        list(checked_translations([[one], [replace(one, target=make_sentence("w w", "_ _"))]]))


def densest(corpus, **most):
    pairs = DensestPairs(**most)
    for translations in corpus:
        pairs.add(translations)
    return pairs.chosen, pairs.left_out


def test_the_densest_pairs_are_chosen_in_their_order(sample):
    """Long, short and sparse pairs; a copy of one that is chosen comes second and stays behind."""
    corpus = [pair(2, [(1, 1), (2, 2)]), pair(61, [(1, 1)]), pair(12, [(1, 1)]), *sample]
    # Evidence as the sum over arcs that a single link at either end carries over, at most 1.
    fitting = [one for one in corpus if 3 <= len(one.target) <= 60]
    told = {id(one): arc_evidence(one)[:, 1:].sum() / len(one.target) for one in fitting}
    covered = [one for one in fitting if told[id(one)] > 0.0]
    chosen, left_out = densest(alone([*corpus, *sample]), sentences=9)
    best = sorted(covered, key=lambda one: -told[id(one)])
    assert len(chosen) == 9
    assert {told[id(one)] for (one,) in chosen} <= {told[id(one)] for one in best[:9]}
    places = [next(i for i, one in enumerate(corpus) if one is kept) for (kept,) in chosen]
    assert places == sorted(places)
    assert sum(left_out.values()) + 9 == len(corpus) + len(sample)
    assert left_out["links that project no arc"] >= 1
    short = sum(len(one.target) < 3 for one in sample)
    assert left_out["fewer than 3 words"] + left_out["more than 60 words"] == 2 + 2 * short


def test_pairs_are_chosen_until_they_have_enough_words(sample):
    fitting, _ = densest(alone(sample))
    by_coverage = sorted(fitting, key=lambda one: -arc_evidence(one[0]).sum() / len(one[0].target))
    for words in (1, 30, 200):
        chosen, left_out = densest(alone(sample), words=words)
        lengths = [len(one[0].target) for one in by_coverage[: len(chosen)]]
        assert sum(lengths[:-1]) < words <= sum(lengths)
        assert sorted(len(one[0].target) for one in chosen) == sorted(lengths)
        assert left_out["less evidence than others"] == len(fitting) - len(chosen)


def test_without_priors_the_words_of_the_source_are_translated():
    # Tags alone cannot tell these two apart.
    tags = "NOUN ADV VERB"
    trees = (("a b c", [3, 3, 0], "eins zwei drei"), ("d e f", [0, 1, 1], "vier fünf sechs"))
    pairs = [
        SentencePair(
            make_sentence(source, tags, heads, "x x x"),
            make_sentence(target, tags),
            make_alignment(3, 3, [(1, 1), (2, 2), (3, 3)]),
        )
        for source, heads, target in trees
    ] * 20
    prior = translated_prior([pairs], rng=np.random.default_rng(1))
    for _, heads, target in trees:
        assert prior.parse(make_sentence(target, tags)).heads.tolist()[1:] == heads


def test_joined_priors_are_the_mean_of_their_scores(sample):
    members = [
        train_prior(sample[:40], seed=1),
        train_prior(sample[40:], seed=2),
    ]
    # Read without words: nothing but the members' own features fires.
    joined = join_priors(members, projective=True)
    alike = ArcParser(ArcScorer("delexicalised", joined.scorer.weights), None, INFERENCE)
    for pair in sample[:5]:
        mean = (members[0].scores(pair.target) + members[1].scores(pair.target)) / 2
        np.testing.assert_allclose(alike.scores(pair.target), mean, atol=1e-4)


def test_a_member_votes_as_sure_as_its_temperature_says(sample, english):
    cooler = join_priors([replace(english, temperature=4.0)], projective=True)
    plain = join_priors([english], projective=True)
    for pair in sample[:5]:
        np.testing.assert_allclose(4.0 * cooler.scores(pair.target), plain.scores(pair.target), atol=1e-4)


def test_a_prior_that_reads_what_the_target_has_not_is_refused(sample, tmp_path):
    options = TrainingOptions(template_set="morphology", epochs=1)
    rich, _ = train_arc_parser(
        [pair.source for pair in sample[:5]], rng=np.random.default_rng(1), options=options
    )
    rich.save(tmp_path / "rich")
    with pytest.raises(DataError, match="rich: found a parser that reads morphology, which another language"):
        load_prior(str(tmp_path / "rich"))
    words = replace(options, template_set="words")
    of_words, _ = train_arc_parser(
        [pair.source for pair in sample[:5]], rng=np.random.default_rng(1), options=words
    )
    of_words.save(tmp_path / "words")
    with pytest.raises(DataError, match="words: found a parser that reads words, which another language"):
        load_prior(str(tmp_path / "words"))
    assert load_prior(str(tmp_path / "words"), reads_words=True).scorer.template_set == "words"
    with pytest.raises(DataError, match="reads morphology"):
        load_prior(str(tmp_path / "rich"), reads_words=True)
    with pytest.raises(UsageError, match="parse the source first"):
        translated_prior(
            [[pair(2, [(1, 1)], source=make_sentence("a b", "X X"))]], rng=np.random.default_rng(1)
        )
    (tmp_path / "no.model").write_text("text")
    with pytest.raises(DataError):
        load_prior(str(tmp_path / "no.model"))


def test_held_out_pairs_are_new_to_the_prior():
    """Otherwise it knows their trees by heart, and they say little about its probabilities."""
    bare = Sentence.from_words(ENGLISH.forms, upos=ENGLISH.upos)
    pairs = [
        one if number % HELD_OUT == 0 else replace(one, source=bare, alignment=make_alignment(5, 5, []))
        for number, one in enumerate([pair(5, [(1, 1)])] * (2 * HELD_OUT), start=1)
    ]
    with pytest.raises(UsageError, match="parse the source first"):
        translated_prior([pairs], rng=np.random.default_rng(1))
    assert translated_prior([[*pairs[:-1], *pairs[-1:] * 2]], rng=np.random.default_rng(1))


def test_the_sample_is_parsed_better_than_by_the_prior(sample, english):
    projected = project_soft(
        [sample],
        priors=[english],
        rng=np.random.default_rng(1),
        options=SoftProjectionOptions(),
    )
    gold = [pair.target for pair in sample]
    before, after = (
        attachment_scores(gold, [[parser.parse(tree) for tree in gold]])[0]
        for parser in (english, projected.parser)
    )
    assert after.uas > before.uas + 1.4
    assert after.las > before.las + 3
    assert "ArcProb may be far too high" in projected.report[0]
    assert "1 prior parser" in projected.report[1]


def test_evidence_moves_parser_and_trees_as_far_as_its_strength_says(sample, english):
    prior = join_priors([english], projective=True)
    moved, followed = [], []
    for strength in (0.0, 1.5, 6.0):
        projected = project_soft(
            [sample],
            priors=[english],
            rng=np.random.default_rng(1),
            options=SoftProjectionOptions(epochs=1, strength=strength),
        )
        moved.append(
            sum(
                np.abs(projected.parser.scores(one.target) - prior.scores(one.target)).sum() for one in sample
            )
        )
        trees = {tree.sent_id: tree.heads for tree in projected.trees()}
        followed.append(
            sum(
                arc_evidence(one)[trees[one.target.sent_id][1:], range(1, len(one.target) + 1)].sum()
                for one in sample
                if one.target.sent_id in trees
            )
        )
        if strength == 0.0:
            for one in sample:
                if one.target.sent_id in trees:
                    np.testing.assert_array_equal(trees[one.target.sent_id], prior.parse(one.target).heads)
    assert moved[0] == pytest.approx(0.0, abs=1e-3)
    assert moved[0] < moved[1] < moved[2]
    assert followed[0] < followed[1] < followed[2]


@pytest.mark.parametrize("sentences", [1, 2, 3])
def test_no_more_pairs_are_learned_from_than_asked_for(sample, english, sentences):
    projected = project_soft(
        [sample],
        priors=[english],
        rng=np.random.default_rng(1),
        options=SoftProjectionOptions(epochs=1, sentences=sentences),
    )
    assert len(projected.learned_from) == sentences


def test_all_sentences_get_a_tree_those_that_were_learned_from_the_same(sample, english):
    projected = project_soft(
        [sample],
        priors=[english],
        rng=np.random.default_rng(1),
        options=SoftProjectionOptions(epochs=1),
    )
    trees = list(projected.trees())
    assert [tree.sent_id for tree in trees] == [pair.target.sent_id for pair in sample]
    assert all(is_whole(tree.heads) for tree in trees)
    by_id = {tree.sent_id: tree for tree in trees}
    assert 0 < len(projected.learned_from) < len(trees)
    for tree in projected.learned_from:
        np.testing.assert_array_equal(tree.heads, by_id[tree.sent_id].heads)
        assert tree.deprels == by_id[tree.sent_id].deprels


def test_a_share_of_what_was_learned_lies_between_prior_and_all_of_it(sample, english):
    prior = join_priors([english], projective=True)
    parsers = [
        project_soft(
            [sample],
            priors=[english],
            rng=np.random.default_rng(1),
            options=SoftProjectionOptions(epochs=1, share=share),
        ).parser
        for share in (0.0, 0.25, 1.0)
    ]
    for pair in sample[:5]:
        none, some, everything = (parser.scores(pair.target) for parser in parsers)
        np.testing.assert_allclose(none, prior.scores(pair.target), atol=1e-6)
        np.testing.assert_allclose(some, none + 0.25 * (everything - none), atol=1e-5)


def test_what_is_added_beyond_all_makes_probabilities_no_surer(sample, english):
    once, twice = (
        project_soft(
            [sample],
            priors=[english],
            rng=np.random.default_rng(1),
            options=SoftProjectionOptions(epochs=1, share=share),
        ).parser.temperature
        for share in (1.0, 2.0)
    )
    assert 1.7 < twice / once < 2.5


def test_the_temperature_makes_learned_sentences_no_surer_than_new_ones():
    """Learned sentences have 1.3 times the scores of new ones."""
    rng = np.random.default_rng(5)
    scores = {str(number): rng.normal(size=(8, 8), scale=4.0) for number in range(200)}
    scores |= {f"{number} learned": 1.3 * scores[str(number)] for number in range(200)}

    class Parser:
        inference = INFERENCE

        def scores(self, sentence):
            return scores[sentence.sent_id]

    word = Sentence.from_words(["w"] * 7)
    new, learned = ([replace(word, sent_id=f"{n}{kind}") for n in range(200)] for kind in ("", " learned"))
    assert overconfidence(Parser(), learned, new, temperature=2.0) == pytest.approx(1.3, abs=0.02)
    assert overconfidence(Parser(), new, learned, temperature=2.0) == 1.0
    assert overconfidence(Parser(), learned, [], temperature=2.0) == 1.0


def test_a_parser_that_fits_its_pairs_closely_has_a_higher_temperature(sample, english, monkeypatch):
    """With the same trees; learned from the data: without it, the temperature is the usual one."""

    def parser():
        options = SoftProjectionOptions(epochs=8, l2=0.0, share=1.0)
        rng = np.random.default_rng(1)
        return project_soft([sample], priors=[english], rng=rng, options=options).parser

    close = parser()
    monkeypatch.setattr("qsproj.pipelines.projection.soft_projection.FACTORS", (1.0,))
    usual = parser()
    assert usual.temperature == USUAL_TEMPERATURE < close.temperature / 1.03
    for one in sample[9:40:10]:
        sure, unsure = (model.parse(one.target, confidence=True) for model in (usual, close))
        # Marks follow sampled trees, at the temperature.
        words = np.array([False, *(tag != "PUNCT" for tag in one.target.upos)])
        assert sure.heads[words].tolist() == unsure.heads[words].tolist()
        assert misc_values(sure, "ArcProb") != misc_values(unsure, "ArcProb")


def test_what_the_temperature_is_fitted_on_is_not_learned_from(sample, english):
    projected = project_soft(
        [sample],
        priors=[english],
        rng=np.random.default_rng(1),
        options=SoftProjectionOptions(epochs=1),
    )
    learned = {tree.sent_id for tree in projected.learned_from}
    kept = {pair.target.sent_id for pair in sample[9::10]}
    assert learned
    assert not learned & kept


def test_pairs_without_links_are_refused(english):
    refused = partial(project_soft, priors=[english], rng=np.random.default_rng(1))
    for words, message in (
        (7, "1 for links that project no arc; more pairs"),
        (2, "1 for fewer than 3 words; give whole sentences"),
        (61, "1 for more than 60 words; split the text"),
    ):
        with pytest.raises(UsageError, match=f"all pairs are left out: {message}"):
            refused([[pair(words, [])]])
    with pytest.raises(UsageError, match="no source sentence has a head"):
        refused([[]])


def test_several_priors_vote(sample, english):
    reverse = replace(english, scorer=replace(english.scorer, weights=english.scorer.weights[::-1].copy()))

    def learned(*priors, strength=1.5):
        options = SoftProjectionOptions(epochs=1, share=1.0, strength=strength)
        rng = np.random.default_rng(1)
        return project_soft([sample], priors=priors, rng=rng, options=options).parser.scorer.weights

    mean = (english.scorer.weights + reverse.scorer.weights) / 2
    np.testing.assert_allclose(learned(english, reverse, strength=0.0), mean, atol=1e-6)


def test_a_report_says_when_annotated_trees_change_nothing():
    whole = make_sentence("a b", "X X", [2, 0], "dep root")
    several = make_sentence("a b", "X X", [0, 0], "root root")
    bare = make_sentence("a b", "X X")
    pair = SentencePair(whole, whole, make_alignment(2, 2, [(1, 1)]))
    reports = {count: annotated_report([several] * count + [bare, whole], [pair]) for count in (0, 1)}
    assert reports[0][0] == "the parser is unchanged, with 1 usable annotated tree"
    assert reports[1][0] == "fine-tuned on 1 annotated sentence"
    assert annotated_report([several, several], [pair])[0].startswith(
        "the parser is unchanged, with 0 usable"
    )
    left_out = "1 for no head given; 1 for several roots (only their relations are learned)"
    assert reports[1][1] == f"annotated sentences left out: {left_out}"
