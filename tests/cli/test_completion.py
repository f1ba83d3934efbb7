"""A shell completes commands, their options and files by the script that shtab writes."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "qsproj"
    written = subprocess.run(
        [sys.executable, "-m", "shtab", "--shell", "bash", "qsproj.cli.completion.parser"],
        capture_output=True,
        text=True,
        check=True,
    )
    path.write_text(written.stdout, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("tra", {"train", "train-tagger", "train-biparser"}),
        ("train-biparser --see", {"--seed"}),
        ("train --objec", {"--objective"}),
        ("train --labels ", {"after", "joint"}),
        ("parse -m m.model corpora/de.c", {"corpora/de.conllu"}),
        ("parse -o corpora/de.c", {"corpora/de.conllu"}),
        ("demo --corpora corp", {"corpora"}),
    ],
)
def test_what_bash_offers(script, typed, offered):
    words = ["qsproj", *shlex.split(typed), *([""] if typed.endswith(" ") else [])]
    lines = f"""
        source {shlex.quote(str(script))}
        COMP_WORDS=({" ".join(map(shlex.quote, words))})
        COMP_CWORD={len(words) - 1}
        _shtab_qsproj
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == offered
