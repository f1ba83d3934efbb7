"""Words, tokens and sentences cut otherwise: the lines that come out, and that nothing else changes."""

from __future__ import annotations

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.errors import UsageError
from qsproj.serve.review.correction import checked_columns, with_checked
from qsproj.serve.review.tokens import Edit, edited

CONTENT = (
    "# sent_id = a\n# text = Ich geh zum Haus.\n"
    "1\tIch\tich\tPRON\t_\t_\t2\tnsubj\t2:nsubj\t_\n"
    "2\tgeh\tgehen\tVERB\t_\t_\t0\troot\t0:root\t_\n"
    "2.1\tx\t_\t_\t_\t_\t_\t_\t2:dep\t_\n"
    "3-4\tzum\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\tzu\t_\tADP\t_\t_\t5\tcase\t5:case\t_\n"
    "4\tdem\t_\tDET\t_\t_\t5\tdet\t5:det\t_\n"
    "5\tHaus\tHaus\tNOUN\t_\t_\t2\tobl\t2:obl|2.1:x\tSpaceAfter=No\n"
    "6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t2:punct\t_\n\n"
    "# sent_id = b\n# text = Ja!\n1\tJa\t_\tINTJ\t_\t_\t0\troot\t0:root\tSpaceAfter=No\n"
    "2\t!\t_\tPUNCT\t_\t_\t1\tpunct\t1:punct\t_\n\n"
)


@pytest.fixture
def pair(tmp_path):
    path = tmp_path / "draft.conllu"
    path.write_text(CONTENT)
    return list(read_conllu(path))


def after(pair, action, word=1, last=1, texts=()):
    """Return the sentences, each as its text and its words with heads, DEPS and SpaceAfter."""
    new = edited(pair[0], Edit(action, word, last, tuple(texts)), pair[1], name="draft")
    return [shown(one) for one in new]


def shown(sentence):
    lines = sentence.layout.lines
    text = next(line.removeprefix("# text = ") for line in lines if line.startswith("# text"))
    rows = [line.split("\t") for line in lines if line[0] != "#"]
    return [
        text,
        *(" ".join((row[0], row[1], row[6], row[8]) + (("-",) if "No" in row[9] else ())) for row in rows),
    ]


FIRST = [
    "Ich geh zum Haus.", "1 Ich 2 2:nsubj", "2 geh 0 0:root", "2.1 x _ 2:dep", "3-4 zum _ _", "3 zu 5 5:case",
    "4 dem 5 5:det", "5 Haus 2 2:obl|2.1:x -", "6 . 2 2:punct",
]  # fmt: skip


@pytest.mark.parametrize(("second", "joined"), [((), set()), (["lemmas"], {"lemmas"}), (["feats"], set())])
def test_both_parts_of_a_checked_sentence_are_checked_and_of_two_what_both_are(pair, second, joined):
    checked = [with_checked(pair[0], ["lemmas"]), with_checked(pair[1], second)]
    parts = edited(checked[0], Edit("end sentence", 2), checked[1], name="draft")
    assert [set(checked_columns(one)) for one in parts[:2]] == [{"lemmas"}] * 2
    (found,) = edited(checked[0], Edit("join next"), checked[1], name="draft")
    assert checked_columns(found) == joined


def test_what_is_spelled_out_becomes_tokens(pair):
    assert shown(pair[0]) == FIRST
    assert after(pair, "split", 1, texts=["I", "ch"])[0] == [
        "Ich geh zum Haus.", "1 I 3 3:nsubj -", "2 ch 1 _", "3 geh 0 0:root", "3.1 x _ 3:dep", "4-5 zum _ _",
        "4 zu 6 6:case", "5 dem 6 6:det", "6 Haus 3 3:obl|3.1:x -", "7 . 3 3:punct",
    ]  # fmt: skip


def test_other_parts_become_a_multiword_token(pair):
    found = after(pair, "split", 5, texts=["das", "Haus"])[0]
    assert found[7:] == ["5-6 Haus _ _ -", "5 das 2 2:obl|2.1:x", "6 Haus 5 _", "7 . 2 2:punct"]
    assert found[0] == FIRST[0]


def test_words_are_merged_with_their_dependents(pair):
    found = after(pair, "merge", 3, 5)[0]
    assert found == [
        "Ich geh zumHaus.", "1 Ich 2 2:nsubj", "2 geh 0 0:root", "2.1 x _ 2:dep", "3 zumHaus 2 2:obl|2.1:x -",
        "4 . 2 2:punct",
    ]  # fmt: skip
    assert after(pair, "merge", 3, 4)[0][4:6] == ["3 zum 4 4:case", "4 Haus 2 2:obl|2.1:x -"]
    with pytest.raises(UsageError, match="multiword token zum"):
        after(pair, "merge", 4, 5)


def test_any_words_of_a_tree_are_merged_into_one_of_a_tree():
    merged = 0
    for sentence in read_conllu("corpora/de.conllu"):
        for first in range(1, len(sentence)):
            for last in range(first + 1, min(first + 3, len(sentence) + 1)):
                try:
                    (found,) = edited(sentence, Edit("merge", first, last), None, name="draft")
                except UsageError as error:
                    assert "multiword token" in str(error)
                    continue
                merged += 1
                heads, old = found.heads.tolist(), sentence.heads.tolist()
                assert heads.count(0) == 1 + (old[0] == 0)
                for word in range(1, len(sentence) + 1):
                    # A word on the way to the root is still on it, if it was not merged.
                    head, cut = old[word], last - first
                    if not first <= word <= last and not first <= head <= last:
                        now = [one - cut * (one > last) for one in (word, head)]
                        assert heads[now[0]] == now[1]
    assert merged > 500


