"""Links that count tokens as written: spread over their words where asked for, noticed where not."""

import pytest

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.errors import DataError
from qsproj.progress import notices

ROW = "{}\t{}\t_\tX\t_\t_\t{}\tdep\t_\t_\n"
# im = in dem: three tokens, four words.
TARGET = "1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n" + "".join(
    ROW.format(number, form, number - 1) for number, form in enumerate(("in", "dem", "Haus", "."), start=1)
)
SOURCE = "".join(ROW.format(n, form, n - 1) for n, form in enumerate(("in", "house", "."), start=1))


@pytest.fixture
def files(tmp_path):
    def written(source, target, links, format):
        for name, text in (("s", source), ("t", target)):
            (tmp_path / name).write_text(f"{text}\n" * 6)
        (tmp_path / "links").write_text(f"{links}\n" * 6)
        return AlignedFiles(*(str(tmp_path / name) for name in ("s", "t", "links")), format)

    return written


@pytest.mark.parametrize(
    ("source", "target", "format", "expected"),
    [
        (SOURCE, TARGET, "pharaoh:target-tokens", [[1, 1], [1, 2], [2, 3], [3, 4]]),
        (SOURCE, TARGET, "pharaoh:tokens", [[1, 1], [1, 2], [2, 3], [3, 4]]),
        (TARGET, SOURCE, "pharaoh:source-tokens", [[1, 1], [2, 1], [3, 2], [4, 3]]),
        (TARGET, TARGET, "pharaoh:tokens", [[1, 1], [1, 2], [2, 1], [2, 2], [3, 3], [4, 4]]),
    ],
)
def test_links_are_spread_over_the_words_of_a_token(files, source, target, format, expected):
    for pair in files(source, target, "0-0:0.5 1-1:0.75 2p2:1", format):
        assert sorted(pair.alignment.links.tolist()) == expected
        assert len(pair.target) == pair.alignment.n_target
        spread = dict(zip(map(tuple, pair.alignment.links.tolist()), pair.alignment.weights.tolist()))
        assert spread[1, 1] == 0.5
        assert pair.alignment.sure.tolist().count(False) == 1


def test_links_that_fit_tokens_are_noticed(files):
    for links, format, said in (
        ("0-0 1-1 2-2", "pharaoh", True),
        ("0-0 0-1 1-2 2-3", "pharaoh", False),
        ("0-0 1-1", "pharaoh", False),
        ("0-0 1-1 2-2", "pharaoh:target-tokens", False),
    ):
        told = []
        with notices(told.append):
            list(files(SOURCE, TARGET, links, format))
        assert len(told) == said
        if said:
            assert (
                "links seem to count the tokens of the target, not its words: in none of 6 pairs" in told[0]
            )
            assert "--alignment-format pharaoh:target-tokens" in told[0]


def test_a_link_beyond_the_tokens_is_refused(files):
    with pytest.raises(DataError, match=r"found a link of word 1 with word 4, .*a pair of 3 by 3"):
        list(files(SOURCE, TARGET, "0-3", "pharaoh:tokens"))
