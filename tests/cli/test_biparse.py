"""``qsproj biparse``: from files to files, and what bad input says."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.formats import read_alignments
from qsproj.evaluation.alignment import alignment_scores
from qsproj.features.joint_templates import FAMILIES
from qsproj.models.joint.joint_options import (
    LINK_THRESHOLD,
    MIN_PROBABILITY,
    SYNCH,
    JointTrainingOptions,
    Propagation,
)
from qsproj.models.storage import load_model
from qsproj.pipelines.bilingual.cotrain import NoisyChannelOptions

PAIRS = ("--source", "corpora/en.conllu", "--target", "corpora/de.conllu")
LINKS = ("--alignment", "corpora/en-de.pharaoh")


# Half of the sample shows all there is to see here.
SIZE = 45


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder in which the first half of the sample is called as the sample is."""
    folder = tmp_path_factory.mktemp("half")
    (folder / "corpora").mkdir()
    for path in (PAIRS[1], PAIRS[3]):
        write_conllu(islice(read_conllu(path), SIZE), folder / path)
    links = Path(LINKS[1]).read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / LINKS[1]).write_text("".join(links[:SIZE]), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.fixture(scope="module")
def models(folder):
    from qsproj.cli.main import main

    source, joint = str(folder / "en.model"), str(folder / "en-de.model")
    train = ["train-biparser", *PAIRS, *LINKS, "--source-model", source, "-o", joint]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["train", PAIRS[1], "-o", source, "--epochs", "2"]) == 0
        assert main([*train, "--factors", "mono", "--epochs", "1", "--source-tree", "best"]) == 0
    return source, joint


def test_both_sides_and_the_links_are_written(run_cli, models, tmp_path):
    outputs = tmp_path / "de.conllu", tmp_path / "en.conllu", tmp_path / "links"
    outcome = run_cli(
        *("biparse", "-m", models[1], *PAIRS, *LINKS, "--source-tree", "joint", "-o", outputs[0]),
        *("--source-output", outputs[1], "--alignment-output", outputs[2]),
    )
    assert outcome.code == 0
    assert f"{SIZE} pairs" in outcome.err
    assert "belief propagation converged in" in outcome.err
    for output, gold in zip(outputs, ("corpora/de.conllu", "corpora/en.conllu")):
        parsed, original = list(read_conllu(output)), list(read_conllu(gold))
        assert [sentence.forms for sentence in parsed] == [sentence.forms for sentence in original]
        assert all((sentence.heads[1:] >= 0).all() for sentence in parsed)
        assert "ArcProb=" in output.read_text(encoding="utf-8")
    links = list(read_alignments(outputs[2]))
    assert len(links) == SIZE
    assert all(link.weights is not None for link in links if len(link.links))


def test_links_below_the_threshold_are_not_written(run_cli, models, tmp_path):
    """Candidates are the links by hand, and that of the first word with the last, hardly ever right."""
    candidates = tmp_path / "candidates"
    sizes = [(len(one), len(other)) for one, other in zip(read_conllu(PAIRS[1]), read_conllu(PAIRS[3]))]
    by_hand = Path(LINKS[1]).read_text(encoding="utf-8").splitlines()
    lines = (f"{line} 0-{n - 1}:0.1\n" for line, (_, n) in zip(by_hand, sizes, strict=True))
    candidates.write_text("".join(lines), encoding="utf-8")

    def links(threshold):
        files = (*PAIRS, "--alignment", candidates, "-o", tmp_path / "de.conllu")
        more = () if threshold is None else ("--link-threshold", threshold)
        outputs = ("--alignment-output", tmp_path / "links")
        assert run_cli("biparse", "-m", models[1], *files, *outputs, *more).code == 0
        return [link for links in read_alignments(tmp_path / "links") for link in links.weights]

    few, usual, many = links("0.9"), links(None), links("0")
    assert min(few) >= 0.9 > min(usual) >= 0.5 > min(many)
    assert len(usual) == sum(chance >= 0.5 for chance in many)


