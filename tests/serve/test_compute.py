"""Processes that work for a server: what comes back of a job."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from qsproj.errors import UsageError
from qsproj.serve.compute import ComputePool


def refuse(_, *, pickle_context):
    """Refuse input because of an error that cannot be pickled; have pickle try, as Dask does."""
    if pickle_context:
        pytest.importorskip("tblib.pickling_support").install()
    error = ValueError()
    error.cause = lambda: None
    try:
        raise error
    except ValueError:
        raise UsageError("found no XML") from None


@pytest.mark.parametrize("pickle_context", [False, True])
def test_a_refusal_comes_back_whatever_was_behind_it(pickle_context):
    pytest.importorskip("tblib.pickling_support")
    pool = ComputePool(partial(refuse, pickle_context=pickle_context), processes=1)
    try:
        with pytest.raises(UsageError, match=r"^found no XML$"):
            asyncio.run(pool.run(1))
    finally:
        pool.stop()
