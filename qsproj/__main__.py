"""``python -m qsproj``: the same as the ``qsproj`` command."""

from qsproj.cli.main import run

run()
