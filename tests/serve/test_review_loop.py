"""The loop of annotation: accuracy from corrections, expectations, batches, advice."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.language.lexicon import SUGGESTIONS_HEADER
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import UsageError
from qsproj.pipelines.bootstrap.suggestions import DraftScore
from qsproj.serve.requests import Limits
from qsproj.serve.review.app import Review, review_app
from qsproj.serve.review.content import shown_sentence
from qsproj.serve.review.correction import (
    Tree,
    belief_of,
    certain,
    checked_columns,
    decided_cells,
    tree_of,
)
from qsproj.serve.review.draft import Draft, StaleError
from qsproj.serve.review.loop import WORD_SECONDS, Loop, accuracy_of, in_words, wilson
from qsproj.serve.review.retraining import Retrained, retrained, with_checked_cells, with_own_cells
from qsproj.serve.review.search import correct_hits
from qsproj.serve.review.session import Session
from qsproj.serve.review.words import WordList

LISTED = "der\tDET PRON\t3\t19\t{wrong}\t[der] Hund\nim\tADP\t0\t8\t0.1\tschläft [im]\n"


def answered(loop):
    """Return the numbers of reviewed sentences, and of words decided in the list or in other sentences."""
    return tuple(map(len, loop.answers))


def test_the_interval_holds_what_the_test_of_a_share_does_not_refuse():
    """Wilson's interval is the shares p with (x/n - p)² n <= z² p(1 - p), here found by trying all."""
    for right, count in product((0, 1, 7, 20), (20, 50)):
        low, high = wilson(right / count, count)
        kept = [
            p for p in np.arange(1, 2000) / 2000 if (right / count - p) ** 2 * count <= 1.96**2 * p * (1 - p)
        ]
        assert (low, high) == pytest.approx((min(kept), max(kept)), abs=2e-3)
        # It covers the share with about the stated probability.
    covered = sum(
        comb(60, right) * 0.3**right * 0.7 ** (60 - right)
        for right in range(61)
        if wilson(right / 60, 60)[0] <= 0.3 <= wilson(right / 60, 60)[1]
    )
    assert covered == pytest.approx(0.95, abs=0.02)


def test_accuracy_is_that_of_the_last_drafts():
    early, late = (
        [DraftScore(at, 20, 2) for at in range(20)],
        [DraftScore(20 + at, 20, 15) for at in range(10)],
    )
    found = accuracy_of([*early, *late])
    assert (found["share"], found["words"]) == (0.75, 160)
    assert found["low"] < 0.75 < found["high"]
    # Words of a sentence are right or wrong together: the interval widens.
    uneven = [DraftScore(at, 20, 20 if at % 4 else 0) for at in range(8)]
    wide = accuracy_of(uneven)
    assert wide["share"] == 0.75
    assert wide["high"] - wide["low"] > 1.5 * (found["high"] - found["low"])
    assert accuracy_of([]) is None


def test_intervals_cover_the_accuracy_of_uneven_sentences():
    rng, covered = np.random.default_rng(1), 0
    for _ in range(300):
        shares = rng.beta(2, 1, size=12)
        found = accuracy_of([DraftScore(at, 15, int(rng.binomial(15, one))) for at, one in enumerate(shares)])
        covered += found["low"] <= 2 / 3 <= found["high"]
    assert covered > 0.88 * 300


@pytest.fixture
def loop(tmp_path):
    """A loop over ten drafts and two words, the first of which is wrong everywhere."""
    write_conllu(list(read_conllu("corpora/de.conllu"))[:10], tmp_path / "draft.conllu")
    (tmp_path / "words.tsv").write_text(f"{SUGGESTIONS_HEADER}\n{LISTED.format(wrong='60.0')}")
    words = WordList(suggestions=str(tmp_path / "words.tsv"), lexicon=str(tmp_path / "lexicon.tsv"))
    session = Session(draft=Draft(str(tmp_path / "draft.conllu")), train_after=3)
    return Loop(session=session, words=words, tokens=1000, batch=3, model="better.model")


def believed(sentence, tree):
    return replace(belief_of(sentence), tree=tree, chances=(None,) * len(sentence))


def confirm(session, index, change=False):
    sentence = session.draft.sentences[index]
    tags = ["X", *sentence.upos[1:]] if change else list(sentence.upos)
    session.confirm(index, tree_of(sentence), version=session.draft.version(index), columns={"upos": tags})


