"""``qsproj eval``: what it prints, as a table and as JSON, and what it says of files that do not fit."""

import gzip
import json
import re

import pytest

GOLD = """\
# sent_id = one
1\tHe\the\tPRON\t_\t_\t2\tnsubj:pass\t_\t_
2\tfell\tfall\tVERB\t_\t_\t0\troot\t_\t_
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# sent_id = two
1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_
1\tzu\tzu\tADP\t_\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_
3\tHaus\tHaus\tNOUN\t_\t_\t0\troot\t_\t_

"""

SYSTEM = GOLD.replace("2\tnsubj:pass", "2\tnsubj").replace("\tDET", "\tPRON").replace("2\tpunct", "1\tpunct")
OTHER = SYSTEM.replace("3\tcase", "2\tcase")


@pytest.fixture
def files(tmp_path):
    paths = {}
    for name, text in (("gold", GOLD), ("system", SYSTEM), ("other", OTHER)):
        paths[name] = tmp_path / f"{name}.conllu"
        paths[name].write_text(text, encoding="utf-8")
    return paths


def test_json(run_cli, files):
    outcome = run_cli("eval", files["gold"], files["system"], "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out) == pytest.approx(
        {
            "uas": 100 * 5 / 6,
            "las": 100 * 4 / 6,
            "las_no_subtypes": 100 * 5 / 6,
            "upos": 100 * 5 / 6,
            "uem": 50.0,
            "lem": 50.0,
            "root_f1": 100.0,
            "tokens": 6,
            "sentences": 2,
            "words_without_gold_head": 0,
            **{"xpos": None, "ufeats": None, "alltags": None, "lemmas": 100.0},
            **{"clas": 100.0, "mlas": None, "blex": 100.0, "elas": None, "eulas": None},
        }
    )


def test_no_punct(run_cli, files):
    scores = json.loads(run_cli("eval", files["gold"], files["system"], "--json", "--no-punct").out)
    assert (scores["tokens"], scores["uas"], scores["uem"]) == (5, 100.0, 100.0)


def test_table(run_cli, files):
    outcome = run_cli("eval", files["gold"], files["system"])
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        f"{files['system']} against {files['gold']}",
        "2 sentences, 6 words scored, punctuation included",
        "",
        "UAS                83.33  5 words with the right head",
        "LAS                66.67  4 words with the right head and relation",
        "LAS, no subtypes   83.33  5 words the same up to subtypes",
        "UPOS               83.33  5 words with the right tag",
        "UEM                50.00  1 sentence with every head right",
        "LEM                50.00  1 sentence with every head and relation right",
        "root F1           100.00  2 gold roots, 2 found, 2 right",
    ]


def test_groups_line_up(run_cli, files):
    lines = run_cli("eval", files["gold"], files["system"], "--by", "relation").out.splitlines()[11:]
    assert lines == [
        "             words   found     UAS     LAS  no subtypes",
        "root             2       2  100.00  100.00       100.00",
        "case             1       1  100.00  100.00       100.00",
        "det              1       1  100.00  100.00       100.00",
        "nsubj:pass       1       0  100.00    0.00       100.00",
        "punct            1       1    0.00    0.00         0.00",
        "nsubj            0       1       -       -            -",
    ]


def test_groups_as_json(run_cli, files):
    groups = json.loads(run_cli("eval", files["gold"], files["system"], "--by", "relation", "--json").out)[
        "groups"
    ]
    assert groups["nsubj"] == {
        "uas": None,
        "las": None,
        "las_no_subtypes": None,
        "tokens": 0,
        "predicted": 1,
    }


def test_versus(run_cli, files):
    outcome = run_cli("eval", files["gold"], files["system"], "--versus", files["other"])
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[3:5] == [f"SYSTEM  {files['system']}", f"OTHER   {files['other']}"]
    assert lines[6].split() == ["SYSTEM", "OTHER", "change", "p"]
    assert lines[7].split() == ["UAS", "83.33", "66.67", "-16.67", "1.0000"]


