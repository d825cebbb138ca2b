"""Files of results: figures with the conditions under which they were measured.

`heelstrike bench --out FILE` and every command of benchmarks/ write the same kind of file: a JSON
object whose first keys are those of `Conditions`, followed by the figures.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heelstrike.files import whole_file
from heelstrike.finite import finite
from heelstrike.machine import machine

BUSY = 0.5
"""Load of the machine before a run, in processes, above which it is called busy."""


@dataclass(frozen=True)
class Conditions:
    """The machine and the moment of a measurement."""

    machine: dict[str, str]
    """CPU, cores, and versions of the packages that matter."""
    date: str
    """Day of the run, UTC."""
    command: str
    """Command line that made it."""
    load_before: float
    """Mean number of processes that were running in the minute before."""
    quiet: bool
    """Whether the load was below BUSY."""


def conditions(program: str | None = None) -> Conditions:
    """Return the conditions of a run that begins now, by the command line of this process.

    `program` is the name that was typed, by default `python -m` and the module's name.
    """
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    typed = program or (f"python -m {spec.name}" if spec is not None else sys.argv[0])
    load = os.getloadavg()[0]
    return Conditions(
        machine=machine() | {"cores": str(os.cpu_count() or 1)},
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        command=" ".join([typed, shlex.join(sys.argv[1:])]).strip(),
        load_before=load,
        quiet=load < BUSY,
    )


def write_results(path: str | os.PathLike[str], result: Mapping[str, Any]) -> None:
    """Write conditions and figures to a JSON file, whole or not at all.

    Values that are not finite become null: JSON has no word for them.
    """
    text = json.dumps(finite(dict(result)), indent=1, allow_nan=False)
    with whole_file(path) as part:
        Path(part).write_text(text + "\n")
