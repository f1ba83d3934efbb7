"""``qsproj annotate``: sentences are corrected, and the model of a bootstrap is made again from them."""

from __future__ import annotations

import json
import operator
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest

import qsproj
from qsproj.cli.main import main
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns, with_comment
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.constraints import known_part
from qsproj.models.parser import load_parser
from qsproj.pipelines.bootstrap.answers import learn_answers
from qsproj.pipelines.bootstrap.bootstrap import BootstrapCall, BootstrapOptions
from qsproj.pipelines.bootstrap.suggestions import suggested_sentences
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.serve.review import retraining
from qsproj.serve.review.correction import certain, is_reviewed, tree_of, with_cells, with_checked, with_tree
from qsproj.serve.review.draft import Draft
from qsproj.serve.review.retraining import Relearning, Reviewed, still_offered, with_offered
from tests.cli.test_bootstrap import options
from tests.serve.client import Client, until

pytest.importorskip("uvicorn", reason="qsproj[serve] is not installed")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """The folder of a bootstrap."""
    folder = tmp_path_factory.mktemp("annotate")
    arguments = (*options(folder, count=60), "--work", folder / "work", "--draws", 1)
    assert main(["bootstrap", *map(str, arguments)]) == 0
    return folder / "work"


def test_a_call_is_kept_with_absolute_paths(work):
    call = BootstrapCall.load(work, None)
    assert call.language == "de"
    assert (call.options.draws, call.options.seed, call.options.tagged) == (1, 1, ())
    (text,) = call.texts
    assert all(Path(path).is_absolute() for path in (*text.treebanks, *text.bitext))
    again = work / "again"
    again.mkdir()
    call.save(again)
    assert BootstrapCall.load(again, "de") == call


def test_a_call_that_fails_does_not_replace_the_record_of_an_earlier_one(tmp_path, run_cli):
    arguments = [str(word) for word in options(tmp_path, count=20)]
    text = SourceText(treebanks=(arguments[1],), bitext=(arguments[3], arguments[4]), languages=("en", "de"))
    BootstrapCall((text,), BootstrapOptions(draws=7)).save(tmp_path)
    outcome = run_cli("bootstrap", *arguments, "--work", tmp_path)
    assert (outcome.code, "found 20 pairs to learn from" in outcome.err) == (2, True), outcome.err
    with pytest.raises(qsproj.QsprojError, match="found 20 pairs to learn from"):
        qsproj.bootstrap(treebank=arguments[1], bitext=arguments[3:5], languages=("en", "de"), work=tmp_path)
    assert BootstrapCall.load(tmp_path, "de").options.draws == 7


@pytest.mark.parametrize("option", ["-o", "--lexicon"])
@pytest.mark.parametrize("name", ["trees", "pairs"])
def test_inputs_of_the_bootstrap_are_not_overwritten(tmp_path, run_cli, option, name):
    path = tmp_path / name
    path.write_text("what was there")
    text = SourceText(
        treebanks=(str(tmp_path / "trees"),), bitext=(str(tmp_path / "pairs"),), languages=("en", "de")
    )
    BootstrapCall((text,), BootstrapOptions()).save(tmp_path)
    outcome = run_cli("annotate", "--work", tmp_path, "-o", tmp_path / "model", option, path)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1), outcome.err
    assert f"found {path} as a file to read and as one to write; name another" in outcome.err
    assert path.read_text() == "what was there"


def test_corrected_sentences_and_words_teach_the_model(work, tmp_path):
    folder = shutil.copytree(work, tmp_path / "work")
    lexicon = tmp_path / "words.tsv"
    learning = Relearning(BootstrapCall.load(folder, "de"), folder, str(tmp_path / "model"), str(lexicon))
    made = learning.begin()
    before = (tmp_path / "model").read_bytes()
    listed = Path(learning.suggestions).read_bytes()
    drafts = b"".join(f"{one.to_conllu()}".encode() for one in list(read_conllu(made.suggested))[:12])
    gold = {one.forms: one for one in read_conllu("corpora/de.conllu")}
    corrected = [gold[one.forms] for one in read_conllu(made.suggested)][:6]
    content = b"".join(f"{one.to_conllu()}".encode() for one in corrected) + drafts
    lexicon.write_text("Hund\tNOUN\n", encoding="utf-8")
    first = next(iter(read_conllu(made.suggested)))
    tagged = with_tree(
        with_cells(first, {"upos": ("X", *first.upos[1:])}), tree_of(first), decided=cells(first, upos=1)
    )
    content = content.replace(first.to_conllu().encode(), tagged.to_conllu().encode(), 1)
    found = learning(Reviewed(content, "drafts", range(6), range(6, 18)))
    assert found.summary["reviewed"] == 6
    # A tag that was decided in context stays.
    assert found.beliefs[6].upos[0] == "X"
    assert set(found.beliefs) == set(range(6, 18))
    assert (tmp_path / "model").read_bytes() != before
    done, every = learning.progress
    assert done == every > 0
    # The next words are the new model's.
    assert Path(learning.suggestions).read_bytes() != listed
    # Without an answer the model is the bootstrap's.
    lexicon.unlink()
    assert learning(Reviewed(content, "drafts", (), range(6, 18))).summary["reviewed"] == 0
    assert load_parser(tmp_path / "model").tagger.tag_words(("Der", "Hund"))
    # What the bootstrap itself made stays.
    kept = {path.name for path in work.iterdir()}
    assert kept <= {path.name for path in folder.iterdir()}


