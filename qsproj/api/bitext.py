"""Two languages: word links, projected parsers, and parsers of both sides together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from qsproj.api import validation
from qsproj.conventions import is_whole
from qsproj.corpus.files import PathOrFile
from qsproj.corpus.messages import described
from qsproj.corpus.pairs.aligned import pair_aligned
from qsproj.corpus.pairs.pairing import pair_sentences
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.errors import UsageError, WrongTypeError, check_name, unknown_name

if TYPE_CHECKING:
    from qsproj.models.arc.arc_parser import ArcParser
    from qsproj.models.graph.graph_parser import GraphParser
    from qsproj.models.joint.joint_options import BiparseOptions
    from qsproj.models.joint.joint_parser import JointParser
    from qsproj.models.tagging.tagger import Tagger
    from qsproj.pipelines.projection.projected import SavableParser


def align(
    source: Iterable[Sentence | Sequence[str]],
    target: Iterable[Sentence | Sequence[str]],
    *,
    threshold: float = 0.5,
) -> list[Alignment]:
    """Link the words of sentences and their translations, learning from nothing but these.

    The alignments are in the order of the source sentences, with weights. Raises UsageError when the sides
    differ in length, the threshold is no probability, or a sentence is a string.

    Parameters
    ----------
    source, target : iterable of Sentence or of list of str
        Sentences and their translations, in the same order; the more, the better the links. Two lists of
        ``Sentence`` objects are paired by ``parallel_id``, else by ``sent_id``, where both have them.
    threshold : float
        Least probability of a link. Soft projection and joint parsing weigh links themselves: give 0.15.

    Examples
    --------
    >>> import qsproj
    >>> english = [["the", "house"], ["the", "book"], ["a", "book"]]
    >>> german = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]]
    >>> qsproj.align(english, german)[0].links.tolist()
    [[1, 1], [2, 2]]
    """
    from qsproj.alignment.aligners import align_words

    if not isinstance(threshold, Real):
        raise WrongTypeError(f"found {described(threshold)} as threshold, expected a probability")
    sources, targets = validation.texts_of(source, "source"), validation.texts_of(target, "target")
    validation.check_same_number(source=sources, target=targets)
    return list(align_words(_word_pairs(sources, targets), threshold=float(threshold)))


def _word_pairs(
    sources: Sequence[Sentence | tuple[str, ...]], targets: Sequence[Sentence | tuple[str, ...]]
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Pair sentences as everywhere, lists of words by order."""
    source_sentences = [text for text in sources if isinstance(text, Sentence)]
    target_sentences = [text for text in targets if isinstance(text, Sentence)]
    if len(source_sentences) == len(target_sentences) == len(sources):
        pairs = pair_sentences(source_sentences, target_sentences)
        return [(one.forms, other.forms) for one, other in pairs]
    return [
        (validation.words_in(one), validation.words_in(other))
        for one, other in zip(sources, targets, strict=True)
    ]


def project(
    source: Iterable[Sentence],
    target: Iterable[Sentence],
    alignments: Iterable[Alignment],
    *,
    method: str = "soft",
    seed: int = 1,
) -> SavableParser:
    """Train a parser of a language without a treebank, from translations of parsed sentences.

    The parser has ``parse(sentence)``, ``arc_probabilities(sentence)`` and ``save(path)``. Raises DataError
    when a sentence has no partner, or links reach past their sentences; UsageError when no source word has a
    head, no target word a tag, nothing is carried over, or the method is unknown.

    Parameters
    ----------
    source : iterable of Sentence
        With trees, gold or from a parser.
    target : iterable of Sentence
        Their translations, with UPOS; heads are not looked at. Paired by ``parallel_id``, else by
        ``sent_id``, where both sides have them, else by order.
    alignments : iterable of Alignment
        Word links, in the order of ``source``. For ``soft`` and ``qg`` best with weights, from 0.15 upwards.
    method : str
        ``soft``: what links carry over, by their probability, moves parsers of the source's trees with their
        words translated; ``hard``: arcs through one-to-one links, and a parser trained on them; ``hard-em``:
        the missing ones imputed by EM;
        ``qg``: a quasi-synchronous grammar; ``em``: the target's tags alone.
    seed : int
        The same seed gives the same parser.

    Examples
    --------
    >>> import qsproj
    >>> english = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> german = list(qsproj.read_conllu("corpora/de.conllu"))
    >>> links = list(qsproj.read_alignments("corpora/en-de.pharaoh"))
    >>> parser = qsproj.project(english, german, links, method="hard")
    >>> qsproj.evaluate(german, map(parser.parse, german)).uas > 80
    True
    """
    from qsproj.pipelines.projection.methods import METHODS

    if not isinstance(method, str) or method not in METHODS:
        raise unknown_name("method", method, METHODS)
    return (
        METHODS[method]
        .project([_pairs(source, target, alignments)], rng=validation.generator_of(seed))
        .parser
    )


