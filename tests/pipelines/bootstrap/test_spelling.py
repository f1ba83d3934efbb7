"""The spelling of raw text for an older bitext: a made language, with other letters or endings in one."""

from itertools import product

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.files import open_text
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import text_parser
from qsproj.parallel import THIS_PROCESS
from qsproj.pipelines.bootstrap import spelling
from qsproj.pipelines.bootstrap.bitext import tokenization_arguments, tokenize_bitext, tokens_shown
from qsproj.pipelines.bootstrap.spelling import Spelling, spelling_of
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
    found = spelling_of(raw, bitext)
    assert set(found.rules) == {(old, new) for new, old in OLD.items()}
    assert list(map(found.respell, bitext)) == made_lines(300, seed=1)
    assert found == spelling_of(raw, reversed(bitext))
    of_text = found.of(bitext[:9])
    assert list(map(of_text.respell, bitext[:9])) == made_lines(9, seed=1)
    assert of_text.words.items() < found.words.items()


NO_RULE = Spelling((), {})


@pytest.mark.parametrize(
    ("how", "conditions"),
    [
        ({}, {}),
        ({"endings": ("", "a", "est", "tis")}, {"RARER": 1e9}),
        ({"beginnings": ("", "ne", "ti", "no")}, {"RARER": 1e9, "SAME_PLACE": 1.0}),
    ],
    ids=["alike", "endings", "beginnings"],
)
def test_other_words_than_those_of_raw_text_show_no_rule(how, conditions, monkeypatch):
    monkeypatch.setattr(spelling, "LEAST_CHANGED", 0.0)
    raw, bitext = made_lines(80), made_lines(300, seed=1, **how)
    assert spelling_of(raw, bitext) == spelling_of([], bitext) == spelling_of(raw, []) == NO_RULE
    for name, value in conditions.items():
        monkeypatch.setattr(spelling, name, value)
    assert bool(spelling_of(raw, bitext).rules) == bool(conditions)


def test_letters_of_roots_show_no_rule(monkeypatch):
    """A third of all roots of three letters, as in Arabic: many words differ from others by one letter."""
    roots = np.random.default_rng(3).permutation(
        [f"a{one}e{two}i{three}o" for one, two, three in product("bdgklmnr", repeat=3)]
    )
    bitext, raw = [" ".join(roots[:250])], [" ".join(one for one in roots[150:].tolist() if "k" not in one)]
    assert spelling_of(raw, bitext) == NO_RULE
    monkeypatch.setattr(spelling, "AGREED", 0.0)
    assert spelling_of(raw, bitext) != NO_RULE


def test_a_spelling_that_few_words_have_stays():
    raw, bitext = made_lines(80), made_lines(300, old=True, seed=1)
    changed = len(spelling_of(raw, bitext).words)
    others = [f"{one}{other}" for one in STEMS for other in STEMS]
    of_bitext, of_raw = " ".join(others[: 25 * changed]), " ".join(others[-25 * changed :])
    assert spelling_of([*raw, of_raw], [*bitext, of_bitext]) == NO_RULE


def test_capitals_and_marks_stay():
    words = {"cat": "kat", "ça": "za", "l’iddio": "l'iddio", "calle": "kalle", "ace": "ake"}
    found = Spelling((("c", "k"), ("ç", "z"), ("’", "'")), words)
    line = "“Cat” CAT cat, (cat)  Ça cats… l’Iddio L’Iddio CaLLe Ace\u0301."
    assert found.respell(line) == "“Kat” KAT kat, (kat)  Za cats… l'Iddio L'Iddio KaLLe Ace\u0301."


def test_the_bitext_of_a_bootstrap_is_respelled(tmp_path):
    sides = {"raw": made_lines(80), "en": ["word"] * 300, "xx": made_lines(300, old=True, seed=1)}
    for name, lines in sides.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    bitext = str(tmp_path / "en"), str(tmp_path / "xx")
    text = SourceText(treebanks=(), bitext=bitext, languages=("en", "xx"))
    (shown,) = tokenization_arguments(
        tokens_shown((), (), "xx"), (), "xx", raw=[str(tmp_path / "raw")], texts=[text]
    )
    trees = list(read_conllu("corpora/en.conllu"))[:5]
    tagger = train_tagger(trees, rng=np.random.default_rng(1), language="en")
    parser, _ = train_arc_parser(trees, rng=np.random.default_rng(1))
    text_parser(tagger, parser).save(tmp_path / "source.model")
    paths = tmp_path / "source", tmp_path / "target"
    how = {"parsed": (), "seed": 1, "workers": THIS_PROCESS}
    report = tokenize_bitext(paths, text=text, model=str(tmp_path / "source.model"), **shown, **how)
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
        found = spelling_of(raw, (line.partition("\t")[2] for line in verses))
    assert bool(found.rules) == (code == "hy")
    if found.rules:
        assert found.respell("Ինչպէս մէկ, եղաւ:") == "Ինչպես մեկ, եղավ:"
