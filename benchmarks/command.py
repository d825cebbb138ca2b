"""What the commands of this folder share: options, and a file for their figures."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from heelstrike.finite import finite


def parser(doc: str | None, quick: str | None = None) -> ArgumentParser:
    """With --json FILE, and --quick where it is said what that leaves out."""
    made = ArgumentParser(description=(doc or "").partition("\n")[0])
    made.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    if quick is not None:
        made.add_argument("--quick", action="store_true", help=quick)
    return made


def keep(result: dict[str, Any], path: str | None) -> None:
    """In the file, if one was asked for; None for what is not finite."""
    if path:
        Path(path).write_text(json.dumps(finite(result), indent=1) + "\n")
