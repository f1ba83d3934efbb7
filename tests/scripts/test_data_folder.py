"""The folder of real data: what is changed in treebanks, and that all of it has a name."""

import gzip

import pytest

from qsproj.datasets.catalogue import dataset
from qsproj.datasets.store import RetryPolicy, Store
from scripts.experiments import data
from tests.datasets.server import serving

SENTENCES = """\
# sent_id = en_x-ud-dev-7
1\ta\t_\t_\t_\t_\t0\troot\t_\t_

# sent_id = w8
# text = b
1\tb\t_\t_\t_\t_\t0\troot\t_\t_

"""


def changed(change):
    return "".join(change(SENTENCES.splitlines(keepends=True)))


def test_sentences_are_named_alike_in_both_languages():
    text = changed(data.with_parallel_ids("x"))
    assert "# sent_id = en_x-ud-dev-7\n# parallel_id = x/7\n1\t" in text
    assert "# sent_id = w8\n# parallel_id = x/8\n# text = b\n" in text


def test_sentences_are_left_out_whole():
    assert changed(data.without_sentences({"w8"})) == SENTENCES[: SENTENCES.index("# sent_id = w8")]
    assert changed(data.without_sentences({"8"})) == SENTENCES


def test_every_file_has_a_name():
    for row in data.FILES:
        assert row.part in {file.part for file in dataset(row.name).files}, row


def test_what_is_missing_is_made_and_the_rest_is_said(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pooch")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    made = [data.Made(f"treebanks/{part}", "ud/fr_gsd@2.16", part) for part in ("dev", "test")]
    monkeypatch.setattr(data, "FILES", made)
    store = Store(tmp_path / "cache", RetryPolicy(attempts=1))
    with serving() as files:
        files.content["/UniversalDependencies/UD_French-GSD/r2.16/fr_gsd-ud-dev.conllu"] = SENTENCES.encode()
        assert not data.make(tmp_path, store, mirror=files.url)
    with gzip.open(tmp_path / "treebanks" / "dev.conllu.gz", "rt", encoding="utf-8") as handle:
        assert handle.read() == SENTENCES
    assert "fr_gsd-ud-test.conllu: found no such file" in capsys.readouterr().err
    assert not (tmp_path / "treebanks" / "test.conllu.gz").exists()