def test_versus_says_in_words_which_is_better(run_cli, files):
    said = run_cli("eval", files["gold"], files["system"], "--versus", files["gold"]).out.splitlines()[-1]
    assert said.startswith("OTHER has the better LAS, by ")
    assert "the difference is not significant (p = " in said
    said = run_cli("eval", files["gold"], files["gold"], "--versus", files["system"]).out.splitlines()[-1]
    assert said.startswith("SYSTEM has the better LAS, by ")
    said = run_cli("eval", files["gold"], files["gold"], "--versus", files["gold"], "--tags").out
    assert said.splitlines()[-1] == "Both have the same UPOS."


def test_versus_as_json(run_cli, files):
    files["gold"].write_text(GOLD * 6, encoding="utf-8")
    files["system"].write_text(SYSTEM * 6, encoding="utf-8")
    outcome = run_cli("eval", files["gold"], files["gold"], "--versus", files["system"], "--json")
    result = json.loads(outcome.out)
    assert result["uas"] == 100.0
    assert result["versus"]["uas"] == pytest.approx(100 * 5 / 6)
    # Worse in six sentences of six: only swapping all or none sets the systems as far apart.
    p_values = {
        "uas": 2 / 64,
        "las": 2 / 64,
        "las_no_subtypes": 2 / 64,
        "upos": 2 / 64,
        "uem": 2 / 64,
        "lem": 2 / 64,
    }
    assert result["versus"]["p_values"] == pytest.approx(p_values)


def test_words_without_a_gold_head_are_told(run_cli, files):
    files["gold"].write_text(GOLD.replace("3\tcase", "_\t_"), encoding="utf-8")
    assert "1 word without a gold head: not scored" in run_cli("eval", files["gold"], files["system"]).out


def test_standard_input_is_read_once(run_cli, files):
    assert run_cli("eval", files["gold"], "-", stdin=SYSTEM).code == 0
    outcome = run_cli("eval", "-", "-", stdin=SYSTEM)
    assert outcome.code == 2
    assert "only one of GOLD, SYSTEM and OTHER" in outcome.err


