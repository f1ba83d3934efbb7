"""Draw trees, or aligned sentence pairs, as a web page, an image (SVG, PNG) or a document (PDF).

FILE is CoNLL-U. With --target and --alignment each sentence is drawn above its translation, with the word
links between them; with --versus, trees of FILE are compared with other trees of the same words, such as gold
trees. The opacity of arcs shows their probability if MISC has ArcProb (`qsproj parse --confidence`), that of
links their weight; probabilities below 90% are printed beside the relation. Sentences are paired by
parallel_id, else by sent_id, else by order.

A page can be searched for words, relations and improbable arcs, and describes the arc under the pointer. An
image shows several sentences one below the other; a document has one page per sentence.
"""

import argparse
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from qsproj.cli.options.declare import Heading, Option, only_where
from qsproj.cli.options.pair_files import OPTIONAL_ALIGNMENT_FORMAT
from qsproj.cli.options.shared import PAIRING
from qsproj.corpus.editing import line_of
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.messages import first_difference
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.pairs.pairing import pair_files
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.errors import DataError, SentenceError, UsageError
from qsproj.evaluation.token_alignment import aligned_words, laid_out
from qsproj.progress import notice
from qsproj.viz.arcs import tree_arcs
from qsproj.viz.drawing import Drawing, check_format, format_of, save_drawings
from qsproj.viz.trees import LINE_WIDTH, draw_pair, draw_tree, draw_versus, with_features_shown

OPTIONS = (
    Option("[FILE]", "CoNLL-U, .gz or .xz", default="-"),
    Option("--target FILE", "translations, CoNLL-U"),
    Option("--alignment FILE", "word links between FILE and the translations"),
    OPTIONAL_ALIGNMENT_FORMAT,
    Option("--versus FILE", "other trees of the same text; different arcs and tags are highlighted"),
    Option("--show-features", "show the values of FEATS beside each tag", former="--features"),
    Option("--width PIXELS", "width of lines; 0: never wrap (default: the window's width, or 1200)", least=0),
    Option("--format NAME", "html, svg, png or pdf (default: by the extension of the output, else html)"),
    PAIRING,
    Option("-o, --output FILE", "page, image or document", default="-"),
    Heading("sentences", "which are drawn (default: all)"),
    Option("--sentence ID", "only this sentence, by sent_id, else by number; may be repeated", several=True),
    Option("--relation NAME", "only sentences with this relation: nsubj:pass, or nsubj with its subtypes"),
    Option("--below P", "only sentences with an arc less probable than P"),
)
EXAMPLES = """examples:
  qsproj draw corpora/en.conllu -o trees.html
  qsproj draw corpora/en.conllu --sentence sample-001 -o tree.svg
  qsproj draw corpora/en.conllu --target corpora/de.conllu --alignment corpora/en-de.pharaoh -o pairs.html
  qsproj draw parsed.conllu --show-features -o trees.html                   # NOUN Nom.Sing below each word
  qsproj draw parsed.conllu --versus gold.conllu -o differences.html
  qsproj parse -m en.model new.conllu --confidence | qsproj draw > new.html
  qsproj draw new.conllu --relation nsubj --below 0.5 -o unsure-subjects.pdf  # pip install 'qsproj[images]'
"""


def add_conditions(parser: argparse.ArgumentParser) -> None:
    only_where(parser, "--target or --versus", lambda given: given.target or given.versus, "pair")


def run(options: argparse.Namespace) -> None:
    chosen_format = options.format or format_of(options.output)
    check_format(chosen_format, options.output)
    if (options.target is None) != (options.alignment is None):
        raise UsageError("--target and --alignment go together: give both, or neither")
    if options.versus is not None and options.target is not None:
        raise UsageError("--versus compares trees of one language; leave out --target and --alignment")
    name, drawings = name_of(options.file), _drawings(options)
    # Report errors of the first sentence before any output.
    first = list(itertools.islice(drawings, 1))
    if not first:
        given = [f"--{name}" for name in ("relation", "below") if getattr(options, name) is not None]
        parse = "" if options.below is None else ", or parse with --confidence, if MISC has no ArcProb"
        raise UsageError(f"{name}: found no such arc; leave out {' or '.join(given)}{parse}")
    drawings = _warn_no_tree(itertools.chain(first, drawings), name)
    about = ""
    if options.versus:
        about = f"above the words: {options.file}; below, where it differs: {options.versus}"
    save_drawings(options.output, chosen_format, name, drawings, about=about, fit=options.width is None)


