"""Names and what they stand for."""

import re

import pytest

from qsproj.datasets.catalogue import _table, dataset, names
from qsproj.errors import UsageError


def test_a_treebank_has_the_files_of_its_release():
    found = dataset("ud/de_pud@2.14")
    assert (found.name, found.licence) == ("ud/de_pud@2.14", "CC BY-SA 3.0")
    (file,) = found.files
    assert file.url == (
        "https://raw.githubusercontent.com/UniversalDependencies/UD_German-PUD/r2.14/de_pud-ud-test.conllu"
    )
    assert (file.path, file.part, file.certain) == ("ud/2.14/de_pud-ud-test.conllu", "test", True)
    assert re.fullmatch("[0-9a-f]{40}", file.blob)


def test_without_a_release_the_last_is_meant():
    assert dataset("ud/de_pud").name == "ud/de_pud@2.18"
    assert dataset("ud/cs_pdt").name == "ud/cs_pdt@2.15"


def test_parts_of_which_the_table_knows_nothing_are_asked_for():
    found = dataset("ud/fr_gsd@2.16", mirror="http://here")
    assert [file.part for file in found.files] == ["train", "dev", "test"]
    assert not any(file.certain for file in found.files)
    assert (
        found.files[0].url == "http://here/UniversalDependencies/UD_French-GSD/r2.16/fr_gsd-ud-train.conllu"
    )


def test_a_bitext_comes_in_the_order_that_was_asked_for():
    (file,) = dataset("opus/News-Commentary/en-de").files
    assert file.url == "https://object.pouta.csc.fi/OPUS-News-Commentary/v16/moses/de-en.txt.zip"
    assert file.members == ("News-Commentary.de-en.en", "News-Commentary.de-en.de")
    assert dataset("opus/Europarl/sv-en@v7").files[0].path == "opus/Europarl/v7/en-sv.txt.zip"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("de_pud", "found 'de_pud', expected ud/CODE@RELEASE or opus/CORPUS/XX-YY"),
        ("ud/de_pud@1.4", "found release 1.4 of de_pud, expected one of 2.10-2.18"),
        ("ud/de_ewt", "unknown treebank 'de_ewt'; known: de_gsd, de_hdt, de_lit, de_pud"),
        ("opus/Europarl/en-de@../../x", "found 'opus/Europarl/en-de@../../x', expected ud/CODE@RELEASE"),
        ("opus/Nothing/en-de", "unknown corpus 'Nothing'; known: bible-uedin, "),
        ("opus/Europarl/en-en", "found en-en, expected two languages"),
        ("ud/../../etc@2.14", "found 'ud/../../etc@2.14', expected"),
    ],
)
def test_names_that_stand_for_nothing_are_refused(name, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        dataset(name)


def test_every_name_in_the_tables_stands_for_something():
    for name, _ in names():
        assert dataset(name.replace("XX-YY", "de-en")).files
    codes = [row["code"] for row in _table("treebanks.tsv")]
    assert codes == sorted(set(codes))
    entries = [(row["release"], row["file"]) for row in _table("treebank-files.tsv")]
    assert len(entries) == len(set(entries))
    assert {file.partition("-")[0] for _, file in entries} <= set(codes)


def test_names_are_found_by_any_part():
    assert ("ud/de_pud", "German-PUD  2.10-2.18  CC BY-SA 3.0") in list(names("german"))
    assert [name for name, _ in names("tatoeba")] == ["opus/Tatoeba/XX-YY"]
