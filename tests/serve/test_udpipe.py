"""The REST API of UDPipe, asked as its clients ask."""

from __future__ import annotations

import email.mime.multipart
import email.mime.nonmultipart
import email.policy
import http.client
import json
import time
from functools import partial
from pathlib import Path

import pytest

from qsproj.conventions import MAX_WORDS, NO_HEAD
from qsproj.corpus.conllu import read_conllu, sentences_in
from qsproj.errors import UsageError
from qsproj.models.storage import load_model
from tests.serve.conftest import SCHEMES

TEXT = "Der Hund bellt.\nDie Katze schläft.\n"
EVERYTHING = {"tokenizer": "", "tagger": "", "parser": ""}


@pytest.fixture(scope="module")
def client(model_files, serving):
    from qsproj.serve.compute import ComputePool
    from qsproj.serve.requests import Limits, with_access_log
    from qsproj.serve.udpipe import HEADERS, PATHS, load_served, process, udpipe_app

    models = load_served([str(model_files / "de.model"), f"only-parses={model_files / 'de.parser'}"])

    def make_app(pools):
        pools.append(ComputePool(partial(process, models), processes=1))
        limits = Limits(bytes=100_000)
        return with_access_log(udpipe_app(models, pools[0], limits), paths=PATHS, headers=HEADERS)

    with serving(make_app) as found:
        yield found


def processed(client, **fields):
    answer = client.ask("/process", data=fields)
    assert answer.status == 200, answer.text
    return answer.json["result"]


def test_models_are_listed_with_what_they_do(client):
    answer = client.ask("/models")
    assert answer.json == {
        "models": {"de": ["tokenizer", "tagger", "parser"], "only-parses": ["parser"]},
        "default_model": "de",
    }
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == "*"


def test_the_first_page_says_what_is_served(client):
    page = client.ask("/")
    assert page.headers["content-type"].startswith("text/html")
    for told in ("only-parses", "tokenizer, tagger, parser", f"{client.address}/process", "model=de "):
        assert told in page.text
    odd = client.ask("/", headers={"Host": "<b>x"}).text
    assert "<b>x" not in odd


def test_the_first_page_in_a_browser(browsers, client, faults):
    for scheme, browser in zip(SCHEMES, browsers, strict=True):
        page = browser.new_page(viewport={"width": 400, "height": 800})
        page.goto(client.address)
        assert faults(page, scheme) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        page.close()


def test_health_is_told(client):
    told = client.ask("/health").json
    assert (told["status"], told["busy"], told["waiting"]) == ("ok", 0, 0)


def test_no_answer_waits_for_an_acknowledgement(client):
    """It would take 40 ms on a connection that is kept."""
    connection, taken = http.client.HTTPConnection(client.address.removeprefix("http://")), []
    for _ in range(20):
        start = time.perf_counter()
        connection.request("GET", "/health")
        assert connection.getresponse().read()
        taken.append(time.perf_counter() - start)
    connection.close()
    assert min(taken[10:]) < 0.03


def parts_of(fields):
    """Write fields as UDPipe's own client writes them: MIME parts of the type text/plain."""
    message = email.mime.multipart.MIMEMultipart("form-data", policy=email.policy.HTTP)
    for name, value in fields.items():
        part = email.mime.nonmultipart.MIMENonMultipart("text", "plain")
        part.add_header("Content-Disposition", f'form-data; name="{name}"')
        part.add_header("Content-Transfer-Encoding", "8bit")
        part.set_payload(value, charset="utf-8")
        message.attach(part)
    return message.as_bytes().split(b"\r\n\r\n", maxsplit=1)[1], {"Content-Type": message["Content-Type"]}


R_FORM, R_EDGE = "multipart/form-data", "------------------------1c778f7d848b5766"
R_PARTS = "".join(
    f'--{R_EDGE}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
    for name, value in {"model": "de", **EVERYTHING, "data": TEXT}.items()
)
R_PARTS += f"--{R_EDGE}--\r\n"


