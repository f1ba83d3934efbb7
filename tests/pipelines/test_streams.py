"""Models over streams: the same bytes with any number of processes, few sentences held, faults located."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import pytest

from qsproj.errors import DataError, UsageError
from qsproj.models.parser import load_parser
from qsproj.parallel import AHEAD, Workers
from qsproj.pipelines import streams
from qsproj.pipelines.streams import BLOCK_SENTENCES, loaded_once, parse_stream
from tests.cli.conftest import parser_and_tagger
from tests.sentences import make_sentence

GERMAN = Path("corpora/de.conllu")


@pytest.fixture(scope="module")
def models(made_once):
    return made_once(parser_and_tagger)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The German sample four times over: three blocks."""
    path = tmp_path_factory.mktemp("texts") / "many.conllu"
    path.write_text(GERMAN.read_text(encoding="utf-8") * 4, encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("command", ["parse", "tag"])
def test_two_processes_give_the_bytes_of_one(run_cli, models, many, tmp_path, command):
    model = models / ("de.model" if command == "parse" else "de.tagger")
    for jobs in ("1", "2"):
        outcome = run_cli(command, "-m", model, many, "--jobs", jobs, "-o", tmp_path / jobs)
        assert outcome.code == 0, outcome.err
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert (tmp_path / "1").stat().st_size > 0.9 * many.stat().st_size


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_sentences_that_are_too_long_pass_as_they_are(run_cli, models, many, tmp_path, jobs):
    rows = "".join(f"{i}\tx\t_\tX\t_\t_\t_\t_\t_\t_\n" for i in range(1, 1002)) + "\n"
    text = many.read_text(encoding="utf-8")
    (tmp_path / "in").write_text(rows + text + rows * 2 + text + rows, encoding="utf-8")
    outcome = run_cli(
        "parse", "-m", models / "de.model", tmp_path / "in", "--jobs", jobs, "-o", tmp_path / "out"
    )
    assert outcome.code == 0
    said = [line for line in outcome.err.splitlines() if "more than 1,000 words" in line]
    assert said == [
        f"{tmp_path / 'in'}: 4 sentences of more than 1,000 words (first: line 1) written unchanged, "
        "not parsed; split them to parse them"
    ]
    assert run_cli("parse", "-m", models / "de.model", many, "-o", tmp_path / "alone").code == 0
    parsed = (tmp_path / "alone").read_text("utf-8")
    assert (tmp_path / "out").read_text("utf-8") == rows + parsed + rows * 2 + parsed + rows


@pytest.mark.slow
def test_sentences_that_are_too_long_for_all_readings_are_named_by_their_lines(run_cli, models, tmp_path):
    """The first of them; in CoNLL-U with tags nothing is in doubt."""
    model, text, tagged = tmp_path / "text.model", tmp_path / "text.txt", tmp_path / "tagged.conllu"
    bundled = run_cli("bundle", models / "de.tagger", models / "de.model", "-o", model, "--readings", "16")
    assert bundled.code == 0, bundled.err
    text.write_text("Ja .\n\n" + f"{'ja ' * 160}\n" * 5)
    outcome = run_cli("parse", "-m", model, text, "-o", tagged)
    told = [line for line in outcome.err.splitlines() if "put one sentence on a line" in line]
    assert [line.partition("txt:")[2][:2] for line in told] == ["3:", "4:", "5:"]
    assert "a sentence of 160 words, with 13 uncertain tags tried, not 16" in told[0]
    assert "2 more sentences are as long" in outcome.err
    assert "uncertain tags tried" not in run_cli("parse", "-m", model, tagged).err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bad_row_far_down_is_one_line(run_cli, models, many, tmp_path, jobs):
    text = many.read_text(encoding="utf-8")
    (tmp_path / "in").write_text(text * 3 + "no row\n\n", encoding="utf-8")
    outcome = run_cli(
        "parse", "-m", models / "de.model", tmp_path / "in", "--jobs", jobs, "-o", tmp_path / "out"
    )
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert f"in:{3 * text.count(chr(10)) + 1}: " in outcome.err


def test_sentences_are_taken_a_few_blocks_ahead(models):
    taken = []

    def endless():
        while True:
            taken.append(1)
            yield make_sentence("ein Hund", "DET NOUN")

    stream = parse_stream(str(models / "de.model"), endless(), workers=Workers(jobs=2))
    next(stream)
    # Whoever writes slowly is not to fill the memory: what would be parsed meanwhile waits.
    time.sleep(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream.close()
    assert len(taken) == 2 * AHEAD * BLOCK_SENTENCES


def test_a_model_is_loaded_once_for_each_version_of_its_file(models, tmp_path, monkeypatch):
    streams._loaded.cache_clear()
    calls = []
    path = tmp_path / "parser"

    def load(name):
        calls.append(name)
        return load_parser(name)

    path.write_bytes((models / "de.model").read_bytes())
    assert loaded_once(load, str(path)) is loaded_once(load, str(path))
    path.touch()
    loaded_once(load, str(path))
    assert len(calls) == 2


def test_a_model_that_is_none_is_told_at_once(models, tmp_path):
    with pytest.raises(UsageError, match="none: cannot be read: No such file or directory"):
        next(parse_stream(str(tmp_path / "none"), iter(())))
    with pytest.raises(DataError, match="expected a parser"):
        next(parse_stream(str(models / "de.tagger"), iter(())))
    for decode, told in (
        ("x", "unknown decoder 'x'; known: map, mbr"),
        ("max-z", "parsers with hidden clusters"),
    ):
        sentences = [make_sentence("ein Hund", "DET NOUN")]
        with pytest.raises(UsageError, match=told):
            next(parse_stream(str(models / "de.model"), sentences, decode=decode))


def test_an_error_about_a_word_names_its_line(run_cli, tmp_path):
    row = "{0}\tdogs\t_\tNOUN\t_\t_\t{1}\t_\t_\t_\n"
    trees = [[2, 0, 2], [0, 1, 0]]
    given = ["# no crossings\n" + "".join(map(row.format, (1, 2, 3), heads)) + "\n" for heads in trees]
    (tmp_path / "given.conllu").write_text("".join(given))
    outcome = run_cli(
        "parse", "-m", "tests/kept_models/arc-parser.model", tmp_path / "given.conllu", "--fixed"
    )
    assert outcome.code == 2
    assert "given.conllu:9: found the words 1, 3 at the root" in outcome.err
