"""Tables of measurements: columns by name, as a dict, a data frame or a dataset has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from heelstrike.contact.restitution import Floats
from heelstrike.errors import HeelstrikeError


def columns(table: Mapping[str, Any], *names: str) -> tuple[Floats, ...]:
    """Return the columns as flat arrays of one length, all finite."""
    arrays = {name: np.asarray(table[name], dtype=float).ravel() for name in names}
    sizes = {name: array.size for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise HeelstrikeError(f"one value a sample in each: {listed}")
    for name, array in arrays.items():
        if not np.all(np.isfinite(array)):
            raise HeelstrikeError(f"{name} has values that are no numbers; leave these samples out")
    return tuple(arrays.values())
