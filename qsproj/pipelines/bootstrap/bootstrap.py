"""The stages of a bootstrap in their order: from treebank and bitext to one model of the target language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.models.storage import Made
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.pipelines.bootstrap.checks import check_given
from qsproj.pipelines.bootstrap.steps import BootstrapOptions, Steps
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.bootstrap.workspace import Workspace, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrapped:
    """What a bootstrap made, as files of its workspace.

    Attributes
    ----------
    model : str
        The model of the target language.
    trees : str
        Target sentences of the bitext with the trees that the parser was trained on.
    examples : str
        Target sentences as the model parses them, with the probability of each arc; None where not asked for.
    corpora : tuple of AlignedFiles
        For each bitext its parsed source, its tagged target, and links.
    """

    model: str
    trees: str
    examples: str | None
    corpora: tuple[AlignedFiles, ...]


def bootstrap(
    texts: Sequence[SourceText],
    *,
    workspace: Workspace,
    options: BootstrapOptions | None = None,
    made: Made | None = None,
    with_examples: bool = False,
    workers: Workers = THIS_PROCESS,
) -> Bootstrapped:
    """Make a model that cuts, tags and parses text of the target language.

    Parameters
    ----------
    texts : sequence of SourceText
        Source languages, each with treebanks and a bitext; all with the same target language.
    workspace : Workspace
        Where stages are kept, and who is told of each.
    made : mapping or None
        What the model's file says of how it was made.
    with_examples : bool
        Whether to parse some of the target text in the end, for a report.
    workers : Workers
        Who parses and tags; the result does not depend on it.

    Raises
    ------
    UsageError, DataError
        When there is nothing to learn from: see each stage.
    """
    options = options or BootstrapOptions()
    for path in (*options.also, *options.with_tags, *filter(None, [options.lexicon])):
        # Read in late stages; that it is missing is to be told before the first.
        digest_of(path)
    for text in texts:
        check_given(text, tagged=options.with_tags)
    steps = Steps(workspace, options, workers)
    sides = [steps.side(text, f"-{number}" if len(texts) > 1 else "") for number, text in enumerate(texts, 1)]
    tagger = steps.target_tagger(sides)
    corpora = [steps.corpus(side, tagger) for side in sides]
    priors = steps.priors(corpora)
    parser = steps.parser(corpora, priors)
    model = steps.model(tagger, parser, made or {})
    examples = steps.examples(corpora[0], model) if with_examples else None
    return Bootstrapped(
        model=model.path,
        trees=str(parser.paths[1]),
        examples=None if examples is None else examples.path,
        corpora=tuple(corpus.files for corpus in corpora),
    )
