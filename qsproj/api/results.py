"""Loading of models, scores and drawings of trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, overload

from qsproj.api.validation import sentences_of
from qsproj.corpus.messages import described
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import UsageError, WrongTypeError

if TYPE_CHECKING:
    from qsproj.conventions import Scores
    from qsproj.corpus.document import Document
    from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
    from qsproj.evaluation.attachment import AttachmentScores
    from qsproj.viz.drawing import Drawing


class AnyModel(Protocol):
    """The methods of all kinds of models; each kind has only those that apply to it.

    ``model(text)`` returns a document, ``model(sentence)`` a sentence, ``model(sentences)`` a document;
    ``model.pipe(texts)`` yields a document for each text, ``model.pipe(sentences)`` a sentence for each.
    ``confidence=True`` writes probabilities of trees and tags to MISC.
    """

    @overload
    def __call__(self, given: Sentence, *, confidence: bool = False) -> Sentence: ...
    @overload
    def __call__(self, given: str | Iterable[Sentence], *, confidence: bool = False) -> Document: ...
    @overload
    def pipe(
        self, texts: Iterable[str], *, batch_size: int = 128, jobs: int = 1, confidence: bool = False
    ) -> Iterator[Document]: ...
    @overload
    def pipe(
        self, texts: Iterable[Sentence], *, batch_size: int = 128, jobs: int = 1, confidence: bool = False
    ) -> Iterator[Sentence]: ...

    def parse(self, sentence: Sentence | str, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with predicted heads and relations (parser) or tags (tagger).

        For a parser, ``decode`` is ``mbr`` or ``map``, and ``confidence`` writes ``ArcProb=`` to MISC. A
        model of text also takes a string of one sentence.
        """
        ...

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        """Return the posterior probability of every arc, float64[n+1, n+1] (parsers)."""
        ...

    def tag(self, sentence: Sentence, *, confidence: bool = False) -> Sentence:
        """Return the sentence with predicted UPOS (taggers and models of text)."""
        ...

    def parse_text(self, text: str, *, paragraphs: bool = False, confidence: bool = False) -> list[Sentence]:
        """Return the parsed sentences of a text, one a line (models of text)."""
        ...

    def convert_sentence(self, sentence: Sentence) -> Sentence:
        """Return the sentence in the new style (converters)."""
        ...

    def parse_pair(self, source: Sentence, target: Sentence, alignment: Alignment | None) -> SentencePair:
        """Parse both sides jointly (parsers of pairs); without links, both are one text in two styles."""
        ...

    def save(self, path: str | Path) -> None:
        """Write the model to a file."""
        ...


def load_model(path: str | Path) -> AnyModel:
    """Load a saved model of any kind; the file names the kind, and ``qsproj info`` shows it.

    A model is called with a sentence, a model of text also with a string: ``model("Der Hund bellt.")``
    returns a :class:`qsproj.Document`. Every model has ``pipe``, ``parse(sentence)`` and ``save(path)``;
    parsers have ``arc_probabilities(sentence)``, taggers ``tag(sentence)``, converters
    ``convert_sentence(sentence)``, parsers of pairs ``parse_pair(source, target, alignment)``, and models of
    text ``parse_text(text)``. The link classifier of ``qsproj align`` has none of these. Raises DataError
    when the file is missing, damaged, or not a model of this version; UsageError when ``path`` is not a path,
    or the kind of model is unknown.

    Examples
    --------
    >>> import qsproj
    >>> treebank = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> qsproj.train_parser(treebank[:20], features="words").save("en.parser")
    >>> parser = qsproj.load_model("en.parser")
    >>> len(parser.parse(treebank[70], confidence=True).heads) == len(treebank[70]) + 1
    True
    """
    from qsproj.models import storage

    return cast(AnyModel, storage.load_model(path))


def evaluate(gold: Iterable[Sentence], system: Iterable[Sentence]) -> AttachmentScores:
    """Score trees and tags against gold, in percent; punctuation counts.

    The scores are ``uas``, ``las``, ``las_no_subtypes``, ``upos`` and more; NaN where no word is scored.
    Raises DataError at the first sentence whose words differ, or that only one side has; UsageError when a
    side is not a list of sentences.

    Parameters
    ----------
    gold, system : iterable of Sentence
        Sentences of the same words. Words without a gold head are not scored; a missing head in ``system`` is
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
    """Draw a tree, two trees of the same words, or two aligned trees; notebooks display the result.

    The drawing has ``svg``, and ``save(path)`` for an image (.svg, .png), a document (.pdf) or a page
    (.html). Raises UsageError for other types, and when ``versus`` has other words or goes with a pair.

    Parameters
    ----------
    sentence_or_pair : Sentence or SentencePair
        The opacity of an arc is its probability, after ``parse(sentence, confidence=True)``; that of a link
        its weight. Probabilities below 90% are printed beside the relation.
    versus : Sentence, optional
        Another tree of the same words, such as the gold tree: its differing arcs are drawn below the words.

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