def test_checked_lemmas_and_features_teach_the_model(work, tmp_path):
    folder = shutil.copytree(work, tmp_path / "work")
    call = BootstrapCall.load(folder, "de")
    learning = Relearning(call, folder, str(tmp_path / "model"), str(tmp_path / "words.tsv"))
    made = learning.begin()
    gold = {one.forms: one for one in read_conllu("corpora/de.conllu")}
    drafts = list(read_conllu(made.suggested))[:20]
    reviewed = [with_tree(gold[one.forms], tree_of(gold[one.forms])) for one in drafts[:14]]
    lemmas = [tuple(f"lemma{at}" for at in range(len(one))) for one in reviewed]
    reviewed = [with_columns(one, lemmas=of) for one, of in zip(reviewed, lemmas)]

    def lemmas_learned(*columns):
        sentences = [*(with_checked(one, columns) for one in reviewed), *drafts[14:]]
        content = b"".join(f"{one.to_conllu()}".encode() for one in sentences)
        found = learning(Reviewed(content, "drafts", range(14), range(14, 20)))
        tagged = load_parser(tmp_path / "model").retagging().parse(Sentence.from_words(reviewed[0].forms))
        return sum(map(operator.eq, tagged.lemmas, lemmas[0])), found

    assert lemmas_learned()[0] == 0
    right, found = lemmas_learned("lemmas", "feats")
    assert right > len(reviewed[0]) / 2
    # New drafts have the lemmas and features of the model, but where a person has checked those of a draft.
    assert any(set(belief.lemmas) != {"_"} for belief in found.beliefs.values())
    drafts[14] = with_checked(with_columns(drafts[14], lemmas=("own",) * len(drafts[14])), ["lemmas"])
    assert set(lemmas_learned("lemmas")[1].beliefs[14].lemmas) == {"own"}
    again = learning.drafts_of([*reviewed, *drafts[14:]], range(14, 20))
    assert set(again.beliefs) == set(range(14, 20))
    assert again.beliefs[15] == lemmas_learned("lemmas")[1].beliefs[15]


def cells(sentence, **words):
    """Return the decided cells: of each column, those of the first ``words``."""
    of_column = {"upos": 0, "heads": 0, "relations": 0} | words
    return {name: [at < count for at in range(len(sentence))] for name, count in of_column.items()}


def test_corrections_that_are_not_confirmed_teach_the_model(work, tmp_path):
    """Of two sentences each is judged by the other; a single one would teach nothing."""
    folder = shutil.copytree(work, tmp_path / "work")
    call = BootstrapCall.load(folder, "de")
    learning = Relearning(call, folder, str(tmp_path / "model"), str(tmp_path / "words.tsv"))
    made = learning.begin()
    before = load_parser(tmp_path / "model")
    drafts = list(read_conllu(made.suggested))[:8]
    draft = drafts[0]
    drafts[1] = replace(draft, sent_id="again")
    # The first word hangs on the third, which nothing but the person says.
    heads = [3 if draft.heads[1] != 3 else 4, *tree_of(draft).heads[1:]]
    tree = replace(tree_of(draft), heads=tuple(heads), relations=("vocative", *draft.deprels[1:]))
    part = with_cells(draft, {"upos": ("INTJ", *draft.upos[1:])})
    part = with_tree(part, tree, decided=cells(draft, upos=1, heads=1, relations=1))
    again = replace(part, sent_id="again")
    content = b"".join(f"{one.to_conllu()}".encode() for one in (part, again, *drafts[2:]))
    found = learning(Reviewed(content, "drafts", (), range(8)))
    after = load_parser(tmp_path / "model")

    def chance(model):
        return model.posterior(with_columns(draft, upos=part.upos)).marginals[heads[0], 1]

    def tag_chance(model):
        tags = model.tagger.tags
        return model.tagger.tag_distribution(draft)[0, tags.index("INTJ")] if "INTJ" in tags else 0.0

    # Tagger, parser and relations learn it, and it stays in the new draft; other words are predicted.
    assert tag_chance(after) > tag_chance(before) + 0.2
    assert chance(after) > chance(before)
    new = found.beliefs[0]
    assert (new.upos[0], new.tree.heads[0], new.tree.relations[0]) == ("INTJ", heads[0], "vocative")
    # The order is that of the command: bootstrap --suggest.
    parsed = {at: after.retagging().parse(one, confidence=True) for at, one in enumerate(drafts) if at > 1}
    known = [certain(part), certain(again)]
    parsed |= {at: after.parse(one, confidence=True, given=known_part(one)) for at, one in enumerate(known)}
    ranked = suggested_sentences([parsed[at] for at in range(8)], after.tagger, known, count=8)
    assert [next(at for at in parsed if parsed[at] is one) for one in ranked] == list(found.order)


