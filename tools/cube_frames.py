"""Measures how far off first impacts of the tossed cube are under each turn of its frame.

    HEELSTRIKE_DATA=... python tools/cube_frames.py

writes src/heelstrike/validation/fits/cube-frames.json: for every training toss and each quarter
turn about x, the mean error of the rotation in AFTER frames from the second on in which a corner
can touch, simulated by LAW. docs/real-data.md says what it is for.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from heelstrike.identification.space import Space
from heelstrike.validation.candidates import candidates
from heelstrike.validation.cube import HALF, MEASURED, Cube
from heelstrike.validation.cube_frames import MISFITS, TURNS
from heelstrike.validation.files import training_file
from heelstrike.validation.measured_set import Floats, Ints
from heelstrike.validation.models import LawModel

LAW, VALUES = (
    "poisson-spring",
    {"ground.normal.k": 5e4, "ground.normal.e": 0.2, "ground.friction.mu": 0.175},
)
"""A law that was fitted without turns, rounded; other laws turn the cube alike."""
OFFSET = 6.5e-3
"""Of the centre of mass, with which the misfits are least [m]."""
FIRST, AFTER = 2, 8
"""Frames: from when a corner can touch to the first that counts, and how many do."""


class Turned(Cube):
    """The cube with the same turn in all tosses."""

    turn = 0

    def _turns(self, ids: Ints) -> Ints:
        return np.full(len(ids), self.turn)


def misfits(turn: int) -> tuple[Ints, Floats]:
    """Return ids of the training tosses, and their errors [deg]."""
    cube = Turned(replace(MEASURED, offset=OFFSET))
    cube.turn = turn
    cases = cube.read(training_file(cube.stem))
    chosen = candidates()[LAW]
    model = LawModel(Space.of(chosen.ranges), cube.simulator(chosen.law))
    near = np.argmax(cases.measured[..., 2] <= np.sqrt(3) * HALF, axis=1)
    cases = cases.cut(int(near.max()) + FIRST + AFTER)
    predicted = model.predict(cases, {name: np.array([x]) for name, x in VALUES.items()})[0]
    angle = cube.errors(cases, predicted)["rotation"]
    frames = near[:, None] + FIRST + np.arange(AFTER)
    return cases.ids, np.nanmean(np.take_along_axis(angle, frames, axis=1), axis=1)


def main() -> None:
    found = [misfits(turn) for turn in range(len(TURNS))]
    errors = np.round(np.stack([own for _, own in found], axis=1), 2)
    rows = ",\n  ".join(json.dumps(row) for row in errors.tolist())
    ids = json.dumps(found[0][0].tolist())
    MISFITS.write_text(f'{{\n "ids": {ids},\n "misfits": [\n  {rows}\n ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
