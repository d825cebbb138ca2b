"""G1 on rigid ground beside MuJoCo: on two feet, with points on the whole body, and lying.

    python -m benchmarks.rigid_speed [--json FILE] [--quick]

G1 (HEELSTRIKE_DATA/robots/g1.xml), `hs.Rigid` with mu 0.8 and 0.6, steps of 2 ms, the servo of its
file with torque limits and dry friction. MuJoCo has the same file and the same shapes: the spheres
of our contact points touch the plane, and nothing else touches anything. It has its own solver and
actuators. "Whole body" has contact points on 20 bodies (whole_body.py) and stands on its feet;
"lying" is the same after a fall from 0.45 m, three seconds later.

All work on one thread, times are CPU times of that thread, and contenders of a load take turns.
One world, and MuJoCo, are means over four starts. Seconds to compile are CPU seconds from a scene
to its code, tracing included, with an empty cache; hoap1 with all its 137 points is compiled too.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.whole_body import Faller, faller, laid, swaying
from heelstrike.bench.peer import Peer
from heelstrike.bench.standing import case, empty_cache, first_pose
from heelstrike.bench.steps import CALL, STEPS, WORLDS
from heelstrike.bench.timing import Contender, seconds_of, timed
from heelstrike.errors import HeelstrikeError
from heelstrike.robot.placement import heights, placements

LAW = hs.Rigid(friction=hs.Coulomb(0.8, 0.6))
TURNS, QUICK_TURNS = 9, 3
FEW = 32
"""Worlds of a batch in a quick run."""
STARTS = 4
BATCH_STEPS = 20
"""Steps of a batch in one call."""
NEAR = 1e-3
"""Height below which a point counts as a contact [m]."""
HEIGHT, LIES, QUICK_LIES = 0.45, 3.0, 1.0
"""Height of the base that the robot falls from [m], and time until it is measured [s]."""
STAND = 3.0
"""Time for which a standing robot settles; until then its joints creep, and rounds repeat [s]."""
STILL = 0.1
"""Speed of the base below which a robot counts as at rest [m/s]."""
TARGETS = {
    "two feet": {"batch, float64": 30, "batch, float32": 60, "one world": 14, "recorded": 10},
    "whole body": {"batch, float64": 10, "batch, float32": 25, "one world": 6},
    "lying": {"batch, float64": 5, "batch, float32": 12, "one world": 3},
}
"""MuJoCo's time over ours that the solver is built for."""


@dataclass(frozen=True)
class Kind:
    """A way to step: how many worlds, in which numbers, and what is recorded."""

    batch: bool = False
    dtype: str = "float64"
    record: str = "final"


KINDS = {
    "batch, float64": Kind(batch=True),
    "batch, float32": Kind(batch=True, dtype="float32"),
    "one world": Kind(),
    "recorded": Kind(record="standard"),
}
"""Ways to step; the last one is one world with its default recording of every step, labelled."""
QUICK_KINDS = ("batch, float64", "one world")
"""Ways to step a whole body in a quick run."""


def main() -> None:
    options = parser(__doc__, "four bodies, 32 worlds, few turns").parse_args()
    warnings.simplefilter("ignore")
    if not os.environ.get("HEELSTRIKE_DATA"):
        raise SystemExit("set HEELSTRIKE_DATA to the folder that has robots/g1.xml")
    found, quick = case("g1"), options.quick
    feet = Faller("g1", found.robot, found.dt)
    console = Console()
    result: dict[str, Any] = {}
    with empty_cache(), console.status("measuring"):
        two = Contest(found.source, feet, KINDS, quick)
        result["two feet"] = two.standing()
        whole = Contest(found.source, faller("g1", quick), QUICK_KINDS if quick else KINDS, quick)
        result["whole body"] = whole.standing()
        result["lying"] = whole.lying()
        result["compile_s"] = {
            **{f"g1, two feet, {kind}": seconds for kind, seconds in two.compile_s.items()},
            **{f"g1, whole body, {kind}": seconds for kind, seconds in whole.compile_s.items()},
        }
        hoap1 = faller("hoap1", quick)
        seconds = compile_seconds(hoap1.simulator(LAW, WORLDS), "final")
        result["compile_s"][f"hoap1, {len(hoap1.robot.points)} points"] = seconds
    show(console, result)
    keep(result, options.json)


