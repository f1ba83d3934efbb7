"""What a stored model is, what it can do and how it was made, from its file alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from qsproj.models.arc.arc_scorer import IGNORABLE
from qsproj.models.joint.joint_options import JointOptions, JointTrainingOptions
from qsproj.models.storage import KINDS, model_from, opened_model

Header = Mapping[str, Any]

# What every graph of links has.
LINK_FACTORS = ("ALIGN", "SOURCEFERT", "TARGETFERT")

# Kind -> what it is, and what one does with it.
_KINDS = {
    "arc-parser": ("first-order dependency parser", "qsproj parse"),
    "labelled-parser": ("first-order parser of labelled dependencies", "qsproj parse"),
    "cluster-parser": ("first-order dependency parser with hidden clusters of arcs", "qsproj parse"),
    "graph-parser": ("second-order dependency parser", "qsproj parse"),
    "tagger": ("part-of-speech tagger", "qsproj tag"),
    "tagging-parser": ("parser that infers tags and trees together from words", "qsproj parse"),
    "text-parser": ("tagger and parser in one, from text to trees", "qsproj parse, qsproj tag"),
    "dmv": ("dependency model with valence", "qsproj parse"),
    "qg-dmv": ("quasi-synchronous dependency model with valence", "qsproj parse"),
    "converter": ("converter between annotation styles", "qsproj adapt -m"),
    "adapted-parser": ("parser with a converter to another annotation style", "qsproj parse"),
    "joint-parser": ("parser of both sides of a bitext together", "qsproj biparse parse"),
    "link-chooser": ("chooser of word links", "qsproj align -m"),
}


def model_info(path: str | Path) -> dict[str, Any]:
    """Return what is known of a model, as JSON.

    ``kind``, ``what`` and ``use`` say what it is; ``bytes`` and ``numbers`` how large the file is and how
    many numbers it holds; ``made`` how it was made, empty where the file does not say. The rest depends on
    the kind; of a model with parts each part is a mapping of its own.

    Raises
    ------
    DataError
        As :func:`~qsproj.models.storage.load_model`.
    """
    with opened_model(path) as file:
        kind, header = file.kind, file.header
        if kind in KINDS:
            model_from(kind, header, file.arrays)
        numbers = sum(math.prod(file.arrays.declared(name)[0]) for name in file.arrays)
    what, use = _KINDS.get(kind, ("model of a kind that this version does not know", ""))
    return {
        "kind": kind,
        "what": what,
        "use": use,
        "bytes": Path(path).stat().st_size,
        "numbers": numbers,
        **_described(kind, header),
        "made": file.made,
    }


def _tagger(header: Header) -> dict[str, Any]:
    return {
        "language": header["language"],
        "tags": header["tags"],
        "word_classes": header["class_sets"],
        "contractions": len(header["contractions"]),
        "tokens": _tokens(header),
    }


def _tokens(header: Header) -> str:
    """Say how plain text is cut."""
    if header.get("tokenizer") is not None:
        return "learned from a treebank"
    return "rules of the language" if header["language"] else "rules of a language that is to be named"


def _arc_parser(header: Header) -> dict[str, Any]:
    labels, scorer = header["labeller"], header["scorer"]
    ignored = [IGNORABLE[column] for column in scorer.get("ignored") or ()]
    return {
        "features": scorer["template_set"],
        **({"ignores_as_trained_without": ignored} if ignored else {}),
        "trees": "projective" if header["projective"] else "any, arcs may cross",
        "roots": "one" if header["single_root"] else "any number",
        "relations": labels["relations"] if labels else [],
    }


def _labelled_parser(header: Header) -> dict[str, Any]:
    return {
        **_arc_parser(header),
        "labels": "inside the tree (--labels joint)",
        "least_probability_of_an_arc": header["least"],
    }


def _cluster_parser(header: Header) -> dict[str, Any]:
    return {**_arc_parser(header), "clusters": header["scorer"]["clusters"]}


def _graph_parser(header: Header) -> dict[str, Any]:
    return {**_arc_parser(header["base"]), "factors": header["options"].get("families") or "all"}


def _tags(header: Header, options: JointOptions) -> str:
    """Say where the tags of the target come from, as ``--tags`` does."""
    if header.get("tagger") is None:
        return "given"
    return "links" if options.tag_threshold is None else "joint"


def _joint_parser(header: Header) -> dict[str, Any]:
    """Say what its graphs are made of, how they are parsed, and how the joint weights were learned."""
    options = JointOptions.from_header(dict(header))
    training = JointTrainingOptions.from_header(header.get("training"))
    parts = {
        side: _part("graph-parser" if header.get(f"{side}_order") == 2 else "arc-parser", header[side])
        for side in ("source", "target")
    }
    return {
        "factors": [*LINK_FACTORS, *options.families],
        "source_tree": options.source_tree,
        "labels": "after" if header.get("labeller") is None else "joint",
        "tags": _tags(header, options),
        "least_probability_of_an_arc": options.least_probability,
        "least_probability_of_a_link": options.link_threshold,
        "weight_of_the_target_parser": header["target_scale"],
        "propagation": asdict(options.propagation),
        "training": None if training is None else asdict(training),
        **parts,
    }


def _part(kind: str, header: Header) -> dict[str, Any]:
    return {"kind": kind, **_described(kind, header)}


def _described(kind: str, header: Header) -> dict[str, Any]:
    return _DESCRIBED[kind](header) if kind in _DESCRIBED else {}


def _text_parser(header: Header) -> dict[str, Any]:
    part = header["parser"]
    return {
        "language": header["tagger"]["language"],
        "tagger": _part("tagger", header["tagger"]),
        "parser": _part(part["kind"], part["model"]),
    }


_DESCRIBED: dict[str, Callable[[Header], dict[str, Any]]] = {
    "tagger": _tagger,
    "arc-parser": _arc_parser,
    "labelled-parser": _labelled_parser,
    "cluster-parser": _cluster_parser,
    "graph-parser": _graph_parser,
    "tagging-parser": lambda header: {
        "tagger": _part("tagger", header["tagger"]),
        "parser": _part("arc-parser", header["base"]),
    },
    "text-parser": _text_parser,
    "adapted-parser": lambda header: {"parser": _part(header["source_kind"], header["source"])},
    "joint-parser": _joint_parser,
    "link-chooser": lambda header: {
        "link_factors": [*LINK_FACTORS, *header["families"]],
        "reads_tags": header["tagged"],
    },
    "dmv": lambda header: {"tags": header["inventory"]} if "inventory" in header else {},
}
