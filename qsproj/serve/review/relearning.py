"""Learning from the sentences and words annotated so far, in a separate process."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.formats import read_all, read_sentences
from qsproj.corpus.language.lexicon import Lexicon, read_lexicon
from qsproj.corpus.sentence import Sentence
from qsproj.models.parser import load_parser
from qsproj.models.storage import load_model_of
from qsproj.models.text.text_parser import TextParser
from qsproj.pipelines.bootstrap.answers import Answers, learn_answers, text_to_parse
from qsproj.pipelines.bootstrap.bootstrap import Bootstrapped, bootstrap
from qsproj.pipelines.bootstrap.call import BootstrapCall
from qsproj.pipelines.bootstrap.suggestions import CANDIDATES, evenly, write_suggestions
from qsproj.pipelines.bootstrap.workspace import Workspace, copy_to
from qsproj.serve.review.draft import Named
from qsproj.serve.review.retraining import Retrained, Reviewed, retrained

# Priority of learning, below that of the server.
NICENESS = 10
# Number of sentences offered for annotation.
OFFERED = 200
# Steps of learning, for the page: model and text read, learned, written.
_STEPS = 3


@dataclass(frozen=True, slots=True)
class Relearning:
    """Teach a bootstrapped model reviewed sentences and a lexicon: the work of a :class:`ComputePool`.

    ``folder``: the workspace, whose stages are reused. ``output``: the path of the model. ``lexicon``: a file
    that grows while the page is open. ``progress``: number of finished steps, and of all, in memory
    shared with the server.
    """

    call: BootstrapCall
    folder: Path
    output: str
    lexicon: str
    progress: Any = field(default_factory=lambda: RawArray("i", 2))

    @property
    def drafts(self) -> Path:
        """The file of sentences to correct."""
        return self.folder / f"annotate.{self.call.language}.conllu"

    @property
    def suggestions(self) -> str:
        """The file of words to tag."""
        return str(self.drafts.with_suffix(".words.tsv"))

    def begin(self, say: Callable[[str], None]) -> Bootstrapped:
        """Write drafts, words and model where an earlier session did not; return the bootstrap's files.

        ``say`` receives the progress of stages that have to be made.
        """
        made = self._bootstrapped(offered=OFFERED, say=say)
        targets = str(self.drafts), self.suggestions, self.output
        is_new = not self.drafts.exists()
        for path, source in zip(targets, (made.suggested, made.suggested_words, made.model), strict=True):
            if is_new or not Path(path).exists():
                copy_to(source or "", path)
        return made

    def _bootstrapped(
        self, *, offered: int | None, say: Callable[[str], None] = lambda _: None
    ) -> Bootstrapped:
        return bootstrap(
            self.call.texts,
            workspace=Workspace(self.folder, run=f"annotate-{self.call.language}"),
            options=self.call.options,
            with_examples=offered is not None,
            suggested_sentences=offered or OFFERED,
            say=say,
        )

    def __call__(self, given: Reviewed) -> Retrained:
        """Learn from the reviewed sentences, parse the rest, and list words anew; the page comes first."""
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
        sentences = list(read_sentences(Named(given.content, given.name)))
        made = self.make([sentences[index] for index in given.reviewed], offered=OFFERED)
        copy_to(made.suggested_words or "", self.suggestions)
        reviewed, left = given.reviewed, given.left
        model = load_parser(self.output)
        parser = model.retagging() or model
        parsed = {index: parser.parse(sentences[index], confidence=True) for index in left}
        summary = {"reviewed": len(reviewed), "left": len(left)}
        return retrained(parsed, sentences, summary, model=self.output)

    def make(self, annotated: Sequence[Sentence], *, offered: int | None = None) -> Bootstrapped:
        """Write the model to ``output``; ``offered``: number of sentences to suggest."""
        options = self.call.options
        self.progress[:] = 0, _STEPS
        made = self._bootstrapped(offered=offered)
        words = _lexicon(self.lexicon).tags
        if not annotated and not words:
            copy_to(made.model, self.output)
            self.progress[0] = _STEPS
            return made
        model = load_model_of(made.model, TextParser, expected="a model of text", remedy="bootstrap again")
        raw = text_to_parse(model, options.text, paragraphs=options.paragraphs, bitext=made.corpora)
        self.progress[0] = 1
        every = [*read_all((*options.tagged, *options.annotated)), *annotated]
        learned = learn_answers(
            model,
            Answers(sentences=every, lexicon=_lexicon(options.lexicon).corrected(words).tags),
            raw=[sentence.forms for sentence in raw],
            rng=np.random.default_rng(options.seed),
        )
        self.progress[0] = 2
        learned.save(self.output)
        if offered is not None:
            start = self.folder / f"annotate.{self.call.language}.suggested"
            made = replace(made, suggested=f"{start}.conllu", suggested_words=f"{start}.words.tsv")
            write_suggestions(
                (f"{start}.conllu", f"{start}.words.tsv"),
                tagger=learned.tagger,
                parsed=list(learned.parse_all(evenly(raw, CANDIDATES), confidence=True)),
                text=raw if options.text else [],
                corpora=made.corpora,
                annotated=every,
                count=offered,
            )
        self.progress[0] = _STEPS
        return made


def _lexicon(path: str | None) -> Lexicon:
    """Read a lexicon that may not be there yet."""
    return read_lexicon(path) if path is not None and Path(path).exists() else Lexicon()
