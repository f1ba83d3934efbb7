"""``qsproj bootstrap``: from two texts and a treebank to a model, stage by stage."""

from __future__ import annotations

import gzip
import io
import re
import shutil
from contextlib import redirect_stderr
from html import escape
from pathlib import Path

import pytest

from qsproj.cli.main import main
from qsproj.corpus.conllu import conllu_output, read_conllu, write_conllu
from qsproj.corpus.editing import comment_value, with_columns, with_tree
from qsproj.corpus.language.lexicon import SUGGESTIONS_HEADER, read_lexicon
from qsproj.corpus.text import without_spaces
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.parser import load_parser
from qsproj.models.storage import load_archive
from qsproj.pipelines.bootstrap.bootstrap import TITLES

CORPORA = Path("corpora").resolve()


def text_of(code, folder, count=None):
    path = folder / f"{code}.txt"
    sentences = list(read_conllu(CORPORA / f"{code}.conllu"))[:count]
    lines = (" ".join(one.forms).replace(" .", ".") for one in sentences)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def options(folder, *, source="en", target="de", count=None):
    sides = text_of(source, folder, count), text_of(target, folder, count)
    return (
        *("--treebank", CORPORA / f"{source}.conllu", "--bitext", *sides),
        *("--languages", source, target, "-o", folder / "model"),
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model, the work it was made in, and what was said."""
    folder = tmp_path_factory.mktemp("bootstrap")
    extras = ("--work", folder / "work", "--report", folder / "report.html", "--trees", folder / "trees")
    extras = (*extras, "--suggest", folder / "suggested", "--suggest-words", folder / "words")
    said = io.StringIO()
    with redirect_stderr(said):
        assert main(["bootstrap", "--verbose", *map(str, (*options(folder), *extras))]) == 0
    lines = said.getvalue().splitlines()
    done = [line for line in lines if line.endswith(" s)")]
    return folder, extras, done, [line for line in lines if line not in done]


def test_each_stage_says_in_a_line_what_it_did(made):
    names = [line.partition(":")[0] for line in made[2]]
    assert names[:6] == ["source", "words", "links", "trees", "tagger", "tagged"]
    assert names[6:] == ["prior", "parser", "model", "examples"]
    assert all(line.endswith(" s)") for line in made[2])
    assert made[3][0] == "10 stages, 0 of them kept"
    # A slow machine is also told how far it is, once a minute.
    begun = [line for line in made[3] if ": begun" in line]
    assert begun == [f"{TITLES[name]}: begun, stage {number} of 10" for number, name in enumerate(names, 1)]


def stage_file(work, name, ending):
    (found,) = (path for path in work.glob(f"{name}-*.{ending}") if path.suffix != ".json")
    return found


def assert_same_models(one, other):
    """Compare all but the provenance, byte by byte."""
    kinds, headers, arrays = zip(*map(load_archive, (one, other)), strict=True)
    assert kinds[0] == kinds[1]
    assert headers[0] == headers[1]
    assert arrays[0].keys() == arrays[1].keys()
    assert all(arrays[0][name].tobytes() == arrays[1][name].tobytes() for name in arrays[0])


def test_step_by_step_gives_the_same_model(made, run_cli, tmp_path):
    """The commands of docs/guides/projecting.md, from the model of the source."""
    folder, work = made[0], made[0] / "work"
    treebank, (english, german) = CORPORA / "en.conllu", (folder / "en.txt", folder / "de.txt")
    model = stage_file(work, "source", "model")
    parsed, words, links, tagger, tagged, parser, whole = (
        tmp_path / name
        for name in ("en.conllu", "words.conllu", "links", "tagger", "de.conllu", "parser", "whole")
    )
    pairs = ("--source", parsed, "--alignment", links)
    for command in (
        ("parse", "-m", model, english, "--confidence", "-o", parsed),
        ("tokenize", "--language", "de", "--split-contractions", german, "-o", words),
        ("align", parsed, words, "--weights", "--threshold", "0.15", "-o", links),
        ("project-tags", *pairs, "--target", words, "--language", "de", "-o", tagger),
        ("tag", "-m", tagger, words, "-o", tagged),
        ("project", *pairs, "--target", tagged, "--treebank", treebank, "--tagger", tagger, "-o", parser),
        ("bundle", tagger, parser, "--readings", "16", "-o", whole),
    ):
        outcome = run_cli(*command)
        assert outcome.code == 0, outcome.err
    assert links.read_bytes() == stage_file(work, "links", "pharaoh").read_bytes()
    assert_same_models(tagger, stage_file(work, "tagger", "model"))
    assert_same_models(whole, folder / "model")


def test_suggestions_are_compressed_by_their_name_or_go_to_standard_output(made, tmp_path, run_cli):
    folder, packed = made[0], tmp_path / "suggested.conllu.gz"
    work = ("--work", shutil.copytree(folder / "work", tmp_path / "work"))
    outputs = ("--suggest", packed, "--suggest-words", "-", "-o", tmp_path / "model")
    outcome = run_cli("bootstrap", *options(folder), *work, *outputs)
    assert outcome.code == 0, outcome.err
    assert gzip.decompress(packed.read_bytes()) == (folder / "suggested").read_bytes()
    assert outcome.out == (folder / "words").read_text(encoding="utf-8")


def test_raw_text_comes_out_tagged_and_parsed(made, run_cli):
    outcome = run_cli("parse", "-m", made[0] / "model", stdin="Der Hund schläft im Garten.\n")
    assert outcome.code == 0
    (sentence,) = read_conllu_text(outcome.out, made[0])
    # Nothing has shown how contractions are split but a table of the language.
    assert sentence.forms == ("Der", "Hund", "schläft", "in", "dem", "Garten", ".")
    assert sentence.upos[:3] == ("DET", "NOUN", "VERB")
    assert list(sentence.heads[1:4]) == [2, 3, 0]


def read_conllu_text(text, folder):
    path = folder / "parsed.conllu"
    path.write_text(text, encoding="utf-8")
    return list(read_conllu(path))


def test_trees_and_tags_are_near_those_of_annotators(made, run_cli):
    gold = list(read_conllu(CORPORA / "de.conllu"))
    parsed = run_cli("parse", "--retag", "-m", made[0] / "model", CORPORA / "de.conllu").out
    (scores,) = attachment_scores(gold, [read_conllu_text(parsed, made[0])])
    assert scores.upos > 70
    assert scores.uas > 60


def test_the_report_shows_stages_and_pairs(made):
    page = (made[0] / "report.html").read_text(encoding="utf-8")
    assert all(f"<td>{name}</td>" in page for name in ("source", "links", "parser"))
    assert page.count("<svg") == 20 + 1
    assert page.count('class="note"') == 3
    order = (
        "The model was trained on",
        "Next: parse text",
        "Confidence",
        "Sentences to annotate next",
        "Stages",
    )
    assert sorted(order, key=page.index) == list(order)
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_what_to_annotate_is_text_and_written(made):
    page = (made[0] / "report.html").read_text(encoding="utf-8")
    suggested = list(read_conllu(made[0] / "suggested"))
    assert len(suggested) == 20
    for sentence in suggested:
        assert "root" in sentence.deprels
        text = comment_value(sentence, "text")
        assert f"<td>{escape(text, quote=False)}</td>" in page
        assert text != " ".join(sentence.forms) or not text.endswith(".")


def test_suggested_words_are_a_lexicon(made):
    header, *lines = (made[0] / "words").read_text(encoding="utf-8").splitlines()
    assert header == SUGGESTIONS_HEADER
    rows = [line.split("\t") for line in lines if not line.startswith("# ")]
    tags = load_parser(made[0] / "model").tagger.tags
    for word, given, in_text, in_bitext, wrong, example in rows:
        assert set(given.split()) <= set(tags)
        assert int(in_text) == 0 < int(in_bitext)
        assert 0 <= float(wrong) <= int(in_bitext)
        assert f"[{word}]" in example.lower()
    lexicon = read_lexicon(made[0] / "words")
    assert lexicon.tags == {word: tuple(given.split()) for word, given, *_ in rows}


@pytest.mark.slow
def test_words_of_the_lexicon_are_not_suggested_again(made, tmp_path, run_cli):
    folder, *_ = made
    work = ("--work", shutil.copytree(folder / "work", tmp_path / "work"))
    lines = (folder / "words").read_text(encoding="utf-8").splitlines(keepends=True)
    lines = [line for line in lines if not line.startswith("# ")]
    (tmp_path / "known").write_text("".join(lines[:20]), encoding="utf-8")
    extras = ("--lexicon", tmp_path / "known", "--suggest-words", tmp_path / "next", "-o", tmp_path / "model")
    outcome = run_cli("bootstrap", *options(folder), *work, *extras)
    assert outcome.code == 0, outcome.err
    known, new = read_lexicon(tmp_path / "known").tags, read_lexicon(tmp_path / "next").tags
    assert len(known) == 20
    assert new
    assert not known.keys() & new.keys()


@pytest.mark.slow
def test_raw_text_is_compared_with_the_bitext(made, tmp_path, run_cli):
    folder, *_ = made
    work = ("--work", shutil.copytree(folder / "work", tmp_path / "work"))
    lines = (folder / "de.txt").read_text(encoding="utf-8").splitlines()
    text = tmp_path / "raw.txt"
    text.write_text("".join(f"{line}\n" for line in [*lines[:20], "", *["Dackelmops Zwergwels ."] * 3]))
    outcome = run_cli(
        "bootstrap", "--verbose", *options(folder), *work, "--text", text, "-o", tmp_path / "model"
    )
    assert outcome.code == 0, outcome.err
    assert re.search(r"^tagger: .*raw text not learned from: 1% of its words", outcome.err, re.MULTILINE)
    assert "out of domain" not in outcome.err
    assert re.search(r"^links: .*\(kept\)$", outcome.err, re.MULTILINE)
    far = tmp_path / "far.txt"
    far.write_text("Zwergwels und Dackelmops\n", encoding="utf-8")
    page, suggested = tmp_path / "far.html", tmp_path / "far.conllu"
    outputs = ("--report", page, "--suggest", suggested, "--suggest-sentences", "1", "-o", tmp_path / "model")
    outcome = run_cli("bootstrap", "--verbose", *options(folder), *work, "--text", far, *outputs)
    assert "67% of its words are not in the bitext; " in outcome.err
    assert "; the raw text is out of domain" in outcome.err
    assert "<td>zwergwels</td>" in page.read_text(encoding="utf-8")
    # What is to be parsed is annotated, not the bitext.
    (sentence,) = read_conllu(suggested)
    assert sentence.forms == ("Zwergwels", "und", "Dackelmops")
    far.write_text("Zwergwels und Dackelmops. Dackelmops!\n", encoding="utf-8")
    outcome = run_cli(
        "bootstrap", "--verbose", *options(folder), *work, "--text", far, "--paragraphs", *outputs
    )
    assert outcome.code == 0, outcome.err
    (sentence,) = read_conllu(suggested)
    assert len(sentence) in (4, 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "raw:1: found no sentence"),
        ("1\tein\t_\tDET\t_\t_\t0\troot\t_\t_\n\n", "raw:1: found CoNLL-U, expected plain text"),
        ("the cat is on the mat and it was in the house of the man that he is at\n" * 40, "found text in en"),
    ],
)
def test_raw_text_that_is_none_is_told(made, tmp_path, run_cli, content, message):
    raw = tmp_path / "raw"
    raw.write_text(content, encoding="utf-8")
    outcome = run_cli("bootstrap", "--verbose", *options(made[0]), "--text", raw)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert message in outcome.err


def test_trees_are_written(made):
    assert len(list(read_conllu(made[0] / "trees"))) > 20


def test_a_second_run_keeps_every_stage_and_writes_the_same_bytes(made, run_cli):
    folder, extras, said, _ = made
    before = (folder / "model").read_bytes()
    outcome = run_cli("bootstrap", "--verbose", *options(folder), *extras)
    *stages, last = outcome.err.splitlines()
    assert sum(line.endswith("(kept)") for line in stages) == len(said) >= len(stages) - 1
    assert last.startswith(f"wrote {folder / 'model'}, ")
    assert last.endswith(f"; next: qsproj parse -m {folder / 'model'} TEXT -o parsed.conllu")
    assert (folder / "model").read_bytes() == before


def test_the_log_has_a_line_for_each_stage_in_plain_words(made, run_cli):
    folder, extras, *_ = made
    said = run_cli("bootstrap", *options(folder), *extras).err.splitlines()
    lines = [line for line in said if line.endswith("(kept)")]
    assert [line.partition(":")[0] for line in lines] == [
        *("tagger and parser of the source language", "both sides tokenised"),
        *("word alignment", "source side parsed"),
        *("target tagger, trained through the links", "target side tagged"),
        "parser of the source treebank, its words translated",
        *("target parser, trained on projected trees", "one model for raw text"),
        "sample of parsed target text",
    ]
    assert not any(";" in line for line in lines)


def test_links_of_another_aligner(made, tmp_path, run_cli):
    """Links by hand over the words of both sides; of fewer pairs, or past the words, they are refused."""
    shutil.copytree(made[0] / "work", tmp_path / "work")
    words = {name: tmp_path / name for name in ("en", "de")}
    for name, path in words.items():
        forms = [one.forms for one in read_conllu(CORPORA / f"{name}.conllu")]
        path.write_text("".join(f"{' '.join(line)}\n" for line in forms), encoding="utf-8")
    given = (
        *("bootstrap", "--treebank", CORPORA / "en.conllu", "--bitext", *words.values()),
        *("--languages", "en", "de", "-o", tmp_path / "m", "--draws", "1", "--work", tmp_path / "work"),
    )
    outcome = run_cli(*given, "--alignment", CORPORA / "en-de.pharaoh", "--trees", tmp_path / "trees")
    assert outcome.code == 0, outcome.err
    assert "likely link, as corpora/en-de.pharaoh has them" in outcome.err.replace(f"{CORPORA}", "corpora")
    shown = {one.forms for one in read_conllu(CORPORA / "de.conllu")}
    assert {one.forms for one in read_conllu(tmp_path / "trees")} <= shown
    links = (CORPORA / "en-de.pharaoh").read_text(encoding="utf-8").splitlines(keepends=True)
    for content, message in (
        ("".join(links[:20]), "found the end of the file, expected a line of links for each pair"),
        (
            "".join(["0-90\n", *links[1:]]),
            "links:1: found links to 1 source and 91 target words, expected at most",
        ),
    ):
        (tmp_path / "links").write_text(content, encoding="utf-8")
        refused = run_cli(*given, "--alignment", tmp_path / "links")
        assert refused.code == 2
        assert message in refused.err.splitlines()[-1]
    refused = run_cli(*given, "--alignment", tmp_path / "links", "--cut")
    assert "leave out --cut" in refused.err


@pytest.mark.slow
def test_another_seed_repeats_what_depends_on_it(made, run_cli):
    folder, extras, *_ = made
    outcome = run_cli(
        "bootstrap", "--verbose", *options(folder), *extras, "--seed", "2", "-o", folder / "other"
    )
    kept = {line.partition(":")[0] for line in outcome.err.splitlines() if line.endswith("(kept)")}
    assert outcome.code == 0
    assert kept == set()
    assert "of other runs" in outcome.err.splitlines()[-2]
    cleaned = run_cli("bootstrap", "--verbose", *options(folder), *extras, "--clean")
    assert "removed 24 files" in cleaned.err.splitlines()[-2]
    assert cleaned.err.count("(kept)") == 10


def test_who_stops_the_work_is_told_how_to_go_on(made, tmp_path, monkeypatch, capsys):
    """A seventh stage that is stopped as by Ctrl-C: those before it are kept."""
    folder, *_ = made

    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("qsproj.pipelines.projection.priors.weighted_prior", stopped)
    for work, said in (
        (("--work", folder / "work"), "work: 6 stages kept; the same command continues from here"),
        ((), "nothing is kept; with --work DIR, the same command would continue"),
    ):
        command = [
            "bootstrap",
            *options(folder),
            *work,
            "--also",
            CORPORA / "es.conllu",
            "-o",
            tmp_path / "other",
        ]
        assert main(list(map(str, command))) == 130
        assert said in capsys.readouterr().err.splitlines()[-2]


def test_a_stage_file_that_was_changed_is_named(made, run_cli):
    folder, extras, *_ = made
    (path,) = (folder / "work").glob("links-*.pharaoh")
    before = path.read_bytes()
    try:
        path.write_bytes(before[:-2])
        outcome = run_cli("bootstrap", "--verbose", *options(folder), *extras)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1)
        assert f"{path}: found changed content" in outcome.err
    finally:
        path.write_bytes(before)


def test_another_report_repeats_nothing(made, run_cli):
    folder, extras, said, _ = made
    outcome = run_cli(
        "bootstrap", "--verbose", *options(folder), *extras[:2], "--report", folder / "again.html"
    )
    assert outcome.err.count("(kept)") == len(said)
    assert (folder / "again.html").exists()


def test_verses_are_paired_by_reference(made, tmp_path, run_cli):
    verses = []
    for code, order in (("en", 1), ("de", -1)):
        lines = text_of(code, tmp_path).read_text(encoding="utf-8").splitlines()
        named = [f"MAT {1 + number // 30}:{1 + number % 30}\t{line}\n" for number, line in enumerate(lines)]
        verses.append(tmp_path / f"{code}.verses")
        verses[-1].write_text("".join(named[::order]), encoding="utf-8")
    given = [*options(tmp_path), "--work", made[0] / "work", "--paired-by", "verse"]
    given[3:5] = verses
    outcome = run_cli("bootstrap", "--verbose", *given)
    assert outcome.code == 0, outcome.err
    # Some of the sentences are two, and are cut.
    line = r"^words: (\d+) pairs of \d+, 766 and 753 words, \d+ long pairs? split at clauses \("
    (words,) = re.findall(line, outcome.err, re.MULTILINE)
    assert int(words) >= 90
    assert re.search(r"^source: .*\(kept\)$", outcome.err, re.MULTILINE)


@pytest.mark.slow
def test_trees_over_the_source_are_taken_as_they_are(made, tmp_path, run_cli):
    given = [*options(tmp_path), "--work", made[0] / "work"]
    outcome = run_cli("bootstrap", "--verbose", *given, "--parsed-source", CORPORA / "en.conllu")
    assert outcome.code == 0, outcome.err
    (count,) = re.findall(r"words;? (\d+) source lines with given trees", outcome.err)
    assert int(count) >= 80
    other = run_cli("bootstrap", "--verbose", *given, "--parsed-source", CORPORA / "es.conllu")
    assert other.code == 2
    assert "es.conllu: found no tree over a source line of the bitext" in other.err.splitlines()[-1]


@pytest.mark.slow
def test_two_sources_and_other_treebanks_vote(made, tmp_path, run_cli):
    loud = re.sub(
        r"(?m)^\d+\t\S+", lambda cells: cells[0].upper(), (CORPORA / "es.conllu").read_text("utf-8")
    )
    (tmp_path / "loud.conllu").write_text(loud, encoding="utf-8")
    shutil.copytree(made[0] / "work", tmp_path / "kept")
    outcome = run_cli(
        "bootstrap",
        *options(tmp_path),
        *("--work", tmp_path / "kept", "--trees", tmp_path / "trees"),
        *("--treebank", CORPORA / "es.conllu", "--bitext", text_of("es", tmp_path), text_of("de", tmp_path)),
        *("--languages", "es", "de", "--also", tmp_path / "loud.conllu"),
        *("--tagged", CORPORA / "de.conllu", "--annotated", CORPORA / "de.conllu", "--verbose"),
    )
    assert outcome.code == 0, outcome.err
    assert "annotated sentences are in the training bitext: do not use them for testing" in outcome.err
    assert {"source-1", "source-2", "links-1", "links-2"} <= {
        line.partition(":")[0] for line in outcome.err.splitlines()
    }
    # Treebanks of the sources vote on tags where they are related, and so does the other one.
    judged = re.findall(r"(\w+)\.conllu: agrees with the tagger on", outcome.err)
    assert judged == ["en", "es", "loud"]
    # What was made of the first alone is not made again for a second.
    assert re.search(r"^source-1: .*\(kept\)$", outcome.err, re.MULTILINE)
    names = [one.sent_id for one in read_conllu(tmp_path / "trees")]
    # Each target sentence is learned from once, with the evidence of both sources.
    assert len(set(names)) == len(names) > 70
    assert all(name.isdigit() for name in names)


@pytest.mark.slow
def test_features_come_along(tmp_path, run_cli):
    report = ("--report", tmp_path / "report.html", "--features")
    outcome = run_cli("bootstrap", "--verbose", *options(tmp_path, source="es"), *report)
    assert outcome.code == 0, outcome.err
    assert re.search(r"^tagger: .*features that forms show: .*PronType of DET", outcome.err, re.MULTILINE)
    assert "DET Sing.Art</text>" in re.sub(
        r"(Def|Masc|Fem)\.", "", (tmp_path / "report.html").read_text("utf-8")
    )
    out = run_cli("parse", "-m", tmp_path / "model", stdin="Der Hund schläft im Garten.\n").out
    assert "PronType=Art" in out.splitlines()[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--languages", "es", "de"), "1 --treebank, 1 --bitext and 2 --languages"),
        (("--also", "-"), "- (standard input)"),
        (("--also", "missing.conllu"), "missing.conllu: cannot be read"),
        (("--tagged", "missing.conllu"), "missing.conllu: cannot be read"),
        (("--languages", "german", "de"), "1 --treebank, 1 --bitext and 2 --languages"),
        (("--report", "no/such/folder/r.html"), "r.html: cannot be written"),
        (("--work", "/dev/null/x"), "/dev/null/x: cannot be made"),
        (("--features",), "--show-features belongs to --report; leave it out"),
        (("--paragraphs",), "--paragraphs belongs to --text; leave it out"),
        (("--suggest-sentences", "3"), "--suggest-sentences belongs to --suggest; leave it out"),
        (("--paired-by", "chapter"), "unknown pairing 'chapter'; known: line, verse"),
        (("--paired-by", "verse"), "en.txt:1: found a line that begins with"),
    ],
)
def test_options_that_do_not_go_together(tmp_path, run_cli, change, message):
    outcome = run_cli("bootstrap", "--verbose", *options(tmp_path), *change)
    assert outcome.code == 2
    assert message in outcome.err.splitlines()[-1]
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("head", "message"),
    [(None, "no head, expected trees after --treebank"), (0, "several roots in every tree, expected trees")],
)
def test_a_treebank_without_usable_trees_is_named_before_the_first_stage(tmp_path, run_cli, head, message):
    given = list(options(tmp_path))
    given[1] = tmp_path / "bare.conllu"
    bare = (one.replace(heads=[head] * len(one)) for one in read_conllu(CORPORA / "en.conllu"))
    write_conllu(bare, given[1])
    outcome = run_cli("bootstrap", *given)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert f"bare.conllu: found {message}" in outcome.err


@pytest.mark.parametrize("code", ["qq", "xy", "zz"])
def test_a_code_that_no_language_has_is_told_with_what_to_do(tmp_path, run_cli, code):
    given = [*options(tmp_path, count=20)]
    given[-3] = code
    outcome = run_cli("bootstrap", "--verbose", *given)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert f"found language '{code}'" in outcome.err
    assert "qaa to qtz for a language" in outcome.err


@pytest.mark.parametrize("code", ["qaa", "gsw", "gd"])
def test_languages_without_rules_of_their_own_are_taken(tmp_path, run_cli, code):
    given = [*options(tmp_path, count=20)]
    given[-3] = code
    assert "found 20 pairs to learn from" in run_cli("bootstrap", "--verbose", *given).err


def test_bitexts_that_teach_nothing_are_told(tmp_path, run_cli):
    few = run_cli("bootstrap", "--verbose", *options(tmp_path, count=20))
    assert few.code == 2
    assert "found 20 pairs to learn from" in few.err
    swapped = [*options(tmp_path)]
    swapped[3], swapped[4] = swapped[4], swapped[3]
    assert "swap the sides" in run_cli("bootstrap", "--verbose", *swapped).err
    same = [*options(tmp_path)]
    same[-3] = "en"
    assert "found en as source and target language" in run_cli("bootstrap", "--verbose", *same).err


def test_trees_without_use_are_refused_before_anything_is_learned(tmp_path, run_cli):
    headless, untagged = (tmp_path / name for name in ("headless", "untagged"))
    headless.write_text("1\tHund\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    untagged.write_text("1\tHund\t_\t_\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    again = tmp_path / "again"
    again.write_bytes((CORPORA / "en.conllu").read_bytes())
    for given, said in (
        (("--also", CORPORA / "es.conllu", untagged), "untagged: found no sentence with UPOS on every word"),
        (("--also", headless), "headless: found no head"),
        (("--parsed-source", headless), "headless: found no tree"),
        (("--parsed-source", CORPORA / "en.conllu", again), "again: found 90 sentences of 90 that "),
        (("--also", CORPORA / "es.conllu", again), "en.conllu, expected each tree in one file"),
    ):
        outcome = run_cli("bootstrap", "--verbose", *options(tmp_path), *given)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1), outcome.err
        assert said in outcome.err


def test_what_is_annotated_badly_is_told_before_anything_is_learned(tmp_path, run_cli):
    headless, untagged, lexicon, text = (
        tmp_path / name for name in ("headless", "untagged", "lexicon", "text")
    )
    text.write_text("Der Hund schläft.\n", encoding="utf-8")
    headless.write_text("1\tHund\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    untagged.write_text("1\tHund\t_\t_\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    lexicon.write_text("Hund\tDOG\n", encoding="utf-8")
    for option, path, said in (
        ("--annotated", headless, "headless: found no head"),
        ("--tagged", untagged, "untagged:1: found word 1 ('Hund') without UPOS"),
        ("--lexicon", lexicon, "lexicon:1: found"),
        ("--unspaced", "left", "unknown side 'left'; known: source, target, both"),
        ("--also", text, "text:1: found the text 'Der Hund schläft.'"),
        ("--parsed-source", text, "text:1: found the text 'Der Hund schläft.'"),
        ("--alignment", text, "between spaces; write links i-j that count from 0"),
    ):
        work = tmp_path / "new" / "work"
        outcome = run_cli("bootstrap", "--verbose", *options(tmp_path), option, path, "--work", work)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1), outcome.err
        assert said in outcome.err
        # Neither an empty folder nor the one above it is left.
        assert not work.parent.exists()


@pytest.mark.slow
def test_text_without_spaces_needs_sentences_that_are_cut(made, tmp_path, run_cli):
    words = [*options(tmp_path), "--work", made[0] / "work"]
    words[words.index("de")] = "zh"
    outcome = run_cli("bootstrap", "--verbose", *words)
    assert outcome.code == 2
    assert "give segmented sentences" in outcome.err


def in_kana(text):
    """Write letters as hiragana, one for one."""
    return "".join(chr(0x3041 + ord(one) % 80) if one.isalpha() else one for one in text.lower())


@pytest.mark.slow
def test_text_of_a_script_without_spaces_that_has_spaces(made, tmp_path, run_cli):
    """The words are those of the bitext; the model cuts text that is written as usual."""
    words = options(tmp_path)
    target = tmp_path / "de.txt"
    trees = list(read_conllu(CORPORA / "de.conllu"))
    lines = [in_kana(" ".join(one.forms)) for one in trees]
    target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (text := tmp_path / "raw.txt").write_text(lines[0].replace(" ", "") + "\n", encoding="utf-8")
    words = ["ja" if word == "de" else word for word in words]
    few = tmp_path / "few.conllu"
    with conllu_output(few) as write:
        for tree, line in zip(trees[:4], lines, strict=False):
            cut = without_spaces(line.split(), sent_id=tree.sent_id)
            write(with_columns(with_tree(cut, tree.heads, tree.deprels), upos=tree.upos))
    expected = [tuple(line.split()) for line in lines]
    # Few trees alone would cut the bitext and the text wrongly.
    for more in ((), ("--annotated", few)):
        outcome = run_cli("bootstrap", "--verbose", *words, "--work", made[0] / "work", "--text", text, *more)
        assert outcome.code == 0, outcome.err
        parsed = run_cli(
            "parse", "-m", tmp_path / "model", stdin="".join(f"{''.join(one)}\n" for one in expected)
        )
        found = [one.forms for one in read_conllu_text(parsed.out, tmp_path)]
        right = sum(one == other for one, other in zip(found, expected, strict=True))
        assert right > 0.7 * len(expected)


def test_sides_that_do_not_translate_each_other_are_told(tmp_path, run_cli):
    words = options(tmp_path)
    target = tmp_path / "de.txt"
    lines = target.read_text(encoding="utf-8").splitlines()
    target.write_text("\n".join(sorted(lines, key=len, reverse=True)) + "\n", encoding="utf-8")
    outcome = run_cli("bootstrap", "--verbose", *words)
    assert outcome.code == 2
    assert "where the sides translate each other" in outcome.err
