"""Priors of soft projection from source treebanks translated through the links of a bitext."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.pipelines.projection.priors import WeightedPrior, weighted_prior
from qsproj.pipelines.projection.projected import DRAWS
from qsproj.pipelines.tagging.conventions import CONVENTIONS, Conventional, conventional
from qsproj.pipelines.translated_trees import way_to_translate
from qsproj.pipelines.treebank_weights import Treebank

# Number of target sentences to measure the similarity of tags.
LIKENESS_SENTENCES = 5000


@dataclass(frozen=True, slots=True)
class TranslatedTreebanks:
    """Treebanks of a source, and its pairs with the target, tagged on both sides."""

    paths: Sequence[str]
    pairs: Iterable[SentencePair]


def source_priors(
    sources: Sequence[TranslatedTreebanks],
    others: Sequence[str] = (),
    *,
    unshared: Sequence[str],
    target: Iterable[Sentence],
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> tuple[WeightedPrior, int]:
    """Train parsers of other languages; return them with the number of training words.

    The source treebanks are translated through links, in as many ``draws``, and their parser reads words.
    Parsers that include ``others``, treebanks of any other languages, read tags alone; see
    :func:`weighted_prior` for the weights by similarity to the ``target``. ``unshared``: conventions of the
    sources that do not hold in the target.
    """
    source, other = (
        [
            Treebank(Path(path).name, [conventional(one, unshared) for one in read_sentences(path)])
            for path in paths
        ]
        for paths in ([path for one in sources for path in one.paths], others)
    )
    translate = [
        by for one in sources for by in [way_to_translate(Conventional(one.pairs, unshared))] * len(one.paths)
    ]
    tagged = islice(target, LIKENESS_SENTENCES)
    prior = weighted_prior(source, other, target=tagged, rng=rng, translate=translate, draws=draws)
    return prior, sum(len(sentence) for treebank in (*source, *other) for sentence in treebank.sentences)


def unshared_conventions(pairs: Iterable[SentencePair]) -> tuple[str, ...]:
    """Return the conventions of the source that the target lacks, by the tags of linked words."""
    found: Counter[tuple[str, str]] = Counter()
    names = {(one.tag, one.relation): one.name for one in CONVENTIONS}
    for pair in pairs:
        weights = pair.alignment.weights
        of_words = [names.get(one) for one in zip(pair.source.upos, pair.source.deprels, strict=True)]
        if not any(of_words):
            continue
        chances = [1.0] * len(pair.alignment.links) if weights is None else weights.tolist()
        for (source, target), chance in zip(pair.alignment.links.tolist(), chances, strict=True):
            if name := of_words[source - 1]:
                found[name, pair.target.upos[target - 1]] += chance
    return tuple(
        one.name for one in CONVENTIONS if found[one.name, one.becomes[0]] > found[one.name, one.tag]
    )
