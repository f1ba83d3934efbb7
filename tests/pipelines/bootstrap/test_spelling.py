"""The spelling of raw text for an older bitext: a made language, with other letters or endings in one."""

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.files import open_text
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import text_parser
from qsproj.parallel import THIS_PROCESS
from qsproj.pipelines.bootstrap.bitext import cut_words, shown_cuts
from qsproj.pipelines.bootstrap.spelling import respelled, respelled_words
from qsproj.pipelines.bootstrap.texts import SourceText

OLD = {"k": "c", "z": "ç", "f": "ph"}
_LETTERS = np.random.default_rng(5).choice(list("abdegiklmnorsuvzf"), (300, 6)).tolist()
STEMS = ["".join(letters) for letters in _LETTERS]


def made_lines(size, *, old=False, seed=0, endings=("", "a", "em"), beginnings=("", "ne")):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(size):
        words = [
            rng.choice(beginnings) + stem + rng.choice(endings) for stem in rng.choice(STEMS, 8).tolist()
        ]
        line = " ".join(words).capitalize() + "."
        for new, before in OLD.items() if old else ():
            line = line.replace(new, before).replace(new.upper(), before.capitalize())
        lines.append(line)
    return lines


def test_words_of_an_old_bitext_get_the_spelling_of_raw_text():
    raw, bitext = made_lines(80), made_lines(300, old=True, seed=1)
    words, rules = respelled_words(raw, bitext)
    assert {rule.old: rule.new for rule in rules} == {old: new for new, old in OLD.items()}
    assert [respelled(line, words) for line in bitext] == made_lines(300, seed=1)
    assert words == respelled_words(raw, reversed(bitext))[0]


@pytest.mark.parametrize(
    "how",
    [{}, {"endings": ("", "a", "est", "tis")}, {"beginnings": ("", "ne", "ti", "no")}],
    ids=["alike", "endings", "beginnings"],
)
def test_other_words_than_those_of_raw_text_show_no_rule(how):
    assert respelled_words(made_lines(80), made_lines(300, seed=1, **how)) == ({}, [])
    assert respelled_words([], made_lines(300)) == ({}, [])
    assert respelled_words(made_lines(80), []) == ({}, [])


def test_a_spelling_that_few_words_have_stays():
    raw, bitext = made_lines(80), made_lines(300, old=True, seed=1)
    changed = len(respelled_words(raw, bitext)[0])
    others = [f"{one}{other}" for one in STEMS for other in STEMS]
    of_bitext, of_raw = " ".join(others[: 25 * changed]), " ".join(others[-25 * changed :])
    assert respelled_words([*raw, of_raw], [*bitext, of_bitext]) == ({}, [])


def test_capitals_and_marks_stay():
    words = {"cat": "kat", "ça": "za"}
    assert respelled("“Cat” CAT cat, (cat)  Ça cats…", words) == "“Kat” KAT kat, (kat)  Za cats…"


def test_the_bitext_of_a_bootstrap_is_respelled(tmp_path):
    sides = {"raw": made_lines(80), "en": ["word"] * 300, "xx": made_lines(300, old=True, seed=1)}
    for name, lines in sides.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    bitext = str(tmp_path / "en"), str(tmp_path / "xx")
    text = SourceText(treebanks=(), bitext=bitext, languages=("en", "xx"))
    (shown,) = shown_cuts((), "xx", raw=[str(tmp_path / "raw")], texts=[text])
    trees = list(read_conllu("corpora/en.conllu"))[:5]
    tagger = train_tagger(trees, rng=np.random.default_rng(1), language="en")
    parser, _ = train_arc_parser(trees, rng=np.random.default_rng(1))
    text_parser(tagger, parser).save(tmp_path / "source.model")
    paths = tmp_path / "source", tmp_path / "target"
    how = {"parsed": (), "seed": 1, "workers": THIS_PROCESS}
    report = cut_words(paths, text=text, model=str(tmp_path / "source.model"), **shown, **how)
    new = [tuple(line[:-1].split()) for line in made_lines(300, seed=1)]
    assert [one.forms[:-1] for one in read_conllu(paths[1])] == new
    assert "target words spelt like those of the raw text (" in report.line
    assert "ph > f" in report.line


@pytest.mark.data
@pytest.mark.parametrize(
    ("code", "dev"), [("hy", "bible/hy"), ("ar", "treebanks/arabic-padt"), ("wo", "bible/wo")]
)
def test_of_real_texts_the_armenian_one_is_respelled(code, dev, data_dir):
    raw = [" ".join(one.forms) for one in read_conllu(data_dir / f"{dev}-dev.conllu.gz")]
    with open_text(data_dir / f"bible/verses/{code}.tsv.xz") as verses:
        words, rules = respelled_words(raw, (line.partition("\t")[2] for line in verses))
    assert bool(rules) == (code == "hy")
    if rules:
        assert (words["ինչպէս"], words["մէկ"], words["եղաւ"]) == ("ինչպես", "մեկ", "եղավ")
