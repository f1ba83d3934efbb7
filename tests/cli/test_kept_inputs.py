"""No command writes over a file that it reads, but for the one whose place the result may take."""

from __future__ import annotations

import argparse
import os

import pytest

from qsproj.cli.main import COMMANDS, build_parser
from qsproj.corpus.alignments import counts_beside
from tests.cli.refusals import assert_one_line

PAIR = "--source <source> --target <target> --alignment <links>"
# Inputs in angles, outputs too, after a >; an output after an = may take the place of that input.
USES = (
    "train <treebank> --dev <dev> --like <tagged> --features delexicalised -o <>model>",
    "train <treebank> --unlabelled <more> -o <>model>",
    "parse -m <model> <input> -o <>output=input>",
    "tag -m <model> <input> -o <>output=input>",
    "train-tagger <treebank> --dev <dev> --text <raw> --language de -o <>model>",
    f"project-tags {PAIR} --tagged <tagged> --lexicon <lexicon> --language de -o <>model>",
    "tokenize --language de <input> -o <>output>",
    "bundle <tagger> <parser> -o <>model>",
    "eval <gold> <system> --report <>report>",
    "align <source> <target> --hand-alignment <links> --save-model <>model> -o <>output>",
    "align <source> <target> -m <model> -o <>output>",
    "align <source> <target> --linked <>linked=target> -o <>output>",
    f"project {PAIR} --prior <prior> --annotated <few> -o <>model> --trees <>trees>",
    "adapt --source <source> --target <target> -o <>model>",
    "adapt --parser <parser> --source <source> --target <target> -o <>model>",
    "convert -m <model> <source> -o <>output=source> --least-sure <>sheet>",
    "convert -m <model> --source <source> -o <>output=source> --least-sure <>sheet>",
    f"train-biparser {PAIR} --source-model <model> -o <>model>",
    "join-biparser -m <model> --source-model <source> --target-model <target> -o <>model>",
    f"biparse -m <model> {PAIR} -o <>output=target> --source-output <>other=source>"
    " --alignment-output <>words>",
    f"cotrain -m <model> {PAIR} --annotated <trees> -o <>model>",
    "convert --to prague <input> -o <>output=input>",
    "suggest -m <model> <input> --annotated <trees> -o <>output>",
    "search upos=NOUN <input> -o <>output>",
    "draw <input> -o <>page.html>",
    "draw <input> --target <target> --alignment <links> -o <>page.html>",
    "draw <input> --versus <other> -o <>page.html>",
    "bootstrap --treebank <treebank> --bitext <source> <target> --languages en de --lexicon <lexicon>"
    " --annotated <few> -o <>model> --trees <>trees> --report <>report.html>"
    " --suggest <>next>",
    "serve --port 0 --review <file> -m <parser> -o <>model>",
)
# They write folders, or nothing.
WITHOUT_OUTPUT = {"annotate", "data", "demo", "info", "styles"}


def _parts(use):
    """Return inputs, outputs, and of each output the input whose place it may take."""
    inside = [word[1:-1] for word in use.split() if word.startswith("<")]
    outputs = dict(word[1:].partition("=")[::2] for word in inside if word.startswith(">"))
    return [word for word in inside if not word.startswith(">")], outputs


def _clashes():
    for use in USES:
        inputs, outputs = _parts(use)
        for output, replaced in outputs.items():
            for read in inputs:
                if read != replaced:
                    yield pytest.param(use, output, read, id=f"{' '.join(use.split()[:2])}: {output} {read}")


@pytest.mark.parametrize(("use", "output", "read"), list(_clashes()))
def test_an_output_over_an_input_is_refused(use, output, read, tmp_path, run_cli):
    inputs, outputs = _parts(use)
    # A drawing tells by its name what it is.
    suffix = output.partition(".")[1] + output.partition(".")[2]
    paths = {name: tmp_path / f"{name}{suffix if name == read else ''}" for name in inputs}
    for path in paths.values():
        path.write_text("kept\n", encoding="utf-8")
    written = {name: tmp_path / f"new-{name}" for name in outputs} | {output: paths[read]}
    words = [
        str(written[word[2:-1].partition("=")[0]])
        if word.startswith("<>")
        else str(paths[word[1:-1]])
        if word.startswith("<")
        else word
        for word in use.split()
    ]
    outcome = run_cli(*words)
    assert_one_line(outcome, f"found {paths[read]} as a file to read and as one to write; name another")
    assert {path.read_text(encoding="utf-8") for path in paths.values()} == {"kept\n"}
    assert set(tmp_path.iterdir()) == set(paths.values())


@pytest.mark.parametrize("command", ["parse", "tag"])
def test_plain_text_is_not_replaced_by_its_analysis(command, tmp_path, run_cli):
    text, words = tmp_path / "de.txt", tmp_path / "de.conllu"
    text.write_text("Der Hund schläft.\n", encoding="utf-8")
    command = command, "-m", "tests/kept_models/text-parser.model"
    refused = run_cli(*command, text, "-o", text)
    assert_one_line(refused, f"found {text} as a file to read and as one to write; name another")
    assert text.read_text(encoding="utf-8") == "Der Hund schläft.\n"
    # CoNLL-U keeps all but the predictions, so it may.
    assert run_cli(*command, text, "-o", words).code == 0
    assert run_cli(*command, words, "-o", words).code == 0
    assert words.read_text(encoding="utf-8").startswith("# sent_id = 1\n# text = Der Hund schläft.\n")


def test_the_counts_beside_links_take_no_other_place(tmp_path, run_cli):
    """Named files are kept from them, and beside a device, such as /dev/null, there are none."""
    text, links = tmp_path / "en-de.counts", tmp_path / "en-de"
    text.write_text("a b\n", encoding="utf-8")
    refused = run_cli("align", text, text, "-o", links)
    assert_one_line(refused, f"found {text} as a file to read and as one to write; name another")
    assert text.read_text(encoding="utf-8") == "a b\n"
    model = run_cli("align", text, text, "--hand-alignment", text, "--save-model", f"{text}", "-o", links)
    assert_one_line(model, f"found {text} for two outputs, expected a name of its own for each")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert counts_beside(pipe) is None


@pytest.mark.parametrize("use", USES)
def test_a_name_that_is_too_long_is_one_line(use, tmp_path, run_cli):
    inputs, outputs = _parts(use)
    for name in inputs:
        (tmp_path / name).write_text("kept\n", encoding="utf-8")
    for long in outputs:
        words = []
        for word in use.split():
            name = word.strip("<>").partition("=")[0]
            longer = f"{'x' * 300}{name}" if name == long else name
            words.append(str(tmp_path / longer) if word.startswith("<") else word)
        assert_one_line(run_cli(*words), "cannot be written: File name too long")


def test_every_command_that_writes_a_file_is_tried():
    tried = {use.split()[0] for use in USES}
    assert tried | WITHOUT_OUTPUT == {name for name, _ in COMMANDS}
    for command in tried:
        options = " ".join(use for use in USES if use.split()[0] == command).split()
        for parser in _parsers(command):
            written = {name for action in parser._actions for name in action.option_strings} & {
                *("-o", "--report", "--trees", "--linked", "--least-sure", "--save-model"),
                *("--source-output", "--alignment-output"),
            }
            assert written <= set(options), (command, written)


def _parsers(command):
    parser = build_parser(command)
    commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    own = commands.choices[command]
    yield own
    for action in own._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()