def test_two_processes_give_the_bytes_of_one(run_cli, models, tmp_path):
    said = []
    for jobs in ("1", "2"):
        outputs = [tmp_path / f"{name}{jobs}" for name in ("de", "en", "links")]
        outcome = run_cli(
            *("biparse", "-m", models[1], *PAIRS, *LINKS, "--jobs", jobs, "-o", outputs[0]),
            *("--source-output", outputs[1], "--alignment-output", outputs[2]),
        )
        assert outcome.code == 0
        said.append((outcome.err, *(output.read_bytes() for output in outputs)))
    assert said[0] == said[1]
    assert f"{SIZE} pairs" in said[0][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "families", "as_trees_teach"),
    [
        (("--factors", "synch"), (SYNCH,), True),
        (("--labels", "after", "--tags", "joint", "--epochs", "1"), FAMILIES, False),
    ],
)
def test_other_ways_to_train_give_models_that_parse(
    run_cli, models, tmp_path, option, families, as_trees_teach
):
    model, output = tmp_path / "model", tmp_path / "de.conllu"
    train = ("train-biparser", *PAIRS, *LINKS, "--source-model", models[0], "-o", model)
    assert run_cli(*train, *option).code == 0
    trained, usual = load_model(model), load_model(models[1])
    assert (trained.options.families, trained.options.source_tree) == (families, "joint")
    assert (usual.options.families, usual.options.source_tree) == (("MONO",), "best")
    assert usual.labeller is not None
    assert (trained.tagger is not None) == (trained.options.tag_threshold is not None) == ("--tags" in option)
    assert trained.labeller is None
    same = np.array_equal(trained.target.scorer.weights, usual.target.scorer.weights)
    assert same == as_trees_teach
    outcome = run_cli("biparse", "-m", model, *PAIRS, *LINKS, "-o", output)
    assert outcome.code == 0
    assert all((sentence.heads[1:] >= 0).all() for sentence in read_conllu(output))
    others = ("--source-model", models[0], "--target-model", models[0])
    joined = run_cli("join-biparser", "-m", model, *others, "-o", tmp_path / "joined")
    assert joined.code == 0
    assert ("it does not tag words" in joined.err) == ("--tags" in option)
    if "--tags" in option:
        assert_it_reads_words_without_tags(run_cli, model, tmp_path)
        bare = ("--target", tmp_path / "bare.conllu", *PAIRS[:2], *LINKS, "-o", tmp_path / "out")
        refused = run_cli("biparse", "-m", tmp_path / "joined", *bare)
        assert_one_line(refused, f"{tmp_path / 'bare.conllu'}: found no word with a UPOS tag")


def assert_it_reads_words_without_tags(run_cli, model, tmp_path):
    """A model that tags its target learns and parses in all commands what has no tags."""
    bare, output = tmp_path / "bare.conllu", tmp_path / "out"
    bare.write_text(without_tags(PAIRS[3]), encoding="utf-8")
    files = (*PAIRS[:2], "--target", bare, *LINKS)
    for command in (
        ("biparse", *files),
        ("parse", bare),
        ("cotrain", *files, "--trees", bare),
        ("cotrain", *files, "--trees", bare, "--method", "noisy-channel"),
    ):
        assert run_cli(*command, "-m", model, "-o", output).code == 0, command
        if "cotrain" not in command:
            assert all("_" not in sentence.upos for sentence in read_conllu(output))


