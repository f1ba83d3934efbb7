"""Repetition of a bootstrap with the sentences annotated so far, in a separate process."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any

from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.models.parser import load_parser
from qsproj.pipelines.bootstrap.bootstrap import Bootstrapped, bootstrap
from qsproj.pipelines.bootstrap.call import BootstrapCall
from qsproj.pipelines.bootstrap.workspace import Workspace, copy_to
from qsproj.serve.review.draft import Named
from qsproj.serve.review.retraining import Retrained, Reviewed, retrained

# Number of sentences offered for annotation.
OFFERED = 200


@dataclass(frozen=True, slots=True)
class Relearning:
    """Repeat a bootstrap with the reviewed sentences and a lexicon: the work of a :class:`ComputePool`.

    ``folder``: the workspace; unaffected stages are reused. ``output``: the path of the model. ``lexicon``: a
    file that grows while the page is open, or None. ``progress``: number of finished stages, and of all, in
    memory shared with the server.
    """

    call: BootstrapCall
    folder: Path
    output: str
    lexicon: str | None = None
    progress: Any = field(default_factory=lambda: RawArray("i", 2))

    def __call__(self, given: Reviewed) -> Retrained:
        """Train on the reviewed sentences, and parse the rest."""
        sentences = list(read_sentences(Named(given.content, given.name)))
        self.make([sentences[index] for index in given.reviewed])
        return self.parsed(sentences, given.reviewed, given.left)

    def parsed(
        self, sentences: Sequence[Sentence], reviewed: Sequence[int], left: Sequence[int]
    ) -> Retrained:
        """Parse the sentences not yet reviewed with the model at ``output``."""
        model = load_parser(self.output)
        parser = model.retagging() or model
        parsed = {index: parser.parse(sentences[index], confidence=True) for index in left}
        told = {"reviewed": len(reviewed), "left": len(left)}
        return retrained(parsed, sentences, told, model=self.output)

    def make(self, annotated: Sequence[Sentence], *, offered: int | None = None) -> Bootstrapped:
        """Train the model and write it to ``output``; ``offered``: number of sentences to suggest."""
        options = self.call.options
        if annotated:
            path = self.folder / f"annotated.{self.call.language}.conllu"
            write_conllu(annotated, path)
            options = replace(options, annotated=(*options.annotated, str(path)))
        if self.lexicon is not None and Path(self.lexicon).exists():
            options = replace(options, lexicon=self.lexicon)
        # A separate run name: clearing earlier batches must not remove stages of the bootstrap itself.
        workspace = Workspace(self.folder, run=f"annotate-{self.call.language}", say=self._done)
        self.progress[0] = 0
        made = bootstrap(
            self.call.texts,
            workspace=workspace,
            options=options,
            with_examples=offered is not None,
            suggested_sentences=offered or OFFERED,
        )
        self.progress[:] = len(workspace.stages), len(workspace.stages)
        copy_to(made.model, self.output)
        workspace.remove_unused()
        return made

    def _done(self, _: str) -> None:
        self.progress[0] += 1
