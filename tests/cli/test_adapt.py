"""Adapt from the command line: train, convert, parse, check; bad input."""

import itertools
import json
import re
from pathlib import Path

import pytest

from qsproj import load_model, read_conllu
from qsproj.cli.main import main
from qsproj.cli.options.model_warnings import warn_other_language
from qsproj.models.converter.converter import AdaptedParser
from qsproj.progress import notices

SOURCE = Path("corpora/en.conllu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with trees in two styles, the first 40 of them apart, and a converter."""
    place = tmp_path_factory.mktemp("adapt")
    target = place / "target.conllu"
    assert main(["convert", "--to", "prague", str(SOURCE), "-o", str(target)]) == 0
    for name, path in (("source.40", SOURCE), ("target.40", target)):
        blocks = path.read_text(encoding="utf-8").split("\n\n")
        (place / name).write_text("\n\n".join(blocks[:40]) + "\n\n", encoding="utf-8")
    arguments = ["--source", str(place / "source.40"), "--target", str(place / "target.40")]
    assert main(["adapt", *arguments, "-o", str(place / "converter")]) == 0
    return place


def uas(run_cli, gold, system):
    return json.loads(run_cli("eval", gold, system, "--json").out)["uas"]


def test_a_treebank_is_converted_and_the_rest_kept(run_cli, folder, tmp_path):
    out = tmp_path / "out.conllu"
    assert run_cli("convert", "-m", folder / "converter", SOURCE, "-o", out).code == 0
    assert uas(run_cli, folder / "target.conllu", SOURCE) < 90
    assert uas(run_cli, folder / "target.conllu", out) > 98
    before = SOURCE.read_text(encoding="utf-8").splitlines()
    after = out.read_text(encoding="utf-8").splitlines()
    for old, new in zip(before, after, strict=True):
        assert old.split("\t")[:6] == new.split("\t")[:6]
        assert old.split("\t")[8:] == new.split("\t")[8:]


def test_the_least_sure_come_first(run_cli, folder, tmp_path):
    check, out = tmp_path / "check.conllu", tmp_path / "out.conllu"
    outcome = run_cli(
        *("convert", "-m", folder / "converter", SOURCE),
        *("--least-sure", check, "--confidence", "-o", out),
    )
    assert outcome.code == 0
    errors = [float(value) for value in re.findall(r"# expected_errors = (\S+)", check.read_text())]
    sentences = list(read_conllu(check))
    assert len(errors) == len(sentences) == len(list(read_conllu(out)))
    rates = [error / len(sentence) for error, sentence in zip(errors, sentences, strict=True)]
    assert all(early >= late - 0.005 for early, late in itertools.pairwise(rates))
    assert sum(errors) > 0
    assert "ArcProb=" in check.read_text()
    assert "ArcProb=" in out.read_text()
    assert "expected_errors" not in out.read_text()


def test_converting_reads_standard_input(run_cli, folder):
    outcome = run_cli("convert", "-m", folder / "converter", "-", stdin=SOURCE.read_text(encoding="utf-8"))
    assert outcome.code == 0
    assert outcome.out.count("# sent_id") == len(list(read_conllu(SOURCE)))


def test_a_parser_is_adapted(run_cli, folder, tmp_path):
    parser, adapted, out = tmp_path / "parser", tmp_path / "adapted", tmp_path / "out.conllu"
    run_cli("train", SOURCE, "-o", parser, "--epochs", "4")
    outcome = run_cli("adapt", "--parser", parser, "--target", folder / "target.40", "-o", adapted)
    assert outcome.code == 0
    assert "converter to " in outcome.err
    assert isinstance(load_model(adapted), AdaptedParser)
    assert run_cli("parse", "-m", adapted, SOURCE, "-o", out).code == 0
    assert uas(run_cli, folder / "target.conllu", out) > 95
    given = run_cli(
        *("adapt", "--parser", parser, "--source", folder / "source.40"),
        *("--target", folder / "target.40", "-o", adapted),
    )
    assert given.code == 0


def test_swapped_styles_are_reported_and_sentences_without_trees_counted(run_cli, tmp_path):
    sud, parser, model = tmp_path / "sud.conllu", tmp_path / "ud.parser", tmp_path / "model"
    text = SOURCE.read_text(encoding="utf-8")
    for old, new in (("nsubj", "subj"), ("obj", "comp:obj"), ("obl", "udep"), ("advmod", "mod")):
        text = text.replace(f"\t{old}\t", f"\t{new}\t")
    sud.write_text(text, encoding="utf-8")
    assert run_cli("train", SOURCE, "-o", parser, "--epochs", "2").code == 0
    for source, target, swapped in ((sud, SOURCE, True), (SOURCE, sud, False)):
        both = ("--source", source, "--target", target)
        outcome = run_cli("adapt", "--parser", parser, *both, "-o", model, "--epochs", "1")
        assert outcome.code == 0, outcome.err
        assert ("are --source and --target swapped?" in outcome.err) == swapped
    blocks = sud.read_text(encoding="utf-8").split("\n\n")
    bare = [re.sub(r"\t\d+\t[\w:@]+\t_\t", "\t_\t_\t_\t", block) for block in blocks[:4]]
    sud.write_text("\n\n".join([*bare, *blocks[4:]]), encoding="utf-8")
    outcome = run_cli("adapt", "--source", SOURCE, "--target", sud, "-o", model, "--epochs", "1")
    assert "86 sentences; left out: 4 for no head in the target" in outcome.err


def test_a_parser_of_text_still_reads_text(run_cli, folder, tmp_path):
    tagger, parser, model, adapted = (tmp_path / name for name in ("tagger", "parser", "model", "adapted"))
    run_cli("train-tagger", SOURCE, "--language", "en", "-o", tagger)
    run_cli("train", SOURCE, "-o", parser, "--epochs", "1", "--features", "words")
    run_cli("bundle", tagger, parser, "-o", model)
    assert run_cli("adapt", "--parser", model, "--target", folder / "target.40", "-o", adapted).code == 0
    parsed = run_cli("parse", "-m", adapted, "-", stdin="The dog sleeps .\n")
    assert (parsed.code, parsed.out.count("\troot\t")) == (0, 1), parsed.err


def test_trees_may_cross_where_told(run_cli, folder, tmp_path):
    pair = ("--source", folder / "source.40", "--target", folder / "target.40", "--epochs", "1")
    told = run_cli("adapt", *pair, "--nonprojective", "-o", tmp_path / "m")
    assert "converter to non-projective trees" in told.err
    told = run_cli("adapt", *pair, "--projective", "-o", tmp_path / "m")
    assert "converter to projective trees" in told.err


def assert_refused(outcome, *parts):
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1, outcome.err
    for part in parts:
        assert part in outcome.err


def test_other_words_are_named(run_cli, folder, tmp_path):
    other = tmp_path / "other.conllu"
    text = SOURCE.read_text(encoding="utf-8")
    other.write_text(text.replace("\tdog\t", "\tcat\t", 1), encoding="utf-8")
    outcome = run_cli("adapt", "--source", other, "--target", folder / "target.conllu", "-o", tmp_path / "m")
    message = f"{other}:1: found word 2 'cat' of sent_id sample-001 in the source and 'dog' in the target"
    assert_refused(outcome, message, "same words")
    assert not (tmp_path / "m").exists()


def test_another_number_of_sentences_is_refused(run_cli, folder, tmp_path):
    outcome = run_cli("adapt", "--source", SOURCE, "--target", folder / "target.40", "-o", tmp_path / "m")
    assert_refused(outcome, "in the source only")


def test_an_empty_target_is_refused(run_cli, tmp_path):
    empty = tmp_path / "empty.conllu"
    empty.write_text("")
    outcome = run_cli("adapt", "--source", SOURCE, "--target", empty, "-o", tmp_path / "m")
    assert_refused(outcome, str(empty), "no sentence")


def without_heads(path, to):
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    bare = [[*row[:6], "_", "_", *row[8:]] if len(row) == 10 else row for row in rows]
    to.write_text("\n".join("\t".join(row) for row in bare) + "\n", encoding="utf-8")
    return to


def test_trees_without_heads_are_refused(run_cli, folder, tmp_path):
    bare = without_heads(SOURCE, tmp_path / "bare.conllu")
    target = folder / "target.conllu"
    for pair, part in (((bare, target), "no source sentence"), ((SOURCE, bare), "no target sentence")):
        outcome = run_cli("adapt", "--source", pair[0], "--target", pair[1], "-o", tmp_path / "m")
        assert_refused(outcome, part)
    outcome = run_cli("convert", "-m", folder / "converter", bare)
    assert_refused(outcome, f"{bare}:1: found 7 words without a head", "parse it first")


def test_options_that_do_not_go_together_are_refused(run_cli, folder, tmp_path):
    target, model = folder / "target.conllu", folder / "converter"
    for arguments, part in (
        (("--source", SOURCE, "-o", "m"), "the following arguments are required: --target"),
        (("--target", target, "-o", tmp_path / "m"), "without --parser, give --source"),
        (
            ("--source", SOURCE, "--target", target, "-o", "x", "--confidence"),
            "found --confidence, which it does not know; it is an option of parse, tag, convert; see",
        ),
        (("--source", SOURCE, "--target", target, "-o", "x", "--epochs", "0"), "--epochs: found '0'"),
    ):
        assert_refused(run_cli("adapt", *arguments), part)
    for arguments, part in (
        ((SOURCE,), "one of the arguments -m/--model --to is required"),
        (("-m", model, "--to", "ud", SOURCE), "not allowed with"),
        (("-m", model, "--from", "ud", SOURCE), "--from belongs to --to; leave it out"),
        (("--to", "prague", SOURCE, "--confidence"), "--confidence belongs to -m; leave it out"),
        (("--to", "prague", SOURCE, "--source", SOURCE), "expected one file to convert"),
    ):
        assert_refused(run_cli("convert", *arguments), part)


def test_a_model_of_another_kind_is_refused(run_cli, folder, tmp_path):
    run_cli("train-tagger", SOURCE, "--language", "en", "-o", tmp_path / "tagger")
    assert_refused(
        run_cli("convert", "-m", tmp_path / "tagger", SOURCE),
        "a model of kind tagger, expected a converter",
    )
    outcome = run_cli(
        *("adapt", "--parser", tmp_path / "tagger", "--target", folder / "target.40", "-o", tmp_path / "m")
    )
    assert_refused(outcome, "expected a parser")


def test_annotated_trees_of_another_language_are_reported():
    english, german = (list(read_conllu(f"corpora/{code}.conllu")) for code in ("en", "de"))
    for annotated, target, said in (
        (english, german, ["a seems to be in en, and b in de; give trees of the target"]),
        (german, german, []),
    ):
        found = []
        with notices(found.append):
            warn_other_language(annotated, target, path="a", name="b")
        assert found == said