def test_hand_alignments_of_the_first_pairs_teach_links(run_cli, models, tmp_path):
    """Candidates of even probability, of which those by hand are true: links are then told from the rest."""
    candidates, hand = tmp_path / "candidates", tmp_path / "hand"
    right = list(read_alignments(LINKS[1]))
    sizes = [(len(one), len(other)) for one, other in zip(read_conllu(PAIRS[1]), read_conllu(PAIRS[3]))]
    near = [[(i, j) for i in range(m) for j in range(n) if abs(i - j) < 3] for m, n in sizes]
    lines = (" ".join(f"{i}-{j}:0.5" for i, j in links) + "\n" for links in near)
    candidates.write_text("".join(lines), encoding="utf-8")
    write_alignments(right[:30], hand)
    pairs = (*PAIRS, "--alignment", candidates)
    train = ("train-biparser", *pairs, "--source-model", models[0])
    options = ("--factors", "mono", "--epochs", "2", "--source-tree", "best")
    taught = ("--hand-alignment", hand, "--alignment-factors", "target-hmm")
    errors = []
    for name, more in (("alone", ()), ("taught", taught)):
        model, links = tmp_path / name, tmp_path / f"{name}.links"
        outcome = run_cli(*train, *options, *more, "-o", model)
        assert outcome.code == 0
        assert ("hand alignments of 30 pairs" in outcome.err) == bool(more)
        parse = ("biparse", "-m", model, *pairs, "-o", tmp_path / "out")
        assert run_cli(*parse, "--alignment-output", links).code == 0
        errors.append(alignment_scores(right[30:], list(read_alignments(links))[30:]).error_rate)
    assert errors[1] < 0.7 * errors[0]
    trained = load_model(tmp_path / "taught")
    assert trained.options.families == ("MONO", "TARGETHMM")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("0-0\n0-99\n", (), "hand:2: found a link of word 1 with word 100"),
        ("0-0\n0,9\n", (), "hand:2: found '0,9', expected links like 0-2"),
        ("", (), "hand:1: found no alignment"),
        ("\n" * 40, (), "hand: found no link in 40 alignments, expected links by hand"),
        ("0-0\n" * (SIZE + 1), (), f"hand:{SIZE + 1}: found the links of pair {SIZE + 1}"),
        (
            "0-0\n",
            ("--factors", "synch"),
            "--hand-alignment belongs to --factors all, mono; leave it out",
        ),
        ("0-0\n", ("--alignment-factors", "x"), "known: fertility, target-hmm, source-hmm"),
    ],
)
def test_bad_hand_alignments_are_one_line(run_cli, models, tmp_path, text, options, message):
    hand = tmp_path / "hand"
    hand.write_text(text, encoding="utf-8")
    train = ("train-biparser", *PAIRS, *LINKS, "--source-model", models[0], "-o", tmp_path / "out")
    assert_one_line(run_cli(*train, "--hand-alignment", hand, *options), message)
    assert not (tmp_path / "out").exists()


def assert_one_line(outcome, *parts):
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1, outcome.err
    for part in parts:
        assert part in outcome.err


def test_features_are_those_that_are_asked_for(run_cli, models, tmp_path):
    model = tmp_path / "model"
    train = (
        "train-biparser",
        *PAIRS,
        *LINKS,
        "--source-model",
        models[0],
        "-o",
        model,
        "--factors",
        "synch",
    )
    assert run_cli(*train, "--features", "words").code == 0
    assert load_model(model).target.scorer.template_set == "words"
    assert load_model(models[1]).target.scorer.template_set == "morphology"
    assert_one_line(run_cli(*train, "--features", "x"), "unknown --features 'x'; known: delexicalised, words")


def without_tags(path):
    rows = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    cells = (row.split("\t") for row in rows)
    bare = ("\t".join([*row[:3], "_", *row[4:]]) if len(row) == 10 else "".join(row) for row in cells)
    return "".join(bare)


@pytest.mark.parametrize("source_tree", ["joint", "best", "observed"])
def test_nothing_is_learned_from_a_side_without_tags(run_cli, models, tmp_path, source_tree):
    bare = tmp_path / "bare.conllu"
    bare.write_text(without_tags(PAIRS[1]), encoding="utf-8")
    files = ("--source", bare, *PAIRS[2:], *LINKS, "--source-tree", source_tree, "-o", tmp_path / "out")
    told = f"{bare}: found no word with a UPOS tag, expected the tags that parsers read; tag it first"
    assert_one_line(run_cli("train-biparser", *files, "--source-model", models[0]), told)
    assert_one_line(run_cli("cotrain", *files, "-m", models[1], "--annotated", PAIRS[3]), told)


@pytest.mark.parametrize("tags", ["links", "joint"])
def test_a_model_that_tags_targets_learns_from_tagged_ones(run_cli, models, tmp_path, tags):
    bare = tmp_path / "bare.conllu"
    bare.write_text(without_tags(PAIRS[3]), encoding="utf-8")
    files = (*PAIRS[:2], "--target", bare, *LINKS, "--source-model", models[0], "-o", tmp_path / "out")
    outcome = run_cli("train-biparser", *files, "--target-tags", tags)
    told = "qsproj tag; the model learns from tagged targets, only biparse takes untagged ones"
    assert_one_line(outcome, f"expected the tags that parsers read; tag it first: {told}")


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_side_without_tags_is_not_parsed(run_cli, models, tmp_path, side):
    files = {"source": PAIRS[1], "target": PAIRS[3]} | {side: tmp_path / "bare.conllu"}
    files[side].write_text(without_tags(PAIRS[1 if side == "source" else 3]), encoding="utf-8")
    pairs = (*(word for name, path in files.items() for word in (f"--{name}", path)), *LINKS)
    outcome = run_cli("biparse", "-m", models[1], *pairs, "-o", tmp_path / "out")
    told = f"{files[side]}: found no word with a UPOS tag, expected the tags that parsers read; tag it first"
    assert_one_line(outcome, told)
    assert not (tmp_path / "out").exists()


