"""Learning from reviewed sentences in a separate process: fine-tuning, or more bootstrapping."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any

import numpy as np

from qsproj import __version__
from qsproj.corpus.alignments import LINKS
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import misc_values, with_columns
from qsproj.corpus.files import copy_to
from qsproj.corpus.formats import read_all, read_sentences
from qsproj.corpus.language.lexicon import read_lexicon
from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.errors import SentenceError
from qsproj.evaluation.attachment import AttachmentScores, attachment_scores
from qsproj.models.parser import Parser, TrainingTree, trees_of
from qsproj.models.text.text_parser import TextParser, load_text_parser
from qsproj.pipelines.bootstrap.answers import TaggerInputs, learn_answers, text_to_parse
from qsproj.pipelines.bootstrap.bootstrap import BootstrapCall, Bootstrapped, bootstrap
from qsproj.pipelines.bootstrap.suggestions import suggested_sentences, write_lexicon
from qsproj.pipelines.bootstrap.training import columns_of
from qsproj.pipelines.bootstrap.workspace import ANNOTATION, Workspace
from qsproj.pipelines.projection.hard_projection import through_links
from qsproj.pipelines.tagging.target_words import with_answered_words
from qsproj.progress import track
from qsproj.serve.review.correction import (
    CHECKABLE,
    DECIDED,
    REVIEWED,
    Belief,
    belief_of,
    certain,
    checked_columns,
    is_reviewed,
)
from qsproj.serve.review.draft import NamedBytes
from qsproj.serve.review.inference import completed
from qsproj.training.cross_fitting import cross_fit, in_order

_MOST_FOLDS = 5
NICENESS = 10  # priority of learning, below that of the server
OFFERED = 200  # sentences for annotation


@dataclass(frozen=True, slots=True)
class Gain:
    """Cross-validated scores before and after training on reviewed sentences."""

    before: AttachmentScores
    after: AttachmentScores
    folds: int


def tagged_itself(parser: Parser, sentence: Sentence) -> bool:
    """Return whether a text parser predicts the tags of a sentence, and so averages several tag sequences."""
    retagging = parser.retagging()
    return retagging is not None and retagging.parse(sentence).upos == sentence.upos


def parsed_as_used(parser: Parser, tree: TrainingTree, *, retag: bool, confidence: bool = False) -> Sentence:
    """Return the parsed sentence, by a joint parser with its translation; ``retag``: predict its tags."""
    if isinstance(tree, SentencePair):
        of_pairs: Any = parser
        return of_pairs.parse_pair(tree.source, tree.target, tree.alignment).target
    parser = (parser.retagging() if retag else None) or parser
    return parser.parse(tree, confidence=confidence)


def gain_of(
    parser: Parser, trees: Sequence[TrainingTree], *, seed: int, done: Callable[[], None] = lambda: None
) -> Gain | None:
    """Return the gain of training on trees by cross-validation; None for a single tree.

    It is rather underestimated: the trees are corrected output of the parser. ``done`` follows each training.
    """
    folds = min(_MOST_FOLDS, len(trees))
    if folds < 2:
        return None
    gold = trees_of(trees)
    own = [tagged_itself(parser, tree) for tree in gold]

    def fit(others: list[int]) -> Parser:
        tuned = parser.fine_tuned([trees[number] for number in others], rng=np.random.default_rng(seed))
        done()
        return tuned

    def predict(tuned: Parser, number: int) -> Sentence:
        return parsed_as_used(tuned, trees[number], retag=own[number])

    parsed = in_order(cross_fit(len(trees), fit, predict, folds=folds))
    before = [predict(parser, number) for number in range(len(trees))]
    scores_before, scores_after = attachment_scores(gold, [before, parsed])
    return Gain(scores_before, scores_after, folds)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The content and name of a file, and the indices of reviewed and remaining sentences."""

    content: bytes
    name: str
    reviewed: Sequence[int]
    left: Sequence[int]
    # for a joint parser: by index; corrected links are gold links
    pairs: Mapping[int, SentencePair] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retrained:
    """The result of training."""

    beliefs: Mapping[int, Belief]  # of the remaining sentences, by index
    summary: Mapping[str, Any]  # for the page, as JSON: cross-validated scores, number of changed heads
    model: str | None = None  # the file of the trained parser, if accepted
    order: Sequence[int] = ()  # the remaining sentences, most informative first; empty: to be ranked


