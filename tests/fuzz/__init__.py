"""Hostile inputs by chance: mutated robots, scenes, files, messages, calls, options and commands.

Each kind is a function of a `random.Random` that makes one case and judges it. It returns "taken",
or "refused" by a HeelstrikeError; any other exception, or a taken case that is wrong, is a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.fuzz.calls import call
from tests.fuzz.commands import command
from tests.fuzz.files import damaged_file
from tests.fuzz.messages import message
from tests.fuzz.options import option
from tests.fuzz.robots import robot
from tests.fuzz.scenes import scene

Case = Callable[[Random], str]
KINDS: dict[str, Case] = {
    "robot": robot,
    "scene": scene,
    "file": damaged_file,
    "message": message,
    "call": call,
    "command": command,
    "option": option,
}
"""Kinds of cases by name."""