def test_a_text_is_parsed_however_it_is_sent(client, model_files):
    """As the model itself parses it."""
    model = load_model(model_files / "de.model")
    heads = [head for one in model.parse_text(TEXT) for head in one.heads.tolist()[1:]]
    fields = {"data": TEXT, **EVERYTHING}
    body, headers = parts_of(fields)
    file_part = b'--B\r\nContent-Disposition: form-data; name="data"; filename="a.txt"\r\n\r\n%s\r\n--B--\r\n'
    in_parts = {"Content-Type": "multipart/form-data; boundary=B"}
    ways = {
        "form": client.ask("/process", data=fields),
        "in parts": client.ask("/process", data=body, headers=headers),
        "a file": client.ask(
            "/process?tokenizer&tagger&parser", data=file_part % TEXT.encode(), headers=in_parts
        ),
        "JSON": client.ask(
            "/process", data=json.dumps(fields).encode(), headers={"Content-Type": "application/json"}
        ),
        "address": client.ask(
            "/process?data=Der+Hund+bellt.%0ADie+Katze+schl%C3%A4ft.&tokenizer&tagger&parser"
        ),
        # As R sends what httr::POST is given as a list, and with encode = "json" beside query.
        "R": client.ask(
            "/process", data=R_PARTS.encode(), headers={"Content-Type": f"{R_FORM}; boundary={R_EDGE}"}
        ),
        "R, JSON": client.ask(
            "/process?tokenizer=&tagger=&parser=",
            data=b'{"data":"Der Hund bellt.\\nDie Katze schl\xc3\xa4ft.\\n"}',
            headers={"Content-Type": "application/json", "Accept": "application/json, text/xml, */*"},
        ),
        "form, as it is": client.ask("/process", data=f"tokenizer=&tagger=&parser=&data={TEXT}".encode()),
    }
    for way, answer in ways.items():
        assert list(answer.json) == ["model", "acknowledgements", "result"], way
        assert answer.json["result"] == ways["form"].json["result"], way
    words = [line.split("\t") for line in ways["form"].json["result"].split("\n") if line[:1].isdigit()]
    assert [word[1] for word in words] == ["Der", "Hund", "bellt", ".", "Die", "Katze", "schläft", "."]
    assert [int(word[6]) for word in words] == heads


@pytest.mark.parametrize("tokenizer", ["", "presegmented"])
def test_text_is_parsed_as_the_command_parses_it(client, model_files, run_cli, tmp_path, tokenizer):
    """Line by line, or sentence by sentence; names and paragraphs are the same."""
    path = tmp_path / "text.txt"
    path.write_text("Er kam. Sie ging! \x0b Dr. Kohl sah.\r\n\nDie Katze\u2028schläft.\n", encoding="utf-8")
    flag = [] if tokenizer else ["--paragraphs"]
    done = run_cli("parse", "-m", str(model_files / "de.model"), str(path), *flag)
    assert done.code == 0, done.err
    fields = EVERYTHING | {"tokenizer": tokenizer}
    assert processed(client, data=path.read_bytes().decode(), **fields) == done.out
    names = [line for line in done.out.split("\n") if line.startswith(("# sent_id", "# newpar"))]
    wanted = ["1"] if tokenizer else ["1.1", "1.2", "1.3"]
    first = [] if tokenizer else ["# newpar"]
    assert names == [*first, *(f"# sent_id = {name}" for name in wanted), "# newpar", "# sent_id = 2"]


def test_conllu_comes_back_with_all_that_was_not_asked_for(client):
    text = Path("corpora/de.conllu").read_text(encoding="utf-8")
    assert processed(client, data=text) == text
    parsed = processed(client, data=text, parser="confidence", model="only-parses")
    assert parsed != text
    assert "ArcProb=" in parsed
    columns = [[line.split("\t")[:6] for line in one.split("\n")] for one in (text, parsed)]
    assert columns[0] == columns[1]


def test_a_sentence_that_is_too_long_is_left_unparsed(client):
    long = "".join(f"{number}\tx\t_\tNOUN" + "\t_" * 6 + "\n" for number in range(1, MAX_WORDS + 2))
    short = "1\ty\t_\tNOUN" + "\t_" * 6 + "\n"
    result = processed(client, data=f"{long}\n{short}\n{long}\n", parser="")
    parsed = [int(sentence.heads[1]) for sentence in sentences_in(result)]
    assert parsed == [NO_HEAD, 0, NO_HEAD]


