"""INCEpTION's external recommender protocol, asked as INCEpTION asks."""

from __future__ import annotations

import http.client
import json
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path

import pytest

from qsproj.corpus.sentence import Sentence
from qsproj.models.storage import load_model

cassis = pytest.importorskip("cassis", reason="qsproj[inception] is not installed")

from qsproj.serve.inception import DEPENDENCY, POS, SENTENCE, TOKEN  # noqa: E402

# The first word takes two units of UTF-16, by which INCEpTION counts.
WORDS = [["😀", "bellt", "."], ["Die", "alte", "Katze", "schläft", "."]]
ARCS, TAGS = ("DependencyType", DEPENDENCY), ("coarseValue", POS)
XMI_ID = "{http://www.omg.org/XMI}id"


@pytest.fixture(scope="module")
def client(model_files, serving):
    from qsproj.serve.compute import ComputePool
    from qsproj.serve.inception import PATH, inception_routes, work_on
    from qsproj.serve.requests import Limits, with_access_log
    from qsproj.serve.udpipe import HEADERS, PATHS, load_served, udpipe_app

    named = {"de": "de.model", "parser": "de.parser", "tagger": "de.tagger"}
    models = load_served([f"{name}={model_files / file}" for name, file in named.items()])

    def make_app(pools):
        pools.append(ComputePool(partial(work_on, models), processes=1))
        limits = Limits(bytes=1_000_000)
        app = udpipe_app(models, pools[0], limits, others=inception_routes(models, pools[0], limits))
        return with_access_log(app, paths=(*PATHS, PATH), headers=HEADERS)

    with serving(make_app) as found:
        yield found


def document(feature, layer, *, upos=None):
    """Return a request for suggestions; ``upos`` are tags that were annotated, by the word."""
    types = cassis.load_dkpro_core_typesystem()
    kind = types.get_type(layer)
    types.create_feature(kind, "inception_internal_predicted", "uima.cas.Boolean")
    types.create_feature(kind, f"{feature}_score", "uima.cas.Double")
    types.create_feature(kind, f"{feature}_score_explanation", "uima.cas.String")
    types.create_feature(kind, f"{feature}_auto_accept", "uima.cas.String")
    cas = cassis.Cas(types)
    cas.sofa_string, cas.sofa_mime = "\n".join(map(" ".join, WORDS)), "text/plain"
    at = 0
    for words in WORDS:
        cas.add(types.get_type(SENTENCE)(begin=at, end=at + len(" ".join(words))))
        for word in words:
            token = types.get_type(TOKEN)(begin=at, end=at + len(word))
            if word in (upos or {}):
                token.pos = types.get_type(POS)(begin=at, end=at + len(word), coarseValue=upos[word])
                cas.add(token.pos)
            cas.add(token)
            at += len(word) + 1
    span = {"begin": 0, "end": len(cas.sofa_string)}
    metadata = {"layer": layer, "feature": feature, "projectId": 1, "anchoringMode": "singleToken"}
    return {
        "metadata": {**metadata, "crossSentence": False, "range": span},
        "document": {"xmi": cas.to_xmi(), "documentId": 42, "userId": "testuser"},
        "typeSystem": types.to_xml(),
    }


def post(client, path, content):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return client.ask(path, data=body, headers={"Content-Type": "application/json"})


def annotations(xmi, layer):
    """Return the attributes of all annotations of a layer, as they stand in XML."""
    package, _, name = layer.rpartition(".")
    return [
        one.attrib for one in ET.fromstring(xmi).iter(f"{{http:///{package.replace('.', '/')}.ecore}}{name}")
    ]


def predicted(client, feature, layer, *, model="de", **given):
    """Return the suggestions of a document, and the places of its tokens by their ids."""
    request = document(feature, layer, **given)
    answer = post(client, f"/inception/{model}/predict", request)
    assert answer.status == 200, answer.text
    assert list(answer.json) == ["document"]
    xmi = answer.json["document"]
    assert annotations(xmi, TOKEN) == annotations(request["document"]["xmi"], TOKEN)
    found = [one for one in annotations(xmi, layer) if one.get("inception_internal_predicted") == "true"]
    places = {one[XMI_ID]: (one["begin"], one["end"]) for one in annotations(xmi, TOKEN)}
    return sorted(found, key=lambda one: int(one["begin"])), places


