"""One model from text to trees: ``qsproj bundle``, ``parse`` and ``tag`` with it, ``qsproj info``."""

import json
from pathlib import Path

import pytest

import qsproj
from qsproj.corpus.conllu import read_conllu
from qsproj.models.text.text_parser import TextParser
from tests.cli.refusals import SAMPLE, assert_one_line

TEXT = "Der Hund schläft im Haus.\n\nDas ist gut.\n"


@pytest.fixture(scope="module")
def words_parser(tmp_path_factory):
    from qsproj.cli.main import main

    path = tmp_path_factory.mktemp("models") / "words.parser"
    assert main(["train", str(SAMPLE), "--features", "words", "-o", str(path), "--epochs", "1"]) == 0
    return path


@pytest.fixture(scope="module")
def bundled(tmp_path_factory, tagger, words_parser):
    from qsproj.cli.main import main

    path = tmp_path_factory.mktemp("models") / "de.model"
    assert main(["bundle", str(tagger), str(words_parser), "-o", str(path)]) == 0
    return path


def with_column(text, column, change):
    """Return CoNLL-U with cells of a column of its words replaced."""
    rows = [line.split("\t") for line in text.splitlines()]
    for row in rows:
        if len(row) == 10 and row[0].isdigit():
            row[column] = change(row[column])
    return "\n".join("\t".join(row) for row in rows) + "\n"


def test_text_is_what_tag_and_parse_make_of_it_one_after_the_other(run_cli, bundled, tagger, words_parser):
    tagged = run_cli("tag", "-m", tagger, "--split-contractions", stdin=TEXT).out
    parsed = run_cli("parse", "-m", words_parser, stdin=tagged)
    outcome = run_cli("parse", "-m", bundled, stdin=TEXT)
    assert (outcome.code, outcome.err) == (0, "")
    # A tagger numbers lines, so that translations stay in step; of parsed text blank lines cost none.
    assert outcome.out.replace("sent_id = 2", "sent_id = 3") == parsed.out
    assert len(outcome.out.strip().split("\n\n")) == 2
    assert "\n4-5\tim\t" in outcome.out


def test_tags_in_doubt_are_tried_on_request(run_cli, tagger, words_parser, bundled, tmp_path):
    from qsproj.models.storage import load_model

    model = tmp_path / "m"
    outcome = run_cli("bundle", tagger, words_parser, "-o", model, "--readings", "5")
    assert outcome.code == 0
    assert (
        outcome.err.endswith(f"which averages over 5 readings of a sentence: {model}\n")
        and outcome.err.count("\n") == 1
    )
    assert (load_model(model).readings, load_model(bundled).readings) == (5, 0)
    assert run_cli("parse", "-m", model, stdin=TEXT).code == 0
    refused = run_cli("bundle", tagger, words_parser, "-o", model, "--readings", "1001")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "1,000 at most" in refused.err


def test_a_converter_does_not_parse_text(run_cli, tagger, tmp_path):
    converter, clusters = (f"tests/kept_models/{name}.model" for name in ("converter", "cluster-parser"))
    outcome = run_cli("bundle", tagger, converter, "-o", tmp_path / "m")
    assert_one_line(outcome, f"{converter}: a model of kind converter does not parse; give a parser")
    outcome = run_cli("bundle", tagger, clusters, "-o", tmp_path / "m", "--readings", "2")
    assert_one_line(outcome, f"{clusters}: found readings for a model of kind cluster-parser")


def test_tag_gives_tags_alone(run_cli, bundled, tagger):
    for source in ({"stdin": TEXT}, {"stdin": Path(SAMPLE).read_bytes()}):
        assert run_cli("tag", "-m", bundled, **source).out == run_cli("tag", "-m", tagger, **source).out


def test_conllu_is_parsed_by_its_own_tags_where_it_has_them(run_cli, bundled, words_parser, tagger, tmp_path):
    text = Path(SAMPLE).read_text(encoding="utf-8")
    given = run_cli("parse", "-m", bundled, stdin=text).out
    assert given == run_cli("parse", "-m", words_parser, stdin=text).out
    tagged = run_cli("tag", "-m", tagger, stdin=text).out
    own = run_cli("parse", "-m", words_parser, stdin=tagged).out
    wrong = with_column(text, 3, lambda tag: "X")
    assert run_cli("parse", "-m", bundled, "--retag", stdin=wrong).out == own
    # Words without UPOS keep what else there is, as those do whose UPOS alone is the tagger's.
    tags_alone = run_cli("tag", "-m", tagger, "--columns", "upos", stdin=text).out
    own = run_cli("parse", "-m", words_parser, stdin=tags_alone).out
    assert run_cli("parse", "-m", bundled, stdin=with_column(text, 3, lambda tag: "_")).out == own
    # Where some words have a tag, these are kept.
    some = with_column(text, 3, lambda tag: tag if tag == "PUNCT" else "_")
    assert "PUNCT" in run_cli("parse", "-m", bundled, stdin=some).out


