"""What there is to say of the few target trees that a projected parser is fine-tuned on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.sentence import Sentence
from qsproj.errors import counted
from qsproj.pipelines.translations import Translations
from qsproj.styles.detect import Evidence, detect_style

# A dimension of style tells from so many places on, in which so large a share agrees.
LEAST_PLACES, LEAST_SHARE = 5, 0.7
# Treebanks of one style share nearly all relations, but for subtypes.
LEAST_KNOWN = 0.5
# With fewer trees, what is learned is little more than chance.
FEW_TREES = 10


def about_annotated(annotated: Sequence[Sentence], learned_from: Sequence[Translations]) -> tuple[str, ...]:
    """Say how many trees there were, and what may be wrong: style, overlap with the bitext, too few."""
    sources = [pair.source for translations in learned_from for pair in translations]
    lines = [f"fine-tuned on {counted(len(annotated), 'annotated sentence')}"]
    if differences := different_style(annotated, sources):
        lines.append(
            f"the annotated sentences are in another style than the source's ({differences}): the parser is "
            "adapted to theirs as far as they reach; convert one of the two first (qsproj styles) for more"
        )
    seen = {translations[0].target.forms for translations in learned_from}
    if among := sum(sentence.forms in seen for sentence in annotated):
        lines.append(
            f"{counted(among, 'annotated sentence')} {'is' if among == 1 else 'are'} among the bitext that "
            "was learned from: trees that are tested on should not be"
        )
    if len(annotated) < FEW_TREES:
        lines.append(f"fewer than {FEW_TREES} annotated sentences teach little more than chance")
    return tuple(lines)


def different_style(annotated: Sequence[Sentence], sources: Sequence[Sentence]) -> str:
    """Say in what the style of some trees differs from that of others; empty where nothing tells that."""
    theirs, ours = map(_told, (annotated, sources))
    found = [
        f"{name}: {theirs[name]}, not {ours[name]}"
        for name in ours
        if theirs.get(name, ours[name]) != ours[name]
    ]
    names = [bare_relation(name) for tree in annotated for name in tree.deprels if name != UNSPECIFIED]
    known = {bare_relation(name) for tree in sources for name in tree.deprels}
    strange = [name for name in names if name not in known]
    if strange and len(strange) > (1.0 - LEAST_KNOWN) * len(names):
        found.append(f"relations such as {max(sorted(set(strange)), key=strange.count)}")
    return "; ".join(found)


def _told(trees: Sequence[Sentence]) -> Mapping[str, str]:
    """Return the dimensions of style that trees tell of, each with its choice."""
    evidence = detect_style(trees).evidence
    return {
        entry.dimension: entry.choice for entry in evidence if entry.choice is not None and _is_sure(entry)
    }


def _is_sure(entry: Evidence) -> bool:
    return entry.places >= LEAST_PLACES and entry.share >= LEAST_SHARE
