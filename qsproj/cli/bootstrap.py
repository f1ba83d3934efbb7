"""From a bitext and a treebank of one side to a model that reads raw text of the other side.

TREEBANK is CoNLL-U of the source language, --bitext its text with the translation, one sentence a line: two
files, or one of pairs parted by a tab or |||. Nothing of the target needs to be annotated. The model cuts
text into words, tags and parses: qsproj parse -m MODEL TEXT.

Stages: train a tagger and a parser of the source (source), cut the text into words (words), align these
(links), parse the source side (trees), learn the target's tags through the links, and features that its forms
show (tagger), tag the target side (tagged), train parsers on TREEBANK with its words translated by the links
(prior), project the trees and train on them (parser), three times where pairs are few, put all into one file
(model); for --report, --suggest and --suggest-words, parse some of the text (examples).
Each says in a line what it did. With --work DIR each is kept, and made again only when its inputs, its
options or the version of the stage have changed: after a kill, the same command goes on. A second language
with the same DIR finds the source's stages made. All of DIR may be deleted: models are whole without it, and
what is missing is made again. What earlier runs of this language left there and this one did not use is
counted in the end; --clean removes it, and leaves alone what runs of other languages use.

Several source languages: --treebank, --bitext and --languages once for each, all with the same target.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qsproj.cli.options import common
from qsproj.cli.options.common import made_by
from qsproj.corpus.files import temporary_folder
from qsproj.errors import DataError, UsageError, check_name, counted
from qsproj.progress import logged

if TYPE_CHECKING:
    from qsproj.pipelines.bootstrap.texts import SourceText
    from qsproj.pipelines.bootstrap.workspace import Workspace

EXAMPLES = """examples:
  qsproj bootstrap --treebank en-train.conllu --bitext bitext.en.txt bitext.de.txt --languages en de \\
      --work de.work --report de.html -o de.model
  qsproj parse -m de.model new.de.txt -o new.de.conllu
  qsproj bootstrap --treebank en-train.conllu --bitext en-sv.tsv.xz --languages en sv \\
      --also da.conllu no.conllu de.conllu -o sv.model      # other languages' treebanks vote
  qsproj bootstrap --treebank en-train.conllu --bitext en-de.tsv --languages en de \\
      --tagged hundred.de.conllu -o de.model                # what little there is of the target
  qsproj bootstrap --treebank en.conllu --bitext en.txt gl.txt --languages en gl \\
      --treebank es.conllu --bitext es-gl.tsv --languages es gl -o gl.model
  qsproj bootstrap --treebank en-train.conllu --bitext en.verses wo.verses --paired-by verse \\
      --languages en wo -o wo.model                         # two New Testaments: MAT 1:5 TAB text
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_options(parser)("""
        --treebank FILE+...!: source trees, CoNLL-U
        --bitext FILE+...!: source and target text, one sentence a line, or one file of pairs (lines, or TMX)
        --paired-by HOW=line: line: line i translates line i (default); verse: two files of reference TAB text
            (MAT 1:5) in any order, or two Bibles: .usfm, .sfm, .usx, or .zip of these
        --cut: cut long pairs where clauses end on both sides and lengths agree, as verses always are
        --languages SOURCE TARGET...!: their codes of ISO 639, two or three letters: en de; qaa to qtz for a
            language without one
        -o --output MODEL!: where the model is written
        --also FILE+: treebanks of any other languages, to vote; they help where pairs are few
        --parsed-source FILE+: trees over the very text of a source side, CoNLL-U, taken as they are: of a
            Bible, PROIEL's Greek, Latin, Gothic
        --tagged FILE+: target sentences with UPOS, CoNLL-U
        --annotated FILE+: target sentences with UPOS and trees
        --lexicon FILE: target words and the tags they may have, WORD TAB TAGS; or, to learn lemmas, lines of
            UniMorph, LEMMA TAB FORM TAB FEATURES
        --lemmatizer NAME: simplemma (pip install 'qsproj[lemmas]'): lemmas of words that no lexicon and no
            tagged sentence tells, in some fifty languages
        --text FILE+: raw text of the target, one sentence a line, that to be parsed among it: tags are
            learned from it, too; how many of its words the bitext does not have is told
        --paragraphs: --text is running text: its sentences are found as --tagged has them, or by rules
        --unspaced SIDE: source, target or both: written without spaces, see `qsproj align --help`
            (default: target where its language is, such as Chinese)
        --draws N[1..]: the parser is the mean of N, each with other translations of TREEBANK and the pairs in
            another order: about half a point better with 3; with --jobs at the same time (default: 3 from
            fewer than 20,000 pairs, else 1)
        --trees FILE: also write the target trees that were learned from
        --suggest FILE: also write the sentences that are best annotated next, as parsed: of --text, where
            given
        --suggest-sentences N[1..]=20: how many sentences --suggest writes; an hour is about 55 and 100 words
        --suggest-words FILE: also write the words whose tags would teach most, with the model's tags, counts
            and an example; corrected, the file is a --lexicon
        --report FILE: also write a page of HTML: stages, figures, pairs
        --features: pairs on the page of --report show values of features (FEATS)
        --work DIR: keep each stage here, and go on from what is kept
        --clean: in the end, remove from --work what only earlier runs of this language used
    """)
    common.add_seed(parser)
    common.add_workers(parser)


