"""Coordinations in all families: hand-checked trees, each converted there and back."""

from dataclasses import replace

import pytest

from qsproj.styles.convert import convert
from qsproj.styles.style import UD, parse_style
from tests.styles.tables import sentence_of, tree_of

# The first columns are UD; then one head and one relation for each of the styles named beside the table.
CASES = {
    "three conjuncts, in the families where one conjunct heads all": (
        [
            "conjunctions=previous,punctuation=between",
            "coordination=conll",
            "coordination=conll,conjunctions=between,punctuation=previous",
        ],
        """
        saw   VERB   0 root   0 root   0 root   0 root
        cats  NOUN   1 obj    1 obj    7 conj   7 conj
        ,     PUNCT  4 punct  2 punct  4 punct  2 punct
        dogs  NOUN   2 conj   2 conj   7 conj   7 conj
        ,     PUNCT  7 punct  2 punct  7 punct  4 punct
        and   CCONJ  7 cc     4 cc     7 cc     7 cc
        mice  NOUN   2 conj   2 conj   1 obj    1 obj
        .     PUNCT  1 punct  1 punct  1 punct  1 punct
        """,
    ),
    "three conjuncts, in chains": (
        [
            "coordination=moscow",
            "coordination=moscow,conjunctions=between,punctuation=between",
            "coordination=reverse-moscow,conjunctions=between",
        ],
        """
        saw   VERB   0 root   0 root   0 root   0 root
        cats  NOUN   1 obj    1 obj    1 obj    4 conj
        ,     PUNCT  4 punct  4 punct  2 punct  4 punct
        dogs  NOUN   2 conj   2 conj   3 conj   6 conj
        ,     PUNCT  7 punct  7 punct  4 punct  7 punct
        and   CCONJ  7 cc     7 cc     5 cc     7 cc
        mice  NOUN   2 conj   4 conj   6 conj   1 obj
        .     PUNCT  1 punct  1 punct  1 punct  1 punct
        """,
    ),
    "three conjuncts, headed by a conjunction": (
        ["coordination=prague", "coordination=prague,punctuation=between"],
        """
        saw   VERB   0 root   0 root   0 root
        cats  NOUN   1 obj    6 conj   6 conj
        ,     PUNCT  4 punct  4 punct  6 punct
        dogs  NOUN   2 conj   6 conj   6 conj
        ,     PUNCT  7 punct  7 punct  6 punct
        and   CCONJ  7 cc     1 obj    1 obj
        mice  NOUN   2 conj   6 conj   6 conj
        .     PUNCT  1 punct  1 punct  1 punct
        """,
    ),
    "two conjunctions": (
        ["coordination=prague,conjunctions=between", "coordination=prague,conjunctions=previous"],
        """
        cats  NOUN   0 root  4 conj  4 conj
        and   CCONJ  3 cc    4 cc    1 cc
        dogs  NOUN   1 conj  4 conj  4 conj
        and   CCONJ  5 cc    0 root  0 root
        mice  NOUN   1 conj  4 conj  4 conj
        """,
    ),
    "without conjunction, punctuation heads": (
        ["coordination=prague", "coordination=moscow,punctuation=between"],
        """
        cats  NOUN   0 root   2 conj  0 root
        ,     PUNCT  3 punct  0 root  1 punct
        dogs  NOUN   1 conj   2 conj  2 conj
        """,
    ),
    "with neither, the first conjunct heads": (
        ["coordination=prague", "coordination=conll"],
        """
        cats  NOUN  0 root  0 root  2 conj
        dogs  NOUN  1 conj  1 conj  0 root
        """,
    ),
    "quotes do not separate conjuncts": (
        ["coordination=prague,punctuation=between"],
        """
        cats  NOUN   0 root   2 conj
        and   CCONJ  4 cc     0 root
        "     PUNCT  4 punct  4 punct
        dogs  NOUN   1 conj   2 conj
        "     PUNCT  4 punct  4 punct
        """,
    ),
    "a coordination as the second conjunct": (
        ["coordination=prague", "coordination=prague,punctuation=between"],
        """
        tea    NOUN   0 root   3 conj   3 conj
        ,      PUNCT  5 punct  6 punct  3 punct
        and    CCONJ  5 cc     0 root   0 root
        hot    ADJ    5 amod   5 amod   5 amod
        milk   NOUN   1 conj   6 conj   6 conj
        or     CCONJ  7 cc     3 conj   3 conj
        cream  NOUN   5 conj   6 conj   6 conj
        """,
    ),
    "a conjunction before the first conjunct of a coordination that is a conjunct": (
        ["coordination=prague"],
        """
        tea    NOUN   0 root        2 conj
        or     CCONJ  4 cc          0 root
        both   CCONJ  4 cc:preconj  5 cc:preconj
        milk   NOUN   1 conj        5 conj
        and    CCONJ  6 cc          2 conj
        cream  NOUN   4 conj        5 conj
        """,
    ),
    "a conjunction heads rather than the punctuation after it": (
        ["coordination=prague"],
        """
        tea   NOUN   0 root   2 conj
        and   CCONJ  4 cc     0 root
        ,     PUNCT  4 punct  4 punct
        milk  NOUN   1 conj   2 conj
        """,
    ),
    "a conjunction that hangs elsewhere than the style says stays with its word": (
        ["coordination=conll", "coordination=prague"],
        """
        tea     NOUN   0 root  5 conj  4 conj
        and     CCONJ  1 cc    1 cc    1 cc
        milk    NOUN   1 conj  5 conj  4 conj
        and     CCONJ  5 cc    5 cc    0 root
        coffee  NOUN   1 conj  0 root  4 conj
        """,
    ),
    "an expletive is shared, a reflexive is not": (
        ["coordination=prague"],
        """
        es     PRON   3 expl     5 expl
        sich   PRON   3 expl:pv  3 expl:pv
        freut  VERB   0 root     5 conj
        nicht  PART   3 advmod   3 advmod
        und    CCONJ  6 cc       0 root
        lacht  VERB   3 conj     5 conj
        """,
    ),
    "a determiner is shared by nouns": (
        ["coordination=prague"],
        """
        the    DET    2 det   3 det
        men    NOUN   0 root  3 conj
        and    CCONJ  4 cc    0 root
        women  NOUN   2 conj  3 conj
        """,
    ),
    "a determiner is not shared with a name": (
        ["coordination=prague"],
        """
        the   DET    2 det   2 det
        men   NOUN   0 root  3 conj
        and   CCONJ  4 cc    0 root
        Anna  PROPN  2 conj  3 conj
        """,
    ),
    "what stands between a preposition of one conjunct and its noun is not shared": (
        ["coordination=prague"],
        """
        at     ADP    3 case  3 case
        this   DET    3 det   3 det
        stage  NOUN   0 root  4 conj
        and    CCONJ  6 cc    0 root
        in     ADP    6 case  6 case
        light  NOUN   3 conj  4 conj
        """,
    ),
    "coordinated conjunctions do not head": (
        ["coordination=prague"],
        """
        tea     NOUN   0 root  0 root
        and     CCONJ  5 cc    3 conj
        /       SYM    4 cc    5 cc
        or      CCONJ  2 conj  3 conj
        coffee  NOUN   1 conj  1 conj
        """,
    ),
    "the subject and what stands before it are shared; the full stop is": (
        ["coordination=prague", "coordination=conll", "shared=nearest"],
        """
        Yesterday  ADV    3 advmod  4 advmod  5 advmod  3 advmod
        he         PRON   3 nsubj   4 nsubj   5 nsubj   3 nsubj
        wrote      VERB   0 root    4 conj    5 conj    0 root
        and        CCONJ  5 cc      0 root    5 cc      5 cc
        left       VERB   3 conj    4 conj    0 root    3 conj
        .          PUNCT  3 punct   4 punct   5 punct   5 punct
        """,
    ),
    "a dependent of the first conjunct beyond the last one is shared": (
        ["coordination=prague", "coordination=moscow"],
        """
        write  VERB   0 root  2 conj  0 root
        and    CCONJ  3 cc    0 root  3 cc
        sell   VERB   1 conj  2 conj  1 conj
        books  NOUN   1 obj   2 obj   1 obj
        """,
    ),
    "each verb has its subject, so all before the first is its own": (
        ["coordination=prague", "coordination=conll"],
        """
        Then   ADV    3 advmod  3 advmod  3 advmod
        he     PRON   3 nsubj   3 nsubj   3 nsubj
        wrote  VERB   0 root    4 conj    6 conj
        and    CCONJ  6 cc      0 root    6 cc
        she    PRON   6 nsubj   6 nsubj   6 nsubj
        left   VERB   3 conj    4 conj    0 root
        """,
    ),
    "a subject that stands for its verb": (
        ["coordination=prague", "coordination=conll"],
        """
        Mary    PROPN  2 nsubj   2 nsubj   2 nsubj
        won     VERB   0 root    4 conj    5 conj
        gold    NOUN   2 obj     2 obj     2 obj
        and     CCONJ  5 cc      0 root    5 cc
        Peter   PROPN  2 conj    4 conj    0 root
        silver  NOUN   5 orphan  5 orphan  5 orphan
        """,
    ),
    "a conjunction before the first conjunct": (
        ["coordination=prague", "coordination=conll", "coordination=moscow,conjunctions=between"],
        """
        both  CCONJ  2 cc:preconj  3 cc:preconj  4 cc:preconj  2 cc:preconj
        cats  NOUN   0 root        3 conj        4 conj        0 root
        and   CCONJ  4 cc          0 root        4 cc          2 cc
        dogs  NOUN   2 conj        3 conj        0 root        3 conj
        """,
    ),
    "words without heads stay without": (
        ["coordination=prague", "coordination=conll"],
        """
        lives   VERB   -1 _     -1 _     -1 _
        Paris   PROPN  -1 _      3 conj   4 conj
        and     CCONJ   4 cc    -1 _      4 cc
        London  PROPN   2 conj   3 conj  -1 _
        """,
    ),
}

