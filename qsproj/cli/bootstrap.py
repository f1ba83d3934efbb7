"""Train a model for raw text of a new language from a bitext and a treebank of the other side.

TREEBANK is CoNLL-U of the source language, --bitext source text and its translation, one sentence per line:
two files, or one file of pairs separated by a tab or |||. The model tokenises, tags and parses.

For several source languages, give --treebank, --bitext and --languages once each, all with the same target.
With --work DIR the result of each stage is kept and computed again only if its inputs or options change: the
same command resumes an interrupted run, and another target language reuses the stages of the source.
"""

import argparse
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qsproj.cli.command_parser import say
from qsproj.cli.options.declare import Heading, Option
from qsproj.cli.options.files import paths_in
from qsproj.cli.options.shared import SEED, WORKERS, provenance_of, values_of, workers_of
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.files import copy_to, open_output, open_text, temporary_folder
from qsproj.corpus.formats import count_sentences
from qsproj.errors import UsageError, pluralise
from qsproj.pipelines.bootstrap.texts import SourceText, check_codes
from qsproj.pipelines.bootstrap.workspace import Workspace
from qsproj.progress import logged, notice

OPTIONS = (
    Option("--treebank FILE ...", "source trees, CoNLL-U", required=True, several=True),
    Option(
        "--bitext FILE ...", "source and target, or a file of pairs (lines, TMX)", required=True, several=True
    ),
    Option(
        "--languages SOURCE TARGET",
        "ISO 639 codes: en de; qaa to qtz for a language without a code",
        required=True,
        several=True,
    ),
    Option("-o, --output MODEL", "where the model is written", required=True),
    Option(
        "--paired-by HOW",
        "line (default), or verse: reference TAB text (MAT 1:5), or Bibles: .usfm, .usx, .zip",
        default="line",
    ),
    Option("--work DIR", "keep the results of stages here, and reuse them"),
    SEED,
    Heading("further inputs"),
    Option("--alignment FILE", "links i-j of an aligner, for a --bitext tokenised by qsproj", several=True),
    Option("--text FILE ...", "raw target text, one sentence a line; include the text to be parsed"),
    Option("--paragraphs", "--text is running text, to be split into sentences", needs="--text"),
    Option("--also FILE ...", "treebanks of other, preferably related languages, for tags and trees"),
    Option("--tagged FILE ...", "target sentences with UPOS, CoNLL-U"),
    Option("--annotated FILE ...", "target sentences with UPOS and trees, at least two"),
    Option("--parsed-source FILE ...", "gold trees of the source side of the bitext"),
    Option("--lexicon FILE", "WORD TAB TAGS, or for lemmas UniMorph: LEMMA TAB FORM TAB FEATURES"),
    Option("--lemmatizer NAME", "simplemma: lemmas of some fifty languages"),
    Heading("further outputs"),
    Option("--trees FILE", "the target trees used for training", writes=""),
    Option("--report FILE", "HTML page with stages, scores and example pairs", writes=""),
    Option("--suggest FILE", "the most informative sentences to annotate next, parsed", writes=""),
    Option(
        "--suggest-sentences N",
        "sentences to suggest; 55, and 100 words, take an hour",
        default=20,
        needs="--suggest",
    ),
    Option("--suggest-words FILE", "words to tag first; for --lexicon, delete unchecked ones", writes=""),
    Heading("advanced"),
    Option("--draws N", "passes over the source trees, each translated anew (default: 6)"),
    Option(
        "--cut [WHEN]",
        "split long pairs at clauses: always (--cut alone), never (default: verses that lose few links)",
        choices=("always", "never"),
    ),
    Option(
        "--learn-text WHEN",
        "learn tags from --text: always, never (default: if it has unknown words)",
        choices=("always", "never"),
        needs="--text",
    ),
    Option("--unspaced SIDE", "sides written without spaces: source, target or both (default: by language)"),
    Option("--show-features", "show FEATS in --report", former="--features", needs="--report"),
    Option("--clean", "at the end, remove files in --work that this run did not use", needs="--work"),
    Option("--verbose", "log all messages of each stage"),
    *WORKERS,
)
EXAMPLES = """examples:
  qsproj bootstrap --treebank en-train.conllu --bitext bitext.en.txt bitext.de.txt --languages en de \\
      --work de.work --report de.html -o de.model
  qsproj bootstrap --treebank en-train.conllu --bitext en.verses wo.verses --paired-by verse \\
      --languages en wo -o wo.model                         # two New Testaments: MAT 1:5 TAB text
"""

FILES = ("also", "tagged", "annotated", "text", "alignment")
WHEN = {"always": True, "never": False}  # --cut and --learn-text; by default the data decide