def retrained(
    parsed: Mapping[int, Sentence],
    sentences: Sequence[Sentence],
    summary: Mapping[str, Any],
    *,
    model: str,
    order: Sequence[int] = (),
    merged: Callable[[Sentence, Sentence], Sentence],
) -> Retrained:
    """Return the result of training, from new parses of some ``sentences``, by index.

    ``merged``: returns a new parse with those lemmas and features of the sentence that the model keeps.
    """
    beliefs = {index: belief_of(merged(one, sentences[index])) for index, one in parsed.items()}
    changed = sum(int((one.heads != sentences[index].heads).sum()) for index, one in parsed.items())
    return Retrained(beliefs, {**summary, "changed": changed, "model": model}, model, order)


def with_own_cells(parsed: Sentence, sentence: Sentence) -> Sentence:
    """Return a parse with the lemmas and features of the sentence, as of a treebank."""
    return with_columns(parsed, lemmas=sentence.lemmas, feats=sentence.feats)


def with_checked_cells(parsed: Sentence, sentence: Sentence) -> Sentence:
    """Return a parse with the columns that a person has checked; a word that was split has no lemma yet."""
    columns = {name: getattr(sentence, name) for name in checked_columns(sentence)}
    if "lemmas" in columns:
        pairs = zip(sentence.lemmas, parsed.lemmas, strict=True)
        columns["lemmas"] = tuple(found if own == UNSPECIFIED else own for own, found in pairs)
    return with_columns(parsed, **columns)


@dataclass(frozen=True, slots=True)
class Retraining:
    """Train the parser of a draft on its reviewed sentences: the work of a :class:`ComputePool`."""

    parser: Parser
    output: str  # path of the trained parser
    seed: int
    progress: Any = field(default_factory=lambda: RawArray("i", 2))  # steps done, and all; shared memory

    def __call__(self, given: Reviewed) -> Retrained:
        """Train, measure the gain, and parse the remaining sentences; a worse parser is rejected."""
        sentences = list(read_sentences(NamedBytes(given.content, given.name)))
        trees = [given.pairs.get(index, sentences[index]) for index in given.reviewed]
        self.progress[:] = 0, min(_MOST_FOLDS, len(trees)) + 2
        gain = gain_of(self.parser, trees, seed=self.seed, done=self._done)
        summary: dict[str, Any] = {"reviewed": len(trees), "left": len(given.left)}
        if gain is not None:
            scores = {"before": gain.before, "after": gain.after}
            shown = {key: {"uas": round(one.uas, 1), "las": round(one.las, 1)} for key, one in scores.items()}
            summary |= {"parts": gain.folds, **shown}
        if gain is not None and gain.after.las < gain.before.las:
            return Retrained({}, summary | {"changed": 0, "worse": True})
        tuned = self.parser.fine_tuned(trees, rng=np.random.default_rng(self.seed))
        self._done()
        made = {"command": "serve", "version": __version__, "reviewed": len(trees), "seed": self.seed}
        tuned.save(self.output, made=made)
        parsed = {}
        for index in given.left:
            retag = tagged_itself(self.parser, sentences[index])
            tree = given.pairs.get(index, sentences[index])
            parsed[index] = parsed_as_used(tuned, tree, retag=retag, confidence=True)
        self._done()
        return retrained(parsed, sentences, summary, model=self.output, merged=with_own_cells)

    def _done(self) -> None:
        self.progress[0] += 1


@dataclass(frozen=True, slots=True)
class _Base:
    """A bootstrap's files, its model before it learned annotated sentences, these, and the text to parse."""

    files: Bootstrapped
    model: TextParser
    inputs: TaggerInputs
    annotated: list[Sentence]
    text: list[Sentence]


