"""Trees of a corpus: styles converted, sentences found, sentences to annotate next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from qsproj.api.validation import sentences_of, whole_number
from qsproj.corpus.messages import described
from qsproj.errors import UsageError, WrongTypeError

if TYPE_CHECKING:
    from qsproj.corpus.sentence import Sentence
    from qsproj.corpus.token import Token
    from qsproj.models.converter.converter import Converter
    from qsproj.models.parser import Parser
    from qsproj.styles.detect import DetectedStyle


def convert(
    sentences: Iterable[Sentence],
    to: str | Converter,
    *,
    source: str = "ud",
    confidence: bool = False,
) -> list[Sentence]:
    """Convert trees to another annotation style, by rules or by a converter that was learned.

    Raises UsageError when the style is unknown; MissingTreeError at a sentence without heads that a converter
    is to convert.

    Parameters
    ----------
    sentences : iterable of Sentence
        Trees.
    to : str or Converter
        A style, ``prague`` or ``coordination=moscow,determiners=head``, as ``qsproj styles list`` shows them;
        or what :func:`train_converter` gives.
    source : str
        The style that the trees are in, ``auto`` to detect it; of no use to a converter.
    confidence : bool
        Of a converter: put ``ArcProb`` into MISC.

    Examples
    --------
    >>> import qsproj
    >>> english = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> prague = qsproj.convert(english, "prague")
    >>> [one.forms for one in qsproj.convert(prague, "ud", source="prague")] == [s.forms for s in english]
    True
    """
    from qsproj.pipelines.adapt import convert_treebank
    from qsproj.styles.convert import convert_all
    from qsproj.styles.detect import detect_style
    from qsproj.styles.style import parse_style

    found = sentences_of(sentences, "sentences", least=0)
    if not isinstance(to, str) and "heads" in getattr(to, "reads", ()):
        return [one.sentence(confidence=confidence) for one in convert_treebank(to, found)]
    if not isinstance(to, str):
        raise WrongTypeError(f"found {described(to)}, expected the name of a style, or a converter")
    if confidence:
        raise UsageError("found confidence=True for rules, which are never in doubt; leave it out")
    style = detect_style(found).style if source == "auto" else parse_style(source)
    return list(convert_all(found, parse_style(to, base=style), source=style))


def detect_style(sentences: Iterable[Sentence]) -> DetectedStyle:
    """Detect the annotation style of trees: ``style``, ``presets`` that agree, ``evidence``.

    Examples
    --------
    >>> import qsproj
    >>> qsproj.detect_style(qsproj.read_conllu("corpora/en.conllu")).presets
    ['ud', 'content-head']
    """
    from qsproj.styles.detect import detect_style as detect

    return detect(sentences_of(sentences, "sentences"))


def search(sentences: Iterable[Sentence], pattern: str) -> list[Token]:
    """Find words by a pattern of tags, relations and features: ``upos=VERB child.deprel=obj``.

    Raises UsageError when the pattern is none; ``qsproj search --help`` explains them.

    Examples
    --------
    >>> import qsproj
    >>> qsproj.search(qsproj.read_conllu("corpora/en.conllu"), "upos=NOUN deprel=nsubj")[0]
    <Token 2 'dog' NOUN>
    """
    from qsproj.serve.review.search import compiled

    find = compiled(pattern)
    return [one[word] for one in sentences_of(sentences, "sentences", least=0) for word in find(one)]


def suggest(
    model: Parser,
    sentences: Iterable[Sentence],
    *,
    count: int | None = None,
    words: int | None = None,
    annotated: Iterable[Sentence] = (),
    sentence_cost: float = 2.0,
    plain: bool = False,
    predict: bool = False,
) -> list[Sentence]:
    """Choose the sentences that a model would learn most from, the best first.

    Each has a comment ``# uncertainty = ``, the chance that the likeliest head is wrong, as the mean over its
    words. Raises UsageError when a limit is out of range, or the model does not parse.

    Parameters
    ----------
    model : a parser, or a converter
        That learns from what is annotated.
    sentences : iterable of Sentence
        To choose from; for a converter trees in the old style.
    count, words : int, optional
        At most so many sentences, and words in all.
    annotated : iterable of Sentence
        What is annotated already: its kinds of words count less.
    sentence_cost : float
        Cost of annotating a sentence, in words, beside that of its words.
    plain : bool
        Rank by uncertainty alone.
    predict : bool
        Return the sentences as the model parses them.

    Examples
    --------
    >>> import qsproj
    >>> english = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> parser = qsproj.train_parser(english[:20], features="words")
    >>> len(qsproj.suggest(parser, english[20:60], count=3, annotated=english[:20]))
    3
    """
    from qsproj.pipelines.suggest import candidates_of, kinds_for, rank, with_uncertainty

    if not hasattr(model, "arc_probabilities"):
        raise WrongTypeError(f"found {described(model)} as model, expected a parser or a converter")
    limits = {
        name: None if limit is None else whole_number(limit, name, least=1)
        for name, limit in (("count", count), ("words", words))
    }
    ranked = rank(
        candidates_of(model, sentences_of(sentences, "sentences")),
        annotated=sentences_of(annotated, "annotated", least=0),
        count=limits["count"],
        words=limits["words"],
        sentence_cost=sentence_cost,
        kinds=None if plain else kinds_for(model),
    )
    return list(with_uncertainty(ranked, model, predict=predict))
