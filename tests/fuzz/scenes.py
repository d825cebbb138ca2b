"""Mutated scene files: refused with a sentence, or made into a simulator that can be planned."""

from __future__ import annotations

import tempfile
import warnings
from functools import cache
from importlib import resources
from pathlib import Path
from random import Random

import numpy as np

import heelstrike as hs
from heelstrike.errors import HeelstrikeError
from tests.fuzz.values import mutated_text

NAMES = ("bouncing-ball", "box-drop", "foot", "brick-on-a-ramp", "three-materials")
TEXT = """gravity = 9.81
[[object]]
model = "ball"
name = "one"
position = [0.0, 0.0, 0.5]
velocity = [0.1, 0.0, 0.0]
[simulation]
dt = 1e-3
duration = 0.1
[[surface]]
type = "stairs"
name = "steps"
rise = 0.1
run = 0.3
[[surface]]
type = "box"
size = [1.0, 1.0, 0.1]
point = [3.0, 0.0, 0.0]
[surface.law]
type = "elastic"
[surface.law.normal]
type = "hunt-crossley"
k = 3e4
alpha = 0.3
[[push]]
body = "one"
force = [1.0, 0.0, 0.0]
start = 0.01
duration = 0.05
"""


@cache
def bases() -> list[str]:
    """Return the texts of bundled scenes of small robots, and one with many tables."""
    folder = resources.files("heelstrike") / "scenes"
    return [TEXT, TEXT, *((folder / f"{name}.toml").read_text() for name in NAMES)]


def scene(random: Random) -> str:
    """Read a mutated scene and plan its simulator."""
    made = mutated_text(random.choice(bases()), random)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "scene.toml")
        path.write_text(made, errors="surrogatepass")
        try:
            sim = hs.load_scene(path).simulator()
        except HeelstrikeError:
            return "refused"
    assert np.isfinite(sim.dt).all()
    assert all(np.isfinite(value).all() for value in sim.parameters.values())
    return "taken"
