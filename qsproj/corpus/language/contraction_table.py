"""Contractions that treebanks of Universal Dependencies split, where no sentence shows them.

Closed lists of one word for a preposition and an article or pronoun, or for a conjunction and an auxiliary.
All are contractions more often than anything else, and are split wherever they stand: French *des*, of the,
is an article as well, which is then cut wrongly. Clitics behind verbs (Spanish *verlo*) are no closed list;
tokenisers learn them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from qsproj.corpus.contractions import Contractions, learn_contractions
from qsproj.corpus.sentence import Sentence

# Language code, then rows of the token and its words.
_TABLE = {
    "ca": "del de el; dels de els; al a el; als a els; pel per el; pels per els",
    "cs": """
        aby aby by; abych aby bych; abys aby bys; abychom aby bychom; abyste aby byste; kdyby když
        by; kdybych když bych; kdybys když bys; kdybychom když bychom; kdybyste když byste""",
    "de": """
        am an dem; ans an das; aufs auf das; beim bei dem; durchs durch das; fürs für das; hinterm
        hinter dem; im in dem; ins in das; überm über dem; übers über das; ums um das; unterm unter
        dem; unters unter das; vom von dem; vorm vor dem; vors vor das; zum zu dem; zur zu der""",
    "el": """
        στο σ το; στον σ τον; στη σ τη; στην σ την; στα σ τα; στους σ τους; στις σ τις; στου σ του;
        στης σ της""",
    "es": "al a el; del de el",
    "fr": """
        au à le; aux à les; du de le; des de les; auquel à lequel; auxquels à lesquels; auxquelles à
        lesquelles; duquel de lequel; desquels de lesquels; desquelles de lesquelles""",
    "gl": """
        ao a o; á a a; aos a os; ás a as; do de o; da de a; dos de os; das de as; no en o; na en a;
        nos en os; nas en as; co con o; coa con a; cos con os; coas con as; dun de un; dunha de
        unha; duns de uns; dunhas de unhas; nun en un; nunha en unha; nuns en uns; nunhas en unhas""",
    "it": """
        al a il; allo a lo; alla a la; all' a l'; ai a i; agli a gli; alle a le; dal da il; dallo da
        lo; dalla da la; dall' da l'; dai da i; dagli da gli; dalle da le; del di il; dello di lo;
        della di la; dell' di l'; dei di i; degli di gli; delle di le; nel in il; nello in lo; nella
        in la; nell' in l'; nei in i; negli in gli; nelle in le; sul su il; sullo su lo; sulla su
        la; sull' su l'; sui su i; sugli su gli; sulle su le; col con il; coi con i; all’ a l’;
        dall’ da l’; dell’ di l’; nell’ in l’; sull’ su l’""",
    "pt": """
        ao a o; à a a; aos a os; às a as; do de o; da de a; dos de os; das de as; no em o; na em a;
        nos em os; nas em as; pelo por o; pela por a; pelos por os; pelas por as; num em um; numa em
        uma; nuns em uns; numas em umas; dum de um; duma de uma; dele de ele; dela de ela; deles de
        eles; delas de elas; nele em ele; nela em ela; neles em eles; nelas em elas; deste de este;
        desta de esta; destes de estes; destas de estas; desse de esse; dessa de essa; desses de
        esses; dessas de essas; daquele de aquele; daquela de aquela; daqueles de aqueles; daquelas
        de aquelas; neste em este; nesta em esta; nestes em estes; nestas em estas; nesse em esse;
        nessa em essa; nesses em esses; nessas em essas; naquele em aquele; naquela em aquela;
        naqueles em aqueles; naquelas em aquelas; disto de isto; disso de isso; daquilo de aquilo;
        nisto em isto; nisso em isso; naquilo em aquilo; àquele a aquele; àquela a aquela; àqueles a
        aqueles; àquelas a aquelas""",
}

# Languages with a table.
LANGUAGES = frozenset(_TABLE)


@cache
def contractions_of(language: str | None) -> Contractions:
    """Return what tokens of a language are split into, in lower case; nothing where no table is known."""
    rows = (row.split() for row in _TABLE.get(language or "", "").split(";"))
    return {row[0]: tuple(row[1:]) for row in rows if row}


def known_contractions(
    language: str | None, sentences: Iterable[Sentence] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the contractions that sentences show, and of the table those that they do not leave whole.

    Sorted by token.
    """
    seen = list(sentences)
    whole = {form.lower() for sentence in seen for form in sentence.forms}
    table = {token: words for token, words in contractions_of(language).items() if token not in whole}
    return dict(sorted((table | learn_contractions(seen)).items()))