def test_words_left_unchanged_are_counted_against_the_draft_that_was_shown(loop, tmp_path):
    session = loop.session
    sentence = session.draft.sentences[0]
    # A new draft, wrong in one head that the person puts right: the file's was right.
    heads = list(tree_of(sentence).heads)
    heads[0] = 3 if heads[0] != 3 else 4
    new = {0: believed(sentence, Tree(tuple(heads), sentence.deprels))}
    session.take(Retrained(new, {}), session.versions())
    confirm(session, 0)
    confirm(session, 1, change=True)
    confirm(session, 1)  # confirmed again: no draft
    words = [len(one) for one in session.draft.sentences]
    expected = [(words[0], words[0] - 1, 1), (words[1], words[1] - 1, 1)]
    assert [one for _, one in session.draft.history.judged()] == expected
    assert session.draft.history.corrections()[0][2] == 1
    # They are there after a restart, and go when undone.
    again = Session(draft=Draft(str(tmp_path / "draft.conllu")))
    assert [one for _, one in again.draft.history.judged()] == expected
    again.undo(0, version=again.draft.version(0))
    assert [one for _, one in again.draft.history.judged()] == expected[1:]


def test_columns_that_a_person_changes_are_noted_as_checked(loop):
    session, sentence = loop.session, loop.session.draft.sentences[0]
    new = replace(belief_of(sentence), feats=("Case=Loc", *sentence.feats[1:]), lemmas=sentence.forms)
    session.take(Retrained({0: new}, {}), session.versions())
    session.learns_parts, version = True, session.draft.version
    tree, same = tree_of(sentence), {"lemmas": list(sentence.forms), "feats": list(new.feats)}
    session.confirm(0, tree, version=version(0), columns=same)
    saved = session.draft.sentences[0]
    assert (saved.lemmas, saved.feats) == (sentence.forms, new.feats)
    assert not checked_columns(saved)
    columns = {"feats": ["Case=Acc", *sentence.feats[1:]]}
    session.confirm(0, tree, version=version(0), columns=columns)
    assert checked_columns(session.draft.sentences[0]) == {"feats"}
    assert "# checked = FEATS\n" in session.draft.path.read_text()
    # It stays, and where no model learns, nothing is noted.
    session.confirm(0, tree, version=version(0))
    assert checked_columns(session.draft.sentences[0]) == {"feats"}
    session.learns_parts = False
    session.confirm(1, tree_of(session.draft.sentences[1]), version=version(1), columns=lemmas_of(session, 1))
    assert not checked_columns(session.draft.sentences[1])


def test_what_the_page_calls_checked_counts_and_not_what_a_model_changed_meanwhile(loop):
    session, sentence = loop.session, loop.session.draft.sentences[0]
    session.learns_parts = True
    seen = {"lemmas": ["seen"] * len(sentence), "feats": ["_"] * len(sentence)}
    session.take(Retrained({0: replace(belief_of(sentence), lemmas=sentence.forms)}, {}), session.versions())
    version = session.draft.version
    session.confirm(0, tree_of(sentence), version=version(0), columns=seen, checked=[])
    saved = session.draft.sentences[0]
    assert ({*saved.lemmas}, {*saved.feats}, checked_columns(saved)) == ({"seen"}, {"_"}, frozenset())
    session.confirm(0, tree_of(saved), version=version(0), columns=seen, checked=["lemmas"])
    assert checked_columns(session.draft.sentences[0]) == {"lemmas"}


@pytest.mark.parametrize("reviewed", [False, True])
def test_a_correction_of_many_lemmas_is_checked(loop, reviewed):
    session, sentence = loop.session, loop.session.draft.sentences[0]
    session.learns_parts = True
    if reviewed:
        confirm(session, 0)
    correct_hits(session, [(0, 2, session.draft.version(0))], "lemma=bulk")
    saved = session.draft.sentences[0]
    assert (saved.lemmas[1], checked_columns(saved)) == ("bulk", {"lemmas"})
    new = replace(sentence, lemmas=("model",) * len(sentence), feats=("Own=No",) * len(sentence))
    beliefs = retrained({0: new}, session.draft.sentences, {}, model="m", merged=with_checked_cells).beliefs
    assert (beliefs[0].lemmas, set(beliefs[0].feats)) == (saved.lemmas, {"Own=No"})
    # A parser that is tuned on a treebank changes neither.
    beliefs = retrained({0: new}, session.draft.sentences, {}, model="m", merged=with_own_cells).beliefs
    assert (beliefs[0].lemmas, beliefs[0].feats) == (saved.lemmas, saved.feats)


