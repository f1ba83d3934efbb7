"""What stands behind the page: who may ask, what is answered, what comes of training."""

from __future__ import annotations

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import misc_values, with_columns
from qsproj.corpus.formats import read_alignments
from qsproj.errors import UsageError
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.parser import load_parser
from qsproj.pipelines.suggest import Candidate, Costs, rank
from qsproj.serve.review.content import overview, shown_sentence
from qsproj.serve.review.content import page as page_of
from qsproj.serve.review.correction import Tree, belief_of, tree_of
from tests.serve.client import Client, until

TOKEN = "token-of-the-tests"
JOINT = "tests/kept_models/joint-parser.model"


@dataclass(frozen=True)
class Page:
    """Asks as the page does."""

    client: Client

    def ask(self, path, *, content=None, method=None, headers=None):
        body = None if content is None else json.dumps(content).encode()
        given = {"X-Qsproj-Token": TOKEN, "Content-Type": "application/json"} | (headers or {})
        return self.client.ask(f"/api/{path}", data=body, method=method, headers=given)

    def confirm(self, told, **changes):
        content = {
            "version": told["version"],
            "heads": told["heads"],
            "relations": told["relations"],
        } | changes
        return self.ask(f"sentences/{told['index']}", content=content, method="PUT")


@contextmanager
def reviewing(serving, path, *, pairs=None, parser=None, output=None, train_after=2, beside=None, words=None):
    from qsproj.serve.compute import ComputePool
    from qsproj.serve.requests import Limits, with_access_log
    from qsproj.serve.review.app import HEADERS, PATHS, Review, guarded, review_app
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.inference import Inference
    from qsproj.serve.review.retraining import Retraining
    from qsproj.serve.review.session import Session

    def make_app(pools):
        session = Session(
            draft=Draft(str(path)), pairs=pairs, train_after=train_after if parser else None, beside=beside
        )
        if parser is not None:
            training = Retraining(parser, output or str(path.with_name("trained.model")), 1)
            session.parts = training.progress
            session.learns_links = parser.parses_pairs
            pools += [ComputePool(work, processes=1) for work in (training, Inference(parser))]
        training, inference = pools or (None, None)
        review = Review(session=session, training=training, inference=inference, words=words)
        app = review_app(review, Limits(bytes=100_000))
        return with_access_log(guarded(app, token=TOKEN, host="127.0.0.1"), paths=PATHS, headers=HEADERS)

    with serving(make_app) as client:
        yield Page(client)


@pytest.fixture(scope="module")
def parser(model_files):
    return load_parser(model_files / "de.model")


@pytest.fixture
def path(tmp_path, parser):
    """Ten sentences with ArcProb."""
    path = tmp_path / "draft.conllu"
    sentences = list(read_conllu("corpora/de.conllu"))[10:20]
    write_conllu((parser.parse(sentence, confidence=True) for sentence in sentences), path)
    return path


@pytest.fixture
def page(serving, path):
    from qsproj.corpus.pairs.aligned import AlignedFiles

    source, links = path.with_name("en.conllu"), path.with_name("links")
    write_conllu(list(read_conllu("corpora/en.conllu"))[10:20], source)
    lines = Path("corpora/en-de.pharaoh").read_text(encoding="utf-8").splitlines(keepends=True)
    links.write_text("".join(lines[10:20]))
    with reviewing(serving, path, pairs=AlignedFiles(str(source), str(path), str(links))) as found:
        yield found


def test_a_sentence_is_told_with_its_translation(page, path):
    sentence = list(read_conllu(path))[3]
    told = page.ask("sentences/3").json
    assert told["forms"] == list(sentence.forms)
    assert told["heads"] == sentence.heads.tolist()[1:]
    assert told["translation"]["forms"] == list(list(read_conllu("corpora/en.conllu"))[13].forms)
    assert told["links"]
    assert told["chances"] == [float(one) for one in misc_values(sentence, "ArcProb")]


def test_the_list_is_in_order_and_in_parts(page):
    whole = page.ask("sentences?order=unsure&shown=all").json
    unsure = [row["unsure"] for row in whole["sentences"]]
    assert (len(unsure), unsure) == (10, sorted(unsure, reverse=True))
    part = page.ask("sentences?order=unsure&shown=all&offset=3&limit=4").json
    assert (part["total"], part["sentences"]) == (10, whole["sentences"][3:7])
    in_file = page.ask("sentences?order=file&shown=all").json["sentences"]
    assert [row["index"] for row in in_file] == list(range(10))
    word = page.ask("sentences/4").json["forms"][0]
    for query in (word.upper(), "\u0640".join(word)):
        found = page.ask(f"sentences?shown=all&query={quote(query)}").json["sentences"]
        assert 4 in [row["index"] for row in found]


