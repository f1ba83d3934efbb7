"""Apply a stored model to a stream of sentences, in one or more processes, with few blocks in memory."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import tee
from typing import Any, TypeVar

from qsproj.conventions import MAX_WORDS
from qsproj.corpus.editing import line_of, warn_emptied, with_kept_deps
from qsproj.corpus.files import resolved, stamp_of
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, QsprojError, SentenceError, pluralise
from qsproj.models.constraints import known_part
from qsproj.models.parser import Parser, check_takes_parts, load_parser, load_tags
from qsproj.models.tagging.tagger import Tagger
from qsproj.parallel import THIS_PROCESS, Workers, blocks_of, map_in_order
from qsproj.progress import notice

BLOCK_SENTENCES = 128  # large enough to outweigh sending, small enough for a short wait
_LONG_ONES_NAMED = 3  # number of slow sentences to name in messages; the others are counted

Model = TypeVar("Model")
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSource:
    """Origin of the sentences of a stream, for the places in error messages."""

    name: str = "input"
    is_text: bool = False  # plain text, whose sentences are numbered by line


UNNAMED = InputSource()


def parse_stream(
    model: str,
    sentences: Iterable[Sentence],
    *,
    retag: bool = False,
    origin: InputSource = UNNAMED,
    workers: Workers = THIS_PROCESS,
    **options: Any,
) -> Iterator[Sentence]:
    """Parse all sentences of a file and yield them in order; ``options``: those of :func:`parse_all`.

    Sentences of more than MAX_WORDS words are unchanged; a notice counts them at the end. Raises DataError
    when the model cannot be read, or, with its line, for a sentence that the model rejects.
    """
    parser = loaded_once(load_parser, model)
    parser = (parser.retagging() if retag else None) or parser
    on_block = partial(_apply_to_block, apply=partial(parse_all, retag=retag, **options), origin=origin)

    def parsed(taken: Iterator[Sentence]) -> Iterator[Sentence]:
        return map_blocks(load_parser, model, on_block, blocks_of(taken, BLOCK_SENTENCES), workers=workers)

    return warn_emptied(parsed, _warn_long(sentences, parser, origin), origin.name)


def tag_stream(
    model: str,
    sentences: Iterable[Sentence],
    *,
    origin: InputSource = UNNAMED,
    workers: Workers,
    **options: Any,
) -> Iterator[Sentence]:
    """Tag all sentences in order; ``options``: those of :meth:`Tagger.tag_all`."""
    on_block = partial(_apply_to_block, apply=partial(Tagger.tag_all, **options), origin=origin)
    return map_blocks(load_tags, model, on_block, blocks_of(sentences, BLOCK_SENTENCES), workers=workers)


def parse_all(
    parser: Parser, sentences: Iterable[Sentence], *, retag: bool = False, fixed: bool = False, **how: Any
) -> Iterator[Sentence]:
    """Parse sentences in order as :meth:`Parser.parse_all`; those of more than MAX_WORDS words are unchanged.

    ``retag``: a text parser replaces tags. ``fixed``: see :mod:`qsproj.models.constraints`.
    """
    parser = (parser.retagging() if retag else None) or parser
    read, every = tee(sentences)
    short = (sentence for sentence in read if len(sentence) <= MAX_WORDS)
    if not fixed:
        results = parser.parse_all(short, **how)
    else:
        check_takes_parts(parser)
        noted, given = tee(short)
        results = map(with_kept_deps, parser.parse_all(noted, known=known_part, **how), given)
    return (sentence if len(sentence) > MAX_WORDS else next(results) for sentence in every)


def _warn_long(sentences: Iterable[Sentence], parser: Parser, origin: InputSource) -> Iterator[Sentence]:
    """Yield sentences; report those that are not parsed, or with fewer readings, for their length."""
    slow, unparsed = 0, list[int | None]()
    for sentence in sentences:
        at = _line_in(origin, sentence)
        if len(sentence) > MAX_WORDS:
            unparsed.append(at)
        elif (readings := parser.readings_of(sentence)) and readings[0] < readings[1]:
            slow += 1
            if slow <= _LONG_ONES_NAMED:
                tried = f"with {readings[0]} uncertain tags tried, not {readings[1]}"
                words = pluralise(len(sentence), "word")
                place = origin.name if at is None else f"{origin.name}:{at}"
                notice(f"{place}: a sentence of {words}, {tried}; put one sentence on a line")
        yield sentence
    if slow > _LONG_ONES_NAMED:
        notice(f"{origin.name}: {slow - _LONG_ONES_NAMED} more sentences are as long")
    if unparsed:
        long = f"{pluralise(len(unparsed), 'sentence')} of more than {MAX_WORDS:,} words"
        place = f"(first: line {unparsed[0]:,}) written unchanged, not parsed; split them to parse them"
        notice(f"{origin.name}: {long} {place}")


def _line_in(origin: InputSource, sentence: Sentence, word: int = 0) -> int | None:
    """Return the line that a sentence, or a word of it, was read from; several may be parts of one line."""
    return int((sentence.sent_id or "").partition(".")[0]) if origin.is_text else line_of(sentence, word)


def map_blocks(
    load: Callable[[str], Any],
    path: str,
    on_block: Callable[[Callable[[], Any], Item], tuple[list[Result], QsprojError | None]],
    blocks: Iterable[Item],
    *,
    workers: Workers,
) -> Iterator[Result]:
    """Yield the results of ``on_block`` for each block with a model; the first error ends the stream."""
    # Loaded here even if only other processes use it, so that errors of the file are raised at once.
    loaded_once(load, path)
    model = partial(_loaded, load, str(resolved(path)), stamp_of(path))
    for done, problem in map_in_order(partial(on_block, model), blocks, workers=workers):
        yield from done
        if problem is not None:
            raise problem


def loaded_once(load: Callable[[str], Model], path: str) -> Model:
    try:
        return _loaded(load, str(resolved(path)), stamp_of(path))
    except QsprojError:
        return load(path)  # raises the error with the path as given


@lru_cache(maxsize=1)
def _loaded(load: Callable[[str], Any], path: str, stamp: tuple[int, int] | None) -> Any:
    del stamp
    return load(path)


def _apply_to_block(
    model: Callable[[], Any],
    sentences: list[Sentence],
    *,
    apply: Callable[[Any, Iterable[Sentence]], Iterator[Sentence]],
    origin: InputSource,
) -> tuple[list[Sentence], DataError | None]:
    """Return the results for a block up to the first sentence that the model rejects, and its error."""
    done: list[Sentence] = []
    taken: list[Sentence] = []

    def watched() -> Iterator[Sentence]:
        for sentence in sentences:
            taken.append(sentence)
            yield sentence

    try:
        for result in apply(model(), watched()):
            done.append(result)
    except SentenceError as error:
        return done, error.at(origin.name, _line_in(origin, taken[-1], error.word))
    return done, None
