"""``qsproj search``: the hits of the page's patterns from the command line, their number, their sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from qsproj.corpus.conllu import read_conllu

DE, EN = "corpora/de.conllu", "corpora/en.conllu"


def subjects(path):
    """Return the subjects of a file that are nouns: sentence and word."""
    rows = [
        (sentence.sent_id, number)
        for sentence in read_conllu(path)
        for number, (tag, relation) in enumerate(zip(sentence.upos, sentence.deprels, strict=True), start=1)
        if (tag, relation) == ("NOUN", "nsubj")
    ]
    assert len(rows) > 10
    return rows


PATTERN = "upos=NOUN deprel=nsubj"


def test_each_hit_is_a_line(run_cli):
    outcome = run_cli("search", PATTERN, DE)
    lines = [line.split("\t") for line in outcome.out.splitlines()]
    assert [(name, int(word)) for name, word, _ in lines] == subjects(DE)
    sentence = next(one for one in read_conllu(DE) if one.sent_id == lines[0][0])
    word = int(lines[0][1])
    forms = [*sentence.forms[: word - 1], f"[{sentence.forms[word - 1]}]", *sentence.forms[word:]]
    assert lines[0][2] in " ".join(forms) and f"[{sentence.forms[word - 1]}]" in lines[0][2]


def test_hits_are_counted_by_file(run_cli):
    told = [
        f"{path}: {len(found):,} words in {len({name for name, _ in found}):,} sentences\n"
        for path, found in ((path, subjects(path)) for path in (DE, EN))
    ]
    assert run_cli("search", PATTERN, DE, EN, "--count").out == "".join(told)
    assert run_cli("search", "upos=none", DE, "--count").out == "0 words in 0 sentences\n"


def test_sentences_with_hits_are_written_as_they_are(run_cli, tmp_path):
    out, names = tmp_path / "out.conllu", {name for name, _ in subjects(DE)}
    assert run_cli("search", PATTERN, DE, "-o", out).out == ""
    blocks = Path(DE).read_text(encoding="utf-8").split("\n\n")
    kept = [block for block in blocks if any(f"# sent_id = {name}\n" in block for name in names)]
    assert 0 < len(kept) < len(blocks)
    assert out.read_text(encoding="utf-8") == "\n\n".join([*kept, ""])


@pytest.mark.parametrize("pattern", ["misc.upos=x,y", "form~^a$|upos=x,", "form=deprel=,", "deprel~=,"])
def test_signs_of_a_mistake_are_fine_elsewhere(run_cli, pattern):
    assert run_cli("search", pattern, DE).code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("upos", DE), "found 'upos', expected a condition"),
        (("upos==NOUN", DE), "found 'upos==NOUN', expected a condition"),
        (("upos=NOUN,deprel=obj", DE), "found 'upos=NOUN,deprel=obj', expected a condition"),
        (("form=10 000", DE), r"a space in a word is \s: form~^10\s000$"),
        (("form~(", DE), "expected a regular expression"),
        ((PATTERN, DE, "--count", "-o", "x"), "found --totals and -o, expected one of them"),
        ((PATTERN, "missing.conllu"), "missing.conllu"),
    ],
)
def test_what_is_wrong_is_a_line(run_cli, tmp_path, arguments, said):
    outcome = run_cli("search", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err and outcome.err.count("\n") == 1


def test_a_regular_expression_without_end_is_a_line(run_cli, tmp_path, monkeypatch):
    monkeypatch.setattr("qsproj.serve.review.search._MOST_SECONDS", 0.1)
    path = tmp_path / "long.conllu"
    path.write_text(f"# sent_id = s1\n1\t{'a' * 40}!\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    outcome = run_cli("search", "form~^(a+)+$", path)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert "takes more than 0.1 s in sentence 's1'" in outcome.err
    assert run_cli("search", "form~^a+!$", path, "--count").out == "1 word in 1 sentence\n"
