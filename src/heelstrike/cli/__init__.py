"""The command line: one file a verb.

Results go to standard output; progress, warnings and errors to standard error. A mistake in a file
or a flag is one sentence and exit code 1 (2 where the command line itself cannot be read).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs `heelstrike` with these arguments, or the process's own, and exits."""
    from heelstrike.cli.app import app
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
            app(list(arguments) if arguments is not None else None)
        except HeelstrikeError as error:
            say(str(error), "red")
            sys.exit(1)
