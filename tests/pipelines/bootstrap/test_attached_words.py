"""Tokens of a bitext that raw text divides: a made language with two words before nouns and one after."""

from functools import partial
from itertools import product
from string import ascii_lowercase
from time import process_time

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_tree
from qsproj.corpus.files import open_output, open_text
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import tokenize
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import text_parser
from qsproj.parallel import THIS_PROCESS
from qsproj.pipelines.bootstrap import checks
from qsproj.pipelines.bootstrap.bitext import tokenization_arguments, tokenize_bitext, tokens_shown
from qsproj.pipelines.bootstrap.spelling import attached_words as attached_in
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.progress import notices

CUT = partial(tokenize, language="und")
STEMS = [f"{first}{vowel}{last}" for first in "bdgklmnprst" for vowel in "aeio" for last in "nrstx"]


def attached_words(raw, bitext):
    return attached_in(raw, bitext, cut=CUT)[0]


def made_lines(size, *, divided, seed=0, between=" "):
    """Return lines of stems, some of them with *w* or *u* before or *hu* after, apart or attached.

    ``between``: what stands between the words that are apart.
    """
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(size):
        words = list(rng.choice(STEMS, 8))
        for at in rng.choice(8, 3, replace=False):
            before, after = rng.choice(["w", "u", ""]), rng.choice(["hu", ""])
            parts = [part for part in (before, words[at], after) if part]
            words[at] = (between if divided else "").join(parts)
        lines.append(" ".join(words).capitalize() + ".")
    return [*lines, "w ban u ban hu" if divided else "wban ubanhu"]


def test_tokens_are_divided_like_raw_text():
    found = attached_words(made_lines(200, divided=True), made_lines(300, divided=False, seed=1))
    assert found["wban"] == ("w", "ban")
    assert found["ubanhu"] == ("u", "ban", "hu")
    assert not set(STEMS) & set(found)
    assert {len(words) for words in found.values()} == {2, 3}
    assert all("".join(words) == token for token, words in found.items())


def test_few_lines_of_raw_text_show_how_to_divide():
    found = attached_words(made_lines(15, divided=True), made_lines(300, divided=False, seed=1))
    assert (found["wban"], found["ubanhu"]) == (("w", "ban"), ("u", "ban", "hu"))
    assert attached_words(made_lines(15, divided=False), made_lines(300, divided=False, seed=1)) == {}


def test_a_stem_of_the_bitext_alone_is_found():
    bitext = [*made_lines(300, divided=False, seed=1), "xolum wxolum xolum uxolumhu"]
    found = attached_words(made_lines(200, divided=True), bitext)
    assert (found["wxolum"], found["uxolumhu"]) == (("w", "xolum"), ("u", "xolum", "hu"))
    assert "xolum" not in found


@pytest.mark.parametrize("divided", [True, False])
def test_texts_that_divide_alike_stay(divided):
    assert attached_words(made_lines(200, divided=divided), made_lines(300, divided=divided, seed=1)) == {}
    assert (
        attached_words([], made_lines(300, divided=False))
        == attached_words(made_lines(300, divided=True), [])
        == {}
    )


@pytest.mark.parametrize("between", ["\u200c", "-", "'", "’", "\u02bc"])
def test_parts_of_tokens_are_not_words(between):
    """As Persian *mi-* with a joiner or Uzbek *o'* with an apostrophe, which other texts leave out."""
    raw = made_lines(300, divided=True, between=between)
    assert attached_words(raw, made_lines(300, divided=False, seed=1)) == {}


def test_words_with_vowel_signs_are_divided():
    letters = dict(zip("aeiowuxhbdgklmnprst", "\u093e\u0947\u093f\u094bवउषहबदगकलमनपरसत", strict=True))
    raw, bitext = (
        [
            "".join(letters.get(one, one) for one in line.lower())
            for line in made_lines(300, divided=way, seed=way)
        ]
        for way in (True, False)
    )
    assert attached_words(raw, bitext)["वबान"] == ("व", "बान")


def test_little_raw_text_divides_nothing_and_is_reported():
    bitext = made_lines(300, divided=False, seed=1)
    raw = made_lines(4, divided=True)
    assert attached_in(raw, bitext, cut=CUT) == ({}, len(" ".join(raw).split()))
    assert attached_in(made_lines(4, divided=False), bitext, cut=CUT) == ({}, 0)
    assert attached_in(raw, made_lines(300, divided=True), cut=CUT) == ({}, 0)


def test_vowel_marks_and_hamza_are_not_compared():
    arabic = dict(zip("bdgklmnprstaeioxwuh", "بدجكلمنفرستايوعخوقه", strict=True)) | {"w": "ث", "u": "ظ"}
    written = [
        [
            "".join(arabic.get(one, one) for one in line.lower())
            for line in made_lines(300, divided=way, seed=way)
        ]
        for way in (True, False)
    ]
    raw, bitext = ([line.replace("ا", "أ") for line in written[0]], written[1])
    found = attached_words([line.replace("ب", "بَ") for line in raw], bitext)
    assert found == attached_words(*written) != {}


def test_time_is_linear_in_the_kinds_of_words():
    words = list(map("".join, product(ascii_lowercase, repeat=3)))
    seconds = []
    for size in (2_000, 16_000):
        begin = process_time()
        attached_words(words[:size], ["word"])
        seconds.append(process_time() - begin)
    assert seconds[1] < 0.05 + 24 * seconds[0], seconds