def lemmas_of(session, index):
    return {"lemmas": ["other"] * len(session.draft.sentences[index])}


@pytest.mark.parametrize(("learns_parts", "enough"), [(True, 10), (True, 1000), (False, 10)])
def test_a_word_with_a_new_tag_loses_the_features_of_the_old_one(tmp_path, monkeypatch, learns_parts, enough):
    """Where a model learns features, and the tag has enough words to tell."""
    monkeypatch.setattr("qsproj.serve.review.correction.ENOUGH", enough)
    of_tag = {"NOUN": "Case=Nom|Number=Sing", "VERB": "Number=Sing|Person=3"}
    treebank = (
        replace(one, feats=tuple(of_tag.get(tag, "_") for tag in one.upos))
        for one in list(read_conllu("corpora/de.conllu"))[:10]
    )
    write_conllu(treebank, tmp_path / "draft.conllu")
    session = Session(draft=Draft(str(tmp_path / "draft.conllu")), learns_parts=learns_parts)
    at, word = next(
        (at, one.upos.index("VERB")) for at, one in enumerate(session.draft.sentences) if "VERB" in one.upos
    )
    sentence = session.draft.sentences[at]
    columns = {"upos": [*sentence.upos[:word], "NOUN", *sentence.upos[word + 1 :]]}
    session.confirm(at, tree_of(sentence), version=session.draft.version(at), columns=columns)
    saved = session.draft.sentences[at]
    kept = "Number=Sing" if learns_parts and enough < 1000 else "Number=Sing|Person=3"
    assert saved.feats == (*sentence.feats[:word], kept, *sentence.feats[word + 1 :])
    # Given features are kept.
    columns = {
        "upos": sentence.upos,
        "feats": (*sentence.feats[:word], "Case=Nom", *sentence.feats[word + 1 :]),
    }
    session.confirm(at, tree_of(sentence), version=session.draft.version(at), columns=columns)
    assert session.draft.sentences[at].feats[word] == "Case=Nom"


def test_a_tag_in_context_is_saved_and_stays_in_new_drafts(loop, tmp_path):
    session, sentence = loop.session, loop.session.draft.sentences[0]
    heads = tuple(range(len(sentence)))
    session.take(
        Retrained({0: believed(sentence, Tree(heads, sentence.deprels))}, {}),
        session.versions(),
    )
    session.tag(0, 2, sentence.forms[1], "X")
    assert answered(loop) == (0, 1)
    shown = session.belief(0)
    assert (shown.upos[1], shown.tree.heads) == ("X", heads)
    saved = Session(draft=Draft(str(tmp_path / "draft.conllu"))).draft.sentences[0]
    assert [at for at, known in enumerate(decided_cells(saved)["upos"], start=1) if known] == [2]
    assert certain(saved).upos == tuple("X" if at == 1 else "_" for at in range(len(saved)))
    assert set(certain(saved).heads.tolist()[1:]) == {-1}
    for index, word, form, tag in ((0, 2, "Katze", "X"), (0, 99, "Hund", "X")):
        with pytest.raises(StaleError):
            session.tag(index, word, form, tag)
    with pytest.raises(UsageError):
        session.tag(0, 2, sentence.forms[1], "NOWN")
    # A confirmed tree needs no mark, and undo brings back what was there.
    confirm(session, 0)
    assert "Decided" not in session.draft.content().decode()
    session.undo(0, version=session.draft.version(0))
    session.undo(0, version=session.draft.version(0))
    assert session.draft.sentences[0].upos == sentence.upos


def test_what_a_search_corrects_in_a_draft_is_decided(serving, loop):
    session, sentence = loop.session, loop.session.draft.sentences[0]
    session.learns_parts = True
    session.tag(0, 2, sentence.forms[1], "NUM")
    confirm(session, 1)
    hits = [[at, 1, session.draft.version(at)] for at in (0, 1)]
    with serving(
        lambda _: review_app(Review(session=session, words=loop.words, loop=loop), Limits())
    ) as client:
        body = json.dumps({"hits": hits, "change": "upos=X deprel=obl"}).encode()
        assert client.ask("/api/search/correct", data=body).json == {"changed": 2}
    saved = Draft(str(session.draft.path)).sentences
    assert certain(saved[0]).upos == ("X", "NUM", *["_"] * (len(sentence) - 2))
    assert certain(saved[0]).deprels[:2] == ("obl", "_")
    assert set(certain(saved[0]).heads.tolist()[1:]) == {-1}
    # A reviewed sentence needs no mark.
    assert (saved[1].upos[0], session.draft.path.read_text().count("Decided=")) == ("X", 2)