@pytest.mark.parametrize(
    ("gold", "system", "message"),
    [
        (
            GOLD,
            GOLD.replace("fell", "fall"),
            "found 'fall' as word 2 of sentence 1 (one), expected 'fell' as in",
        ),
        (
            GOLD * 2,
            GOLD + GOLD.replace("fell", "fall"),
            f"system.conllu:{3 + GOLD.count(chr(10))}: found 'fall' as word 2 of sentence 3 (one)",
        ),
        (
            GOLD,
            GOLD.split("\n\n")[0].replace("sent_id", "id") + "\n\n",
            "system.conllu: found no sentence 2, expected one as in",
        ),
        ("", GOLD, "gold.conllu:1: found no sentence"),
        (GOLD, GOLD.replace("\t0\t", "\tzero\t"), "system.conllu:3: found"),
        (GOLD, re.sub(r"\t\d\t[a-z:]+\t_", r"\t_\t_\t_", GOLD), "system.conllu: found no head on any word"),
        ("1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "1\tx\t_\t_\t_\t_\t0\t_\t_\t_\n\n", "found no word to score"),
    ],
)
def test_files_that_do_not_fit(run_cli, files, gold, system, message):
    files["gold"].write_text(gold, encoding="utf-8")
    files["system"].write_text(system, encoding="utf-8")
    outcome = run_cli("eval", files["gold"], files["system"])
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def with_confidence(text, *probabilities):
    lines = iter(probabilities)
    return "".join(
        line.removesuffix("_\n") + f"ArcProb={next(lines)}\n" if line[:2] in ("1\t", "2\t", "3\t") else line
        for line in text.splitlines(keepends=True)
    )


def test_calibration_counts_arcs_by_what_was_said_of_them(run_cli, files):
    files["system"].write_text(with_confidence(SYSTEM, 0.92, 0.96, 0.94, 0.55, 0.3, 1.0), encoding="utf-8")
    outcome = run_cli("eval", files["gold"], files["system"], "--calibration")
    assert (outcome.code, outcome.err) == (0, "")
    # Four arcs above 0.9, of which the full stop is wrong; the articles' and the preposition's are right.
    wanted = 100 * (abs(3.82 - 3) + (1 - 0.55) + (1 - 0.3)) / 6
    assert outcome.out.splitlines()[0] == f"expected calibration error  {wanted:.2f}%"
    assert "0.9 to 1.0          4   95.50   75.00" in outcome.out
    shown = json.loads(run_cli("eval", files["gold"], files["system"], "--calibration", "--json").out)
    assert shown["expected_calibration_error"] == pytest.approx(wanted)
    assert shown["bins"][0] == {"low": 0.0, "high": 0.1, "count": 0, "confidence": None, "accuracy": None}
    words = run_cli("eval", files["gold"], files["system"], "--calibration", "--no-punct", "--json")
    assert json.loads(words.out)["bins"][9]["accuracy"] == 1.0


def test_words_without_probabilities_are_told(run_cli, files):
    stated = with_confidence(SYSTEM, 0.92, 0.96, 0.94, 0.55, 0.3, 1.0)
    stated = stated.replace("ArcProb=0.92", "ArcProb=0.92|RelProb=0.9").replace("ArcProb=0.3", "_")
    files["system"].write_text(stated, encoding="utf-8")
    outcome = run_cli("eval", files["gold"], files["system"], "--calibration")
    assert outcome.code == 0
    assert outcome.err.splitlines() == [
        f"{files['system']}: ArcProb of 5 of 6 words; others are not judged",
        f"{files['system']}: RelProb of 1 of 6 words; others are not judged",
    ]


def test_calibration_needs_probabilities(run_cli, files):
    outcome = run_cli("eval", files["gold"], files["system"], "--calibration")
    assert outcome.code == 2
    assert "found no ArcProb in MISC, expected one for each word; parse with --confidence" in outcome.err
    assert outcome.err.count("\n") == 1
    files["system"].write_text(with_confidence(SYSTEM, 0.9, "high", 1, 1, 1, 1), encoding="utf-8")
    outcome = run_cli("eval", files["gold"], files["system"], "--calibration")
    assert outcome.code == 2
    assert "system.conllu:3: found ArcProb=high of word 2 ('fell'), expected a probability" in outcome.err


def test_calibration_is_of_one_system(run_cli, files):
    outcome = run_cli("eval", files["gold"], files["system"], "--calibration", "--versus", files["other"])
    assert outcome.code == 2
    assert "--versus belongs to scores of trees, --tags; leave it out" in outcome.err


# The same text, "zum" left whole and both sentences in one.
OTHERWISE_CUT = """\
1\the\the\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tfell\tfall\tVERB\t_\t_\t0\troot\t_\t_
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_
4\tzum\tzu\tADP\t_\t_\t5\tcase\t_\t_
5\tHaus\tHaus\tNOUN\t_\t_\t2\troot\t_\t_

""".replace("he\t", "He\t", 1)


def test_files_cut_differently_are_scored_by_f1(run_cli, files):
    files["system"].write_text(OTHERWISE_CUT, encoding="utf-8")
    outcome = run_cli("eval", files["gold"], files["system"])
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[1] == (
        "segmented differently, so F1 is scored: 2 sentences, 6 words of gold, 1 and 5 of the system"
    )
    assert [" ".join(line.split()) for line in lines[3:]] == [
        "F1 precision recall",
        "sentences 0.00 0.00 0.00",
        "tokens 100.00 100.00 100.00",
        "words 72.73 80.00 66.67",
        "UPOS 72.73 80.00 66.67",
        "UAS 54.55 60.00 50.00",
        "LAS 36.36 40.00 33.33",
        "LAS, no subtypes 54.55 60.00 50.00",
        "root 66.67 100.00 50.00",
    ]


@pytest.mark.parametrize("gold", ["name", "-"])
def test_files_cut_differently_as_json(run_cli, files, gold):
    files["system"].write_text(OTHERWISE_CUT, encoding="utf-8")
    path = files["gold"] if gold == "name" else "-"
    scores = json.loads(run_cli("eval", path, files["system"], "--json", stdin=GOLD).out)
    assert scores["words_f1"] == pytest.approx(100 * 8 / 11)
    assert scores["precision"]["words"] == pytest.approx(80)
    assert (scores["tokens"], scores["sentences"], scores["tokens_f1"]) == (6, 2, 100.0)
    assert scores["uas"] == pytest.approx(100 * 6 / 11)
    assert scores["uem"] == 50.0


def test_only_whole_files_are_scored_by_f1(run_cli, files):
    files["system"].write_text(OTHERWISE_CUT, encoding="utf-8")
    report = "--report", files["gold"].with_suffix(".html")
    versus = "--versus", files["other"]
    for option in (["--no-punct"], ["--by", "tag"], versus, report, ["--agreement"], ["--calibration"]):
        outcome = run_cli("eval", files["gold"], files["system"], *option)
        assert outcome.code == 2
        assert "found 'zum' as word 4 of sentence 1" in outcome.err
        assert f"; without {option[0]}, files of the same text are scored by F1" in outcome.err
    outcome = run_cli("eval", files["gold"], files["system"], "--by", "tag", "--no-punct")
    assert "; without --by and --no-punct, files of the same text are" in outcome.err


def test_tags_alone(run_cli, files):
    untreed = re.sub(r"\t\d\t[a-z:]+\t_", r"\t_\t_\t_", SYSTEM)
    files["system"].write_text(untreed, encoding="utf-8")
    outcome = run_cli("eval", files["gold"], files["system"], "--tags")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[-1] == "UPOS               83.33  5 words with the right tag"
    files["system"].write_text(re.sub(r"\t\d\t[a-z:]+\t_", r"\t_\t_\t_", OTHERWISE_CUT), encoding="utf-8")
    refused = run_cli("eval", files["gold"], files["system"])
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "system.conllu: found no head on any word, expected trees; parse it first" in refused.err
    scores = json.loads(run_cli("eval", files["gold"], files["system"], "--tags", "--json").out)
    assert (scores["uas"], scores["upos"]) == (None, pytest.approx(100 * 8 / 11))


def test_alignments(run_cli, tmp_path):
    gold, system = tmp_path / "gold.talp", tmp_path / "links"
    gold.write_text("1-1 2-2 2p1\n\n")
    system.write_text("0-0 1-0 2-2\n0-0\n")
    arguments = ("eval", "--alignments", gold, system, "--gold-format", "talp")
    outcome = run_cli(*arguments)
    assert outcome.code == 0
    assert [" ".join(line.split()) for line in outcome.out.splitlines()[1:]] == [
        "2 pairs, 3 gold links, 2 of them sure; 4 found",
        "",
        "AER 50.00",
        "precision 50.00 2 found are sure or possible",
        "recall 50.00 1 of the sure are found",
        "F1 50.00",
    ]
    scores = json.loads(run_cli(*arguments, "--json").out)
    assert {name: scores[name] for name in ("aer", "precision", "recall", "f1")} == pytest.approx(
        {"aer": 50.0, "precision": 50.0, "recall": 50.0, "f1": 50.0}
    )


@pytest.mark.parametrize(
    ("gold", "system", "options", "message"),
    [
        ("0-0\n", "0-0\n0-0\n", (), "gold: found the links of 1 sentence pair, expected more, as in"),
        ("\n", "0-0\n", (), "gold: found no link, expected links to score against"),
        ("0:0\n", "0-0\n", (), "gold:1: found '0:0', expected links like 0-2"),
        ("1 1 1 S\n", "0-0\n", (), "name its format: --gold-format naacl"),
        ("0-0\n", "1 1 1 S\n", (), "name its format: --alignment-format naacl"),
        ("0-0\n", "0-0\n", ("--gold-format", "fast"), "unknown alignment format 'fast'; known: pharaoh"),
        (
            "0-0\n",
            "0-0\n",
            ("--by", "tag"),
            "--by belongs to scores of trees; leave it out",
        ),
    ],
)
def test_alignments_that_do_not_fit(run_cli, tmp_path, gold, system, options, message):
    (tmp_path / "gold").write_text(gold)
    (tmp_path / "system").write_text(system)
    outcome = run_cli("eval", "--alignments", tmp_path / "gold", tmp_path / "system", *options)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert message in outcome.err


def test_links_to_words_that_there_are_not(run_cli, tmp_path):
    gold, system = tmp_path / "gold.tsv", tmp_path / "system"
    gold.write_text("a b\tA B\t0-0 1-1\n")
    system.write_text("1-1 2-2\n")
    outcome = run_cli("eval", "--alignments", gold, system, "--gold-format", "tsv")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert f"{system}:1: found a link of word 3 with word 3" in outcome.err
    assert "if words count from 1, name the format talp" in outcome.err


def test_options_that_do_not_go_together(run_cli, files):
    for option, message in (
        (("--gold-format", "talp"), "--gold-format belongs to --alignments"),
        (("--tags", "--by", "tag"), "--by belongs to scores of trees; leave it out"),
    ):
        outcome = run_cli("eval", files["gold"], files["system"], *option)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1)
        assert message in outcome.err


