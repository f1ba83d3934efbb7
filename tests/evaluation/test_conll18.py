"""F1 of files that are cut differently, against the official scorer of the CoNLL 2018 shared task."""

import io
from itertools import islice, pairwise

import numpy as np
import pytest
from udtools import udeval

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import comment_value
from qsproj.corpus.text import read_text
from qsproj.errors import DataError
from qsproj.evaluation.conll18 import cut_scores

# Name in the official scorer and here.
SCORES = (
    ("Sentences", "sentences"),
    ("Tokens", "tokens"),
    ("Words", "words"),
    ("UPOS", "upos"),
    ("UAS", "uas"),
    ("LAS", "las_no_subtypes"),
)
COLUMNS = {
    **{"XPOS": "xpos", "UFeats": "ufeats", "AllTags": "alltags", "Lemmas": "lemmas"},
    **{"CLAS": "clas", "MLAS": "mlas", "BLEX": "blex", "ELAS": "elas", "EULAS": "eulas"},
}
FEATURES = ["_", "Case=Nom", "Case=Nom|Own=Yes", "Own=Yes", "Case=Acc|Number=Sing", "Gender=Fem|Number=Sing"]
RELATIONS = ["nsubj", "nsubj:pass", "case", "det", "punct", "obj"]


def pieces(rng, text):
    """Cut a text at random places."""
    places = np.flatnonzero(rng.random(len(text) - 1) < rng.choice([0.1, 0.5, 0.9])) + 1
    bounds = [0, *places.tolist(), len(text)]
    return [text[begin:end] for begin, end in pairwise(bounds)]


def random_block(rng, text, letters):
    """Return a sentence over ``text`` as CoNLL-U: random tokens, some of several words, and a random tree."""
    rows, words = [], 0
    for token in pieces(rng, text):
        parts = int(rng.integers(2, 4)) if rng.random() < 0.3 else 1
        if parts > 1:
            rows.append((f"{words + 1}-{words + parts}", token))
        for _ in range(parts):
            words += 1
            size = int(rng.integers(1, 3))
            rows.append((words, token if parts == 1 else "".join(rng.choice(list(letters), size))))
    heads = [0] * (words + 1)
    order = rng.permutation(words) + 1
    for place, word in enumerate(order[1:], start=1):
        heads[word] = int(order[rng.integers(place)])
    lines = [
        f"{number}\t{form}" + "\t_" * 8
        if isinstance(number, str)
        else f"{number}\t{form}\t{rng.choice(['l', 'm', '_'])}\t{rng.choice(['A', 'B'])}\t"
        f"{rng.choice(['a', 'b', '_'])}\t{rng.choice(FEATURES)}\t{heads[number]}\t"
        f"{rng.choice(RELATIONS) if heads[number] else 'root'}\t{random_edges(rng, words)}\t_"
        for number, form in rows
    ]
    return "\n".join([*lines, "", ""])


def random_edges(rng, words):
    """Return a cell of DEPS."""
    edges = {(int(head), rng.choice(RELATIONS)) for head in rng.integers(words + 1, size=rng.integers(1, 5))}
    return "|".join(f"{head}:{relation}" for head, relation in sorted(edges))


def official(gold, system):
    trees = [
        udeval.load_conllu(io.StringIO(text), "", {"multiple_roots_okay": True}) for text in (gold, system)
    ]
    return udeval.evaluate(*trees)


def ours(gold, system):
    return cut_scores(read_conllu(io.StringIO(gold)), read_conllu(io.StringIO(system)))


def assert_official(gold, system):
    wanted, scores = official(gold, system), ours(gold, system)
    for name, own in SCORES:
        part = scores.parts[own]
        found = (part.precision, part.recall, part.f1)
        theirs = (wanted[name].precision, wanted[name].recall, wanted[name].f1)
        assert found == pytest.approx([100 * value for value in theirs], abs=1e-9), name
    for name, own in COLUMNS.items():
        if own in scores.parts:
            assert scores.parts[own].f1 == pytest.approx(100 * wanted[name].f1, abs=1e-9), name
            assert scores.parts[own].recall == pytest.approx(100 * wanted[name].recall, abs=1e-9), name


# Of two letters, so that many words are alike and multiword tokens align in many ways; and of twenty.
@pytest.mark.parametrize("letters", ["aB", "abcdefghijklmnopqRST"])
@pytest.mark.parametrize("seed", range(40))
def test_random_cuts_score_as_with_the_official_scorer(letters, seed):
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list(letters), rng.integers(1, 25))) for _ in range(1 if seed % 2 else 4)]
    gold = "".join(random_block(rng, text, letters) for text in texts)
    system = "".join(random_block(rng, text, letters.lower()) for text in texts)
    assert_official(gold, system)


def test_sentences_cut_differently():
    rng = np.random.default_rng(7)
    text = "".join(rng.permutation(list("abcdefghijklmnopqrstuvwxyz")))
    for _ in range(20):
        gold, system = (
            "".join(random_block(rng, part, "XYZ") for part in pieces(rng, text)) for _ in range(2)
        )
        assert_official(gold, system)


