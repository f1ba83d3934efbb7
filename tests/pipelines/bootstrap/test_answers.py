"""What a person says in minutes: words, trees, and parts of trees teach a bootstrapped model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError
from qsproj.models.arc import arc_training
from qsproj.models.arc.arc_training import tuned_and_judged
from qsproj.models.storage import load_model
from qsproj.models.text.text_parser import text_parser
from qsproj.models.tree_decoder import of_tree
from qsproj.pipelines.bootstrap import answers
from qsproj.pipelines.bootstrap.answers import (
    HeldOutTags,
    TaggerInputs,
    learn_answers,
    learned_tagger,
    text_to_parse,
    tuned_parser,
    with_known_tags,
    with_tags,
)
from qsproj.pipelines.bootstrap.training import learn_annotated
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.tags_through_links import project_tags


@pytest.fixture(scope="module")
def model():
    return text_parser(
        load_model("tests/kept_models/tagger.model"), load_model("tests/kept_models/arc-parser.model")
    )


@pytest.fixture(scope="module")
def gold():
    return list(read_conllu("corpora/de.conllu"))[:40]


@pytest.fixture(scope="module")
def projected(model):
    """A model whose tagger was trained through links."""
    corpus, rng = join_same_targets(INPUTS.corpora), np.random.default_rng(1)
    return replace(model, tagger=project_tags(corpus, rng=rng, language="de", columns=()).tagger)


INPUTS = TaggerInputs([AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh")])


def learned(model, sentences=(), lexicon=None, raw=(), inputs=None):
    rng = np.random.default_rng(1)
    return learn_answers(model, sentences, lexicon or {}, raw=raw, rng=rng, inputs=inputs)


def right(model, gold):
    """Tags and heads that are right, counted word by word."""
    parsed = [model.retagging().parse(one) for one in gold]
    tags = sum(a == b for one, own in zip(gold, parsed) for a, b in zip(one.upos, own.upos))
    heads = sum(int((one.heads == own.heads).sum()) for one, own in zip(gold, parsed))
    return tags, heads


def test_without_answers_the_model_stays(model):
    assert learned(model) is model


def test_sentences_teach_tags_and_trees(model, gold):
    raw = [one.forms for one in gold]
    better = learned(model, gold[:20], raw=raw)
    before, after = right(model, gold[:20]), right(better, gold[:20])
    assert after[0] > before[0] or before[0] == sum(map(len, gold[:20]))
    assert after[1] >= before[1]
    assert np.array_equal(learned(model, gold[:20], raw=raw).tagger.weights, better.tagger.weights)


def test_a_word_list_rules_the_tags_of_raw_text(model, gold):
    raw = [one.forms for one in gold]
    word = next(form for one in gold for form, tag in zip(one.forms, one.upos) if tag == "NOUN")
    places = [(one, at) for one in gold for at, form in enumerate(one.forms) if form == word]
    assert {model.tagger.tag_words(one.forms)[at] for one, at in places} == {"NOUN"}
    better = learned(model, lexicon={word.lower(): ("ADV",)}, raw=raw)
    assert {better.tagger.tag_words(one.forms)[at] for one, at in places} == {"ADV"}
    # Trees are not learned from words.
    assert better.base is model.base


def test_sentences_and_a_word_list_teach_without_raw_text(model, gold):
    better = learned(model, gold[:3], lexicon={"doch": ("ADV",)})
    assert right(better, gold[:3])[0] >= right(model, gold[:3])[0]
    assert better.tagger.undoubted == model.tagger.undoubted


def test_heads_alone_leave_the_tagger(model, gold):
    trees = [with_columns(one, upos=["_"] * len(one)) for one in gold[:3]]
    assert learned(model, trees, raw=[one.forms for one in gold]).tagger is model.tagger


def test_links_change_the_tagger_of_answers_and_no_tree(projected, gold):
    raw = [one.forms for one in gold]
    partly = with_columns(gold[3], upos=["X", *["_"] * (len(gold[3]) - 1)])
    answers = [*gold[:3], partly]
    plain, better = learned(projected, answers, raw=raw), learned(projected, answers, raw=raw, inputs=INPUTS)
    assert np.array_equal(plain.base.scorer.weights, better.base.scorer.weights)
    assert np.array_equal(
        better.tagger.weights, learned(projected, answers, raw=raw, inputs=INPUTS).tagger.weights
    )
    assert set(plain.tagger.tags) <= set(better.tagger.tags)
    assert right(better, gold[20:])[0] >= right(plain, gold[20:])[0]
    # Heads alone teach no tag, through links neither.
    trees = [with_columns(one, upos=["_"] * len(one)) for one in gold[:3]]
    assert learned(projected, trees, raw=raw, inputs=INPUTS).tagger is projected.tagger


def test_a_tagger_of_tagged_sentences_alone_stays_without_links(model, gold):
    """They were worse where the bootstrap compared them."""
    raw = [one.forms for one in gold]
    plain, other = (learned(model, gold[:3], raw=raw, inputs=inputs) for inputs in (None, INPUTS))
    assert np.array_equal(plain.tagger.weights, other.tagger.weights)


def test_answers_of_parts_of_sentences_are_learned_through_links_too(projected, gold):
    """The person calls determiners X; the last word of each sentence is not tagged."""
    said = [
        with_columns(one, upos=["X" if tag == "DET" else tag for tag in one.upos[:-1]] + ["_"])
        for one in gold[:30]
    ]
    raw = [one.forms for one in gold]

    def as_said(inputs):
        tagger = learned(projected, said, raw=raw, inputs=inputs).tagger
        rows = [zip(one.upos, tagger.tag_words(one.forms)) for one in gold[30:]]
        return sum(tag == "DET" and own == "X" for row in rows for tag, own in row)

    assert as_said(INPUTS) >= as_said(None) > 0


def test_tagged_sentences_of_the_bootstrap_are_learned_through_links_again(projected, gold):
    raw = [one.forms for one in gold]
    words = {form for one in gold for form, tag in zip(one.forms, one.upos) if tag == "ADV"}
    tagged = [
        with_columns(one, upos=["INTJ" if form in words else tag for form, tag in zip(one.forms, one.upos)])
        for one in gold
    ]
    lexicon = {"und": ("CCONJ",)}

    def interjections(inputs):
        tagger = learned(projected, lexicon=lexicon, raw=raw, inputs=inputs).tagger
        return sum(tagger.tag_words(one.forms).count("INTJ") for one in gold)

    assert interjections(replace(INPUTS, tagged=tagged)) > interjections(INPUTS)


def test_a_foreign_word_is_no_rule_for_a_sentence(model):
    partly = Sentence.from_words(["Das", "heißt", "Αριστοτέλησ", "."], upos=["_", "VERB", "X", "PUNCT"])
    assert with_known_tags(with_tags(model.tagger, {"X"}, set()), partly, {}).upos[0] != "X"


def test_words_that_only_the_bitext_has_are_not_forgotten(model, gold):
    """Raw text, here of ten sentences, has few of them."""
    raw = [one.forms for one in gold[:10]]
    better = learned(model, gold[:3], raw=raw).tagger
    of_raw = {key for forms in raw for key in model.tagger.extractor.keys(forms).ravel().tolist()}
    of_bitext = set(model.tagger.index.keys.tolist()) - of_raw
    kept = of_bitext & set(better.index.keys.tolist())
    assert len(kept) > 0.9 * len(of_bitext)
    before, after = right(model, gold[10:])[0], right(replace(model, tagger=better), gold[10:])[0]
    assert after >= 0.98 * before


def test_the_tagger_is_kept_where_held_out_sentences_do_not_gain(model, gold, monkeypatch):
    asked = []

    def share(items):
        asked.append(items)
        return 0.0

    monkeypatch.setattr(answers, "helpful_share", share)
    better, _ = learned_tagger(
        model.tagger,
        gold[:6],
        {},
        raw=[one.forms for one in gold[:6]],
        rng=np.random.default_rng(1),
    )
    for one in gold[6:20]:
        assert better.tag_words(one.forms) == model.tagger.tag_words(one.forms)
    # What is asked about a sentence is what the others teach.
    (items,) = asked
    assert sorted(len(one.before) for one in items) == sorted(map(len, gold[:6]))


def test_a_single_sentence_cannot_be_judged_and_teaches_nothing(model, gold):
    """It costs .6 to 1.3 LAS; with one more sentence both are learned from."""
    raw = [one.forms for one in gold[:6]]
    one, two = learned(model, gold[:1], raw=raw), learned(model, gold[:2], raw=raw)
    assert one.tagger is model.tagger
    assert one.base is model.base
    assert two.tagger is not model.tagger
    assert two.base is not model.base


def stage_learned(model, sentences, tmp_path, lexicon=None):
    """The report of the last stage of a bootstrap, the model that it made, and the one that it began with."""
    files = {name: tmp_path / name for name in ("base", "annotated.conllu", "lexicon", "learned")}
    model.save(files["base"])
    write_conllu(sentences, files["annotated.conllu"])
    files["lexicon"].write_text(lexicon or "", encoding="utf-8")
    given = {"text": (), "learn_text": None, "tagged": (), "lemmatizer": None, "language": "de"}
    report = learn_annotated(
        [files["learned"]],
        model=str(files["base"]),
        corpora=INPUTS.corpora,
        treebanks=(),
        annotated=(str(files["annotated.conllu"]),),
        lexicon=lexicon and str(files["lexicon"]),
        paragraphs=False,
        seed=1,
        made={},
        **given,
    )
    return report, load_model(files["learned"]), load_model(files["base"])


def test_a_single_annotated_tree_teaches_a_bootstrap_nothing(projected, gold, tmp_path):
    report, better, base = stage_learned(projected, gold[:1], tmp_path)
    assert report.line.startswith("a single annotated tree teaches nothing (give at least 2)")
    assert np.array_equal(better.tagger.weights, base.tagger.weights)
    assert np.array_equal(better.base.scorer.weights, base.base.scorer.weights)


def test_annotated_sentences_teach_a_bootstrap_as_answers_do(projected, gold, tmp_path):
    expected = "fine-tuned on 20 annotated sentences; 20 annotated sentences are in the training bitext: "
    report, better, base = stage_learned(projected, gold[:20], tmp_path)
    assert report.line.startswith(expected)
    before, after = (right(model, gold[20:]) for model in (base, better))
    assert after[0] > before[0] and after[1] > before[1]
    # Those of the page are made in the same way.
    raw, rng = [one.forms for one in read_conllu("corpora/de.conllu")], np.random.default_rng(1)
    inputs = replace(INPUTS, options=TagProjectionOptions(learn_raw=False))
    same = learn_answers(base, gold[:20], {}, raw=raw, rng=rng, inputs=inputs)
    assert np.array_equal(same.tagger.weights, better.tagger.weights)
    assert base.tagger.morphology is None
    (words,) = better.tagger.with_morphology([gold[0]], anew=True)
    assert sum(a == b for a, b in zip(words.feats, gold[0].feats)) > 0.5 * len(words)
    assert set(words.lemmas) != {"_"}


def test_annotated_features_leave_the_lemmas_of_a_lexicon(projected, gold, tmp_path):
    bare = [with_columns(one, lemmas=["_"] * len(one)) for one in gold[:20]]
    lexicon = "schlafen\tschläft\tV;PRS;3;SG\n"
    _, better, _ = stage_learned(projected, bare, tmp_path, lexicon)
    sentence = Sentence.from_words(["Er", "schläft", "."], upos=["PRON", "VERB", "PUNCT"])
    (found,) = better.tagger.with_morphology([sentence], anew=True)
    assert found.lemmas[1] == "schlafen"
    assert set(found.feats) != {"_"}


def test_a_tagger_of_tagged_sentences_alone_learns_no_features(model, gold, tmp_path):
    report, *_ = stage_learned(model, gold[:3], tmp_path)
    assert "not learned: the tagger is of --tagged sentences alone" in report.line


def test_a_tagger_is_as_sure_after_answers_as_held_out_sentences_are_right(model, gold):
    raw, rng = [one.forms for one in gold], np.random.default_rng(1)
    flat = replace(model.tagger, weights=model.tagger.weights / 2, transitions=model.tagger.transitions / 2)
    before = np.concatenate([flat.tag_distribution(one).max(axis=1) for one in gold]).mean()
    found = []
    for count in (10, 40):
        known = gold[:count]
        after, own = learned_tagger(flat, known, {}, raw=raw, rng=rng)
        assert sorted(own) == list(range(count))
        right = sum(a == b for at, tags in own.items() for a, b in zip(tags.tags, known[at].upos))
        words = sum(map(len, known))
        expected = words - sum(tags.doubts.sum() for tags in own.values())
        found.append((expected / words, right / words, after.undoubted))
    (few, right_few, doubt_few), (many, right_many, doubt_many) = found
    assert before < few < right_few, "few words are judged: nearer to what was expected before"
    assert right_many - many < 0.7 * (right_few - few)
    assert doubt_many < doubt_few


def test_words_of_a_list_do_not_show_that_doubtful_links_were_right(model, gold):
    raw, rng = [one.forms for one in gold], np.random.default_rng(1)
    lexicon = {"der": ("DET",), "und": ("CCONJ",)}
    before = replace(model.tagger, undoubted=0.25)
    after, _ = learned_tagger(before, [], lexicon, raw=raw, rng=rng)

    def expected(tagger):
        sure = [tagger.tag_distribution(one).max(axis=1) for one in gold]
        return (1.0 - tagger.undoubted) * np.concatenate(sure).mean()

    assert expected(before) <= expected(after) < expected(before) + 0.05


def test_numbers_in_digits_may_have_the_tags_of_answers(model):
    """Days and years are adjectives in Russian treebanks; raw text must not teach otherwise."""
    days = ["ADP", "NOUN", "ADJ", "AUX", "NOUN", "ADV", "PUNCT"]
    counts = ["PRON", "AUX", "NUM", "NOUN", "ADV", "PUNCT"]
    said = [
        *(Sentence.from_words(f"Im Jahr {one} war Krieg hier .".split(), upos=days) for one in (1984, 1712)),
        *(Sentence.from_words(f"Es waren {one} Kinder hier .".split(), upos=counts) for one in (12, 30)),
    ]
    raw = [f"Im Jahr {year} war Regen da .".split() for year in range(1900, 2000)]
    tagger, _ = learned_tagger(model.tagger, said, {}, raw=raw, rng=np.random.default_rng(1))
    assert [tagger.tag_words(one)[2] for one in raw] == ["ADJ"] * len(raw)
    unknown = with_known_tags(tagger, with_columns(said[0], upos=["ADP", *["_"] * 6]), {})
    assert unknown.upos[2] == "ADJ"


def test_arcs_are_less_sure_where_the_tags_of_new_text_are_wrong(model, gold):
    trees, parser = gold[:6], model.base
    nothing = [np.zeros(len(one) + 1) for one in trees]
    right = [HeldOutTags(one.upos, doubts) for one, doubts in zip(trees, nothing)]
    wrong = [HeldOutTags(("PUNCT",) * len(one), doubts) for one, doubts in zip(trees, nothing)]
    known, other, unknown = (
        tuned_parser(parser, trees, own, rng=np.random.default_rng(1))
        for own in (right, wrong, [None] * len(trees))
    )
    assert other.temperature > 1.5 * known.temperature
    assert unknown.temperature == parser.temperature
    assert np.array_equal(known.scorer.weights, other.scorer.weights)


def test_marks_are_judged_at_the_temperature_that_is_chosen(model, gold, monkeypatch):
    monkeypatch.setattr(answers, "ENOUGH_WORDS", 0)
    parser, trees = replace(model.base, temperature=2.0, attaches_marks=True), gold[:20]
    own = [HeldOutTags(one.upos, np.zeros(len(one) + 1)) for one in trees]
    found = tuned_parser(parser, trees, own, rng=np.random.default_rng(1))
    sure = right = 0.0
    for tree, scores in tuned_and_judged(parser, trees, rng=np.random.default_rng(1))[1]:
        marked = found.with_marks(scores, tree, found.inference)
        heads = found.heads(marked)
        marginals = found.inference.infer(marked / found.temperature)[1]
        sure += of_tree(marginals, heads).sum()
        right += np.count_nonzero(heads[1:] == tree.heads[1:])
    assert sure == pytest.approx(right, abs=0.2)


@pytest.mark.parametrize(("wrong", "attaches"), [(0, True), (2, True), (30, False)])
def test_few_marks_do_not_contradict_the_guidelines(model, gold, monkeypatch, wrong, attaches):
    """A single mark less used to switch them off, which cost a point of LAS; there is a mark in any tree."""
    parser, trees, lost = replace(model.base, attaches_marks=True), gold[:20], wrong

    def right_marks(judged, tree):
        nonlocal lost
        found = np.ones(len(tree) + 1, dtype=np.int64)
        marks = [at for at, tag in enumerate(tree.upos, start=1) if tag == "PUNCT"]
        if judged.attaches_marks and lost:
            found[marks[: min(lost, len(marks))]] = 0
            lost -= min(lost, len(marks))
        return found

    monkeypatch.setattr(arc_training, "_right_marks", right_marks)
    found, _ = tuned_and_judged(parser, trees, rng=np.random.default_rng(1))
    assert found.attaches_marks is attaches


def test_a_tag_that_the_model_never_saw(model, gold):
    one = replace(gold[0], upos=("X", *gold[0].upos[1:]))
    tags = tuple(tag for tag in model.tagger.tags if tag != "X")
    narrow = replace(model, tagger=_without(model.tagger, "X") if "X" in model.tagger.tags else model.tagger)
    assert narrow.tagger.tags == tags
    better = learned(narrow, [one, one], raw=[one.forms for one in gold])
    assert better.tagger.tag_words(one.forms)[0] == "X"


def test_a_new_tag_of_one_listed_word_does_not_take_the_place_of_others(model, gold):
    narrow = replace(model, tagger=_without(model.tagger, "DET"))
    raw = [one.forms for one in gold]
    better = learned(narrow, lexicon={"der": ("DET",)}, raw=raw)
    found = [
        form.lower()
        for forms in raw
        for form, tag in zip(forms, better.tagger.tag_words(forms))
        if tag == "DET"
    ]
    assert "der" in found
    assert found.count("der") > 0.4 * len(found)


def _without(tagger, tag):
    keep = [number for number, one in enumerate(tagger.tags) if one != tag]
    return replace(
        tagger,
        tags=tuple(tagger.tags[number] for number in keep),
        weights=np.ascontiguousarray(tagger.weights[:, keep]),
        transitions=np.ascontiguousarray(tagger.transitions[[*keep, len(tagger.tags)]][:, keep]),
    )


def test_of_a_partly_corrected_sentence_only_the_corrected_part_is_learned(model, gold):
    whole = next(one for one in gold if len(one) > 6)
    raw = [one.forms for one in gold]
    parsed = model.retagging().parse(whole)
    # One tag and one head, both unlike the model's.
    word = 2
    tag = next(tag for tag in ("ADV", "NOUN") if tag != parsed.upos[word - 1])
    above = next(head for head in (4, 5) if head != parsed.heads[word])
    heads = np.full(len(whole) + 1, -1)
    heads[word] = above
    blank = ["_"] * len(whole)
    part = replace(
        whole,
        upos=(*blank[: word - 1], tag, *blank[word:]),
        deprels=(*blank[: word - 1], "advmod", *blank[word:]),
        heads=frozen_heads(heads),
    )
    better = learned(model, [part] * 3, raw=raw)
    found = better.retagging().parse(whole)
    assert (found.upos[word - 1], found.heads[word]) == (tag, above)
    others = [at for at in range(len(whole)) if at != word - 1]
    same = sum(found.upos[at] == parsed.upos[at] for at in others)
    assert same >= len(others) - 1


def test_raw_text_is_read_as_it_is_used(model, tmp_path):
    """A fault further down is found only when it is reached; a sentence comes once."""
    path = tmp_path / "raw"
    path.write_bytes(b"Sie kommt .\nSie kommt .\nEr geht .\n" + 2_000 * b"Es regnet .\n" + b"\xff\n")
    model = replace(model, tagger=replace(model.tagger, tokenizer=None, language="de"))
    sentences = text_to_parse(model, [str(path)], paragraphs=False, bitext=[])
    assert [next(sentences).forms[0] for _ in range(3)] == ["Sie", "Er", "Es"]
    with pytest.raises(DataError, match="UTF-8"):
        next(sentences)
