"""``qsproj project-tags`` from files to a tagger, and its one-line errors."""

import re
import sys
from types import SimpleNamespace

import pytest

from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import read_conllu, write_conllu
from tests.pipelines.tagging.made_bitext import gold, made_pairs


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write source, target as text and as CoNLL-U, links, test and few tagged sentences."""
    folder = tmp_path_factory.mktemp("project")
    pairs = made_pairs(120, wrong=0.05)
    write_conllu((pair.source for pair in pairs), folder / "en.conllu")
    write_conllu((pair.target for pair in pairs), folder / "de.conllu")
    text = "".join(" ".join(pair.target.forms) + "\n" for pair in pairs)
    (folder / "de.txt").write_text(text, encoding="utf-8")
    write_alignments((pair.alignment for pair in pairs), folder / "links", with_weights=True)
    write_conllu(gold(made_pairs(40, seed=5)), folder / "test.conllu")
    write_conllu(gold(made_pairs(5, seed=6)), folder / "few.conllu")
    (folder / "lexicon.tsv").write_text("Hund\tNOUN\nalter\tADJ NOUN\n", encoding="utf-8")
    (folder / "strange.tsv").write_text("Hund\tNOUN\n\nalter\tADJ,NN\n", encoding="utf-8")
    (folder / "empty").write_text("", encoding="utf-8")
    (folder / "shorter.txt").write_text(text[: text.index("\n") + 1], encoding="utf-8")
    spanish = "".join(" ".join(one.forms) + "\n" for one in read_conllu("corpora/es.conllu"))
    (folder / "es.txt").write_text(spanish, encoding="utf-8")
    bare = (folder / "de.conllu").read_text(encoding="utf-8")
    (folder / "bare.conllu").write_text(bare, encoding="utf-8")
    return folder


def command(files, *more, target="de.txt", source="en.conllu", alignment="links"):
    return [
        *("project-tags", "--source", files / source, "--target", files / target),
        *("--alignment", files / alignment, "-o", files / "de.tagger", *more),
    ]


@pytest.mark.parametrize("target", ["de.txt", "de.conllu"])
def test_projects_and_tags(files, run_cli, target):
    outcome = run_cli(*command(files, target=target))
    assert outcome.code == 0, outcome.err
    assert [line.split(":")[0] for line in outcome.err.splitlines()][-1] == "held-out evidence"
    tagged = files / "tagged.conllu"
    assert run_cli("tag", "-m", files / "de.tagger", files / "test.conllu", "-o", tagged).code == 0
    assert tagged.read_text(encoding="utf-8") == (files / "test.conllu").read_text(encoding="utf-8")


def test_all_that_there_is(files, run_cli):
    more = ["--tagged", files / "few.conllu", "--lexicon", files / "lexicon.tsv", "--language", "de"]
    twice = ["--source", files / "en.conllu", "--alignment", files / "links"]
    outcome = run_cli(*command(files, *more, *twice))
    assert outcome.code == 0, outcome.err
    assert "and 5 tagged" in outcome.err
    assert "\tDET\t" in run_cli("tag", "-m", files / "de.tagger", stdin="Der Hund.\n").out


def test_sources_with_targets_of_their_own_are_joined(files, run_cli):
    second = [
        "--source",
        files / "en.conllu",
        "--alignment",
        files / "links",
        "--target",
        files / "de.conllu",
    ]
    once, twice = (
        re.findall(r"([\d,]+ target words).* ([\d.]+) links a word", run_cli(*command(files, *more)).err)
        for more in ([], second)
    )
    assert twice[0][0] == once[0][0]
    assert float(twice[0][1]) == pytest.approx(2 * float(once[0][1]), abs=0.02)


def test_links_of_other_words_are_refused(files, tmp_path, run_cli):
    """Text that was aligned as it stands is cut into more words with --language: no link is out of range."""
    text = (files / "de.txt").read_text(encoding="utf-8").replace(" .", ".")
    (tmp_path / "de.txt").write_text(text, encoding="utf-8")
    links = tmp_path / "links"
    assert run_cli("align", files / "en.conllu", tmp_path / "de.txt", "-o", links).code == 0
    project = command(files, target=tmp_path / "de.txt", alignment=links)
    assert run_cli(*project).code == 0
    (files / "de.tagger").unlink()
    outcome = run_cli(*project, "--language", "de")
    lengths = [len(line.split()) for line in text.splitlines()]
    assert outcome.code == 2
    assert f" and {lengths[0]} words, expected " in outcome.err
    assert f" and {lengths[0] + 1}, as in the pair" in outcome.err
    assert "qsproj tokenize" in outcome.err
    assert not (files / "de.tagger").exists()
    # Links of the same name that something else has written are not judged by counts of older ones.
    changed = [f"{line} 0-0" for line in links.read_text(encoding="utf-8").splitlines()]
    links.write_text("\n".join(changed) + "\n", encoding="utf-8")
    assert run_cli(*project, "--language", "de").code == 0
    assert (
        run_cli("align", files / "en.conllu", tmp_path / "de.txt", "--tokenize", "en", "de", "-o", links).code
        == 0
    )
    assert run_cli(*project, "--language", "de").code == 0


def test_raw_text_is_read(files, run_cli):
    """Repeated sentences count once."""
    raw = "Der Wagner sieht die Katze.\n\nEin Wagner jagt die Maus .\n" * 20
    (files / "raw.txt").write_text(raw, encoding="utf-8")
    outcome = run_cli(*command(files, "--text", files / "raw.txt", "--language", "de"))
    assert outcome.code == 0, outcome.err
    assert "from 2 sentences of raw text" in outcome.err


def test_confidence_of_each_tag(files, run_cli):
    assert run_cli(*command(files)).code == 0
    out = run_cli("tag", "-m", files / "de.tagger", "--confidence", files / "test.conllu").out
    rows = [line.split("\t") for line in out.splitlines() if line[:1].isdigit()]
    assert all(row[9].startswith("TagProb=") for row in rows)
    assert all(0.5 < float(row[9].removeprefix("TagProb=")) <= 1.0 for row in rows)


ERRORS = [
    ({}, ["--lexicon", "strange.tsv"], "strange.tsv:3: found the tag 'NN', expected one of ADJ ADP"),
    ({"target": "shorter.txt"}, [], "found sentence 2, but only 1 in"),
    ({"source": "bare.conllu"}, [], "no source word has a UPOS tag; tag the source first (qsproj tag)"),
    ({"target": "empty"}, [], "found sentence 1, but only 0 in"),
    ({"alignment": "empty"}, [], "empty"),
    ({"source": "missing"}, [], "missing"),
    (
        {},
        ["--source", "en.conllu"],
        "found 2 --source, 1 --alignment and 1 --target; give each source its own links",
    ),
    ({}, ["--tagged", "bare.conllu"], "bare.conllu:2: found word 1 ("),
    ({}, ["--raw", "de.txt"], "found --raw, which it does not know"),
    ({}, ["--text", "de.txt"], "--text needs --language CODE, to tokenise the text"),
    ({}, ["--text", "missing", "--language", "de"], "missing"),
    ({}, ["--text", "empty", "--language", "de"], "empty:1: found no sentence"),
    ({}, ["--text", "en.conllu", "--language", "de"], "en.conllu:1: found CoNLL-U, expected plain text"),
    ({}, ["--text", "es.txt", "--language", "de"], "es.txt: found text in es, as its commonest words show"),
    ({}, ["--columns", "upos,xpos"], "--columns: links do not carry xpos, they carry upos, feats, lemma"),
    (
        {},
        ["--columns", "lemma", "--lexicon", "lexicon.tsv"],
        "--columns: no source of lemmas; give --tagged",
    ),
    ({}, ["--split-contractions"], "found --split-contractions, which it does not know"),
]


@pytest.mark.parametrize(("names", "more", "message"), ERRORS, ids=[error[2][:30] for error in ERRORS])
def test_errors_are_one_line(files, run_cli, names, more, message):
    before = sorted(files.iterdir())
    located = [files / word if (files / word).exists() else word for word in more]
    outcome = run_cli(*command(files, *located, **names))
    assert (outcome.code, outcome.err.count("\n")) == (2, 1), outcome.err
    assert message in outcome.err
    assert sorted(files.iterdir()) == before


def test_options_of_project_alone_are_refused(files, run_cli):
    outcome = run_cli("train-tagger", files / "few.conllu", "--tagged", "x", "-o", files / "t")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "found --tagged, which it does not know" in outcome.err
    outcome = run_cli("project-tags", "--source", files / "en.conllu", "-o", files / "t")
    assert "the following arguments are required: --target, --alignment" in outcome.err


@pytest.fixture(scope="module")
def featured(files, tmp_path_factory):
    """Write the same pairs, whose source tells which nouns are the subject of a verb in the past."""
    folder = tmp_path_factory.mktemp("featured")
    for name in ("de.txt", "links"):
        (folder / name).write_text((files / name).read_text(encoding="utf-8"), encoding="utf-8")
    rows = (files / "en.conllu").read_text(encoding="utf-8").splitlines()
    old = {"big": "Degree=Pos", "old": "Degree=Sup", "the": "PronType=Art", "a": "PronType=Ind"}
    cells = [row.split("\t") for row in rows]
    for row in cells:
        if len(row) == 10:
            row[5] = old.get(row[1], "_")
    (folder / "en.conllu").write_text("\n".join(map("\t".join, cells)) + "\n", encoding="utf-8")
    return folder


def test_features_come_through_links(featured, run_cli):
    outcome = run_cli(*command(featured))
    assert outcome.code == 0, outcome.err
    assert "features that forms show: PronType of DET" in outcome.err
    out = run_cli("tag", "-m", featured / "de.tagger", featured / "de.txt", "--language", "de").out
    found = {tuple(line.split("\t")[1:6:4]) for line in out.splitlines() if "\t" in line}
    assert {("der", "PronType=Art"), ("ein", "PronType=Ind"), ("Hund", "_")} <= found
    told = run_cli("info", featured / "de.tagger").out
    assert "features:     PronType\n" in told
    assert "columns:      upos, feats\n" in told


def test_lemmas_come_from_a_lexicon_or_from_tagged_sentences(files, tmp_path, run_cli):
    unimorph, tagged, model = (tmp_path / name for name in ("unimorph", "tagged.conllu", "de.tagger"))
    unimorph.write_text("der\tder\tART\nder\tdie\tART\nHund\tHund\tN;NOM;SG\n", encoding="utf-8")
    tagged.write_text("1\tKatze\tkater\tNOUN" + "\t_" * 6 + "\n\n", encoding="utf-8")

    def lemmas(*more):
        outcome = run_cli(*command(files, "--language", "de", "-o", model, *more))
        assert outcome.code == 0, outcome.err
        out = run_cli("tag", "-m", model, stdin="Der Hund sieht die Katze .\n").out
        return [line.split("\t")[2] for line in out.splitlines() if line[:1].isdigit()]

    assert lemmas("--lexicon", unimorph, "--tagged", tagged) == ["der", "Hund", "_", "der", "kater", "."]
    assert lemmas("--lexicon", unimorph, "--columns", "upos") == ["_"] * 6
    assert lemmas() == ["_"] * 6


def test_a_lexicon_tells_lemmas_of_a_treebank_without(files, tmp_path, run_cli):
    unimorph, model = tmp_path / "unimorph", tmp_path / "de.tagger"
    unimorph.write_text("hunt\tHund\tN;NOM;SG\n", encoding="utf-8")
    learned = run_cli("train-tagger", files / "few.conllu", "--lexicon", unimorph, "-o", model)
    assert (learned.code, "also learned: lemma" in learned.err) == (0, True), learned.err
    assert "\tHund\thunt\t" in run_cli("tag", "-m", model, "--language", "de", stdin="Der Hund\n").out
    (files / "two").write_text("Hund\thund\n", encoding="utf-8")
    for name, found in (
        ("lexicon.tsv", "1: found 'Hund\\tNOUN', expected lemma TAB form TAB features; tags are learned"),
        ("two", "1: found 'Hund\\thund', expected lemma TAB form TAB features"),
        ("few.conllu", "expected lemma TAB form TAB features; name it as a TREEBANK"),
    ):
        refused = run_cli("train-tagger", files / "few.conllu", "--lexicon", files / name, "-o", model)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert found in refused.err


def test_a_package_tells_lemmas(files, tmp_path, run_cli, monkeypatch):
    known = {"Hund": "Hunt", "der": "the"}
    package = SimpleNamespace(is_known=lambda word, _: word in known, lemmatize=lambda word, _: known[word])
    monkeypatch.setitem(sys.modules, "simplemma", package)
    model, more = tmp_path / "de.tagger", ("--lemmatizer", "simplemma", "--language", "de")
    for learned in (
        run_cli(*command(files, *more, "-o", model)),
        run_cli("train-tagger", files / "few.conllu", *more, "-o", model),
    ):
        assert learned.code == 0, learned.err
        out = run_cli("tag", "-m", model, stdin="Der Hund\n").out
        assert [line.split("\t")[2] for line in out.splitlines() if line[:1].isdigit()] == ["the", "Hunt"]
    (tmp_path / "lemmas.conllu").write_text("1\tKatze\tkater\tNOUN" + "\t_" * 6 + "\n\n", encoding="utf-8")
    refused = run_cli("train-tagger", tmp_path / "lemmas.conllu", *more, "-o", model)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--lemmatizer: the treebanks have lemmas, which are learned; leave it out" in refused.err
    refused = run_cli("train-tagger", files / "few.conllu", "--lemmatizer", "lemmy", "-o", model)
    assert (refused.code, "simplemma" in refused.err) == (2, True)


def test_columns_leave_features_out(featured, run_cli):
    assert run_cli(*command(featured, "--columns", "upos")).code == 0
    assert "PronType" not in run_cli("tag", "-m", featured / "de.tagger", stdin="der Hund\n").out
