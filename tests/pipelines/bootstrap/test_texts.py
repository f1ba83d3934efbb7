"""The bitext of a bootstrap: what is left out, and how sides that do not fit are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import sentence_from_words
from qsproj.errors import DataError
from qsproj.pipelines.bootstrap import texts
from qsproj.pipelines.bootstrap.texts import SourceText, check_languages, check_sides, write_words

CORPORA = Path(__file__).parents[3] / "corpora"


def cut(line):
    return sentence_from_words(line.split()) if line else None


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def sides(tmp_path):
    """Sixty translated sentences of the sample, as text."""
    return tuple(
        write_lines(
            tmp_path / f"{code}.txt", (" ".join(one.forms) for one in read_conllu(CORPORA / f"{code}.conllu"))
        )
        for code in ("en", "de")
    )


def source_text(sides, treebank=CORPORA / "en.conllu", languages=("en", "de")):
    return SourceText(treebanks=(str(treebank),), bitext=sides, languages=languages)


def written(tmp_path, lines):
    pairs = write_lines(tmp_path / "pairs.tsv", lines)
    paths = tmp_path / "source.conllu", tmp_path / "target.conllu"
    told = write_words(paths, (pairs,), cut=(cut, cut))
    return told, *(list(read_conllu(path)) for path in paths)


def test_pairs_keep_their_numbers_and_what_teaches_nothing_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "FEWEST_PAIRS", 2)
    long = " ".join("w" * 101)
    lines = ["a b\tx y z", "\tx", "a\t", "same\tsame", f"a\t{long}", "a b\tx y z", "c\tz"]
    told, source, target = written(tmp_path, lines)
    assert [one.forms for one in source] == [("a", "b"), ("c",)]
    assert [one.forms for one in target] == [("x", "y", "z"), ("z",)]
    assert [one.sent_id for one in source] == [one.sent_id for one in target] == ["1", "7"]
    assert told.figures == {"pairs": 2, "source words": 3, "target words": 4}
    assert told.line == (
        "2 pairs of 7, 3 and 4 words; left out: 2 for a blank side; 1 for two sides alike; "
        "1 for more than 100 words; 1 for having been there before"
    )


def test_too_few_pairs_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(DataError, match=r"pairs\.tsv: found 20 pairs to learn from .* expected 50 or more"):
        written(tmp_path, [f"a{i}\tb{i}" for i in range(20)])
    assert not (tmp_path / "source.conllu").exists()


def test_sides_that_fit_pass(sides):
    check_sides(source_text(sides))


def test_swapped_sides_are_told(sides):
    with pytest.raises(DataError, match="swap the sides"):
        check_sides(source_text(sides[::-1]))


def test_a_treebank_of_another_language_is_told(sides, monkeypatch):
    monkeypatch.setattr(texts, "VOCABULARY_TO_ASK", 100)
    with pytest.raises(DataError, match="name a treebank of the language of the source side"):
        check_sides(source_text((sides[0], sides[0]), treebank=CORPORA / "es.conllu"))


@pytest.mark.parametrize("languages", [("en", "de"), ("xx", "de"), ("en", "yy"), ("xx", "yy"), ("en", "gsw")])
def test_codes_that_fit_or_say_nothing_pass(sides, languages):
    check_languages(source_text(sides, languages=languages))


@pytest.mark.parametrize("languages", [("de", "en"), ("de", "xx"), ("xx", "en")])
def test_swapped_codes_are_told(sides, languages):
    with pytest.raises(DataError, match=rf"text in {languages[1]} on the source side .* swap the codes"):
        check_languages(source_text(sides, languages=languages))


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        (("fr", "de"), r"en\.txt: found text in en on the source side, .* expected fr, as --languages says"),
        (("en", "it"), r"de\.txt: found text in de on the target side, .* expected it, as --languages says"),
        (("en", "zh"), r"de\.txt: found text in another script on the target side"),
    ],
)
def test_a_code_that_does_not_fit_is_told(sides, languages, message):
    with pytest.raises(DataError, match=message):
        check_languages(source_text(sides, languages=languages))
