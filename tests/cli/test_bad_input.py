"""Bad input to the commands: one line that names file and line, exit code 2, nothing lost."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

SAMPLE = Path("corpora/de.conllu")
LINKS = "corpora/en-de.pharaoh"
PAIR = ("--source", "corpora/en.conllu", "--target", SAMPLE, "--alignment", LINKS)
GOOD = SAMPLE.read_text(encoding="utf-8").split("\n\n")[0] + "\n\n"
ROW = GOOD.splitlines()[3]


def conllu(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


BAD_FILES = {
    "a truncated gzip": ("x.conllu.gz", gzip.compress(SAMPLE.read_bytes())[:2000], "cut-off"),
    "a cycle": ("x.conllu", "1\ta\t_\tX\t_\t_\t2\t_\t_\t_\n2\tb\t_\tX\t_\t_\t1\t_\t_\t_\n\n", "cycle"),
    "a head out of range": ("x.conllu", "1\ta\t_\tX\t_\t_\t7\t_\t_\t_\n\n", "7"),
    "an empty file": ("x.conllu", "", "no sentence"),
    "Latin-1": ("x.conllu", "1\tschön\t_\tX\t_\t_\t0\t_\t_\t_\n\n".encode("latin-1"), "UTF-8"),
    "spaces for tabs": ("x.conllu", ROW.replace("\t", "    ") + "\n\n", "spaces"),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from qsproj.cli.main import main

    path = tmp_path_factory.mktemp("models") / "de.model"
    assert main(["train", str(SAMPLE), "-o", str(path), "--epochs", "1"]) == 0
    return path


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    from qsproj.cli.main import main

    path = tmp_path_factory.mktemp("models") / "de.tagger"
    assert main(["tag", "--train", str(SAMPLE), "--language", "de", "-o", str(path)]) == 0
    return path


def assert_one_line(outcome, *parts):
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1, outcome.err
    for part in parts:
        assert part in outcome.err


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_trees(run_cli, model, tmp_path, name):
    file_name, content, message = BAD_FILES[name]
    bad = conllu(tmp_path / file_name, content)
    there = tmp_path / "there"
    there.write_text("what was there")
    commands = [
        ("parse", "-m", model, bad, "-o", there),
        ("train", bad, "-o", there),
        ("tag", "--train", bad, "--language", "de", "-o", there),
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


def test_an_unknown_method_lists_the_known(run_cli, tmp_path):
    outcome = run_cli(
        *("project", "--source", "corpora/en.conllu", "--target", SAMPLE, "--method", "magic"),
        *("--alignment", "corpora/en-de.pharaoh", "-o", tmp_path / "m"),
    )
    assert_one_line(outcome, "unknown method 'magic'; known: hard")


@pytest.mark.parametrize(
    "command",
    [
        ("parse", SAMPLE, "-m"),
        ("suggest", SAMPLE, "-m"),
        ("adapt", "--source", SAMPLE, "-m"),
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


def test_a_sentence_of_2000_words_is_named(run_cli, model, tmp_path):
    row = "{}\tx\t_\tNOUN\t_\t_\t{}\tdep\t_\t_\n"
    long = conllu(
        tmp_path / "long",
        row.format(1, 0) + "\n" + "".join(row.format(word, word - 1) for word in range(1, 2001)) + "\n",
    )
    short = conllu(tmp_path / "short", GOOD)
    converter, dmv = tmp_path / "converter", tmp_path / "dmv"
    links = conllu(tmp_path / "links", "0-0\n")
    run_cli("adapt", "--source", short, "--target", short, "--epochs", 1, "-o", converter)
    pair = ("--source", short, "--target", short, "--alignment", links)
    run_cli("project", *pair, "--method", "em", "-o", dmv)
    for command in (
        ("parse", "-m", model, long),
        ("parse", "-m", dmv, long),
        ("adapt", "-m", converter, "--source", long),
    ):
        assert_one_line(
            run_cli(*command, "-o", tmp_path / "out"), f"{long}:3: found a sentence of 2,000 words"
        )
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "command", [("train", "--joint-tags"), ("tag", "--train"), ("tag", "--train", SAMPLE, "--dev")]
)
def test_a_word_without_tag_is_named_by_file_and_line(run_cli, tmp_path, command):
    untagged = "# a comment\n1\ta\t_\tX\t_\t_\t0\t_\t_\t_\n2\tb\t_\t_\t_\t_\t1\t_\t_\t_\n\n"
    good, bad = conllu(tmp_path / "good", GOOD), conllu(tmp_path / "bad", "\n" + GOOD + untagged)
    files = (bad,) if command[-1] == "--dev" else (good, bad)
    outcome = run_cli(*command, *files, "-o", tmp_path / "m")
    line = 1 + GOOD.count("\n") + 3
    assert_one_line(outcome, f"{bad}:{line}: found word 2 ('b') without UPOS, expected one on every word")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("task", [("--train", SAMPLE, "-o", "m"), ("-m", "m", SAMPLE)])
def test_a_language_that_is_no_code(run_cli, tmp_path, monkeypatch, task):
    """Whether or not any text is to be cut."""
    task = [Path.cwd() / word if word == SAMPLE else word for word in task]
    monkeypatch.chdir(tmp_path)
    assert_one_line(run_cli("tag", *task, "--language", "klingon"), "found language 'klingon'", ": as, bn, ")
    assert not list(tmp_path.iterdir())


def test_nothing_to_tag(run_cli, tagger, tmp_path):
    """As for the other commands; blank lines are text, and stay aligned with those of a translation."""
    empty = conllu(tmp_path / "empty", "")
    outcome = run_cli("tag", "-m", tagger, empty, "-o", tmp_path / "out")
    assert_one_line(outcome, f"{empty}:1: found no sentence, expected CoNLL-U or plain text")
    assert not (tmp_path / "out").exists()
    assert run_cli("tag", "-m", tagger, stdin="\n\n").out.count("# sent_id") == 2


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


def test_reasons_are_listed_in_words(run_cli, tmp_path):
    outcome = run_cli(
        *("project", "--source", "corpora/en.conllu", "--target", SAMPLE, "--alignment", LINKS),
        *("--method", "qg", "--longest", 1, "-o", tmp_path / "m"),
    )
    assert_one_line(outcome, "(left out: 90 for ")


BIPARSE = (
    *("biparse", "train", "--source", "corpora/en.conllu", "--target", SAMPLE, "--alignment", LINKS),
    *("--source-model", "no.model"),
)
PROJECT = ("project", *PAIR)


@pytest.mark.parametrize(
    ("command", "option", "value", "bounds"),
    [
        (("train", SAMPLE), "--epochs", "0", "a whole number, 1 or more"),
        (("train", SAMPLE), "--order", "x", "a whole number, 1 or more"),
        (("parse", SAMPLE, "-m", "m"), "--jobs", "x", "a whole number, -1 or more"),
        (("suggest", SAMPLE, "-m", "m"), "--count", "0", "a whole number, 1 or more"),
        (("train", SAMPLE), "--seed", "-1", "a whole number, 0 or more"),
        (BIPARSE, "--epochs", "0", "a whole number, 1 or more"),
        (("train", SAMPLE), "--l2", "nan", "a number, from 0 to 1e+06"),
        (("train", SAMPLE), "--l2", "1e300", "a number, from 0 to 1e+06"),
        (("suggest", SAMPLE, "-m", "m"), "--sentence-cost", "nan", "a number, 0 or more"),
        (PROJECT, "--rounds", "0", "a whole number, 1 or more"),
        (PROJECT, "--strength", "inf", "a number, 0 or more"),
        (PROJECT, "--iterations", "-1", "a whole number, 0 or more"),
        (PROJECT, "--min-linked", "2", "a number, from 0 to 1"),
    ],
)
def test_numbers_out_of_bounds(run_cli, tmp_path, command, option, value, bounds):
    outcome = run_cli(*command, "-o", tmp_path / "m", f"{option}={value}")
    assert_one_line(outcome, f"argument {option}: found '{value}', expected {bounds}")


def test_standard_input_is_read_once(run_cli, tmp_path):
    for command in (
        ("adapt", "--source", "-", "--target", "-", "-o", tmp_path / "m"),
        ("draw", "-", "--target", "-", "--alignment", LINKS),
        ("project", "--source", "-", "--target", "-", "--alignment", LINKS, "-o", tmp_path / "m"),
        ("biparse", "parse", "--source", "-", "--target", "-", "--alignment", LINKS, "-m", "no.model"),
    ):
        assert_one_line(run_cli(*command), "only one file can be - (standard input)")


def test_factors_belong_to_the_second_order(run_cli, tmp_path):
    outcome = run_cli("train", SAMPLE, "--factors", "grand", "-o", tmp_path / "m")
    assert_one_line(outcome, "--factors belongs to --order 2")


def test_early_stopping_needs_trees(run_cli, tmp_path):
    bare = tmp_path / "bare.conllu"
    bare.write_text("1\tHund\tHund\tNOUN\t_\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    outcome = run_cli("train", SAMPLE, "--dev", bare, "-o", tmp_path / "m")
    assert_one_line(outcome, f"{bare}: found no word with a head, expected trees to stop early by")


PAIR = ("--source", "corpora/en.conllu", "--target", SAMPLE, "--alignment", LINKS)


@pytest.mark.parametrize(
    "command",
    [
        ("project", *PAIR, "-o", "{there}", "--trees", "{there}"),
        ("biparse", "parse", "-m", "x", *PAIR, "-o", "{there}", "--source-output", "{there}"),
        ("biparse", "parse", "-m", "x", *PAIR, "-o", "-", "--alignment-output", "-"),
        ("adapt", "-m", "x", "--source", SAMPLE, "-o", "{there}", "--least-sure", "{there}"),
    ],
)
def test_two_outputs_of_one_name(run_cli, tmp_path, command):
    there = tmp_path / "there"
    there.write_text("what was there")
    arguments = [str(there) if part == "{there}" else part for part in command]
    assert_one_line(run_cli(*arguments), "for two outputs, expected a name of its own for each")
    assert there.read_text() == "what was there"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("train", SAMPLE, "--iterations", "3"), "--iterations belongs to --order 2 and --joint-tags"),
        (
            ("train", SAMPLE, "--order", "2", "--cutoff", "2"),
            "--cutoff makes small models of first order only",
        ),
        (("train", "-", "--dev", "-"), "only one file can be -"),
        (("tag", "--train", SAMPLE, "--backend", "dask"), "--backend is for tagging, not for --train"),
        (
            ("biparse", "train", *PAIR, "--source-model", "x", "--factors", "synch", "--epochs", "3"),
            "--epochs",
        ),
        (("draw", SAMPLE), "found no format in the name"),
    ],
)
def test_options_that_would_not_be_read(run_cli, tmp_path, command, message):
    assert_one_line(run_cli(*command, "-o", tmp_path / "x.png"), message)
    assert not (tmp_path / "x.png").exists()


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


def test_a_parser_that_finds_no_tags_says_so(run_cli, model, tmp_path):
    outcome = run_cli("parse", "-m", model, untagged(SAMPLE, tmp_path / "x"), "-o", tmp_path / "y")
    assert outcome.code == 0
    assert "x: no word has a UPOS tag" in outcome.err
    assert "UPOS" not in run_cli("parse", "-m", model, SAMPLE, "-o", tmp_path / "y").err


@pytest.mark.parametrize("side", ["source", "target"])
def test_joint_training_needs_tags(run_cli, model, tmp_path, side):
    pair = list(PAIR)
    place = pair.index(f"--{side}") + 1
    pair[place] = untagged(pair[place], tmp_path / "x")
    outcome = run_cli("biparse", "train", *pair, "--source-model", model, "-o", tmp_path / "m")
    assert_one_line(outcome, f"no {side} word has a UPOS tag")


TRAININGS = [
    ("train", SAMPLE),
    ("tag", "--train", SAMPLE),
    ("adapt", "--source", SAMPLE, "--target", SAMPLE),
    PROJECT,
]


@pytest.mark.parametrize("command", TRAININGS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("none/model", "none/model: cannot be written: No such file or directory"),
        (".", ".: found a directory, expected a file to write"),
        ("-", "a model is not written to standard output; give -o MODEL"),
        (SAMPLE, f"found {SAMPLE} as a file to read and as the model to write"),
    ],
)
def test_where_a_model_goes_is_checked_before_it_is_trained(run_cli, monkeypatch, command, output, message):
    """Nothing is read by then."""
    monkeypatch.setattr("qsproj.corpus.conllu.open_text", None)
    assert_one_line(run_cli(*command, "-o", output), message)


def test_trees_that_cannot_be_written_are_told_at_once(run_cli, monkeypatch, tmp_path):
    monkeypatch.setattr("qsproj.corpus.conllu.open_text", None)
    outcome = run_cli(*PROJECT, "-o", tmp_path / "m", "--trees", tmp_path / "none" / "trees")
    assert_one_line(outcome, "none/trees: cannot be written: No such file or directory")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["hard", "hard-em"])
def test_links_that_carry_nothing_are_told_and_no_trees_written(run_cli, tmp_path, method):
    links = conllu(tmp_path / "links", "\n" * 90)
    outcome = run_cli(
        *("project", "--source", "corpora/en.conllu", "--target", SAMPLE, "--alignment", links),
        *("--method", method, "-o", tmp_path / "m", "--trees", tmp_path / "trees"),
    )
    assert_one_line(outcome, "no projected tree has heads for 80% of its words; lower --min-attached")
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
