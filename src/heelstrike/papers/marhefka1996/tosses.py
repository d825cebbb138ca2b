"""Real tosses of a cube: how they are read, begun, simulated and compared.

440 tosses of a 104.8 mm cube onto a board, tracked at 148 Hz: [Pfrommer2020] ContactNets, its
public data, found by the variable HEELSTRIKE_DATA. A simulation begins three frames before a corner
can touch (z <= sqrt(3) h) and is compared with every later frame, after [Acosta2022]:

    position: mean |dp| / width      rotation: mean theta      e_q = mean |dp|^2 / h + mean theta^2

with lengths in metres and angles in radians. Where four frames or more precede the start, its
velocity comes from all of them: a parabola with the known g, the way between the ends, and one
rotation about one axis, for the cube's inertia is the same about every axis.
The data's own floor: lengths about 2 % short, +-2 mm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.contact.elastic import Elastic
from heelstrike.errors import HeelstrikeError
from heelstrike.papers.data import data_file as find
from heelstrike.papers.marhefka1996.closed_form import Floats

FILE = "cube_toss_train.npz"
HALF = 0.0524
"""Half of the cube's width [m]."""
RATE = 148
"""Frames a second."""
SUBSTEPS = 10
"""Steps of the simulation in a frame."""
GRAVITY = 9.81
BEFORE = 3
"""Frames between the start and the first that can touch."""
LEAST = 4
"""Frames of flight from which a velocity is fitted."""


@dataclass(frozen=True)
class Tosses:
    """Tosses side by side: where a simulation begins, and what was measured from there on."""

    q0: Floats
    """(toss, 7): position, quaternion xyzw."""
    v0: Floats
    """(toss, 6): linear and angular velocity in the cube's frame."""
    position: Floats
    """(toss, frame, 3) [m]; NaN after a toss has ended."""
    quaternion: Floats
    """(toss, frame, 4), xyzw; NaN after a toss has ended."""

    def __len__(self) -> int:
        return len(self.q0)

    @property
    def frames(self) -> int:
        return self.position.shape[1]

    def chosen(self, which: slice | np.ndarray) -> Tosses:
        """Some of them."""
        arrays = (self.q0, self.v0, self.position, self.quaternion)
        return Tosses(*(array[which] for array in arrays))


def data_file() -> Path | None:
    """Where the tosses are; None where there are none."""
    return find(FILE)


def read(path: Path) -> Tosses:
    """All tosses of the file."""
    with np.load(path) as data:
        if not {"x", "offset"} <= set(data):
            raise HeelstrikeError(f"{path} holds no tosses: it lacks the arrays x and offset")
        states, offset = data["x"].astype(float), data["offset"]
    begun = [_begin(states[a:b]) for a, b in pairwise(offset)]
    frames = max(len(rest) for _, _, rest in begun)
    poses = np.full((len(begun), frames, 7), np.nan)
    for row, (_, _, rest) in zip(poses, begun, strict=True):
        row[: len(rest)] = rest
    q0, v0 = (np.array([one[k] for one in begun]) for k in (0, 1))
    return Tosses(q0, v0, poses[..., :3], poses[..., 3:])


def _begin(states: Floats) -> tuple[Floats, Floats, Floats]:
    """q0, v0 and the poses from the start on, of one toss: rows of position, quaternion wxyz,
    velocity (world), angular velocity (body).
    """
    near = np.flatnonzero(states[:, 2] <= np.sqrt(3) * HALF)
    if not len(near):
        raise HeelstrikeError("a toss never comes near the ground; leave it out of the file")
    start = max(0, int(near[0]) - BEFORE)
    rotations = Rotation.from_quat(states[:, [4, 5, 6, 3]])
    velocity, spin = states[start, 7:10], states[start, 10:13]
    if start >= LEAST:
        velocity, spin = flight(states[: start + 1, :3], rotations[: start + 1])
    inward = rotations[start].inv()
    poses = np.concatenate([states[:, :3], rotations.as_quat()], axis=1)[start:]
    return poses[0], np.concatenate([inward.apply(velocity), spin]), poses


def flight(position: Floats, rotations: Rotation) -> tuple[Floats, Floats]:
    """Velocity (world) and angular velocity (body) at the last frame of a free flight."""
    t = (np.arange(len(position)) - len(position) + 1) / RATE
    along = (position[-1] - position[0]) / -t[0]
    _, vertical = np.polynomial.polynomial.polyfit(t, position[:, 2] + GRAVITY * t**2 / 2, 1)
    spin = (rotations[0].inv() * rotations[-1]).as_rotvec() / -t[0]
    return np.array([along[0], along[1], vertical]), spin


def simulate(
    tosses: Tosses,
    law: Elastic | None,
    vary: Mapping[str, Floats] | None = None,
    substeps: int = SUBSTEPS,
) -> Floats:
    """Poses (set, toss, frame, 7); `vary` holds parameters by path, a value a set.

    One world a toss and set, all in one run. Without a law there is no ground. A cube that
    diverged is infinitely far away.
    """
    ground = () if law is None else (hs.Plane(name="ground", law=law),)
    scene = hs.Scene(hs.load("cube"), *ground, gravity=(0, 0, -GRAVITY))
    sets = len(next(iter(vary.values()))) if vary else 1
    sim = hs.Simulator(scene, dt=1 / (RATE * substeps))
    steps = substeps * (tosses.frames - 1)
    data = sim.run(
        steps=steps,
        q0=np.tile(tosses.q0, (sets, 1)),
        v0=np.tile(tosses.v0, (sets, 1)),
        worlds=sets * len(tosses),
        vary={path: np.repeat(value, len(tosses)) for path, value in (vary or {}).items()},
        record=("q",),
        every=substeps,
        progress=False,
    ).data
    poses, diverged = data.q.values, data.failed.values >= 0
    if data.steps.values[~diverged].min(initial=steps) < steps:
        raise KeyboardInterrupt  # which ends a run early, quietly
    poses[diverged, :, 0] = np.inf
    return poses.reshape(sets, len(tosses), -1, 7)


@dataclass(frozen=True)
class Errors:
    """What a simulation is off, (..., toss, frame); NaN after a toss has ended."""

    position: Floats
    """Distance of the centres [m]."""
    rotation: Floats
    """Angle between the two [rad]."""

    @property
    def width(self) -> Floats:
        """Mean over a toss, in % of the cube's width."""
        return 100 * np.nanmean(self.position, axis=-1) / (2 * HALF)

    @property
    def degrees(self) -> Floats:
        """Mean over a toss."""
        return np.degrees(np.nanmean(self.rotation, axis=-1))

    @property
    def e_q(self) -> Floats:
        """[Acosta2022], one number a toss."""
        squares = (np.nanmean(x**2, axis=-1) for x in (self.position, self.rotation))
        position, rotation = squares
        return position / HALF + rotation


def errors(tosses: Tosses, poses: Floats) -> Errors:
    """Of simulated poses (..., toss, frame, 7) against the measured ones."""
    distance = np.linalg.norm(poses[..., :3] - tosses.position, axis=-1)
    turn = np.abs(np.sum(poses[..., 3:] * tosses.quaternion, axis=-1))
    return Errors(distance, 2 * np.arccos(np.minimum(turn, 1)))
