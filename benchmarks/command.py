"""Options and files of results that the commands of this folder share."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from heelstrike.bench.results import conditions, write_results

CONDITIONS = conditions()
"""Machine, date, command and load, taken when the command starts."""


def parser(doc: str | None, quick: str | None = None) -> ArgumentParser:
    """Return a parser with --json FILE, and --quick where `quick` says what that leaves out."""
    made = ArgumentParser(description=(doc or "").partition("\n")[0])
    made.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    if quick is not None:
        made.add_argument("--quick", action="store_true", help=quick)
    return made


def keep(figures: Mapping[str, Any], path: str | None) -> None:
    """Write the figures with their conditions to a file, if one was named."""
    if path:
        write_results(path, {**asdict(CONDITIONS), **figures})
