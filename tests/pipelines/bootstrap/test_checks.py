"""How what does not fit together is told."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError
from qsproj.pipelines.bootstrap import checks
from qsproj.pipelines.bootstrap.bootstrap import BootstrapOptions, bootstrap
from qsproj.pipelines.bootstrap.checks import (
    check_annotated,
    check_inputs,
    check_languages,
    check_pairs,
    check_raw,
    check_sides,
    check_tagged,
)
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.bootstrap.workspace import Workspace
from qsproj.progress import notices

CORPORA = Path(__file__).parents[3] / "corpora"


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def sides(tmp_path):
    """Sixty translated sentences of the sample, as text."""
    return tuple(
        write_lines(
            tmp_path / f"{code}.txt", (" ".join(one.forms) for one in read_conllu(CORPORA / f"{code}.conllu"))
        )
        for code in ("en", "de")
    )


def source_text(sides, treebank=CORPORA / "en.conllu", languages=("en", "de")):
    return SourceText(treebanks=(str(treebank),), bitext=sides, languages=languages)


def test_sides_that_fit_pass(sides):
    check_sides(source_text(sides))


def test_swapped_sides_are_told(sides):
    with pytest.raises(DataError, match="swap the sides, or name a treebank in en"):
        check_sides(source_text(sides[::-1]))


def test_a_treebank_of_another_language_is_told(sides, monkeypatch):
    monkeypatch.setattr(checks, "VOCABULARY_TO_ASK", 100)
    with pytest.raises(DataError, match="name a treebank of the language of the source side"):
        check_sides(source_text((sides[0], sides[0]), treebank=CORPORA / "es.conllu"))


def test_a_treebank_of_ud_1_is_noticed(sides, tmp_path):
    said, treebank = [], tmp_path / "en.conllu"
    text = (CORPORA / "en.conllu").read_text("utf-8")
    with notices(said.append):
        for name in ("obj", "dobj"):
            treebank.write_text(text.replace("\tobj\t", f"\t{name}\t"), "utf-8")
            check_sides(source_text(sides, treebank=treebank))
    assert said == [f"{treebank}: has relations of UD 1 (dobj), which other treebanks lack; take a newer one"]


@pytest.mark.parametrize("languages", [("en", "de"), ("xx", "de"), ("en", "yy"), ("xx", "yy"), ("en", "gsw")])
def test_codes_that_fit_or_say_nothing_pass(sides, languages):
    check_languages(source_text(sides, languages=languages))


@pytest.mark.parametrize("languages", [("de", "en"), ("de", "xx"), ("xx", "en")])
def test_swapped_codes_are_told(sides, languages):
    with pytest.raises(DataError, match=rf"text in {languages[1]} on the source side .* swap the codes"):
        check_languages(source_text(sides, languages=languages))


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        (("fr", "de"), r"en\.txt: found text in en on the source side, .* expected fr, as --languages says"),
        (("en", "it"), r"de\.txt: found text in de on the target side, .* expected it, as --languages says"),
        (("en", "zh"), r"de\.txt: found text in another script on the target side"),
    ],
)
def test_a_code_that_does_not_fit_is_told(sides, languages, message):
    with pytest.raises(DataError, match=message):
        check_languages(source_text(sides, languages=languages))


def test_bitexts_that_teach_nothing_are_told_before_anything_is_learned(sides, tmp_path):
    lines = Path(sides[0]).read_text(encoding="utf-8").splitlines()
    few, upper, blank, short = (
        write_lines(tmp_path / name, content)
        for name, content in (
            ("few", lines[:20]),
            ("upper", map(str.upper, lines[:20])),
            ("blank", [""] * len(lines)),
            ("short", lines[:-1]),
        )
    )
    pairs = write_lines(tmp_path / "pairs", (f"{line}\t{line}" for line in lines))
    verses = write_lines(tmp_path / "verses", (f"MAT 1:{at}\t{line}" for at, line in enumerate(lines, 1)))
    for bitext, message in (
        ((sides[0], sides[0]), r"found 0 pairs to learn from \(left out: 90 for two sides alike\)"),
        ((few, upper), "few: found 20 pairs to learn from, expected 50 or more"),
        ((sides[0], blank), r"found 0 pairs to learn from \(left out: 90 for a blank side\)"),
        ((sides[0], short), "found 90 lines in .* expected 89 as in "),
        ((sides[0], str(CORPORA / "de.conllu")), "de.conllu:1: found CoNLL-U, expected text"),
        ((sides[0], pairs), "pairs:1: found a tab as between the sentences of a pair"),
        ((pairs, sides[0]), "pairs:1: found a tab .* the file of pairs alone"),
        ((verses, verses), "verses: found verses, expected .* with verses, add --paired-by verse"),
    ):
        with pytest.raises(DataError, match=message):
            check_pairs(source_text(bitext))


def test_annotated_sentences_of_the_bitext_are_told(sides, tmp_path):
    lines = (CORPORA / "de.conllu").read_text(encoding="utf-8").split("\n\n")
    some, others = tmp_path / "some", tmp_path / "others"
    some.write_text("\n\n".join(lines[:3]) + "\n\n", encoding="utf-8")
    others.write_text("1\tDackel\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    told: list[str] = []
    with notices(told.append):
        check_tagged(source_text(sides), [str(some), str(others)])
    assert told == [f"{some}: 3 of 3 sentences are among the bitext; do not test on training data"]


def test_drafts_among_confirmed_sentences_are_told(tmp_path):
    cells = "1\tHund\t_\tNOUN\t_\t_\t0\troot\t_\t"
    both, one = tmp_path / "both", tmp_path / "one"
    one.write_text(f"{cells}Reviewed=Yes\n\n" * 2, encoding="utf-8")
    both.write_text(f"{cells}Reviewed=Yes\n\n{cells}ArcProb=0.5\n\n", encoding="utf-8")
    told: list[str] = []
    with notices(told.append):
        check_annotated([str(both)], [str(one)])
        assert told == []
        check_annotated([], [str(both)])
    one.write_text(f"{cells}Reviewed=Yes\n\n", encoding="utf-8")
    with pytest.raises(DataError, match="one: found a single tree, expected at least 2"):
        check_annotated([], [str(one)])
    assert told == [
        f"{both}: 1 of 2 sentences are not confirmed, but are used for training; leave them out: "
        f"qsproj search misc.Reviewed=Yes {both} -o FILE"
    ]


def test_names_that_neither_ud_nor_a_source_has_are_found(tmp_path):
    given, source = tmp_path / "given", tmp_path / "source"
    row = "{}\tHund\t_\t{}\t_\t_\t{}\t{}\t_\t_\n"
    tree = row.format(1, "NOUN", 2, "nsubjj") + row.format(2, "NOUNN", 0, "root") + "\n"
    given.write_text(tree * 2, encoding="utf-8")
    with pytest.raises(DataError, match="given:2: found the tag 'NOUNN', expected one of ADJ"):
        check_annotated([], [str(given)])
    with pytest.raises(DataError, match="given:2: found the tag 'NOUNN'"):
        check_annotated([str(given)], [])
    source.write_text(tree.replace("nsubjj", "nsubj"), encoding="utf-8")
    said: list[str] = []
    with notices(said.append):
        check_annotated([], [str(given)], treebanks=[str(source)])
    assert said == [f"{given}:1: found the relation 'nsubjj', which neither UD nor a source has"]


def test_tagged_sentences_of_the_source_are_told(sides):
    text = source_text(sides)
    check_inputs(text, tagged=[str(CORPORA / "de.conllu")])
    with pytest.raises(DataError, match=r"en\.conllu: found .* expected sentences in de"):
        check_tagged(text, [str(CORPORA / "de.conllu"), str(CORPORA / "en.conllu")])


def test_the_commonest_words_show_the_language(tmp_path, monkeypatch):
    """A small treebank of news may lack most other words of a Bible."""
    monkeypatch.setattr(checks, "VOCABULARY_TO_ASK", 100)
    monkeypatch.setattr(checks, "FREQUENT", 10)
    unknown = ("".join(letters) for letters in product("bdgkw", "xzq", "bdgkw", "xzq", "bdgkw", "xzq"))
    lines = [" ".join([*one.forms, *islice(unknown, 30)]) for one in read_conllu(CORPORA / "en.conllu")]
    english = write_lines(tmp_path / "en.txt", lines)
    text = source_text((english, write_lines(tmp_path / "de.txt", ["Wort"] * len(lines))))
    counts, divided = check_sides(text)
    vocabulary = {form.lower() for one in read_conllu(CORPORA / "en.conllu") for form in one.forms}
    assert checks.known_share(checks.words_of_sides(text)[0], vocabulary) < checks.LEAST_KNOWN
    assert (counts > 500, divided) == (True, {})
    with pytest.raises(DataError, match="of the 10 commonest words of the source side in the treebank"):
        check_sides(source_text((english, english), treebank=CORPORA / "es.conllu"))


def test_words_with_vowel_signs_are_words(tmp_path):
    """All words of Dhivehi, most of Hindi and Tamil."""
    lines = {"en.txt": ["peace 12 words"], "dv.txt": ["ދިވެހި 12 ބަސް"]}
    english, dhivehi = (write_lines(tmp_path / name, content) for name, content in lines.items())
    text = SourceText(treebanks=(), bitext=(english, dhivehi), languages=("en", "dv"))
    shares = [checks.known_share(words, {"ދިވެހި", "peace", "12"}) for words in checks.words_of_sides(text)]
    assert shares == [0.5, 0.5]


def test_words_without_spaces_are_compared_by_their_letters(tmp_path):
    """Rules leave clauses of Chinese whole, which no treebank has."""
    lines = {"en.txt": ["I have a big dog", "you see my cat"], "zh.txt": ["我有一隻大狗。", "你看見我的貓。"]}
    english, chinese = (write_lines(tmp_path / name, content) for name, content in lines.items())
    trees = {
        "zh.conllu": Sentence.from_words(["大", "貓", "看見", "狗"], upos=["ADJ", "NOUN", "VERB", "NOUN"]),
        "en.conllu": Sentence.from_words(["my", "dog", "and", "cat"], upos=["PRON", "NOUN", "CCONJ", "NOUN"]),
    }
    for name, sentence in trees.items():
        write_conllu([sentence.replace(heads=[2, 0, 2, 3])], tmp_path / name)
    of_chinese, of_english = (str(tmp_path / name) for name in trees)
    text = source_text((english, chinese), languages=("en", "zh"))
    check_tagged(text, [of_chinese])
    with pytest.raises(DataError, match=r"en\.conllu: found 0% .* expected sentences in zh"):
        check_tagged(text, [of_english])
    check_sides(source_text((chinese, english), treebank=of_chinese, languages=("zh", "en")))
    with pytest.raises(DataError, match="swap the sides, or name a treebank in zh"):
        check_sides(source_text((chinese, english), treebank=of_english, languages=("zh", "en")))


def test_raw_text_in_another_script_is_told(sides, tmp_path):
    text = SourceText(treebanks=(), bitext=sides, languages=("en", "qaa"))
    check_raw([write_lines(tmp_path / "latin", ["Ein Satz.", "А"])], text)
    with pytest.raises(DataError, match=r"letters of the script CYRILLIC, expected LATIN, .*transliterate"):
        check_raw([write_lines(tmp_path / "cyrillic", ["Айн зац.", "A"])], text)


@pytest.mark.parametrize(
    ("option", "content", "message"),
    [
        ("annotated", "1\tHund\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n", "found no head"),
        ("tagged", "1\tHund\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "without UPOS"),
        ("lexicon", "Hund\tDOG\n", "lexicon:1: found"),
    ],
)
def test_inputs_of_late_stages_are_checked_first(tmp_path, sides, option, content, message):
    path = tmp_path / option
    path.write_text(content, encoding="utf-8")
    options = BootstrapOptions(**{option: str(path) if option == "lexicon" else (str(path),)})
    workspace = Workspace(tmp_path / "work")
    with pytest.raises(DataError, match=message):
        bootstrap([source_text(sides)], workspace=workspace, options=options)
    assert (workspace.stages, list(workspace.folder.iterdir())) == ([], [])


def test_a_treebank_word_without_a_tag_is_reported_with_its_line(sides, tmp_path):
    path = tmp_path / "treebank.conllu"
    path.write_text("1\tDogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(DataError, match=r"treebank.conllu:2: found word 2 \('bark'\) without UPOS"):
        check_sides(replace(source_text(sides), treebanks=(str(path),)))
