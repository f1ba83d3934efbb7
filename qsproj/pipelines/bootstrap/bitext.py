"""Tokenize and align a bitext, and parse its source side."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, islice, tee
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import conllu_kept, read_conllu
from qsproj.corpus.contractions import Contractions, known_contractions
from qsproj.corpus.files import open_text
from qsproj.corpus.formats import count_sentences, read_alignments, read_all
from qsproj.corpus.language.recognition import LOOKED_AT
from qsproj.corpus.pairs.fitting import fit_of
from qsproj.corpus.pairs.pairing import pair_files
from qsproj.corpus.sentence import Alignment, Sentence, has_tree, make_alignment
from qsproj.corpus.text import tokenize, without_spaces
from qsproj.corpus.token import spelled
from qsproj.corpus.unspaced import UNSPACED_LANGUAGES, are_parted, with_spaces
from qsproj.errors import DataError, pluralise
from qsproj.evaluation.calibration import stated_confidences
from qsproj.models.parser import load_parser
from qsproj.parallel import Workers
from qsproj.pipelines.bootstrap.spelling import Spelling, attached_words, spelling_of
from qsproj.pipelines.bootstrap.texts import LIKELY, SourceText, Tokenize, write_bitext
from qsproj.pipelines.bootstrap.workspace import StageReport, stage
from qsproj.pipelines.streams import loaded_once, parse_stream
from qsproj.pipelines.tagging.target_words import (
    keeps_words,
    learns_tokenizer,
    target_reader,
    target_tokenizer,
)
from qsproj.progress import notice, track

LEAST_LINK = 0.15  # minimum probability of a link, which is its weight; most links below it are wrong
# Least ratio of linked words between the pairs and the same pairs with one side shifted by a line, tested
# where lengths are inconclusive, to recognise translations. In news, speeches and verses, 1.9 to 7 times as
# many words have a likely link in true pairs; 1.3 times in poorly tokenised Chinese, and no more in Korean.
LEAST_RATIO = 1.15


def tokenization_arguments(
    words: Mapping[str, Any],
    sentences: Sequence[Sentence],
    language: str,
    *,
    raw: Sequence[str],
    texts: Sequence[SourceText],
) -> list[dict[str, Any]]:
    """Return arguments of :func:`tokenize_bitext` for each text: how its target side is tokenised.

    They are the spelling of raw text, and either files to learn a tokenizer from, or contractions and tokens
    that raw text divides. As these rarely change with a few more tagged sentences, kept stages stay valid.
    ``words``: the :func:`tokens_shown` by the ``sentences``.
    """
    if language in UNSPACED_LANGUAGES:
        return [_of_unspaced(words, sentences, language, text) for text in texts]
    contractions = words["contractions"]
    arguments = [dict(words) for _ in texts]
    if not raw:
        return arguments
    with ExitStack() as files:
        lines = list(chain.from_iterable(files.enter_context(open_text(path)) for path in raw))
    targets = [[target for _, target in text.pairs()] for text in texts]
    spelling = spelling_of(lines, set(chain.from_iterable(targets)))
    cut = cache(partial(tokenize, language=language))  # bitexts share most lines of the target
    for own, of_text in zip(arguments, targets, strict=True):
        if spelling.words:
            own["spelling"] = spelling.of(of_text)
        if words["tagged"]:
            continue
        found, too_short = attached_words(lines, map(spelling.respell, of_text), cut=cut)
        if attached := {token: found[token] for token in found if token not in contractions}:
            own["attached"] = attached
        if too_short:
            notice(f"{', '.join(map(str, raw))}: {_too_few(too_short)}")
            own["too_short"] = too_short
    return arguments


def _of_unspaced(
    words: Mapping[str, Any], sentences: Sequence[Sentence], language: str, text: SourceText
) -> dict[str, Any]:
    def targets() -> Iterator[str]:
        return (target for _, target in text.pairs())

    if not are_parted(islice(targets(), LOOKED_AT)):
        return dict(words)
    if keeps_words(targets(), sentences, language=language):
        return {"tagged": (), "contractions": {}}
    return {**words, "join": True}


def tokens_shown(tagged: Sequence[str], sentences: Sequence[Sentence], language: str) -> dict[str, Any]:
    """Return files to learn a tokenizer from, or else the contractions that their sentences show."""
    if learns_tokenizer(sentences, language):
        return {"tagged": tagged, "contractions": {}}
    return {"tagged": (), "contractions": known_contractions(language, sentences)}


def _too_few(words: int) -> str:
    return f"{words:,} words of raw text are too few to divide the tokens of the bitext alike; give more"


def _split_at_spaces(line: str) -> Sentence | None:
    return Sentence.from_words(words) if (words := line.split()) else None


def _tokenize_line(
    read: Callable[[Iterable[str]], Iterator[Sentence]], line: str, *, respell: Callable[[str], str] = str
) -> Sentence | None:
    return next(read([respell(line)]), None)


def _joined(line: str) -> str:
    """Return the line without spaces between words of a script that has none."""
    words = with_spaces(line).split()
    return spelled(without_spaces(words, sent_id="")) if words else line


@stage("words", version=12, files=(".source.conllu", ".target.conllu"))
def tokenize_bitext(
    paths: Sequence[Path],
    *,
    text: SourceText,
    model: str,
    tagged: Sequence[str],
    contractions: Contractions,
    parsed: Sequence[str],
    seed: int,
    workers: Workers,
    at_spaces: bool = False,
    join: bool = False,
    attached: Contractions | None = None,
    too_short: int = 0,
    apart: Contractions | None = None,
    spelling: Spelling | None = None,
) -> StageReport:
    """Tokenize both sides of a bitext: the source like its treebank, the target by rules or a tokenizer.

    ``at_spaces``: both sides are tokenised already, and links of a file refer to these tokens. ``join``:
    remove the spaces between target words of a script without spaces, to cut them anew. Lines covered by
    ``parsed`` trees keep the words of the trees. ``apart``: source tokens that the treebank divides.
    """
    tagger = loaded_once(load_parser, model).word_tagger
    assert tagger is not None
    if tagger.tokenizer is not None and are_parted(source for source, _ in islice(text.pairs(), LOOKED_AT)):
        tagger = replace(tagger, tokenizer=None)
    if apart:
        tagger = replace(tagger, contractions={**tagger.contractions, **apart})
    language = text.languages[1]
    tokenizer = target_tokenizer(list(read_all(tagged)), language=language, seed=seed)
    divided = {**contractions, **(attached or {})}
    target = target_reader(tokenizer, divided, language=language, name=text.bitext[-1])
    respell = spelling.respell if spelling else _joined if join else str
    tokenizers: tuple[Tokenize, Tokenize] = (_split_at_spaces, _split_at_spaces)
    if not at_spaces:
        source = partial(_tokenize_line, tagger.reader(split_contractions=True, name=text.bitext[0]))
        tokenizers = source, partial(_tokenize_line, target, respell=respell)
    report = write_bitext(paths, text, tokenizers=tokenizers, trees=read_all(parsed), workers=workers)
    remarks = [report.line]
    for table, side, like in ((apart, "source", "treebank"), (attached, "target", "raw text")):
        if table:
            tokens = f"{pluralise(len(table), 'kind')} of {side} tokens"
            remarks.append(f"{tokens} divided like words of the {like}")
    if spelling:
        rules = ", ".join(f"{old} > {new}" for old, new in spelling.rules)
        respelled = pluralise(len(spelling.words), "target word")
        remarks.append(f"{respelled} spelt like those of the raw text ({rules})")
    if too_short:
        remarks.append(_too_few(too_short))
    return replace(report, line="; ".join(remarks))


@dataclass(slots=True)
class LinkCounts:
    """Counts of links. Mutable; final."""

    target_words: int = 0
    links: float = 0.0
    linked: int = 0

    def counted(self, alignments: Iterable[Alignment]) -> Iterator[Alignment]:
        for alignment in alignments:
            self.target_words += alignment.n_target
            self.links += float(alignment.shares.sum())
            self.linked += len(np.unique(alignment.links[alignment.shares >= LIKELY, 1]))
            yield alignment

    @property
    def share_linked(self) -> float:
        return self.linked / max(self.target_words, 1)

    def report(self, given: str | None = None) -> StageReport:
        """Report the share of linked words, and the links per word or, if ``given``, the file of links."""
        a_word = self.links / max(self.target_words, 1)
        more = f"{a_word:.2f} links a word are expected" if given is None else f"as {given} has them"
        line = f"{100 * self.share_linked:.0f}% of the target words have a likely link, {more}"
        return StageReport(line=line, figures={"linked": self.share_linked, "links a word": a_word})


def check_translations(source: str, target: str, *, name: str) -> None:
    """Check that two files of CoNLL-U translate each other; ``name`` stands for them in messages.

    Raises DataError when in the first LOOKED_AT pairs lengths, numbers and names do not correlate, and no
    more words have a likely link than with one side shifted. If only links are weak, a notice reports it.
    """
    pairs = [(one.forms, other.forms) for one, other in islice(pair_files(source, target), LOOKED_AT)]
    fit = fit_of([(" ".join(one), " ".join(other)) for one, other in pairs])
    if fit.shift == 0:
        return
    one, other = zip(*pairs, strict=True)
    share, by_chance = share_linked(pairs), share_linked(list(zip(one, other[1:] + other[:1], strict=True)))
    if share <= LEAST_RATIO * by_chance:
        first = f"{100 * share:.0f}% of the words of the first {pluralise(len(pairs), 'pair')}"
        found = f"a likely link for {first}, {100 * by_chance:.0f}% with one side shifted by a line"
        remedy = "check that line i of one side translates line i of the other"
        if fit.by_chance:
            expected = f"{LEAST_RATIO} times as many where the sides translate each other"
            found = f"sentence lengths that do not correlate, and {found}"
            raise DataError(name, None, found, expected, remedy)
        notice(f"{name}: found {found}: {remedy}")


def share_linked(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> float:
    """Align these pairs alone and return the share of target words with a likely link."""
    counts = LinkCounts()
    deque(counts.counted(align_words(pairs, threshold=LIKELY)), maxlen=0)
    return counts.share_linked


@stage("links", version=4, files=(".pharaoh",))
def link_words(
    paths: Sequence[Path], *, source: str, target: str, unspaced: str | None, name: str, workers: Workers
) -> StageReport:
    """Align the words of two files of CoNLL-U, with link probabilities, after :func:`check_translations`."""
    check_translations(source, target, name=name)
    counts = LinkCounts()
    pairs = ((one.forms, other.forms) for one, other in pair_files(source, target))
    alignments = align_words(pairs, threshold=LEAST_LINK, unspaced=unspaced, workers=workers)
    write_alignments(counts.counted(alignments), paths[0], with_weights=True)
    return counts.report()


@stage("links", version=1, files=(".pharaoh",))
def read_links(paths: Sequence[Path], *, source: str, target: str, alignment: str, name: str) -> StageReport:
    """Read the links of a file, ``name`` in messages, with one line for each pair of the bitext."""
    lines, counts = list(read_alignments(alignment)), LinkCounts()

    def of_pairs() -> Iterator[Alignment]:
        for one, other in pair_files(source, target):
            number = int(one.sent_id or 0)
            if number > len(lines):
                expected = "a line of links for each pair of the bitext"
                raise DataError(name, len(lines), "the end of the file", expected, "align the whole bitext")
            links = lines[number - 1]
            if links.n_source > len(one) or links.n_target > len(other):
                found = f"links to {links.n_source} source and {links.n_target} target words"
                expected = f"at most {len(one)} and {len(other)}, as many as the lines have"
                remedy = "give as --bitext the tokens that were aligned, as qsproj tokenize writes them"
                raise DataError(name, number, found, expected, remedy)
            yield make_alignment(len(one), len(other), links.links, weights=links.shares)

    write_alignments(counts.counted(of_pairs()), paths[0], with_weights=True)
    return counts.report(given=name)


@stage("trees", version=1, files=(".conllu",))
def parse_source(paths: Sequence[Path], *, words: str, model: str, workers: Workers) -> StageReport:
    """Tag and parse the source side, with the probability of each arc; gold trees are kept."""
    sure = MeanConfidence()
    with conllu_kept(paths[0]) as (kept, write):
        done = sum(1 for _ in sure.counted(kept))
        sentences, given = tee(track_rest(words, done, "parsing the source"))
        bare = (sentence for sentence in given if not has_tree(sentence))
        parsed = sure.counted(parse_stream(model, bare, confidence=True, workers=workers))
        for sentence in sentences:
            write(sentence if has_tree(sentence) else next(parsed))
    return sure.report


def track_rest(path: str, done: int, doing: str) -> Iterable[Sentence]:
    """Read the sentences of a file after the first ``done`` ones, with progress under the name ``doing``."""
    rest = islice(read_conllu(path), done, None)
    return track(rest, doing, total=(count_sentences(path) or done) - done, unit="sentence")


@dataclass(slots=True)
class MeanConfidence:
    """Running mean of arc probabilities. Mutable; final."""

    total: float = 0.0
    count: int = 0

    @property
    def report(self) -> StageReport:
        if not self.count:
            return StageReport(line="all trees are given", figures={})
        mean = self.total / self.count
        return StageReport(line=f"mean probability of an arc {mean:.3f}", figures={"mean ArcProb": mean})

    def counted(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            stated = stated_confidences(sentence, name="parsed")[1:]
            self.total += float(np.nansum(stated))
            self.count += int(np.count_nonzero(~np.isnan(stated)))
            yield sentence
