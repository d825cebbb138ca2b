"""Progress bars: the rate and the time left.

Oracles: arithmetic, done / spent and spent (total - done) / done; and what a terminal receives.
"""

from __future__ import annotations

import io
import re
import time

import pytest

from heelstrike import progress
from heelstrike.cli import console
from heelstrike.progress import hours, progress_bar, standing, with_prefix


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        return True


def attached(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal as standard error; not a fixture, since pytest sets stderr after these."""
    made = Terminal()
    monkeypatch.setattr("sys.stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return made


def plain(terminal: Terminal) -> str:
    """Return what was written, without control sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())


def test_the_rate_and_the_time_left():
    """A quarter of 4 M steps after 2 s: 500 k steps/s, and 6 s are left."""
    assert standing(10**6, 4 * 10**6, 2.0, "steps") == ", 500 k steps/s, 0:00:06 left"
    assert standing(0, 4, 1.0, "sets") == ""
    assert (with_prefix(1.5e9), hours(3723)) == ("1.5 G", "1:02:03")


def test_short_work_shows_nothing(monkeypatch):
    terminal = attached(monkeypatch)
    with progress_bar("simulating", 2, "steps") as advance:
        advance(2)
    assert terminal.getvalue() == ""


def test_long_work_shows_a_bar(monkeypatch):
    terminal = attached(monkeypatch)
    monkeypatch.setattr(progress, "BAR_AFTER", 0.0)
    with progress_bar("simulating", 100, "steps") as advance:
        advance(1)
        advance(49)
        time.sleep(0.15)  # the bar is drawn ten times a second
    assert re.search(r"simulating .* 50 %, \S+( k| M)? steps/s, 0:00:00 left", plain(terminal))


def test_parts_of_a_command_show_their_pace(monkeypatch):
    terminal = attached(monkeypatch)
    with console.progress(3) as report:
        for name in ("rigid", "elastic"):
            report(name)
            time.sleep(0.15)
    assert re.search(r"elastic .* 1/3 .* s each about 0:00:0\d left", plain(terminal))