def test_corrected_links_teach_the_model(work, tmp_path):
    """An arc of the source between two words that a person linked one-to-one is one of the target."""
    folder = shutil.copytree(work, tmp_path / "work")
    call = BootstrapCall.load(folder, "de")
    learning = Relearning(call, folder, str(tmp_path / "model"), str(tmp_path / "words.tsv"))
    draft = max(islice(read_conllu(learning.begin().suggested), 8), key=len)
    # Of two sentences each is judged by the other; a single one would teach nothing.
    drafts = [draft, replace(draft, sent_id="again")]
    before = load_parser(tmp_path / "model")
    likely = before.posterior(draft).marginals
    head, word = next(arc for arc in product((2, 4), (1, 3)) if likely[arc] < 0.2)
    source = Sentence.from_words(["a", "b"], heads=[2, 0], deprels=["x", "root"])
    nothing = make_alignment(2, len(draft), [])
    pair = SentencePair(source, draft, nothing, hand=make_alignment(2, len(draft), [(1, word), (2, head)]))
    content = b"".join(f"{one.to_conllu()}".encode() for one in drafts)
    for hand, learns in ((None, False), (pair.hand, True)):
        pairs = {at: replace(pair, target=one, hand=hand) for at, one in enumerate(drafts)}
        learning(Reviewed(content, "drafts", (), range(2), pairs))
        chance = load_parser(tmp_path / "model").posterior(draft).marginals[head, word]
        assert (chance > likely[head, word] + 0.1) == learns


@pytest.mark.slow
def test_annotate_begins_with_the_model_of_an_annotated_bootstrap(tmp_path, monkeypatch):
    few, lexicon, work = tmp_path / "few.conllu", tmp_path / "lexicon.tsv", tmp_path / "work"
    write_conllu(islice(read_conllu("corpora/de.conllu"), 60, 70), few)
    lexicon.write_text("doch\tADV\n", encoding="utf-8")
    arguments = [*options(tmp_path, count=60), "--draws", 1, "--lexicon", lexicon, "--work", work]
    for more in ((), ("--annotated", few)):
        assert main(["bootstrap", *map(str, (*arguments, *more))]) == 0
    # Annotated sentences leave the stages of the tagger and of the parser.
    assert [len(list(work.glob(f"{stage}-*.json"))) for stage in ("tagger", "prior", "parser")] == [1, 1, 1]
    made = load_parser(tmp_path / "model")
    learning = Relearning(
        BootstrapCall.load(work, "de"), work, str(tmp_path / "again"), str(tmp_path / "none.tsv")
    )
    base = load_parser(learning.begin().base)
    # Without an answer nothing is learned again.
    again = learning.learned([])
    assert np.array_equal(again.tagger.weights, made.tagger.weights)
    assert np.array_equal(again.base.scorer.weights, made.base.scorer.weights)
    assert not np.array_equal(base.base.scorer.weights, made.base.scorer.weights)
    gold = list(read_conllu(few))
    # An answer takes the place of an annotated sentence; its features are those of the draft, and teach none.
    learned = list[Sentence]()

    def learn(model, sentences, *more, **how):
        learned[:] = sentences
        return learn_answers(model, sentences, *more, **how)

    monkeypatch.setattr(retraining, "learn_answers", learn)
    learning.learned(gold[:2])
    assert [one.forms for one in learned] == [one.forms for one in (*gold[2:], *gold[:2])]
    assert {cell for one in learned[-2:] for cell in (*one.feats, *one.lemmas)} == {"_"}
    assert set(learned[0].feats) != {"_"}
    before, after = (attachment_scores(gold, [list(one.parse_all(gold))])[0].las for one in (base, made))
    assert after > before


