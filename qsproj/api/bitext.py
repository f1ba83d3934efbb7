"""Functions on bitexts: word alignment, projected parsers and taggers, joint parsers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, cast

from qsproj.alignment.aligners import align_words
from qsproj.api import validation
from qsproj.conventions import is_whole
from qsproj.corpus.cells import UNIVERSAL_TAGS
from qsproj.corpus.files import PathOrFile
from qsproj.corpus.language.lexicon import Lexicon, read_lexicon
from qsproj.corpus.language.recognition import check_known_language
from qsproj.corpus.messages import check_type, described, words_of
from qsproj.corpus.pairs.aligned import pair_aligned
from qsproj.corpus.pairs.pairing import pair_sentences
from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.errors import UsageError, WrongTypeError, check_name
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.joint.joint_options import BiparseOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_trees import is_tree_parser
from qsproj.models.parser import Parser
from qsproj.models.tagging.tagger import Tagger
from qsproj.parallel import Workers
from qsproj.pipelines.bilingual import cotrain as cotraining
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.projection.methods import METHODS
from qsproj.pipelines.tagging import tags_through_links
from qsproj.pipelines.tagging.target_words import segmented_sentences, with_target_words
from qsproj.pipelines.treebanks import Treebank


def align(
    source: Iterable[Sentence | Sequence[str]],
    target: Iterable[Sentence | Sequence[str]],
    *,
    threshold: float = 0.5,
) -> list[Alignment]:
    """Align the words of sentences and their translations; trains on these pairs alone.

    Returns weighted alignments in the order of the source sentences. Raises UsageError when the sides differ
    in length, the threshold is not a probability, or a sentence is a string.

    Parameters
    ----------
    source, target : iterable of Sentence or of list of str
        Sentences and their translations, in the same order; more pairs give better links. Two lists of
        ``Sentence`` objects are paired by ``parallel_id``, else by ``sent_id``, where both have them.
    threshold : float
        Minimum probability of a link; 0.15 for soft projection and 0.1 for joint parsing, which weight links.

    Examples
    --------
    >>> english = [["the", "house"], ["the", "book"], ["a", "book"]]
    >>> german = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]]
    >>> qsproj.align(english, german)[0].links.tolist()
    [[1, 1], [2, 2]]
    """
    check_type(threshold, Real, "a probability", "threshold")
    sources, targets = validation.texts_of(source, "source"), validation.texts_of(target, "target")
    validation.check_same_number(source=sources, target=targets)
    pairs: Iterable[Any] = zip(sources, targets, strict=True)
    if all(isinstance(text, Sentence) for text in (*sources, *targets)):
        pairs = pair_sentences(cast("list[Sentence]", sources), cast("list[Sentence]", targets))
    words = [(validation.words_in(one), validation.words_in(other)) for one, other in pairs]
    return list(align_words(words, threshold=float(threshold)))


def project(
    source: Iterable[Sentence],
    target: Iterable[Sentence],
    alignments: Iterable[Alignment],
    *,
    method: str = "soft",
    treebank: Iterable[Sentence] = (),
    also: Iterable[Sentence] | Sequence[Iterable[Sentence]] = (),
    annotated: Iterable[Sentence] = (),
    seed: int = 1,
    tagger: Tagger | None = None,
) -> Parser:
    """Train a parser for a language without a treebank, from translations of parsed sentences.

    The parser has ``parse(sentence)``, ``arc_probabilities(sentence)`` and ``save(path)``. Raises DataError
    when a sentence has no partner or a link points outside its sentences; UsageError when lists have other
    lengths, no source word has a head, no target word has a tag, no arc can be projected, or the method is
    unknown.

    Parameters
    ----------
    source : iterable of Sentence
        Sentences with trees, gold or predicted.
    target : iterable of Sentence
        Their translations, with UPOS; heads are ignored. Paired by ``parallel_id``, else by ``sent_id``,
        where both sides have them, else by order.
    alignments : iterable of Alignment
        Word links, in the order of ``source``. ``soft`` and ``qg`` work best with weights, from 0.15 upwards.
    method : str
        ``soft``: start from parsers trained on source trees with translated words, adapted by arc evidence
        weighted by link probability; ``hard``: train on arcs projected through one-to-one links;
        ``hard-em``: ``hard``, with missing arcs imputed by EM; ``qg``: a quasi-synchronous grammar; ``em``:
        the target's tags alone, as a baseline; the source is paired with it, and not read.
    treebank : iterable of Sentence
        Gold trees of the source language to start from; for several treebanks, a list of lists. This and the
        next two are for ``soft``, as is ``tagger``.
    also : iterable of Sentence
        With ``treebank``: trees of another language, which vote too; for several, a list of lists.
    annotated : iterable of Sentence
        A few target sentences with gold trees, which fine-tune the parser.
    seed : int
        The same seed gives the same parser.
    tagger : Tagger, optional
        That of the target, from :func:`project_tags`: it knows which conventions of the source do not hold.

    Examples
    --------
    >>> english, german = (list(qsproj.read_conllu(f"corpora/{code}.conllu")) for code in ("en", "de"))
    >>> links = list(qsproj.read_alignments("corpora/en-de.pharaoh"))
    >>> parser = qsproj.project(english, german, links, method="hard")
    >>> qsproj.evaluate(german, map(parser.parse, german)).uas > 80
    True
    """
    check_name("method", method, METHODS)
    own, others = _treebanks("treebank", treebank), _treebanks("also", also)
    few = validation.sentences_of(annotated, "annotated", least=0)
    check_type(tagger, Tagger | None, "a Tagger or None", "tagger")
    options = {"treebank": [own] if own else [], "also": others, "annotated": few, "tagger": tagger}
    given: dict[str, Any] = {name: value for name, value in options.items() if value}
    for name in given:
        if name not in METHODS[method].reads:
            raise UsageError(f"method {method!r} does not read {name}; leave it out, or use method 'soft'")
    if own:
        given["seed"] = seed
    elif others:
        raise UsageError("found also without treebank, beside which it votes; give the source's treebank")
    pairs = _pairs(source, target, alignments)
    return METHODS[method].project([pairs], rng=validation.generator_of(seed), **given).parser


def _treebanks(name: str, given: Any) -> list[Treebank]:
    if _holds_lists(given):
        return [Treebank(name, validation.sentences_of(one, name)) for one in given]
    sentences = validation.sentences_of(given, name, least=0)
    return [Treebank(name, sentences)] if sentences else []


def train_biparser(
    source: Iterable[Sentence],
    target: Iterable[Sentence],
    alignments: Iterable[Alignment] | None,
    *,
    source_model: Parser,
    order: int = 1,
    seed: int = 1,
    options: BiparseOptions | None = None,
) -> JointParser:
    """Train a joint parser of both sides of a bitext, with links as hidden variables.

    The model has ``parse_pair(source, target, alignment)``, which returns a ``SentencePair``, and
    ``save(path)``. Raises DataError as :func:`project`; UsageError when fewer than two pairs are usable for
    training, or an option is wrong.

    Parameters
    ----------
    source, target : iterable of Sentence
        Translations of each other, with UPOS; pairs without a complete target tree are left out. Paired as by
        :func:`project`.
    alignments : iterable of Alignment or None
        Candidate links, in the order of ``source``; best with weights, from 0.1 upwards. None: both sides are
        one text in two annotation styles, and each word is linked to itself; then ``parse_pair`` takes None.
    source_model : Parser
        A parser of the source language, from ``train_parser``; it is not changed. Second-order factors of an
        order-2 parser are used.
    order : int
        1: score single arcs of the target; 2: also grandparents, and sequences and numbers of dependents, as
        ``train_parser(order=2)`` does.
    seed : int
        The same seed gives the same model.
    options : BiparseOptions, optional
        All other options: ``qsproj.BiparseOptions(labels="after")`` leaves relations to the target's
        labeller, which is faster; ``tags="links"`` learns to tag target words without UPOS, ``tags="joint"``
        decodes these tags jointly with trees and links.

    Examples
    --------
    >>> english, german = (list(qsproj.read_conllu(f"corpora/{code}.conllu")) for code in ("en", "de"))
    >>> links = list(qsproj.read_alignments("corpora/en-de.pharaoh"))
    >>> parser = qsproj.train_parser(english, features="words")
    >>> biparser = qsproj.train_biparser(english[:12], german[:12], links[:12], source_model=parser)
    >>> pair = biparser.parse_pair(english[20], german[20], links[20])
    >>> len(pair.target.heads) == len(german[20]) + 1
    True
    """
    check_type(options, BiparseOptions | None, "qsproj.BiparseOptions(...)", "options")
    if not is_tree_parser(source_model):
        expected = "a parser of order 1 or 2; make one: qsproj.train_parser, or qsproj.load_model"
        raise WrongTypeError(f"found {described(source_model)} as source_model, expected {expected}")
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
    makers = "qsproj.align, qsproj.read_alignments"
    links = validation.each_a(Alignment, alignments, "alignments", makers)
    validation.check_same_number(source=sources, target=targets, alignments=links)
    return list(pair_aligned(sources, targets, links))


def project_tags(
    source: Iterable[Sentence] | Sequence[Iterable[Sentence]],
    target: Iterable[Sentence] | Sequence[Iterable[Sentence]],
    alignments: Iterable[Alignment] | Sequence[Iterable[Alignment]],
    *,
    language: str | None = None,
    tagged: Iterable[Sentence] = (),
    raw: Iterable[Sentence | Sequence[str]] = (),
    lexicon: PathOrFile | Mapping[str, Sequence[str]] | None = None,
    columns: Sequence[str] | None = None,
    seed: int = 1,
    also: Iterable[Sentence] | Sequence[Iterable[Sentence]] = (),
) -> Tagger:
    """Train a tagger by projecting tags through word links.

    Features that target forms mark are projected too, where the source has them. Raises DataError when a
    sentence has no partner; UsageError when lists have other lengths, the source has no UPOS, or no word
    has a link.

    Parameters
    ----------
    source : iterable of Sentence
        Sentences with UPOS, best with features and trees. For several sources: a list of lists, that
        with the largest treebank first, since it decides which tags frequent words may have.
    target : iterable of Sentence
        Their translations; only words are read. For several sources: the same for all, or a list for each,
        joined by sentences, or by the verse or line in ``sent_id``.
    alignments : iterable of Alignment
        Links, best with weights from 0.15 upwards; for several sources, a list for each.
    language : str, optional
        Language code of the target, stored in the model for tokenization.
    tagged : iterable of Sentence
        Target sentences with gold UPOS, if available.
    raw : iterable of Sentence or of list of str
        More sentences of the target, best including those to be tagged.
    lexicon : path, open file or dict, optional
        Words and their possible tags; or a UniMorph file, for lemmas and features.
    columns : list of str, optional
        Columns learned beside UPOS: ``feats``, ``lemma``; None: all that are available.
    seed : int
        The same seed gives the same tagger.
    also : iterable of Sentence
        A treebank of a related language, whose tags vote on the target's words if they agree with the tagger;
        for several, a list of lists.

    Examples
    --------
    >>> english, german = (list(qsproj.read_conllu(f"corpora/{code}.conllu")) for code in ("en", "de"))
    >>> words = [qsproj.Sentence.from_words(one.forms) for one in german]
    >>> tagger = qsproj.project_tags(english, words, qsproj.align(english, german, threshold=0.1))
    >>> tagger.tag(words[0]).upos[:3]
    ('DET', 'NOUN', 'VERB')
    """
    if language is not None:
        check_known_language(language)
    columns = None if columns is None else list(map(str, validation.listed(columns, "columns")))
    for column in columns or ():
        check_name("column that links carry", column, ("upos", *tags_through_links.PROJECTED_COLUMNS))
    sources, links = validation.listed(source, "source"), validation.listed(alignments, "alignments")
    several = bool(sources) and not isinstance(sources[0], Sentence)
    if several:
        validation.check_same_number(source=sources, alignments=links)
    sides: list[Any] = list(zip(sources, links)) if several else [(sources, links)]
    if several and _holds_lists(target):
        targets = [validation.sentences_of(one, "target") for one in target]
        validation.check_same_number(source=sources, target=targets)
    else:
        targets = [validation.sentences_of(target, "target")] * len(sides)
    pairs = [_pairs(one, words, of_one) for (one, of_one), words in zip(sides, targets, strict=True)]
    if isinstance(lexicon, Mapping):
        given = {word: words_of(tags, what=f"tags of {word}") for word, tags in sorted(lexicon.items())}
        for word, tags in given.items():
            for tag in tags:
                check_name(f"tag of {word!r}", tag, UNIVERSAL_TAGS)
        known: Lexicon | None = Lexicon(tags=given)
    else:
        known = None if lexicon is None else read_lexicon(lexicon)
    few = validation.sentences_of(tagged, "tagged", least=0)
    tagger = tags_through_links.project_tags(
        join_same_targets(pairs),
        rng=validation.generator_of(seed),
        tagged=few,
        raw=map(validation.words_in, validation.texts_of(raw, "raw")),
        lexicon=known,
        relatives=_treebanks("also", also),
        language=language,
        columns=tags_through_links.PROJECTED_COLUMNS if columns is None else columns,
    ).tagger
    shown = segmented_sentences(few, targets[0], language=language)
    return with_target_words(tagger, few, shown=shown, language=language, seed=seed)


def _holds_lists(given: object) -> bool:
    return isinstance(given, list | tuple) and bool(given) and not isinstance(given[0], Sentence)


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
    """Train a target parser on trees, and on pairs without trees as a joint parser annotates them.

    Raises UsageError when no tree is complete, or no pair has a link.

    Parameters
    ----------
    model : JointParser
        A model from :func:`train_biparser`.
    trees : iterable of Sentence
        Target trees, best the training trees of the model.
    source, target, alignments
        The pairs, as for :func:`project`.
    rounds : int
        Number of rounds of parsing the pairs and training on the result.
    jobs, seed : int
        Number of processes; the same seed gives the same parser.
    """
    if not getattr(model, "parses_pairs", False):
        raise WrongTypeError(f"found {described(model)} as model, expected a model of qsproj.train_biparser")
    whole = [one for one in validation.sentences_of(trees, "trees") if is_whole(one.heads)]
    if not whole:
        raise UsageError("found no complete tree in trees, expected trees of the target")
    rounds = validation.whole_number(rounds, "rounds", least=1)
    return cotraining.cotrain(
        model,
        whole,
        _pairs(source, target, alignments),
        rng=validation.generator_of(seed),
        rounds=rounds,
        workers=Workers(jobs=jobs),
    )[0]
