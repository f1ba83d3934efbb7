"""``qsproj tag`` from files to files, and its one-line errors."""

import pytest

ROWS = [
    ("1", "Ich", "ich", "PRON"),
    ("2", "gehe", "gehen", "VERB"),
    ("3-4", "zum", "_", "_"),
    ("3", "zu", "zu", "ADP"),
    ("4", "dem", "der", "DET"),
    ("5", "Haus", "Haus", "NOUN"),
    ("6", ".", ".", "PUNCT"),
]
TREEBANK = "# sent_id = a\n# odd  comment\n" + "".join(
    "\t".join([*row, "_", "_", "_", "_", "_", "Keep=Me"]) + "\n" for row in ROWS
)
TREEBANK += "\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tag")
    (folder / "train.conllu").write_text(TREEBANK * 3, encoding="utf-8")
    return folder


@pytest.fixture
def model(files, run_cli):
    path = files / "de.tagger"
    if not path.exists():
        outcome = run_cli(
            "train-tagger",
            files / "train.conllu",
            "--dev",
            files / "train.conllu",
            "--language",
            "de",
            "-o",
            path,
        )
        assert outcome.code == 0, outcome.err
        assert "UPOS accuracy 100.00" in outcome.err
        assert "train.conllu is trained on; --dev needs other sentences" in outcome.err
    return path


def test_conllu_keeps_every_other_byte(model, run_cli):
    blanked = TREEBANK.replace("\tNOUN\t", "\t_\t").replace("\tPRON\t", "\tX\t")
    assert run_cli("tag", "-m", model, stdin=blanked).out == TREEBANK


def test_one_sentence_out_for_each_line_of_text(model, run_cli):
    out = run_cli("tag", "-m", model, stdin="Ich gehe zum Haus.\n\nHaus.\n").out
    sentences = out.strip("\n").split("\n\n")
    assert len(sentences) == 2
    assert sentences[1].startswith("# newpar\n# sent_id = 3\n# text = Haus.\n")
    assert "3\tzum\tzum\tADP\t" in sentences[0]


def test_contractions_are_split_as_in_the_treebank(model, run_cli):
    out = run_cli("tag", "-m", model, "--split-contractions", stdin="Ich gehe zum Haus.\n").out
    assert "3-4\tzum\t" in out
    assert "3\tzu\tzu\tADP\t" in out
    assert "4\tdem\tder\tDET\t" in out
    assert "5\tHaus\tHaus\tNOUN\t_\t_\t_\t_\t_\tSpaceAfter=No\n" in out


def test_raw_text_in_training(files, run_cli):
    (files / "raw.txt").write_text("Ich gehe zum Haus.\nDu gehst zum Haus.\n" * 5, encoding="utf-8")
    arguments = ["train-tagger", files / "train.conllu", "--raw", files / "raw.txt"]
    outcome = run_cli(*arguments, "-o", files / "raw.tagger")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "--text needs --language" in outcome.err
    assert run_cli(*arguments, "--language", "de", "-o", files / "raw.tagger").code == 0
    arguments[-1] = files / "train.conllu"
    outcome = run_cli(*arguments, "--language", "de", "-o", files / "raw.tagger")
    assert "found CoNLL-U, expected plain text" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["tag", "-m", "MODEL", "--split-contractions", "TREEBANK"],
            "--split-contractions is for plain text",
        ),
        (
            ["tag", "-m", "MODEL", "--dev", "x"],
            "found --dev, which it does not know; it is an option of train",
        ),
        (["train-tagger", "TREEBANK"], "the following arguments are required: -o"),
        (["train-tagger", "TREEBANK", "-o", "x", "--jobs", "2"], "found --jobs, which it does not know"),
        (["tag", "-m", "missing.model", "TREEBANK"], "missing.model"),
        (["tag"], "the following arguments are required: -m"),
    ],
)
def test_errors_are_one_line(model, files, run_cli, arguments, message):
    names = {"MODEL": model, "TREEBANK": files / "train.conllu"}
    outcome = run_cli(*(names.get(argument, argument) for argument in arguments))
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert message in outcome.err


def test_text_without_a_language(files, run_cli):
    path = files / "nameless.tagger"
    assert run_cli("train-tagger", files / "train.conllu", "-o", path).code == 0
    outcome = run_cli("tag", "-m", path, stdin="Ich gehe.\n")
    assert outcome.code == 2
    assert "needs --language CODE" in outcome.err
    assert "\tVERB\t" in run_cli("tag", "-m", path, "--language", "de", stdin="Ich gehe.\n").out


