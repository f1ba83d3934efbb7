"""The bench of many languages: ways as they are written, tables of changes, and a run through all stages."""

from __future__ import annotations

import argparse
import gzip
import lzma
from pathlib import Path

import pytest
from scipy.stats import binomtest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.pipelines.bootstrap.training import tag_target
from qsproj.pipelines.bootstrap.workspace import KINDS
from qsproj.pipelines.tagging import conventions
from scripts.experiments.harness.cache import Cache
from scripts.experiments.harness.experiment import Lab
from scripts.experiments.transfer import many_bench
from scripts.experiments.transfer.ablations import ABLATIONS, without
from scripts.experiments.transfer.by_tags import GOLD_TAGS, UNCERTAIN_TAGS
from scripts.experiments.transfer.many_bench import Way, change_row, sign_test
from scripts.experiments.transfer.many_languages import LANGUAGES, TREEBANKS, as_ud_2, drawn


def bench_options(kept, **options):
    """Return the options of a run on 20 sentences with one seed; stages are in ``kept``."""
    parser = argparse.ArgumentParser()
    many_bench.add_arguments(parser)
    parsed = parser.parse_args(["--tested", "20", "--work", str(kept / "work")])
    return argparse.Namespace(**vars(parsed) | options)


def test_a_way_is_read_from_options_in_quotes():
    way = Way.of("--draws 2 --without word classes --without balance --cut never --no-text --share 0.5")
    assert (way.draws, way.cut, way.text) == (2, False, False)
    assert way.without == ("word classes", "balance")
    assert way.soft.share == 0.5
    assert Way.of("") == Way.of("--sources en")


@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ingredient_left_out_is_given_back(name):
    one = ABLATIONS[name]
    before = [getattr(module, attribute) for module, attribute, _ in one.values]
    kind = KINDS[one.stage]
    with without([name]):
        assert KINDS[one.stage].version != kind.version
        for (module, attribute, new), old in zip(one.values, before, strict=True):
            assert getattr(module, attribute) is new
            assert new is not old
    assert [getattr(module, attribute) for module, attribute, _ in one.values] == before
    assert KINDS[one.stage] is kind


def test_two_ingredients_are_left_out_together():
    with without(["loose relations", "balance"]):
        assert frozenset() == conventions.LOOSE
        assert "loose relations" in str(KINDS[tag_target].version)
        assert "balance" in str(KINDS[tag_target].version)


@pytest.mark.parametrize(("up", "down"), [(0, 0), (5, 5), (10, 0), (3, 9), (13, 3)])
def test_sign_test(up, down):
    expected = binomtest(up, up + down).pvalue if up + down else 1.0
    assert sign_test(up, down) == pytest.approx(expected)


def row(uas, upos=80.0):
    kinds = {"upos": upos, "uas": uas, "las_no_subtypes": uas - 10, "ece": 5.0}
    return {UNCERTAIN_TAGS: kinds, GOLD_TAGS: kinds, "pairs": 10, "seconds": 1.0}


def test_a_change_shows_means_spread_and_losers():
    before = {(code, seed): row(60.0) for code in ("wo", "uk") for seed in (1, 2)}
    after = {("wo", 1): row(62.0), ("wo", 2): row(63.0), ("uk", 1): row(59.0), ("uk", 2): row(60.0)}
    name, upos, uas, las, *rest = change_row("change", before, after)
    assert (name, upos, uas, las) == ("change", "+0.00", "+1.00", "+1.00")
    spread, gaining, losers = rest[-3:]
    # Mean gains are .5 with one seed and 1.5 with the other.
    assert spread == "0.71"
    assert gaining.startswith("1 of 2")
    assert losers == "uk -0.5"


def test_a_change_of_some_languages_is_compared_on_these():
    before = {(code, seed): row(60.0) for code in ("wo", "uk") for seed in (1, 2)}
    found = change_row("change", before, {("wo", 1): row(61.0)})
    assert found[2] == "+1.00"
    assert found[-3:] == ["", "1 of 1, p = 1.000", ""]
    assert change_row("change", before, {})[1] == ""


def test_items_are_drawn_in_their_order_and_always_the_same():
    items = list(range(100))
    assert drawn(items, 10) == sorted(drawn(items, 10)) == drawn(items, 10)
    assert drawn(items, 200) == items


def test_arabic_is_scored_by_ud_2_as_it_is_written():
    forms, tags = ["رَأَى", "اَلحَظرِ", "وَ"], ["VERB", "NOUN", "CONJ"]
    given = Sentence.from_words(forms, upos=tags, heads=[0, 1, 1], deprels=["root", "nmod", "dobj"])
    found = as_ud_2(given)
    assert found.forms == given.forms
    assert found.upos == ("VERB", "NOUN", "CCONJ")
    assert found.deprels == ("root", "obl", "obj")
    assert found.heads.tolist() == given.heads.tolist()


