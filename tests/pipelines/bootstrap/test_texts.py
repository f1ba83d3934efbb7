"""The bitext of a bootstrap: what is left out."""

from __future__ import annotations

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.pipelines.bootstrap import texts
from qsproj.pipelines.bootstrap.texts import SourceText, write_bitext


def cut(line):
    return Sentence.from_words(line.split()) if line else None


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def written(tmp_path, lines, workers=THIS_PROCESS):
    pairs = write_lines(tmp_path / "pairs.tsv", lines)
    paths = tmp_path / "source.conllu", tmp_path / "target.conllu"
    text = SourceText(treebanks=(), bitext=(pairs,), languages=("xx", "yy"))
    told = write_bitext(paths, text, tokenizers=(cut, cut), workers=workers)
    return told, *(list(read_conllu(path)) for path in paths)


def test_pairs_keep_their_numbers_and_what_teaches_nothing_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "FEWEST_PAIRS", 2)
    long = " ".join("w" * 101)
    lines = ["a b\tx y z", "\tx", "a\t", "same\tsame", f"a\t{long}", "a b\tx y z", "c\tz"]
    told, source, target = written(tmp_path, lines)
    assert [one.forms for one in source] == [("a", "b"), ("c",)]
    assert [one.forms for one in target] == [("x", "y", "z"), ("z",)]
    assert [one.sent_id for one in source] == [one.sent_id for one in target] == ["1", "7"]
    assert told.figures == {"pairs": 2, "source words": 3, "target words": 4, "given trees": 0}
    assert told.line == (
        "2 pairs of 7, 3 and 4 words; left out: 2 for a blank side; 1 for two sides alike; "
        "1 for more than 100 words; 1 for repeating an earlier pair"
    )


def test_too_few_pairs_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(DataError, match=r"pairs\.tsv: found 20 pairs to learn from, expected 50 or more"):
        written(tmp_path, [f"a{i}\tb{i}" for i in range(20)])
    assert not (tmp_path / "source.conllu").exists()


def test_any_number_of_processes_cuts_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "BLOCK_PAIRS", 7)
    lines = [f"a b {i % 60}\tx {i % 60}" for i in range(70)]
    made = []
    for jobs in (1, 2):
        told, *_ = written(tmp_path, lines, Workers(jobs=jobs))
        made.append((told, *((tmp_path / f"{side}.conllu").read_bytes() for side in ("source", "target"))))
    assert made[0] == made[1]
    assert made[0][0].figures["pairs"] == 60


def test_verses_are_split_unless_that_is_refused(tmp_path, monkeypatch):
    """Lines are split only on request."""
    monkeypatch.setattr(texts, "FEWEST_PAIRS", 2)
    line = ["They went up to the city. He followed them.", "Sie gingen hinauf in die Stadt. Er folgte ihnen."]
    files = [
        write_lines(tmp_path / f"{side}.verses", [f"MAT 1:1\t{text}", f"MAT 1:2\tno mark {side}"])
        for side, text in enumerate(line)
    ]
    pairs = write_lines(tmp_path / "pairs.tsv", ["\t".join(line), "no mark\tkein Zeichen"])
    counts = []
    for bitext, paired_by in ((files, "verse"), ([pairs], "line")):
        for when in (None, True, False):
            text = SourceText(
                treebanks=(), bitext=tuple(bitext), languages=("en", "de"), paired_by=paired_by, cut=when
            )
            paths = tmp_path / "source.conllu", tmp_path / "target.conllu"
            counts.append(write_bitext(paths, text, tokenizers=(cut, cut)).figures["pairs"])
    assert counts == [3, 3, 2, 2, 3, 2]
