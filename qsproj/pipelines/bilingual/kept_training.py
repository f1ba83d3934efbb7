"""What is kept of the training of a joint parser, so that it can be interrupted and go on."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.models.archive import damage_told
from qsproj.models.checkpoint import Checkpoint, KeptStages, checksum
from qsproj.models.graph.graph_factors import Family, sentence_graph
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.models.joint.joint_trees import Parser, TreeScores
from qsproj.models.joint.tags.tagged_arcs import TaggedArcs
from qsproj.models.packing import nested, unnested
from qsproj.models.storage import kind_of, model_from
from qsproj.pipelines.bilingual.biparse_options import BiparseOptions
from qsproj.progress import notice

STAGE = "target"
# Of a sentence whose factors are those of the first order.
FIRST_ORDER = -1

Arrays = dict[str, NDArray[Any]]


def kept_stages(
    checkpoint: Checkpoint,
    pairs: Sequence[SentencePair],
    parsers: Sequence[Parser],
    *,
    rng: np.random.Generator,
    options: BiparseOptions,
) -> KeptStages:
    """Return where a training is kept, with all that it depends on but the number of epochs."""
    checkpoint.make_folder()
    crc = 0
    for pair in pairs:
        crc = _of_sentence(pair.target, _of_sentence(pair.source, crc))
        for links in (pair.alignment, pair.hand):
            crc = _of_links(links, crc)
    for parser in parsers:
        header, arrays = parser.to_archive()
        crc = zlib.crc32(json.dumps(header).encode(), crc)
        crc = checksum((arrays[name] for name in sorted(arrays)), crc)
    told = replace(options, training=replace(options.training, epochs=0))
    return KeptStages(
        checkpoint=checkpoint, fingerprint=f"{crc:08x} {len(parsers)} {told} {rng.bit_generator.state}"
    )


def _of_sentence(sentence: Sentence, crc: int) -> int:
    columns = (sentence.forms, sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats)
    crc = zlib.crc32(repr((*columns, sentence.deprels)).encode(), crc)
    return checksum((sentence.heads,), crc)


def _of_links(links: Alignment | None, crc: int) -> int:
    if links is None:
        return zlib.crc32(b"none", crc)
    weights = np.zeros(0) if links.weights is None else links.weights
    return checksum((links.links, links.sure, weights), crc)


def write_target(
    stages: KeptStages, parser: Parser, scores: Sequence[TreeScores], rng: np.random.Generator
) -> None:
    """Keep a target parser, and what parsers that have not seen them say of its training trees."""
    header, arrays = parser.to_archive()
    arrays = nested("parser_", arrays) | nested("scores_", packed(scores))
    stages.write(STAGE, {"kind": kind_of(parser), "parser": header}, arrays, rng)


def read_target(stages: KeptStages, rng: np.random.Generator) -> tuple[Parser, list[TreeScores]] | None:
    """Return what :func:`write_target` kept, and set the generator; None where nothing was kept."""
    found = stages.read(STAGE, rng)
    if found is None:
        return None
    header, arrays = found
    with damage_told(stages.path(STAGE)):
        parser: Any = model_from(header["kind"], header["parser"], unnested("parser_", arrays))
        target = parser, unpacked(unnested("scores_", arrays), parser)
    notice(f"{stages.path(STAGE)}: the target parser is taken from here")
    return target


def packed(scores: Sequence[TreeScores]) -> Arrays:
    """Return the scores of several sentences, one after the other, as a few arrays."""
    factors = [values for own in scores for values in own.factors]
    counts = [[len(values) for values in own.factors] for own in scores]
    width = max(map(len, counts), default=0)
    return {
        "sizes": np.array([len(own.kept) for own in scores], dtype=np.int64),
        "marginals": _joined([own.marginals for own in scores]),
        "kept": _joined([own.kept for own in scores]).astype(np.uint8),
        "links": _joined([own.links for own in scores]),
        "factor_counts": np.array([own or [FIRST_ORDER] * width for own in counts], dtype=np.int64),
        "factors": _joined(factors),
        **_packed_tags([own.tagged for own in scores]),
    }


def _packed_tags(tagged: Sequence[TaggedArcs | None]) -> Arrays:
    """Return scores of arcs under other tags as a few arrays; none where no sentence has any."""
    there = [own for own in tagged if own is not None]
    if not there:
        return {}
    return {
        # Of a sentence that has none: no tags.
        "tagged_sizes": np.array(
            [own.scores.shape[:2] if own is not None else (0, 0) for own in tagged], dtype=np.int64
        ),
        "tagged_ends": np.concatenate([np.stack([own.heads, own.dependents]) for own in there], axis=1),
        "tagged_scores": _joined([own.scores for own in there]),
    }


def _unpacked_tags(arrays: Mapping[str, NDArray[Any]], count: int) -> list[TaggedArcs | None]:
    """Return what :func:`_packed_tags` was given for so many sentences; errors as of :func:`unpacked`."""
    if "tagged_sizes" not in arrays:
        return [None] * count
    sizes = arrays["tagged_sizes"].astype(np.int64)
    ends = np.split(arrays["tagged_ends"].astype(np.int32), np.cumsum(sizes[:, 0])[:-1], axis=1)
    scores = np.split(arrays["tagged_scores"], np.cumsum(sizes[:, 0] * sizes[:, 1] ** 2)[:-1])
    return [
        TaggedArcs(heads, dependents, own.reshape(len(heads), n_tags, n_tags)) if n_tags else None
        for n_tags, (heads, dependents), own in zip(sizes[:, 1].tolist(), ends, scores, strict=True)
    ]


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0), *(array.reshape(-1) for array in arrays)])


def unpacked(arrays: Mapping[str, NDArray[Any]], parser: Parser) -> list[TreeScores]:
    """Return what :func:`packed` was given, of a parser of this order and with these options."""
    ends = np.cumsum(arrays["sizes"].astype(np.int64) ** 2)[:-1]
    tables = [np.split(arrays[name], ends) for name in ("marginals", "kept", "links")]
    counts = arrays["factor_counts"]
    ends = np.cumsum(np.maximum(counts, 0).reshape(-1))[:-1]
    factors = iter(np.split(arrays["factors"], ends) if counts.size else ())
    tagged = _unpacked_tags(arrays, len(counts))
    result = []
    for size, row, tags, *own in zip(arrays["sizes"].tolist(), counts.tolist(), tagged, *tables, strict=True):
        marginals, kept, links = (table.reshape(size, size) for table in own)
        kept = kept.astype(np.bool_)
        scores = tuple(next(factors) for _ in row)
        second = bool(row) and row[0] != FIRST_ORDER
        families = _families(parser, kept) if second else ()
        if second and [len(family.scored) for family in families] != row:
            raise ValueError("the factors of a sentence are not those of its arcs")
        result.append(
            TreeScores(
                marginals=marginals,
                kept=kept,
                links=links,
                families=families,
                factors=scores if second else (),
                tagged=tags,
            )
        )
    return result


def _families(parser: Parser, kept: NDArray[np.bool_]) -> tuple[Family, ...]:
    """Return the second-order factors over the arcs that are left."""
    if not isinstance(parser, GraphParser):
        raise ValueError("factors of the second order, and a parser of the first")
    inference = parser.base.inference
    graph = sentence_graph(kept, inference, families=parser.options.families_for(inference))
    return tuple(family.numbered_from(0) for family in graph.families)
