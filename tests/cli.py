"""The command line as a shell sees it."""

from __future__ import annotations

import pytest

from heelstrike.cli import main


def call(capsys, *arguments):
    """Exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    out, err = capsys.readouterr()
    return left.value.code or 0, out, err
