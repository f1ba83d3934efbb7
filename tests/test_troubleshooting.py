"""The guide on messages: each is what a command prints, and the guide names all that are tried here."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

GUIDE = Path("docs/guides/troubleshooting.md")
KEPT = Path("tests/kept_models").resolve()
CORPORA = Path("corpora").resolve()
SOURCE_AND_TARGET = "--source {corpora}/en.conllu --target {corpora}/de.conllu"
BOOTSTRAP = "bootstrap --treebank {corpora}/en.conllu --languages en"
# The command that prints each message. PARSER and TAGGER are models, other names are files of the test.
MESSAGES = {
    "columns separated by spaces, expected tabs": "train spaces.conllu -o x.model",
    "found 4 columns, expected 10 separated by tabs": "train four.conllu -o x.model",
    "found byte 0xe4 that is not UTF-8": "train latin.conllu -o x.model",
    "cannot be read: No such file or directory": "train missing.conllu -o x.model",
    "cannot be written: No such file or directory": "train {corpora}/de.conllu -o missing/x.model",
    "as a file to read and as one to write": "parse -m PARSER {corpora}/de.conllu -o PARSER",
    "found HEAD 9, expected 0 to 1, the last word": "train head.conllu -o x.model",
    "found the cycle of heads 1 <- 2 <- 1, expected a tree": "train cycle.conllu -o x.model",
    "no usable sentence in the training data": "train headless.conllu -o x.model",
    "found no head on any word, expected trees": "eval tree.conllu headless.conllu",
    "as word 1 of sentence 1 (sample-001), expected 'Der'": "eval {corpora}/de.conllu {corpora}/en.conllu",
    "found a damaged or foreign file": "parse -m en.txt {corpora}/de.conllu",
    "found a model of kind tagger, which does not parse": "parse -m TAGGER {corpora}/de.conllu",
    "found plain text, expected CoNLL-U, as this parser reads tags": "parse -m PARSER de.txt",
    "found no word with UPOS, expected the tags that the parser reads": "parse -m PARSER untagged.conllu",
    "found 90 lines in en.txt, expected 89 as in de.txt": f"{BOOTSTRAP} de --bitext en.txt de.txt -o x.model",
    "found 0 pairs to learn from": f"{BOOTSTRAP} de --bitext en.txt en.txt -o x.model",
    "found language 'xx', expected a code of ISO 639": f"{BOOTSTRAP} xx --bitext en.txt de.txt -o x.model",
    "in the source only, expected it in": (
        "project --source {corpora}/en.conllu --target ten.conllu --alignment {corpora}/en-de.pharaoh -o x"
    ),
    "a link of word 10 with word 8, counted from 1, expected words of a pair of 9 by 10": (
        f"project {SOURCE_AND_TARGET} --alignment {{corpora}}/de-es.pharaoh -o x"
    ),
    "unknown command 'trian'; did you mean": "trian {corpora}/de.conllu",
    "is now spelled": "tag --train {corpora}/de.conllu -o x",
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Go to a folder with the files that the commands name."""
    monkeypatch.chdir(tmp_path)
    german = (CORPORA / "de.conllu").read_text(encoding="utf-8")
    texts = {
        name: re.findall("^# text = (.*)", (CORPORA / f"{name}.conllu").read_text(encoding="utf-8"), re.M)
        for name in ("en", "de")
    }
    words = ["1\tHund\t_\t{tag}\t_\t_\t{first}\troot\t_\t_", "2\tda\t_\tADV\t_\t_\t{second}\tadvmod\t_\t_"]
    pair = "\n".join(words) + "\n\n"
    contents = {
        "en.txt": "\n".join(texts["en"]) + "\n",
        "de.txt": "\n".join(texts["de"][1:]) + "\n",
        "spaces.conllu": german.replace("\t", " "),
        "four.conllu": "1\tHund\t_\tNOUN\n\n",
        "ten.conllu": "".join(f"{block}\n\n" for block in german.split("\n\n")[:10]),
        "tree.conllu": pair.format(tag="NOUN", first=0, second=1),
        "head.conllu": words[0].format(tag="NOUN", first=9) + "\n\n",
        "cycle.conllu": pair.format(tag="NOUN", first=2, second=1),
        "headless.conllu": pair.format(tag="NOUN", first="_", second="_").replace("root", "_"),
        "untagged.conllu": pair.format(tag="_", first="_", second="_").replace("ADV", "_"),
    }
    for name, content in contents.items():
        Path(name).write_text(content, encoding="utf-8")
    Path("latin.conllu").write_bytes("1\tBär\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n".encode("latin-1"))
    for name, kind in (("PARSER", "arc-parser"), ("TAGGER", "tagger")):
        Path(name).write_bytes((KEPT / f"{kind}.model").read_bytes())


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_of_the_guide_is_what_a_command_prints(message, files, run_cli):
    outcome = run_cli(*shlex.split(MESSAGES[message].format(corpora=CORPORA)))
    assert outcome.code == 2
    assert message in outcome.err


def test_the_guide_has_the_messages_that_are_tried():
    said = re.findall(r"^- `(.*)`\\$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(said) == sorted(MESSAGES)
