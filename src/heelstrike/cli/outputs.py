"""Where commands write: one folder, and one rule for names that are taken.

A file that no option names goes to heelstrike-runs. If it is there already, the new one gets the
next number: hoap1.nc, hoap1-2.nc, hoap1-3.nc. A file that an option or a scene names is replaced,
and so are pictures of papers, which every run makes alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path("heelstrike-runs")
"""Default folder of results."""


def fresh(name: str, suffixes: Sequence[str]) -> Path:
    """Return the path of new results with the first suffix, such as heelstrike-runs/hoap1-2.nc.

    Args:
        name: name of the results, possibly with dots.
        suffixes: suffixes of all files that will be written; none of them exists.
    """
    for number in itertools.count(1):
        stem = name if number == 1 else f"{name}-{number}"
        if not any((FOLDER / f"{stem}{suffix}").exists() for suffix in suffixes):
            return FOLDER / f"{stem}{suffixes[0]}"
    raise AssertionError
