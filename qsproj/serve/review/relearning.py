"""Learning from the sentences and words annotated so far, in a separate process."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.files import copy_to
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.language.lexicon import Lexicon, read_lexicon
from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.errors import SentenceError
from qsproj.models.text.text_parser import TextParser, load_text_parser
from qsproj.pipelines.bootstrap.answers import Answers, learn_answers, text_to_parse
from qsproj.pipelines.bootstrap.bootstrap import BootstrapCall, Bootstrapped, bootstrap
from qsproj.pipelines.bootstrap.suggestions import suggested_sentences, write_words
from qsproj.pipelines.bootstrap.workspace import Workspace
from qsproj.pipelines.projection.hard_projection import through_links
from qsproj.serve.review.correction import certain, is_partial
from qsproj.serve.review.draft import Named
from qsproj.serve.review.inference import completed
from qsproj.serve.review.retraining import Retrained, Reviewed, retrained

# Priority of learning, below that of the server.
NICENESS = 10
# Number of sentences offered for annotation.
OFFERED = 200


@dataclass(frozen=True, slots=True)
class _Base:
    """The bootstrap's files, its model, and the text to be parsed."""

    files: Bootstrapped
    model: TextParser
    raw: list[Sentence]


@dataclass(slots=True)
class Relearning:
    """Teach a bootstrapped model reviewed sentences and a lexicon: the work of a :class:`ComputePool`.

    ``folder``: the workspace, whose stages are reused. ``output``: the path of the model. ``lexicon``: a file
    that grows while the page is open. ``progress``: number of finished steps, and of all, in memory shared
    with the server. Mutable; final.
    """

    call: BootstrapCall
    folder: Path
    output: str
    lexicon: str
    progress: Any = field(default_factory=lambda: RawArray("i", 2))
    _base: _Base | None = None  # read once, before the process of the pool is forked

    @property
    def drafts(self) -> Path:
        return self.folder / f"annotate.{self.call.language}.conllu"

    @property
    def suggestions(self) -> str:
        return str(self.drafts.with_suffix(".words.tsv"))

    @property
    def words(self) -> int:
        return sum(map(len, self._base.raw)) if self._base is not None else 0

    def begin(self, say: Callable[[str], None] = lambda _: None) -> Bootstrapped:
        """Write drafts, words and model where an earlier session did not; return the bootstrap's files.

        ``say`` receives the progress of stages that have to be made.
        """
        options = self.call.options
        workspace = Workspace(self.folder, run=f"annotate-{self.call.language}")
        made = bootstrap(
            self.call.texts,
            workspace=workspace,
            options=options,
            suggested_sentences=OFFERED,
            say=say,
        )
        targets = str(self.drafts), self.suggestions, self.output
        is_new = not self.drafts.exists()
        for path, source in zip(targets, (made.suggested, made.suggested_words, made.model), strict=True):
            if is_new or not Path(path).exists():
                copy_to(source or "", path)
        model = load_text_parser(made.model, remedy="bootstrap again")
        raw = text_to_parse(model, options.text, paragraphs=options.paragraphs, bitext=made.corpora)
        self._base = _Base(made, model, list(raw))
        return made

    def __call__(self, given: Reviewed) -> Retrained:
        """Learn from the reviewed sentences, parse the rest, and list words anew; the page comes first."""
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
        sentences = list(read_sentences(Named(given.content, given.name)))
        self.progress[:] = 0, 2  # learned, parsed
        partly = {index: certain(sentences[index]) for index in given.left if is_partial(sentences[index])}
        by_hand = (pair for at, pair in given.pairs.items() if at in given.left and pair.hand is not None)
        through_links = filter(has_tree, map(project_links_by_hand, by_hand))
        annotated = [*(sentences[index] for index in given.reviewed), *partly.values(), *through_links]
        learned = self.learned(annotated)
        self.progress[0] = 1
        parser = learned.retagging()
        bare = [index for index in given.left if index not in partly]
        parsed = {index: parser.parse(sentences[index], confidence=True) for index in bare}
        for index, known in partly.items():
            # If no tree of the model has all decided cells, that of the file stays.
            with suppress(SentenceError):
                parsed[index] = completed(learned, known)
        new = list(parsed.values())
        ranked = suggested_sentences(new, learned.tagger, annotated, count=max(len(new), 1))
        places = {id(sentence): index for index, sentence in parsed.items()}
        order = [places[id(sentence)] for sentence in ranked]
        self.progress[0] = 2
        summary = {"reviewed": len(given.reviewed), "left": len(given.left)}
        return retrained(parsed, sentences, summary, model=self.output, order=order)

    def learned(self, annotated: Sequence[Sentence]) -> TextParser:
        if self._base is None:
            self.begin()
        assert self._base is not None
        options, base = self.call.options, self._base
        words = [self.lexicon] if Path(self.lexicon).exists() else []
        lexicon = Lexicon()
        # The model has learned the bootstrap's words; when it learns again, they rule the tags of raw text.
        for path in filter(None, [options.lexicon, *words] if annotated or words else []):
            lexicon = lexicon.corrected(read_lexicon(path).tags)
        answers = Answers(sentences=annotated, lexicon=lexicon.tags)
        raw = [sentence.forms for sentence in base.raw]
        learned = learn_answers(base.model, answers, raw=raw, rng=np.random.default_rng(options.seed))
        learned.save(self.output)
        text = base.raw if options.text else []
        corpora = base.files.corpora
        path = self.suggestions
        write_words(path, tagger=learned.tagger, text=text, corpora=corpora, lexicon=options.lexicon)
        return learned


def project_links_by_hand(pair: SentencePair) -> Sentence:
    """Return the target with the arcs of the source between words linked one-to-one by a person.

    Relations and tags stay unknown: they depend on the conventions of the target.
    """
    assert pair.hand is not None
    heads, _ = through_links(replace(pair, alignment=pair.hand))
    unknown = [UNSPECIFIED] * len(pair.target)
    return replace(with_columns(pair.target, upos=unknown, deprels=unknown), heads=heads)