def _warn_no_tree(drawings: Iterable[tuple[str, Drawing]], name: str) -> Iterator[tuple[str, Drawing]]:
    has_arcs = False
    for sentence, drawing in drawings:
        has_arcs = has_arcs or 'class="arc' in drawing.markup
        yield sentence, drawing
    if not has_arcs:
        notice(f"{name}: found no tree: no word has a head; parse it first (qsproj parse)")


def _drawings(options: argparse.Namespace) -> Iterator[tuple[str, Drawing]]:
    """Yield the name and drawing of each selected sentence or pair; UsageError if a named one is missing."""

    def shown(sentence: Sentence) -> Sentence:
        return with_features_shown(sentence) if options.show_features else sentence

    width = LINE_WIDTH if options.width is None else options.width or None
    items: Iterable[tuple[Sentence, Callable[[], Drawing]]]
    if options.versus is not None:
        versus = pair_files(options.file, options.versus, pairing=options.pair)
        draw_both = partial(_versus, width=width, path=options.versus)
        items = ((one, partial(draw_both, shown(one), shown(other))) for one, other in versus)
    elif options.target is not None:
        form, how = options.alignment_format, options.pair
        pairs = AlignedFiles(options.file, options.target, options.alignment, form, how)
        shown_pairs = (replace(one, source=shown(one.source), target=shown(one.target)) for one in pairs)
        items = ((pair.source, partial(draw_pair, pair, width=width)) for pair in shown_pairs)
    else:
        items = ((one, partial(draw_tree, shown(one), width=width)) for one in read_sentences(options.file))
    missing = dict.fromkeys(options.sentence)
    numbered = dict[str, tuple[str, Drawing | None]]()  # for numbers that are no sent_id further down, either
    for number, (sentence, draw) in enumerate(items, start=1):
        name = sentence.sent_id or str(number)
        try:
            is_named = not options.sentence or name in options.sentence
            is_numbered = str(number) in options.sentence
            drawn = draw() if (is_named or is_numbered) and _has_such_arc(sentence, options) else None
        except SentenceError as error:
            if options.target is not None:  # the error may be on either side
                raise error.at(f"{options.file}, {options.target}", None) from error
            raise error.at(options.file, line_of(sentence, error.word)) from error
        missing.pop(name, None)
        if is_numbered and not is_named:
            numbered[str(number)] = name, drawn
        elif drawn is not None:
            yield name, drawn
    if unknown := [one for one in missing if one not in numbered]:
        found = f"found no sentence {unknown[0]!r}"
        raise UsageError(f"{name_of(options.file)}: {found}; check its sent_id or number")
    for name, drawn in map(numbered.__getitem__, missing):
        if drawn is not None:
            yield name, drawn


def _has_such_arc(sentence: Sentence, options: argparse.Namespace) -> bool:
    if options.relation is None and options.below is None:
        return True
    wanted = options.relation
    return any(
        (wanted is None or arc.relation == wanted or arc.relation.startswith(f"{wanted}:"))
        and (options.below is None or (arc.confidence is not None and arc.confidence < options.below))
        for arc in tree_arcs(sentence)
    )


def _versus(sentence: Sentence, other: Sentence, *, width: float | None, path: str) -> Drawing:
    """Draw two trees of one text, one below the other if their words differ; ``path``: the second file."""
    if sentence.forms == other.forms:
        return draw_versus(sentence, other, width=width)
    texts = laid_out([sentence]), laid_out([other])
    if texts[0].characters != texts[1].characters:
        of = f" of {other.sent_id}" if other.sent_id else ""
        number, expected, found = first_difference(sentence.forms, other.forms)
        remedy = "compare trees of the same text"
        raise DataError(path, None, f"{found} as word {number}{of}", expected, remedy)
    links = [(one + 1, two + 1) for one, two in aligned_words(*texts)]
    pair = SentencePair(sentence, other, make_alignment(len(sentence), len(other), links))
    return draw_pair(pair, width=width)