def test_tokens_are_joined_and_parted(pair):
    found = after(pair, "join", 5, 6)[0]
    assert found[7:] == ["5-6 Haus. _ _", "5 Haus 2 2:obl|2.1:x", "6 . 2 2:punct"]
    found = after(pair, "part", 3)[0]
    assert (found[0], found[4:6]) == ("Ich geh zudem Haus.", ["3 zu 5 5:case -", "4 dem 5 5:det"])
    for action, words in (("join", (3, 5)), ("part", (1, 1))):
        with pytest.raises(UsageError):
            after(pair, action, *words)


def test_spaces_forms_and_comments(pair):
    assert after(pair, "space", 5)[0][0] == "Ich geh zum Haus ."
    assert after(pair, "space", 1)[0][:2] == ["Ichgeh zum Haus.", "1 Ich 2 2:nsubj -"]
    assert after(pair, "form", 2, texts=["gehe"])[0][0] == "Ich gehe zum Haus."
    assert after(pair, "comments", texts=["# text = x", "# note"])[0][1:] == FIRST[1:]
    for wrong in ("note", "# a\tb"):
        with pytest.raises(UsageError, match="comment"):
            after(pair, "comments", texts=[wrong])


def test_a_sentence_ends_after_a_word(pair):
    first, second = after(pair, "end sentence", 2)
    assert first == ["Ich geh", "1 Ich 2 2:nsubj", "2 geh 0 0:root", "2.1 x _ 2:dep"]
    assert second == ["zum Haus.", "1-2 zum _ _", "1 zu 3 3:case", "2 dem 3 3:det", "3 Haus 0 _ -", "4 . 3 _"]
    names = [one.sent_id for one in edited(pair[0], Edit("end sentence", 2), pair[1], name="draft")]
    assert names == ["a", "a-2"]
    with pytest.raises(UsageError, match="multiword token zum"):
        after(pair, "end sentence", 3)


def test_a_sentence_takes_the_next_one(pair):
    (found,) = after(pair, "join next")
    assert found == ["Ich geh zum Haus. Ja!", *FIRST[1:], "7 Ja 2 0:root -", "8 ! 7 7:punct"]
    with pytest.raises(UsageError, match="no next sentence"):
        edited(pair[0], Edit("join next"), None, name="draft")
    with pytest.raises(UsageError, match="unknown action"):
        after(pair, "odd")


ORPHANS = (
    "# sent_id = j1\n# text = Anna las.\n# text_en = Anna read.\n# note = a\n"
    "1\tAnna\tAnna\tPROPN\t_\t_\t2\tnsubj\t2:nsubj\t_\n2\tlas\tlesen\tVERB\t_\t_\t0\troot\t0:root\tSpaceAfter=No\n"
    "3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t2:punct\t_\n3.1\tE\te\tVERB\t_\t_\t_\t_\t2:conj\t_\n\n"
    "# newpar\n# sent_id = j2\n# text = Zwei Äpfel dann\n# text_en = Two apples then\n# note = b\n"
    "0.1\tNahm\tnehmen\tVERB\t_\t_\t_\t_\t0:root\t_\n1\tZwei\tzwei\tNUM\t_\t_\t2\tnummod\t2:nummod\t_\n"
    "2\tÄpfel\tApfel\tNOUN\t_\t_\t0\troot\t0.1:obj\t_\n2.1\tF\t_\tX\t_\t_\t_\t_\t1:dep|2:dep\t_\n"
    "3\tdann\tdann\tADV\t_\t_\t2\torphan\t0.1:advmod|2.1:x\t_\n\n"
)


@pytest.fixture
def orphans(tmp_path):
    path = tmp_path / "draft.conllu"
    path.write_text(ORPHANS)
    return list(read_conllu(path))


def test_empty_nodes_and_comments_of_a_joined_sentence_stay(orphans):
    assert after(orphans, "join next")[0][4:] == [
        "3.1 E _ 2:conj", "3.2 Nahm _ 0:root",
        "4 Zwei 5 5:nummod", "5 Äpfel 2 3.2:obj", "5.1 F _ 4:dep|5:dep",
        "6 dann 5 3.2:advmod|5.1:x",
    ]  # fmt: skip
    (joined,) = edited(orphans[0], Edit("join next"), orphans[1], name="draft")
    assert [line for line in joined.layout.lines if line[0] == "#"] == [
        "# sent_id = j1", "# text = Anna las. Zwei Äpfel dann", "# text_en = Anna read. Two apples then",
        "# note = a", "# note = b",
    ]  # fmt: skip
    assert next(line for line in joined.layout.lines if line.startswith("4\t")).endswith("\tNewPar=Yes")


def test_deps_follow_empty_nodes(orphans):
    two = orphans[1:] * 2
    # The empty node stands after the last part of a word that is split, and after words that are merged.
    assert after(two, "split", 2, texts=["Äpf", "el"])[0][4:] == [
        "3 el 2 _", "3.1 F _ 1:dep|2:dep", "4 dann 2 0.1:advmod|3.1:x",
    ]  # fmt: skip
    assert after(two, "merge", 1, 2)[0][1:] == [
        "0.1 Nahm _ 0:root", "1 ZweiÄpfel 0 0.1:obj", "1.1 F _ 1:dep", "2 dann 1 0.1:advmod|1.1:x",
    ]  # fmt: skip