def train_biparser(
    source: Iterable[Sentence],
    target: Iterable[Sentence],
    alignments: Iterable[Alignment] | None,
    *,
    source_model: ArcParser | GraphParser,
    order: int = 1,
    seed: int = 1,
    options: BiparseOptions | None = None,
) -> JointParser:
    """Train a parser of both sides of a bitext together, whose links are hidden.

    The model has ``parse_pair(source, target, alignment)``, which gives a ``SentencePair``, and
    ``save(path)``. Raises DataError as :func:`project`; UsageError when fewer than two pairs can be learned
    from, or an option is wrong.

    Parameters
    ----------
    source, target : iterable of Sentence
        Translations of each other, with UPOS; the target with trees: pairs without a whole one are left out.
        Paired as by :func:`project`.
    alignments : iterable of Alignment or None
        Candidate links, in the order of ``source``; best with weights, from 0.1 upwards. None: both sides are
        one text in two annotation styles, and each word is linked to itself; then ``parse_pair`` takes None.
    source_model : ArcParser
        A parser of the source language, from ``train_parser``; it is not changed. The factors of one of order
        2 take part.
    order : int
        1: single arcs of the target are scored; 2: also grandparents, and sequences and numbers of
        dependents, as by ``train_parser(order=2)``.
    seed : int
        The same seed gives the same model.
    options : BiparseOptions, optional
        Everything else: ``qsproj.BiparseOptions(labels="after")`` leaves relations to the target's labeller,
        which is faster; ``tags="links"`` learns to tag target words that come without UPOS, ``tags="joint"``
        decides such tags together with trees and links.

    Examples
    --------
    >>> import qsproj
    >>> english = list(qsproj.read_conllu("corpora/en.conllu"))
    >>> german = list(qsproj.read_conllu("corpora/de.conllu"))
    >>> links = list(qsproj.read_alignments("corpora/en-de.pharaoh"))
    >>> parser = qsproj.train_parser(english, features="words")
    >>> biparser = qsproj.train_biparser(english[:12], german[:12], links[:12], source_model=parser)
    >>> pair = biparser.parse_pair(english[20], german[20], links[20])
    >>> len(pair.target.heads) == len(german[20]) + 1
    True
    """
    from qsproj.models.joint.joint_options import BiparseOptions
    from qsproj.models.joint.joint_trees import is_tree_parser
    from qsproj.pipelines.bilingual.biparse import train_joint_parser

    if options is not None and not isinstance(options, BiparseOptions):
        raise WrongTypeError(f"found {described(options)} as options, expected qsproj.BiparseOptions(...)")
    if not is_tree_parser(source_model):
        raise WrongTypeError(
            f"found {described(source_model)} as source_model, expected a parser of order 1 or 2; make one: "
            "qsproj.train_parser, or qsproj.load_model"
        )
    order, options = validation.whole_number(order, "order", least=1), options or BiparseOptions()
    if order != 1:
        options = replace(options, order=order)
    pairs = _pairs(source, target, alignments)
    return train_joint_parser(pairs, source_model, rng=validation.generator_of(seed), options=options)[0]


def _pairs(
    source: Iterable[Sentence], target: Iterable[Sentence], alignments: Iterable[Alignment] | None
) -> list[SentencePair]:
    sources, targets = validation.sentences_of(source, "source"), validation.sentences_of(target, "target")
    if alignments is None:
        validation.check_same_number(source=sources, target=targets)
        return list(pair_aligned(sources, targets, None))
    links = validation.alignments_of(alignments)
    validation.check_same_number(source=sources, target=targets, alignments=links)
    return list(pair_aligned(sources, targets, links))