NESTED_LAST = "a NOUN 0 root\n , PUNCT 3 punct\n b NOUN 1 conj\n or CCONJ 5 cc\n c NOUN 3 conj"
SHARED_RIGHT = "write VERB 0 root\n and CCONJ 3 cc\n sell VERB 1 conj\n books NOUN 1 obj"


@pytest.mark.parametrize("name", CASES)
def test_converted_and_restored(name):
    specifications, table = CASES[name]
    original = sentence_of(table)
    for column, specification in enumerate(specifications, start=1):
        style = parse_style(specification)
        converted = convert(original, style)
        assert tree_of(converted) == tree_of(sentence_of(table, column))
        assert tree_of(convert(converted, UD, source=style)) == tree_of(original)


@pytest.mark.parametrize(("feats", "head"), [("VerbForm=Part", 3), ("Mood=Ind|VerbForm=Fin", 2)])
def test_an_auxiliary_is_not_shared_with_a_finite_verb(feats, head):
    """In "has come and goes" the auxiliary is of the first verb only; in "has come and gone" of both."""
    original = sentence_of("has AUX 2 aux\n come VERB 0 root\n and CCONJ 4 cc\n go VERB 2 conj")
    with_feats = replace(original, feats=("_", "_", "_", feats))
    converted = convert(with_feats, parse_style("coordination=prague"))
    assert converted.heads.tolist() == [-1, head, 3, 0, 3]


