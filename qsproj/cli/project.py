"""Train a parser of another language by projecting source trees through word alignments.

SOURCE is CoNLL-U with trees (gold, or from `qsproj parse --confidence`), TARGET its translation with UPOS
(from `qsproj tag`), ALIGNMENT their word links (from `qsproj align --weights --threshold 0.15`).
"""

import argparse
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

from qsproj.cli.options import shared
from qsproj.cli.options.declare import Heading, Option, of_fields, only_with
from qsproj.cli.options.pair_files import ALIGNMENT_FORMAT, files_of_sources
from qsproj.corpus.editing import warn_emptied
from qsproj.corpus.formats import read_all, read_sentences, write_sentences
from qsproj.corpus.pairs.aligned import AlignedFiles, TargetAlone
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, pluralise
from qsproj.models.dmv.dmv_options import QgOptions
from qsproj.pipelines.projection import methods
from qsproj.pipelines.projection.methods import DEFAULT_METHOD, METHODS, RUN, Sources
from qsproj.pipelines.treebanks import read_treebanks
from qsproj.progress import notice

LEARNS_FROM = ("source", "target", "alignment", "annotated")
EXAMPLES = """examples:
  qsproj project --source corpora/en.conllu --target corpora/de.conllu --treebank corpora/en.conllu \\
      --alignment corpora/en-de.pharaoh -o de.model --trees de.projected.conllu
  qsproj project --source en.parsed.conllu --target de.tagged.conllu --alignment en-de.pharaoh \\
      --prior en.delex --prior neighbours.delex -o de.model     # from qsproj train --features delexicalised
  qsproj project --target de.tagged.conllu --method em -o de.model    # tags alone, no source: the baseline
  qsproj project --source en.conllu --alignment en-de.pharaoh --source sv.conllu --alignment sv-de.pharaoh \\
      --target de.tagged.conllu -o de.model                          # two languages vote
"""

# Default options of EM, by method.
_EM = {"em": methods.EM_FROM_TAGS, "hard-em": methods.EM_FROM_ARCS, "qg": QgOptions()}


def _defaults(field: str) -> str:
    by_method = {method: getattr(options, field) for method, options in _EM.items()}
    if len(set(by_method.values())) == 1:
        return f"default: {by_method['em']}"
    return f"default: {', '.join(f'{method} {value}' for method, value in by_method.items())}"


_METHODS = "; ".join(f"{name}: {method.summary}" for name, method in METHODS.items())
OPTIONS = (
    Option("--source FILE", "source trees, CoNLL-U; optional for --method em", several=True),
    Option("--target FILE", "target sentences with UPOS, CoNLL-U", required=True, several=True),
    Option("--alignment FILE", "word links, one file for each --source", several=True),
    ALIGNMENT_FORMAT,
    shared.PAIRING,
    Option("-o, --output MODEL", "where the parser is written", required=True),
    Option("--trees FILE", "also write the target sentences with their projected trees", writes=""),
    Option("--enhanced", "also project enhanced dependencies (DEPS)"),
    Option(
        "--method NAME", f"{_METHODS} (default: {DEFAULT_METHOD})", default=DEFAULT_METHOD, choices=METHODS
    ),
    shared.SEED,
    Heading("--method soft"),
    Option(
        "--prior MODEL", "a parser of --features delexicalised; several vote (default: none)", several=True
    ),
    Option("--treebank FILE ...", "gold source trees to train the prior on, for each --source", several=True),
    Option("--also FILE ...", "with --treebank: treebanks of other, preferably related languages, vote too"),
    Option(
        "--tagger MODEL", "the tagger of --target, from qsproj project-tags, for conventions of the target"
    ),
    Option("--draws N", "passes over the prior's trees, each translated anew (default: 6)"),
    Option("--annotated FILE ...", "two or more target trees in the source's style, to fine-tune the parser"),
    *of_fields(methods.SoftProjectionOptions(), "sentences", "share"),
    Heading("--method hard"),
    Option(
        "--completion NAME",
        "none: one-to-one links (default); hwa: Direct Projection Algorithm of Hwa et al.",
        default=methods.HardProjectionOptions().completion,
        choices=("none", "hwa"),
    ),
    Option("--nonprojective", "arcs may cross (default: no); also for --method soft"),
    Option("--epochs N", "passes over the trees", default=methods.HARD_EPOCHS),
    Heading("--method em, hard-em, qg"),
    Option("--iterations N", f"iterations of EM ({_defaults('iterations')})", least=0),
    Option(
        "--start NAME",
        f"initial model: trees, harmonic (short arcs), uniform ({_defaults('start')})",
    ),
    Option(
        "--punctuation NAME",
        f"strip: attach punctuation by rule; keep: treat it as any word ({_defaults('punctuation')})",
        choices=("keep", "strip"),
    ),
    Option("--max-words N", f"words of the longest training sentences ({_defaults('max_words')})", least=1),
    *shared.checkpoint(kept="the state of EM after each iteration"),
    Heading("parallelism, --method em, hard-em, qg; does not change results"),
    *shared.WORKERS[1:],
)