def test_what_is_confirmed_is_in_the_file_and_out_of_the_list(page, path):
    told = page.ask("sentences/2").json
    after = page.confirm(told)
    assert (after.status, after.json["reviewed"], after.json["undo"]) == (200, True, True)
    assert path.read_text().count("Reviewed=Yes") == len(told["forms"])
    assert 2 not in [row["index"] for row in page.ask("sentences?shown=todo").json["sentences"]]
    assert page.ask("overview").json["reviewed"] == 1
    undone = page.ask("sentences/2/undo", content={"version": after.json["version"]})
    assert (undone.status, undone.json["version"]) == (200, told["version"])
    assert "Reviewed" not in path.read_text()


def question(told, **changes):
    n = len(told["forms"])
    blank = {"heads": [-1] * n, "relations": ["_"] * n, "upos": told["upos"], "tags": [False] * n}
    return blank | changes


def test_the_rest_is_inferred_under_what_is_fixed(serving, path, parser):
    with reviewing(serving, path, parser=parser) as page:
        assert page.ask("overview").json["live"] is True
        told, content = page.ask("sentences/2").json, path.read_bytes()
        n, root = len(told["forms"]), told["heads"].index(0)
        other = (root + 1) % n
        heads = [0 if word == other else -1 for word in range(n)]
        found = page.ask("sentences/2/rest", content=question(told, heads=heads)).json
        assert (found["heads"].count(0), found["heads"][other], found["chances"][other]) == (1, 0, 1.0)
        assert found["heads"][root] != 0
        assert len(found["seconds"]) == n
        two = [0 if word in (root, other) else -1 for word in range(n)]
        refused = page.ask("sentences/2/rest", content=question(told, heads=two))
        assert (refused.status, refused.json["reason"]) == (409, "impossible")
        assert page.ask("sentences/2/rest", content=question(told, tags=["x"] * n)).status == 400
        assert page.ask("sentences/99/rest", content=question(told)).status in (400, 404)
        assert path.read_bytes() == content


def test_features_of_the_model_are_offered_beside_those_of_the_file(path, tmp_path, parser):
    from qsproj.cli import serve
    from qsproj.cli.main import build_parser

    bare = [with_columns(one, feats=["Own=Yes"] * len(one)) for one in read_conllu(path)]
    write_conllu(bare, path)
    sample, model = list(read_conllu("corpora/de.conllu")), tmp_path / "full.model"
    morphology = train_morphology(sample[:10], rng=np.random.default_rng(1))
    replace(parser, tagger=replace(parser.tagger, morphology=morphology)).save(model)
    options = build_parser("serve").parse_args(["serve", "--review", str(path), "-m", str(model)])
    review = serve._review(options, str(tmp_path))
    for pool in (review.training, review.inference):
        pool.stop()
    taught = {pair for one in sample[:10] for cell in one.feats if cell != "_" for pair in cell.split("|")}
    told = overview(review.session)["features"]
    assert {f"{name}={value}" for name, values in told.items() for value in values} == {*taught, "Own=Yes"}


def test_the_page_says_why_a_model_is_not_trained(path, tmp_path):
    from qsproj.cli import serve
    from qsproj.cli.main import build_parser

    command = ["serve", "--review", str(path), "-m", "tests/kept_models/adapted-parser.model"]
    options = build_parser("serve").parse_args(command)
    review = serve._review(options, str(tmp_path))
    review.inference.stop()
    told = overview(review.session)
    assert (review.training, told["train_after"]) == (None, None)
    assert told["trained"]["error"].startswith("This model is not trained again: a converter learns from")
    options.output = str(tmp_path / "better.model")
    with pytest.raises(UsageError, match=r"is not trained again: a converter learns .* leave -o out"):
        serve._review(options, str(tmp_path))


def test_without_a_model_nothing_is_inferred(page):
    told = page.ask("sentences/2").json
    assert page.ask("overview").json["live"] is False
    assert page.ask("sentences/2/rest", content=question(told)).status == 409


