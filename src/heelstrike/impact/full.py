"""A hit in the full simulator, with the soles standing on the floor by contact.

It plays the part that OpenHRP3 has in [Tsujita2009], section III: static and dynamic friction 5 and
5, PD servo (10) with torque limits (12), references that go on at the joints' velocities before the
hit. Two floors: "rigid" under the symplectic step, "elastic" (springs, bristles) under RK4. Ours:
the servo also carries the posture's weight, as a settled robot's does, and the soles start loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.contact.laws.rigid import Rigid
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.base import floats
from heelstrike.impact.hit import Hit
from heelstrike.impact.hit_batch import HitBatch
from heelstrike.impact.options import Options, hit_batch
from heelstrike.impact.robot_and_target import (
    HAND,
    ROBOT,
    THING,
    WALL,
    combined,
    face,
    face_centre,
    soles,
)
from heelstrike.impact.support import margin, support
from heelstrike.record.recording import Recording
from heelstrike.robot.robot import Robot
from heelstrike.scene.controller import ControlState, controller
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import positions
from heelstrike.scene.surfaces import Plane
from heelstrike.simulate.simulator import Simulator

MU = 5.0
"""Static and dynamic friction of soles and floor, section III."""
SAG, LAG = 3.5e-5, 2e-3
"""Elastic floor: depth to which the weight presses the soles [m], and damping over stiffness [s];
for hrp2 2.0e6 N/m and 4.1e3 N s/m a point, and the same along the floor.
"""
FLOORS = ("rigid", "elastic")


def floor_law(name: str, made: Hit) -> tuple[SurfaceLaw, str]:
    """Return the law and the integrator of a floor under a robot."""
    if name not in FLOORS:
        raise HeelstrikeError(f"no floor '{name}'; floors: {', '.join(FLOORS)}")
    if name == "rigid":
        return Rigid(restitution=0.0, friction=Coulomb(MU, MU)), "symplectic"
    count = sum(p.body in made.held for p in made.robot.points)
    k = made.robot.mass * made.robot.gravity / (count * SAG)
    c = LAG * k
    return Elastic(LinearSpring(k, c, damping="both"), Bristle(MU, MU, k, c)), "rk4"


@dataclass(frozen=True, eq=False)
class FullRun:
    """Hits in the full simulation, one entry per hit."""

    speed: np.ndarray
    """Speed of the hand along the hit, just before [m/s]."""
    peak: np.ndarray
    """Largest force [N]."""
    impulse: np.ndarray
    """Impulse of all contact with the target [N s]."""
    duration: np.ndarray
    """Time in contact [s]."""
    time: np.ndarray
    """Times of the records [s]."""
    force: np.ndarray
    """Contact force, (hits, times) [N]."""
    cop: np.ndarray
    """Centre of pressure of all soles, (hits, times, 2) [m]; NaN in the air."""
    margin: np.ndarray
    """Distance of the centre of pressure to the nearest edge of the first support polygon [m]."""
    tilt: np.ndarray
    """Angle by which the trunk has turned at the end [rad]."""
    lifted: np.ndarray
    """Share of the time in which a point of a sole is off the floor, (hits)."""
    recording: Recording
    simulator: Simulator
    """Simulator at the end of the hit."""


def simulate_full(
    robot: Robot,
    q: ArrayLike,
    link: str,
    direction: str | ArrayLike = "x",
    speed: ArrayLike | None = None,
    floor: str = "rigid",
    every: int = 10,
    **options: Unpack[Options],
) -> FullRun:
    """Simulate hits as in `estimate`, with the soles on a floor at the height of the lowest."""
    batch = hit_batch(robot, q, link, direction, speed, **options)
    if not floats(robot) or not any(p.body in batch.hit.held for p in robot.points):
        raise HeelstrikeError(
            f"{robot.name} does not stand on contact points of the held links; the full "
            "simulation needs a floating robot on its soles"
        )
    return _Full(batch, floor).run(every)


@controller
def following(s: ControlState, kp: Any = 0.0, kd: Any = 0.0, start: Any = 0.0, rate: Any = 0.0,
              weight: Any = 0.0, limit: Any = 0.0) -> Any:  # fmt: skip
    """Controller (10), (12) about a reference that moves at constant velocity, with gravity
    torques.
    """
    tau = kp * (start + rate * s.t - s.q) + kd * (rate - s.v)
    return ca.fmax(-limit, ca.fmin(limit, tau + weight))


class _Full:
    def __init__(self, job: HitBatch, floor: str) -> None:
        self.hit = made = job.hit
        self.settings, self.servo, self.columns = job.settings, job.servo, job.columns
        self.law, self.integrator = floor_law(floor, made)
        self.turning, self.speed = job.turning(job.own())
        self.weight = job.weight()
        self.hits = len(self.speed)
        self.q = np.array(self.columns["q"], dtype=float)
        found = made.at(self.q)
        self.hand = found["hand"]
        twist = np.einsum("hbn,hn->hb", found["base"], self.turning)
        self.v = np.hstack([twist, self.turning])

    def run(self, every: int) -> FullRun:
        """Run all hits in one batch."""
        whole = combined(self.hit, self.settings.target)
        heights = np.array([support(self.hit, q)[1] for q in self.q])
        ground = Plane(self.law, name="floor", touches=soles(self.hit))
        wall = face(self.hit, Elastic(self.settings.law, friction=None))
        law_of = following(**self.parameters(whole, 0))
        sim = Simulator(
            Scene(whole, ground, wall), dt=self.settings.dt, control=law_of,
            integrator=self.integrator, worlds=self.hits,
        )  # fmt: skip
        vary: dict[str, ArrayLike] = {f"{WALL}.point": face_centre(
            self.hit, self.hand, self.columns["target.gap"]
        )}  # fmt: skip
        vary["floor.point"] = np.outer(heights, [0.0, 0.0, 1.0])
        rows = [self.parameters(whole, k) for k in range(self.hits)]
        for name in ("start", "rate", "weight"):
            vary[f"controller.{name}"] = np.stack([row[name] for row in rows])
        q0 = np.hstack([self.standing(), np.zeros((self.hits, 1))])
        v0 = np.hstack([self.v, self.columns["target velocity"][:, None]])
        recorded = ["q", "v", "normal_force", "force", "contact_position"]
        run = sim.run(
            steps=self.settings.steps, q0=q0, v0=v0, worlds=self.hits, vary=vary, every=every,
            record=recorded, progress=False,
        )  # fmt: skip
        return self.read(run, sim)

    def standing(self) -> np.ndarray:
        """Return the postures, lowered until an elastic floor carries the weight."""
        q = self.q.copy()
        if isinstance(self.law, Elastic):
            q[:, 2] -= SAG
        return q

    def parameters(self, whole: Robot, k: int) -> dict[str, np.ndarray]:
        """Return the controller's parameters for one hit, by velocity index of robot and target."""
        robot, hit, target = self.hit.robot, self.hit, self.settings.target
        nothing, base = np.zeros(1), np.zeros(robot.nv - hit.n)
        mass = whole.bodies[whole.body(f"{THING}/block")].mass
        lift = np.array([mass * robot.gravity * hit.direction[2]])
        spring, damper = np.ravel(target.k)[:1], np.ravel(target.c)[:1]
        return {
            "kp": np.concatenate([base, self.servo["kp"], spring]),
            "kd": np.concatenate([base, self.servo["kd"], damper]),
            "start": np.concatenate([positions(robot, self.q[k]), nothing]),
            "rate": np.concatenate([base, self.turning[k], nothing]),
            "weight": np.concatenate([base, self.weight[k], lift]),
            "limit": np.concatenate([base, self.servo["limit"], nothing + 1e30]),
        }

    def read(self, run: Recording, sim: Simulator) -> FullRun:
        """Return the results of a recording."""
        data = run.data
        hand = f"{ROBOT}/{HAND} on {WALL}"
        soles = [f"{ROBOT}/{p.name} on floor" for p in self.hit.robot.points
                 if p.body in self.hit.held]  # fmt: skip
        force = data.normal_force.sel(point=hand).values
        load = data.force.sel(point=soles, axis="z").values
        place = data.contact_position.sel(point=soles).values[..., :2]
        total = load.sum(axis=-1)
        weighted = np.einsum("htp,htpd->htd", load, place)
        cop = weighted / np.where(total > 0, total, np.nan)[..., None]
        inside = np.stack(
            [margin(path, support(self.hit, q)[0]) for path, q in zip(cop, self.q, strict=True)]
        )
        blow = data.impulse.sel(body=f"{THING}/block").values @ self.hit.direction
        time = np.asarray(data.time.values, dtype=float)
        turned = _turned(data.q.values[:, 0, 3:7], data.q.values[:, -1, 3:7])
        return FullRun(
            self.speed, data.peak_force.sel(point=hand).values, np.abs(blow),
            (force > 0).mean(axis=1) * self.settings.duration, time, force, cop,
            np.nan_to_num(inside, nan=-np.inf), turned,
            (load[:, 1:] <= 0).any(axis=-1).mean(axis=-1), run, sim,
        )  # fmt: skip


def _turned(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the angle between quaternions [rad]."""
    return 2 * np.arccos(np.clip(np.abs(np.sum(before * after, axis=-1)), 0, 1))