@dataclass(slots=True)
class Relearning:
    """Teach a bootstrapped model sentences and a lexicon: work of a :class:`ComputePool`. Mutable; final."""

    call: BootstrapCall
    folder: Path  # the workspace, whose stages are reused
    output: str  # the path of the model
    lexicon: str  # a file that grows while the page is open
    progress: Any = field(default_factory=lambda: RawArray("i", 2))  # as of :class:`Retraining`
    _base: _Base | None = None  # read before the pool's process is forked

    @property
    def drafts(self) -> Path:
        return self.folder / f"annotate.{self.call.language}.conllu"

    @property
    def offered(self) -> Path:
        """The path of the sentences that the bootstrap offered when the drafts were written."""
        return self.drafts.with_suffix(".offered.conllu")

    @property
    def model(self) -> str:
        """The path of the last trained model, of which ``output`` is a copy."""
        return str(self.drafts.with_suffix(".model"))

    @property
    def suggestions(self) -> str:
        return str(self.drafts.with_suffix(".words.tsv"))

    @property
    def files(self) -> list[str]:
        """The paths of the session's files, beside model and lexicon."""
        history = f"{self.drafts}.history"
        return [str(self.drafts), history, str(self.offered), self.suggestions]

    @property
    def words(self) -> int:
        return sum(map(len, self._base.text)) if self._base is not None else 0

    def begin(self, say: Callable[[str], None] = lambda _: None) -> Bootstrapped:
        """Write drafts, words and model where an earlier session did not; return the bootstrap's files.

        If the bootstrap offers other sentences now, they replace those without an answer. An existing
        ``output`` is replaced by the first training only.
        """
        options = self.call.options
        made = bootstrap(
            self.call.texts,
            workspace=Workspace(self.folder, run=f"{ANNOTATION}{self.call.language}"),
            options=options,
            suggested_sentences=OFFERED,
            say=say,
        )
        now = Path(made.suggested or "")
        is_known = self.offered.exists() and self.offered.read_bytes().startswith(now.read_bytes())
        is_new = not (is_known and self.drafts.exists())
        for path, source in ((self.suggestions, made.suggested_words), (self.model, made.model)):
            if is_new or not Path(path).exists():
                copy_to(source or "", path)
        if is_new:
            self._offer(list(read_conllu(now)), say)
        if not Path(self.output).exists():
            copy_to(self.model, self.output)
        model = load_text_parser(made.base, remedy="bootstrap again")
        raw = text_to_parse(model, options.text, paragraphs=options.paragraphs, bitext=made.corpora)
        inputs, annotated = made.tagger_inputs(self.call.texts, options), list(read_all(options.annotated))
        self._base = _Base(made, model, inputs, annotated, list(raw))
        return made

    def _offer(self, offered: Sequence[Sentence], say: Callable[[str], None]) -> None:
        """Write the drafts, and record what is offered last: without the record, this is done again."""
        drafts, before = list[Sentence](), list[Sentence]()
        if self.drafts.exists():
            drafts = list(read_conllu(self.drafts))
            before = list(read_conllu(self.offered)) if self.offered.exists() else []
        found = with_offered(drafts, offered, before=before)
        if drafts and [one.forms for one in found] != [one.forms for one in drafts]:
            say(f"{self.drafts}: other sentences are offered now, in place of those without an answer")
        write_conllu(found, self.drafts)
        write_conllu([*offered, *still_offered(before, drafts, found, offered)], self.offered)

    def __call__(self, given: Reviewed) -> Retrained:
        """Learn from the reviewed sentences, parse the rest, and list words anew; the page comes first."""
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
        sentences = list(read_sentences(NamedBytes(given.content, given.name)))
        self.progress[:] = 0, 2  # learned, parsed
        partly = _partly_known(sentences, given.left)
        by_hand = (pair for at, pair in given.pairs.items() if at in given.left and pair.hand is not None)
        linked = filter(has_tree, map(project_links_by_hand, by_hand))
        annotated = [*(sentences[index] for index in given.reviewed), *partly.values(), *linked]
        learned = self.learned(annotated)
        self.progress[0] = 1
        parsed = _parsed_again(learned, sentences, given.left, partly)
        places = {id(sentence): index for index, sentence in parsed.items()}
        most = max(len(parsed), 1)
        ranked = suggested_sentences(list(parsed.values()), learned.tagger, annotated, count=most)
        order = [places[id(sentence)] for sentence in ranked]
        self.progress[0] = 2
        summary = {"reviewed": len(given.reviewed), "left": len(given.left)}
        how: dict[str, Any] = {"order": order, "merged": with_checked_cells}
        return retrained(parsed, sentences, summary, model=self.output, **how)

    def drafts_of(self, sentences: Sequence[Sentence], left: Sequence[int]) -> Retrained:
        """Return the drafts of the remaining sentences by the last trained model, for a new session."""
        shown = track(left, "parsing drafts", unit="sentence")
        parsed = _parsed_again(load_text_parser(self.model), sentences, shown, _partly_known(sentences, left))
        merged = {index: with_checked_cells(one, sentences[index]) for index, one in parsed.items()}
        return Retrained({index: belief_of(one) for index, one in merged.items()}, {})

    def learned(self, annotated: Sequence[Sentence]) -> TextParser:
        if self._base is None:
            self.begin()
        assert self._base is not None
        options, base = self.call.options, self._base
        known = {one.forms for one in annotated}
        own = list(map(_as_learned, annotated))
        learned = learn_answers(
            base.model,
            [*(one for one in base.annotated if one.forms not in known), *own],
            read_lexicon(self.lexicon, may_be_empty=True).tags if Path(self.lexicon).exists() else {},
            raw=[sentence.forms for sentence in base.text],
            rng=np.random.default_rng(options.seed),
            inputs=base.inputs,
            columns=columns_of([*base.annotated, *own]),
        )
        learned = replace(
            learned,
            tagger=with_answered_words(
                learned.tagger,
                [*base.inputs.tagged, *base.annotated, *annotated],
                read_conllu(base.inputs.corpora[0].target),
                seed=options.seed,
            ),
        )
        made = {"command": "annotate", "version": __version__, "sentences": len(own), "seed": options.seed}
        learned.save(self.model, made=made)
        copy_to(self.model, self.output)
        write_lexicon(
            self.suggestions,
            tagger=learned.tagger,
            text=base.text if options.text else [],
            corpora=base.files.corpora,
            lexicon=options.lexicon,
        )
        return learned


