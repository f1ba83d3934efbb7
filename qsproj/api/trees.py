"""Functions on treebanks: convert styles, search trees, suggest sentences to annotate."""

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
    """Convert trees to another annotation style, by rules or by a trained converter.

    Raises UsageError when the style is unknown; MissingTreeError when a converter gets a sentence without
    heads.

    Parameters
    ----------
    sentences : iterable of Sentence
        Trees.
    to : str or Converter
        A style, ``prague`` or ``coordination=moscow,determiners=head``, as listed by ``qsproj styles list``;
        or a converter from :func:`train_converter`.
    source : str
        The style of the input trees, ``auto`` to detect it; a converter ignores it.
    confidence : bool
        Write ``ArcProb`` into MISC; for converters only.

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
        raise UsageError("found confidence=True for rules, which give no probabilities; leave it out")
    style = detect_style(found).style if source == "auto" else parse_style(source)
    return list(convert_all(found, parse_style(to, base=style), source=style))


def detect_style(sentences: Iterable[Sentence]) -> DetectedStyle:
    """Detect the annotation style of trees: ``style``, matching ``presets``, ``evidence``.

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

    Raises UsageError for an invalid pattern; ``qsproj search --help`` explains patterns.

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
    """Select the most informative sentences to annotate next, best first.

    Each has a comment ``# uncertainty =``: the probability that the likeliest head is wrong, averaged over
    its words. Raises UsageError when a limit is out of range, or the model does not parse.

    Parameters
    ----------
    model : a parser, or a converter
        The model to be trained on the annotated sentences.
    sentences : iterable of Sentence
        The candidates; for a converter trees in the old style.
    count, words : int, optional
        Maximum number of sentences, and of words in total.
    annotated : iterable of Sentence
        Annotated sentences: word types in these count less.
    sentence_cost : float
        Fixed cost of annotating a sentence, in words, added to its length.
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