def test_tags_are_replaced_only_when_that_is_asked_for(client):
    text = "1\tHund\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
    assert "\tX\t" in processed(client, data=text, parser="")
    assert "\tX\t" not in processed(client, data=text, tagger="", parser="")


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        (
            {"input": "horizontal", "data": "Ein Hund\n\nEine Katze\n", "output": "vertical"},
            "Ein\nHund\n\nEine\nKatze\n\n",
        ),
        (
            {"input": "vertical", "data": "Ein\tDET\nHund\n\n\nEine", "output": "horizontal"},
            "Ein Hund\nEine\n",
        ),
        ({"tokenizer": "", "data": "Ein Hund.\n\n", "output": "horizontal"}, "Ein Hund .\n"),
        ({"input": "generic_tokenizer", "data": "Ein Hund.", "output": "plaintext"}, "Ein Hund.\n"),
        ({"input": "horizontal;x=1", "data": "Ein Hund\n", "output": "vertical"}, "Ein\nHund\n\n"),
        ({"tokenizer": "presegmented;ranges", "data": "", "output": "conllu=v2"}, ""),
        (
            {"tokenizer": "", "data": "Er kam. Sie\tging.\n\nGut", "output": "plaintext"},
            "Er kam.\nSie ging.\nGut\n",
        ),
        ({"tokenizer": "presegmented", "data": "A. B! C\n", "output": "horizontal"}, "A. B ! C\n"),
    ],
)
def test_formats(client, fields, result):
    assert processed(client, **fields) == result


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "found no field 'data'"),
        ({"data": "x", "model": "fr"}, "found no model 'fr', expected one of: de, only-parses"),
        ({"data": "x", "output": "epe"}, "unknown output 'epe'; known: conllu,"),
        ({"data": "x", "input": "epe"}, "unknown input 'epe'; known: conllu,"),
        (
            {"data": "x", "model": "only", "tokenizer": ""},
            "found 'tokenizer' asked of the model 'only-parses'",
        ),
        ({"data": "x", "model": "only", "input": "generic"}, "which has no tokenizer"),
        ({"data": "x", "model": "only", "input": "horizontal", "parser": ""}, "found no word with a tag"),
        ({"data": "1\tx"}, "data:1: found 2 columns, expected 10"),
        (
            {"data": "Der Hund", "parser": ""},
            "comments start with #; for plain text, add the field tokenizer=",
        ),
    ],
)
def test_what_is_wrong_is_told_as_text(client, fields, told):
    answer = client.ask("/process", data=fields, method="POST")
    assert (answer.status, answer.headers["content-type"]) == (400, "text/plain; charset=utf-8")
    assert told in answer.text
    assert answer.text.count("\n") == 1


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        (b"data=\xff\xfe", "application/x-www-form-urlencoded", "found 0xff at byte 5 of the request"),
        (b"data=%ff", "application/x-www-form-urlencoded", "found a form that is no UTF-8"),
        (b"[1]", "application/json", "found no object of strings"),
        (b"[" * 90000, "application/json", "found no object of strings"),
        (b'{"data": "\\ud800"}', "application/json", "found half a character"),
        (b"<xml/>", "text/xml", "found a body of type 'text/xml'"),
        (b"nothing", "multipart/form-data", "found a body in parts that cannot be read"),
        (b"nothing", "multipart/form-data; boundary=x", "found a body in parts that cannot be read"),
    ],
)
def test_bodies_that_cannot_be_read(client, body, kind, told):
    answer = client.ask("/process", data=body, headers={"Content-Type": kind})
    assert (answer.status, told in answer.text) == (400, True), answer.text


def test_other_addresses_and_methods(client):
    assert client.ask("/Der-Hund-bellt").status == 404
    refused = client.ask("/models", data={"data": "Der Hund bellt"})
    assert (refused.status, refused.headers["allow"]) == (405, "GET")
    assert client.ask("/process", method="DELETE").status == 405
    assert "Hund" not in client.log.read_text()


def test_the_log_counts_and_does_not_quote(client):
    sentence = next(iter(read_conllu("corpora/de.conllu")))
    processed(client, data=" ".join(sentence.forms), **EVERYTHING)
    line = client.logged(path="/process", status=200, words=len(sentence))
    assert {
        "at",
        "method",
        "path",
        "status",
        "seconds",
        "bytes_in",
        "bytes_out",
        "model",
        "sentences",
    } <= set(line)
    assert sentence.forms[1] not in client.log.read_text(encoding="utf-8")


def test_a_name_that_fits_several_models_is_no_unknown_one():
    from qsproj.serve.udpipe import chosen_model

    models = dict.fromkeys(("de-news", "de-bible", "en"))
    with pytest.raises(
        UsageError, match="found several models that begin with 'de', expected one of: de-news, de-bible"
    ):
        chosen_model(models, "de")
    with pytest.raises(UsageError, match="found no model 'fr'"):
        chosen_model(models, "fr")
