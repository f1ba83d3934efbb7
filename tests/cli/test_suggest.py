"""Suggestions from the command line: order, limits, predicted trees, bad input."""

import json
from pathlib import Path

import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import comment_value, misc_values, with_columns

CORPORA = "corpora/en.conllu"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Train two parsers on different tenths of the sample."""
    from qsproj.cli.main import main

    folder = tmp_path_factory.mktemp("models")
    blocks = Path(CORPORA).read_text(encoding="utf-8").split("\n\n")
    for number in range(2):
        treebank = folder / f"{number}.conllu"
        treebank.write_text("\n\n".join(blocks[number:-1:10]) + "\n\n", encoding="utf-8")
        assert main(["train", str(treebank), "-o", str(folder / f"{number}.model"), "--epochs", "4"]) == 0
    return folder / "0.model", folder / "1.model"


def suggested(outcome, path):
    assert (outcome.code, outcome.out) == (0, "")
    return list(read_conllu(path))


def test_sentences_come_back_reordered_and_otherwise_as_they_were(run_cli, models, tmp_path):
    out = tmp_path / "next.conllu"
    found = suggested(run_cli("suggest", "-m", models[0], CORPORA, "-o", out), out)
    before = Path(CORPORA).read_text(encoding="utf-8")
    after = [line for line in out.read_text(encoding="utf-8").splitlines() if "# uncertainty" not in line]
    assert sorted(after) == sorted(before.splitlines())
    assert [sentence.sent_id for sentence in found] != [one.sent_id for one in read_conllu(CORPORA)]


def test_plain_order_falls_in_uncertainty_when_sentences_cost_nothing(run_cli, models, tmp_path):
    out = tmp_path / "next.conllu"
    outcome = run_cli("suggest", "-m", models[0], CORPORA, "-o", out, "--plain", "--sentence-cost", 0)
    values = [float(comment_value(sentence, "uncertainty")) for sentence in suggested(outcome, out)]
    assert values == sorted(values, reverse=True)
    assert 0.0 <= values[-1] < values[0] <= 1.0


def test_known_trees_are_less_uncertain(run_cli, models, tmp_path):
    out = tmp_path / "next.conllu"
    trained_on = {one.sent_id for one in read_conllu(models[0].with_suffix(".conllu"))}
    found = suggested(run_cli("suggest", "-m", models[0], CORPORA, "-o", out, "--count", 20), out)
    assert len(found) == 20
    assert len(trained_on & {sentence.sent_id for sentence in found}) < 2


@pytest.mark.parametrize(("tag", "code", "said"), [("_", 2, "found no word with UPOS"), ("x", 0, "knows 0%")])
def test_tags_that_the_parser_does_not_know(run_cli, models, tmp_path, tag, code, said):
    sentences = (with_columns(one, upos=[tag] * len(one)) for one in read_conllu(CORPORA))
    write_conllu(sentences, tmp_path / "other")
    outcome = run_cli("suggest", "-m", models[0], tmp_path / "other", "-o", tmp_path / "next.conllu")
    assert (outcome.code, outcome.err.count("\n")) == (code, 1)
    assert f"{said} of the tags" in outcome.err or f"other: {said}" in outcome.err


def test_a_budget_of_words(run_cli, models, tmp_path):
    out = tmp_path / "next.conllu"
    found = suggested(run_cli("suggest", "-m", models[0], CORPORA, "-o", out, "--words", 60), out)
    assert 50 <= sum(map(len, found)) <= 60


def test_what_is_annotated_changes_the_order(run_cli, models, tmp_path):
    out, other = tmp_path / "a.conllu", tmp_path / "b.conllu"
    twenty, rest = tmp_path / "twenty.conllu", tmp_path / "rest.conllu"
    every = list(read_conllu(CORPORA))
    write_conllu(every[:20], twenty)
    write_conllu(every[20:], rest)
    before = suggested(run_cli("suggest", "-m", models[0], rest, "-o", out), out)
    after = suggested(run_cli("suggest", "-m", models[0], rest, "-o", other, "--annotated", twenty), other)
    assert sorted(one.sent_id for one in before) == sorted(one.sent_id for one in after)
    assert [one.sent_id for one in before] != [one.sent_id for one in after]


@pytest.mark.parametrize("way", [(), ("--plain",)])
def test_what_is_annotated_is_not_suggested_again(run_cli, models, tmp_path, way):
    twenty, out = tmp_path / "twenty.conllu", tmp_path / "next.conllu"
    every = list(read_conllu(CORPORA))
    write_conllu(every[:20], twenty)
    outcome = run_cli("suggest", "-m", models[0], CORPORA, "-o", out, "--annotated", twenty, *way)
    found = suggested(outcome, out)
    assert sorted(one.sent_id for one in found) == sorted(one.sent_id for one in every[20:])
    assert ": left out 20 sentences that are annotated" in outcome.err


def test_predicted_trees_are_those_of_the_parser(run_cli, models, tmp_path):
    out, parsed = tmp_path / "next.conllu", tmp_path / "parsed.conllu"
    found = suggested(run_cli("suggest", "-m", models[0], CORPORA, "-o", out, "--predict", "--count", 9), out)
    run_cli("parse", "-m", models[0], CORPORA, "-o", parsed)
    trees = {sentence.sent_id: sentence for sentence in read_conllu(parsed)}
    for sentence in found:
        assert (sentence.heads == trees[sentence.sent_id].heads).all()
        assert sentence.deprels == trees[sentence.sent_id].deprels
        assert None not in misc_values(sentence, "ArcProb")


def test_the_same_input_gives_the_same_bytes(run_cli, models):
    first, second = (run_cli("suggest", "-m", models[0], CORPORA, "--count", 7) for _ in range(2))
    assert first.out == second.out != ""


@pytest.mark.parametrize("method", ["hard", "qg", "em"])
def test_parsers_of_every_method_of_projection_suggest(run_cli, tmp_path, method):
    """That through source trees, too, which parses without them."""
    pair = ("--source", CORPORA, "--target", CORPORA, "--alignment", tmp_path / "links")
    sizes = [len(sentence) for sentence in read_conllu(CORPORA)]
    links = (" ".join(f"{word}-{word}" for word in range(size)) for size in sizes)
    (tmp_path / "links").write_text("\n".join(links) + "\n", encoding="utf-8")
    assert run_cli("project", *pair, "--method", method, "-o", tmp_path / "m").code == 0
    outcome = run_cli("suggest", "-m", tmp_path / "m", CORPORA, "--count", 3)
    assert (outcome.code, outcome.out.count("# uncertainty")) == (0, 3)


def test_bad_requests_are_one_line_and_write_nothing(run_cli, models, tmp_path):
    out = tmp_path / "next.conllu"
    for arguments, message in (
        (
            ("--sentence-cost", -1),
            "argument --sentence-cost: found '-1', expected a number, 0 or more; see qsproj suggest --help",
        ),
        (("--annotated", "no-such-file"), "no-such-file: cannot be read: No such file or directory"),
    ):
        outcome = run_cli("suggest", "-m", models[0], CORPORA, "-o", out, *arguments)
        assert (outcome.code, outcome.err) == (2, f"qsproj suggest: {message}\n")
    assert not out.exists()


def test_a_sentence_of_2000_words_is_named(run_cli, models, tmp_path):
    row = "{}\tx\t_\tNOUN\t_\t_\t_\t_\t_\t_\n"
    long = tmp_path / "long.conllu"
    long.write_text(row.format(1) + "\n" + "".join(row.format(i) for i in range(1, 2001)) + "\n")
    outcome = run_cli("suggest", "-m", models[0], long)
    expected = "found a sentence of 2,000 words, expected 1 to 1,000; split it, or leave it out"
    assert (outcome.code, outcome.err) == (2, f"qsproj suggest: {long}:3: {expected}\n")


@pytest.fixture(scope="module")
def converter(tmp_path_factory):
    """Learn from ten trees of the sample what heads coordinations and prepositions in another style."""
    from qsproj.cli.main import main

    folder = tmp_path_factory.mktemp("converter")
    blocks = Path(CORPORA).read_text(encoding="utf-8").split("\n\n")
    source, target, model = folder / "ud.conllu", folder / "other.conllu", folder / "other.converter"
    source.write_text("\n\n".join(blocks[:10]) + "\n\n", encoding="utf-8")
    style = "prague,prepositions=head"
    assert main(["convert", "--to", style, str(source), "-o", str(target)]) == 0
    assert main(["adapt", "--source", str(source), "--target", str(target), "-o", str(model)]) == 0
    return model


def test_a_converter_suggests_what_it_cannot_convert_yet(run_cli, converter, tmp_path):
    out = tmp_path / "next.conllu"
    outcome = run_cli("suggest", "-m", converter, CORPORA, "-o", out, "--predict", "--count", 30)
    found = suggested(outcome, out)
    relations = {
        relation for sentence in read_conllu(converter.parent / "ud.conllu") for relation in sentence.deprels
    }
    trees = {sentence.sent_id: sentence for sentence in read_conllu(CORPORA)}
    new = [not set(trees[sentence.sent_id].deprels) <= relations for sentence in found]
    everywhere = [not set(tree.deprels) <= relations for tree in trees.values()]
    assert sum(new) / len(new) > sum(everywhere) / len(everywhere)
    assert any((sentence.heads != trees[sentence.sent_id].heads).any() for sentence in found)


def test_a_converter_without_a_tree_to_convert_is_one_line(run_cli, converter, tmp_path):
    bare = tmp_path / "bare.conllu"
    bare.write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n1\tb\t_\tX\t_\t_\t_\t_\t_\t_\n\n")
    outcome = run_cli("suggest", "-m", converter, bare)
    expected = "a whole tree in the old style, which a converter reads; parse it first (qsproj parse)"
    assert outcome.code == 2
    assert outcome.err == f"qsproj suggest: {bare}:3: found 1 word without a head, expected {expected}\n"


def test_suggestions_can_be_evaluated_against_gold(run_cli, models, tmp_path):
    """The chance of a wrong head and the share of wrong heads go together, sentence by sentence."""
    out, gold = tmp_path / "next.conllu", tmp_path / "gold.conllu"
    arguments = ("suggest", "-m", models[0], CORPORA, "--plain", "--sentence-cost", 0)
    run_cli(*arguments, "--predict", "-o", out)
    run_cli(*arguments, "-o", gold)

    def part(path, sentences):
        blocks = path.read_text(encoding="utf-8").split("\n\n")[sentences]
        result = tmp_path / f"{path.stem}-part.conllu"
        result.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
        return result

    def score(sentences):
        outcome = run_cli("eval", part(gold, sentences), part(out, sentences), "--json")
        return json.loads(outcome.out)["uas"]

    assert score(slice(0, 30)) < score(slice(60, 90)) - 5


def test_a_file_that_is_annotated_is_refused(run_cli, models, tmp_path):
    out = tmp_path / "next.conllu"
    out.write_text("before", encoding="utf-8")
    outcome = run_cli("suggest", "-m", models[0], CORPORA, "-o", out, "--annotated", CORPORA)
    assert outcome.code == 2
    assert (
        f"{CORPORA}: found no sentence that is not annotated, expected one or more to suggest" in outcome.err
    )
    assert out.read_text(encoding="utf-8") == "before"
