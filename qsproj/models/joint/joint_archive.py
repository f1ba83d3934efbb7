"""What the file of a joint model holds: header and arrays of its two parsers, and of all that joins them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.models.joint.joint_options import JointOptions, JointTrainingOptions
from qsproj.models.joint.joint_weights import JointWeights, dictionary_arrays, dictionary_from
from qsproj.models.joint.relations.joint_labeller import JointLabeller
from qsproj.models.joint.tags.prepared import N_TAG_SCALES, NEUTRAL
from qsproj.models.packing import nested, unnested
from qsproj.models.schema import checked, number, optional, whole
from qsproj.models.tagging.link_tagger import LinkTagger

if TYPE_CHECKING:
    from qsproj.models.joint.joint_parser import JointParser

# Arrays of labeller and tagger.
RELATIONS, TAGS = "relations_", "tags_"
# By what a file says of the order of a side's parser; older files do not.
_ORDERS: dict[int, type[ArcParser] | type[GraphParser]] = {1: ArcParser, 2: GraphParser}


def archive_of(parser: JointParser) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays of a joint model; those of its two parsers carry their side's name."""
    header = asdict(parser.options) | {"families": list(parser.options.families)}
    arrays = parser.weights.to_arrays() | dictionary_arrays(parser.dictionary)
    header["training"] = None if parser.training is None else asdict(parser.training)
    header["target_scale"] = parser.weights.target_scale
    header["aligner_scale"] = parser.weights.aligner_scale
    header["tag_scales"] = list(parser.weights.tag_scales)
    for name, part, prefix in (("labeller", parser.labeller, RELATIONS), ("tagger", parser.tagger, TAGS)):
        header[name] = None
        if part is not None:
            header[name], own = part.to_archive()
            arrays |= nested(prefix, own)
    for side, one in (("source", parser.source), ("target", parser.target)):
        header[side], own = one.to_archive()
        header[f"{side}_order"] = 1 if isinstance(one, ArcParser) else 2
        arrays |= nested(f"{side}_", own)
    return header, arrays


def _tag_scales(value: Any) -> None:
    """Check the scales of TAG variables, ``value`` of a header; raise ValueError unless they are so many."""
    if not isinstance(value, list) or len(value) != N_TAG_SCALES:
        raise ValueError(f"is {value!r}, expected {N_TAG_SCALES} numbers")
    for scale in value:
        number()(scale)


def parts_of(header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return what :func:`archive_of` was given, by the attributes of a joint model."""
    scale = number(0.0)
    order = optional(whole(1, 2))
    checked(
        header,
        {
            "target_scale": scale,
            "aligner_scale": optional(scale),
            "tag_scales": optional(_tag_scales),
            "source_order": order,
            "target_order": order,
        },
    )
    weights = JointWeights.from_arrays(
        arrays,
        target_scale=header["target_scale"],
        aligner_scale=1.0 if header.get("aligner_scale") is None else header["aligner_scale"],
        tag_scales=tuple(header.get("tag_scales") or NEUTRAL),
    )
    kinds = {side: _ORDERS[header.get(f"{side}_order") or 1] for side in ("source", "target")}
    sides = {
        side: kind.from_archive(header[side], unnested(f"{side}_", arrays)) for side, kind in kinds.items()
    }
    labeller, tagger = header.get("labeller"), header.get("tagger")
    return {
        **sides,
        "weights": weights,
        "options": JointOptions.from_header(header),
        "dictionary": dictionary_from(arrays),
        "training": JointTrainingOptions.from_header(header.get("training")),
        "labeller": labeller and JointLabeller.from_archive(labeller, unnested(RELATIONS, arrays)),
        "tagger": tagger and LinkTagger.from_archive(tagger, unnested(TAGS, arrays)),
    }
