"""Train a tagger by projecting tags through word alignments, without tagged sentences of the language.

SOURCE is the translation in CoNLL-U with UPOS, TARGET the text to learn from, ALIGNMENT their links, best
with weights (`qsproj align --weights --threshold 0.15`). A few tagged sentences (--tagged), a lexicon and raw
text improve the tagger. From 200 tagged sentences on, it also learns to tokenise as they do, if they contain
the original text (SpaceAfter=No).

If a source has features (FEATS), the tagger also learns those that are marked on target forms, more
accurately if the source has trees: a noun then gets the definiteness of its article, an adjective the number
of its noun. Unmarked features are not written. Lemmas are learned from a UniMorph --lexicon, the --tagged
sentences or a --lemmatizer; without these the column stays empty.
"""

import argparse

from qsproj.cli.options import shared
from qsproj.cli.options.declare import Option
from qsproj.cli.options.pair_files import ALIGNMENT_FORMAT, files_of_sources
from qsproj.corpus.pairs.aligned import AlignedFiles, AlignedText
from qsproj.errors import UsageError
from qsproj.pipelines.treebanks import read_tagged
from qsproj.progress import notice

LEARNS_FROM = ("source", "target", "alignment")
OPTIONS = (
    Option(
        "--source FILE",
        "translation in CoNLL-U with UPOS; to combine several, give --source and --alignment for each, "
        "the one with the largest treebank first: it decides which tags frequent words may have",
        required=True,
        several=True,
    ),
    Option(
        "--target FILE",
        "CoNLL-U, or text, one sentence per line, tokenised by --language, else at white space; one for "
        "all sources, or one for each",
        required=True,
        several=True,
    ),
    Option("--alignment FILE", "links of source and target, best with weights", required=True, several=True),
    ALIGNMENT_FORMAT,
    shared.PAIRING,
    Option("-o, --output MODEL", "where the tagger is written", required=True),
    shared.language(of="target language"),
    Option("--tagged FILE ...", "target sentences with UPOS; few are enough"),
    Option("--lexicon FILE", "words and their tags, WORD TAB TAGS; or UniMorph: lemma TAB form TAB features"),
    shared.lemmatizer(others="tagged sentences and lexicon"),
    Option(
        "--text FILE ...",
        "raw target text, a sentence a line, best with the text to tag; improves tags of rare words",
    ),
    Option(
        "--also FILE ...", "treebanks of related languages, which vote on tags if they agree with the tagger"
    ),
    Option("--paragraphs", "--text is running text, to be split into sentences", needs="--text"),
    shared.columns(use="learn", names="upos, feats, lemma", usual="sources; upos is always learned"),
    shared.SEED,
)
EXAMPLES = """examples:
  qsproj align en.conllu de.txt --tokenize en de --weights --threshold 0.15 -o en-de.pharaoh
  qsproj project-tags --source en.conllu --target de.txt --alignment en-de.pharaoh --language de -o de.tagger
  qsproj project-tags --source en.conllu --alignment en-de.pharaoh --target de.conllu \\
      --source nl.conllu --alignment nl-de.pharaoh --tagged few.conllu --lexicon de.tsv -o de.tagger
  qsproj tag -m de.tagger text.txt -o de.conllu
"""


def run(options: argparse.Namespace) -> None:
    from qsproj.alignment.reading import is_conllu
    from qsproj.corpus.language.lexicon import lexicon_of
    from qsproj.corpus.pairs.translations import join_same_targets
    from qsproj.models.morphology.morphology_training import columns_shown
    from qsproj.pipelines.tagging.tags_through_links import PROJECTED_COLUMNS, project_tags
    from qsproj.pipelines.tagging.target_words import raw_sentences, segmented_sentences, with_target_words
    from qsproj.pipelines.treebanks import read_treebanks

    rows, targets = files_of_sources(options), options.target
    carried = "upos", *PROJECTED_COLUMNS
    if missing := [column for column in options.columns or () if column not in carried]:
        raise UsageError(f"--columns: links do not carry {missing[0]}, they carry {', '.join(carried)}")
    if options.text and options.language is None:
        raise UsageError("--text needs --language CODE, to tokenise the text")
    if len(rows) > 1 and "-" in targets:
        raise UsageError("with several sources the target is read several times; name a file in place of -")
    if options.pair != shared.PAIRING.default and not any(map(is_conllu, targets)):
        raise UsageError("--pair is for targets in CoNLL-U; lines of plain text are paired by order")
    form, code = options.alignment_format, options.language
    texts = [
        AlignedFiles(*row, form, options.pair) if is_conllu(row[1]) else AlignedText(*row, form, code)
        for row in rows
    ]
    few = list(read_tagged(options.tagged))
    lexicon = lexicon_of(options.lexicon, options.lemmatizer, options.language)
    if "lemma" in (options.columns or ()) and not lexicon.has_lemmas and "lemma" not in columns_shown(few):
        lists = "a --lexicon of lemma, form and features, or a --lemmatizer"
        raise UsageError(f"--columns: no source of lemmas; give --tagged sentences that have them, {lists}")
    # The standard input is read once.
    first = () if "-" in targets else (pair.target for pair in texts[0])
    shown = segmented_sentences(few, first, language=options.language)
    how = shared.values_of(options, "language", "seed")
    raw = raw_sentences(options.text, paragraphs=options.paragraphs, tagged=shown, **how)
    projected = project_tags(
        join_same_targets(texts),
        rng=shared.rng_of(options),
        columns=PROJECTED_COLUMNS if options.columns is None else options.columns,
        tagged=few,
        lexicon=lexicon,
        relatives=read_treebanks(options.also),
        raw=[sentence.forms for sentence in raw],
        language=options.language,
    )
    tagger = with_target_words(projected.tagger, few, shown=shown, **how)
    tagger.save(options.output, made=shared.provenance_of(options))
    for line in projected.report:
        notice(line)