@pytest.mark.parametrize("learns_parts", [False, True])
def test_a_search_sees_and_corrects_the_trees_of_the_page(serving, loop, learns_parts):
    session, sentence = loop.session, loop.session.draft.sentences[0]
    session.learns_parts = learns_parts
    count = len(sentence)
    tree = Tree((0, *[1] * (count - 1)), ("root", *["dep:new"] * (count - 1)))
    new = replace(belief_of(sentence), tree=tree, chances=(None, *[0.25] * (count - 1)), upos=("X",) * count)
    session.take(Retrained({0: new}, {}), session.versions())
    with serving(
        lambda _: review_app(Review(session=session, words=loop.words, loop=loop), Limits())
    ) as client:
        asked = {"pattern": "deprel=dep:new upos=X", "change": "deprel=obl"}
        found = client.ask("/api/search", data=json.dumps(asked).encode()).json
        assert (found["total"], found["sentences"]) == (count - 1, 1)
        assert found["hits"][0]["before"][4:] == ["1", "dep:new"]
        assert found["hits"][0]["after"][4:] == ["1", "obl"]
        hits = [[0, 2, found["hits"][0]["version"]]]
        body = json.dumps({"hits": hits, "change": "deprel=obl"}).encode()
        assert client.ask("/api/search/correct", data=body).json == {"changed": 1}
    (saved, *_) = Draft(str(session.draft.path)).sentences
    assert belief_of(saved) == replace(
        new, tree=replace(tree, relations=("root", "obl", *tree.relations[2:]))
    )
    decided = decided_cells(saved)["relations"]
    assert decided == (False, learns_parts, *[False] * (count - 2))


def test_a_changed_answer_is_to_be_learned_too(loop):
    session, form = loop.session, loop.session.draft.sentences[0].forms[1]
    loop.words.decide("der", ["DET"])
    session.tag(0, 2, form, "X")
    confirm(session, 1)
    loop.learned = loop.answers
    assert loop.fresh == (0, 0)
    loop.words.decide("der", ["PRON"])
    assert loop.fresh == (0, 1)
    session.tag(0, 2, form, "NOUN")
    confirm(session, 1, change=True)
    assert loop.fresh == (1, 2)
    assert "lacks 1 sentence and 2 words" in loop.standing()["text"]
    # As it was: nothing to learn.
    loop.words.decide("der", ["DET"])
    session.tag(0, 2, form, "X")
    assert loop.fresh == (1, 0)


def test_corrected_links_alone_are_an_answer(loop):
    session, (sentence, *_) = loop.session, loop.session.draft.sentences
    session.learns_links, session.learns_parts = True, True
    n, (source, *_) = len(sentence), read_conllu("corpora/en.conllu")
    session.translations[0] = SentencePair(source, sentence, make_alignment(len(source), n, [(1, 1)]))
    undecided = dict.fromkeys(decided_cells(sentence), (False,) * n)

    def link(cell):
        misc = {"misc": [f"Align={cell}" if cell else "_", *["_"] * (n - 1)]}
        version = session.draft.version(0)
        session.keep(0, tree_of(sentence), undecided, version=version, columns=misc)

    link("2")
    assert (answered(loop), loop.fresh) == ((0, 1), (0, 1))
    # It is what training reads.
    assert session.training_pairs()[0].hand.links.tolist() == [[2, 1]]
    loop.learned = loop.answers
    link("1,2")
    assert (answered(loop), loop.fresh) == ((0, 1), (0, 1))
    link("")
    assert answered(loop) == (0, 0)
    link("2")
    confirm(session, 0)
    assert answered(loop) == (1, 0)
    # Without training on links, there is nothing to learn.
    session.undo(0, version=session.draft.version(0))
    assert answered(loop) == (0, 1)
    session.learns_links = False
    assert answered(loop) == (0, 0)


