"""Train and parse from the command line: results, options, bad input."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from qsproj import load_model, read_conllu
from qsproj.corpus.editing import misc_values
from qsproj.models.arc.training_options import OBJECTIVES, names_of
from qsproj.models.storage import VERSION

CORPORA = "corpora/en.conllu"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from qsproj.cli.main import main

    path = tmp_path_factory.mktemp("models") / "en.model"
    assert main(["train", CORPORA, "-o", str(path), "--epochs", "6"]) == 0
    return path


def long_sentence(words):
    row = "\t_\t_\tNOUN\t_\t_\t_\t_\t_\t_\n"
    return "".join(f"{i}{row.replace('_', 'x', 1)}" for i in range(1, words + 1)) + "\n"


def test_training_trees_are_learned(run_cli, model, tmp_path):
    assert run_cli("parse", "-m", model, CORPORA, "-o", tmp_path / "out.conllu").code == 0
    outcome = run_cli("eval", CORPORA, tmp_path / "out.conllu", "--json")
    scores = json.loads(outcome.out)
    assert scores["uas"] > 98
    assert scores["las"] > 97


@pytest.mark.parametrize("options", [(), ("--order", "2")])
def test_trees_without_relations(run_cli, tmp_path, options):
    trees, out = tmp_path / "heads.conllu", tmp_path / "out.conllu"
    rows = [line.split("\t") for line in Path(CORPORA).read_text(encoding="utf-8").splitlines()]
    trees.write_text(
        "\n".join("\t".join([*row[:7], *"_"[: len(row) // 10], *row[8:]]) for row in rows) + "\n"
    )
    trained = run_cli("train", trees, "-o", tmp_path / "m", "--epochs", "1", *options)
    assert trained.err.startswith("no word with a head has a relation, so none is learned")
    assert run_cli("parse", "-m", tmp_path / "m", trees, "-o", out).code == 0
    arcs = {
        (head == 0, relation)
        for one in read_conllu(out)
        for head, relation in zip(one.heads[1:], one.deprels)
    }
    assert arcs == {(True, "root"), (False, "dep")}


def test_everything_but_heads_and_relations_is_kept(run_cli, model, tmp_path):
    out = tmp_path / "out.conllu"
    run_cli("parse", "-m", model, "corpora/de.conllu", "-o", out)
    before = Path("corpora/de.conllu").read_text(encoding="utf-8").splitlines()
    after = out.read_text(encoding="utf-8").splitlines()
    assert len(before) == len(after)
    changed = 0
    for old, new in zip(before, after, strict=True):
        changed += old != new
        old_cells, new_cells = old.split("\t"), new.split("\t")
        assert old_cells[:6] == new_cells[:6]
        assert old_cells[8:] == new_cells[8:]
    assert changed > 100


def test_the_same_seed_gives_the_same_bytes(run_cli, tmp_path):
    def trained(name, seed):
        run_cli("train", CORPORA, "-o", tmp_path / name, "--epochs", "2", "--seed", seed)
        return (tmp_path / name).read_bytes()

    assert trained("a", 1) == trained("b", 1)
    assert trained("a", 1) != trained("c", 2)


def test_info_names_options_that_are_0(run_cli, tmp_path):
    run_cli("train", CORPORA, "-o", tmp_path / "m", "--epochs", 1, "--seed", 0, "--l2", 0)
    options = json.loads(run_cli("info", tmp_path / "m", "--json").out)["made"]["options"]
    assert (options["seed"], options["l2"]) == (0, 0)


@pytest.mark.parametrize("decode", ["map", "mbr"])
def test_confidence_is_the_probability_of_the_arc(run_cli, model, tmp_path, decode):
    out = tmp_path / "out.conllu"
    run_cli("parse", "-m", model, "corpora/de.conllu", "-o", out, "--confidence", "--decode", decode)
    parser = load_model(model)
    for sentence in read_conllu(out):
        marginals = parser.arc_probabilities(sentence)
        written = [float(value) for value in misc_values(sentence, "ArcProb")]
        words = np.arange(1, len(sentence) + 1)
        np.testing.assert_allclose(written, marginals[sentence.heads[1:], words], atol=6e-5)


def test_mbr_has_more_expected_heads_and_map_more_probability(model):
    parser = load_model(model)
    differ = 0
    for sentence in read_conllu("corpora/es.conllu"):
        scores = parser.scores(sentence)
        marginals = parser.arc_probabilities(sentence)
        words = np.arange(1, len(sentence) + 1)
        most_probable, most_right = parser.heads(scores, decode="map"), parser.heads(scores, decode="mbr")
        differ += not np.array_equal(most_probable, most_right)
        assert scores[most_probable[1:], words].sum() >= scores[most_right[1:], words].sum() - 1e-9
        assert marginals[most_right[1:], words].sum() >= marginals[most_probable[1:], words].sum() - 1e-9
    assert differ


def test_dev_set_stops_training(run_cli, tmp_path):
    outcome = run_cli(
        "train",
        CORPORA,
        "-o",
        tmp_path / "m",
        "--dev",
        "corpora/en.conllu",
        "--epochs",
        "40",
        "--features",
        "words",
    )
    assert outcome.code == 0
    assert "dev UAS" in outcome.err
    assert f"{CORPORA} is trained on; --dev needs other sentences" in outcome.err
    epochs = int(outcome.err.split(" epochs")[0].split()[-1])
    assert epochs < 40


def test_the_shape_of_trees_is_read_off_or_told(run_cli, tmp_path):
    told = run_cli("train", CORPORA, "-o", tmp_path / "m", "--projective", "--multi-root", "--epochs", "1")
    assert told.err.startswith("projective parser, any number of roots")
    read_off = run_cli("train", CORPORA, "-o", tmp_path / "m", "--epochs", "1")
    assert "one root" in read_off.err


def test_partial_trees_train(run_cli, tmp_path):
    partial = tmp_path / "partial.conllu"
    lines = Path(CORPORA).read_text(encoding="utf-8").splitlines(keepends=True)
    with partial.open("w", encoding="utf-8") as out:
        for number, line in enumerate(lines):
            cells = line.split("\t")
            if len(cells) == 10 and number % 3 == 0:
                cells[6] = cells[7] = "_"
            out.write("\t".join(cells))
    assert run_cli("train", partial, "-o", tmp_path / "m", "--epochs", "6").code == 0
    run_cli("parse", "-m", tmp_path / "m", CORPORA, "-o", tmp_path / "out.conllu")
    scores = json.loads(run_cli("eval", CORPORA, tmp_path / "out.conllu", "--json").out)
    assert scores["uas"] > 93


def test_risk_is_an_objective(run_cli, tmp_path):
    outcome = run_cli(
        "train", CORPORA, "-o", tmp_path / "m", "--objective", "risk", "--epochs", "4", "--projective"
    )
    assert outcome.code == 0
    run_cli("parse", "-m", tmp_path / "m", CORPORA, "-o", tmp_path / "out.conllu")
    assert json.loads(run_cli("eval", CORPORA, tmp_path / "out.conllu", "--json").out)["uas"] > 90


def test_options_of_one_objective_are_refused_by_others(run_cli, tmp_path):
    outcome = run_cli("train", CORPORA, "-o", tmp_path / "m", "--best", "3")
    assert outcome.code == 2
    assert outcome.err == "qsproj train: --best belongs to --objective mira-kbest; leave it out\n"
    options = ("--objective", "mira-kbest", "--best", "2", "--epochs", "2")
    assert run_cli("train", CORPORA, "-o", tmp_path / "m", *options).code == 0
    run_cli("parse", "-m", tmp_path / "m", CORPORA, "-o", tmp_path / "out.conllu")
    assert json.loads(run_cli("eval", CORPORA, tmp_path / "out.conllu", "--json").out)["uas"] > 90


def test_optimisers_look_at_all_sentences(run_cli, tmp_path):
    options = ("--objective", "likelihood", "--optimizer", "cg", "--epochs", "12", "--features", "words")
    assert run_cli("train", CORPORA, "-o", tmp_path / "m", *options).code == 0
    run_cli("parse", "-m", tmp_path / "m", CORPORA, "-o", tmp_path / "out.conllu")
    assert json.loads(run_cli("eval", CORPORA, tmp_path / "out.conllu", "--json").out)["uas"] > 90


def test_every_objective_is_explained_in_a_line(run_cli):
    lines = run_cli("train", "--help").out.partition("objectives:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == [objective.name for objective in OBJECTIVES]
    assert all(line.endswith(objective.purpose) for line, objective in zip(lines, OBJECTIVES, strict=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--objective", "luck"],
            f"unknown objective 'luck'; known: {', '.join(names_of())}",
        ),
        (["--features", "smell"], "unknown --features 'smell'; known: delexicalised, words, morphology"),
    ],
)
def test_unknown_names_list_the_known_ones(run_cli, tmp_path, arguments, message):
    outcome = run_cli("train", CORPORA, "-o", tmp_path / "m", *arguments)
    assert outcome.code == 2
    assert outcome.err == f"qsproj train: {message}\n"
    assert not (tmp_path / "m").exists()


def test_a_treebank_without_heads_is_refused(run_cli, tmp_path):
    bare = tmp_path / "bare.conllu"
    bare.write_text(long_sentence(3))
    outcome = run_cli("train", bare, "-o", tmp_path / "m")
    assert outcome.code == 2
    assert "is the HEAD column empty?" in outcome.err


def test_trees_that_the_parser_cannot_build_are_refused(run_cli, tmp_path):
    """Their heads are given: the message does not ask for them."""
    row = "{}\tw\t_\tX\t_\t_\t0\troot\t_\t_\n"
    (tmp_path / "roots").write_text((row.format(1) + row.format(2) + "\n") * 3, encoding="utf-8")
    outcome = run_cli("train", tmp_path / "roots", "--single-root", "-o", tmp_path / "m")
    assert outcome.code == 2
    assert "no tree in the training data that the parser can build; leave out single_root" in outcome.err


def test_a_model_of_another_version_is_refused(run_cli, model, tmp_path):
    newer = tmp_path / "newer.model"
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(newer, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.replace(b'"version": %d' % VERSION, b'"version": 99'))
    outcome = run_cli("parse", "-m", newer, CORPORA)
    assert outcome.code == 2
    assert f"{newer}: found model version 99, expected version {VERSION}" in outcome.err


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_a_file_that_is_no_model_is_refused(run_cli, tmp_path, content):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    outcome = run_cli("parse", "-m", path, CORPORA)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "expected a model written by qsproj" in outcome.err


def test_a_damaged_model_is_refused(run_cli, model, tmp_path):
    cut = tmp_path / "cut.model"
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 0xFF
    cut.write_bytes(content)
    outcome = run_cli("parse", "-m", cut, CORPORA)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full")
def test_a_full_disk_is_one_line(run_cli, model):
    outcome = run_cli("parse", "-m", model, CORPORA, "-o", "/dev/full")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "/dev/full" in outcome.err


def test_a_model_that_cannot_be_written_leaves_the_old_one(run_cli, tmp_path):
    outcome = run_cli("train", CORPORA, "-o", tmp_path / "no" / "such" / "model", "--epochs", "1")
    assert outcome.code == 2
    assert outcome.err.count("\n") >= 1
    assert "no/such" in outcome.err


def test_treebanks_are_weighed_by_their_likeness_to_tagged_text(run_cli, tmp_path):
    train = ("train", CORPORA, "corpora/es.conllu", "--features", "delexicalised", "--epochs", "1")
    like = run_cli(*train, "--like", "corpora/de.conllu", "-o", tmp_path / "like")
    assert like.code == 0
    lines = like.err.splitlines()
    assert [line.split(": ")[0] for line in lines[:2]] == [CORPORA, "corpora/es.conllu"]
    assert any(line.endswith("weight 1.00") for line in lines)
    run_cli(*train, "-o", tmp_path / "alike")
    assert (tmp_path / "like").read_bytes() != (tmp_path / "alike").read_bytes()


def test_likeness_is_asked_for_where_it_says_nothing(run_cli, tmp_path):
    words = run_cli("train", CORPORA, "--like", "corpora/de.conllu", "-o", tmp_path / "x")
    assert (words.code, words.err.count("\n")) == (2, 1)
    assert "--like belongs to --features delexicalised" in words.err
    bare = tmp_path / "bare.conllu"
    bare.write_text("1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    options = ("train", CORPORA, "--features", "delexicalised", "--like", bare, "-o", tmp_path / "x")
    refused = run_cli(*options)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert f"{bare}: found no sentence with UPOS on every word" in refused.err


def test_sentences_without_trees_are_learned_from_beside_others(run_cli, tmp_path):
    bare = tmp_path / "bare.conllu"
    bare.write_text(long_sentence(3))
    options = ("--unlabelled", bare, "--epochs", "2")
    assert run_cli("train", CORPORA, "-o", tmp_path / "m", *options).code == 0
    outcome = run_cli("train", CORPORA, "-o", tmp_path / "m", *options, "--objective", "perceptron")
    assert outcome.code == 2
    assert "belongs to --objective margin, likelihood, risk" in outcome.err


@pytest.mark.parametrize(
    ("untagged", "told"), [(("1", "2", "3"), "no word has UPOS; tag"), (("2",), "2 of 6 words have no UPOS")]
)
def test_words_without_upos_are_told(run_cli, tmp_path, untagged, told):
    row = "{0}\tx\t_\t{1}\t_\t_\t{2}\tdep\t_\t_\n"
    words = [row.format(i, "_" if i in untagged else "X", h) for i, h in (("1", 2), ("2", 0), ("3", 2))]
    (tmp_path / "train.conllu").write_text(("".join(words) + "\n") * 2, encoding="utf-8")
    outcome = run_cli("train", tmp_path / "train.conllu", "--epochs", "1", "-o", tmp_path / "model")
    assert outcome.code == 0
    assert told in outcome.err


def test_sentences_that_the_parser_does_not_build_are_named(tmp_path, run_cli):
    row = "{}\tw\t_\tX\t_\t_\t{}\tdep\t_\t_\n"
    plain, odd = tmp_path / "plain", tmp_path / "odd"
    plain.write_text((row.format(1, 2) + row.format(2, 0) + "\n") * 100)
    crossing = "".join(row.format(word, head) for word, head in enumerate((3, 0, 2, 2), start=1))
    odd.write_text(f"{row.format(1, 0)}\n{row.format(1, 0)}{row.format(2, 0)}\n{crossing}\n")
    outcome = run_cli("train", plain, odd, "-o", tmp_path / "m", "--epochs", "1")
    assert outcome.code == 0
    assert outcome.err.splitlines()[-2:] == [
        f"{odd}:3: several roots, as in 1 of 103 sentences: left out, as trees have one root (--multi-root)",
        f"{odd}:6: crossing arcs, as in 1 of 103 sentences: replaced by the nearest trees without crossings "
        "(--nonprojective)",
    ]
    assert "projective parser, one root" in outcome.err
    told = run_cli(
        "train", plain, odd, "-o", tmp_path / "m", "--epochs", "1", "--multi-root", "--nonprojective"
    )
    assert "as in 1 of" not in told.err
