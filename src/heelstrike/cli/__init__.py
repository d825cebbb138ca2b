"""The command line, one file a command.

Results go to standard output; progress, warnings and errors to standard error. A mistake in a file
or an option prints one sentence and exits with code 1 (2 if the command line cannot be parsed).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `heelstrike` with these arguments, or with those of the process, and exit."""
    from heelstrike.interrupts import ends_promptly, last_signal, partial_results

    with ends_promptly(), partial_results(kept=False):
        try:
            _run(arguments)
        except (KeyboardInterrupt, Exception):  # the first while modules are imported
            number = last_signal()
            if number is None:
                raise
            sys.exit(128 + number)


def _run(arguments: Sequence[str] | None) -> None:
    """Run the command; warnings and errors become sentences."""
    from heelstrike.cli.app import commands
    from heelstrike.cli.console import say

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if issubclass(category, HeelstrikeWarning):
            say(str(message), "yellow")
        else:
            usual(message, category, *place)

    usual = warnings.showwarning
    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        try:
            commands()(list(arguments) if arguments is not None else None, prog_name="heelstrike")
        except HeelstrikeError as error:
            say(str(error), "red")
            sys.exit(1)
        except OSError as error:  # where no file of ours is written, as a full /tmp
            say(f"{error.strerror or error}; free space on the disk, also in /tmp", "red")
            sys.exit(1)