def test_a_token_with_spaces_is_aligned_with_a_word_without_them():
    def tree(*rows):
        lines = [f"{word}\t{form}\t_\tNUM\t_\t_\t{head}\tdep\t_\t_" for word, form, head in rows]
        return "\n".join([*lines, "", ""])

    gold = tree((1, "10 000", 0))
    system = tree(("1-2", "10000", "_"), (1, "10000", 0), (2, "x", 1))
    assert_official(gold, system)
    assert ours(gold, system).parts["words"].right == 1


@pytest.mark.parametrize("language", ["de", "es"])
def test_real_text_scores_as_with_the_official_scorer(data_dir, language):
    gold = list(islice(read_conllu(data_dir / "pud" / f"{language}.conllu.gz"), 60))
    lines = [comment_value(sentence, "text") for sentence in gold]
    texts = []
    for sentences in (gold, read_text(lines, language)):
        blocks = []
        for sentence in sentences:
            rows = [line for line in sentence.layout.lines if line[0] != "#"]
            # No trees were made: each word hangs on the one before it.
            cells = [row.split("\t") for row in rows]
            for row in cells:
                if row[0].isdigit() and row[6] == "_":
                    row[6:8] = str(int(row[0]) - 1), "dep"
            blocks.append("\n".join("\t".join(row) for row in cells))
        texts.append("\n\n".join(blocks) + "\n\n")
    assert_official(*texts)
    assert ours(*texts).parts["words"].f1 < ours(*texts).parts["tokens"].f1 < 100


GOLD = """\
1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_
1\tzu\t_\tADP\t_\t_\t3\tcase\t_\t_
2\tdem\t_\tDET\t_\t_\t3\tdet:x\t_\t_
3\tHaus\t_\tNOUN\t_\t_\t0\troot\t_\t_

1\tJa\t_\tINTJ\t_\t_\t0\troot\t_\t_

"""


def test_counted_by_hand():
    system = """\
1\tzum\t_\tADP\t_\t_\t2\tcase\t_\t_
2\tHaus\t_\tNOUN\t_\t_\t0\troot\t_\t_
3\tJa\t_\tX\t_\t_\t2\tdep\t_\t_

"""
    scores = ours(GOLD, system)
    assert (
        scores.parts["sentences"].right,
        scores.parts["sentences"].gold,
        scores.parts["sentences"].system,
    ) == (0, 2, 1)
    assert (scores.parts["tokens"].right, scores.parts["tokens"].gold, scores.parts["tokens"].system) == (
        3,
        3,
        3,
    )
    assert (scores.parts["words"].right, scores.parts["words"].gold, scores.parts["words"].system) == (
        2,
        4,
        3,
    )
    assert (scores.parts["upos"].right, scores.parts["uas"].right, scores.parts["root"].right) == (1, 1, 1)
    assert scores.parts["uas"].f1 == pytest.approx(100 * 2 / 7)
    assert scores.uem == 0.0


def test_the_same_file_is_right():
    scores = ours(GOLD, GOLD)
    assert (scores.parts["words"].f1, scores.parts["las"].f1, scores.uem) == (100.0, 100.0, 100.0)


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (
            GOLD.replace("Haus", "Maus"),
            r"system:4: found 'Maus' as word 3 of sentence 1, expected 'Haus' as in gold",
        ),
        (GOLD.replace("Ja", "Ha"), "system:6: found 'Ha' as word 1 of sentence 2, expected 'Ja' as in gold"),
        (GOLD.split("\n\n")[0] + "\n\n", "system: found no text after sentence 1, expected 'Ja' as in gold"),
        (GOLD + GOLD, "gold: found no text after sentence 2, expected 'zumHaus' as in system"),
    ],
)
def test_other_text_is_an_error_that_names_the_first_word(system, message):
    with pytest.raises(DataError, match=message):
        ours(GOLD, system)


def test_a_path_through_an_empty_node_is_an_edge():
    gold, system = (
        "1\ta\t_\tA\t_\t_\t0\troot\t0:root\t_\n"
        f"1.1\tgo\t_\t_\t_\t_\t_\t_\t1:conj\t_\n2\tb\t_\tA\t_\t_\t1\torphan\t{deps}\t_\n\n"
        for deps in ("1.1:obj", "1:conj>obj")
    )
    scores = ours(gold, system.replace("1.1\tgo\t_\t_\t_\t_\t_\t_\t1:conj\t_\n", ""))
    assert scores.parts["elas"].f1 == scores.parts["eulas"].f1 == 100.0
    assert ours(gold, gold.replace("1:conj\t_", "1:parataxis\t_")).parts["elas"].f1 == 50.0


def test_a_word_without_a_head_is_wrong_also_where_the_gold_head_has_no_partner():
    columns = "\tX\t_\t_\t"
    gold = "1-2\txy" + "\t_" * 8 + "\n"
    gold += f"1\tp\tp{columns}0\troot\t_\t_\n2\tq\tq{columns}1\tobj\t_\t_\n3\tz\tz{columns}1\tobj\t_\t_\n\n"
    system = f"1\txy\txy{columns}0\troot\t_\t_\n2\tz\tz{columns}_\tobj\t_\t_\n\n"
    parts = ours(gold, system).parts
    assert (parts["words"].right, parts["uas"].right, parts["clas"].right) == (1, 0, 0)