def test_bad_input_is_one_line(run_cli, models, tmp_path):
    source, joint = models
    output = tmp_path / "out"
    other = tmp_path / "other.conllu"
    text = Path("corpora/de.conllu").read_text(encoding="utf-8")
    other.write_text(text.replace("sample/003", "sample/999"), encoding="utf-8")
    train = ("train-biparser", *PAIRS, "--source-model", source, "-o", output)
    assert_one_line(run_cli(*train, *LINKS, "--factors", "some"), "unknown --factors", "all, mono")
    assert_one_line(run_cli(*train, *LINKS, "--source-tree", "gold"), "unknown --source-tree", "joint, best")
    assert_one_line(run_cli(*train, "--alignment", tmp_path / "none"), "none")
    unmatched = ("--source", "corpora/en.conllu", "--target", other)
    parse = ("biparse", "-m", joint, *LINKS, "-o", output)
    assert_one_line(run_cli(*parse, *unmatched), "sample/003")
    assert_one_line(run_cli(*parse, *PAIRS, "--source-tree", "gold"), "unknown --source-tree", "joint, best")
    wrong_kind = run_cli("biparse", "-m", source, *PAIRS, *LINKS, "-o", output)
    assert_one_line(wrong_kind, "kind arc-parser", "expected a joint parser")
    swapped = ("train-biparser", *PAIRS, *LINKS, "--source-model", joint, "-o", output)
    assert_one_line(run_cli(*swapped), "kind joint-parser", "expected a parser of order 1 or 2")
    assert not output.exists()


def test_cotraining_gives_a_parser_of_the_target_alone(run_cli, models, tmp_path):
    parser, parsed = tmp_path / "de.model", tmp_path / "de.conllu"
    cotrain = ("cotrain", *PAIRS, *LINKS, "--annotated", "corpora/de.conllu", "-o", parser)
    outcome = run_cli(*cotrain, "-m", models[1])
    assert outcome.code == 0
    assert f"{SIZE} trees and {SIZE} pairs" in outcome.err
    assert run_cli("parse", "-m", parser, "corpora/de.conllu", "-o", parsed).code == 0
    assert all((sentence.heads[1:] >= 0).all() for sentence in read_conllu(parsed))
    before = parser.read_bytes()
    assert run_cli(*cotrain, "-m", models[1], "--method", "co-training", "--rounds", "1").code == 0
    assert parser.read_bytes() == before
    assert '"annotated": "de.conllu"' in run_cli("info", parser, "--json").out
    assert_one_line(run_cli(*cotrain, "-m", models[0]), "kind arc-parser", "expected a joint parser")
    assert_one_line(run_cli(*cotrain, "-m", models[1], "--rounds", "0"), "expected a whole number, 1 or more")
    assert_one_line(run_cli(*cotrain, "-m", models[1], "--method", "x"), "known: co-training, noisy-channel")
    rounds = ("--method", "noisy-channel", "--rounds", "2")
    assert_one_line(run_cli(*cotrain, "-m", models[1], *rounds), "--rounds belongs to --method co-training")
    assert parser.read_bytes() == before


@pytest.mark.slow
def test_two_processes_teach_what_one_teaches(run_cli, models, tmp_path):
    cotrain = ("cotrain", *PAIRS, *LINKS, "-m", models[1], "--annotated", PAIRS[3])
    said = []
    for jobs in ("1", "2"):
        outcome = run_cli(*cotrain, "--jobs", jobs, "-o", tmp_path / jobs)
        assert outcome.code == 0
        said.append((outcome.err, (tmp_path / jobs).read_bytes()))
    assert said[0] == said[1]


