"""What is said of the package fits together: ranges, pins, the version, what the integration run demands."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import qsproj

CHECKOUT = Path(qsproj.__file__).parents[1]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# What .venv-oldest holds; the tools of the others are not what a user of the library meets.
OLDEST_EXTRAS = ("eflomal", "dask", "test")


def lower_bounds(requirements):
    """Return the least version of each requirement, as written; fail on anything but NAME>=VERSION."""
    bounds = {}
    for requirement in requirements:
        if not requirement.startswith("qsproj["):
            found = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\w.]+)", requirement)
            assert found, f"{requirement}: found no range NAME>=VERSION"
            bounds[found[1].lower()] = found[2]
    return bounds


def pins(name):
    lines = (CHECKOUT / "scripts" / name).read_text(encoding="utf-8").splitlines()
    return {
        package.lower(): version
        for package, _, version in (line.partition("==") for line in lines if not line.startswith("#"))
    }


def extras(names):
    return [requirement for name in names for requirement in PROJECT["optional-dependencies"][name]]


def version_of(text):
    return tuple(map(int, re.findall(r"\d+", text)))


def test_every_dependency_is_pinned_within_its_range():
    bounds = lower_bounds([*PROJECT["dependencies"], *extras(PROJECT["optional-dependencies"])])
    pinned = pins("constraints.txt")
    assert set(bounds) <= set(pinned)
    assert [name for name, least in bounds.items() if version_of(pinned[name]) < version_of(least)] == []


def test_the_oldest_versions_are_the_lower_bounds():
    bounds = lower_bounds([*PROJECT["dependencies"], *extras(OLDEST_EXTRAS)])
    oldest = pins("constraints-oldest.txt")
    assert {name: oldest.get(name) for name in bounds} == bounds


def test_the_version_of_the_package_is_that_of_the_module(run_cli):
    assert PROJECT["dynamic"] == ["version"]
    assert run_cli("--version").out == f"qsproj {qsproj.__version__}\n"


def test_the_release_is_the_first_of_the_changelog():
    changelog = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (CHECKOUT / "CITATION.cff").read_text(encoding="utf-8")
    version, date = re.search(r"^## ([\d.]+) - ([\d-]+)$", changelog, re.MULTILINE).groups()
    assert version == qsproj.__version__
    assert f'version: {version}\ndate-released: "{date}"\n' in citation
    assert len(changelog.splitlines()) <= 120


def test_the_scripts_read_as_shell():
    for script in [*CHECKOUT.glob("scripts/*"), CHECKOUT / ".ci/run"]:
        if script.is_file() and script.suffix in {"", ".sh"}:
            assert subprocess.run(["bash", "-n", script], check=False).returncode == 0, script


def ci_alone(folder, data):
    """Run a copy of .ci/run beside scripts that only write down how they were called."""
    (folder / ".ci").mkdir(parents=True)
    (folder / "scripts").mkdir()
    script = folder / ".ci" / "run"
    script.write_bytes((CHECKOUT / ".ci/run").read_bytes())
    (folder / "README.md").write_text(
        "```sh\nscripts/test        # the tests; --oldest: oldest versions\n```\n"
    )
    for name in ("browser", "test", "check", "docs", "package"):
        (folder / "scripts" / name).write_text('#!/bin/sh\necho "$0 $*"\n')
        (folder / "scripts" / name).chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "QSPROJ_WITHOUT_DATA"}
    return subprocess.run(
        ["bash", script], env=environment | {"QSPROJ_DATA": data}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("data", ["/nowhere", ""])
def test_integration_fails_without_real_data(data, tmp_path):
    """There is no data beside the checkout, either."""
    done = ci_alone(tmp_path / "qsproj", data)
    assert done.returncode == 1
    assert done.stderr.startswith(f"ci: found no folder {data or '../shared/data'} of real data")


def test_integration_runs_all_tests_once_and_the_default_ones_with_the_oldest_versions(tmp_path):
    done = ci_alone(tmp_path / "qsproj", str(tmp_path))
    assert done.stdout.splitlines() == [
        "scripts/browser ",
        "scripts/test --all",
        "scripts/check ",
        "scripts/test --oldest",
        "scripts/docs ",
        "scripts/package ",
    ]
