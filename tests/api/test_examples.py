"""The worked examples and the notebook run from another folder, and end where they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import qsproj

CHECKOUT = Path(__file__).resolve().parents[2]
EXAMPLES = {
    "example_project": ["de.parser", "de.parsed.conllu", "de.svg"],
    "example_adapt": ["new.converter", "en.new.conllu", "doubtful.svg"],
    "example_biparse": ["en-de.model", "en.parsed.conllu", "de.parsed.conllu", "pair.html"],
}


def elsewhere():
    """Return the environment of a process that finds qsproj from any folder."""
    return {**os.environ, "PYTHONPATH": str(Path(qsproj.__file__).parents[1])}


def test_every_example_is_here():
    assert {path.stem for path in (CHECKOUT / "scripts").glob("example_*.py")} == set(EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_from_any_folder(name, tmp_path):
    script = CHECKOUT / "scripts" / f"{name}.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 60
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=elsewhere(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # What it does is better than what it is compared with.
    before, after = (float(score) for score in re.findall(r"UAS ([0-9.]+)", done.stdout))
    assert after > before
    for output in EXAMPLES[name]:
        assert output in done.stdout
        assert (tmp_path / output).stat().st_size > 0


@pytest.mark.slow
def test_the_notebook_runs(monkeypatch):
    """In a kernel of its own, in the folder where it stands; drawings come out as such."""
    monkeypatch.setenv("PYTHONPATH", elsewhere()["PYTHONPATH"])
    notebook = nbformat.read(CHECKOUT / "docs" / "tour.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": CHECKOUT / "docs"}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.output_type == "error"]
    # Bars are on the standard error, and nothing else is.
    said = "".join(output.text for output in outputs if output.get("name") == "stderr")
    assert all("%|" in line or not line.strip() for line in said.replace("\r", "\n").splitlines()), said
    shown = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    drawn = [html for html in shown if "<svg" in html]
    # Sentences, a document of two and two pairs; scores are a table.
    assert len(drawn) == 6 and drawn[1].count("<svg") == 2
    assert len([html for html in shown if "<th>uas</th>" in html]) == 1
    texts = [output.data.get("text/plain", "") for output in outputs if "data" in output]
    assert any(text.startswith("<TextParser de, ") for text in texts)