def test_info_tells_all_that_is_stored(run_cli, models):
    told = json.loads(run_cli("info", models[1], "--json").out)
    assert told["factors"] == ["ALIGN", "SOURCEFERT", "TARGETFERT", "MONO"]
    assert told["source_tree"] == "best"
    assert (told["labels"], told["tags"]) == ("joint", "given")
    assert told["propagation"] == asdict(Propagation())
    assert told["training"] == asdict(JointTrainingOptions(epochs=1))
    assert told["least_probability_of_a_link"] == LINK_THRESHOLD
    assert told["least_probability_of_an_arc"] == MIN_PROBABILITY
    assert 0.0 < told["weight_of_the_target_parser"] < 2.0
    assert "tolerance" in run_cli("info", models[1]).out


def test_parsing_with_one_side_alone_is_told(run_cli, models, tagger, tmp_path):
    outcome = run_cli("parse", "-m", models[1], PAIRS[3], "-o", tmp_path / "parsed")
    assert outcome.code == 0
    assert outcome.err == (
        f"{models[1]}: a parser of both sides of a bitext, of which only the target side "
        "is used here. To parse pairs: qsproj biparse\n"
    )
    bundled = run_cli("bundle", tagger, models[1], "-o", tmp_path / "both")
    assert bundled.code == 0
    assert bundled.err.startswith(outcome.err)
    assert run_cli("parse", "-m", models[0], PAIRS[1], "-o", tmp_path / "parsed").err == ""


def test_the_noisy_channel_gives_a_parser_of_the_target_alone(run_cli, models, tmp_path):
    parser, parsed = tmp_path / "de.model", tmp_path / "de.conllu"
    cotrain = ("cotrain", *PAIRS, *LINKS, "-m", models[1], "--trees", "corpora/de.conllu")
    outcome = run_cli(*cotrain, "--method", "noisy-channel", "-o", parser)
    assert outcome.code == 0
    assert f"{SIZE} trees and {SIZE} pairs" in outcome.err
    assert "left out: none" in outcome.err
    # For each pair and epoch, messages are passed with the source tree observed and without.
    assert f"% of {2 * SIZE * NoisyChannelOptions().training.epochs:,} runs" in outcome.err
    other = tmp_path / "other.model"
    assert run_cli(*cotrain, "--method", "co-training", "-o", other).code == 0
    assert parser.read_bytes() != other.read_bytes()
    assert run_cli("parse", "-m", parser, "corpora/de.conllu", "-o", parsed).code == 0


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--source-forest", "x"), "unknown --source-forest 'x'; known: best, agreement"),
        (
            ("--source-tree", "observed", "--source-forest", "agreement"),
            "found observed source trees and source forest agreement",
        ),
        (("--source-tree", "bogus"), "unknown --source-tree 'bogus'; known: joint, best, observed"),
        (("--source-tree", "joint"), "a noisy channel needs a known source tree"),
    ],
)
def test_a_channel_needs_a_source_tree(run_cli, models, tmp_path, option, message):
    outcome = run_cli(
        *("cotrain", "-m", models[1], *PAIRS, *LINKS, "--trees", PAIRS[3]),
        *("--method", "noisy-channel", *option, "-o", tmp_path / "m"),
    )
    assert_one_line(outcome, message)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_words_without_tags_are_counted(run_cli, models, tmp_path, jobs):
    first, *rest = read_conllu(PAIRS[3])
    mixed = tmp_path / "mixed.conllu"
    write_conllu([with_columns(first, upos=["_"] * len(first)), *rest], mixed)
    options = ("--target", mixed, *LINKS, "--jobs", jobs, "-o", tmp_path / "out")
    outcome = run_cli("biparse", "-m", models[1], *PAIRS[:2], *options)
    words = sum(map(len, rest)) + len(first)
    assert f"{mixed}: {len(first)} of {words} words have no UPOS" in outcome.err
    assert outcome.err.count("have no UPOS") == 1


@pytest.mark.parametrize(("side", "jobs"), [("source", "1"), ("target", "1"), ("target", "2")])
def test_a_sentence_that_is_too_long_is_found(run_cli, models, tmp_path, side, jobs):
    """In the second pair, on either side."""
    files = {name: tmp_path / f"{name}.conllu" for name in ("source", "target")}
    row = "{}\tx\t_\tX\t_\t_\t{}\tdep\t_\t_"
    for name, path in files.items():
        lengths = {"a": 1, "b": 1001 if name == side else 1}
        blocks = [
            "\n".join([f"# sent_id = {key}", *(row.format(i, i - 1) for i in range(1, lengths[key] + 1))])
            for key in "ab"
        ]
        path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    links = tmp_path / "links"
    links.write_text("0-0\n0-0\n", encoding="utf-8")
    arguments = ("--source", files["source"], "--target", files["target"], "--alignment", links)
    outcome = run_cli("biparse", "-m", models[1], *arguments, "--jobs", jobs, "-o", tmp_path / "out")
    assert_one_line(outcome, f"{files[side]}:4: found a sentence of 1,001 words", "split it")