def test_all_columns_are_corrected(page, path):
    told = page.ask("sentences/2").json
    n = len(told["forms"])
    columns = {
        "lemmas": ["a b", *told["lemmas"][1:]],
        "upos": ["X", *told["upos"][1:]],
        "feats": ["Number=Sing|Case=Nom", *["_"] * (n - 1)],
        "deps": ["2:nsubj|3:x", *["_"] * (n - 1)],
        "misc": ["Note=1", *told["misc"][1:]],
    }
    assert page.confirm(told, columns=columns).status == 200
    rows = [line.split("\t") for line in path.read_text().split("\n\n")[2].splitlines() if line[0] != "#"]
    assert [rows[0][column] for column in (2, 3, 5, 8)] == [
        "a b",
        "X",
        "Case=Nom|Number=Sing",
        "2:nsubj|3:x",
    ]
    assert rows[0][9] == "Note=1|Reviewed=Yes"
    after = page.ask("sentences/2").json
    for name, cells in (
        ("feats", ["Case"]),
        ("feats", ["Case=Nom|Case=Acc"]),
        ("deps", ["x"]),
        ("deps", [f"{n + 1}:x"]),
        ("deps", ["3.1:x"]),
        ("upos", ["a b"]),
        ("misc", ["a\tb"]),
        ("odd", ["x"]),
    ):
        refused = page.confirm(after, columns={name: cells * n})
        assert (refused.status, "expected" in refused.text or "odd" in refused.text) == (400, True), name
    assert page.confirm(after, columns={"feats": ["_"]}).status == 400


def test_sentences_are_cut_otherwise_and_back(page, path):
    before = path.read_bytes()
    told = page.ask("sentences/2").json
    edit = {"version": told["version"], "action": "end sentence", "word": 2}
    first = page.ask("sentences/2/edit", content=edit).json
    assert (len(first["forms"]), first["sentences"]) == (2, 11)
    assert page.ask("sentences/3").json["id"] == f"{told['id']}-2"
    assert page.ask("sentences/4").json["translation"] is not None
    # Of what stands after it, nothing is undone before.
    second = page.ask("sentences/3").json
    assert page.ask("sentences/3/edit", content={"version": second["version"], "action": "odd"}).status == 400
    joined = page.ask("sentences/2/edit", content={"version": first["version"], "action": "join next"}).json
    assert (joined["forms"], joined["sentences"]) == (told["forms"], 10)
    for _ in range(2):
        version = page.ask("sentences/2").json["version"]
        assert page.ask("sentences/2/undo", content={"version": version}).status == 200
    assert path.read_bytes() == before
    assert page.ask("sentences/2/edit", content=edit | {"version": "old"}).status == 409


def test_one_correction_for_all_that_is_found(page, path):
    found = page.ask("search", content={"pattern": "upos=DET deprel=det", "change": "deprel=x:y"}).json
    assert found["total"] == len(found["hits"]) > 2
    assert all(hit["after"] == [*hit["before"][:-1], "x:y"] for hit in found["hits"])
    hits = [[hit["index"], hit["word"], hit["version"]] for hit in found["hits"]][1:]
    before = path.read_text()
    assert page.ask("search/correct", content={"hits": hits, "change": "deprel=x:y"}).json["changed"] > 1
    assert path.read_text().count("\tx:y\t") == len(hits)
    again = page.ask("search/correct", content={"hits": hits, "change": "deprel=z"})
    assert (again.status, again.json["reason"]) == (409, "search")
    assert page.ask("search", content={"pattern": "deprel=x:y"}).json["total"] == len(hits)
    for wrong in ({"pattern": "odd"}, {"pattern": "upos=DET", "change": "form=x"}):
        assert page.ask("search", content=wrong).status == 400
    # One undo takes all of it back.
    index = hits[-1][0]
    version = page.ask(f"sentences/{index}").json["version"]
    assert page.ask(f"sentences/{index}/undo", content={"version": version}).status == 200
    assert path.read_text() == before


def test_most_to_learn_comes_first(page, path, monkeypatch):
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.session import Session

    session = Session(draft=Draft(str(path)))
    kept = {index: list(read_conllu(path))[index] for index in range(10)}
    candidates = [Candidate(one, 1.0 - np.array(belief_of(one).chances)) for one in kept.values()]

    def ranked(**cost):
        found = rank(candidates, **cost)
        return [next(index for index, two in kept.items() if two is one.sentence) for one in found]

    # By the second, as suggestions of a bootstrap; by words another order comes out.
    expected = ranked()
    assert expected != ranked(costs=Costs.in_words(10.0))
    rows = page.ask("sentences?order=worth&shown=all").json["sentences"]
    assert [row["index"] for row in rows] == expected
    assert sorted(expected) == list(range(10)) != expected
    session.confirm(expected[0], session.belief(expected[0]).tree, version=session.draft.version(expected[0]))
    rows = page_of(session, order="worth", shown="todo", query="", offset=0, limit=20)["sentences"]
    assert len(rows) == 9
    # Of many, the first are found out; the least sure come after them.
    monkeypatch.setattr("qsproj.serve.review.session._RANKED", 3)
    few = Session(draft=Draft(str(path)))
    shown = [
        [
            row["index"]
            for row in page_of(few, order=order, shown="todo", query="", offset=0, limit=20)["sentences"]
        ]
        for order in ("worth", "unsure")
    ]
    assert shown[0][3:] == [index for index in shown[1] if index not in shown[0][:3]]


