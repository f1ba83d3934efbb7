"""Bad input to the commands: one line that names file and line, exit code 2, nothing lost."""

import gzip
import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.cli.refusals import LINKS, PAIR, SAMPLE, assert_one_line, conllu

GOOD = SAMPLE.read_text(encoding="utf-8").split("\n\n")[0] + "\n\n"
ROW = GOOD.splitlines()[3]


BAD_FILES = {
    "a truncated gzip": ("x.conllu.gz", gzip.compress(SAMPLE.read_bytes())[:2000], "cut-off"),
    "a cycle": ("x.conllu", "1\ta\t_\tX\t_\t_\t2\t_\t_\t_\n2\tb\t_\tX\t_\t_\t1\t_\t_\t_\n\n", "cycle"),
    "a head out of range": ("x.conllu", "1\ta\t_\tX\t_\t_\t7\t_\t_\t_\n\n", "7"),
    "an empty file": ("x.conllu", "", "no sentence"),
    "Latin-1": ("x.conllu", "1\tschön\t_\tX\t_\t_\t0\t_\t_\t_\n\n".encode("latin-1"), "UTF-8"),
    "spaces for tabs": ("x.conllu", ROW.replace("\t", "    ") + "\n\n", "spaces"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_trees(run_cli, model, tmp_path, name):
    file_name, content, message = BAD_FILES[name]
    bad = conllu(tmp_path / file_name, content)
    there = tmp_path / "there"
    there.write_text("what was there")
    commands = [
        ("parse", "-m", model, bad, "-o", there),
        ("train", bad, "-o", there),
        ("train-tagger", bad, "--language", "de", "-o", there),
        ("eval", bad, SAMPLE),
        ("project", "--source", "corpora/en.conllu", "--target", bad, "--alignment", LINKS, "-o", there),
    ]
    for command in commands:
        assert_one_line(run_cli(*command), str(bad), message)
        assert there.read_text() == "what was there"
        assert {path.name for path in tmp_path.iterdir()} == {file_name, "there"}


def test_a_link_out_of_range(run_cli, tmp_path):
    links = tmp_path / "links"
    lines = Path("corpora/en-de.pharaoh").read_text().splitlines()
    links.write_text("\n".join([*lines[:4], "0-0 99-1", *lines[5:]]) + "\n")
    outcome = run_cli(
        *("project", "--source", "corpora/en.conllu", "--target", SAMPLE),
        *("--alignment", links, "-o", tmp_path / "m"),
    )
    assert_one_line(outcome, f"{links}:5: found a link of word 100")
    assert not (tmp_path / "m").exists()


def test_fewer_links_than_pairs(run_cli, tmp_path):
    links = tmp_path / "links"
    links.write_text("0-0\n")
    outcome = run_cli(
        *("project", "--source", "corpora/en.conllu", "--target", SAMPLE),
        *("--alignment", links, "-o", tmp_path / "m"),
    )
    assert_one_line(
        outcome, f"{links}:2: found the end of the file after 1 line, expected the links of 90 pairs"
    )


def test_more_links_than_pairs(run_cli, tmp_path):
    links = tmp_path / "links"
    links.write_text(Path(LINKS).read_text() + "0-0\n0-0\n")
    outcome = run_cli(
        *("project", "--source", "corpora/en.conllu", "--target", SAMPLE),
        *("--alignment", links, "-o", tmp_path / "m"),
    )
    line = Path(LINKS).read_text().count("\n") + 1
    assert_one_line(outcome, f"{links}:{line}: found the links of pair {line}, expected the links of")


def test_unequal_line_counts(run_cli, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("eins\n")
    assert_one_line(run_cli("align", tmp_path / "a.txt", tmp_path / "b.txt"), "a.txt", "b.txt")


def test_pairs_that_do_not_match(run_cli, tmp_path):
    other = tmp_path / "other.conllu"
    other.write_text(SAMPLE.read_text(encoding="utf-8").replace("sample/003", "sample/999"), encoding="utf-8")
    outcome = run_cli(
        *("project", "--source", "corpora/en.conllu", "--target", other),
        *("--alignment", "corpora/en-de.pharaoh", "-o", tmp_path / "m"),
    )
    assert_one_line(outcome, "sample/003")


@pytest.mark.parametrize(
    "command",
    [
        ("parse", SAMPLE, "-m"),
        ("suggest", SAMPLE, "-m"),
        ("convert", SAMPLE, "-m"),
        ("adapt", "--source", SAMPLE, "--target", SAMPLE, "--parser"),
        ("project", *PAIR, "--method", "soft", "--prior"),
    ],
)
def test_a_tagger_is_called_what_model_files_call_it(run_cli, tagger, tmp_path, command):
    outcome = run_cli(*command, tagger, "-o", tmp_path / "out")
    assert_one_line(outcome, f"{tagger}: found a model of kind tagger", "expected a")
    assert not (tmp_path / "out").exists()


def test_a_parser_is_no_tagger_and_no_prior(run_cli, model, tmp_path):
    outcome = run_cli("tag", "-m", model, SAMPLE)
    assert_one_line(outcome, f"{model}: found a model of kind arc-parser, expected a tagger")
    outcome = run_cli("project", *PAIR, "--method", "soft", "--prior", model, "-o", tmp_path / "out")
    assert_one_line(outcome, f"{model}: found a parser that reads morphology, which another language")


def test_a_sentence_of_2000_words_passes_as_it_is(run_cli, model, tmp_path):
    row = "{}\tx\t_\tNOUN\t_\t_\t{}\tdep\t_\t_\n"
    rows = "".join(row.format(word, word - 1) for word in range(1, 2001)) + "\n"
    long = conllu(tmp_path / "long", row.format(1, 0) + "\n" + rows)
    short = conllu(tmp_path / "short", GOOD)
    converter, dmv, out = tmp_path / "converter", tmp_path / "dmv", tmp_path / "out"
    links = conllu(tmp_path / "links", "0-0\n")
    run_cli("adapt", "--source", short, "--target", short, "--epochs", 1, "-o", converter)
    pair = ("--source", short, "--target", short, "--alignment", links)
    run_cli("project", *pair, "--method", "em", "-o", dmv)
    for command in (
        ("parse", "-m", model, long),
        ("parse", "-m", dmv, long),
        ("convert", "-m", converter, long),
    ):
        outcome = run_cli(*command, "-o", out)
        assert (outcome.code, "1 sentence of more than 1,000 words" in outcome.err) == (0, True)
        assert Path(out).read_text().endswith(rows)


@pytest.mark.parametrize(
    "command", [("train", "--joint-tags"), ("train-tagger",), ("train-tagger", SAMPLE, "--dev")]
)
def test_a_word_without_tag_is_named_by_file_and_line(run_cli, tmp_path, command):
    untagged = "# a comment\n1\ta\t_\tX\t_\t_\t0\t_\t_\t_\n2\tb\t_\t_\t_\t_\t1\t_\t_\t_\n\n"
    good, bad = conllu(tmp_path / "good", GOOD), conllu(tmp_path / "bad", "\n" + GOOD + untagged)
    files = (bad,) if command[-1] == "--dev" else (good, bad)
    outcome = run_cli(*command, *files, "-o", tmp_path / "m")
    line = 1 + GOOD.count("\n") + 3
    assert_one_line(outcome, f"{bad}:{line}: found word 2 ('b') without UPOS, expected one on every word")
    assert not (tmp_path / "m").exists()


def test_nothing_to_tag(run_cli, tagger, tmp_path):
    """As for the other commands."""
    for content in ("", "\n \n"):
        empty = conllu(tmp_path / "empty", content)
        outcome = run_cli("tag", "-m", tagger, empty, "-o", tmp_path / "out")
        assert_one_line(outcome, f"{empty}:1: found no sentence, expected CoNLL-U or plain text")
        assert not (tmp_path / "out").exists()


def test_features_of_tags_alone_need_tags(run_cli, tmp_path):
    rows = [line.split("\t") for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    text = "\n".join("\t".join([*row[:3], "_", *row[4:]] if len(row) == 10 else row) for row in rows)
    bare = conllu(tmp_path / "bare", text + "\n")
    outcome = run_cli("train", bare, "--features", "delexicalised", "-o", tmp_path / "m")
    assert_one_line(outcome, "no word of the training data has a UPOS tag", "qsproj tag")


@pytest.mark.parametrize("tag", ["_", "NN"])
def test_tags_that_are_not_universal_are_learned_and_parsed(run_cli, tmp_path, tag):
    rows = [line.split("\t") for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    other = [[*row[:3], tag, *row[4:]] if len(row) == 10 else row for row in rows]
    treebank = conllu(tmp_path / "other", "\n".join("\t".join(row) for row in other) + "\n")
    assert run_cli("train", treebank, "--epochs", 1, "-o", tmp_path / "m").code == 0
    assert run_cli("parse", "-m", tmp_path / "m", treebank, "-o", tmp_path / "out").code == 0


@pytest.mark.parametrize(
    ("kind", "message"),
    [("dmv", "found a damaged or foreign file"), ("magic", "unknown kind of model 'magic'")],
)
def test_a_model_whose_header_lies_is_refused(run_cli, model, tmp_path, kind, message):
    lying = tmp_path / "lying"
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(lying, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "header.json":
                content = json.dumps(json.loads(content) | {"kind": kind})
            new.writestr(name, content)
    assert_one_line(run_cli("parse", "-m", lying, SAMPLE), f"{lying}: {message}")


@pytest.mark.parametrize("command", [("parse",), ("tag",), ("parse", "--jobs", "2")])
def test_a_model_is_named_as_it_was_given(run_cli, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    Path("no.model").write_text("no model")
    outcome = run_cli(*command, "-m", "no.model", stdin="Ja\n")
    assert_one_line(outcome, f"qsproj {command[0]}: no.model: found a damaged or foreign file")


def test_reasons_are_listed_in_words(run_cli, tmp_path):
    """No pair whose target has at most 40 words."""
    word = "{0}\tHund\t_\tNOUN\t_\t_\t{1}\tdep\t_\t_\n"
    long = conllu(tmp_path / "long", "".join(word.format(i, i - 1) for i in range(1, 45)) + "\n")
    links = conllu(tmp_path / "links", " ".join(f"{i}-{i}" for i in range(44)) + "\n")
    outcome = run_cli(
        *("project", "--source", long, "--target", long, "--alignment", links),
        *("--method", "qg", "-o", tmp_path / "m"),
    )
    assert_one_line(outcome, "(left out: 1 for ")


def test_early_stopping_needs_trees(run_cli, tmp_path):
    bare = tmp_path / "bare.conllu"
    bare.write_text("1\tHund\tHund\tNOUN\t_\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    outcome = run_cli("train", SAMPLE, "--dev", bare, "-o", tmp_path / "m")
    assert_one_line(outcome, f"{bare}: found no word with a head, expected trees for early stopping")


def test_probabilities_of_other_heads_do_not_survive(run_cli, model, tmp_path):
    sure, again = tmp_path / "sure", tmp_path / "again"
    assert run_cli("parse", "-m", model, SAMPLE, "--confidence", "-o", sure).code == 0
    assert "ArcProb=" in sure.read_text(encoding="utf-8")
    assert run_cli("parse", "-m", model, sure, "-o", again).code == 0
    assert run_cli("parse", "-m", model, SAMPLE, "-o", sure).code == 0
    assert again.read_bytes() == sure.read_bytes()


def untagged(path, to):
    rows = [line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines()]
    text = "\n".join("\t".join([*row[:3], "_", *row[4:]]) if len(row) == 10 else row[0] for row in rows)
    to.write_text(text + "\n", encoding="utf-8")
    return to


def test_a_parser_that_finds_no_tags_refuses(run_cli, model, tmp_path):
    there = tmp_path / "there"
    there.write_text("what was there")
    outcome = run_cli("parse", "-m", model, untagged(SAMPLE, tmp_path / "x"), "-o", there)
    assert_one_line(
        outcome, "x: found no word with UPOS, expected the tags that the parser reads; tag it first"
    )
    assert there.read_text() == "what was there"
    assert run_cli("parse", "-m", model, SAMPLE, "-o", there).err == ""


@pytest.mark.parametrize("side", ["source", "target"])
def test_joint_training_needs_tags(run_cli, model, tmp_path, side):
    pair = list(PAIR)
    place = pair.index(f"--{side}") + 1
    pair[place] = untagged(pair[place], tmp_path / "x")
    outcome = run_cli("train-biparser", *pair, "--source-model", model, "-o", tmp_path / "m")
    assert_one_line(outcome, f"{pair[place]}: found no word with a UPOS tag")


@pytest.mark.parametrize("method", ["hard", "hard-em"])
def test_links_that_carry_nothing_are_told_and_no_trees_written(run_cli, tmp_path, method):
    links = conllu(tmp_path / "links", "\n" * 90)
    outcome = run_cli(
        *("project", "--source", "corpora/en.conllu", "--target", SAMPLE, "--alignment", links),
        *("--method", method, "-o", tmp_path / "m", "--trees", tmp_path / "trees"),
    )
    assert_one_line(
        outcome,
        f"{SAMPLE}, {links}: no projected tree has heads for 80% of its words; give more links",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["links"]


@pytest.mark.parametrize(
    ("column", "side", "message"),
    [
        (3, "--source", "no word of the source has a UPOS tag"),
        (3, "--target", "no target word has a UPOS tag"),
        (6, "--source", "no source sentence has a head; parse the source first"),
    ],
)
def test_the_grammar_says_which_side_lacks_something(run_cli, tmp_path, column, side, message):
    path = "corpora/en.conllu" if side == "--source" else SAMPLE
    rows = [line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines()]
    text = "\n".join("\t".join([*r[:column], "_", *r[column + 1 :]]) if len(r) == 10 else r[0] for r in rows)
    bare = conllu(tmp_path / "bare", text + "\n")
    pair = [bare if word == path else word for word in PAIR]
    outcome = run_cli("project", *pair, "--method", "qg", "-o", tmp_path / "m")
    assert_one_line(outcome, message)


def test_a_long_sentence_is_named_in_adaptation(run_cli, model, tmp_path):
    row = "{}\tx\t_\tNOUN\t_\t_\t{}\tdep\t_\t_\n"
    content = row.format(1, 0) + "\n" + "".join(row.format(word, word - 1) for word in range(1, 1002)) + "\n"
    long = conllu(tmp_path / "long", content + row.format(1, 0) + "\n")
    for options in (("--source", long), ("--parser", model), ("--source", long, "--parser", model)):
        outcome = run_cli("adapt", *options, "--target", long, "-o", tmp_path / "m")
        assert_one_line(outcome, f"{long}:3: found a sentence of 1,001 words")


@pytest.mark.parametrize(
    ("command", "of"),
    [
        (("project", *PAIR[:4], "--alignment", "{none}", "--method", "qg"), ("en.conllu", "none")),
        (("train", "{bare}", "--features", "delexicalised"), ("bare",)),
        (("project", "--target", "{bare}", "--method", "em"), ("bare",)),
    ],
)
def test_what_teaches_nothing_is_named(tmp_path, run_cli, command, of):
    rows = "".join(f"{i}\tw\t_\t_\t_\t_\t{i - 1}\tdep\t_\t_\n" for i in (1, 2, 3))
    files = {"none": tmp_path / "none", "bare": tmp_path / "bare"}
    files["none"].write_text("\n" * 90, encoding="utf-8")
    files["bare"].write_text(f"{rows}\n", encoding="utf-8")
    words = [str(word).format(**files) for word in command]
    assert_one_line(run_cli(*words, "-o", tmp_path / "model"), *of)


@pytest.mark.parametrize("options", [("--labels", "joint"), ("--joint-tags",)])
def test_training_that_learns_nothing_names_the_treebank(run_cli, tmp_path, options):
    treebank = conllu(tmp_path / "flat", "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n" * 9)
    outcome = run_cli("train", treebank, *options, "-o", tmp_path / "m")
    assert_one_line(outcome, f"{treebank}: ")


def test_annotated_sentences_without_heads_are_named(run_cli, tmp_path):
    text = SAMPLE.read_text(encoding="utf-8")
    headless = conllu(
        tmp_path / "headless", re.sub(r"\t\d+\t[a-z:]+\t(?=[^\t]*\t[^\t]*\n)", "\t_\t_\t", text)
    )
    outcome = run_cli("project", *PAIR, "--annotated", headless, "-o", tmp_path / "m")
    assert_one_line(outcome, f"{headless}: no annotated sentence has a head")
