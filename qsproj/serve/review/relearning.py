"""Making the model of a bootstrap again from what was annotated so far, in a process of its own."""

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
from qsproj.serve.review.correction import arc_chances
from qsproj.serve.review.draft import Named
from qsproj.serve.review.retraining import Retrained, Reviewed

# Sentences that are offered for annotation.
OFFERED = 200


@dataclass(frozen=True, slots=True)
class Relearning:
    """Repeat a bootstrap with the reviewed sentences and a lexicon: the work of a :class:`ComputePool`.

    ``folder``: the workspace, whose unaffected stages are kept. ``output``: where the model is written.
    ``lexicon``: a file that grows while the page is open, or None. ``progress``: stages that are done, and
    all, which the server sees as they change.
    """

    call: BootstrapCall
    folder: Path
    output: str
    lexicon: str | None = None
    progress: Any = field(default_factory=lambda: RawArray("i", 2))

    def __call__(self, given: Reviewed) -> Retrained:
        """Learn from what was reviewed, and parse what is left."""
        sentences = list(read_sentences(Named(given.content, given.name)))
        self.make([sentences[index] for index in given.reviewed])
        return self.parsed(sentences, given.reviewed, given.left)

    def parsed(
        self, sentences: Sequence[Sentence], reviewed: Sequence[int], left: Sequence[int]
    ) -> Retrained:
        """Parse by the model of ``output`` what is left."""
        model = load_parser(self.output)
        parser = model.retagging() or model
        parsed = {index: parser.parse(sentences[index], confidence=True) for index in left}
        beliefs = {
            index: (tuple(one.heads.tolist()[1:]), one.deprels, arc_chances(one), one.upos)
            for index, one in parsed.items()
        }
        changed = sum(int((parsed[index].heads != sentences[index].heads).sum()) for index in left)
        told = {"reviewed": len(reviewed), "left": len(left), "changed": changed, "model": self.output}
        return Retrained(beliefs, told, self.output)

    def make(self, annotated: Sequence[Sentence], *, offered: int | None = None) -> Bootstrapped:
        """Make the model and write it to ``output``; with ``offered``, suggest that many sentences."""
        options = self.call.options
        if annotated:
            path = self.folder / f"annotated.{self.call.language}.conllu"
            write_conllu(annotated, path)
            options = replace(options, annotated=(*options.annotated, str(path)))
        if self.lexicon is not None and Path(self.lexicon).exists():
            options = replace(options, lexicon=self.lexicon)
        # A name of its own: stages of the bootstrap itself are not removed with those of earlier batches.
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
