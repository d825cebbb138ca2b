"""Tables of measurements: columns by name, as a dict, a data frame or a dataset has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from heelstrike.contact.restitution import Floats
from heelstrike.errors import HeelstrikeError

FORCE_OVER_DEPTH, FORCE_OVER_TIME, MOTION = "force over depth", "force over time", "a motion"
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    FORCE_OVER_DEPTH: (("depth", "depth_rate", "force"), ()),
    FORCE_OVER_TIME: (("time", "force"), ("speed",)),
    "restitution": (("speed", "e"), ()),
    "heights of a bouncing ball": (("height",), ()),
    "times of a bouncing ball": (("time",), ()),
    MOTION: (("time", "q"), ("v0", "v")),
}
"""Tables that can be compared: columns that they need, and columns that they may have."""


def kind_of(table: Any) -> str:
    """Return which of KINDS a table is; raise for columns that would not be used."""
    if isinstance(table, str) or not hasattr(table, "__contains__"):
        raise HeelstrikeError(f"measurements are a table or a recording; {_listed()}")
    known = {name for needs, may in KINDS.values() for name in (*needs, *may)}
    names = {str(name) for name in table} | {name for name in known if name in table}
    fitting = [kind for kind, (needs, _) in KINDS.items() if names >= set(needs)]
    if not fitting:
        raise HeelstrikeError(
            f"no measurement has the columns {', '.join(sorted(names)) or '(none)'}; {_listed()}"
        )
    kind = max(fitting, key=lambda one: len(names & {*KINDS[one][0], *KINDS[one][1]}))
    unused = names - {*KINDS[kind][0], *KINDS[kind][1]}
    if unused:
        raise HeelstrikeError(
            f"{kind} does not use the column {', '.join(sorted(unused))}",
            path=sorted(unused)[0],
            remedy=f"leave it out; {_listed()}",
        )
    return kind


def _listed() -> str:
    """Return the kinds with their columns, in words."""
    return "; ".join(
        f"{kind}: {', '.join(needs)}" + (f" (and {' or '.join(may)})" if may else "")
        for kind, (needs, may) in KINDS.items()
    )


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
