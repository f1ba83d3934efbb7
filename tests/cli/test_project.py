"""``qsproj project``: every method from the sample to a parser that parses, EM interrupted and shared out."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from qsproj.cli.main import build_parser
from qsproj.conventions import MAX_WORDS, NO_HEAD, ROOT
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns, with_heads
from qsproj.evaluation.attachment import attachment_scores
from qsproj.pipelines.projection.methods import METHODS

GERMAN = "corpora/de.conllu"
TAGGED = "1\tJa\t_\tINTJ\t_\t_\t_\t_\t_\t_\n\n"
SAMPLE = ("--source", "corpora/en.conllu", "--target", GERMAN, "--alignment", "corpora/en-de.pharaoh")


def uas(path):
    return attachment_scores(read_conllu(GERMAN), [read_conllu(path)])[0].uas


# The least UAS on the sample itself, of the parser and of the trees: a guard against nonsense, no more.
@pytest.mark.parametrize(
    ("method", "options", "of_parser", "of_trees"),
    [
        ("hard", ("--epochs", "2"), 80, None),
        ("hard-em", (), 80, 85),
        ("hard-em", ("--iterations", "0"), 75, 85),
        ("qg", (), 80, 85),
        ("em", ("--iterations", "10"), 35, 35),
    ],
)
def test_a_method_gives_a_parser_and_trees(run_cli, tmp_path, method, options, of_parser, of_trees):
    model, trees, parsed = tmp_path / "m", tmp_path / "trees", tmp_path / "parsed"
    outcome = run_cli("project", *SAMPLE, "--method", method, "-o", model, "--trees", trees, *options)
    assert outcome.code == 0
    assert outcome.err.count("\n") >= 1
    for decode in ("mbr", "map"):
        assert run_cli("parse", "-m", model, GERMAN, "-o", parsed, "--decode", decode).code == 0
        assert uas(parsed) > of_parser
    projected = list(read_conllu(trees))
    assert len(projected) == 90
    if of_trees is not None:
        assert all((tree.heads[1:] >= 0).all() for tree in projected)
        assert uas(trees) > of_trees


@pytest.mark.parametrize("method", ["hard", "hard-em"])
def test_sentences_with_few_projected_heads_are_counted(run_cli, tmp_path, method):
    """74 of the 90 have heads for 80% of their words."""
    outcome = run_cli("project", *SAMPLE, "--method", method, "-o", tmp_path / "model")
    of_hard = "trained on 74 of 90 sentences, with heads for 80% of their words or more"
    of_em = "left out: 16 for projected heads for less than 80% of their words"
    assert (of_hard if method == "hard" else of_em) in outcome.err
    assert "few sentences (74) to learn from" in outcome.err


def changed(path, sentences):
    """Write sentences to a file; return its name."""
    write_conllu(sentences, path)
    return str(path)


def with_two_roots(sentence):
    heads = sentence.heads.copy()
    heads[-1] = ROOT
    return with_heads(sentence, heads, sentence.deprels)


def test_source_trees_with_several_roots_are_counted(run_cli, tmp_path):
    """The prior builds trees with one root; without any such tree, there is none."""
    english = list(read_conllu("corpora/en.conllu"))
    some = changed(tmp_path / "some", [*map(with_two_roots, english[:30]), *english[30:]])
    outcome = run_cli("project", *SAMPLE, "--treebank", some, "--draws", "1", "-o", tmp_path / "m")
    assert "30 of 90 source trees have several roots: they are left out of the prior" in outcome.err
    none = changed(tmp_path / "none", map(with_two_roots, english))
    outcome = run_cli("project", *SAMPLE, "--treebank", none, "--draws", "1", "-o", tmp_path / "n")
    assert outcome.code == 2
    assert "90 of 90 source trees have several roots, expected trees with one" in outcome.err


def test_annotated_trees_are_counted_if_they_are_used(run_cli, tmp_path):
    german = list(read_conllu(GERMAN))
    bare = [with_heads(one, np.full_like(one.heads, NO_HEAD), ["_"] * len(one)) for one in german[6:10]]
    mixed = changed(tmp_path / "mixed", [*german[:6], *bare, *map(with_two_roots, german[10:12])])
    outcome = run_cli("project", *SAMPLE, "--draws", "1", "--annotated", mixed, "-o", tmp_path / "m")
    assert "fine-tuned on 6 annotated sentences" in outcome.err
    assert "annotated sentences left out: 4 for no head given; 2 for several roots " in outcome.err


@pytest.mark.parametrize("method", ["soft", "hard", "qg"])
def test_words_without_tags_are_counted(run_cli, tmp_path, method):
    german = list(read_conllu(GERMAN))
    untagged = with_columns(german[0], upos=["_"] * len(german[0]))
    mixed = changed(tmp_path / "mixed", [untagged, *german[1:]])
    source = ("--source", "corpora/en.conllu", "--alignment", "corpora/en-de.pharaoh")
    outcome = run_cli("project", *source, "--target", mixed, "--method", method, "-o", tmp_path / "m")
    assert f"the target: {len(untagged)} of {sum(map(len, german))} words have no UPOS" in outcome.err


def test_tags_alone_need_no_source(run_cli, tmp_path):
    model, trees = tmp_path / "m", tmp_path / "trees"
    options = ("--method", "em", "--iterations", "2", "-o", model, "--trees", trees)
    assert run_cli("project", "--target", GERMAN, *options).code == 0
    alone = [tree.heads.tolist() for tree in read_conllu(trees)]
    assert {relation for tree in read_conllu(trees) for relation in tree.deprels} == {"root", "dep"}
    # The source adds relations, and nothing to the heads.
    assert run_cli("project", *SAMPLE, *options).code == 0
    assert alone == [tree.heads.tolist() for tree in read_conllu(trees)]


@pytest.mark.parametrize("method", ["soft", "hard", "hard-em", "qg", "em"])
def test_a_sentence_that_is_too_long_gets_no_tree_and_stops_nothing(run_cli, tmp_path, method):
    rows = "".join(f"{i}\tx\t_\tNOUN\t_\t_\t{i - 1}\tdep\t_\t_\n" for i in range(1, MAX_WORDS + 2))
    one = "1\tx\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
    files = tmp_path / "source.conllu", tmp_path / "target.conllu", tmp_path / "links"
    for path, given, more in zip(files, (SAMPLE[1], GERMAN, SAMPLE[5]), (f"{one}\n", f"{rows}\n", "0-0\n")):
        path.write_text(Path(given).read_text(encoding="utf-8") + more, encoding="utf-8")
    pair = (word for both in zip(SAMPLE[::2], files, strict=True) for word in both)
    options = ("--method", method, *(() if method in ("soft", "hard") else ("--iterations", "1")))
    outputs = ("-o", tmp_path / "m", "--trees", tmp_path / "trees")
    outcome = run_cli("project", *pair, *options, "--pair", "order", *outputs)
    assert outcome.code == 0, outcome.err
    *_, before, last = read_conllu(tmp_path / "trees")
    assert before.root is not None
    # Methods with projected arcs write these.
    without = np.count_nonzero(last.heads[1:] == NO_HEAD)
    assert (len(last), without) == (MAX_WORDS + 1, MAX_WORDS + ("hard" not in method))


@pytest.mark.parametrize(
    ("given", "missing"), [((), "--source"), (SAMPLE[:2], "--alignment"), (SAMPLE[4:], "--source")]
)
def test_other_methods_ask_for_a_source_and_its_links(run_cli, tmp_path, given, missing):
    outcome = run_cli("project", "--target", GERMAN, *given, "-o", tmp_path / "m")
    assert outcome.code == 2
    assert f"found no {missing}, expected source trees" in outcome.err
    assert "--method em" in outcome.err


def test_other_treebanks_vote_beside_the_treebank_of_the_source(run_cli, tmp_path):
    outcome = run_cli("project", *SAMPLE, "--also", GERMAN, "-o", tmp_path / "m")
    assert outcome.code == 2
    assert "--also votes beside the treebanks of the sources" in outcome.err


def test_faults_of_annotated_trees_are_found_before_training(run_cli, tmp_path, monkeypatch):
    monkeypatch.setattr("qsproj.pipelines.projection.priors.train_on_draws", lambda *_, **__: 1 / 0)
    given = tmp_path / "given.conllu"
    for content, message in (
        ("x\ty\n", "given.conllu:1: found 2 columns"),
        (TAGGED, "given.conllu: no annotated sentence has a head"),
    ):
        given.write_text(content, encoding="utf-8")
        outcome = run_cli("project", *SAMPLE, "--annotated", given, "-o", tmp_path / "m")
        assert outcome.code == 2
        assert message in outcome.err


def test_sentences_in_the_place_of_links_are_told_with_their_format(run_cli, tmp_path):
    outcome = run_cli("project", *SAMPLE[:4], "--alignment", GERMAN, "--method", "hard", "-o", tmp_path / "m")
    assert outcome.code == 2
    assert "corpora/de.conllu:1: found '#', expected links" in outcome.err
    assert "--alignment-format misc" in outcome.err


def test_projected_arcs_stand_in_the_completed_trees(run_cli, tmp_path):
    run_cli("project", *SAMPLE, "-o", tmp_path / "m", "--trees", tmp_path / "arcs", "--method", "hard")
    run_cli("project", *SAMPLE, "-o", tmp_path / "m", "--trees", tmp_path / "whole", "--method", "hard-em")
    kept = missing = 0
    for arcs, whole in zip(read_conllu(tmp_path / "arcs"), read_conllu(tmp_path / "whole"), strict=True):
        word = [tag != "PUNCT" for tag in arcs.upos]
        known = (arcs.heads[1:] >= 0) & word
        kept += int((known & (arcs.heads == whole.heads)[1:]).sum())
        missing += int((known & (arcs.heads != whole.heads)[1:]).sum())
        same = known & (arcs.heads == whole.heads)[1:]
        pairs = zip(arcs.deprels, whole.deprels, same, strict=True)
        assert all(before == after for before, after, stands in pairs if stands)
    assert kept > 400
    assert missing < 0.02 * kept


@pytest.mark.parametrize("method", ["em", "hard-em", "qg"])
def test_em_goes_on_where_it_was(run_cli, tmp_path, method):
    command = ("project", *SAMPLE, "--method", method)
    run_cli(*command, "-o", tmp_path / "whole", "--iterations", "4")
    state = ("--checkpoint", tmp_path / "state", "--resume")
    run_cli(*command, "-o", tmp_path / "half", "--iterations", "1", *state)
    outcome = run_cli(*command, "-o", tmp_path / "resumed", "--iterations", "4", *state)
    assert re.search("after [34] iterations", outcome.err)
    assert f"{tmp_path / 'state' / 'em.checkpoint'}: continuing after 1 iteration\n" in outcome.err
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
    assert (tmp_path / "half").read_bytes() != (tmp_path / "whole").read_bytes()


def test_a_single_iteration_is_kept(run_cli, tmp_path):
    """That of ``qg`` is all that it does unless told otherwise."""
    state = ("--checkpoint", tmp_path / "state")
    assert run_cli("project", *SAMPLE, "--method", "qg", "-o", tmp_path / "m", *state).code == 0
    assert (tmp_path / "state" / "em.checkpoint").exists()


def test_no_iteration_cannot_be_kept(run_cli, tmp_path):
    state = ("--checkpoint", tmp_path / "state", "--iterations", "0")
    outcome = run_cli("project", *SAMPLE, "--method", "hard-em", "-o", tmp_path / "m", *state)
    assert outcome.code == 2
    assert outcome.err == (
        "qsproj project: --checkpoint keeps iterations of EM, found --iterations 0; leave one of them out\n"
    )


def test_checkpoints_of_other_data_are_refused(run_cli, tmp_path):
    state = (
        "--checkpoint",
        tmp_path,
        "--resume",
        "--iterations",
        "2",
        "--method",
        "qg",
        "-o",
        tmp_path / "m",
    )
    run_cli("project", *SAMPLE, *state)
    outcome = run_cli("project", *SAMPLE, *state, "--punctuation", "keep")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "em.checkpoint: found a checkpoint of other data or options" in outcome.err


@pytest.mark.parametrize("method", ["hard", "hard-em", "qg", "em", "soft"])
def test_a_target_without_tags_is_refused(run_cli, tmp_path, method):
    rows = [line.split("\t") for line in Path(GERMAN).read_text(encoding="utf-8").splitlines()]
    untagged = "\n".join("\t".join([*row[:3], "_", *row[4:]]) if len(row) == 10 else row[0] for row in rows)
    (tmp_path / "de").write_text(untagged + "\n", encoding="utf-8")
    files = ("--source", "corpora/en.conllu", "--target", tmp_path / "de", *SAMPLE[4:])
    outcome = run_cli("project", *files, "--method", method, "-o", tmp_path / "m")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "UPOS" in outcome.err
    assert "qsproj tag" in outcome.err


def test_every_option_is_read_by_some_method():
    """Those of all methods have no condition; what a condition names is a method that reads the option."""
    (commands,) = (one for one in build_parser("project")._actions if one.dest == "command")
    for action in commands.choices["project"]._actions:
        for text, _ in getattr(action, "conditions", ()):
            names = text.removeprefix("--method ").split(", ")
            assert names == [name for name, method in METHODS.items() if action.dest in method.reads] != []


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--method", "qg", "--resume"), "--resume needs the folder"),
        (("--method", "qg", "--backend", "dask"), "--backend dask and --scheduler ADDRESS go together"),
        (("--method", "qg", "--jobs", "0"), "the number of jobs is 0"),
        (("--method", "hard-em", "--completion", "x"), "unknown --completion 'x'; known: none, hwa"),
        (("--method", "em", "--punctuation", "x"), "known: keep, strip"),
        (("--method", "nothing"), "known: soft, hard, hard-em, qg, em"),
        (
            ("--method", "hard", "--sentences", "2"),
            "--sentences belongs to --method soft; leave it out",
        ),
        (
            ("--method", "qg", "--epochs", "2"),
            "--epochs belongs to --method hard; leave it out",
        ),
        (("--method", "soft", "--jobs", "2"), "--jobs belongs to --method hard-em, qg, em"),
        (
            ("--iterations", "9"),
            "--iterations belongs to --method hard-em, qg, em; leave it out",
        ),
        (("--method", "qg", "--start", "harmonic"), "unknown start 'harmonic'; known: trees, uniform"),
        (("--method", "em", "--start", "trees"), "choose --start harmonic or uniform"),
        (("--method", "em", "--prior", "x"), "--prior belongs to --method soft"),
        (("--source", GERMAN), "found 2 --source, 1 --alignment and 1 --target; give"),
        (("--target", GERMAN), "found 1 --source, 1 --alignment and 2 --target; give"),
        (
            ("--method", "soft", "--source", "-", "--alignment", "x"),
            "read everything several times; name files",
        ),
        (("--source", GERMAN, "--alignment", "x", "--method", "qg"), "--method qg reads one --source"),
    ],
)
def test_wrong_options_are_one_line(run_cli, tmp_path, options, text):
    outcome = run_cli("project", *SAMPLE, "-o", tmp_path / "m", *options)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert text in outcome.err
    assert not (tmp_path / "m").exists()


def test_help_names_the_methods_that_use_several_processes(run_cli):
    outcome = run_cli("project", "--help")
    assert "parallelism, --method em, hard-em, qg; does not change results" in outcome.out
    refused = run_cli("project", "--target", "corpora/de.conllu", "--jobs", "2", "-o", "x")
    assert refused.code == 2 and "--jobs belongs to --method hard-em, qg, em" in refused.err
