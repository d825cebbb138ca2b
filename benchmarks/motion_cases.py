"""The laws and motions of benchmarks.motions.

Ground is chosen by a wanted static depth: a robot that stands on eight points sinks by DEPTH.

    k = m g / (8 DEPTH)        c_n = sqrt(k m_n),  c_t = sqrt(k m_t): half of the critical damping

m_n and m_t are what the points feel together, along the normal and along the ground: 1 / lambda_max
of J H^-1 J^T, with armature and implicit servo in H (dynamics/effective_mass). HuntCrossley has a
material's alpha, 1 s/m; MicroMacro's membrane has k / 10 and c / 10, so that the floor below it
carries the robot, as in [Sugihara2006]; rigid laws have no such number. Two more show what goes
wrong: ground that is three times as soft, and friction that is damped too much for the step.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import heelstrike as hs
from heelstrike.dynamics.effective_mass import ActiveContact, contact_mass
from heelstrike.motion import Motion, jump, play, punch, stand_up, walk
from heelstrike.scene.servo import gains

DEPTH = 1e-4
"""[m]"""
ALPHA = 1.0
"""[s/m]"""
MU_S, MU_K = 0.8, 0.6
STEPS = 8
RATE = 1000.0
"""Poses a second of the motions: one a step."""


@dataclass(frozen=True, eq=False)
class Case:
    """A robot and its motions, all of one length, so that they share their compiled code."""

    robot: hs.Robot
    motions: dict[str, Motion]
    servo: Callable[[Motion], hs.Servo]


@dataclass(frozen=True)
class Ground:
    """What a robot stands on."""

    k: float
    """Stiffness at a point [N/m]."""
    normal: float
    """Mass that the points feel along the normal [kg]."""
    along: float
    """The same along the ground [kg]."""

    @classmethod
    def under(cls, case: Case, dt: float) -> Ground:
        """For a robot at the start of its first motion, in steps of dt."""
        robot, motion = case.robot, next(iter(case.motions.values()))
        servo = case.servo(motion)
        kp, kd = (
            gains(robot, given, own, name)
            for given, own, name in ((servo.kp, robot.kp, "kp"), (servo.kd, robot.kd, "kd"))
        )
        added = dt * (kd + robot.damping + dt * kp)
        x, y, z = (
            [ActiveContact(axis, [(point.body, point.position)]) for point in robot.points]
            for axis in np.eye(3)
        )
        return cls(
            k=robot.mass * robot.gravity / (len(robot.points) * DEPTH),
            normal=contact_mass(robot, motion.start, z, added),
            along=contact_mass(robot, motion.start, [*x, *y], added),
        )

    def limits(self, dt: float) -> dict[str, float]:
        """kappa + 2 gamma, stable below 4 (contact/stability.py), of the explicit springs."""

        def of(mass: float, times: float = 1.0) -> float:
            kappa = self.k * dt**2 / mass
            return kappa + 2 * times * float(np.sqrt(kappa))

        return {"normal": of(self.normal), "along": of(self.along), "c_t x 5": of(self.along, 5)}

    def laws(self) -> dict[str, Any]:
        """By name."""
        k, c_n, c_t = self.k, (self.k * self.normal) ** 0.5, (self.k * self.along) ** 0.5
        spring, coulomb = hs.LinearSpring(k=k, c=c_n), hs.Coulomb(mu_s=MU_S, mu_k=MU_K)
        bristle = hs.Bristle(mu_s=MU_S, mu_k=MU_K, k_t=k, c_t=c_t)
        soft = hs.LinearSpring(k=k / 10, c=c_n / 10)
        rigid = hs.Rigid(friction=coulomb)
        return {
            "MicroMacro": hs.MicroMacro(
                hs.Elastic(soft, hs.Kinetic(mu=MU_K)), rigid=rigid, thickness=5 * DEPTH
            ),
            "Rigid": rigid,
            "Signorini": hs.Signorini(friction=hs.Coulomb(mu_s=MU_K, mu_k=MU_K)),
            "FeedbackLinearized": hs.FeedbackLinearized(friction=coulomb),
            "HuntCrossley": hs.Elastic(hs.HuntCrossley(k=k, alpha=ALPHA), bristle),
            "TimestepDamper": hs.Elastic(hs.TimestepDamper(spring), bristle),
            "LinearSpring": hs.Elastic(spring, bristle),
            "LinearSpring, implicit": hs.Elastic(spring, coulomb, implicit=True),
            "Rigid, literal": hs.Rigid(friction=coulomb, rule="paper"),
            "HuntCrossley, 0.3 mm": hs.Elastic(hs.HuntCrossley(k=k / 3, alpha=ALPHA), bristle),
            "LinearSpring, c_t x 5": hs.Elastic(spring, replace(bristle, c_t=5 * c_t)),
        }


def hoap1(*names: str) -> Case:
    """Standing up, eight steps, a jump and a punch, or those that are named, with the model's own
    gains.
    """
    robot = hs.load("hoap1", collide="feet")
    builders: dict[str, Callable[[], Motion]] = {
        "stand up": partial(stand_up, robot),
        "walk": partial(walk, robot, steps=STEPS),
        "jump": partial(jump, robot),
        "punch": partial(punch, robot, "r_hand", speed=0.4, direction=(1, 0, 0.4), reach=0.04),
    }
    made = {name: builders[name]() for name in names or builders}
    return Case(robot, _alike(made), lambda motion: hs.Servo(reference=motion))


def sr1() -> Case | None:
    """SR1's three public walking patterns with their gains; None without HEELSTRIKE_DATA."""
    folder = os.environ.get("HEELSTRIKE_DATA")
    if not folder:
        return None
    file = Path(folder) / "sr1_walk.npz"
    robot = hs.load(str(Path(folder) / "robots" / "sr1.xml"), collide="feet")
    with np.load(file) as table:
        names = [str(name) for name in table["names"]]
        kp = dict(zip(names, table["pgain"], strict=True))
        kd = dict(zip(names, table["dgain"], strict=True))
    made = {f"SR1 {array}": play(robot, file, array=array) for array in ("q1", "q2", "q3")}
    return Case(robot, _alike(made), lambda motion: hs.Servo(kp=kp, kd=kd, reference=motion))


def _alike(motions: dict[str, Motion]) -> dict[str, Motion]:
    """At one rate, each held to the end of the longest."""
    finer = {name: motion.finer(RATE) for name, motion in motions.items()}
    rows = max(len(np.asarray(motion.times)) for motion in finer.values())
    return {name: _held(motion, rows) for name, motion in finer.items()}


def _held(motion: Motion, rows: int) -> Motion:
    def filled(table: Any) -> Any:
        if table is None:
            return None
        table = np.asarray(table)
        return np.concatenate([table, np.repeat(table[-1:], rows - len(table), axis=0)])

    return replace(
        motion,
        times=np.arange(rows) / RATE,
        q=filled(motion.q),
        torque=filled(motion.torque),
        feet=filled(motion.feet),
        settings={**motion.settings, "seconds": motion.duration},
    )
