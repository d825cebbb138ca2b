"""Memory that a recording takes, estimated before a run starts.

bytes = worlds (records sum_series size + sum_finals size)
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.machine import free_memory
from heelstrike.record.dataset import FIXED, Labels
from heelstrike.record.variables import variable as variable_of

LARGE = 10**9
"""Size above which a run reports the memory that it takes [bytes]."""
WIDTHS = {"b": 1, "i": 8}
"""Bytes of a number by its kind, where it is no floating number."""


def estimate(
    variables: Iterable[str],
    coords: Labels,
    worlds: int,
    records: int,
    dtype: str = "float64",
) -> int:
    """Return the size of a recording [bytes].

    Args:
        variables: names; those that are known at the end only count once, not at every record.
        coords: labels of the dimensions, as for `dataset`.
        worlds: number of worlds.
        records: number of records.
        dtype: type of the floating numbers.
    """
    sizes = {name: len(values) for name, values in {**FIXED, **coords}.items()}
    total = 0
    for name in variables:
        variable = variable_of(name)
        width = WIDTHS.get(variable.kind, np.dtype(dtype).itemsize)
        times = 1 if variable.final else records
        total += worlds * times * width * prod(sizes.get(dim, 0) for dim in variable.dims)
    return total


def check_memory(needed: int, free: int | None = None) -> str | None:
    """Return a note if a recording of `needed` bytes is large; raise if it exceeds `free` bytes."""
    free = free_memory() if free is None else free
    if needed > free:
        raise HeelstrikeError(
            f"this recording would take {_gigabytes(needed)}, but {_gigabytes(free)} are free",
            path="record",
            remedy='record less often (every=10), fewer variables (record=["com", "force"]) or the '
            'end alone (record="final"), or run fewer worlds at a time',
        )
    if needed > LARGE:
        return f"this recording takes {_gigabytes(needed)} of {_gigabytes(free)} of free memory"
    return None


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