def expected(model, *, upos=None):
    tags = upos or {}
    return [
        model.parse(Sentence.from_words(words, upos=[tags.get(word) for word in words]), confidence=True)
        for words in WORDS
    ]


def test_arcs_are_those_of_the_model_and_roots_lead_to_themselves(client, model_files):
    found, places = predicted(client, *ARCS)
    tokens, trees = list(places), expected(load_model(model_files / "de.model"))
    start, wanted = 0, []
    for tree in trees:
        for word, head in enumerate(tree.heads[1:].tolist(), start=1):
            dependent = tokens[start + word - 1]
            wanted.append(
                (tokens[start + head - 1] if head else dependent, dependent, tree.deprels[word - 1])
            )
        start += len(tree)
    assert [(one["Governor"], one["Dependent"], one["DependencyType"]) for one in found] == wanted
    assert sum(one["Governor"] == one["Dependent"] for one in found) == len(WORDS)
    for one in found:
        assert (one["begin"], one["end"]) == places[one["Dependent"]]
        assert one["flavor"] == "basic"
        assert 0 < float(one["DependencyType_score"]) <= 1


@pytest.mark.parametrize("feature", ["coarseValue", "PosValue"])
def test_tags_are_those_of_the_model_where_utf16_counts(client, model_files, feature):
    found, places = predicted(client, feature, POS, model="tagger")
    tagger = load_model(model_files / "de.tagger")
    assert [one[feature] for one in found] == [
        tag for words in WORDS for tag in tagger.tag_words(tuple(words))
    ]
    assert [(one["begin"], one["end"]) for one in found] == list(places.values())
    assert places[next(iter(places))] == ("0", "2")
    assert all(0 < float(one[f"{feature}_score"]) <= 1 for one in found)


# What Java says first, as INCEpTION asks it; the body is a document of ours as Apache UIMA writes it.
JAVA = (
    "POST /inception/de/predict HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nContent-Length: {}\r\n"
    "Host: 127.0.0.1:8001\r\nHTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA\r\n"
    "Upgrade: h2c\r\nUser-Agent: Java-http-client/17.0.15\r\nContent-Type: application/json\r\n\r\n"
)


def test_a_recorded_request_is_answered_for_its_client(client):
    body = Path(__file__).with_name("inception-request.json").read_bytes()
    with client.connect() as connection:
        connection.sendall(JAVA.format(len(body)).encode())
        connection.sendall(body)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert (answer.status, answer.version) == (200, 11)
        xmi = json.load(answer)["document"]
    cas = cassis.load_cas_from_xmi(xmi, cassis.load_typesystem(json.loads(body)["typeSystem"]))
    assert cas.sofa_string == '😀 bellt & "ruft".\nDie alte  Katze schläft .'
    annotated, predicted = (
        [one for one in cas.select(DEPENDENCY) if bool(one.inception_internal_predicted) == suggested]
        for suggested in (False, True)
    )
    tokens = cas.select(TOKEN)
    assert [one.Dependent for one in predicted] == tokens
    assert sum(one.Governor is one.Dependent for one in predicted) == 2
    # The arc that is annotated holds; the tree is inferred under it.
    (kept,) = annotated
    assert (kept.Governor.get_covered_text(), kept.get_covered_text()) == ("Katze", "Die")
    (same,) = [one for one in predicted if one.Dependent is kept.Dependent]
    assert (same.Governor, same.DependencyType, same.DependencyType_score) == (kept.Governor, "det", 1.0)
    assert not any("said" in line for line in client.log_lines())


def test_arcs_that_no_tree_has_are_passed_over(client):
    request = json.loads(Path(__file__).with_name("inception-request.json").read_bytes())
    one = '<dependency:Dependency xmi:id="300" sofa="1" begin="29" end="34" Governor="63" Dependent="75"/>'
    xmi = (
        request["document"]["xmi"]
        .replace("<cas:Sofa", f"{one}<cas:Sofa")
        .replace('members="', 'members="300 ')
    )
    request["document"]["xmi"] = xmi
    answer = post(client, "/inception/de/predict", request)
    assert answer.status == 200, answer.text
    assert len(annotations(answer.json["document"], DEPENDENCY)) == 12 + 2