def run(options: argparse.Namespace) -> None:
    from qsproj.pipelines.bootstrap.bootstrap import BootstrapOptions, bootstrap
    from qsproj.pipelines.bootstrap.call import BootstrapCall
    from qsproj.pipelines.bootstrap.report import write_report
    from qsproj.pipelines.bootstrap.workspace import Workspace, copy_to

    texts = _texts(options)
    _check_outputs(options)
    _check_what_is_annotated(options)
    workers = common.workers_of(options)
    with temporary_folder() as temporary:
        workspace = Workspace(Path(options.work or temporary), run=_target(options), say=_say)
        with _telling_how_to_go_on(workspace, kept=bool(options.work)), logged(_say):
            files = common.values_of(options, "also", "tagged", "annotated", "text")
            files |= {name: tuple(paths) for name, paths in files.items()}
            single = common.values_of(
                options, "lexicon", "lemmatizer", "paragraphs", "unspaced", "draws", "seed"
            )
            call = BootstrapCall(
                texts, BootstrapOptions(**files, **single, parsed=tuple(options.parsed_source))
            )
            if options.work:
                call.save(workspace.folder)
            made = bootstrap(
                texts,
                workspace=workspace,
                options=call.options,
                made=made_by(options),
                with_examples=bool(options.report or options.suggest or options.suggest_words),
                suggested_sentences=options.suggest_sentences,
                workers=workers,
                say=_say,
            )
        copy_to(made.model, options.output)
        if options.trees:
            copy_to(made.trees, options.trees)
        if options.suggest:
            copy_to(made.suggested or "", options.suggest)
        if options.suggest_words:
            copy_to(made.suggested_words or "", options.suggest_words)
        if options.report:
            title = (
                f"{options.output}: {' and '.join(text.languages[0] for text in texts)} to {_target(options)}"
            )
            write_report(options.report, made, workspace, title=title, features=options.features)
        if options.work:
            _tell_unused(workspace, clean=options.clean)


@contextmanager
def _telling_how_to_go_on(workspace: Workspace, *, kept: bool) -> Iterator[None]:
    """Have whoever stops the work know what becomes of it."""
    try:
        yield
    except KeyboardInterrupt:
        if kept and workspace.stages:
            done = counted(len(workspace.stages), "stage")
            _say(f"{workspace.folder}: {done} kept; the same command goes on from here")
        elif not kept:
            _say("nothing is kept; with --work DIR, the same command would go on from the stage it was in")
        raise


