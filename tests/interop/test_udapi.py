"""Sentences go to udapi and come back, in a process of its own: udapi is under the GPL."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import qsproj

PROGRAM = """
import sys
import qsproj

sentences = list(qsproj.read_conllu(sys.argv[1]))
try:
    qsproj.to_udapi(sentences)
except qsproj.QsprojError as error:
    assert "import udapi" in str(error)
assert not [name for name in sys.modules if name.startswith("udapi")]

import udapi

document = qsproj.to_udapi(sentences)
assert isinstance(document, udapi.Document)
assert [node.form for node in document.bundles[0].get_tree().descendants] == list(sentences[0].forms)
for node in document.nodes:
    node.upos = node.upos.lower()
sys.stdout.write(qsproj.from_udapi(document).to_conllu())
"""


@pytest.mark.skipif(find_spec("udapi") is None, reason="udapi is not installed")
@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_sentences_come_back_with_what_was_changed(language):
    path = f"corpora/{language}.conllu"
    done = subprocess.run([sys.executable, "-c", PROGRAM, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = [one.replace(upos=[tag.lower() for tag in one.upos]) for one in qsproj.read_conllu(Path(path))]
    found = list(qsproj.Document.from_conllu(done.stdout))
    assert [sorted(str(one).splitlines()) for one in found] == [
        sorted(str(one).splitlines()) for one in expected
    ]


LOSSES = """
import sys
import udapi
import qsproj

sentence = qsproj.Sentence.from_conllu(sys.argv[1])
sys.stdout.write(qsproj.from_udapi(qsproj.to_udapi(sentence)).to_conllu())
"""


@pytest.mark.skipif(find_spec("udapi") is None, reason="udapi is not installed")
def test_what_udapi_does_not_hold_is_as_documented():
    row = "1\tHush\t_\t_\t_\t_\t{}\t_\t_\t_\n\n"
    run = [sys.executable, "-c", LOSSES, "# sent_id s-p1\n" + row.format("_")]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout == "# sent_id = s-p1\n# text = Hush\n" + row.format(0)
    assert "Empty parent/head index" in done.stderr


def test_what_is_no_document_is_refused():
    with pytest.raises(TypeError, match=r"found 'x' \(str\), expected a Document of udapi"):
        qsproj.from_udapi("x")
