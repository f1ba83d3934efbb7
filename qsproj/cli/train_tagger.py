"""Train a part-of-speech tagger on treebanks.

The tagger learns UPOS and, if the treebanks have them, lemmas, XPOS and features (FEATS), or the --columns.
With --text it also learns from plain text of the same language, which improves accuracy on a new domain. With
a few hundred sentences and a translated text, `qsproj project-tags --tagged` is more accurate.

If the treebanks contain the original text (SpaceAfter=No in MISC, or "# text"), tokenisation, multiword
tokens such as German zum = zu dem, and sentence splitting are learned, too; otherwise plain text is tokenised
by the rules of the language. In scripts without spaces, words and tags are predicted jointly.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace

from qsproj.cli.options import shared
from qsproj.cli.options.declare import Option
from qsproj.corpus.formats import open_raw_text
from qsproj.corpus.language.lexicon import lexicon_of
from qsproj.corpus.text import tokenize
from qsproj.errors import UsageError
from qsproj.pipelines.treebanks import read_tagged
from qsproj.progress import notice

OPTIONS = (
    Option("TREEBANK ...", "CoNLL-U files with UPOS", dest="treebanks"),
    Option("-o, --output MODEL", "where the model is written", required=True),
    shared.language(of="language of plain text"),
    Option("--text FILE ...", "plain text to train on as well", former="--raw"),
    Option("--dev FILE", "keep the best epoch on this treebank"),
    Option("--lexicon FILE", "UniMorph lines, lemma TAB form TAB features, for lemmas"),
    shared.lemmatizer(others="the lexicon, if the treebanks have no lemmas"),
    Option("--rules", "tokenise by rules even if the treebanks contain the text; better below 200 sentences"),
    shared.columns(use="learn", names="upos, xpos, feats, lemma", usual="treebanks; upos is always learned"),
    shared.SEED,
)
EXAMPLES = """examples:
  qsproj train-tagger corpora/de.conllu -o de.tagger --language de
  qsproj train-tagger a.conllu b.conllu --text news.de.txt.xz --language de --dev dev.conllu -o de.tagger
  qsproj train-tagger upos.conllu --lexicon unimorph/deu -o de.tagger   # lemmas where the treebank has none
  qsproj train-tagger upos.conllu --lemmatizer simplemma --language de -o de.tagger
  qsproj tag -m de.tagger text.txt -o de.conllu
"""

# Report a column present in a smaller share of sentences. Not 1: headings and interjections have no features.
MOST_SHOW = 0.8


def run(options: argparse.Namespace) -> None:
    from qsproj.models.morphology import morphology_training
    from qsproj.models.tagging.tagger_training import accuracy, train_tagger
    from qsproj.pipelines.tagging.target_words import treebank_tokens

    lexicon = lexicon_of(options.lexicon, options.lemmatizer, options.language, tags=False)
    shared.warn_trained_on_dev(options)
    rng = shared.rng_of(options)
    dev = list(read_tagged([options.dev])) if options.dev else []
    sentences = list(read_tagged(options.treebanks))
    if lexicon.more is not None and "lemma" in morphology_training.columns_shown(sentences):
        raise UsageError("--lemmatizer: the treebanks have lemmas, which are learned; leave it out")
    tokens = treebank_tokens(sentences, language=options.language, seed=options.seed, rules=options.rules)
    tokenizer = tokens.get("tokenizer")
    raw = _raw_words(options.text, options.language, tokenizer.words if tokenizer else None)
    tagger = train_tagger(sentences, rng=rng, raw=raw, dev=dev, language=options.language)
    morphology = morphology_training.train_morphology(
        sentences,
        rng=shared.rng_of(options),
        columns=None if options.columns is None else [name for name in options.columns if name != "upos"],
        inflections=lexicon.inflections_of(sentences),
    )
    tagger = replace(tagger, morphology=morphology, **tokens)
    words = sum(map(len, sentences))
    if morphology is not None:
        notice(f"also learned: {', '.join(morphology.columns)}")
    for column, shown in morphology_training.sentences_that_show(sentences).items():
        wanted = options.columns is None or column in options.columns
        if wanted and 0 < shown < MOST_SHOW * len(sentences):
            teach = "they alone teach it" if column in tagger.columns else "too few to learn it"
            notice(f"{shown:,} of {len(sentences):,} sentences have {column}: {teach}")
    how = "by rules of the language, as the treebank lacks the original text"
    if options.rules or tokenizer:
        how = "by rules" if options.rules else "as the treebank shows"
    notice(f"plain text will be tokenised {how}")
    tagger.save(options.output, made=shared.provenance_of(options, sentences=len(sentences), words=words))
    if dev:
        notice(f"{options.dev}: UPOS accuracy {accuracy(tagger, dev):.2f}")


def _raw_words(
    paths: list[str], language: str | None, words: Callable[[str], list[str]] | None
) -> Iterator[list[str]]:
    if paths and language is None and words is None:
        raise UsageError("--text needs --language CODE, to tokenise the text")
    for path in paths:
        with open_raw_text(path) as lines:
            for line in lines:
                yield words(line) if words else tokenize(line, language or "")