@pytest.mark.parametrize(
    ("option", "place"),
    [("-o", "source"), ("-o", "model"), ("--source-output", "target"), ("--alignment-output", "source")],
)
def test_no_output_takes_the_place_of_another_file(run_cli, models, tmp_path, option, place):
    files = {"source": PAIRS[1], "target": PAIRS[3], "model": models[1]}
    copies = {name: tmp_path / name for name in files}
    for name, copy in copies.items():
        copy.write_bytes(Path(files[name]).read_bytes())
    outputs = {"-o": tmp_path / "out"} | {option: copies[place]}
    outcome = run_cli(
        *("biparse", "-m", copies["model"], "--source", copies["source"], *LINKS),
        *("--target", copies["target"], *(word for output in outputs.items() for word in output)),
    )
    assert_one_line(outcome, f"found {copies[place]} as a file to read and as one to write")
    assert copies[place].read_bytes() == Path(files[place]).read_bytes()


def test_only_one_file_is_the_standard_input(run_cli, models, tmp_path):
    files = ("--source", "corpora/en.conllu", "--target", "-", *LINKS, "-o", tmp_path / "out")
    for action in (
        ("cotrain", "-m", models[1], "--trees", "-"),
        ("train-biparser", "--source-model", models[0], "--hand-alignment", "-"),
    ):
        assert_one_line(run_cli(*action, *files), "only one file can be -")


@pytest.mark.slow
def test_both_sides_can_be_of_the_second_order(run_cli, folder, tmp_path):
    """From files to files; `info` says what the model is made of."""
    for name in (PAIRS[1], PAIRS[3]):
        write_conllu(islice(read_conllu(folder / name), 4), tmp_path / Path(name).name)
    links = Path(LINKS[1]).read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "links").write_text("".join(links[:4]), encoding="utf-8")
    files = ("--source", tmp_path / "en.conllu", "--target", tmp_path / "de.conllu")
    files = (*files, "--alignment", tmp_path / "links")
    second = ("train", tmp_path / "en.conllu", "--order", "2", "--epochs", "1", "-o", tmp_path / "en.model")
    assert run_cli(*second).code == 0
    joint = (
        "--source-model",
        tmp_path / "en.model",
        "--order",
        "2",
        "--epochs",
        "1",
        "-o",
        tmp_path / "both",
    )
    trained = run_cli("train-biparser", *files, *joint)
    assert trained.code == 0
    assert "belief propagation converged in" in trained.err
    assert "has a relation" not in trained.err  # the parsers of the other folds need none
    parsed = tmp_path / "parsed.conllu"
    assert run_cli("biparse", "-m", tmp_path / "both", *files, "-o", parsed).code == 0
    assert all((sentence.heads[1:] >= 0).all() for sentence in read_conllu(parsed))
    told = run_cli("info", tmp_path / "both")
    assert told.code == 0
    assert told.out.count("childseq") == 2


def test_weights_of_other_languages_join_two_parsers(run_cli, models, tmp_path):
    """No tree of the target is read: here, of all parsers, the English one stands for its own."""
    joined = tmp_path / "joined"
    files = ("--source-model", models[0], "--target-model", models[0], "-o", joined)
    outcome = run_cli("join-biparser", "-m", models[1], *files)
    assert outcome.code == 0
    assert outcome.err.startswith(f"{joined}: joins {models[0]} and ") and outcome.err.count("\n") == 1
    model, lender = load_model(joined), load_model(models[1])
    np.testing.assert_array_equal(model.weights.weights, lender.weights.weights)
    assert model.options == lender.options
    assert model.weights.target_scale == 1.0 != lender.weights.target_scale
    np.testing.assert_array_equal(model.target.scorer.weights, model.source.scorer.weights)
    assert model.target.inference == lender.source.inference
    assert run_cli("biparse", "-m", joined, *PAIRS, *LINKS, "-o", tmp_path / "parsed").code == 0
    wrong = run_cli("join-biparser", "-m", models[0], *files)
    assert_one_line(wrong, "en.model", "kind arc-parser", "expected a joint parser")