class Contest:
    """One robot, stepped in several ways by us, and by MuJoCo with the same shapes."""

    def __init__(self, source: Path, robot: Faller, kinds: Iterable[str], quick: bool) -> None:
        self.robot, self.dt, self.quick = robot.robot, robot.dt, quick
        self.worlds = FEW if quick else WORLDS
        self.sims: dict[str, list[hs.Simulator]] = {}
        self.compile_s: dict[str, float] = {}
        for name in kinds:
            kind = KINDS[name]
            count, worlds = (1, self.worlds) if kind.batch else (STARTS, 1)
            sims = [robot.simulator(LAW, worlds, kind.dtype) for _ in range(count)]
            self.compile_s[name] = compile_seconds(sims[0], kind.record)
            self.sims[name] = sims
        edit = partial(only_points, robot.robot)
        self.peers = [Peer(source, robot.robot, edit) for _ in range(STARTS)]

    def standing(self) -> dict[str, Any]:
        """Return times on the feet, after a second."""
        q0, _ = swaying(self.robot, self.worlds, drop=0.0, speed=0.0)
        return self.times(q0, STAND, height=first_pose(self.robot)[2])

    def lying(self) -> dict[str, Any]:
        """Return times on the ground, after a fall."""
        q0 = laid(self.robot, self.worlds, HEIGHT)
        return self.times(q0, QUICK_LIES if self.quick else LIES)

    def times(self, q0: np.ndarray, settle: float, height: float | None = None) -> dict[str, Any]:
        """Return times from starts (worlds, nq), after some time [s], and how the robots ended.

        Raises:
            HeelstrikeError: a world failed, or its base is not at its height [m] if one is given.
        """
        steps = round(settle / self.dt)
        for sims in self.sims.values():
            for k, sim in enumerate(sims):
                sim.reset(q0=q0 if sim.worlds > 1 else q0[k])
                sim.step(steps)
        for k, peer in enumerate(self.peers):
            peer.start(q0[k])
            peer.step(steps)
        times = timed(self.contenders(), QUICK_TURNS if self.quick else TURNS)
        ends = {name: np.concatenate([end(sim) for sim in s]) for name, s in self.sims.items()}
        ends["MuJoCo"] = np.array([[p.data.qpos[2], *p.data.qvel[:3]] for p in self.peers])
        for name, found in ends.items():
            stands = height is None or np.abs(found[:, 0] / height - 1).max() < 0.05
            if not np.isfinite(found).all() or not stands:
                raise HeelstrikeError(f"g1 failed, or does not stand: {name}")
        speeds = {name: np.linalg.norm(found[:, 1:], axis=1) for name, found in ends.items()}
        poses = [np.ravel(sim.state["q"]) for sim in self.sims["one world"]]
        return {
            "bodies": len({point.body for point in self.robot.points}),
            "points": len(self.robot.points),
            "times": times,
            "ratio": {name: times["MuJoCo"]["us"] / row["us"] for name, row in times.items()},
            "at_rest": {name: float((speed < STILL).mean()) for name, speed in speeds.items()},
            "contacts": {
                "one world": float(np.mean([touching(self.robot, q) for q in poses])),
                "MuJoCo": float(np.mean([peer.data.ncon for peer in self.peers])),
            },
        }

    def contenders(self) -> dict[str, Contender]:
        """Return a call for each way to step, and MuJoCo's."""
        made = {"MuJoCo": each([partial(peer.step, CALL) for peer in self.peers], CALL)}
        for name, sims in self.sims.items():
            kind, worlds = KINDS[name], sims[0].worlds
            if kind.record == "final":
                steps = BATCH_STEPS if kind.batch else CALL
                calls: list[Callable[[], object]] = [partial(sim.step, steps) for sim in sims]
            else:
                steps = STEPS
                calls = [partial(recorded, sim, steps) for sim in sims]
            made[name] = each(calls, steps * worlds)
        return made


def compile_seconds(sim: hs.Simulator, record: str) -> float:
    """Return the CPU time that compiling takes [s], for what a run with this `record` needs."""
    return seconds_of(partial(sim.compile, record=record), time.process_time)


def each(calls: Sequence[Callable[[], object]], work: float) -> Contender:
    """Return a contender that makes several calls with the same work each."""

    def every() -> None:
        for call in calls:
            call()

    return Contender(every, work * len(calls))


def recorded(sim: hs.Simulator, steps: int) -> object:
    """Run with the default recording, labelled."""
    return sim.run(steps=steps, progress=False).data


def end(sim: hs.Simulator) -> np.ndarray:
    """Return height and velocity of the base, (worlds, 4); NaN where a world failed."""
    q, v = (np.atleast_2d(sim.state[name]).astype(float) for name in ("q", "v"))
    found = np.column_stack([q[:, 2], v[:, :3]])
    found[sim.failed >= 0] = np.nan
    return found


def touching(robot: hs.Robot, q: np.ndarray) -> int:
    """Return the number of contact points on the ground."""
    placed = placements(robot, q)
    places = [heights(np.asarray(p.position), placed[p.body]) - p.radius for p in robot.points]
    return int((np.array(places) < NEAR).sum())


def only_points(robot: hs.Robot, mj: Any, spec: Any) -> None:
    """Let the spheres of a robot's contact points touch the plane, and nothing else anything."""
    for geom in spec.geoms:
        plane = geom.type == mj.mjtGeom.mjGEOM_PLANE
        geom.contype, geom.conaffinity = 0, int(plane)
    for point in robot.points:
        spec.body(robot.bodies[point.body].name).add_geom(
            name=f"point {point.name}",
            type=mj.mjtGeom.mjGEOM_SPHERE,
            size=[point.radius, 0, 0],
            pos=point.position,
            contype=1,
            conaffinity=0,
            condim=3,
            priority=1,
            friction=[LAW.friction.mu_k, 0, 0],
            mass=0,
        )


def show(console: Console, result: Mapping[str, Any]) -> None:
    """Print a table for each load, and one of the seconds to compile."""
    for title, targets in TARGETS.items():
        found = result[title]
        ours, theirs = found["contacts"].values()
        table = Table(
            *("", "us a step", "spread", "MuJoCo / ours", "target", "at rest"),
            title=f"g1, {title}: {found['points']} points on {found['bodies']} bodies",
            caption=f"contacts: ours {ours:.1f}, MuJoCo's {theirs:.1f}",
        )
        for name, row in found["times"].items():
            ratio = "" if name == "MuJoCo" else f"{found['ratio'][name]:.1f}"
            cells = (f"{row['us']:.3g}", f"{row['spread']:.2f}", ratio, str(targets.get(name, "")))
            table.add_row(name, *cells, f"{100 * found['at_rest'][name]:.0f} %")
        console.print(table)
    table = Table("compile", "CPU s")
    for name, seconds in result["compile_s"].items():
        table.add_row(name, f"{seconds:.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
