"""Tags through links: from made pairs of which the tags are known."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.editing import with_columns
from qsproj.corpus.language.lexicon import Lexicon
from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.errors import UsageError
from qsproj.models.storage import load_model
from qsproj.models.tagging.tagger_training import accuracy, train_tagger
from qsproj.pipelines.tagging import tags_through_links
from qsproj.pipelines.tagging.few_tagged import FewTagged, compare_with_tagged_alone
from qsproj.pipelines.tagging.linked_text import read_linked_text
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.self_training import with_temperature
from qsproj.pipelines.tagging.tags_through_links import (
    project_tags,
    split_sentences,
    tagger_of_links,
    undoubted_errors,
)
from tests.pipelines.tagging.made_bitext import gold, made_pairs


def projected(pairs, *, seed=1, **more):
    return project_tags(((pair,) for pair in pairs), rng=np.random.default_rng(seed), **more)


def test_learns_a_made_language_from_links_a_tenth_of_which_is_wrong():
    result = projected(made_pairs(300, wrong=0.1), language="de")
    assert accuracy(result.tagger, gold(made_pairs(100, seed=7))) > 99.0
    assert result.tagger.language == "de"
    assert len(result.report) == 3
    assert "1.00 links a word" in result.report[0]


def test_a_tag_that_no_link_of_a_word_brings_is_found_where_its_sentences_call_for_it():
    """*Wels*, a noun, is linked to verbs alone, by links of middling probability."""
    pairs = made_pairs(300)
    for number, pair in enumerate(pairs[:4]):
        forms = ["der", "Wels", "hört", "ein", "Baum", "."]
        source = Sentence.from_words(["w"] * 6, upos=["DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT"])
        links = make_alignment(
            6, 6, [(3, 2), (3, 3), (1, 1), (4, 4), (5, 5), (6, 6)], weights=[0.6] + [0.95] * 5
        )
        pairs[number] = replace(pair, source=source, target=Sentence.from_words(forms), alignment=links)
    assert projected(pairs).tagger.tag_words(("der", "Wels", "jagt", "."))[1] == "NOUN"


def test_a_frequent_word_without_translation_is_an_auxiliary_where_one_stands():
    """*di* stands where *wird* does, and its few links, all unsure, are to *and* and *will*."""
    pairs = made_pairs(300)
    for number in range(240):
        word, tag, sure = (
            ("wird", "AUX", 0.95) if number % 2 else ("di", "AUX" if number % 4 else "CCONJ", 0.5)
        )
        source = Sentence.from_words(["w"] * 5, upos=["DET", "NOUN", tag, "VERB", "PUNCT"])
        links = make_alignment(5, 5, [(i, i) for i in range(1, 6)], weights=[0.95, 0.95, sure, 0.95, 0.95])
        target = Sentence.from_words(["der", "Baum", word, "hört", "."])
        pairs[number] = replace(pairs[number], source=source, target=target, alignment=links)
    tagger = projected(pairs).tagger
    assert tagger.tag_words(("der", "Baum", "di", "hört", "."))[2] == "AUX"


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    pairs = made_pairs(60, wrong=0.1)
    for name in ("one", "two"):
        projected(pairs).tagger.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_options_hold_for_the_bitext():
    result = projected(made_pairs(60), options=TagProjectionOptions(sentences=5))
    assert result.report[1].startswith("trained on 5 of 5 sentences")
    assert len(result.report) == 2, "of sixty sentences none is held out: nothing is said of agreement"


@pytest.mark.parametrize(("count", "sizes"), [(24, [8, 8, 8]), (41, [14, 14, 13])])
def test_sentences_are_dealt_out_where_there_are_enough(count, sizes):
    options = TagProjectionOptions(fewest=8)
    parts = split_sentences(range(100, 100 + count), rng=np.random.default_rng(1), options=options)
    assert [len(part) for part in parts] == sizes
    assert sorted(itertools.chain(*parts)) == list(range(100, 100 + count))
    assert all(part == sorted(part) for part in parts)


@pytest.mark.parametrize(("count", "half"), [(23, 12), (15, 8), (2, 1), (1, 1), (0, 0)])
def test_halves_are_drawn_where_there_are_few_sentences(count, half):
    options = TagProjectionOptions(fewest=8, taggers=4)
    draws = split_sentences(range(count), rng=np.random.default_rng(1), options=options)
    assert [len(set(draw)) for draw in draws] == [half] * 4
    assert len({frozenset(draw) for draw in draws}) == 4 or count < 15


def test_a_bitext_of_any_size_is_read_within_bounds_and_this_is_told():
    pairs = made_pairs(60)
    some = projected(pairs, options=TagProjectionOptions(sentences=40))
    assert some.report[0].startswith("40 of 60 sentences drawn by chance: ")
    assert "drawn" not in projected(pairs, options=TagProjectionOptions(sentences=60)).report[0]


def test_what_is_held_out_is_not_learned_from():
    """Every hundredth sentence has a word of its own, often enough to be learned."""
    pairs = made_pairs(300)
    for number in range(99, 300, 100):
        source = Sentence.from_words(["w"] * 6, upos=["VERB"] * 6)
        target = Sentence.from_words(["hält"] * 6)
        pairs[number] = SentencePair(source, target, make_alignment(6, 6, [(i, i) for i in range(1, 7)]))
    tagger = projected(pairs).tagger
    form = tagger.extractor.templates.index("form")
    rows = {word: tagger.index.rows(tagger.extractor.keys((word,)))[0, form] for word in ("hält", "hört")}
    assert rows["hört"] >= 0
    assert rows["hält"] == -1


def test_links_that_contradict_tags_of_held_out_sentences_show_undoubted_errors(tmp_path, monkeypatch):
    """Of 200 sentences two are held out; their links are made wrong, for tags that other sentences show."""
    monkeypatch.setattr(tags_through_links, "ENOUGH_WORDS", 0)
    pairs = made_pairs(200)
    before = projected(pairs).tagger
    held_out = [pairs[number] for number in range(99, 200, 100)]
    for number in range(99, 200, 100):
        source = pairs[number].source
        pairs[number] = replace(pairs[number], source=with_columns(source, upos=source.upos[::-1]))
    tagger = projected(pairs).tagger
    # The links of these sentences are for the right tags, or for those in reverse order.
    for one, reversed_tags in ((before, False), (tagger, True)):
        wrong, expected, words = 0, 0.0, 0
        for pair in held_out:
            chances = one.tag_distribution(pair.target)
            best = [one.tags[column] for column in chances.argmax(axis=1)]
            linked = pair.source.upos[::-1] if reversed_tags else pair.source.upos
            wrong += sum(own != other for own, other in zip(best, linked, strict=True))
            expected += float((1.0 - chances.max(axis=1)).sum())
            words += len(best)
        excess = (wrong - max(expected, 0.125 * words)) / words
        assert one.undoubted == pytest.approx(min(max(4.0 * excess, 0.0), 0.5))
    assert tagger.undoubted > before.undoubted + 0.3
    tagger.save(tmp_path / "tagger")
    assert load_model(tmp_path / "tagger").undoubted == tagger.undoubted


def test_links_of_the_first_of_several_sources_show_undoubted_errors(monkeypatch):
    """Held-out links of all sources never agree on a tag; those of the first are for wrong tags."""
    monkeypatch.setattr(tags_through_links, "ENOUGH_WORDS", 0)
    pairs = made_pairs(200)
    others = [list(pairs), list(pairs)]
    for number in range(99, 200, 100):
        tags = pairs[number].source.upos
        pairs[number] = replace(pairs[number], source=with_columns(pairs[number].source, upos=tags[::-1]))
    joined = list(join_same_targets([pairs, *others]))
    found = project_tags(joined, rng=np.random.default_rng(1)).tagger.undoubted
    assert found == pytest.approx(projected(pairs).tagger.undoubted / 2, rel=0.1)
    assert found > 0.15


def test_only_errors_beyond_those_expected_and_those_of_links_are_undoubted():
    assert undoubted_errors(0, 0.0, 0) == undoubted_errors(125, 0.0, 1000) == 0.0
    assert undoubted_errors(200, 200.0, 1000) < 0.01
    by_expected = [undoubted_errors(200, expected, 1000) for expected in (50.0, 125.0, 150.0, 180.0)]
    assert by_expected[0] == by_expected[1] > by_expected[2] > by_expected[3] > 0.0
    assert undoubted_errors(900, 0.0, 1000) == 0.5
    assert undoubted_errors(4, 0.0, 20) < undoubted_errors(200, 0.0, 1000)
    assert 0.0 < undoubted_errors(60, 50.0, 300) < undoubted_errors(60, 20.0, 300) < 0.5


def test_a_tagger_is_made_less_sure():
    as_learned = TagProjectionOptions(temperature=1.0)
    pairs = made_pairs(150, wrong=0.1)
    cool, warm = (projected(pairs, options=one).tagger for one in (TagProjectionOptions(), as_learned))
    np.testing.assert_allclose(cool.transitions * TagProjectionOptions().temperature, warm.transitions)


def test_parts_of_a_bitext_make_one_tagger():
    options = TagProjectionOptions(fewest=40)
    result = projected(made_pairs(150, wrong=0.1), options=options)
    whole = projected(made_pairs(150, wrong=0.1))
    assert accuracy(result.tagger, gold(made_pairs(50, seed=7))) > 99.0
    assert not np.array_equal(result.tagger.transitions, whole.tagger.transitions)


def renamed(sentences, old, new):
    return [
        Sentence.from_words(s.forms, upos=[new if tag == old else tag for tag in s.upos]) for s in sentences
    ]


def test_few_tagged_sentences_change_the_convention():
    """In the target, articles are called PRON; ten sentences tell."""
    pairs = made_pairs(300, wrong=0.1)
    few = renamed(gold(made_pairs(10, seed=3)), "DET", "PRON")
    test = renamed(gold(made_pairs(50, seed=9)), "DET", "PRON")
    assert accuracy(projected(pairs).tagger, test) < 80.0
    assert accuracy(projected(pairs, tagged=few).tagger, test) > 99.0


def test_a_tagger_of_links_shares_tags_and_features_with_another():
    """And learns the tags of sentences: both can be averaged. Nothing else of the other is used."""
    pairs = made_pairs(300, wrong=0.1)
    other = projected(made_pairs(100, seed=5), lexicon=Lexicon({"Ufo": ("INTJ",)})).tagger
    few = renamed(gold(made_pairs(10, seed=3)), "DET", "PRON")
    test = renamed(gold(made_pairs(50, seed=9)), "DET", "PRON")
    found = tagger_of_links([[pair] for pair in pairs], like=other, rng=np.random.default_rng(1), tagged=few)
    assert set(found.tags) == {*other.tags, "PRON"}
    assert found.extractor is other.extractor
    assert accuracy(other, test) < 80.0
    assert accuracy(found, test) > 99.0
    # One whose tags and features are those of the same pairs is found again.
    same = projected(pairs, tagged=few).tagger
    again = tagger_of_links([[pair] for pair in pairs], like=same, rng=np.random.default_rng(1), tagged=few)
    assert again.index.keys.tolist() == same.index.keys.tolist()
    np.testing.assert_array_equal(again.weights, same.weights)
    weightless = replace(other, weights=np.zeros_like(other.weights))
    again = tagger_of_links(
        [[pair] for pair in pairs], like=weightless, rng=np.random.default_rng(1), tagged=few
    )
    assert np.array_equal(again.weights, found.weights)


def test_many_tagged_sentences_do_without_links():
    """Links that are all wrong cannot hurt where enough is tagged, and the report says so."""
    pairs = made_pairs(200, wrong=1.0)
    few = renamed(gold(made_pairs(100, seed=3)), "DET", "PRON")
    test = renamed(gold(made_pairs(50, seed=9)), "DET", "PRON")
    result = projected(pairs, tagged=few, language="de")
    assert accuracy(result.tagger, test) > 99.0
    assert "20 tagged sentences set aside" in result.report[1]
    assert result.tagger.language == "de"


def test_tagged_sentences_alone_win_where_they_are_better():
    pairs = made_pairs(60)
    text = read_linked_text((pair,) for pair in pairs)
    ours, test = FewTagged.of(gold(made_pairs(60, seed=3))), gold(made_pairs(20, seed=4))
    wrong = train_tagger(renamed(test, "NOUN", "VERB"), rng=np.random.default_rng(1))
    right = train_tagger(test, rng=np.random.default_rng(1))
    for tagger, alone_wins in ((wrong, True), (right, False)):
        wins, said = compare_with_tagged_alone(tagger, text, ours, test, rng=np.random.default_rng(1))
        assert wins is alone_wins
        assert "links do not help" in " ".join(said) or not alone_wins


@pytest.mark.parametrize(("wrong", "alone_wins"), [(2, False), (3, True)])
def test_links_stay_where_chance_explains_the_difference(wrong, alone_wins):
    """With links one word, *Baum*, is taken for a verb; it occurs so often."""
    pairs = made_pairs(60)
    text = read_linked_text((pair,) for pair in pairs)
    many = gold(made_pairs(200, seed=4))
    with_tree = [one for one in many if one.forms.count("Baum") == 1][:wrong]
    aside = [*with_tree, *[one for one in many if "Baum" not in one.forms][:10]]
    learned = [
        replace(
            one,
            upos=tuple("VERB" if form == "Baum" else tag for form, tag in zip(one.forms, one.upos)),
        )
        for one in many
    ]
    tagger = train_tagger(learned, rng=np.random.default_rng(1))
    right = [np.array(tagger.tag_words(one.forms)) == one.upos for one in aside]
    assert np.count_nonzero(~np.concatenate(right)) == wrong
    ours = FewTagged.of(gold(made_pairs(60, seed=3)))
    wins, _ = compare_with_tagged_alone(tagger, text, ours, aside, rng=np.random.default_rng(1))
    assert wins is alone_wins


def test_cooling_keeps_tags_and_takes_certainty_away():
    tagger = projected(made_pairs(100, wrong=0.1)).tagger
    cooler = with_temperature(tagger, 2.0)
    sentence = Sentence.from_words(["ein", "Baum", "hört", "der", "Hund", "!"])
    assert cooler.tag_words(sentence.forms) == tagger.tag_words(sentence.forms)
    assert (
        cooler.tag_distribution(sentence).max(axis=1).sum()
        < tagger.tag_distribution(sentence).max(axis=1).sum()
    )


def test_a_lexicon_settles_what_links_get_wrong():
    """English *old* is linked as a NOUN throughout; the lexicon knows better."""
    pairs = [
        SentencePair(*(renamed([pair.source], "ADJ", "NOUN")[0], pair.target), pair.alignment)
        for pair in made_pairs(200)
    ]
    test = gold(made_pairs(50, seed=9))
    lexicon = Lexicon({"großer": ("ADJ",), "alter": ("ADJ", "NOUN")})
    assert accuracy(projected(pairs).tagger, test) < 95.0
    tagger = projected(pairs, lexicon=lexicon).tagger
    assert tagger.tag_words(("der", "großer", "Hund"))[1] == "ADJ"


def test_several_sources_vote():
    """One source calls every noun a verb, with weak links: the other is believed."""
    good = made_pairs(200)
    poor = []
    for pair in good:
        n = len(pair.source)
        weak = make_alignment(n, n, pair.alignment.links, weights=np.full(n, 0.5))
        poor.append(SentencePair(renamed([pair.source], "NOUN", "VERB")[0], pair.target, weak))
    test = gold(made_pairs(50, seed=9))
    both = project_tags(join_same_targets([good, poor]), rng=np.random.default_rng(1))
    assert accuracy(both.tagger, test) > 99.0
    assert accuracy(projected(poor).tagger, test) < 80.0


def test_the_first_of_several_sources_also_teaches_alone():
    """Two sources call rare words verbs, one calls them nouns: that counts more if it is the first."""
    nouns, verbs = made_pairs(100), made_pairs(100)
    for number in range(60):
        for pairs, tag in ((nouns, "NOUN"), (verbs, "VERB")):
            source = Sentence.from_words(["w", "."], upos=[tag, "PUNCT"])
            target = Sentence.from_words([f"w{number:02}er", "."])
            pairs.append(SentencePair(source, target, make_alignment(2, 2, [(1, 1), (2, 2)])))
    options = TagProjectionOptions(frequent=0.01)
    chances = []
    for sources in ([nouns, verbs, verbs], [verbs, verbs, nouns]):
        joined = list(join_same_targets(sources))
        tagger = project_tags(joined, rng=np.random.default_rng(1), options=options).tagger
        marginals = tagger.tag_distribution(Sentence.from_words(["w07er", "."]))
        chances.append(marginals[0, tagger.tags.index("NOUN")])
    assert chances[0] > chances[1] + 0.2


def test_contractions_of_tagged_sentences_are_split(tmp_path):
    from qsproj.corpus.conllu import read_conllu

    rows = [("1-2", "zum", "_"), ("1", "zu", "ADP"), ("2", "der", "DET"), ("3", "Haus", "NOUN")]
    lines = ["\t".join([number, form, "_", tag, *"______"]) for number, form, tag in rows]
    path = tmp_path / "few.conllu"
    path.write_text("\n".join([*lines, "", ""]), encoding="utf-8")
    source = Sentence.from_words(["to", "house", "!"], upos=["ADP", "NOUN", "PUNCT"])
    pair = SentencePair(
        source,
        Sentence.from_words(["zum", "Haus", "!"]),
        make_alignment(3, 3, [(1, 1), (2, 2), (3, 3)], weights=[0.9, 0.9, 0.9]),
    )
    result = projected([*made_pairs(100), *[pair] * 20], tagged=list(read_conllu(path)) * 3)
    assert result.tagger.contractions == {"zum": ("zu", "der")}
    assert result.tagger.tag_words(("zu", "der", "Haus", "!")) == ("ADP", "DET", "NOUN", "PUNCT")
    assert result.tagger.tag_words(("zum", "Haus", "!"))[0] == "ADP"


def bare(pair, **changes):
    parts = {"source": pair.source, "target": pair.target, "alignment": pair.alignment} | changes
    return SentencePair(**parts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda pair: bare(pair, source=Sentence.from_words(pair.source.forms)), "no source word has a UPOS"),
        (
            lambda pair: bare(pair, alignment=make_alignment(len(pair.source), len(pair.target), [])),
            "no target word is linked",
        ),
    ],
)
def test_what_teaches_nothing_is_refused(change, message):
    with pytest.raises(UsageError, match=message):
        projected([change(pair) for pair in made_pairs(5)])


def test_an_empty_target_is_refused():
    with pytest.raises(UsageError, match="the target has no word"):
        projected([])


def test_tagged_sentences_without_tags_are_refused():
    with pytest.raises(UsageError, match=r"tagged sentence 1: 'Hund' has no UPOS"):
        projected(made_pairs(5), tagged=[Sentence.from_words(["Hund"])])
