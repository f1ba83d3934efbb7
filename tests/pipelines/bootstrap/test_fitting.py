"""Shifted lines are told from languages that are hard to link."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from qsproj.corpus.bitext import read_bitext
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import comment_value
from qsproj.corpus.pairs.fitting import BLOCK_PAIRS, Fit, fit_of, large_blocks
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError
from qsproj.pipelines.bootstrap.bitext import check_translations
from qsproj.pipelines.bootstrap.checks import check_lines
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.progress import notices

# Numbers would tell which lines belong together.
LETTERS = str.maketrans("0123456789", "abcdefghij")


def texts(path):
    return [comment_value(one, "text") for one in read_conllu(path)]


@pytest.fixture(scope="module", params=["tr", "zh", "wo", "hy"])
def bitext(request, data_dir):
    """A thousand pairs of English and a language that is hard to link with it."""
    if request.param in ("tr", "zh"):
        return list(
            zip(*(texts(data_dir / f"pud/{code}.conllu.gz") for code in ("en", request.param)), strict=True)
        )
    return list(islice(read_bitext(data_dir / f"bible/en-{request.param}.tsv.xz"), 1000))


@pytest.mark.parametrize("count", [1000, 200])
def test_right_pairs_fit_and_shifted_ones_are_told_by_how_much(bitext, count):
    source, target = ([pair[side] for pair in bitext[:count]] for side in (0, 1))
    for shift in (0, 1, 2, 5):
        assert fit_of(list(zip(source, target[shift:], strict=False))).shift == -shift
        assert fit_of(list(zip(source[shift:], target, strict=False))).shift == shift
    random.Random(1).shuffle(target)
    assert fit_of(list(zip(source, target, strict=True))) == Fit(None, by_chance=True)


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_language_that_cannot_be_linked_is_no_error(tmp_path, shuffled):
    """No word of the target comes twice: no link is likely, and only lengths can tell."""
    pairs = sample()[:300]
    source = [Sentence.from_words(one.split()) for one, _ in pairs]
    target = [
        Sentence.from_words([f"{number}x{place}".translate(LETTERS) for place in range(len(one.split()))])
        for number, (one, _) in enumerate(pairs)
    ]
    if shuffled:
        random.Random(1).shuffle(target)
    paths = str(tmp_path / "source"), str(tmp_path / "target")
    for path, sentences in zip(paths, (source, target), strict=True):
        write_conllu(sentences, path)
    if not shuffled:
        check_translations(*paths, name="pairs")
        return
    with pytest.raises(
        DataError, match=r"sentence lengths that do not correlate,.* the sides translate each"
    ):
        check_translations(*paths, name="pairs")


def sample():
    words = [f"wort{number}".translate(LETTERS) for number in range(20)]
    rng = random.Random(2)
    return [
        (" ".join(f"s{word}" for word in chosen), " ".join(chosen))
        for chosen in (rng.choices(words, k=rng.randint(3, 30)) for _ in range(3000))
    ]


def test_numbers_and_names_tell_where_lengths_do_not():
    pairs = [(f"word {i} Someone{i}", f"{i} tekst Someone{i}") for i in range(100, 400)]
    assert fit_of(pairs).shift == 0
    shifted = [(one, other) for (one, _), (_, other) in zip(pairs, pairs[3:], strict=False)]
    assert fit_of(shifted).shift == -3
    same = [("word", "tekst")] * 300
    assert fit_of(same) == Fit(None, by_chance=True)
    assert fit_of(same[:50]) == Fit(None, by_chance=False)
    assert fit_of([]) == Fit(None, by_chance=False)


def test_blank_sides_hold_their_place():
    pairs = sample()[:400]
    holes = [(one, "" if number % 7 == 0 else other) for number, (one, other) in enumerate(pairs)]
    assert fit_of(holes).shift == 0


def test_the_last_block_is_no_stump():
    lines = [("a", "b")] * (2 * BLOCK_PAIRS + 10)
    assert [len(block) for block in large_blocks(lines)] == [BLOCK_PAIRS, BLOCK_PAIRS + 10]
    assert [len(block) for block in large_blocks(lines[:-11])] == [BLOCK_PAIRS, BLOCK_PAIRS - 1]
    assert [len(block) for block in large_blocks(lines[:20])] == [20]


def test_a_line_that_is_missing_is_told_with_its_place(tmp_path):
    def checked(pairs):
        path = tmp_path / "pairs.tsv"
        path.write_text("".join(f"{one}\t{other}\n" for one, other in pairs), encoding="utf-8")
        check_lines(SourceText(treebanks=(), bitext=(str(path),), languages=("en", "de")))

    def without(line):
        source, target = ([pair[side] for pair in pairs] for side in (0, 1))
        return list(zip(source, [*target[:line], *target[line + 1 :], "Ende"], strict=True))

    pairs = sample()
    told: list[str] = []
    with notices(told.append):
        checked(pairs)
        assert told == []
        with pytest.raises(DataError, match=r"shifted from line 2 of the .* fits line 1 of the target"):
            checked(without(0))
        with pytest.raises(
            DataError, match=r"shifted from line 1,002 of the .* fits line 1,001 of the target"
        ):
            checked(without(1000))
        assert told == []
        pairs = [*sample(), *sample(), *sample()[:1000]]
        checked(without(6000))
    (line,) = told
    assert "shifted from line 6,002 of the source side on" in line
    assert "in 1 of 7 blocks" in line
