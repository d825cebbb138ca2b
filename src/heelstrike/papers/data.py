"""What papers report where third-party data are missing (validation/files.py finds them)."""

from __future__ import annotations


def left_out(name: str) -> str:
    """Return the sentence that reports a missing file."""
    return f"Left out: set HEELSTRIKE_DATA to a folder that holds {name}."
