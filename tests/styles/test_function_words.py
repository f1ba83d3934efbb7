"""Function words as heads: hand-checked trees, each converted there and back."""

import pytest

from qsproj.styles.convert import convert
from qsproj.styles.style import UD, parse_style
from tests.styles.tables import sentence_of, tree_of

# The first columns are UD; then one head and one relation for each of the styles named beside the table.
CASES = {
    "several prepositions, inside which determiners": (
        ["prepositions=head", "prepositions=head,determiners=head"],
        """
        came    VERB   0 root    0 root       0 root
        out     ADP    5 case    1 obl        1 obl
        of      ADP    5 case    2 comp:case  2 comp:case
        the     DET    5 det     5 det        3 comp:case
        house   NOUN   1 obl     3 comp:case  4 comp:det
        .       PUNCT  1 punct   1 punct      1 punct
        """,
    ),
    "a preposition of several words": (
        ["prepositions=head"],
        """
        left     VERB  0 root   0 root
        because  ADP   5 case   1 obl
        of       ADP   2 fixed  2 fixed
        heavy    ADJ   5 amod   5 amod
        rain     NOUN  1 obl    2 comp:case
        """,
    ),
    "what hangs on the preposition and stands behind it stays": (
        ["prepositions=head"],
        """
        in     ADP    3 case   0 root
        -      PUNCT  1 punct  1 punct
        house  NOUN   0 root   1 comp:case
        """,
    ),
    "parts of a name and of a postposition stay with their first word": (
        ["prepositions=head"],
        """
        Rhein    PROPN  0 root   2 comp:case
        in       ADP    1 case   0 root
        bezug    ADP    2 fixed  2 fixed
        Ruhr     PROPN  1 flat   1 flat
        """,
    ),
    "a noun on the far side of its preposition and of its determiner": (
        ["prepositions=head,determiners=head"],
        """
        house  NOUN  0 root  3 comp:det
        in     ADP   1 case  0 root
        the    DET   1 det   2 comp:case
        """,
    ),
    "prepositions on both sides": (
        ["prepositions=head"],
        """
        von    ADP   2 case  0 root
        heute  ADV   0 root  3 comp:case
        an     ADP   2 case  1 comp:case
        """,
    ),
    "a chain of auxiliaries takes the subject and what stands before it along": (
        ["auxiliaries=head"],
        """
        Perhaps  ADV    5 advmod    3 advmod
        it       PRON   5 nsubj     3 nsubj
        has      AUX    5 aux       0 root
        been     AUX    5 aux:pass  3 comp:aux
        built    VERB   0 root      4 comp:aux:pass
        here     ADV    5 advmod    5 advmod
        .        PUNCT  5 punct     3 punct
        """,
    ),
    "the last of two auxiliaries on the right is the finite one": (
        ["auxiliaries=head"],
        """
        dass     SCONJ  3 mark      5 mark
        er       PRON   3 nsubj     5 nsubj
        gesehen  VERB   0 root      4 comp:aux:pass
        worden   AUX    3 aux:pass  5 comp:aux
        ist      AUX    3 aux       0 root
        """,
    ),
    "a copula with an auxiliary": (
        ["copula=head", "copula=head,auxiliaries=head", "function-head"],
        """
        She     PRON   5 nsubj  3 nsubj     2 nsubj     2 nsubj
        has     AUX    5 aux    3 aux       0 root      0 root
        been    AUX    5 cop    0 root      2 comp:aux  2 comp:aux
        a       DET    5 det    5 det       5 det       3 comp:cop
        doctor  NOUN   0 root   3 comp:cop  3 comp:cop  4 comp:det
        .       PUNCT  5 punct  3 punct     2 punct     2 punct
        """,
    ),
    "the subject between the copula and the predicate goes along": (
        ["copula=head"],
        """
        Is      AUX    4 cop    0 root
        she     PRON   4 nsubj  1 nsubj
        a       DET    4 det    4 det
        doctor  NOUN   0 root   1 comp:cop
        ?       PUNCT  4 punct  1 punct
        """,
    ),
    "a copula on the right of a predicate whose determiner is its head": (
        ["copula=head,determiners=head"],
        """
        dass  SCONJ  4 mark   5 mark
        er    PRON   4 nsubj  5 nsubj
        ein   DET    4 det    5 comp:cop
        Arzt  NOUN   0 root   3 comp:det
        ist   AUX    4 cop    0 root
        """,
    ),
    "a clause as predicate keeps its own subject": (
        ["copula=head", "copula=head,auxiliaries=head"],
        """
        problem  NOUN   6 nsubj:outer  2 nsubj:outer  2 nsubj:outer
        is       AUX    6 cop          0 root         0 root
        that     SCONJ  6 mark         6 mark         5 mark
        he       PRON   6 nsubj        6 nsubj        5 nsubj
        has      AUX    6 aux          6 aux          2 comp:cop
        left     VERB   0 root         2 comp:cop     5 comp:aux
        """,
    ),
    "determiners, a numeral and an adjective": (
        ["determiners=head"],
        """
        all  DET  5 det:predet  0 root
        the  DET  5 det         1 comp:det:predet
        two  NUM  5 nummod      5 nummod
        old  ADJ  5 amod        5 amod
        men  NOUN 0 root        2 comp:det
        """,
    ),
    "one preposition for both conjuncts": (
        ["prepositions=head", "coordination=prague,prepositions=head"],
        """
        lives   VERB   0 root  0 root       0 root
        in      ADP    3 case  1 obl        1 obl
        Paris   PROPN  1 obl   2 comp:case  4 conj
        and     CCONJ  5 cc    5 cc         2 comp:case
        London  PROPN  3 conj  3 conj       4 conj
        """,
    ),
    "a preposition for each conjunct": (
        ["prepositions=head", "coordination=prague,prepositions=head"],
        """
        lives   VERB   0 root  0 root       0 root
        in      ADP    3 case  1 obl        4 conj
        Paris   PROPN  1 obl   2 comp:case  2 comp:case
        and     CCONJ  6 cc    5 cc         1 obl
        in      ADP    6 case  2 conj       4 conj
        London  PROPN  3 conj  5 comp:case  5 comp:case
        """,
    ),
    "two prepositions for one noun": (
        [
            "prepositions=head",
            "coordination=prague,prepositions=head",
            "coordination=conll,prepositions=head",
        ],
        """
        in      ADP    4 case  0 root       2 conj       3 conj
        and     CCONJ  3 cc    3 cc         0 root       3 cc
        around  ADP    1 conj  1 conj       2 conj       0 root
        Paris   PROPN  0 root  1 comp:case  2 comp:case  3 comp:case
        """,
    ),
    "two postpositions for one noun": (
        ["prepositions=head", "coordination=prague,prepositions=head"],
        """
        Paris   PROPN  0 root  2 comp:case  3 comp:case
        in      ADP    1 case  0 root       3 conj
        and     CCONJ  4 cc    4 cc         0 root
        around  ADP    2 conj  2 conj       3 conj
        """,
    ),
    "an auxiliary of the second verb only": (
        ["coordination=conll,auxiliaries=head"],
        """
        drank  VERB   0 root  3 conj
        and    CCONJ  4 cc    3 cc
        has    AUX    4 aux   0 root
        eaten  VERB   1 conj  3 comp:aux
        """,
    ),
    "an auxiliary for each verb": (
        ["coordination=conll,auxiliaries=head", "auxiliaries=head"],
        """
        has    AUX    2 aux   4 conj      0 root
        drunk  VERB   0 root  1 comp:aux  1 comp:aux
        and    CCONJ  5 cc    4 cc        4 cc
        has    AUX    5 aux   0 root      1 conj
        eaten  VERB   2 conj  4 comp:aux  4 comp:aux
        """,
    ),
    "one subject and one auxiliary for both verbs": (
        ["auxiliaries=head"],
        """
        He    PRON   3 nsubj  2 nsubj
        has   AUX    3 aux    0 root
        come  VERB   0 root   2 comp:aux
        and   CCONJ  5 cc     5 cc
        gone  VERB   3 conj   3 conj
        .     PUNCT  3 punct  2 punct
        """,
    ),
    "words without heads stay without": (
        ["prepositions=head"],
        """
        lives   VERB   -1 _     -1 _
        in      ADP     3 case  -1 _
        Paris   PROPN  -1 _      2 comp:case
        and     CCONJ   5 cc     5 cc
        London  PROPN   3 conj   3 conj
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_converted_and_restored(name):
    specifications, table = CASES[name]
    original = sentence_of(table)
    for column, specification in enumerate(specifications, start=1):
        style = parse_style(specification)
        converted = convert(original, style)
        assert tree_of(converted) == tree_of(sentence_of(table, column))
        assert tree_of(convert(converted, UD, source=style)) == tree_of(original)


def test_a_dependent_of_the_function_word_itself_is_lost_where_it_stands_before_it():
    """Nothing tells "right in" from "Perhaps it has", where the adverb goes with the whole."""
    original = sentence_of("right ADV 2 advmod\n in ADP 3 case\n Paris PROPN 0 root")
    style = parse_style("prepositions=head")
    restored = convert(convert(original, style), UD, source=style)
    assert restored.heads.tolist() == [-1, 3, 3, 0]
