"""Memory that a recording takes, estimated before a run starts.

bytes = worlds (records sum_series size + sum_finals size)
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.record.variables import AXES, VARIABLES, known

LARGE = 10**9
"""Bytes from which a run says what it takes."""
WIDTHS = {"b": 1, "i": 8}
"""Bytes of what is no floating number."""


def estimate(
    variables: Iterable[str],
    coords: Mapping[str, Any],
    worlds: int,
    records: int,
    dtype: str = "float64",
) -> int:
    """Bytes of the named variables; `coords` as for `variables.dataset`.

    A variable that is known at the end only counts once, not at every record.
    """
    sizes = {"axis": len(AXES)} | {name: len(values) for name, values in coords.items()}
    total = 0
    for name in variables:
        variable = VARIABLES[known(name)]
        width = WIDTHS.get(variable.kind, np.dtype(dtype).itemsize)
        times = 1 if variable.final else records
        total += worlds * times * width * prod(sizes.get(dim, 0) for dim in variable.dims)
    return total


def check_memory(needed: int, free: int | None = None) -> str | None:
    """A sentence for the user where a recording is large; an error where there is no room."""
    free = free_memory() if free is None else free
    if needed > free:
        raise HeelstrikeError(
            f"this recording would take {_gigabytes(needed)}, but {_gigabytes(free)} are free; "
            'record less often (every=10), less (record=["com", "force"]), only the end '
            '(record="final"), or run fewer worlds at a time'
        )
    if needed > LARGE:
        return f"this recording takes {_gigabytes(needed)} of the {_gigabytes(free)} that are free"
    return None


def free_memory() -> int:
    """Bytes that a program may still take; all of the machine's where the system does not say."""
    try:
        with open("/proc/meminfo") as file:  # counts what the system would give up, too
            found = dict(line.split(":", 1) for line in file)
        return int(found["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pages = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