def test_two_processes_give_the_bytes_of_one(run_cli, bundled, tmp_path):
    (tmp_path / "text").write_text(TEXT * 100, encoding="utf-8")
    for jobs in ("1", "2"):
        outcome = run_cli("parse", "-m", bundled, tmp_path / "text", "--jobs", jobs, "-o", tmp_path / jobs)
        assert (outcome.code, outcome.err) == (0, "")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_from_python(bundled):
    model = qsproj.load_model(bundled)
    assert isinstance(model, TextParser)
    first = model.parse_text(TEXT)[0]
    assert first.forms == ("Der", "Hund", "schläft", "in", "dem", "Haus", ".")
    assert first.upos[0] == "DET"
    assert first.heads[1:].min() == 0
    probabilities = model.arc_probabilities(next(model.read(["Das Haus"])))
    assert probabilities[:, 1:].sum(axis=0) == pytest.approx([1.0, 1.0])


def test_a_line_that_is_too_long_is_not_parsed_and_counted(run_cli, bundled, tmp_path):
    text = "Haus .\n\n" * 2 + "Das Haus . " * 400 + "\nHaus .\n"
    outcome = run_cli("parse", "-m", bundled, "-", "-o", tmp_path / "out", stdin=text)
    assert outcome.code == 0
    notices = outcome.err.splitlines()
    assert notices[0].endswith("each parsed as one; find them with --paragraphs")
    assert notices[1:] == [
        "standard input: 1 sentence of more than 1,000 words (first: line 5) written unchanged, not "
        "parsed; split them to parse them"
    ]
    sentences = {one.sent_id: one for one in qsproj.read_conllu(tmp_path / "out")}
    assert [(name, one.root is None) for name, one in sentences.items()] == [
        *(("1", False), ("2", False), ("3", True), ("4", False))
    ]


def test_text_needs_a_model_that_tags(run_cli, words_parser):
    assert_one_line(run_cli("parse", "-m", words_parser, stdin=TEXT), "found plain text, expected CoNLL-U")
    refused = run_cli("parse", "-m", words_parser, "--retag", SAMPLE)
    assert_one_line(refused, "--retag is for models that tag")


def test_a_parser_of_xpos_alone_needs_xpos(run_cli, tmp_path):
    text = Path(SAMPLE).read_text(encoding="utf-8")
    tags = [row.split("\t")[3] for row in text.splitlines() if row[:1].isdigit() and "-" not in row[:4]]
    fine = iter(tags * 2)
    only = with_column(with_column(text, 4, lambda _: next(fine).lower()), 3, lambda _: "_")
    (tmp_path / "only").write_text(only, encoding="utf-8")
    model = tmp_path / "m"
    options = ("--features", "morphology", "--epochs", "1")
    assert run_cli("train", tmp_path / "only", *options, "-o", model).code == 0
    outcome = run_cli("parse", "-m", model, tmp_path / "only", "-o", tmp_path / "out")
    assert (outcome.code, outcome.err) == (0, "")
    without = with_column(text, 4, lambda _: "_")
    assert_one_line(run_cli("parse", "-m", model, stdin=without), "found no word with XPOS")


def test_quotations_in_a_script_without_spaces_are_reported_and_kept(run_cli, bundled):
    quoted = "今天天气很好我们去公园玩今天天气很好我们去公园玩"
    assert_one_line(run_cli("parse", "-m", bundled, stdin=f"{quoted}\n"), ":1: found 24 letters without")
    outcome = run_cli("parse", "-m", bundled, stdin=f"Das Haus {quoted} brennt .\n{quoted}\nDas Haus .\n")
    assert outcome.code == 0
    assert outcome.out.count(quoted) == 2
    assert outcome.out.count("# sent_id") == 3
    assert outcome.err.count("words of scripts without spaces between them") == 1


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("# sent_id = 1\nHaus\n", (), "standard input:2: found the text 'Haus'"),
        ("Haus\thouse\n", (), "standard input:1: found a tab as between the sentences of a pair"),
        ("今天天气很好我们去公园玩吧。\n", ("--language", "zh"), ":1: found 13 letters without a space"),
        (Path(SAMPLE).read_text(encoding="utf-8"), ("--language", "de"), "--language is for plain text"),
        ("", (), "standard input:1: found no sentence"),
    ],
)
def test_bad_input(run_cli, bundled, text, options, message):
    assert_one_line(run_cli("parse", "-m", bundled, *options, stdin=text), message)


