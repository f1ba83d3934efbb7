"""Looking at results: scores and drawings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from qsproj.api.given import sentences_of
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.corpus.words import described
from qsproj.errors import UsageError, WrongTypeError

if TYPE_CHECKING:
    from qsproj.evaluation.attachment import AttachmentScores
    from qsproj.viz.drawing import Drawing


def evaluate(gold: Iterable[Sentence], system: Iterable[Sentence]) -> AttachmentScores:
    """Score trees and tags against gold ones, in percent; punctuation counts.

    The scores are ``uas``, ``las``, ``las_no_subtypes``, ``upos`` and more; NaN where nothing is scored.
    Raises DataError at the first sentence that has not the same words, or is on one side only; UsageError
    when a side is no list of sentences.

    Parameters
    ----------
    gold, system : iterable of Sentence
        The same words. Words without a gold head are not scored; a head that is missing in ``system`` is
        wrong.

    Examples
    --------
    >>> import qsproj
    >>> gold = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> qsproj.evaluate(gold, gold).uas
    100.0
    """
    from qsproj.evaluation.attachment import attachment_scores

    sides = sentences_of(gold, "gold"), sentences_of(system, "system")
    return attachment_scores(sides[0], [sides[1]])[0]


def draw(sentence_or_pair: Sentence | SentencePair, *, versus: Sentence | None = None) -> Drawing:
    """Draw a tree, two trees of the same words, or two aligned trees; a notebook shows the result by itself.

    The drawing has ``svg``, and ``save(path)`` for an image (.svg, .png), a document (.pdf) or a page
    (.html). Raises UsageError when it is neither, when ``versus`` has other words, or goes with a pair.

    Parameters
    ----------
    sentence_or_pair : Sentence or SentencePair
        Arcs are as opaque as they are probable where ``parse(sentence, confidence=True)`` has told how much;
        so are links with weights. Below 90% the number stands beside the relation.
    versus : Sentence, optional
        Another tree of the same words, by hand for instance: what it has instead is drawn below the words.

    Examples
    --------
    >>> import qsproj
    >>> sentence = qsproj.Sentence.from_words(["Dogs", "bark"], upos=["NOUN", "VERB"], heads=[2, 0])
    >>> qsproj.draw(sentence).svg.splitlines()[-1]
    '</g></svg>'
    """
    from qsproj.viz.trees import draw_pair, draw_tree, draw_versus

    if isinstance(sentence_or_pair, SentencePair):
        if versus is not None:
            raise UsageError("versus compares trees of one language; draw one side of the pair")
        return draw_pair(sentence_or_pair)
    if isinstance(sentence_or_pair, Sentence):
        return draw_tree(sentence_or_pair) if versus is None else draw_versus(sentence_or_pair, versus)
    raise WrongTypeError(
        f"found {described(sentence_or_pair)}, expected a Sentence or a SentencePair; make a sentence of "
        "words: qsproj.Sentence.from_words"
    )