def run(options: argparse.Namespace) -> None:
    from qsproj.pipelines.bootstrap.bootstrap import BootstrapCall, BootstrapOptions, bootstrap, in_short
    from qsproj.pipelines.bootstrap.report import write_report

    texts = _texts(options)
    target = texts[0].languages[1]
    files: dict[str, Any] = {name: tuple(paths) for name, paths in values_of(options, *FILES).items()}
    inputs = options.treebank, options.bitext, *files.values(), options.parsed_source, options.lexicon
    if "-" in paths_in(inputs):
        raise UsageError("found - (standard input), expected files, which are read several times")
    single = values_of(options, "lexicon", "lemmatizer", "paragraphs", "unspaced", "draws", "seed")
    workers = workers_of(options)
    examples = options.report or options.suggest or options.suggest_words
    with temporary_folder() as temporary:
        workspace = Workspace(Path(options.work or temporary), run=target, say=say)
        if not options.verbose:
            workspace.line_of = in_short
        with _reporting_how_to_resume(workspace, kept=bool(options.work)), logged(say):
            learn_text, parsed = WHEN.get(options.learn_text), tuple(options.parsed_source)
            settings = BootstrapOptions(**files, **single, learn_text=learn_text, parsed=parsed)
            made = bootstrap(
                texts,
                workspace=workspace,
                options=settings,
                workers=workers,
                made=provenance_of(options),
                say=say if options.verbose else _first_of(say),
                suggested_sentences=options.suggest_sentences if examples else None,
            )
            if options.work:
                BootstrapCall(texts, settings).save(workspace.folder)
        copy_to(made.model, options.output)
        for path, text in ((options.suggest, made.suggested), (options.suggest_words, made.suggested_words)):
            if path:
                with open_text(text or "") as lines, open_output(path) as out:
                    out.writelines(lines)
        if options.trees:
            write_conllu(made.described_trees(), options.trees)
            count = count_sentences(made.trees)
            notice(f"{options.trees}: the trees of {count:,} target sentences, used for training")
        if options.report:
            sources = " and ".join(text.languages[0] for text in texts)
            title = f"{options.output}: {sources} to {target}"
            write_report(options.report, made, workspace, title=title, features=options.show_features)
        if options.work:
            _report_unused(workspace, clean=options.clean)
    written = [options.output, options.trees, options.suggest, options.suggest_words, options.report]
    text = options.text[0] if options.text else "TEXT"
    running = " --paragraphs" if options.text and options.paragraphs else ""
    following = f"qsproj parse -m {shlex.quote(options.output)} {shlex.quote(text)}{running} -o parsed.conllu"
    say(f"wrote {', '.join(filter(None, written))}; next: {following}")


def _first_of(say: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that prints only its first line: the number of stages and the estimated time."""
    rest = iter([say])
    return lambda line: next(rest, lambda _: None)(line)


@contextmanager
def _reporting_how_to_resume(workspace: Workspace, *, kept: bool) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if kept and workspace.stages:
            done = pluralise(len(workspace.stages), "stage")
            say(f"{workspace.folder}: {done} kept; the same command continues from here")
        elif not kept:
            say("nothing is kept; with --work DIR, the same command would continue from this stage")
        raise
    finally:
        workspace.remove_if_empty()


def _report_unused(workspace: Workspace, *, clean: bool) -> None:
    if unused := workspace.unused():
        what = f"{_amount(unused)} of other runs of {workspace.run}"
        if clean:
            workspace.remove_unused()
        done = f"removed {what}" if clean else f"also holds {what}, which --clean removes"
        say(f"{workspace.folder}: {done}")
    others, runs = workspace.of_other_runs()
    if others:
        say(f"{workspace.folder}: also holds {_amount(others)} of other runs, which stay: {runs}")


def _amount(paths: Sequence[Path]) -> str:
    size = sum(path.stat().st_size for path in paths)
    return f"{pluralise(len(paths), 'file')} ({size / 1e6:.0f} MB)"


def _texts(options: argparse.Namespace) -> tuple[SourceText, ...]:
    counts = len(options.treebank), len(options.bitext), len(options.languages)
    if len(set(counts)) > 1:
        found = "{} --treebank, {} --bitext and {} --languages".format(*counts)
        raise UsageError(f"found {found}; give all three once for each source language")
    check_codes(options.languages)
    given = (map(tuple, one) for one in (options.treebank, options.bitext, options.languages))
    how = {"paired_by": options.paired_by, "cut": WHEN.get(options.cut)}
    return tuple(
        SourceText(treebanks=trees, bitext=files, languages=pair, **how)
        for trees, files, pair in zip(*given, strict=True)
    )