def test_a_part_of_a_draft_is_kept_and_judged_once(loop, tmp_path):
    session, sentence = loop.session, loop.session.draft.sentences[0]
    n, tree = len(sentence), tree_of(sentence)
    relations = ("advmod", *tree.relations[1:])
    assert relations != tree.relations
    decided = {
        "upos": (True, True, *(False,) * (n - 2)),
        "heads": (True, *(False,) * (n - 1)),
        "relations": (True, *(False,) * (n - 1)),
    }
    changed = replace(tree, relations=relations)
    session.keep(0, changed, decided, version=session.draft.version(0))
    # It is a draft with two words that are certain, also after a restart.
    assert (session.reviewed, answered(loop)) == (0, (0, 2))
    assert shown_sentence(session, 0)["decided"] == decided
    saved = Session(draft=Draft(str(tmp_path / "draft.conllu"))).draft.sentences[0]
    known = certain(saved)
    assert known.deprels == ("advmod", *("_",) * (n - 1))
    assert known.upos == (*sentence.upos[:2], *("_",) * (n - 2))
    assert known.heads.tolist() == [-1, sentence.heads[1], *(-1,) * (n - 1)]
    # The rest is judged when the sentence is confirmed; all corrections are counted once.
    session.confirm(0, changed, version=session.draft.version(0))
    assert [one for _, one in session.draft.history.judged()] == [(2, 1, 1), (n - 2, n - 2, 0)]
    assert session.draft.history.corrections()[0][1:] == (n, 1)
    with pytest.raises(UsageError, match="is reviewed"):
        session.keep(0, changed, decided, version=session.draft.version(0))
    session.undo(0, version=session.draft.version(0))
    session.undo(0, version=session.draft.version(0))
    assert session.draft.sentences[0].to_conllu() == sentence.to_conllu()
    # A tree with two roots is refused, and so are cells of other words.
    with pytest.raises(UsageError, match="expected one"):
        session.keep(0, replace(tree, heads=(0,) * n), decided, version=session.draft.version(0))
    with pytest.raises(UsageError, match="cells"):
        session.keep(0, changed, {**decided, "upos": ()}, version=session.draft.version(0))


def test_standing_says_what_is_next_and_when_to_stop(loop):
    start = loop.standing()
    assert (start["next"], start["accuracy"], start["stop"]) == ("words", None, False)
    assert start["a_minute"]["words"] == pytest.approx(0.8 * 6.01, abs=0.01)
    # Nothing is answered, so that the model has learned nothing either.
    assert "learned" not in start["text"]
    loop.words.decide("der", ["DET"])
    assert loop.standing()["next"] == "sentences"
    assert " in 0 minutes" in loop.standing()["text"]
    assert " in 1 minute;" in in_words(loop.standing() | {"minutes": 0.6})
    # A word above one that was decided has been passed over.
    loop.words.decide("der", [])
    assert loop.standing()["next"] == "words"
    loop.words.decide("im", ["ADP"])
    assert loop.standing()["next"] == "sentences"
    for index in range(10):
        confirm(loop.session, index)
    # An hour later nothing was wrong in any draft.
    history = loop.session.draft.history
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    for number, change in enumerate(history.changes.values()):
        object.__setattr__(change, "when", (begin + timedelta(minutes=2 * number)).isoformat())
    there = loop.standing()
    assert there["accuracy"]["share"] == 1.0
    assert 15 < there["minutes"] < 22
    assert there["fresh"] == (10, 1)
    line = there["text"]
    assert "10 sentences and 1 word in" in line
    assert "100% were right in the draft" in line
    # Nothing is left to correct, neither in drafts nor in the list.
    assert there["stop"]
    assert "stopping now loses little" in line
    # A new word, wrong at nine places of a thousand, is one word, not one each minute.
    with Path(loop.words.suggestions).open("a", encoding="utf-8") as handle:
        handle.write("hund\tNOUN PROPN\t9\t9\t9.0\t[Hund]\n")
    loop.words.load()
    there = loop.standing()
    assert "10 more minutes: about 0.7 points by words" in there["text"]
    assert there["stop"]


def test_a_pause_counts_either_as_words_or_as_a_sentence(loop):
    for index in range(3):
        confirm(loop.session, index)
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    for number, change in enumerate(loop.session.draft.history.changes.values()):
        object.__setattr__(change, "when", (begin + timedelta(minutes=number)).isoformat())
    alone = loop.minutes()
    loop.words.decide("der", ["DET"])
    loop.words.decide("im", ["ADP"])
    loop.words.times[:] = [(begin + timedelta(seconds=seconds)).timestamp() for seconds in (70, 80)]
    assert loop.minutes() == pytest.approx(alone)
    loop.words.times[:] = [(begin + timedelta(seconds=seconds)).timestamp() for seconds in (200, 210)]
    assert loop.minutes() == pytest.approx(alone + 2 * WORD_SECONDS / 60)


