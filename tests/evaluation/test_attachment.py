"""Attachment scores against plain counting and against the official scorer of the CoNLL 2018 shared task."""

import io
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from udtools import udeval

from qsproj.conventions import frozen_heads
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError
from qsproj.evaluation.attachment import attachment_scores
from tests.oracles.attachment import count_attachments

TAGS = ("NOUN", "VERB", "PUNCT", "_")
RELATIONS = ("nsubj", "nsubj:pass", "nsubj:outer", "obl:arg:acc", "obl:arg", "punct", "root")


def sentence(*words, sent_id=None):
    """Make a sentence of words written ``form/TAG/head/relation``."""
    forms, tags, heads, relations = zip(*(word.split("/") for word in words))
    empty = ("_",) * len(forms)
    numbers = frozen_heads([-1, *map(int, heads)])
    return Sentence(
        sent_id=sent_id,
        forms=forms,
        lemmas=empty,
        upos=tags,
        xpos=empty,
        feats=empty,
        deprels=relations,
        heads=numbers,
    )


def random_heads(rng, n, *, single_root=True):
    """Draw a tree of n words: each word in a random order hangs on one before it."""
    order = rng.permutation(n) + 1
    heads = np.zeros(n + 1, dtype=int)
    heads[0] = -1
    for place, word in enumerate(order[1:], start=1):
        heads[word] = order[rng.integers(place)] if single_root or rng.random() > 0.3 else 0
    return heads


def random_sentence(rng, n, *, missing=0.0):
    heads = random_heads(rng, n, single_root=False)
    heads[1:][rng.random(n) < missing] = -1
    tags, relations = rng.choice(TAGS, n).tolist(), rng.choice(RELATIONS, n).tolist()
    words = [f"w{i}" for i in range(n)]
    return sentence(*map("/".join, zip(words, tags, map(str, heads[1:].tolist()), relations)))


def reparsed(gold, rng):
    """Return ``gold`` with some heads and relations drawn anew."""
    keep = rng.random(len(gold)) < 0.6
    heads = np.where(np.r_[True, keep], gold.heads, random_heads(rng, len(gold), single_root=False))
    relations = [old if rng.random() < 0.6 else str(rng.choice(RELATIONS)) for old in gold.deprels]
    tags = [old if rng.random() < 0.8 else str(rng.choice(TAGS)) for old in gold.upos]
    return replace(gold, upos=tuple(tags), heads=frozen_heads(heads), deprels=tuple(relations))


def triples(sentences):
    return [list(zip(s.upos, s.heads[1:].tolist(), s.deprels)) for s in sentences]


def score(gold, system, **options):
    return attachment_scores([gold], [[system]], **options)[0]


GOLD = sentence("He/PRON/2/nsubj:pass", "fell/VERB/0/root", "down/ADV/2/advmod", "!/PUNCT/2/punct")


def test_a_sentence_counted_by_hand():
    system = sentence("He/X/2/nsubj", "fell/X/0/root", "down/X/2/obl", "!/X/3/punct")
    scores = score(GOLD, system)
    assert (scores.uas, scores.las, scores.las_no_subtypes) == (75.0, 25.0, 50.0)
    assert (scores.uem, scores.lem, scores.root_f1) == (0.0, 0.0, 100.0)
    assert (scores.upos, scores.tokens, scores.sentences) == (0.0, 4, 1)


def test_punctuation_is_what_the_gold_tags_say():
    system = sentence("He/PUNCT/2/nsubj:pass", "fell/PUNCT/0/root", "down/X/2/advmod", "!/X/3/punct")
    scores = score(GOLD, system, punctuation=False)
    assert (scores.tokens, scores.uas, scores.las, scores.uem) == (3, 100.0, 100.0, 100.0)


