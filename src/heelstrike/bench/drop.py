"""Drop and stand: a robot falls 1 cm onto its feet and stands, under its servo, for one second.

Simulated seconds per second of wall time are those of this scene, each simulator with the largest
step that keeps the base's height within 1 mm of its own converged path (accuracy.py). MuJoCo takes
the integrator that bears the larger step: its file's, or implicitfast.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from heelstrike.bench.accuracy import GRID, PARTS, Accuracy, largest_step
from heelstrike.bench.peer import Peer
from heelstrike.bench.standing import Case, first_pose
from heelstrike.bench.steps import batch_size
from heelstrike.bench.timing import Contender, timed
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.scene.surfaces import Plane
from heelstrike.simulate.simulator import Simulator

HEIGHT, DURATION = 0.01, 1.0
"""[m], [s]"""
TIMES = round(DURATION / GRID)


class Drop:
    """Ours, under one law."""

    def __init__(self, case: Case, law: SurfaceLaw, worlds: int) -> None:
        robot = case.robot
        scene, control = Scene(robot, Plane(law=law)), Servo(reference=first_pose(robot))
        self.q0 = first_pose(robot, HEIGHT)
        self.one = Simulator(scene, case.dt, control)
        self.accuracy = largest_step(self.heights)
        once = batch_size(partial(self.heights, PARTS[-1]), PARTS[-1] * TIMES)
        self.worlds = min(once, worlds)
        self.many = Simulator(scene, case.dt, control, worlds=self.worlds)

    def heights(self, parts: int) -> np.ndarray:
        """Return the height of the base at multiples of GRID; NaN after a failure."""
        sim = self.one
        sim.parameters["dt"] = GRID / parts
        sim.reset(q0=self.q0)
        found = np.full(TIMES, np.nan)
        for k in range(TIMES):
            sim.step(parts)
            if sim.failed[0] >= 0:
                break
            found[k] = sim.state["q"][2]
        return found

    def contenders(self, threads: int) -> dict[str, Contender]:
        """Whole runs from the drop on, nothing recorded; their work is simulated seconds."""
        parts = self.accuracy.parts
        if parts is None:
            return {}
        steps = parts * TIMES
        for sim in (self.one, self.many):
            sim.parameters["dt"] = GRID / parts

        def one() -> None:
            self.one.reset(q0=self.q0)
            self.one.step(steps)

        def many() -> None:
            self.many.reset(q0=self.q0)
            self.many.run(steps=steps, record="final", threads=threads, progress=False)

        return {
            "one": Contender(one, DURATION),
            "batch": Contender(many, DURATION * self.worlds, time.perf_counter),
        }


class PeerDrop:
    """MuJoCo's."""

    def __init__(self, case: Case, worlds: int) -> None:
        self.peer, self.worlds = Peer(case.source, case.robot), worlds
        self.q0 = first_pose(case.robot, HEIGHT)
        kinds = self.peer.integrators()
        found = {name: self._judged(kind) for name, kind in kinds.items()}
        self.integrator = max(found, key=lambda name: found[name].dt or 0.0)
        self.accuracy = found[self.integrator]
        self.peer.model.opt.integrator = kinds[self.integrator]

    def _judged(self, integrator: int) -> Accuracy:
        self.peer.model.opt.integrator = integrator
        return largest_step(self.heights)

    def heights(self, parts: int) -> np.ndarray:
        peer, found = self.peer, np.full(TIMES, np.nan)
        peer.model.opt.timestep = GRID / parts
        peer.start(self.q0)
        for k in range(TIMES):
            peer.step(parts)
            if peer.diverged():
                break
            found[k] = peer.data.qpos[2]
        return found

    def contenders(self, threads: int) -> dict[str, Contender]:
        parts, peer = self.accuracy.parts, self.peer
        if parts is None:
            return {}
        peer.model.opt.timestep = GRID / parts
        steps = parts * TIMES

        def one() -> None:
            peer.start(self.q0)
            peer.step(steps)

        peer.start(self.q0)
        many = peer.rollout(self.worlds, steps, threads)
        return {
            "one": Contender(one, DURATION),
            "batch": Contender(many, DURATION * self.worlds, time.perf_counter),
        }


def drops(
    case: Case, laws: Mapping[str, SurfaceLaw], worlds: int, threads: int, turns: int
) -> dict[str, dict[str, Any]]:
    """Return for each law and MuJoCo the largest step and simulated seconds per second."""
    made: dict[str, Drop | PeerDrop] = {"mujoco": PeerDrop(case, worlds)}
    made |= {name: Drop(case, law, worlds) for name, law in laws.items()}
    contenders = {
        f"{name} {kind}": each
        for name, drop in made.items()
        for kind, each in drop.contenders(threads).items()
    }
    times = timed(contenders, turns)
    found: dict[str, dict[str, Any]] = {}
    for name, drop in made.items():
        found[name] = drop.accuracy.as_dict() | {"worlds": drop.worlds}
        if isinstance(drop, PeerDrop):
            found[name]["integrator"] = drop.integrator
        for kind in ("one", "batch"):
            spent = times.get(f"{name} {kind}")
            found[name][kind] = spent and {"rate": 1e6 / spent["us"], "spread": spent["spread"]}
    return found
