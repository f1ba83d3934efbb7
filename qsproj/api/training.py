"""Training of parsers, taggers and style converters on treebanks in memory."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Real
from typing import cast

from qsproj.api.validation import generator_of, sentences_of, texts_of, whole_number, words_in
from qsproj.corpus.language.recognition import check_known_language
from qsproj.corpus.messages import check_type, described
from qsproj.corpus.sentence import Sentence, has_tree
from qsproj.errors import UsageError, WrongTypeError, check_name, unknown_name
from qsproj.features.arc_templates import TEMPLATE_SETS
from qsproj.models import spec
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions, objective_named
from qsproj.models.clusters.cluster_parser import train_cluster_parser
from qsproj.models.converter.converter import Converter
from qsproj.models.graph.graph_parser import train_graph_parser
from qsproj.models.labelled.labelled_training import train_labelled_parser
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.parser import Parser
from qsproj.models.storage import is_of_kind
from qsproj.models.tagging import tagger_training
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.text.text_parser import TextParser, text_parser
from qsproj.pipelines.adapt import pair_styles, train_adaptation
from qsproj.pipelines.tagging.target_words import treebank_tokens

LABELS = ("after", "joint")  # when relations are predicted: after the tree, or with it


def train_parser(
    sentences: Iterable[Sentence],
    *,
    order: int = 1,
    objective: str = "margin",
    labels: str = "after",
    features: str | None = None,
    dev: Iterable[Sentence] = (),
    seed: int = 1,
    epochs: int | None = None,
    l2: float | None = None,
    projective: bool | None = None,
    single_root: bool | None = None,
) -> Parser:
    """Train a dependency parser on trees; missing heads are marginalised.

    The parser has ``parse(sentence)``, ``arc_probabilities(sentence)`` and ``save(path)``; one of
    ``labels="joint"`` also has ``relation_probabilities(sentence)``. Raises UsageError when no sentence has a
    head, or an option is unknown or out of range.

    Parameters
    ----------
    sentences : iterable of Sentence
        Complete or partial trees.
    order : int
        1: score single arcs; 2: also pairs and sequences of arcs, by belief propagation; more accurate, and
        parses five to six times more slowly.
    objective : str
        ``margin``, the most accurate; ``likelihood``; for order 1 also ``risk``, the expected number of wrong
        heads, ``perceptron``, ``mira``, ``mira-kbest``, ``mira-factored``, ``eg`` or ``hidden``, explained by
        ``qsproj train --help``.
    labels : str
        ``after``: predict relations after the tree; ``joint`` (order 1, ``margin`` or ``likelihood``): decode
        tree and relations jointly, which is more accurate.
    features : str, optional
        Columns read: ``delexicalised`` UPOS only, to parse another language; ``words`` forms too;
        ``morphology`` lemmas, XPOS and FEATS too. By default ``morphology`` where the trees have any of
        these, else ``words``.
    dev : iterable of Sentence
        Trees for early stopping.
    seed : int
        The same seed gives the same parser.
    epochs : int, optional
        Passes over the data; fewer with early stopping. By default as the objective needs.
    l2 : float, optional
        Strength of the L2 penalty, 0 or more. By default as the objective needs.
    projective, single_root : bool, optional
        Whether arcs may not cross, and the root has exactly one child. By default as in the trees.

    Examples
    --------
    >>> treebank = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> parser = qsproj.train_parser(treebank[:60], features="words")
    >>> parsed = parser.parse(treebank[70])
    >>> parser.arc_probabilities(treebank[70]).shape == (len(parsed) + 1, len(parsed) + 1)
    True
    """
    trees, dev_trees = sentences_of(sentences, "sentences"), sentences_of(dev, "dev", least=0)
    number = whole_number(order, "order", least=1)
    if number > 2:
        raise UsageError(f"found order {number}, expected 1 or 2")
    check_name("labels", labels, LABELS)
    if labels == "joint" and number == 2:
        raise UsageError("labels='joint' belongs to order 1; leave it out with order 2")
    if features is not None and not isinstance(features, str):
        raise unknown_name("features", features, TEMPLATE_SETS)
    if dev_trees and not any(map(has_tree, dev_trees)):
        raise UsageError("found no head in dev, expected trees for early stopping; leave it out")
    chosen, rng = objective_named(objective), generator_of(seed)
    for name, given in (("projective", projective), ("single_root", single_root)):
        check_type(given, bool | None, "True, False or None", name)
    check_type(l2, Real | None, "a number of at least 0", "l2")
    options = TrainingOptions(
        template_set=features,
        objective=objective,
        epochs=chosen.epochs if epochs is None else whole_number(epochs, "epochs", least=1),
        l2=chosen.l2 if l2 is None else float(l2),
        projective=projective,
        single_root=single_root,
    )
    spec.check(options)
    if labels == "joint":
        return train_labelled_parser(trees, dev=dev_trees, rng=rng, options=options)[0]
    if number == 1 and chosen.clustered:
        return train_cluster_parser(trees, dev=dev_trees, rng=rng, options=options)[0]
    train = train_arc_parser if number == 1 else train_graph_parser
    return train(trees, dev=dev_trees, rng=rng, options=options)[0]


def train_tagger(
    sentences: Iterable[Sentence],
    *,
    raw: Iterable[Sentence | Sequence[str]] = (),
    language: str | None = None,
    seed: int = 1,
) -> Tagger:
    """Train a tagger on sentences with UPOS and, if given, on raw text.

    It also learns lemmas, XPOS and FEATS where the sentences have them, and tokenization where they have
    ``SpaceAfter=No`` or ``# text``; otherwise rules of the language tokenize text: ``tagger(text)``.

    The tagger has ``tag(sentence)`` and ``save(path)``. Raises UsageError when there is no sentence, a word
    has no UPOS, or the language code is unknown.

    Parameters
    ----------
    sentences : iterable of Sentence
        Sentences with UPOS on every word.
    raw : iterable of Sentence or of list of str
        More sentences of the same language, tokenized.
    language : str, optional
        Language code, stored in the model for tokenization.
    seed : int
        The same seed gives the same tagger.

    Examples
    --------
    >>> tagger = qsproj.train_tagger(qsproj.read_conllu("corpora/de.conllu"), language="de")
    >>> tagger.tag(qsproj.Sentence.from_words(["Der", "Hund", "schläft", "."])).upos
    ('DET', 'NOUN', 'VERB', 'PUNCT')
    """
    if language is not None:
        check_known_language(language)
    treebank = sentences_of(sentences, "sentences")
    tagger = tagger_training.train_tagger(
        treebank, raw=map(words_in, texts_of(raw, "raw")), language=language, rng=generator_of(seed)
    )
    tokens = treebank_tokens(treebank, language=language, seed=whole_number(seed, "seed", least=0))
    morphology = train_morphology(treebank, rng=generator_of(seed))
    return replace(tagger, morphology=morphology, **tokens)


def adapt(source: Iterable[Sentence], target: Iterable[Sentence], *, seed: int = 1) -> Converter:
    """Train a converter between two annotation styles on the same sentences in both.

    The converter has ``convert_sentence(sentence)`` and ``save(path)``. Raises DataError at the first pair
    whose words differ, and at the first sentence without a partner; UsageError when a side has no tree.

    Parameters
    ----------
    source, target : iterable of Sentence
        The same words with trees in the old and in the new style; ten sentences are a start. Paired by
        ``parallel_id``, else by ``sent_id``, where both have them, else by order.
    seed : int
        The same seed gives the same converter.

    Examples
    --------
    >>> old = list(qsproj.read_conllu("corpora/en.conllu"))[:10]
    >>> new = [qsproj.Sentence.from_words(s.forms, heads=range(len(s)), sent_id=s.sent_id) for s in old]
    >>> converter = qsproj.adapt(old, new)
    >>> converter.convert_sentence(old[0]).heads.tolist()[:4]
    [-1, 0, 1, 2]
    """
    sources, targets = sentences_of(source, "source"), sentences_of(target, "target")
    return train_adaptation(pair_styles(sources, targets), rng=generator_of(seed))[0]


def train_converter(source: Iterable[Sentence], target: Iterable[Sentence], *, seed: int = 1) -> Converter:
    """Train a converter between two annotation styles; the same as :func:`adapt`.

    Examples
    --------
    >>> old = list(qsproj.read_conllu("corpora/en.conllu"))[:10]
    >>> new = qsproj.convert(old, "prague")
    >>> qsproj.convert(old, qsproj.train_converter(old, new))[0].heads.tolist() == new[0].heads.tolist()
    True
    """
    return adapt(source, target, seed=seed)


def bundle(tagger: Tagger | TextParser, parser: Parser, *, readings: int = 0) -> TextParser:
    """Combine a tagger and a parser into a model of text: ``model(text)``.

    Raises UsageError when one of them is a model of another kind.

    Parameters
    ----------
    tagger : Tagger
        Tokenizes and tags; from a text model, its tagger is used.
    parser : a parser
        Parses tagged sentences; from a text model, its parser is used.
    readings : int
        With a first-order parser: the number of uncertain tags to vary; parses are averaged over them.

    Examples
    --------
    >>> german = list(qsproj.read_conllu("corpora/de.conllu"))
    >>> parser = qsproj.train_parser(german, features="words")
    >>> qsproj.bundle(qsproj.train_tagger(german, language="de"), parser)("Der Hund bellt.")[0].root
    <Token 3 'bellt' VERB>
    """
    own = cast("Tagger", tagger) if is_of_kind(tagger, "tagger") else getattr(tagger, "word_tagger", None)
    if own is None:
        raise WrongTypeError(
            f"found {described(tagger)} as tagger, expected a tagger; train one: qsproj.train_tagger"
        )
    return text_parser(own, parser, readings=whole_number(readings, "readings", least=0))