def project_tags(
    source: Iterable[Sentence] | Sequence[Iterable[Sentence]],
    target: Iterable[Sentence],
    alignments: Iterable[Alignment] | Sequence[Iterable[Alignment]],
    *,
    language: str | None = None,
    tagged: Iterable[Sentence] = (),
    raw: Iterable[Sentence | Sequence[str]] = (),
    lexicon: PathOrFile | Mapping[str, Sequence[str]] | None = None,
    columns: Sequence[str] | None = None,
    seed: int = 1,
) -> Tagger:
    """Train a tagger of a language on tagged translations, through word links.

    Features that its forms show are learned with it where the source has them. Raises DataError when a
    sentence has no partner; UsageError when the source has no UPOS, or no word has a link.

    Parameters
    ----------
    source : iterable of Sentence
        With UPOS, best with features and trees. Several sources are a list of lists, over the same target.
    target : iterable of Sentence
        Their translations, words alone.
    alignments : iterable of Alignment
        Links, best with weights from 0.1 upwards; a list of them for each of several sources.
    language : str, optional
        Code of the target, kept in the model to cut text into words.
    tagged : iterable of Sentence
        The few target sentences with UPOS that there are.
    raw : iterable of Sentence or of list of str
        More sentences of the target, those to be tagged among them.
    lexicon : path, open file or dict, optional
        Words and the tags that they may have; or a file of UniMorph, for lemmas and features.
    columns : list of str, optional
        What is learned beside UPOS, of ``feats`` and ``lemma``; None: what there is.
    seed : int
        The same seed gives the same tagger.

    Examples
    --------
    >>> import qsproj
    >>> english, german = (list(qsproj.read_conllu(f"corpora/{code}.conllu")) for code in ("en", "de"))
    >>> words = [qsproj.Sentence.from_words(one.forms) for one in german]
    >>> tagger = qsproj.project_tags(english, words, qsproj.align(english, german, threshold=0.1))
    >>> tagger.tag(words[0]).upos[:3]
    ('DET', 'NOUN', 'VERB')
    """
    from qsproj.corpus.language.lexicon import Lexicon, read_lexicon
    from qsproj.corpus.language.recognition import check_known_language
    from qsproj.corpus.pairs.translations import join_translations
    from qsproj.pipelines.tagging.tags_through_links import PROJECTED_COLUMNS
    from qsproj.pipelines.tagging.tags_through_links import project_tags as train

    if language is not None:
        check_known_language(language)
    for column in columns or ():
        check_name("column that links carry", column, ("upos", *PROJECTED_COLUMNS))
    targets = validation.sentences_of(target, "target")
    sources, links = list(source), list(alignments)
    several = bool(sources) and not isinstance(sources[0], Sentence)
    if several:
        validation.check_same_number(source=sources, alignments=links)
    sides: list[Any] = list(zip(sources, links)) if several else [(sources, links)]
    pairs = tuple(_pairs(one, targets, of_one) for one, of_one in sides)
    known = (
        Lexicon(tags={word: tuple(sorted(tags)) for word, tags in sorted(lexicon.items())})
        if isinstance(lexicon, Mapping)
        else None
        if lexicon is None
        else read_lexicon(lexicon)
    )
    return train(
        join_translations(pairs),
        rng=validation.generator_of(seed),
        tagged=validation.sentences_of(tagged, "tagged", least=0),
        raw=map(validation.words_in, validation.texts_of(raw, "raw")),
        lexicon=known,
        language=language,
        columns=PROJECTED_COLUMNS if columns is None else columns,
    ).tagger


def cotrain(
    model: JointParser,
    trees: Iterable[Sentence],
    source: Iterable[Sentence],
    target: Iterable[Sentence],
    alignments: Iterable[Alignment],
    *,
    rounds: int = 1,
    jobs: int = 1,
    seed: int = 1,
) -> ArcParser:
    """Train a parser of the target on trees and on pairs without trees, as a parser of both sides reads them.

    Raises UsageError when no tree is whole, or no pair has a link.

    Parameters
    ----------
    model : JointParser
        Of :func:`train_biparser`.
    trees : iterable of Sentence
        Target trees, best those that the model was trained on.
    source, target, alignments
        The pairs, as :func:`project` takes them.
    rounds : int
        How often pairs are parsed and learned from.
    jobs, seed : int
        Processes; the same seed gives the same parser.
    """
    from qsproj.parallel import Workers
    from qsproj.pipelines.bilingual.cotrain import CotrainingOptions
    from qsproj.pipelines.bilingual.cotrain import cotrain as train

    if not getattr(model, "parses_pairs", False):
        raise WrongTypeError(f"found {described(model)} as model, expected one of qsproj.train_biparser")
    whole = [one for one in validation.sentences_of(trees, "trees") if is_whole(one.heads)]
    if not whole:
        raise UsageError("found no whole tree in trees, expected some of the target")
    return train(
        model,
        whole,
        _pairs(source, target, alignments),
        rng=validation.generator_of(seed),
        options=CotrainingOptions(rounds=validation.whole_number(rounds, "rounds", least=1)),
        workers=Workers(jobs=jobs),
    )[0]