def test_annotated_tags_are_parsed_with_and_stay(client, model_files):
    upos = {
        "😀": "NOUN",
        "bellt": "VERB",
        ".": "PUNCT",
        "Die": "DET",
        "alte": "ADJ",
        "Katze": "NOUN",
        "schläft": "VERB",
    }
    found, _ = predicted(client, *ARCS, model="parser", upos=upos)
    trees = expected(load_model(model_files / "de.parser"), upos=upos)
    assert [one["DependencyType"] for one in found] == [
        relation for tree in trees for relation in tree.deprels
    ]
    # Annotations are no suggestions, and are not overwritten by any.
    found, _ = predicted(client, *TAGS, model="tagger", upos={"Katze": "PROPN"})
    assert len(found) == sum(map(len, WORDS))


def test_training_is_over_at_once(client):
    request = document(*ARCS)
    request["documents"] = [request.pop("document")]
    answer = post(client, "/inception/de/train", request)
    assert (answer.status, answer.text) == (204, "")
    request["metadata"]["layer"] = "webanno.custom.Other"
    assert post(client, "/inception/de/train", request).status == 400


def test_the_log_has_counts_and_no_text(client):
    predicted(client, *TAGS)
    told = client.logged(path="/inception/de/predict", status=200, words=8)
    assert (told["sentences"], told["model"]) == (2, "de")
    assert "Katze" not in client.log.read_text()


BOMB = '<!DOCTYPE x [<!ENTITY a "ha">]>'


@pytest.mark.parametrize(
    ("model", "change", "told"),
    [
        (
            "de",
            {"metadata": {"layer": "x.Y", "feature": "z"}},
            "found layer 'x.Y', feature 'z', expected ",
        ),
        ("de", {"metadata": {"layer": DEPENDENCY, "feature": "flavor"}}, "feature 'flavor', expected"),
        ("de", {"metadata": None}, "found no string 'metadata.layer' in the request"),
        ("de", {"document": {"xmi": 7}}, "found no string 'document.xmi'"),
        ("de", {"document": {"xmi": "<a"}}, "found document.xmi that cannot be read (XMLSyntaxError)"),
        ("de", {"document": {"xmi": f"{BOMB}<x>&a;</x>"}}, "found a document type (<!DOCTYPE)"),
        ("de", {"document": {"xmi": "\ud800"}}, "found half a character"),
        ("de", {"typeSystem": "no XML"}, "found typeSystem that cannot be read"),
        ("de", {"typeSystem": "<x/>"}, "found document.xmi that cannot be read"),
        ("tagger", {}, "found 'parser' asked of the model 'tagger'"),
        ("parser", {}, "found no word with a tag"),
        ("fr", {}, "found no model 'fr', expected one of"),
    ],
)
def test_what_is_wrong_is_one_line(client, model, change, told):
    answer = post(client, f"/inception/{model}/predict", {**document(*ARCS), **change})
    assert answer.status == 400
    assert told in answer.text
    assert answer.text.count("\n") == 1


def test_a_layer_without_the_mark_of_suggestions_is_told(client):
    request = document(*ARCS)
    request["typeSystem"] = request["typeSystem"].replace("inception_internal_predicted", "other")
    answer = post(client, "/inception/de/predict", request)
    assert (answer.status, answer.text.count("\n")) == (400, 1)
    assert "found no feature 'inception_internal_predicted'" in answer.text


def test_bodies_are_bounded_and_read_with_care(client):
    assert post(client, "/inception/de/predict", b"{").status == 400
    assert post(client, "/inception/de/predict", b"[" * 100_000).status == 400
    assert post(client, "/inception/de/train", b"[]").status == 400
    with client.connect() as connection:
        head = b"POST /inception/de/predict HTTP/1.1\r\nHost: here\r\nContent-Length: 1000001\r\n\r\n"
        connection.sendall(head)
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
