"""``import qsproj`` offers the names of the README, and quickly."""

import subprocess
import sys

import pytest

import qsproj


@pytest.mark.parametrize("name", qsproj.__all__)
def test_public_names_are_there(name):
    assert getattr(qsproj, name) is not None
    assert name in dir(qsproj)


def test_unknown_names_are_not():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = qsproj.nothing


def test_the_import_is_light():
    program = (
        "import sys, qsproj; "
        "assert not {'numpy', 'numba'} & set(sys.modules); qsproj.read_conllu, qsproj.load_model; "
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
