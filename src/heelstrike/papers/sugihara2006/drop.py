"""The drop of fig 6: the robot falls 0.05 m onto the floor of (13), and of (14).

Both floors are in one scene, and every world has one of them below it. All surface vertices touch,
as in the paper: the 137 of hoap1's shells. The paper gives neither the pose, nor how the joints
were driven, nor their rotor inertia. So there is an ensemble of poses, the stance first, and there
are variants: with and without rotor inertia, and the model's servo implicit or explicit
(`hs.Servo(implicit=False)`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

import heelstrike as hs
from heelstrike.dynamics.effective_mass import ActiveContact, contact_mass
from heelstrike.papers.sugihara2006.closed_form import HEIGHT, C
from heelstrike.papers.sugihara2006.slide import EQUATIONS, law, parameter
from heelstrike.robot.placement import lowest_place, placements

if TYPE_CHECKING:
    import xarray as xr

MU = 0.4
"""Kinetic friction, section IV-B."""
DURATION, LANDED = 1.0, 0.11
"""From LANDED to DURATION is looked at [s], ours; the robot touches at 0.101 s."""
TILT, BEND = np.deg2rad(30), 0.3
"""Of the ensemble [rad], ours: largest tilt of the base, and change of a joint from the stance."""
GAINED = 0.05
"""Work of the floor above which it has created energy [J]; the fall brings 2.5 J."""
SAMPLE = 5e-3
"""Time between two samples, about [s]."""
RECORD = ("com", "work_contact", "q", "torque")
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Variant:
    """Properties of the robot that the paper does not state."""

    rotors: bool
    implicit: bool
    """The servo."""

    @property
    def name(self) -> str:
        rotors = "rotors" if self.rotors else "no rotors"
        return f"{rotors}, {'implicit' if self.implicit else 'explicit'} servo"


VARIANTS = tuple(Variant(*choice) for choice in product((True, False), repeat=2))


@dataclass(frozen=True)
class Drops:
    """Results of drops under each law, (law, world)."""

    peak: np.ndarray
    """Highest place of the CoM from 10 ms after touchdown on, over where it fell from [m]."""
    created: np.ndarray
    """Largest work of the floor since the start, at least 0 [J]."""
    failed: np.ndarray
    time: np.ndarray
    """(world, sample) [s]"""
    rise: np.ndarray
    """Of the CoM over where it fell from, (law, world, sample) [m]."""
    samples: dict[str, np.ndarray]
    """What was recorded, (law, world, sample, ...)."""

    @property
    def thrown(self) -> np.ndarray:
        """Worlds in which the CoM rises above its start, or which diverged."""
        return np.asarray((self.peak > 0) | self.failed)

    @property
    def gained(self) -> np.ndarray:
        """Worlds in which the floor has created energy."""
        return np.asarray((self.created > GAINED) | self.failed)


@cache
def simulator(variant: Variant) -> hs.Simulator:
    """hoap1 above two floors, floor 13 and floor 14."""
    robot = hs.load("hoap1", collide="all")
    robot = replace(robot, armature=variant.rotors * robot.armature)
    floors = [
        hs.Plane(name=f"floor {e}", law=hs.Elastic(law(e), hs.Kinetic(mu=MU))) for e in EQUATIONS
    ]
    servo = hs.Servo(implicit=variant.implicit)
    # in some of the poses the feet overlap, and would push one another apart
    return hs.Simulator(hs.Scene(robot, *floors, self_contact=False), control=servo)


def poses(robot: hs.Robot, count: int) -> np.ndarray:
    """Return the stance, and others tilted and bent at random, HEIGHT above the floor, (count,
    nq).
    """
    rng = np.random.default_rng(0)
    made = np.tile(robot.pose("stance"), (count, 1))
    for i, q in enumerate(made):
        if i:
            angle, about = TILT * np.sqrt(rng.uniform()), rng.uniform(0, 2 * np.pi)
            turn = angle * np.array([np.cos(about), np.sin(about), 0.0])
            q[3:7] = pin.Quaternion(pin.exp3(turn)).coeffs()
            bent = q[7:] + rng.uniform(-BEND, BEND, robot.nq - 7)
            q[7:] = np.clip(bent, robot.lower[7:], robot.upper[7:])
        q[2] += HEIGHT - heights(robot, q).min()
    return made


def heights(robot: hs.Robot, q: np.ndarray) -> np.ndarray:
    """Return the depth of every contact point [m]."""
    place = placements(robot, q)
    return np.array([lowest_place(p, place[p.body])[2] for p in robot.points])


def felt(sim: hs.Simulator) -> float:
    """1 / lambda_max of the soles' corners with free joints [kg]."""
    robot = sim.robot
    corners = [
        ActiveContact(UP, [(p.body, p.position)]) for p in hs.load("hoap1", collide="feet").points
    ]
    return float(contact_mass(robot, robot.pose("stance"), corners))


def drops(
    sim: hs.Simulator,
    dt: float | np.ndarray,
    q0: np.ndarray,
    c: np.ndarray | None = None,
    seconds: float = DURATION,
    sample: float = SAMPLE,
) -> Drops:
    """Return a world for each pose (and step, and damping), on each of the floors."""
    steps = np.broadcast_to(dt, len(q0))
    every = max(round(sample / float(steps.max())), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # worlds that diverge are the point
        data = sim.run(
            steps=int(np.ceil(seconds / steps.min() / every)) * every,
            q0=np.tile(q0, (len(EQUATIONS), 1)),
            v0=np.zeros((len(EQUATIONS) * len(q0), sim.robot.nv)),
            worlds=len(EQUATIONS) * len(q0),
            vary=_varied(steps, np.full(len(q0), C) if c is None else c),
            record=RECORD,
            every=every,
            progress=False,
            check=False,
        ).data
    return _judged(data, steps, every, seconds)


def _varied(steps: np.ndarray, c: np.ndarray) -> dict[str, Any]:
    """Return step and floors of all worlds; the other law's floor is far below."""
    count, laws = len(steps), len(EQUATIONS)
    vary: dict[str, Any] = {"dt": np.tile(steps, laws)}
    for i, equation in enumerate(EQUATIONS):
        place = np.zeros((laws * count, 3))
        place[:, 2] = -1e3
        place[i * count : (i + 1) * count] = 0
        vary[f"floor {equation}.point"] = place
        vary[parameter(equation, "c", f"floor {equation}")] = np.tile(c, laws)
    return vary


def _judged(data: xr.Dataset, steps: np.ndarray, every: int, seconds: float) -> Drops:
    shape = (len(EQUATIONS), len(steps))
    samples = {name: data[name].values.reshape(*shape, *data[name].shape[1:]) for name in RECORD}
    failed = data.failed.values.reshape(shape)
    step = every * np.arange(samples["com"].shape[2])
    time = steps[:, None] * step
    valid = (time <= seconds) & ((failed < 0)[..., None] | (step < failed[..., None]))
    rise = samples["com"][..., 2] - samples["com"][:, :, :1, 2]
    work = np.where(valid, samples["work_contact"], 0)
    return Drops(
        peak=np.where(valid & (time >= LANDED), rise, -np.inf).max(axis=2),
        created=np.maximum(work.max(axis=2), 0),
        failed=(failed >= 0) & (failed * steps <= seconds),
        time=time,
        rise=np.where(valid, rise, np.nan),
        samples=samples,
    )