SHOWN = TREEBANK.replace("NOUN\t_\t_\t_\t_\t_\tKeep=Me", "NOUN\t_\t_\t_\t_\t_\tSpaceAfter=No")


@pytest.fixture(scope="module")
def learned(files):
    from qsproj.cli.main import main

    (files / "shown.conllu").write_text(SHOWN * 5, encoding="utf-8")
    path = files / "shown.tagger"
    assert main(["train-tagger", str(files / "shown.conllu"), "--language", "de", "-o", str(path)]) == 0
    return path


def test_tokens_are_learned_where_the_treebank_shows_them(learned, files, run_cli):
    out = run_cli("tag", "-m", learned, stdin="Ich gehe zum Haus.\n").out
    assert "3-4\tzum\t" in out
    assert "4\tdem\tder\tDET\t" in out
    assert "5\tHaus\tHaus\tNOUN\t_\t_\t_\t_\t_\tSpaceAfter=No\n" in out
    # The rules of a language that is named are not those of the model.
    assert "3\tzum\t" in run_cli("tag", "-m", learned, "--language", "en", stdin="Ich gehe zum Haus.\n").out


def test_what_cuts_text_is_said(learned, files, run_cli):
    arguments = ["train-tagger", files / "shown.conllu", "--language", "de", "-o", files / "told"]
    assert "tokenised as the treebank shows" in run_cli(*arguments).err
    assert "tokenised by rules" in run_cli(*arguments, "--rules").err
    assert "3\tzum\t" in run_cli("tag", "-m", files / "told", stdin="Ich gehe zum Haus.\n").out
    # The treebank has no "beim"; the table of the language has.
    split = run_cli("tag", "-m", files / "told", "--split-contractions", stdin="Ich bin beim Haus.\n").out
    assert "3-4\tbeim\t" in split
    assert "4\tdem\t" in split
    arguments[1] = files / "train.conllu"
    assert "by rules of the language, as the treebank lacks the original text" in run_cli(*arguments).err


def test_text_without_spaces_is_cut_by_what_was_learned(files, run_cli):
    words = ["今天", "天气", "很", "好"]
    rows = "".join(f"{i}\t{word}\t_\tNOUN\t_\t_\t_\t_\t_\tSpaceAfter=No\n" for i, word in enumerate(words, 1))
    (files / "zh.conllu").write_text(f"{rows}\n" * 10, encoding="utf-8")
    path = files / "zh.tagger"
    assert run_cli("train-tagger", files / "zh.conllu", "--language", "zh", "-o", path).code == 0
    out = run_cli("tag", "-m", path, stdin="今天天气很好\n").out
    assert [line.split("\t")[1] for line in out.splitlines() if line[:1].isdigit()] == words
    assert run_cli("train-tagger", files / "zh.conllu", "--rules", "--language", "zh", "-o", path).code == 0
    refused = run_cli("tag", "-m", path, stdin="今天天气很好\n")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "standard input:1: found 6 letters without a space" in refused.err


@pytest.mark.parametrize(
    "command",
    [
        ("tag", "-m", "MODEL", "--language", "qq"),
        ("parse", "-m", "MODEL", "--language", "qq"),
        ("align", "corpora/en.conllu", "-", "--tokenize", "en", "qq"),
    ],
)
def test_a_code_that_no_language_has_is_refused(model, run_cli, command):
    outcome = run_cli(*(model if word == "MODEL" else word for word in command), stdin="Haus.\n")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "found language 'qq', expected a code of ISO 639" in outcome.err


def test_sentences_of_running_text_are_found_as_the_treebank_has_them(tmp_path, run_cli):
    """A treebank in which sentences end in semicolons; the file of the model keeps what was learned."""
    row = "{}\t{}\t_\t{}\t_\t_\t_\t_\t_\t{}\n"
    words = [("Er", "PRON", "_"), ("geht", "VERB", "_"), ("ca.", "ADV", "_"), ("oft", "ADV", "SpaceAfter=No")]
    rows = "".join(row.format(at, *word) for at, word in enumerate([*words, (";", "PUNCT", "_")], start=1))
    (tmp_path / "train.conllu").write_text(f"# text = Er geht ca. oft;\n{rows}\n" * 30, encoding="utf-8")
    model = tmp_path / "x.tagger"
    done = run_cli("train-tagger", tmp_path / "train.conllu", "--language", "de", "-o", model)
    assert done.code == 0, done.err
    text = "Er geht ca. oft; Er geht ca. oft;\n\nEr geht;\n"
    out = run_cli("tag", "-m", model, "--paragraphs", stdin=text).out
    told = [line for line in out.split("\n") if line.startswith("# ")]
    assert told == [
        *("# newpar", "# sent_id = 1.1", "# text = Er geht ca. oft;"),
        *("# sent_id = 1.2", "# text = Er geht ca. oft;"),
        *("# newpar", "# sent_id = 3", "# text = Er geht;"),
    ]
    refused = run_cli("tag", "-m", model, "--paragraphs", tmp_path / "train.conllu")
    assert refused.code == 2
    assert "--paragraphs is for plain text, found CoNLL-U" in refused.err