def tables(page):
    """Return the rows of each table of a page, as lists of what is in their cells."""
    return [
        [
            re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row)
            for row in re.findall("<tr>(.*?)</tr>", table, re.DOTALL)
        ]
        for table in re.findall("<table>(.*?)</table>", page, re.DOTALL)
    ]


def test_report(run_cli, files, tmp_path):
    stated = SYSTEM.replace("nsubj\t_\t_", "nsubj\t_\tArcProb=0.75").replace(
        "1\tpunct\t_\t_", "1\tpunct\t_\tArcProb=0.5"
    )
    files["system"].write_text(stated, encoding="utf-8")
    path = tmp_path / "report.html"
    outcome = run_cli(
        "eval", files["gold"], files["system"], files["other"], "--at", 10, 100, "--report", path
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert [line.split()[1:3] for line in outcome.out.splitlines()[1:]] == [
        ["83.33", "66.67"],
        ["66.67", "50.00"],
    ]
    page = path.read_text(encoding="utf-8")
    scores, calibration, relations, confused, tags = tables(page)[:5]
    assert scores[1][:5] == ["system.conllu", "83.33", "66.67", "83.33", "83.33"]
    assert scores[2][-1] == "1.0000, 1.0000"
    # Of two arcs, one said to be right by 75% is, one by 50% is not: (0.25 + 0.5) / 2.
    assert calibration[1:] == [["system.conllu", "37.50", "2"]]
    assert ["nsubj:pass", "1", "0", "100.00", "0.00", "-"] in relations
    assert confused[1:] == [["nsubj:pass", "nsubj", "1", "100.0%", "100.0%"]]
    assert tags[1][:3] == ["DET", "PRON", "1"]
    assert page.count("<polyline") == 2 + 2
    assert "arc differs" in page and "one: 2 of 3 words" in page


def test_a_report_shows_first_what_is_worst(run_cli, tmp_path):
    for name, text in (("gold", GOLD), ("system", OTHER)):
        one, two, _ = text.split("\n\n")
        (tmp_path / name).write_text(f"{two}\n\n{one}\n\n", encoding="utf-8")
    path = tmp_path / "report.html"
    assert run_cli("eval", tmp_path / "gold", tmp_path / "system", "--report", path).code == 0
    shown = re.findall("<p>(one|two): ([0-9]) of 3 words</p>", path.read_text(encoding="utf-8"))
    assert shown == [("one", "2"), ("two", "1")]


def test_a_report_on_what_is_right_has_nothing_to_complain_of(run_cli, files, tmp_path):
    path = tmp_path / "report.html"
    assert run_cli("eval", files["gold"], files["gold"], "--no-punct", "--at", 5, "--report", path).code == 0
    page = path.read_text(encoding="utf-8")
    assert "Confused" not in page and "Calibration" not in page
    assert "punctuation left out" in page and "p of UAS" not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("other",), "several systems, and --at, need --report; two systems are compared by --versus"),
        (("--at", "5", "--report", "r"), None),
        (("--at", "5", "6", "--report", "r"), "--at: found 2 sizes for 1 system, expected one for each"),
        (("--json", "--report", "r"), "--report has relations and all scores; leave out --json and --by"),
        (("--tags", "--report", "r"), "--report belongs to scores of trees; leave it out"),
        (("--report", "system"), "found system as a file to read and as one to write; name another"),
    ],
)
def test_reports_that_cannot_be(run_cli, files, monkeypatch, arguments, message):
    monkeypatch.chdir(files["gold"].parent)
    for name, path in files.items():
        path.rename(path.with_suffix(""))
        assert path.with_suffix("").name == name
    outcome = run_cli("eval", "gold", "system", *arguments)
    expected = (0, "") if message is None else (2, f"qsproj eval: {message}\n")
    assert (outcome.code, outcome.err) == expected