def test_other_sentences_replace_those_without_an_answer():
    def named(name, *forms, misc="_"):
        return Sentence.from_words(forms, sent_id=name, misc=[misc, *["_"] * (len(forms) - 1)])

    yes = "Reviewed=Yes"
    drafts = [
        named("1", "a", misc=yes),
        named("2", "b"),
        named("3", "c", misc="Decided=UPOS"),
        named("4", "d"),
        named("5a", "e"),
    ]
    before = [named(str(at), form) for at, form in enumerate("abcd", start=1)] + [named("5", "e", "f")]
    # An answered sentence, one that the person has divided, and new ones, one with the name of another.
    now = [named("9", "a"), named("5", "e", "f"), named("3", "x"), named("7", "y")]
    found = with_offered(drafts, now, before=before)
    assert [(one.sent_id, *one.forms) for one in found] == [
        ("1", "a"), ("2", "x"), ("3", "c"), ("7", "y"), ("5a", "e"),
    ]  # fmt: skip
    more = [*now, *(named(f"n{at}", f"z{at}") for at in range(3))]
    found = with_offered(drafts, more, before=before)
    assert [one.forms[0] for one in found] == ["a", "x", "c", "y", "e", "z0", "z1", "z2"]
    assert len({one.sent_id for one in found}) == len(found)
    assert with_offered([], now, before=[]) == now
    # A comment of the person, and drafts of a session that did not record what was offered, stay.
    noted = with_comment(drafts[1], "note", "who?")
    assert with_offered([noted], [now[2]], before=before) == [noted, now[2]]
    assert with_offered(drafts, before[:4], before=[]) == drafts
    # Left-over drafts can be replaced later; replaced sentences can be offered again, divided ones cannot.
    few = with_offered(drafts, now[:3], before=before)
    assert [one.forms[0] for one in few] == ["a", "x", "c", "d", "e"]
    rest = still_offered(before, drafts, few, now[:3])
    assert [one.forms for one in rest] == [("c",), ("d",)]
    again = with_offered(
        few, [named("8", "b"), named("9", "y"), named("5", "e", "f")], before=[*now[:3], *rest]
    )
    assert [one.forms[0] for one in again] == ["a", "b", "c", "y", "e"]


@pytest.mark.slow
def test_annotate_offers_the_sentences_of_a_new_text_and_writes_its_own_model(tmp_path):
    work, text = tmp_path / "work", tmp_path / "text"
    forms = [" ".join(one.forms) for one in read_conllu("corpora/de.conllu")]
    text.write_text("\n".join(forms[60:70]) + "\n", encoding="utf-8")
    arguments = [*options(tmp_path, count=60), "--draws", 1, "--text", text, "--work", work]
    assert main(["bootstrap", *map(str, arguments)]) == 0
    foreign = Path("tests/kept_models/text-parser.model")
    output, said = tmp_path / "out", list[str]()
    shutil.copy(foreign, output)
    learning = Relearning(BootstrapCall.load(work, "de"), work, str(output), str(tmp_path / "words.tsv"))
    learning.begin(said.append)
    # A model that is there stays until something is learned.
    assert output.read_bytes() == foreign.read_bytes()
    assert Path(learning.model).read_bytes() == Path(learning.begin().model).read_bytes()
    drafts = list(read_conllu(learning.drafts))
    reviewed = drafts[3].replace(misc=["Reviewed=Yes", *[None] * (len(drafts[3]) - 1)])
    write_conllu([*drafts[:3], reviewed, *drafts[4:]], learning.drafts)
    learning.learned([])
    learned = output.read_bytes()
    # Started again, with the same text: what was learned stays.
    shutil.copy(foreign, output)
    learning.begin(said.append)
    assert Path(learning.model).read_bytes() == learned
    assert not any("other sentences" in line for line in said)
    text.write_text("\n".join(forms[70:85]) + "\n", encoding="utf-8")
    learning.begin(said.append)
    assert sum("other sentences are offered now" in line for line in said) == 1
    now = list(read_conllu(learning.drafts))
    assert now[3].to_conllu() == reviewed.to_conllu()
    assert {" ".join(one.forms) for one in now if one is not now[3]} == set(forms[70:85])
    assert Path(learning.model).read_bytes() != learned
    # Stopped before it was recorded what is offered, it is done again; drafts that were removed come back.
    learning.offered.unlink()
    learning.begin()
    assert [one.to_conllu() for one in read_conllu(learning.drafts)] == [one.to_conllu() for one in now]
    learning.drafts.unlink()
    learning.begin()
    assert {" ".join(one.forms) for one in read_conllu(learning.drafts)} == set(forms[70:85])


