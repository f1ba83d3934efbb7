"""Pairs are cut where punctuation and lengths agree, and nothing is lost."""

from __future__ import annotations

import math
import random
from itertools import islice

import pytest

from qsproj.corpus.bitext import read_bitext
from qsproj.pipelines.bootstrap.texts import _misfit, cut_pair, find_cuts, pieces_of


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("He went up. They followed him.", ["He went up.", "They followed him."]),
        ("He said: “Go away from here.” They went.", ["He said:", "“Go away from here.”", "They went."]),
        ("Mr. Smith met J. R. Ewing at 5:30 today.", ["Mr. Smith met J. R. Ewing at 5:30 today."]),
        ("Amen. So it was written there.", ["Amen. So it was written there."]),
        ("It was written there. Amen.", ["It was written there. Amen."]),
        (
            "他到耶路撒冷去了，也在那里住。门徒都跟着他去了。",
            ["他到耶路撒冷去了，也在那里住。", "门徒都跟着他去了。"],
        ),
        ("Երկինքն ու երկիրը։ Եւ լոյս եղաւ այնտեղ։", ["Երկինքն ու երկիրը։", "Եւ լոյս եղաւ այնտեղ։"]),
        ("", [""]),
        ("no mark at all", ["no mark at all"]),
    ],
)
def test_a_line_is_cut_where_clauses_end(line, pieces):
    assert pieces_of(line) == pieces


def clause(rng, letter, low=12, high=60):
    return letter * rng.randint(low, high)


def test_pieces_go_together_as_their_lengths_do():
    """One side has joined two clauses here and there, as translators do; where is found again."""
    rng = random.Random(4)
    right = total = 0
    for _ in range(100):
        clauses = [clause(rng, "a") for _ in range(5)]
        joined = rng.randrange(4)
        source = " ".join(f"{one}." for one in clauses)
        other = [f"{'b' * round(1.2 * len(one) * rng.uniform(0.9, 1.1))}" for one in clauses]
        other[joined : joined + 2] = [f"{other[joined]}, {other[joined + 1]}"]
        target = " ".join(f"{one};" for one in other)
        cut = list(cut_pair(source, target, ratio=1.2))
        assert " ".join(one for one, _ in cut) == source
        assert " ".join(other for _, other in cut) == target
        total += 1
        right += [one.count(".") for one, _ in cut] == [2 if i == joined else 1 for i in range(4)]
    assert right > 0.9 * total


@pytest.mark.parametrize(
    ("one", "other", "ratio"), [(40, 50, 1.0), (40, 44, 1.1), (25, 60, 1.2), (90, 60, 0.8)]
)
def test_lengths_cost_the_two_tails_of_a_normal_distribution(one, other, ratio):
    """As Gale and Church have it: letters become 6.8 times their number in variance; summed numerically."""
    letters = (one + other / ratio) / 2
    distance = abs(other / ratio - one) / math.sqrt(6.8 * letters)
    step = 1e-4
    tail = sum(math.exp(-0.5 * (distance + (k + 0.5) * step) ** 2) for k in range(100_000)) * step
    expected = -math.log(2.0 * tail / math.sqrt(2.0 * math.pi))
    lengths = [[one], [other]]
    assert _misfit(lengths, (0, 1), (0, 1), ratio) == pytest.approx(expected, abs=1e-5)


def test_where_lengths_do_not_agree_the_pair_stays_whole():
    source, target = f"{'a' * 20}. {'a' * 60}.", f"{'b' * 60}. {'b' * 20}."
    assert list(cut_pair(source, target, ratio=1.0)) == [(source, target)]
    one = f"{'b' * 80}."
    assert list(cut_pair(source, one, ratio=1.0)) == [(source, one)]
    many = " ".join(f"{'b' * 10}." for _ in range(8))
    assert list(cut_pair(f"{'a' * 9}. {'a' * 70}.", many, ratio=1.0)) == [(f"{'a' * 9}. {'a' * 70}.", many)]


def test_verses_become_shorter_and_none_is_lost(data_dir):
    pairs = list(islice(read_bitext(data_dir / "bible/en-uk.tsv.xz"), 2000))
    cut = [piece for pair in pairs for piece in cut_pair(*pair, ratio=0.81)]
    assert len(cut) > 1.15 * len(pairs)
    for side in (0, 1):
        whole, pieces = (" ".join(one[side] for one in some) for some in (pairs, cut))
        assert whole.split() == pieces.split()


WORDS = [f"w{number}" for number in range(30)]


def verses(rng, *, turned):
    """Return verses of two clauses each, word for word; ``turned``: share with the target clauses swapped."""
    for number in range(400):
        one, other = ([rng.choice(WORDS) for _ in range(6)] for _ in range(2))
        sides = [[" ".join(words) + "." for words in (one, other)] for _ in range(2)]
        if rng.random() < turned:
            sides[1].reverse()
        yield str(number), " ".join(sides[0]), " ".join(sides[1]).replace("w", "x")


def test_verses_are_split_where_links_agree():
    """Lengths agree everywhere; only links show that clauses have changed places."""
    named = list(verses(random.Random(1), turned=0.04))
    turned = {one[1:] for one in named if one[1].replace("w", "x") != one[2]}
    cuts = find_cuts(named, ("en", "xx"), check_links=True)
    assert len(turned) > 5
    assert not turned & cuts.parts.keys()
    assert len(cuts.parts) > 0.9 * (len(named) - len(turned))
    assert "long verses split at clauses, which loses 4% of their links" in cuts.reason
    everything = find_cuts(named, ("en", "xx"), check_links=False)
    assert len(everything.parts) == len(named)
    assert [one for _, one, _ in cuts.pieces(named[:1])] == named[0][1].replace(". ", ".\n").split("\n")


def test_verses_stay_whole_where_many_links_are_lost():
    named = list(verses(random.Random(2), turned=0.3))
    cuts = find_cuts(named, ("en", "xx"), check_links=True)
    assert not cuts.parts
    assert cuts.reason.startswith("verses left whole: splitting would lose ")
    assert list(cuts.pieces(named)) == named