def test_lines_are_cut_in_several_ways(tmp_path, run_cli):
    tagger, parser, both = tmp_path / "de.tagger", tmp_path / "de.parser", tmp_path / "de.model"
    text, several = "Er geht zum Haus.\n\nZum Haus!\n", ("--segmentations", "2")
    for command in (
        ("train-tagger", "corpora/de.conllu", "--language", "de", "-o", tagger),
        ("train", "corpora/de.conllu", "-o", parser),
        ("bundle", tagger, parser, "-o", both),
    ):
        done = run_cli(*command)
        assert done.code == 0, done.err
    for name, model in (("tag", tagger), ("parse", both)):
        out = run_cli(name, "-m", model, *several, stdin=text).out
        comments = [line for line in out.split("\n") if line.startswith("# ")]
        last = 3 if name == "tag" else 2
        assert [line for line in comments if "sent_id" in line or "newpar" in line] == [
            *(
                "# sent_id = 1.1",
                "# sent_id = 1.2",
                "# newpar",
                f"# sent_id = {last}.1",
                f"# sent_id = {last}.2",
            )
        ]
        chances = [float(line.split(" = ")[1]) for line in comments if "segmentation_probability" in line]
        assert 1 >= chances[0] > chances[1] > 0
        for options, file, told in (
            ((), "corpora/de.conllu", "--segmentations is for plain text, found CoNLL-U"),
            (("--paragraphs",), "-", "one sentence per line, not running text"),
            (("--language", "en"), "-", "a model with a trained tokenizer"),
        ):
            refused = run_cli(name, "-m", model, *several, *options, file, stdin=text)
            assert (refused.code, refused.err.count("\n")) == (2, 1)
            assert told in refused.err


def with_feats(*cells):
    rows = [(str(i), form, form, tag) for i, (form, tag) in enumerate([("Haus", "NOUN"), (".", "PUNCT")], 1)]
    lines = ["\t".join([*row, "_", cell, *"____"]) for row, cell in zip(rows, cells, strict=True)]
    return "".join(f"{line}\n" for line in lines) + "\n"


def test_features_that_are_not_as_ud_writes_them_are_told(tmp_path, run_cli):
    treebank = tmp_path / "odd.conllu"
    train = ["train-tagger", treebank, "-o", tmp_path / "odd.tagger"]
    treebank.write_text(
        with_feats("Number=Sing|Case=nom", "_") + with_feats("Number=Sing|Case=Nom", "_"), "utf-8"
    )
    outcome = run_cli(*train)
    assert outcome.code == 0
    assert "line 1: found 'Number=Sing|Case=nom' in FEATS, expected Name=Value" in outcome.err
    assert "line 4: found 'Number=Sing|Case=Nom' in FEATS, expected them sorted" in outcome.err
    treebank.write_text(with_feats("_", "_") + with_feats("_", "SpaceAfter=No"), "utf-8")
    outcome = run_cli(*train)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "odd.conllu:5: found 'SpaceAfter=No' in FEATS, expected it in MISC" in outcome.err


def test_errors_of_a_sentence_name_its_line(tmp_path, run_cli):
    model = tmp_path / "de.tagger"
    run_cli("train-tagger", "corpora/de.conllu", "--language", "de", "-o", model)
    for name, text, line in (
        ("text.txt", "\nDer Hund schläft.\n", 2),
        ("bare.conllu", "# sent_id = 1\n1\tHund\t_\t_\t_\t_\t_\t_\t_\t_\n\n", 2),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        outcome = run_cli("tag", "-m", model, path, "--columns", "lemma")
        assert (outcome.code, f"{name}:{line}: found no UPOS on word 1" in outcome.err) == (2, True), (
            outcome.err
        )


def test_columns_that_only_some_sentences_have_are_told(tmp_path, run_cli):
    treebank = tmp_path / "some.conllu"
    treebank.write_text(with_feats("Number=Sing", "_") + with_feats("_", "_") * 2, "utf-8")
    outcome = run_cli("train-tagger", treebank, "-o", tmp_path / "some.tagger")
    assert "1 of 3 sentences have feats: they alone teach it" in outcome.err
