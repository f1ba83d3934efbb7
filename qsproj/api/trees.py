"""Loading of models, and functions on trees: score, draw, convert styles, search, suggest sentences."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from qsproj.api.validation import sentences_of, whole_number
from qsproj.conventions import Scores
from qsproj.corpus.messages import check_type, described
from qsproj.corpus.pairs.aligned import paired
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.corpus.token import Token
from qsproj.errors import UsageError, WrongTypeError
from qsproj.evaluation.attachment import AttachmentScores, attachment_scores
from qsproj.evaluation.token_alignment import on_common_sentences
from qsproj.models import storage
from qsproj.progress import notices
from qsproj.serve.review.search import compiled
from qsproj.styles import convert as rules
from qsproj.styles import detect
from qsproj.styles.style import parse_style
from qsproj.viz.drawing import Drawing
from qsproj.viz.trees import draw_pair, draw_tree, draw_versus

if TYPE_CHECKING:
    from qsproj.models.annotation import Annotator
    from qsproj.models.converter.converter import Converter
    from qsproj.models.parser import Parser

    class AnyModel(Annotator):
        """The methods of all kinds of models; each kind has only those that apply to it."""

        def parse(
            self, sentence: Sentence | str, *, decode: str = "mbr", confidence: bool = False
        ) -> Sentence:
            """Return the sentence with predicted heads and relations (parsers), or tags (taggers)."""

        def arc_probabilities(self, sentence: Sentence) -> Scores:
            """Return the posterior probability of every arc, float64[n+1, n+1] (parsers)."""

        def tag(self, sentence: Sentence, *, confidence: bool = False) -> Sentence:
            """Return the sentence with predicted UPOS (taggers and models of text)."""

        def parse_text(
            self, text: str, *, paragraphs: bool = False, confidence: bool = False
        ) -> list[Sentence]:
            """Return the parsed sentences of a text, one a line (models of text)."""

        def convert_sentence(self, sentence: Sentence) -> Sentence:
            """Return the sentence in the new style (converters)."""

        def parse_pair(self, source: Sentence, target: Sentence, alignment: Alignment | None) -> SentencePair:
            """Parse both sides jointly (parsers of pairs); without links, both are one text in two styles."""

        def save(self, path: str | Path) -> None:
            """Write the model to a file."""


def convert(
    sentences: Iterable[Sentence], to: str | Converter, *, source: str = "ud", confidence: bool = False
) -> list[Sentence]:
    """Convert trees to another annotation style, by rules or by a trained converter.

    Raises DataError when rules find few relations of UD; UsageError when the style is unknown;
    MissingTreeError when a word of a sentence for a converter has no head.

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
    >>> english = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> prague = qsproj.convert(english, "prague")
    >>> [one.forms for one in qsproj.convert(prague, "ud", source="prague")] == [s.forms for s in english]
    True
    """
    from qsproj.pipelines.adapt import convert_treebank

    found = sentences_of(sentences, "sentences", least=0)
    if not isinstance(to, str) and "heads" in getattr(to, "reads", ()):
        return [one.sentence(confidence=confidence) for one in convert_treebank(to, found)]
    if not isinstance(to, str):
        raise WrongTypeError(f"found {described(to)}, expected the name of a style, or a converter")
    if confidence:
        raise UsageError("found confidence=True for rules, which give no probabilities; leave it out")
    if found:
        next(detect.checked_relations(found, "sentences"))
    style = detect.detect_style(found).style if source == "auto" else parse_style(source)
    target = parse_style(to, base=style)
    return [rules.convert(sentence, target, source=style) for sentence in found]


def detect_style(sentences: Iterable[Sentence]) -> detect.DetectedStyle:
    """Detect the annotation style of trees: ``style``, matching ``presets``, ``evidence``.

    Examples
    --------
    >>> qsproj.detect_style(qsproj.read_conllu("corpora/en.conllu")).presets
    ['ud', 'content-head']
    """
    return detect.detect_style(sentences_of(sentences, "sentences"))


def search(sentences: Iterable[Sentence], pattern: str) -> list[Token]:
    """Find words by a pattern of tags, relations and features: ``upos=VERB child.deprel=obj``.

    Raises UsageError for an invalid pattern; ``qsproj search --help`` explains patterns.

    Examples
    --------
    >>> qsproj.search(qsproj.read_conllu("corpora/en.conllu"), "upos=NOUN deprel=nsubj")[0]
    <Token 2 'dog' NOUN>
    """
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
        Annotated sentences: they are not suggested again, and their kinds of words count less.
    sentence_cost : float
        Fixed cost of annotating a sentence, in words, added to its length.
    plain : bool
        Rank by uncertainty alone.
    predict : bool
        Return the sentences as the model parses them.

    Examples
    --------
    >>> english = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> parser = qsproj.train_parser(english[:20], features="words")
    >>> len(qsproj.suggest(parser, english[20:60], count=3, annotated=english[:20]))
    3
    """
    from qsproj.pipelines.suggest import candidates_of, not_annotated, suggested

    if not hasattr(model, "arc_probabilities"):
        raise WrongTypeError(f"found {described(model)} as model, expected a parser or a converter")
    limits = {
        name: None if limit is None else whole_number(limit, name, least=1)
        for name, limit in (("count", count), ("words", words))
    }
    known = sentences_of(annotated, "annotated", least=0)
    new = not_annotated(sentences_of(sentences, "sentences"), known, name="sentences")
    candidates, ways = candidates_of(model, new), {"plain": plain, "predict": predict}
    return list(
        suggested(model, candidates, annotated=known, limits=limits, sentence_cost=sentence_cost, **ways)
    )