def test_coordinators_of_arabic_stand_below_what_follows_them():
    """In UD 1 the first word is the head of clause and full stop, the fourth below the third."""
    given = Sentence.from_words(
        ["wa", "qala", "rajul", "wa", "imraa", "."],
        upos=["CONJ", "VERB", "NOUN", "CONJ", "NOUN", "PUNCT"],
        heads=[0, 1, 2, 3, 3, 1],
        deprels=["root", "parataxis", "nsubj", "cc", "conj", "punct"],
    )
    found = as_ud_2(given)
    assert found.heads.tolist() == [-1, 2, 0, 2, 5, 3, 2]
    assert found.deprels == ("cc", "root", "nsubj", "cc", "conj", "punct")


@pytest.mark.slow
def test_ways_are_learned_and_scored(tmp_path):
    for name, file in ((TREEBANKS["en"][0], "en"), (LANGUAGES["de-news"].dev[0], "de")):
        path = tmp_path / f"{name}.conllu.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(Path(f"corpora/{file}.conllu").read_bytes()))
    pairs = tmp_path / "bitext/en-de.tsv.xz"
    pairs.parent.mkdir()
    sides = (read_conllu(f"corpora/{code}.conllu") for code in ("en", "de"))
    lines = (f"{' '.join(one.forms)}\t{' '.join(other.forms)}\n" for one, other in zip(*sides))
    pairs.write_bytes(lzma.compress("".join(lines).encode()))
    ways = ["--share 0.5", "--without balance", "--text --learn-text always", "--cut always"]
    options = bench_options(
        tmp_path, a="--draws 1", b=[f"--draws 1 {way}" for way in ways], languages=["de-news"]
    )
    lab = Lab(tmp_path, Cache(tmp_path / "cache", Path(many_bench.__file__)), options)
    every = many_bench.every_run(lab, [options.a, *options.b])
    rows = [of["de-news", 1] for of in every.values()]
    assert all(30.0 < one[kind]["uas"] < 100.0 for one in rows for kind in (UNCERTAIN_TAGS, GOLD_TAGS))
    assert all(one[UNCERTAIN_TAGS] != rows[0][UNCERTAIN_TAGS] for one in rows[1:4])
    assert ["split at clauses" in " ".join(one["log"]) for one in rows] == [False] * 4 + [True]
    figures = many_bench.run(lab)
    assert figures.tables["changes"].names == options.b
    options.kept, options.seeds = True, [1, 2]
    assert many_bench.every_run(lab, [options.a])[options.a].keys() == {("de-news", 1)}
    options.kept, options.seeds = False, [1]
    options.tags, options.b = True, []
    (only,) = many_bench.every_run(lab, [options.a]).values()
    assert only["de-news", 1][UNCERTAIN_TAGS].keys() == {"upos"}
    assert many_bench.run(lab).tables["in use"].cell("German", "UAS") == ""


@pytest.mark.slow
def test_languages_of_a_folder_are_measured(tmp_path):
    folder = tmp_path / "others"
    folder.mkdir()
    with pytest.raises(UsageError, match="found none"):
        many_bench.other_languages(folder)
    sides = {code: list(read_conllu(f"corpora/{code}.conllu")) for code in ("en", "de")}
    verses = {
        code: "".join(f"MAT 1:{number}\t{' '.join(one.forms)}\n" for number, one in enumerate(side, 1))
        for code, side in sides.items()
    }
    (folder / "xx.conllu").write_bytes(Path("corpora/de.conllu").read_bytes())
    (folder / "xx.verses").write_text(verses["de"], encoding="utf-8")
    for name, content in (
        ("bible/verses/en.tsv.xz", lzma.compress(verses["en"].encode())),
        ("treebanks/english-ewt-train.conllu.gz", gzip.compress(Path("corpora/en.conllu").read_bytes())),
    ):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(content)
    cache = Cache(tmp_path / "cache", Path(many_bench.__file__))
    options = bench_options(tmp_path, a="--draws 1", folder=folder)
    figures = many_bench.run(Lab(tmp_path, cache, options))
    assert figures.tables["in use"].cell("xx", "text") == "New Testament"
    assert float(figures.tables["in use"].cell("xx", "UAS")) > 30.0
    (folder / "de.conllu").write_bytes(b"")
    with pytest.raises(UsageError, match="found de, xx"):
        many_bench.other_languages(folder)