FAULTY = (
    "# sent_id = a\n# text = Go.\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
    "2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    "# sent_id = b\n# text = Sit\n1\tSit\tsit\tVERB\t_\tB=1|A=2\t0\troot\t_\t_\n\n"
    "1\tNo\tno\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
)


@pytest.mark.parametrize("compressed", [False, True])
def test_faults_are_counted_by_test_with_their_sentences(run_cli, tmp_path, compressed):
    pytest.importorskip("udtools", reason="needs udtools")
    path = tmp_path / ("x.conllu.gz" if compressed else "x.conllu")
    path.write_bytes(gzip.compress(FAULTY.encode()) if compressed else FAULTY.encode())
    done = run_cli("eval", "--validate", path)
    assert done.code == 0, done.err
    assert done.out.startswith(f"{path} at level 2 of UD: of 3 sentences, 2 fail\n")
    assert "      1  L2 unsorted-features\n         line 8, sentence b: Morphological features" in done.out
    told = json.loads(run_cli("eval", "--validate", path, "--json").out)
    assert (told["sentences"], told["failing"]) == (3, 2)
    assert {"L2 missing-text", "L2 missing-sent-id", "L2 unsorted-features"} <= told["faults"].keys()
    fine = run_cli("eval", "--validate", "-", stdin=FAULTY[: FAULTY.index("# sent_id = b")])
    assert fine.out.endswith(" at level 2 of UD: of 1 sentence, 0 fail\n")


