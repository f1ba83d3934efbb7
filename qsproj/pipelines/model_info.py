"""What a stored model is, what it can do and how it was made, from its file alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from qsproj.models.storage import KINDS, described, model_from, opened_model


def model_info(path: str | Path) -> dict[str, Any]:
    """Return what is known of a model, as JSON.

    ``kind``, ``what`` and ``use`` say what it is; ``bytes`` and ``numbers`` how large the file is and how
    many numbers it holds; ``made`` how it was made, empty where the file does not say. The rest depends on
    the kind (``Stored.described``); of a model with parts each part is a mapping of its own.

    Raises
    ------
    DataError
        As :func:`~qsproj.models.storage.load_model`.
    """
    what, use, told = "model of a kind that this version does not know", "", dict[str, Any]()
    with opened_model(path) as file:
        if file.kind in KINDS:
            model_from(file.kind, file.header, file.arrays)
            (_, _, what, use), told = KINDS[file.kind], described(file.kind, file.header)
        numbers = sum(math.prod(file.arrays.declared(name)[0]) for name in file.arrays)
    size = {"bytes": Path(path).stat().st_size, "numbers": numbers}
    return {"kind": file.kind, "what": what, "use": use} | size | told | {"made": file.made}