def test_joint_weights_are_learned_beside_a_parser_that_is_given(run_cli, models, tmp_path):
    """The target parser stays as it is; options of one that is trained are refused."""
    train = ("train-biparser", *PAIRS, *LINKS, "--source-model", models[0], "--target-model", models[0])
    train = (*train, "--epochs", "1", "--source-tree", "best", "-o", tmp_path / "joint")
    assert run_cli(*train, "--factors", "mono").code == 0
    made, given = load_model(tmp_path / "joint"), load_model(models[0])
    np.testing.assert_array_equal(made.target.scorer.weights, given.scorer.weights)
    assert np.count_nonzero(made.weights.weights) > 0
    refused = run_cli(*train, "--order", "2")
    assert_one_line(refused, "--order belongs to a target parser that is trained; leave it out")


def test_one_text_is_parsed_in_two_styles(run_cli, models, tmp_path):
    """Without links each word is linked to itself; other words are refused, as is a format of no file."""
    other = tmp_path / "en.prague.conllu"
    assert run_cli("convert", "--to", "prague", PAIRS[1], "-o", other).code == 0
    sides, joint = ("--source", PAIRS[1], "--target"), tmp_path / "joint"
    train = ("train-biparser", *sides, other, "--source-model", models[0], "-o", joint, "--epochs", "2")
    assert run_cli(*train).code == 0
    outputs = [tmp_path / name for name in ("new", "old", "links")]
    names = ("-o", "--source-output", "--alignment-output")
    written = [part for pair in zip(names, outputs) for part in pair]
    assert run_cli("biparse", "-m", joint, *sides, PAIRS[1], *written).code == 0
    for gold, found in ((other, outputs[0]), (PAIRS[1], outputs[1])):
        right = [a.heads == b.heads for a, b in zip(read_conllu(gold), read_conllu(found), strict=True)]
        assert np.concatenate(right).mean() > 0.8
    differ = [a.heads.tolist() != b.heads.tolist() for a, b in zip(*map(read_conllu, outputs[:2]))]
    assert sum(differ) > len(differ) // 4
    for sentence, links in zip(read_conllu(PAIRS[1]), read_alignments(outputs[2]), strict=True):
        assert links.links.tolist() == [[word, word] for word in range(1, len(sentence) + 1)]
    assert_one_line(
        run_cli("biparse", "-m", joint, *PAIRS, "-o", tmp_path / "x"),
        "en.conllu:1: found word 1",
        "give the alignment",
    )
    assert_one_line(
        run_cli(*train, "--alignment-format", "talp"), "--alignment-format belongs to --alignment"
    )


@pytest.mark.parametrize("command", ["train-biparser", "biparse", "cotrain"])
def test_a_source_word_without_a_head_is_named_by_file_and_line(run_cli, models, tmp_path, command):
    lines = Path(PAIRS[1]).read_text(encoding="utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("1\t")]
    columns = lines[starts[2] + 1].split("\t")
    lines[starts[2] + 1] = "\t".join([*columns[:6], "_", "_", *columns[8:]])
    headless = tmp_path / "headless.conllu"
    headless.write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = ("--source", headless, *PAIRS[2:], *LINKS, "--source-tree", "observed", "-o", tmp_path / "out")
    needed = {
        "train-biparser": ("--source-model", models[0]),
        "biparse": ("-m", models[1]),
        "cotrain": ("-m", models[1], "--annotated", PAIRS[3]),
    }
    outcome = run_cli(command, *files, *needed[command])
    assert_one_line(outcome, f"headless.conllu:{starts[2] + 2}: found no head at word 2")


def test_tags_that_a_side_was_not_trained_on_are_told(run_cli, models, tmp_path):
    _, joint = models
    strange = tmp_path / "strange.conllu"
    trees = [with_columns(one, upos=["Q" + tag for tag in one.upos]) for one in read_conllu(PAIRS[3])]
    write_conllu(trees, strange)
    pairs = (*PAIRS[:2], "--target", strange, *LINKS)
    told = run_cli("biparse", "-m", joint, *pairs, "-o", tmp_path / "out.conllu").err
    assert f"knows 0% of the tags (UPOS) of {strange}" in told
    assert f"(UPOS) of {PAIRS[1]}" not in told