def test_two_annotators_are_compared(path, tmp_path):
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.session import Session

    sentences = list(read_conllu(path))
    other = tmp_path / "other.conllu"
    changed = with_columns(sentences[4], upos=["X"] * len(sentences[4]))
    write_conllu([*sentences[:4], changed, *sentences[6:]], other)
    session = Session(draft=Draft(str(path)), beside=str(other))
    rows = page_of(session, order="differing", shown="all", query="", offset=0, limit=20)["sentences"]
    assert (rows[0]["index"], rows[0]["differing"], rows[1]["differing"]) == (4, len(changed), 0)
    assert shown_sentence(session, 4)["other"]["upos"] == changed.upos
    assert shown_sentence(session, 5)["other"] is None
    other.write_text("1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(UsageError, match="no sentence of the file under review"):
        Session(draft=Draft(str(path)), beside=str(other))


def test_another_window_is_not_overwritten(page, path):
    first = second = page.ask("sentences/0").json
    relations = ["x", *first["relations"][1:]]
    assert page.confirm(first, relations=relations).status == 200
    content = path.read_bytes()
    refused = page.confirm(second)
    assert (refused.status, refused.json["reason"]) == (409, "sentence")
    assert refused.json["sentence"]["relations"] == relations
    assert path.read_bytes() == content


def test_a_file_that_changed_is_loaded_again(page, path):
    told = page.ask("sentences/0").json
    changed = path.read_text().replace("# sent_id", "# by someone else\n# sent_id")
    path.write_text(changed)
    refused = page.confirm(told)
    assert (refused.status, refused.json["reason"]) == (409, "file")
    assert path.read_text() == changed
    assert page.ask("load", method="POST").status == 200
    assert page.confirm(page.ask("sentences/0").json).status == 200
    assert path.read_text().startswith("# by someone else")


def test_a_file_that_became_a_pipe_keeps_nobody_waiting(page, path):
    told = page.ask("sentences/0").json
    path.unlink()
    os.mkfifo(path)
    answer = page.confirm(told)
    assert (answer.status, "is not a regular file" in answer.text) == (400, True), answer.text
    assert page.ask("load", method="POST").status == 409
    assert page.ask("overview").status == 200


def test_a_name_that_is_no_utf_8_is_shown_as_far_as_it_can_be(serving, path):
    odd = os.fsencode(path.with_name("entw")) + b"\xfcrfe.conllu"
    path.rename(os.fsdecode(odd))
    with reviewing(serving, os.fsdecode(odd)) as page:
        assert page.ask("overview").json["file"] == "entw\udcfcrfe.conllu"
        told = page.ask("sentences/0").json
        Path(os.fsdecode(odd)).write_bytes(b"")
        refused = page.confirm(told)
        assert (refused.status, refused.json["reason"]) == (409, "file")
        assert "entw?rfe.conllu" in page.ask("load", method="POST").text


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"heads": [0, 0]}, "2 heads and"),
        ({"heads": [], "sure": False}, "0 heads and"),
        ({"heads": "none"}, "found heads that are no list"),
        ({"heads": [True]}, "found heads that are no list"),
        ({"relations": [1]}, "found relations that are no list"),
        ({"version": 1}, "found no version"),
    ],
)
def test_what_is_no_correction_is_refused(page, path, changes, told):
    before = path.read_bytes()
    answer = page.confirm(page.ask("sentences/1").json, **changes)
    assert (answer.status, told in answer.text) == (400, True), answer.text
    assert path.read_bytes() == before


def test_cycles_and_second_roots_are_refused(page):
    told = page.ask("sentences/1").json
    root, n = told["heads"].index(0), len(told["heads"])
    two_roots = [0 if word == (root + 1) % n else head for word, head in enumerate(told["heads"])]
    cycle = [1 + (root + 1) % n if word == root else head for word, head in enumerate(told["heads"])]
    assert "expected one; move all others" in page.confirm(told, heads=two_roots).text
    assert "cycle" in page.confirm(told, heads=cycle).text