def _tell_unused(workspace: Workspace, *, clean: bool) -> None:
    """Say what is kept of other runs, or remove what is of the same language."""
    unused = workspace.unused()
    if unused:
        what = f"{_amount(unused)} of other runs of {workspace.run}"
        if clean:
            workspace.remove_unused()
            _say(f"{workspace.folder}: removed {what}")
        else:
            _say(f"{workspace.folder}: also holds {what}, which --clean removes")
    others = workspace.of_other_runs()
    if others:
        what = "; ".join(f"{_amount(paths)} of {languages}" for languages, paths in others.items())
        _say(f"{workspace.folder}: also holds stages of other languages, which stay: {what}")


def _amount(paths: Sequence[Path]) -> str:
    size = sum(path.stat().st_size for path in paths)
    return f"{counted(len(paths), 'file')} ({size / 1e6:.0f} MB)"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _target(options: argparse.Namespace) -> str:
    return options.languages[0][1]


def _texts(options: argparse.Namespace) -> tuple[SourceText, ...]:
    from qsproj.corpus.language.recognition import check_known_language
    from qsproj.pipelines.bootstrap.texts import PAIRED_BY, VERSE, SourceText

    check_name("pairing", options.paired_by, PAIRED_BY)

    counts = len(options.treebank), len(options.bitext), len(options.languages)
    if len(set(counts)) > 1:
        found = "{} --treebank, {} --bitext and {} --languages".format(*counts)
        raise UsageError(f"found {found}; give all three once for each source language")
    targets = {target for _, target in options.languages}
    if len(targets) > 1:
        raise UsageError(
            f"found target languages {' and '.join(sorted(targets))}, expected the same with every source"
        )
    for files in options.bitext:
        if len(files) > 2:
            raise UsageError(f"found {len(files)} files after one --bitext, expected two, or one of pairs")
        if len(files) == 1 and options.paired_by == VERSE:
            raise UsageError("found 1 file after --bitext, expected two of verses: --paired-by verse")
    for source, target in options.languages:
        check_known_language(source)
        check_known_language(target)
        if source == target:
            raise UsageError(f"found {source} as source and target language, expected two languages")
    return tuple(
        SourceText(
            treebanks=tuple(trees),
            bitext=tuple(files),
            languages=tuple(pair),
            paired_by=options.paired_by,
            cut=options.cut,
        )
        for trees, files, pair in zip(options.treebank, options.bitext, options.languages, strict=True)
    )


def _check_outputs(options: argparse.Namespace) -> None:
    """Check where results go before hours are spent on them."""
    lists = (options.also, options.tagged, options.annotated, options.parsed_source, options.text)
    inputs = [*itertools.chain(*options.treebank, *options.bitext, *lists), options.lexicon]
    if "-" in inputs:
        raise UsageError("files are read several times, and - (standard input) cannot be; name a file")
    if options.features and not options.report:
        raise UsageError("--features is for the page of a report; name it: --report FILE")
    if options.clean and not options.work:
        raise UsageError(
            "--clean removes from --work what this run does not use; name the folder: --work DIR"
        )
    writes = [
        (path, None) for path in (options.trees, options.suggest, options.suggest_words, options.report)
    ]
    common.check_files(reads=inputs, model=options.output, writes=writes)


def _check_what_is_annotated(options: argparse.Namespace) -> None:
    """Read what late stages learn from before the first one starts: what is wrong with it is told at once."""
    from qsproj.corpus.language.lemmas import lexicon_of
    from qsproj.corpus.sentence import has_tree

    for path in (*options.tagged, *options.annotated):
        sentences = list(common.read_tagged([path]))
        if path in options.annotated and not any(map(has_tree, sentences)):
            raise DataError(path, None, "no head", "trees after --annotated", "give it as --tagged")
    lexicon_of(options.lexicon, options.lemmatizer, _target(options))
