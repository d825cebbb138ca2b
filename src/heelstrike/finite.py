"""Conversion of values for JSON, which has neither NaN nor infinity."""

from __future__ import annotations

import math
from typing import Any


def finite(value: Any) -> Any:
    """Return a copy in which None replaces every float that is not finite, at any depth."""
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