def test_a_file_without_a_sentence_is_not_valid(run_cli):
    pytest.importorskip("udtools", reason="needs udtools")
    done = run_cli("eval", "--validate", "-", stdin="\n")
    assert (done.code, done.out) == (2, "")
    assert "found no sentence, expected CoNLL-U" in done.err


def row(number, form, upos, feats, head, relation, misc="_"):
    return f"{number}\t{form}\t{form}\t{upos}\t_\t{feats}\t{head}\t{relation}\t_\t{misc}\n"


TWO_SUBJECTS = "# sent_id = {}\n# text = She sees her\n" + "".join(
    [
        row(1, "She", "PRON", "_", 2, "nsubj"),
        row(2, "sees", "VERB", "_", 0, "root"),
        row(3, "her", "PRON", "_", 2, "nsubj") + "\n",
    ]
)


def test_guidelines_are_tested_where_there_are_relations(run_cli, tmp_path):
    pytest.importorskip("udtools", reason="needs udtools")
    path = tmp_path / "x.conllu"
    bare = re.sub(r"\t(nsubj|root)\t", "\t_\t", TWO_SUBJECTS.format("b")).replace(
        "PRON\t_\t_\t2", "PRON\t_\tB=1|A=2\t2", 1
    )
    fine = TWO_SUBJECTS.format("c").replace(
        "3\ther\ther\tPRON\t_\t_\t2\tnsubj", "3\ther\ther\tPRON\t_\t_\t2\tobj"
    )
    path.write_text(TWO_SUBJECTS.format("a") + fine)
    told = json.loads(run_cli("eval", "--validate", path, "--level", "3", "--json").out)
    assert list(told["faults"]) == ["L3 too-many-subjects"]
    assert (told["level"], told["sentences"], told["failing"]) == (3, 2, 1)
    path.write_text(bare + fine + TWO_SUBJECTS.format("a"))
    done = run_cli("eval", "--validate", path, "--level", "3")
    assert done.code == 0, done.err
    assert "at level 2 of UD: of 3 sentences, 1 fail\n" in done.out
    assert "L3" not in done.out