def load_model(path: str | Path) -> AnyModel:
    """Load a saved model of any kind; the file names the kind, and ``qsproj info`` shows it.

    A model is called with a sentence, a model of text also with a string: ``model("Der Hund bellt.")``
    returns a :class:`qsproj.Document`. Every model has ``pipe``, ``parse(sentence)`` and ``save(path)``;
    parsers have ``arc_probabilities(sentence)``, taggers ``tag(sentence)``, converters
    ``convert_sentence(sentence)``, parsers of pairs ``parse_pair(source, target, alignment)``, and models of
    text ``parse_text(text)``. The link classifier of ``qsproj align`` has ``save`` alone. Raises DataError
    when the file is damaged, or not a model of this version; UsageError when it is missing, ``path`` is not a
    path, or the kind of model is unknown.

    Examples
    --------
    >>> treebank = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> qsproj.train_parser(treebank[:20], features="words").save("en.parser")
    >>> parser = qsproj.load_model("en.parser")
    >>> len(parser.parse(treebank[70], confidence=True).heads) == len(treebank[70]) + 1
    True
    """
    return cast("AnyModel", storage.load_model(path))


def evaluate(gold: Iterable[Sentence], system: Iterable[Sentence]) -> AttachmentScores:
    """Score trees and tags against gold, in percent; punctuation counts.

    The scores are ``uas``, ``las``, ``las_no_subtypes``, ``upos`` and more; NaN where no word is scored.
    Sides with different sentences are paired by ``sent_id``, and only common sentences scored, with a
    UserWarning that counts the others. Raises DataError at the first sentence whose words differ, or that
    only one side has, where IDs cannot pair them; UsageError when a side is not a list of sentences.

    Parameters
    ----------
    gold, system : iterable of Sentence
        Sentences of the same words. Words without a gold head are not scored; a missing system head is wrong.

    Examples
    --------
    >>> gold = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> qsproj.evaluate(gold, gold).uas
    100.0
    """
    sides = sentences_of(gold, "gold"), sentences_of(system, "system")
    found = list[str]()
    with notices(found.append):
        scores = on_common_sentences(
            lambda files: attachment_scores(files[0](), [files[1]()])[0],
            [partial(iter, side) for side in sides],
            ("gold", "system"),
        )
    for line in found:
        warnings.warn(line, stacklevel=2)
    return scores


def draw(sentence_or_pair: Sentence | SentencePair, *, versus: Sentence | None = None) -> Drawing:
    """Draw a tree, two trees of the same words, or two aligned trees; notebooks display the result.

    The drawing has ``svg``, and ``save(path)`` for an image (.svg, .png), a document (.pdf) or a page
    (.html). Raises UsageError for other types, and when ``versus`` has other words or goes with a pair;
    DataError when the links of a pair are of longer sentences.

    Parameters
    ----------
    sentence_or_pair : Sentence or SentencePair
        The opacity of an arc is its probability, after ``parse(sentence, confidence=True)``; that of a link
        its weight. Probabilities below 90% are printed beside the relation.
    versus : Sentence, optional
        Another tree of the same words, such as the gold tree: its differing arcs are drawn below the words.

    Examples
    --------
    >>> sentence = qsproj.Sentence.from_words(["Dogs", "bark"], upos=["NOUN", "VERB"], heads=[2, 0])
    >>> qsproj.draw(sentence).svg.splitlines()[-1]
    '</g></svg>'
    """
    if isinstance(sentence_or_pair, SentencePair):
        if versus is not None:
            raise UsageError("versus compares trees of one language; draw one side of the pair")
        given = sentence_or_pair
        return draw_pair(paired(given.source, given.target, given.alignment))
    if isinstance(sentence_or_pair, Sentence):
        check_type(versus, Sentence | None, "a Sentence", "versus")
        return draw_tree(sentence_or_pair) if versus is None else draw_versus(sentence_or_pair, versus)
    of_words = "make a sentence of words: qsproj.Sentence.from_words"
    remedy = "draw one of them" if isinstance(sentence_or_pair, list | tuple) else of_words
    found = described(sentence_or_pair)
    raise WrongTypeError(f"found {found}, expected a Sentence or a SentencePair; {remedy}")