@pytest.mark.data
@pytest.mark.parametrize(
    ("code", "dev"), [("ar", "treebanks/arabic-padt"), ("uk", "bible/uk"), ("wo", "bible/wo")]
)
def test_of_real_texts_those_of_one_language_differ(code, dev, data_dir):
    raw = [" ".join(one.forms) for one in read_conllu(data_dir / f"{dev}-dev.conllu.gz")]
    with open_text(data_dir / f"bible/verses/{code}.tsv.xz") as verses:
        bitext = [line.partition("\t")[2] for line in verses]
    cut = partial(tokenize, language=code)
    found, _ = attached_in(raw, bitext, cut=cut)
    assert bool(found) == (code == "ar")
    # Of ten sentences, from the 301st.
    assert attached_in(raw[300:310], bitext, cut=cut) == ({}, 314 * (code == "ar"))
    if found:
        assert (found["وقال"], found["فيه"], found["باسمه"]) == (("و", "قال"), ("في", "ه"), ("ب", "اسم", "ه"))


def test_the_bitext_of_a_bootstrap_is_divided(tmp_path):
    paths = [tmp_path / name for name in ("raw.txt", "en.txt", "xx.txt")]
    lines = made_lines(300, divided=False, seed=1)
    for path, content in zip(
        paths, (made_lines(200, divided=True), ["word"] * len(lines), lines), strict=True
    ):
        with open_output(path) as handle:
            handle.writelines(f"{line}\n" for line in content)
    raw, *bitext = map(str, paths)
    text = SourceText(treebanks=(), bitext=tuple(bitext), languages=("en", "xx"))
    shown, same = tokenization_arguments(tokens_shown((), (), "xx"), (), "xx", raw=[raw], texts=[text, text])
    assert shown == same
    attached = shown.pop("attached")
    assert shown == {"tagged": (), "contractions": {}}
    assert attached["ubanhu"] == ("u", "ban", "hu")
    for language, given in (("xx", []), ("zh", [raw])):
        assert tokenization_arguments(
            tokens_shown((), (), language), (), language, raw=given, texts=[text]
        ) == [shown]
    rows = ("1-2\tubanhu", "1\tub", "2\tanhu")
    sentence = "".join(row + 8 * "\t_" + "\n" for row in rows)
    (shown := tmp_path / "shown.conllu").write_text(f"{sentence}\n", encoding="utf-8")
    sentences = list(read_conllu(shown))
    (found,) = tokenization_arguments(
        tokens_shown((str(shown),), sentences, "xx"), sentences, "xx", raw=[raw], texts=[text]
    )
    assert found["contractions"] == {"ubanhu": ("ub", "anhu")}
    assert found["attached"] == {token: words for token, words in attached.items() if token != "ubanhu"}


def test_a_raw_text_that_is_too_short_is_noticed(tmp_path):
    for name, lines in (("raw", made_lines(4, divided=True)), ("xx", made_lines(300, divided=False, seed=1))):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    bitext = (str(tmp_path / "xx"),) * 2
    text = SourceText(treebanks=(), bitext=bitext, languages=("en", "xx"))
    said = []
    with notices(said.append):
        (found,) = tokenization_arguments(
            tokens_shown((), (), "xx"), (), "xx", raw=[str(tmp_path / "raw")], texts=[text]
        )
    assert found == {"tagged": (), "contractions": {}, "too_short": 50}
    (line,) = said
    assert line.startswith(f"{tmp_path}/raw: 50 words of raw text are too few to divide the tokens")


def test_the_source_side_is_divided_like_its_treebank(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "LEAST_ALIKE", 0.9)
    treebank = tmp_path / "treebank.conllu"
    trees = []
    for words in map(str.split, made_lines(200, divided=True)):
        chain = np.arange(-1, len(words), dtype=np.int32)
        tagged = Sentence.from_words(words, upos=["X"] * len(words))
        trees.append(with_tree(tagged, chain, ("dep",) * len(words)))
    write_conllu(trees, treebank)
    sides = made_lines(300, divided=False, seed=1), ["Wort"] * 301
    for name, lines in zip(("xx", "de"), sides, strict=True):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    bitext = str(tmp_path / "xx"), str(tmp_path / "de")
    text = SourceText(treebanks=(str(treebank),), bitext=bitext, languages=("qaa", "de"))
    _, apart = checks.check_inputs(text)
    assert apart["ubanhu"] == ("u", "ban", "hu")
    tagger = train_tagger(trees[:5], rng=np.random.default_rng(1), language="qaa")
    parser, _ = train_arc_parser(trees[:5], rng=np.random.default_rng(1))
    text_parser(tagger, parser).save(tmp_path / "source.model")
    paths = tmp_path / "source", tmp_path / "target"
    how = {"tagged": (), "contractions": {}, "parsed": (), "seed": 1, "workers": THIS_PROCESS}
    report = tokenize_bitext(paths, text=text, model=str(tmp_path / "source.model"), apart=apart, **how)
    assert list(read_conllu(paths[0]))[-1].forms == ("w", "ban", "u", "ban", "hu")
    assert report.line.endswith("kinds of source tokens divided like words of the treebank")