def _partly_known(sentences: Sequence[Sentence], left: Iterable[int]) -> dict[int, Sentence]:
    partial = (index for index in left if any(misc_values(sentences[index], DECIDED)))
    return {index: certain(sentences[index]) for index in partial}


def _parsed_again(
    model: TextParser, sentences: Sequence[Sentence], left: Iterable[int], partly: Mapping[int, Sentence]
) -> dict[int, Sentence]:
    """Return drafts of sentences, by index; ``partly``: those with decided cells, which are kept."""
    parser, parsed = model.retagging(), dict[int, Sentence]()
    for index in left:
        if index not in partly:
            parsed[index] = parser.parse(sentences[index], confidence=True)
            continue
        # If no tree of the model has all decided cells, that of the file stays.
        with suppress(SentenceError):
            parsed[index] = completed(model, partly[index])
    return parsed


def _as_learned(sentence: Sentence) -> Sentence:
    """Return a sentence without features and lemmas of the model, which nobody has checked."""
    checked = checked_columns(sentence) if is_reviewed(sentence) else frozenset()
    blank = (UNSPECIFIED,) * len(sentence)
    return with_columns(sentence, **{name: blank for name in CHECKABLE if name not in checked})


def with_offered(
    drafts: Sequence[Sentence], offered: Sequence[Sentence], *, before: Sequence[Sentence]
) -> list[Sentence]:
    """Replace drafts that nobody has touched, in order, by the sentences that are offered now.

    ``before``: the sentences that were offered, of which the model has changed tags and trees alone. Touched
    drafts keep their places, to which the history refers, and so do left-over ones. A sentence that was
    divided or joined is not offered again. A name that another sentence has becomes a number.
    """
    known = {one.forms: _comments(one) for one in before}
    kept = [
        known.get(one.forms) != _comments(one)
        or any(any(misc_values(one, mark)) for mark in (REVIEWED, DECIDED, LINKS))
        for one in drafts
    ]
    left_out = known.keys() - {one.forms for one in drafts}
    left_out |= {one.forms for one, is_kept in zip(drafts, kept) if is_kept}
    new = [one for one in offered if one.forms not in left_out]
    places = [at for at, is_kept in enumerate(kept) if not is_kept][: len(new)]
    names = {one.sent_id for one in drafts} - {drafts[at].sent_id for at in places}
    free = (name for name in map(str, count(1)) if name not in names)
    found = list(drafts)
    for at, one in zip(chain(places, count(len(drafts))), new):
        one = replace(one, sent_id=next(free)) if one.sent_id in names else one
        names.add(one.sent_id)
        found[at : at + 1] = [one]
    return found


def still_offered(
    before: Sequence[Sentence],
    drafts: Sequence[Sentence],
    found: Sequence[Sentence],
    offered: Sequence[Sentence],
) -> list[Sentence]:
    """Return the earlier sentences that are still drafts, or were divided or joined: not those replaced."""
    replaced = {one.forms for one in drafts} - {one.forms for one in found}
    known = replaced | {one.forms for one in offered}
    return [one for one in before if one.forms not in known]


def _comments(sentence: Sentence) -> list[str]:
    return [one for one in sentence.comments if "sent_id" not in one]


def project_links_by_hand(pair: SentencePair) -> Sentence:
    """Return the target with the source's arcs between words that a person has linked one-to-one."""
    assert pair.hand is not None
    heads, _ = through_links(replace(pair, alignment=pair.hand))
    # Relations and tags stay unknown: they depend on the conventions of the target.
    unknown = [UNSPECIFIED] * len(pair.target)
    return replace(with_columns(pair.target, upos=unknown, deprels=unknown), heads=heads)
