"""Data by name from the command line."""

import pytest

from tests.datasets.server import serving

pytest.importorskip("pooch")
BASE = "/UniversalDependencies/UD_French-GSD/r2.16/"
TREES = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as files:
        for part in ("train", "dev", "test"):
            files.content[f"{BASE}fr_gsd-ud-{part}.conllu"] = TREES
        yield files


def test_what_there_is_is_listed(run_cli):
    outcome = run_cli("data", "list", "pud")
    assert outcome.code == 0
    assert "German-PUD  2.10-2.18  CC BY-SA 3.0\n" in outcome.out
    assert run_cli("data", "list", "klingon").err == (
        "qsproj data: found no treebank or bitext with 'klingon'; `qsproj data list` shows all\n"
    )


def test_files_are_fetched_and_copied(run_cli, server, tmp_path, monkeypatch):
    monkeypatch.setenv("QSPROJ_CACHE", str(tmp_path / "cache"))
    get = ("data", "get", "ud/fr_gsd@2.16", "--part", "test", "--mirror", server.url)
    outcome = run_cli(*get)
    path = tmp_path / "cache" / "ud" / "2.16" / "fr_gsd-ud-test.conllu"
    assert (outcome.code, outcome.out) == (0, f"{path}\n")
    assert path.read_bytes() == TREES
    assert outcome.err.startswith("ud/fr_gsd@2.16: licence: see ")
    copy = tmp_path / "here" / path.name
    assert run_cli(*get, "-o", tmp_path / "here").out == f"{copy}\n"
    assert copy.read_bytes() == TREES
    asked = [path for path, _ in server.asked if path.endswith("conllu")]
    assert len(asked) == 1


def test_offline_says_what_would_be_fetched(run_cli, server, tmp_path):
    get = ("data", "get", "ud/fr_gsd@2.16", "opus/Books/en-de", "--cache", tmp_path, "--mirror", server.url)
    assert run_cli(*get[:3], *get[4:], "--part", "dev").code == 0
    asked = len(server.asked)
    outcome = run_cli(*get, "--offline", "--part", "dev", "--part", "test")
    assert outcome.code == 2
    assert outcome.out == f"{tmp_path}/ud/2.16/fr_gsd-ud-dev.conllu\n"
    first, second, third = outcome.err.splitlines()
    assert first == (
        f"ud/fr_gsd@2.16: would fetch {server.url}{BASE}fr_gsd-ud-test.conllu to "
        f"{tmp_path}/ud/2.16/fr_gsd-ud-test.conllu, if there is one"
    )
    assert second.startswith("opus/Books/en-de@v1: would fetch ")
    assert third.endswith("missing files of opus/Books/en-de@v1; without --offline they are downloaded")
    # The part that may not exist is missed where it is all that is wanted.
    treebank = (*get[:3], *get[4:], "--offline", "--part", "test")
    assert [run_cli(*treebank, *more).code for more in ((), ("--part", "dev"))] == [2, 0]
    assert len(server.asked) == asked


@pytest.mark.parametrize("more", [(), ("--offline",)])
def test_a_part_that_a_treebank_lacks_is_refused_before_any_download(run_cli, server, tmp_path, more):
    get = ("data", "get", "ud/fr_gsd@2.16", "ud/de_pud@2.14", "--cache", tmp_path, "--mirror", server.url)
    outcome = run_cli(*get, "--part", "dev", *more)
    message = "qsproj data: ud/de_pud@2.14: found no part dev; leave out --part\n"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", message)
    assert not server.asked


def test_a_refusal_is_one_line(run_cli, server, tmp_path):
    server.fails = [403]
    outcome = run_cli("data", "get", "ud/fr_gsd@2.16", "--cache", tmp_path, "--mirror", server.url)
    url = f"{server.url}{BASE}fr_gsd-ud-train.conllu"
    message = f"{url}: found the answer 403 Forbidden, expected the file"
    assert (outcome.code, outcome.err) == (2, f"qsproj data: {message}\n")