def add_conditions(parser: argparse.ArgumentParser) -> None:
    # All methods draw random numbers, not only those that read the seed itself.
    for option in {one for method in METHODS.values() for one in method.reads} - {"seed"}:
        readers = ", ".join(name for name, method in METHODS.items() if option in method.reads)
        only_with(parser, f"--method {readers}", option)


def run(options: argparse.Namespace) -> None:
    from qsproj.models.checkpoint import EMRun
    from qsproj.models.enhanced.enhancer import check_enhanced
    from qsproj.models.parser import load_tags
    from qsproj.pipelines.projection.projected_graphs import project_graphs

    method, sources = METHODS[options.method], _sources(options)
    given = shared.values_of(options, *(one for one in method.reads if one not in RUN and one in options))
    if "checkpoint" in method.reads:
        checkpoint = shared.checkpoint_of(options)
        if checkpoint is not None and options.iterations == 0:
            raise UsageError(
                "--checkpoint keeps iterations of EM, found --iterations 0; leave one of them out"
            )
        given["run"] = EMRun(workers=shared.workers_of(options), checkpoint=checkpoint)
    if "treebank" in given:
        given["treebank"] = [read_treebanks(paths) for paths in options.treebank]
        given["also"] = read_treebanks(options.also)
        given["tagger"] = load_tags(options.tagger) if options.tagger else None
        given["annotated"] = list(read_all(options.annotated))
    rng = shared.rng_of(options)
    if options.enhanced:
        check_enhanced(pair.source for source in sources for pair in source)
    result = method.project(sources, rng=rng, **given)
    if options.enhanced:
        result = project_graphs(result, sources, rng=rng)
    if options.trees:

        def trees(given: Iterator[Sentence]) -> Iterable[Sentence]:
            deque(given, maxlen=0)
            return result.trees()

        targets = chain.from_iterable(map(read_sentences, options.target))
        write_sentences(warn_emptied(trees, targets, options.target[0]), options.trees)
    target = () if options.target[0] == "-" else read_sentences(options.target[0])
    result.parser.save(
        options.output, made=shared.provenance_of(options, languages=shared.languages_of(target))
    )
    for line in result.report:
        notice(line)


def _sources(options: argparse.Namespace) -> Sources:
    sources, targets, alignments = options.source, options.target, options.alignment
    again = options.method == "soft" or options.trees or options.enhanced
    if "-" in (*sources, *targets, *alignments) and again:
        several = "--method soft, --trees and --enhanced read everything several times"
        raise UsageError(f"{several}; name files in place of -")
    if not sources and not alignments and options.method == "em" and len(targets) == 1:
        return (TargetAlone(targets[0]),)
    if not sources or not alignments:
        missing = "--source" if not sources else "--alignment"
        expected = "source trees and their links to the target; name them (--source, --alignment)"
        alone = "leave both out and learn from the tags of one target: --method em"
        raise UsageError(f"found no {missing}, expected {expected}, or {alone}")
    rows = files_of_sources(options)
    if options.treebank and (options.prior or len(options.treebank) != len(sources)):
        found = f"{len(options.treebank)} --treebank for {pluralise(len(sources), 'source')}"
        found += " and --prior" if options.prior else ""
        raise UsageError(f"found {found}, expected --treebank for each --source and no --prior")
    if options.also and not options.treebank:
        raise UsageError("--also votes beside the treebanks of the sources; name these: --treebank")
    if options.prior and options.draws:
        raise UsageError("--draws trains the prior; leave out --prior, or --draws")
    if len(sources) > 1 and options.method != "soft":
        raise UsageError(f"--method {options.method} reads one --source; only --method soft combines several")
    return tuple(AlignedFiles(*row, options.alignment_format, options.pair) for row in rows)