@pytest.mark.parametrize("place", ["previous", "between"])
def test_a_conjunction_that_hangs_elsewhere_heads_nothing(place):
    original = sentence_of("tea NOUN 0 root\n and CCONJ 3 cc\n milk NOUN 1 conj")
    source = parse_style(f"conjunctions={place}")
    target = parse_style("coordination=prague", base=source)
    assert tree_of(convert(original, target, source=source)) == tree_of(original)


@pytest.mark.parametrize(
    ("specification", "table", "restored"),
    [
        ("coordination=moscow", NESTED_LAST, [0, 3, 1, 5, 1]),
        ("coordination=conll", NESTED_LAST, [0, 3, 1, 5, 1]),
        ("coordination=conll", SHARED_RIGHT, [0, 3, 1, 3]),
        ("shared=nearest", SHARED_RIGHT, [0, 3, 1, 3]),
    ],
)
def test_what_a_style_cannot_say_is_lost(specification, table, restored):
    """Chains and last heads do not nest to the right; the last conjunct's right side looks private."""
    style = parse_style(specification)
    there_and_back = convert(convert(sentence_of(table), style), UD, source=style)
    assert there_and_back.heads[1:].tolist() == restored


def test_a_first_conjunct_that_is_a_coordination_is_what_ud_cannot_say():
    prague = parse_style("coordination=prague")
    table = "a NOUN 2 conj\n or CCONJ 4 conj\n b NOUN 2 conj\n and CCONJ 0 root\n c NOUN 4 conj"
    in_ud = convert(sentence_of(table), UD, source=prague)
    assert tree_of(in_ud) == [
        ("a", 0, "root"),
        ("or", 3, "cc"),
        ("b", 1, "conj"),
        ("and", 5, "cc"),
        ("c", 1, "conj"),
    ]


def test_a_chain_of_a_thousand_links_is_followed():
    rows = [f", PUNCT {word} punct" for word in range(1, 1500)]
    sentence = sentence_of("\n".join(["x NOUN 0 root", *rows, "y NOUN 1500 conj"]))
    assert convert(sentence, UD, source=parse_style("moscow")).forms == sentence.forms