@pytest.mark.parametrize(
    ("name", "content", "arguments", "message"),
    [
        (None, "", (), "found no bootstrap; make one: qsproj bootstrap ... --work"),
        ("bootstrap.de.json", "[" * 100_000, (), "found a damaged record"),
        ("bootstrap.de.json", '{"texts": [], "options": 1}', (), "found a damaged record"),
        ("bootstrap.de.json", "{}", ("--language", "fr"), "found no bootstrap of fr"),
    ],
)
def test_a_folder_without_a_bootstrap_is_refused(tmp_path, run_cli, name, content, arguments, message):
    if name is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    outcome = run_cli("annotate", "--work", tmp_path, "-o", tmp_path / "model", *arguments)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert message in outcome.err


@pytest.mark.parametrize("name", ["conllu", "conllu.history", "offered.conllu", "words.tsv"])
def test_files_of_a_session_are_not_overwritten(work, run_cli, name):
    path = work / f"annotate.de.{name}"
    before = path.read_bytes() if path.exists() else b"here"
    path.write_bytes(before)
    for option in ("--output", "--lexicon"):
        more = () if option == "--output" else ("-o", work.parent / "model")
        outcome = run_cli("annotate", "--work", work, option, path, *more)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1)
        assert "as a file to read and as one to write" in outcome.err
    assert path.read_bytes() == before
    if before == b"here":
        path.unlink()


def test_without_the_extra_it_is_told_what_to_install(tmp_path):
    code = "import sys; sys.modules['starlette'] = None; from qsproj.__main__ import run; run()"
    command = [sys.executable, "-c", code, "annotate", "--work", tmp_path, "-o", tmp_path / "model"]
    ended = subprocess.run([*map(str, command)], capture_output=True, text=True)
    said = "qsproj annotate: found no starlette; install it: pip install 'qsproj[serve]'\n"
    assert (ended.returncode, ended.stderr) == (2, said)


@pytest.mark.slow
def test_the_page_trains_and_goes_on_after_a_restart(work, tmp_path):
    folder, model = shutil.copytree(work, tmp_path / "work"), tmp_path / "model"
    command = [sys.executable, "-m", "qsproj", "annotate", "--work", folder, "-o", model, "--port", "0"]
    command = [*map(str, command), "--train-after", "2"]

    log = tmp_path / "log"

    def start():
        # A file: a pipe that nobody reads is full after some hundred lines of the log, and the server waits.
        with log.open("w") as errors:
            process = subprocess.Popen(command, stderr=errors, env=os.environ)
        opened = re.compile(r"open (http://\S+)/\?token=(\S+)")
        found = until(lambda: opened.search(log.read_text()) or process.poll() is not None, seconds=120)
        assert found is not True, log.read_text()
        return process, Client(found[1]), {"X-Qsproj-Token": found[2]}

    process, client, headers = start()
    try:
        for at in range(2):
            shown = client.ask(f"/api/sentences/{at}", headers=headers).json
            tree = {"heads": shown["heads"], "relations": shown["relations"], "version": shown["version"]}
            data = json.dumps(tree).encode()
            answer = client.ask(f"/api/sentences/{at}", data=data, method="PUT", headers=headers)
            assert answer.json["reviewed"]
        second = subprocess.run(command, capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert second.stderr.endswith("another qsproj annotate uses it; answer on its page, or stop it\n")
        before = model.read_bytes()
        client.ask("/api/training", data=b"{}", method="POST", headers=headers)
        until(lambda: not client.ask("/api/training", headers=headers).json["training"], seconds=120)
        assert client.ask("/api/training", headers=headers).json["trained"]["reviewed"] == 2
        assert model.read_bytes() != before
        trained = model.read_bytes()
    finally:
        process.kill()
        process.wait()
    assert sum(map(is_reviewed, Draft(str(folder / "annotate.de.conllu")).sentences)) == 2
    process, client, headers = start()
    process.terminate()
    process.wait(60)
    said = log.read_text().splitlines()
    assert "qsproj annotate: stopped" in said
    assert not any(line.startswith("qsproj serve") for line in said)
    assert model.read_bytes() == trained
