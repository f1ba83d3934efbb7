"""A format is added by the row that docs/architecture.md names; then every way in reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qsproj.corpus import formats
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.files import name_of, open_output, open_text
from qsproj.corpus.formats import SENTENCES, Format, read_sentences, write_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError

GERMAN = Path("corpora/de.conllu")


def read_slashes(path):
    """Read ``form/TAG/head/relation`` with spaces between, one sentence a line."""
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            cells = [word.rsplit("/", 3) for word in line.split()]
            if any(len(word) < 4 for word in cells):
                raise DataError(
                    name_of(path), number, found="a word of another form", expected="f/TAG/head/rel"
                )
            forms, tags, heads, relations = zip(*cells, strict=True)
            yield Sentence.from_words(
                forms,
                upos=tags,
                heads=[-1, *(-1 if head == "_" else int(head) for head in heads)],
                deprels=relations,
            )


def write_slashes(sentences, path):
    with open_output(path) as handle:
        for one in sentences:
            heads = ["_" if head < 0 else str(head) for head in one.heads.tolist()[1:]]
            rows = zip(one.forms, one.upos, heads, one.deprels, strict=True)
            handle.write(" ".join(map("/".join, rows)) + "\n")


@pytest.fixture
def slashes(monkeypatch, tmp_path):
    """Add the row; return the German sample in that format."""
    row = Format(
        "slashes",
        SENTENCES,
        read_slashes,
        write_slashes,
        (".slashes",),
        lambda lines: bool(lines) and all(word.count("/") >= 3 for word in lines[-1].split()),
    )
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, row))
    path = tmp_path / "de.slashes"
    write_sentences(read_conllu(GERMAN), path)
    return path


def told(path):
    return [(one.forms, one.upos, one.heads.tolist(), one.deprels) for one in read_sentences(path)]


def test_it_is_read_as_it_was_written(slashes):
    assert told(slashes) == told(GERMAN)


def test_commands_read_and_write_it(slashes, run_cli, tmp_path):
    """By its name, and by its looks where it has none; what comes out is what comes of CoNLL-U."""

    def done(*arguments, **options):
        outcome = run_cli(*arguments, **options)
        assert outcome.code == 0, outcome.err
        return outcome

    done("train", slashes, "-o", tmp_path / "parser", "--epochs", "1")
    done("train-tagger", slashes, "-o", tmp_path / "tagger", "--language", "de")
    for command, model in (("parse", "parser"), ("tag", "tagger")):
        plain, out = tmp_path / "out.conllu", tmp_path / "out.slashes"
        done(command, "-m", tmp_path / model, GERMAN, "-o", plain)
        done(command, "-m", tmp_path / model, slashes, "-o", out)
        assert told(out) == told(plain)
        piped = done(command, "-m", tmp_path / model, stdin=slashes.read_text()).out
        written = tmp_path / "piped.conllu"
        written.write_text(piped)
        assert told(written) == told(plain)
    scores = [done("eval", *pair).out for pair in ((slashes, tmp_path / "out.slashes"), (GERMAN, plain))]
    assert scores[0].splitlines()[1:] == scores[1].splitlines()[1:]
    done("align", slashes, GERMAN, "-o", tmp_path / "links")
    wrong = run_cli("parse", "-m", tmp_path / "parser", "-", stdin=slashes.read_text() + "a/b c\n")
    assert (wrong.code, "found a word of another form, expected f/TAG/head/rel" in wrong.err) == (2, True)


def test_bootstrap_reads_it(slashes, tmp_path):
    """As the treebank of its source."""
    from qsproj.pipelines.bootstrap.checks import check_sides
    from qsproj.pipelines.bootstrap.texts import SourceText

    texts = []
    for language in ("de", "en"):
        text = tmp_path / f"{language}.txt"
        sentences = read_conllu(f"corpora/{language}.conllu")
        text.write_text("".join(f"{' '.join(one.forms)}\n" for one in sentences), encoding="utf-8")
        texts.append(str(text))
    words = [
        check_sides(SourceText(treebanks=(str(path),), bitext=tuple(texts), languages=("de", "en")))[0]
        for path in (slashes, GERMAN)
    ]
    assert words[0] == words[1] > 100


def test_the_page_of_reviews_reads_and_writes_it(slashes, monkeypatch):
    """Where its row says that it keeps MISC, in which the page marks what was confirmed."""
    pytest.importorskip("starlette")
    from qsproj.serve.review.draft import Draft

    draft = Draft(str(slashes))
    assert [one.forms for one in draft.sentences] == [one.forms for one in read_conllu(GERMAN)]
    assert draft.content() == slashes.read_bytes()
    without = replace(formats.FORMATS[-1], has_misc=False)
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS[:-1], without))
    with pytest.raises(UsageError, match=r"--review adds to MISC, found .*de\.slashes"):
        Draft(str(slashes))


def test_servers_read_and_write_it(slashes, tmp_path):
    pytest.importorskip("starlette")
    from qsproj.serve.udpipe import ServedModel, process

    models = {"none": ServedModel("none", None, None)}
    fields = {"data": slashes.read_text(), "input": "slashes"}
    assert process(models, fields | {"output": "slashes"}).result == slashes.read_text()
    assert process(models, fields).sentences == len(list(read_conllu(GERMAN)))
