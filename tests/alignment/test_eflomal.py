"""eflomal as an external program; a stand-in of the same interface where the program itself is absent."""

import stat
import sys

import numpy as np
import pytest

from qsproj.alignment.aligners import align_words, find_eflomal
from qsproj.errors import QsprojError, UsageError

PAIRS = [(("a", "b"), ("x", "y")), ((), ("x",)), (("a",), ("x", "y"))]
STAND_IN = """#!{python}
import sys
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
first_source = lambda m, n: [(0, j) for j in range(n)]
first_target = lambda m, n: [(i, 0) for i in range(m)]
for name, pick in (("-f", first_source), ("-r", first_target)):
    with open(options["-s"]) as sources, open(options["-t"]) as targets, open(options[name], "w") as output:
        for source, target in zip(sources, targets):
            links = pick(len(source.split()), len(target.split()))
            output.write(" ".join(f"{{i}}-{{j}}" for i, j in links) + "\\n")
{ending}
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    def install(ending=""):
        program = tmp_path / "eflomal-align"
        program.write_text(STAND_IN.format(python=sys.executable, ending=ending))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(tmp_path))

    return install


def test_links_of_the_program(stand_in):
    stand_in()
    alignments = list(align_words(PAIRS, method="eflomal", symmetrization="union"))
    assert [alignment.links.tolist() for alignment in alignments] == [
        [[1, 1], [1, 2], [2, 1]],
        [],
        [[1, 1], [1, 2]],
    ]
    assert all(alignment.weights is None for alignment in alignments)
    assert np.shape(alignments[1].links) == (0, 2)


def test_links_of_characters_become_those_of_words(stand_in):
    stand_in()
    pairs = [(("a", "b"), ("日本", "語"))]
    alignments = list(align_words(pairs, method="eflomal", symmetrization="union", unspaced="target"))
    assert [alignment.links.tolist() for alignment in alignments] == [[[1, 1], [1, 2], [2, 1]]]
    assert alignments[0].n_target == 2


def test_failure_is_told(stand_in):
    stand_in(ending="sys.exit('out of memory')")
    with pytest.raises(QsprojError, match="out of memory"):
        list(align_words(PAIRS, method="eflomal"))


def test_absence_is_told_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(UsageError, match=r"pip install 'qsproj\[eflomal\]'"):
        find_eflomal()
    with pytest.raises(UsageError, match="--method hmm"):
        align_words(PAIRS, method="eflomal")


def test_threshold_needs_probabilities(stand_in):
    stand_in()
    with pytest.raises(UsageError, match="probabilities"):
        align_words(PAIRS, method="eflomal", symmetrization="threshold")


def test_the_real_program():
    try:
        find_eflomal()
    except UsageError:
        pytest.skip("eflomal: install it to run this")
    pairs = [(("the", "house"), ("das", "haus")), (("the", "book"), ("das", "buch"))] * 5
    alignments = list(align_words(pairs, method="eflomal", symmetrization="union"))
    assert all(alignment.n_target == 2 and len(alignment.links) for alignment in alignments)