def test_an_odd_root_is_confirmed_once_more(page, path):
    told, before = page.ask("sentences/1").json, path.read_bytes()
    at = told["heads"].index(0)
    odd = [*told["relations"][:at], "csubj", *told["relations"][at + 1 :]]
    twice = ["root" if word == (at + 1) % len(odd) else one for word, one in enumerate(told["relations"])]
    for relations, text in (
        (odd, "is the root, with relation csubj, not root"),
        (twice, "and is not the root"),
    ):
        refused = page.confirm(told, relations=relations, sure=False)
        assert (refused.status, refused.json["reason"]) == (409, "doubt")
        assert text in refused.json["text"]
    untagged = {"upos": ["_", *told["upos"][1:]]}
    refused = page.confirm(told, sure=False, columns=untagged)
    assert (refused.status, refused.json["text"]) == (409, "word 1 has no tag")
    assert path.read_bytes() == before
    assert page.confirm(told, sure=False).status == 200
    told = page.ask("sentences/1").json
    assert page.confirm(told, relations=odd, sure=True).json["relations"][at] == "csubj"


def test_nobody_else_may_ask(page):
    port = page.client.address.rpartition(":")[2]
    ask = page.client.ask
    token = {"X-Qsproj-Token": TOKEN}
    assert ask("/").status == ask("/?token=wrong").status == ask("/api/overview").status == 403
    assert (
        ask("/api/overview", headers={"X-Qsproj-Token": "falsch\u00e9".encode().decode("latin-1")}).status
        == 403
    )
    assert ask("/api/overview", headers=token | {"Host": f"localhost:{port}"}).status == 200
    for headers in (
        {"Host": f"evil.example:{port}"},
        {"Host": ""},
        {"Host": "["},
        {"Host": "a]b"},
        {"Host": "evil.example@127.0.0.1"},
        {"Host": f"127.0.0.1:{port}/x"},
        {"Host": "[::1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        for path in (
            ("/api/overview", "/static/review.js") if "Sec-Fetch-Site" not in headers else ("/api/overview",)
        ):
            assert ask(path, headers=token | headers).status == 403, headers
    assert ask("/api/overview", headers=token | {"Host": f"[::1]:{port}"}).status == 200
    assert ask("/api/overview", headers=token | {"Origin": page.client.address}).status == 200
    assert TOKEN not in page.client.log.read_text()


def test_the_page_may_load_nothing_from_elsewhere(page):
    answer = page.client.ask(f"/?token={TOKEN}")
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'; script-src 'self'" in answer.headers["content-security-policy"]
    assert page.client.ask("/static/review.js").headers["content-type"].startswith("text/javascript")
    assert page.client.ask("/static/../app.py").status in (403, 404)


def test_what_is_not_there(page):
    assert page.ask("sentences/99").status == 404
    assert page.ask("sentences?limit=9999").status == 400
    assert page.ask("sentences?order=odd").status == 400
    many = "9" * 5000
    assert page.ask(f"sentences/{many}").status == page.ask("sentences/-1").status == 404
    assert page.ask(f"sentences?offset={many}").status == page.ask(f"sentences?limit={many}").status == 400
    assert page.ask("sentences/1", content={"version": "", "heads": [10**4000]}, method="PUT").status == 400
    assert page.ask("training", method="POST").status == 409
    assert page.ask("sentences/1", content=[1], method="PUT").status == 400


@pytest.mark.slow
def test_a_new_model_is_read_before_a_person_waits_for_it(serving, path, parser, tmp_path, monkeypatch):
    from qsproj.serve.review import inference

    read = tmp_path / "read"

    class Recorded(inference.Inference):
        def __call__(self, question):
            found = super().__call__(question)
            with read.open("a") as file:
                file.write(f"{question.model}\n")
            return found

    monkeypatch.setattr(inference, "Inference", Recorded)
    with reviewing(serving, path, parser=parser, output=str(tmp_path / "better")) as page:
        for index in range(2):
            page.confirm(page.ask(f"sentences/{index}").json)
        page.ask("training", method="POST")
        until(lambda: not page.ask("training").json["training"], seconds=300)
        assert read.read_text().splitlines() == ["None", str((str(tmp_path / "better"), 1))]


@pytest.mark.slow
def test_training_on_what_was_reviewed_parses_the_rest_again(serving, path, parser, tmp_path):
    output = str(tmp_path / "better.model")
    with reviewing(serving, path, parser=parser, output=output) as page:
        assert "0 sentences are reviewed, expected 2" in page.ask("training", method="POST").text
        for index in range(3):
            told = page.ask(f"sentences/{index}").json
            assert page.confirm(told, relations=["x"] * len(told["forms"])).status == 200
        content = path.read_bytes()
        assert page.ask("training", method="POST").json["training"]
        trained = until(lambda: page.ask("training").json["trained"], seconds=300)
        assert (trained["reviewed"], trained["left"], trained["parts"]) == (3, 7, 3)
        assert trained["after"]["las"] > trained["before"]["las"]
        # What is left is shown as the model now parses it, and stays in the file as it was.
        tuned = load_parser(output)
        for index in range(3, 10):
            sentence = tuned.parse(list(read_conllu(path))[index])
            told = page.ask(f"sentences/{index}").json
            assert (told["proposed"], told["heads"]) == (True, sentence.heads.tolist()[1:])
        # The rest is inferred by the new parser, too.
        found = page.ask("sentences/3/rest", content=question(page.ask("sentences/3").json)).json
        assert found["heads"] == page.ask("sentences/3").json["heads"]
        assert path.read_bytes() == content
        told = page.ask("sentences/5").json
        assert page.confirm(told).json["proposed"] is False
        unsure = [row["unsure"] for row in page.ask("sentences?shown=all").json["sentences"]]
        assert unsure[:-3] == sorted(unsure[:-3], reverse=True)


@pytest.mark.slow
def test_a_joint_parser_learns_pairs_and_parses_them(serving, tmp_path):
    from qsproj.corpus.pairs.aligned import AlignedFiles

    path, source, links = tmp_path / "draft.conllu", tmp_path / "en.conllu", tmp_path / "links"
    lines = Path("corpora/en-de.pharaoh").read_text(encoding="utf-8").splitlines(keepends=True)
    links.write_text("".join(lines[10:20]))
    write_conllu(list(read_conllu("corpora/en.conllu"))[10:20], source)
    write_conllu(list(read_conllu("corpora/de.conllu"))[10:20], path)
    pairs, joint = AlignedFiles(str(source), str(path), str(links)), load_parser(JOINT)
    output = str(tmp_path / "better.model")
    with reviewing(serving, path, parser=joint, pairs=pairs, output=output, train_after=6) as page:
        for index in range(6):
            assert page.confirm(page.ask(f"sentences/{index}").json).status == 200
        assert page.ask("training", method="POST").json["training"]
        trained = until(lambda: page.ask("training").json["trained"], seconds=300)
        assert trained["after"]["las"] > trained["before"]["las"]
        tuned = load_parser(output)
        # Its joint weights have learned, too, and what is left is parsed beside its translation.
        assert (tuned.weights.weights != joint.weights.weights).any()
        sentences, translated = list(read_conllu(path)), list(read_conllu(source))
        sizes = [(len(one), len(two)) for one, two in zip(translated, sentences, strict=True)]
        given = list(read_alignments(str(links), "pharaoh", sizes))
        for index in range(6, 10):
            parsed = tuned.parse_pair(translated[index], sentences[index], given[index]).target
            told = page.ask(f"sentences/{index}").json
            assert told["heads"] == parsed.heads.tolist()[1:]
            assert told["chances"] == list(belief_of(parsed).chances)


def test_the_command_has_joint_parsers_learn_links(path, tmp_path):
    from qsproj.cli import serve
    from qsproj.cli.main import build_parser

    for model, learns in ((JOINT, True), ("tests/kept_models/arc-parser.model", False)):
        options = build_parser("serve").parse_args(["serve", "--review", str(path), "-m", model])
        review = serve._review(options, str(tmp_path))
        for pool in (review.training, review.inference):
            pool.stop()
        assert review.session.learns_links == learns


def test_what_was_reviewed_meanwhile_keeps_its_tree(path):
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.retraining import Retrained
    from qsproj.serve.review.session import Session

    session = Session(draft=Draft(str(path)), train_after=1)
    before = [session.belief(index) for index in (0, 1)]
    versions = session.versions()
    session.confirm(0, before[0].tree, version=session.draft.version(0))
    new = {
        index: replace(one, tree=Tree(one.tree.heads, ("x",) * len(one.tree.heads)))
        for index, one in enumerate(before)
    }
    session.take(Retrained(new, {}), versions)
    assert session.belief(0).tree == before[0].tree
    assert set(session.belief(1).tree.relations) == {"x"}


def test_a_new_tree_belongs_to_the_sentence_that_was_parsed(path):
    """Text that is cut otherwise while a parser is trained moves the sentences after it, and changes some."""
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.retraining import Retrained
    from qsproj.serve.review.session import Session
    from qsproj.serve.review.tokens import Edit

    session = Session(draft=Draft(str(path)), train_after=1)
    versions, sentences = session.versions(), list(session.draft.sentences)
    new = {
        index: replace(
            belief_of(one),
            tree=Tree(tree_of(one).heads, (f"x{index}",) * len(one)),
            chances=(0.5,) * len(one),
        )
        for index, one in enumerate(sentences)
    }
    session.edit(2, Edit("end sentence", 2), version=session.draft.version(2))
    session.edit(5, Edit("merge", 1, 2), version=session.draft.version(5))
    session.edit(7, Edit("join next"), version=session.draft.version(7))
    session.take(Retrained(new, {}), versions)
    for index, sentence in enumerate(session.draft.sentences):
        relations, was = set(session.belief(index).tree.relations), [one.forms for one in sentences]
        assert len(session.belief(index).tree.heads) == len(sentence)
        expected = {f"x{was.index(sentence.forms)}"} if sentence.forms in was else set(sentence.deprels)
        assert relations == expected, index
    for order in ("worth", "unsure", "differing"):
        assert (
            len(page_of(session, order=order, shown="all", query="", offset=0, limit=50)["sentences"]) == 10
        )
    # With the sentence, its tree comes back.
    session.undo(5, version=session.draft.version(5))
    assert set(session.belief(5).tree.relations) == {"x4"}


def test_a_sentence_that_is_cut_otherwise_has_no_other_annotator(path, tmp_path):
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.session import Session
    from qsproj.serve.review.tokens import Edit

    other = tmp_path / "other.conllu"
    other.write_bytes(path.read_bytes())
    session = Session(draft=Draft(str(path)), beside=str(other))
    other.write_text("damaged")  # it is not read again with each change

    def compared():
        return [
            shown_sentence(session, index)["other"] is not None
            for index in range(len(session.draft.sentences))
        ]

    for edit in (
        Edit("end sentence", 2),
        Edit("merge", 1, 2),
        Edit("join next"),
        Edit("form", 1, texts=("Ha",)),
    ):
        session.edit(3, edit, version=session.draft.version(3))
        assert (
            compared() == [True] * 3 + [False] * (len(compared()) - 9) + [True] * 6
            or edit.action == "join next"
        )
        page_of(session, order="differing", shown="all", query="", offset=0, limit=50)
        session.undo(3, version=session.draft.version(3))
        assert compared() == [True] * 10
    session.load()
    assert "other.conllu" in session.summary["error"]
    assert (overview(session)["beside"], compared()) == (None, [False] * 10)


def test_undo_brings_a_translation_back(page):
    told = page.ask("sentences/2").json
    cut = page.ask(
        "sentences/2/edit", content={"version": told["version"], "action": "end sentence", "word": 2}
    )
    assert cut.json["translation"] is None
    back = page.ask("sentences/2/undo", content={"version": cut.json["version"]}).json
    assert (back["translation"], back["links"]) == (told["translation"], told["links"])


HALF = "\ud800"


def test_a_regular_expression_without_end_holds_nobody_up(serving, path, monkeypatch):
    monkeypatch.setattr("qsproj.serve.review.search._MOST_SECONDS", 1.0)
    path.write_text(f"1\t{'a' * 40}!\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    with reviewing(serving, path) as page, ThreadPoolExecutor() as threads:
        searching = threads.submit(page.ask, "search", content={"pattern": "form~^(a+)+$"})
        assert page.ask("overview").status == 200
        told = page.ask("sentences/0").json
        assert page.confirm(told).status == 200
        assert not searching.done()
        answer = searching.result()
        assert (answer.status, "takes more than 1 s in sentence" in answer.text) == (400, True)
        # What was confirmed is found.
        assert page.ask("search", content={"pattern": "misc.Reviewed=Yes"}).json["total"] == 1


def test_half_a_character_is_refused_everywhere(page, path):
    before, told = path.read_bytes(), page.ask("sentences/0").json
    n, edit = len(told["forms"]), {"version": told["version"], "word": 1}
    answers = [
        page.confirm(told, relations=[HALF] * n),
        page.confirm(told, columns={"lemmas": [HALF] * n}),
        *(
            page.ask("sentences/0/edit", content=edit | {"action": action, "texts": [f"# {HALF}", HALF]})
            for action in ("form", "split", "comments")
        ),
        page.ask("search", content={"pattern": f"form~{HALF}"}),
        page.ask("search/correct", content={"hits": [], "change": f"lemma={HALF}"}),
        page.ask("sentences/0/undo", content={"version": HALF}),
    ]
    assert [(one.status, "half a character" in one.text) for one in answers] == [(400, True)] * 8
    assert path.read_bytes() == before


@pytest.mark.parametrize("form", ["", " ", "a b", "a\0b", "a\u2028b", "a\u00a0b", "a\tb", "a\nb"])
def test_what_is_no_word_is_refused(page, path, form):
    before, told = path.read_bytes(), page.ask("sentences/0").json
    edit = {"version": told["version"], "word": 1}
    assert page.ask("sentences/0/edit", content=edit | {"action": "form", "texts": [form]}).status == 400
    split = edit | {"action": "split", "texts": ["a", form]}
    assert page.ask("sentences/0/edit", content=split).status == 400
    assert path.read_bytes() == before


def test_what_did_not_change_is_not_refused(page, path):
    """No-break spaces and joiners are ordinary in comments, lemmas and forms; so is what was there before."""
    comments, row = (
        "# text = a\u00a0b\u200cc\n# n\u2028x\n",
        "\ta\u200cb c\ta\u00a0b\tX\ta\u00a0b\t_\t0\troot:\u200c",
    )
    odd = f"{comments}1{row}\t_\tNote=a\u00a0b\n\n"
    path.write_bytes(odd.encode())
    assert page.ask("load", method="POST").status == 200
    told = page.ask("sentences/0").json
    columns = {name: told[name] for name in ("lemmas", "xpos", "misc")} | {"upos": ["NOUN"]}
    told = page.confirm(told, columns=columns).json
    expected = odd.replace("\tX\t", "\tNOUN\t").replace("b\n\n", "b|Reviewed=Yes\n\n")
    assert path.read_bytes() == expected.encode()
    edit = {"version": told["version"], "action": "comments", "texts": [*told["comments"], "# c\u00a0d"]}
    told = page.ask("sentences/0/edit", content=edit).json
    assert told["comments"][-1] == "# c\u00a0d"
    # A word that has spaces may have others.
    spelled = page.ask(
        "sentences/0/edit", content={"version": told["version"], "action": "form", "texts": ["a b d"]}
    )
    assert spelled.json["forms"] == ["a b d"]


@pytest.mark.parametrize("relation", ["a|b", "_", "a\u2029b", "x" * 81])
def test_a_correction_of_many_takes_relations_as_a_confirmation_does(page, path, relation):
    before = path.read_bytes()
    told = page.ask("sentences/0").json
    assert page.confirm(told, relations=[relation] * len(told["forms"])).status == 400
    hits = [[0, 1, told["version"]]]
    assert page.ask("search/correct", content={"hits": hits, "change": f"deprel={relation}"}).status == 400
    assert page.ask("search", content={"pattern": "form~.", "change": f"deprel={relation}"}).status == 400
    assert path.read_bytes() == before


def test_a_body_that_is_too_large_is_answered(page):
    """Also a client that sends all of it before it reads."""
    for size in (100_001, 8 << 20):
        assert page.ask("search", content={"pattern": "x" * size}).status == 413


def test_a_sentence_that_is_gone_once_the_request_has_arrived(tmp_path):
    from qsproj.serve.requests import Limits
    from qsproj.serve.review.app import Review, review_app
    from qsproj.serve.review.draft import Draft
    from qsproj.serve.review.session import Session
    from qsproj.serve.review.tokens import Edit

    path = tmp_path / "two.conllu"
    write_conllu(islice(read_conllu("corpora/en.conllu"), 2), path)
    session = Session(draft=Draft(str(path)))
    app, answers = review_app(Review(session=session), Limits()), []

    async def receive():
        session.edit(0, Edit("join next"), version=session.draft.version(0))
        return {"type": "http.request", "body": b'{"version": "0"}', "more_body": False}

    async def send(message):
        answers.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/sentences/1/undo", "headers": []}
    asyncio.run(app({**scope, "query_string": b"", "root_path": ""}, receive, send))
    assert answers[0]["status"] == 404


def test_links_that_name_no_word_are_refused_before_they_are_saved(page, path):
    before, shown = path.read_bytes(), page.ask("sentences/3").json
    misc = ["Align=99", *["_"] * (len(shown["forms"]) - 1)]
    assert page.confirm(shown, columns={"misc": misc}).status == 400
    assert path.read_bytes() == before
    assert page.ask("sentences/3").json["version"] == shown["version"]
