"""``qsproj styles``: what its actions print, and what they say of names that they do not know."""

import pytest

UD_TREES = """\
# sent_id = one
1\tHe\the\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tlives\tlive\tVERB\t_\t_\t0\troot\t_\t_
3\tin\tin\tADP\t_\t_\t4\tcase\t_\tNote=a
4\tParis\tParis\tPROPN\t_\t_\t2\tobl\t_\t_
5\tand\tand\tCCONJ\t_\t_\t6\tcc\t_\t_
6\tLondon\tLondon\tPROPN\t_\t_\t4\tconj\t_\t_

"""


def heads_of(text):
    return [int(line.split("\t")[6]) for line in text.splitlines() if line[:1].isdecimal()]


def test_convert_and_back(run_cli, tmp_path):
    there = tmp_path / "there.conllu"
    outcome = run_cli("convert", "--to", "prague", "-", "-o", there, stdin=UD_TREES)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert heads_of(there.read_text()) == [2, 0, 2, 5, 3, 5]
    back = run_cli("convert", "--from", "prague", "--to", "ud", there)
    assert (back.code, back.out) == (0, UD_TREES)


def test_convert_changes_only_what_is_named(run_cli):
    there = run_cli("convert", "--to", "prague", stdin=UD_TREES).out
    outcome = run_cli("convert", "--from", "prague", "--to", "prepositions=child", stdin=there)
    assert heads_of(outcome.out) == [2, 0, 5, 5, 2, 5]


def test_convert_from_a_detected_style(run_cli):
    there = run_cli("convert", "--to", "prague", stdin=UD_TREES).out
    outcome = run_cli("convert", "--from", "auto", "--to", "ud", stdin=there)
    assert (outcome.code, outcome.out) == (0, UD_TREES)


def test_where_nothing_tells_detect_says_so(run_cli):
    bare = "1\tHe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tlives\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    outcome = run_cli("styles", "detect", stdin=bare)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[1].startswith("style      no evidence: ")
    assert outcome.out.splitlines()[2] == "presets    any"


def test_sentences_without_trees_are_not_converted(run_cli):
    bare = "1\tHe\t_\tPRON\t_\t_\t_\t_\t_\t_\n\n"
    said = "found no relation in 1 sentence, expected relations of Universal Dependencies; parse it first"
    outcome = run_cli("convert", "--to", "prague", stdin=bare)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    outcome = run_cli("styles", "detect", stdin=bare)
    assert outcome.code == 0
    assert said in outcome.err


def test_detect(run_cli):
    outcome = run_cli("styles", "detect", "-", stdin=UD_TREES)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "sentences  1"
    assert lines[2] == "presets    ud content-head"
    assert lines[5] == "coordination  stanford               1        1  100.0%  moscow 1"
    assert lines[7] == "shared        ?                      0        -       -  no evidence"


def test_round_trip(run_cli):
    outcome = run_cli("styles", "roundtrip", "--to", "conll", "-", stdin=UD_TREES)
    assert outcome.code == 0
    assert "to    coordination=conll,conjunctions=between," in outcome.out
    assert "heads lost                    0    0.00% of 6 words" in outcome.out


def test_list_names_dimensions_and_presets(run_cli):
    outcome = run_cli("styles", "list")
    assert outcome.code == 0
    assert "  coordination  stanford | conll | moscow | reverse-moscow | prague" in outcome.out
    assert "\n  function-head  determiners=head,prepositions=head,copula=head,auxiliaries=head" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "pragu"), "unknown style 'pragu'; known: ud, stanford, "),
        (
            ("--to", "sud"),
            "no rules convert to sud, which differs from UD in more than these dimensions; learn it",
        ),
        (("--to", "coordination=last"), "unknown coordination 'last'; known: stanford, conll, "),
        (("--from", "udd", "--to", "ud"), "unknown style 'udd'; known: "),
        (("--from", "auto", "--to", "x=y"), "unknown dimension of styles 'x'; known: coordination, "),
    ],
)
def test_unknown_names(run_cli, arguments, message):
    outcome = run_cli("convert", *arguments, stdin=UD_TREES)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"qsproj convert: {message}")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [(), ("convert",), ("transform",), ("roundtrip",)])
def test_bad_usage_is_one_line(run_cli, arguments):
    outcome = run_cli("styles", *arguments)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)


def test_no_tree_no_conversion(run_cli):
    outcome = run_cli("convert", "--to", "prague", stdin="")
    assert outcome.code == 2
    assert "found no sentence, expected CoNLL-U" in outcome.err


SUD = """1\tThe\t_\tDET\t_\t_\t2\tdet\t_\t_
2\tdog\t_\tNOUN\t_\t_\t3\tsubj\t_\t_
3\thas\t_\tAUX\t_\t_\t0\troot\t_\t_
4\tslept\t_\tVERB\t_\t_\t3\tcomp:aux\t_\t_
5\tin\t_\tADP\t_\t_\t4\tudep\t_\t_
6\tbed\t_\tNOUN\t_\t_\t5\tcomp:obj\t_\t_

"""


@pytest.mark.parametrize("way", [("convert",), ("convert", "--from", "auto"), ("styles", "roundtrip")])
def test_relations_of_sud_are_refused(tmp_path, run_cli, way):
    path, out = tmp_path / "x.sud.conllu", tmp_path / "out.conllu"
    path.write_text(SUD * 3)
    outcome = run_cli(*way, "--to", "prague", path, *(("-o", out) if way[0] == "convert" else ()))
    assert outcome.code == 2
    assert "found the relations subj, udep, comp:obj and others that UD does not have" in outcome.err
    assert "learn the conversion from a few trees: qsproj adapt" in outcome.err
    assert not out.exists()


def test_what_the_command_wrote_is_taken_again(tmp_path, run_cli):
    there, back = tmp_path / "there.conllu", tmp_path / "back.conllu"
    every = "prague,determiners=head,prepositions=head,copula=head,auxiliaries=head"
    assert run_cli("convert", "--to", every, "corpora/en.conllu", "-o", there).code == 0
    assert run_cli("convert", "--from", every, "--to", "ud", there, "-o", back).code == 0


def test_detect_names_relations_that_ud_does_not_have(run_cli):
    sud = "1\tDogs\t_\tNOUN\t_\t_\t2\tsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    outcome = run_cli("styles", "detect", stdin=sud)
    assert outcome.code == 0
    assert "found the relations subj and others that UD does not have, of 50% of the words" in outcome.err
