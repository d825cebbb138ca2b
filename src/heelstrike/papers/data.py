"""Third-party data that papers are checked with, found by the variable HEELSTRIKE_DATA alone."""

from __future__ import annotations

import os
from pathlib import Path


def data_file(name: str) -> Path | None:
    """Return the path of a data file; None if HEELSTRIKE_DATA is not set or lacks it."""
    folder = os.environ.get("HEELSTRIKE_DATA")
    path = Path(folder) / name if folder else None
    return path if path is not None and path.is_file() else None


def left_out(name: str) -> str:
    """Return the sentence that reports a missing file."""
    return f"Left out: set HEELSTRIKE_DATA to a folder that holds {name}."
