"""Models from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from qsproj.conventions import Scores
    from qsproj.corpus.sentence import Alignment, Sentence, SentencePair


class AnyModel(Protocol):
    """All that models offer; a kind of model has no method for what it cannot do."""

    def parse(self, sentence: Sentence | str, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with what the model predicts: heads and relations, of a tagger tags.

        Of a parser, ``decode`` is ``mbr`` or ``map``, and with ``confidence`` MISC has ``ArcProb=``. A model
        of text takes a text of one sentence, too.
        """
        ...

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        """Return the posterior probability of every arc, float64[n+1, n+1], of a parser."""
        ...

    def tag(self, sentence: Sentence) -> Sentence:
        """Return the sentence with its UPOS replaced, of a tagger or a model of text."""
        ...

    def parse_text(self, text: str) -> list[Sentence]:
        """Return the sentences of a text, one a line, parsed, of a model of text."""
        ...

    def convert_sentence(self, sentence: Sentence) -> Sentence:
        """Return the sentence in the new style, of a converter."""
        ...

    def parse_pair(self, source: Sentence, target: Sentence, alignment: Alignment | None) -> SentencePair:
        """Return both sides parsed together, of a parser of pairs; without links, one text in two styles."""
        ...

    def save(self, path: str | Path) -> None:
        """Write the model to a file."""
        ...


def load_model(path: str | Path) -> AnyModel:
    """Load any model that was saved; what it is stands in its file, and ``qsproj info`` tells it.

    Every model has ``parse(sentence)`` and ``save(path)``; parsers have ``arc_probabilities(sentence)`` and
    ``parse(sentence, confidence=True)``, taggers ``tag(sentence)``, converters
    ``convert_sentence(sentence)``, parsers of pairs ``parse_pair(source, target, alignment)``, and models of
    text ``parse_text(text)``. The model that chooses links, of ``qsproj align``, has none. Raises DataError
    when the file is missing, damaged, or no model of this version; UsageError when ``path`` is none, or the
    kind of model is unknown.

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