def test_bundle_refuses_what_is_no_tagger_or_no_parser(run_cli, tagger, words_parser, tmp_path):
    there = tmp_path / "there"
    there.write_text("what was there")
    for arguments, message in (
        ((words_parser, words_parser), "found a model of kind arc-parser, expected a tagger"),
        ((tagger, tagger), "found a model of kind tagger, which does not parse"),
    ):
        assert_one_line(run_cli("bundle", *arguments, "-o", there), message)
    assert_one_line(run_cli("bundle", tagger, words_parser, "-o", tagger), "as a file to read and as")
    assert there.read_text() == "what was there"


def test_info(run_cli, bundled, tagger, words_parser):
    info = json.loads(run_cli("info", bundled, "--json").out)
    assert (info["kind"], info["language"]) == ("text-parser", "de")
    assert info["tagger"]["tags"][:3] == ["ADJ", "ADP", "ADV"]
    assert (info["parser"]["kind"], info["parser"]["features"]) == ("arc-parser", "words")
    assert "nsubj" in info["parser"]["relations"]
    made = info["made"]
    assert made["parser"]["options"]["treebanks"] == ["de.conllu"]
    assert made["parser"]["sentences"] == sum(1 for _ in read_conllu(SAMPLE))
    assert made["parser"]["columns"] == ["upos"]
    assert made["tagger"]["command"] == "train-tagger"
    outcome = run_cli("info", tagger)
    assert outcome.code == 0
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[:2] == ["kind: tagger", "what: part-of-speech tagger"]
    assert_one_line(run_cli("info", SAMPLE), "found a damaged or foreign file")


def test_info_shows_short_numbers(run_cli, tmp_path):
    arguments = ("train", SAMPLE, "--epochs", "1", "--l2", "0.30000000000000004", "-o", tmp_path / "m")
    assert run_cli(*arguments).code == 0
    lines = [" ".join(line.split()) for line in run_cli("info", tmp_path / "m").out.splitlines()]
    assert "l2: 0.3" in lines


def test_how_a_model_was_made_has_no_folders(run_cli, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.conllu").write_bytes(Path(SAMPLE).read_bytes())
        arguments = ("train", tmp_path / folder / "t.conllu", "--epochs", "1", "-o", tmp_path / folder / "m")
        assert run_cli(*arguments).code == 0
    assert (tmp_path / "a" / "m").read_bytes() == (tmp_path / "b" / "m").read_bytes()


def test_a_parser_that_learned_without_tags_ignores_them_and_says_so(run_cli, bundled, tagger, tmp_path):
    text = Path(SAMPLE).read_text(encoding="utf-8")
    bare = with_column(text, 3, lambda _: "_")
    (tmp_path / "bare").write_text(bare, encoding="utf-8")
    model, both = tmp_path / "m", tmp_path / "both"
    for options in ((), ("--labels", "joint"), ("--order", "2"), ("--objective", "hidden")):
        arguments = (
            "train",
            tmp_path / "bare",
            "--features",
            "words",
            "--epochs",
            "1",
            *options,
            "-o",
            model,
        )
        assert run_cli(*arguments).code == 0
        outcome = run_cli("parse", "-m", model, SAMPLE)
        assert outcome.code == 0
        assert outcome.err == f"{model} was trained without UPOS, and ignores that of {SAMPLE}\n"
        untagged = run_cli("parse", "-m", model, tmp_path / "bare")
        assert (untagged.code, untagged.err) == (0, "")
        assert with_column(outcome.out, 3, lambda _: "_") == untagged.out
    outcome = run_cli("bundle", tagger, model, "-o", both)
    assert outcome.code == 0
    assert f"{model} was trained without UPOS, and ignores the tags of {tagger}" in outcome.err
    assert "ignores as trained without: UPOS" in " ".join(run_cli("info", model).out.split())


def test_bundle_tells_of_a_parser_of_another_language(run_cli, tagger, bundled, tmp_path):
    english = tmp_path / "en.parser"
    assert run_cli("train", "corpora/en.conllu", "--epochs", "1", "-o", english).code == 0
    outcome = run_cli("bundle", tagger, english, "-o", tmp_path / "m")
    assert outcome.code == 0
    assert f"{english} was trained on text in en, and {tagger} tags de; give" in outcome.err
    english_tagger = tmp_path / "en.tagger"
    arguments = ("train-tagger", "corpora/en.conllu", "--language", "en", "-o", english_tagger)
    assert run_cli(*arguments).code == 0
    assert "in de, and" in run_cli("bundle", english_tagger, bundled, "-o", tmp_path / "m").err
    tags_alone = tmp_path / "en.delex"
    arguments = ("train", "corpora/en.conllu", "--features", "delexicalised", "--epochs", "1")
    assert run_cli(*arguments, "-o", tags_alone).code == 0
    assert run_cli("bundle", tagger, tags_alone, "-o", tmp_path / "m").err.count("\n") == 1