def test_a_missing_gold_head_is_not_scored_and_a_missing_system_head_is_wrong():
    gold = sentence("a/X/2/obj", "b/X/0/root", "c/X/-1/_")
    system = sentence("a/X/-1/obj", "b/X/0/root", "c/X/-1/_")
    scores = score(gold, system)
    assert (scores.tokens, scores.uas) == (2, 50.0)
    assert (scores.total("without_gold_head"), scores.total("without_head")) == (1, 1)


def test_sentences_without_scored_words_do_not_count_as_complete():
    nothing = sentence("x/X/-1/_")
    right = attachment_scores([nothing, GOLD], [[nothing, GOLD]])[0]
    assert (right.sentences, right.uem, right.lem) == (2, 100.0, 100.0)
    wrong = replace(GOLD, heads=frozen_heads([-1, 0, 1, 1, 1]))
    assert attachment_scores([nothing, GOLD], [[nothing, wrong]])[0].uem == 0.0


def test_nothing_to_score_is_not_a_number():
    scores = attachment_scores([], [[]])[0]
    assert scores.tokens == 0
    assert np.isnan([scores.uas, scores.las, scores.uem, scores.root_f1]).all()


def test_root_f1_takes_several_roots():
    gold = sentence("a/X/0/root", "b/X/0/root", "c/X/0/root")
    system = sentence("a/X/0/root", "b/X/1/x", "c/X/1/x")
    assert score(gold, system).root_f1 == pytest.approx(100 * 2 * 1 / (3 + 1))


@pytest.mark.parametrize("punctuation", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_plain_counting(seed, punctuation):
    rng = np.random.default_rng(seed)
    gold = [random_sentence(rng, int(n), missing=0.1) for n in rng.integers(1, 12, 60)]
    system = [reparsed(one, rng) for one in gold]
    scores = attachment_scores(gold, [system], punctuation=punctuation)[0]
    for name, value in count_attachments(triples(gold), triples(system), punctuation).items():
        assert getattr(scores, name) == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize("by", ["length", "tag", "relation"])
def test_groups_share_out_all_scored_words(by):
    rng = np.random.default_rng(1)
    gold = [random_sentence(rng, int(n), missing=0.1) for n in rng.integers(1, 50, 60)]
    system = [reparsed(one, rng) for one in gold]
    scores = attachment_scores(gold, [system], by=by, punctuation=False)[0]
    for name in ("tokens", "unlabelled", "labelled", "labelled_no_subtypes"):
        assert sum(group.total(name) for group in scores.groups.values()) == scores.total(name)
    assert sum(group.predicted for group in scores.groups.values()) == scores.tokens


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("length", {"1-10": (4, 4, 75.0)}),
        ("tag", {"ADV": (1, 1, 100.0), "PRON": (1, 1, 100.0), "PUNCT": (1, 1, 0.0), "VERB": (1, 1, 100.0)}),
        (
            "relation",
            {
                "advmod": (1, 0, 100.0),
                "nsubj:pass": (1, 1, 100.0),
                "punct": (1, 1, 0.0),
                "root": (1, 1, 100.0),
            },
        ),
    ],
)
def test_groups_counted_by_hand(by, expected):
    system = sentence("He/X/2/nsubj:pass", "fell/X/0/root", "down/X/2/obl", "!/X/3/punct")
    groups = {name: (g.tokens, g.predicted, g.uas) for name, g in score(GOLD, system, by=by).groups.items()}
    assert groups.pop("obl", (0, 1))[:2] == (0, 1)
    assert list(groups.items()) == list(expected.items())


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (
            [GOLD, sentence("He/X/0/root", "fall/X/1/x", sent_id="b")],
            r"s.conllu: found 'fall' as word 2 of sentence 2 \(b\), expected 'fell' as in g.conllu",
        ),
        ([GOLD, sentence("He/X/0/root")], r"found nothing as word 2 of sentence 2 \(b\), expected 'fell'"),
        ([GOLD], "s.conllu: found no sentence 2, expected one as in g.conllu"),
        ([GOLD, None, GOLD], "g.conllu: found no sentence 3, expected one as in s.conllu"),
    ],
)
def test_other_words_are_an_error_that_names_the_first(system, message):
    gold = [GOLD, sentence("He/X/0/root", "fell/X/1/x", sent_id="b")]
    system = [one or gold[1] for one in system]
    with pytest.raises(DataError, match=message):
        attachment_scores(gold, [system], names=("g.conllu", "s.conllu"))