def test_advice_and_minutes_are_the_same_after_a_restart(loop):
    loop.words.decide("im", ["ADP"])
    before, words = loop.standing(), loop.words
    assert before["next"] == "sentences"  # the word above is passed over
    again = WordList(suggestions=words.suggestions, lexicon=words.lexicon)
    assert (again.passed, again.times) == ({"der"}, [round(one, 1) for one in words.times])
    there = replace(loop, words=again).standing()
    assert all(there[name] == before[name] for name in ("minutes", "next", "gain_of_words", "answered"))
    # Without decisions there is nothing to go on with; a line half written is no error.
    with Path(f"{words.lexicon}.history").open("a") as handle:
        handle.write('\n{"when": 1')
    assert WordList(suggestions=words.suggestions, lexicon=words.lexicon).passed == {"der"}
    again.decide("der", ["DET"])
    assert len(WordList(suggestions=words.suggestions, lexicon=words.lexicon).times) == 2
    Path(words.lexicon).unlink()
    assert not WordList(suggestions=words.suggestions, lexicon=words.lexicon).passed
    assert not Path(f"{words.lexicon}.history").exists()


def test_a_batch_of_answers_trains_by_itself_and_answers_come_meanwhile(serving, loop):
    """Of the pool there is only what it must do here: take its time."""
    import time

    from qsproj.serve.compute import ComputePool
    from tests.serve.client import until

    def work(given):
        time.sleep(0.5)
        return Retrained({}, {"reviewed": len(given.reviewed), "left": len(given.left), "changed": 0})

    def app(pools):
        pools.append(ComputePool(work, processes=1))
        review = Review(session=loop.session, training=pools[0], words=loop.words, loop=loop)
        return review_app(review, Limits())

    with serving(app) as client:

        def put(path, **body):
            return client.ask(path, data=json.dumps(body).encode(), method="PUT").json

        for index in range(3):
            shown = client.ask(f"/api/sentences/{index}").json
            answer = put(
                f"/api/sentences/{index}",
                version=shown["version"], heads=shown["heads"], relations=shown["relations"], columns={},
            )  # fmt: skip
            assert answer["training"] == (index == 2)
        # The page answers, and what is answered meanwhile is not lost.
        put("/api/words", word="der", tags=["PRON"])
        state = client.ask("/api/training").json
        assert state["training"]
        assert state["standing"]["fresh"] == [3, 1]
        until(lambda: not client.ask("/api/training").json["training"])
        standing = client.ask("/api/training").json["standing"]
        assert standing["fresh"] == [0, 1]
        # Save model: what is new is learned at once.
        assert client.ask("/api/training", data=b"{}").status == 200
        until(lambda: client.ask("/api/training").json["standing"]["fresh"] == [0, 0])


def test_after_a_failed_training_the_model_lacks_the_answers(serving, loop):
    from qsproj.serve.compute import ComputePool
    from tests.serve.client import until

    def fail(given):
        raise UsageError("the disk is full")

    def app(pools):
        pools.append(ComputePool(fail, processes=1))
        return review_app(
            Review(session=loop.session, training=pools[0], words=loop.words, loop=loop), Limits()
        )

    with serving(app) as client:
        body = json.dumps({"word": "der", "tags": ["PRON"]}).encode()
        client.ask("/api/words", data=body, method="PUT")
        client.ask("/api/training", data=b"{}")
        until(lambda: not client.ask("/api/training").json["training"])
        state = client.ask("/api/training").json
        assert state["trained"] == {"error": "the disk is full"}
        assert state["standing"]["fresh"] == [0, 1]


def test_nothing_is_said_of_answers_that_an_earlier_session_may_have_learned(loop):
    confirm(loop.session, 0)
    assert loop.standing()["text"].endswith("better.model lacks 1 sentence and 0 words")
    again = replace(loop)
    assert "better.model" not in again.standing()["text"]
    confirm(again.session, 1)
    assert again.standing()["text"].endswith("better.model lacks 2 sentences and 0 words")