def test_the_validator_is_named_where_it_is_not(run_cli, tmp_path, monkeypatch):
    (tmp_path / "x.conllu").write_text(FAULTY)
    monkeypatch.setattr("qsproj.evaluation.validation.PROGRAM", "no-such-program")
    done = run_cli("eval", "--validate", tmp_path / "x.conllu")
    assert done.code == 2
    assert "pip install 'qsproj[validate]'" in done.err


@pytest.mark.parametrize(
    ("given", "told"), [(["a"], "required: SYSTEM"), (["a", "--validate", "b"], "leave out a")]
)
def test_one_file_is_validated_and_two_are_compared(run_cli, given, told):
    done = run_cli("eval", *given)
    assert done.code == 2
    assert told in done.err


def _file(path, *names, word="w"):
    row = "1\t{}\t_\tX\t_\t_\t0\troot\t_\tArcProb=1.0000\n\n"
    path.write_text("".join(f"# sent_id = {name}\n{row.format(word + name)}" for name in names))
    return path


@pytest.mark.parametrize(
    "way", [(), ("--columns",), ("--tags",), ("--agreement",), ("--calibration",), ("--json",)]
)
def test_files_that_differ_in_sentences_are_paired_by_sent_id(tmp_path, run_cli, way):
    gold, system = _file(tmp_path / "gold", *"abcd"), _file(tmp_path / "system", *"dbx")
    outcome = run_cli("eval", gold, system, *way)
    assert outcome.code == 0, outcome.err
    assert f"paired 2 sentences by sent_id; left out 2 of {gold}, 1 of {system}" in outcome.err
    three = run_cli("eval", gold, system, "--versus", _file(tmp_path / "other", *"bcad"))
    assert "paired 2 sentences by sent_id" in three.err


@pytest.mark.parametrize(("names", "word"), [("xyz", "w"), ("ab", "v"), ("abcdd", "w")])
def test_other_files_are_not_paired_by_sent_id(tmp_path, run_cli, names, word):
    """No name in common, other text under one, and a name given twice."""
    gold, system = _file(tmp_path / "gold", *"abcd"), _file(tmp_path / "system", *names, word=word)
    outcome = run_cli("eval", gold, system)
    assert (outcome.code, "paired" in outcome.err) == (2, False)


@pytest.mark.parametrize("is_gold", [True, False])
def test_last_pairs_without_links_may_be_missing_in_naacl(run_cli, tmp_path, is_gold):
    (tmp_path / "naacl").write_text("1 1 1\n2 1 1\n")
    (tmp_path / "pharaoh").write_text("0-0\n0-0\n\n")
    files = ("naacl", "pharaoh") if is_gold else ("pharaoh", "naacl")
    name = "--gold-format" if is_gold else "--alignment-format"
    outcome = run_cli("eval", "--alignments", *(tmp_path / one for one in files), name, "naacl")
    assert (outcome.code, outcome.err) == (0, "")
    assert "2 of the sure are found" in outcome.out