def official(gold_text, system_text):
    """Return UAS and LAS of the official scorer, which leaves subtypes out."""
    gold, system = (
        udeval.load_conllu(io.StringIO(text), "", {"multiple_roots_okay": True})
        for text in (gold_text, system_text)
    )
    scores = udeval.evaluate(gold, system)
    return 100 * scores["UAS"].f1, 100 * scores["LAS"].f1


def ours(gold_text, system_text):
    gold, system = (read_conllu(io.StringIO(text)) for text in (gold_text, system_text))
    scores = attachment_scores(gold, [system])[0]
    return scores.uas, scores.las_no_subtypes


def conllu(sentences, rng):
    """Write sentences as CoNLL-U, with multiword tokens and empty nodes where ``rng`` puts them."""
    lines = []
    for one in sentences:
        covered = 0
        for word, (form, tag, head, relation) in enumerate(
            zip(one.forms, one.upos, one.heads[1:], one.deprels), start=1
        ):
            if word > covered and word < len(one) and rng.random() < 0.3:
                covered = word + 1
                lines.append(f"{word}-{covered}\t{form}{one.forms[word]}" + "\t_" * 8)
            lines.append(f"{word}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_")
            if word > covered and rng.random() < 0.1:
                lines.append(f"{word}.1\tghost\t_\t{tag}\t_\t_\t_\t_\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def test_of_several_faults_in_a_row_that_of_the_first_system_is_reported():
    gold, other, short = ([Sentence.from_words([one]) for one in words] for words in ("ab", "ac", "a"))
    with pytest.raises(DataError, match="system 1: found 'c' as word 1 of sentence 2"):
        attachment_scores(gold, [other, short])
    with pytest.raises(DataError, match="system 1: found no sentence 2"):
        attachment_scores(gold, [short, other])


@pytest.mark.parametrize("seed", range(10))
def test_uas_and_las_are_those_of_the_official_scorer(seed):
    rng = np.random.default_rng(seed)
    gold = [random_sentence(rng, int(n)) for n in rng.integers(1, 15, 30)]
    system = [replace(one, heads=frozen_heads(random_heads(rng, len(one)))) for one in gold[:10]]
    system += [replace(reparsed(one, rng), heads=one.heads) for one in gold[10:]]
    texts = conllu(gold, np.random.default_rng(seed)), conllu(system, np.random.default_rng(seed))
    assert "-" in texts[0] and ".1\t" in texts[0]
    assert ours(*texts) == pytest.approx(official(*texts), abs=1e-9)


@pytest.mark.parametrize("language", ["de", "es"])
def test_real_trees_score_as_with_the_official_scorer(data_dir, language):
    gold = list(islice(read_conllu(data_dir / "pud" / f"{language}.conllu.gz"), 150))
    texts = as_text(gold), as_text([chained(one) for one in gold])
    uas, las = ours(*texts)
    assert 5 < las < uas < 60
    assert (uas, las) == pytest.approx(official(*texts), abs=1e-9)


def chained(gold):
    """Hang each word on the next, right often enough to tell; relations lose their subtype or their name."""
    relations = [
        relation.split(":")[0] if word % 2 else "dep" for word, relation in enumerate(gold.deprels, start=1)
    ]
    heads = frozen_heads([-1, *range(2, len(gold) + 1), 0])
    return replace(gold, heads=heads, deprels=tuple(relations))


def as_text(sentences):
    handle = io.StringIO()
    write_conllu(sentences, handle)
    return handle.getvalue()
