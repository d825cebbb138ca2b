"""Paths of a sweep, and the inputs of the step that they set.

ground.normal.k, servo.kp.R_KN, servo.kp_scale       parameters: simulate/parameter_paths.py
start.drop, start.q.R_KN, start.v.root.vx            the state at time 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.parameters import units
from heelstrike.record.labels import joint_labels
from heelstrike.robot.placement import lowest_height
from heelstrike.scene.servo import ServoPlan
from heelstrike.simulate.parameter_paths import MASS, SCALE, PathTarget, parameter_targets
from heelstrike.simulate.simulator import Simulator

DROP = "start.drop"
UNITS = {"gravity": "m s-2", "force": "N", "point": "m", "velocity": "m s-1", "drop": "m"}
"""Units of parameters that belong to no law, by the last word of their path."""


def resolve_path(sim: Simulator, path: str) -> list[PathTarget]:
    """Return the targets of a path; the masses that it names become parameters of `sim`."""
    if path == "dt":
        raise HeelstrikeError(
            "all worlds of a sweep share one time step, so dt cannot vary",
            path=path,
            remedy="run a sweep for each dt",
        )
    if path.startswith("start."):
        return _start(sim, path)
    starts = [f"start.{kind}.{name}" for kind in "qv" for name in start_entries(sim, kind)]
    return parameter_targets(sim, path, [DROP, *starts])


def check_no_overlap(targets: Mapping[str, Sequence[PathTarget]]) -> None:
    """Raise if two paths set the same number; a factor may be combined with a value."""
    by: dict[tuple[str, int | None], str] = {}
    for path, own in targets.items():
        for target in (target for target in own if not target.scale):
            other = by.setdefault((target.port, target.entry), path)
            if other != path:
                raise HeelstrikeError(
                    f"'{other}' and '{path}' set the same number; keep one of them"
                )


def check_drop(sim: Simulator, paths: Sequence[str]) -> None:
    """Raise if the height of the lowest point varies together with coordinates that move it."""
    names = joint_labels(sim.robot)["coordinate"][:2]
    level = [f"start.q.{name}" for name in names]
    others = [path for path in paths if path.startswith("start.q.") and path not in level]
    if DROP in paths and others:
        raise HeelstrikeError(
            f"'{DROP}' is the height of the lowest contact point, and '{others[0]}' moves that "
            f"point; vary the base's own height, start.q.{joint_labels(sim.robot)['coordinate'][2]}"
        )


def unit_of_path(sim: Simulator, path: str) -> str:
    """Return the unit of a path's numbers; empty if it is not known."""
    of_laws: dict[str, str] = {}
    for name, law in sim.scene.laws.items():
        of_laws |= units(law, f"{name}.")
    if path in of_laws:
        return of_laws[path]
    if path.endswith(SCALE) and path not in sim.parameters:
        return "1"
    if path.endswith(MASS):
        return "kg"
    names = joint_labels(sim.robot)
    for kind, of, end in (("q", "coordinate", ""), ("v", "joint", " s-1")):
        if path.startswith(f"start.{kind}."):
            at = names[of].index(path.removeprefix(f"start.{kind}."))
            return names[f"{of}_unit"][at] + end
    whole = path if path in (DROP, *sim.parameters) else path.rpartition(".")[0]
    return UNITS.get(whole.rpartition(".")[2], "")


def start_entries(sim: Simulator, kind: str) -> dict[str, int]:
    """Return the indices of the entries of q or v that can vary alone; a quaternion's cannot."""
    names = joint_labels(sim.robot)["coordinate" if kind == "q" else "joint"]
    if kind == "v":
        return {name: i for i, name in enumerate(names)}
    plain = [j.iq for j in sim.robot.joints if j.kind in ("revolute", "prismatic")]
    based = [j.iq + k for j in sim.robot.joints if j.kind == "free" for k in range(3)]
    return {names[i]: i for i in sorted(plain + based)}


def _start(sim: Simulator, path: str) -> list[PathTarget]:
    robot = sim.robot
    if path == DROP:
        free = [joint for joint in robot.joints if joint.kind == "free"]
        if len(free) != 1 or robot.joints[0] is not free[0] or not robot.points:
            raise HeelstrikeError(
                f"'{DROP}' needs one free base and contact points, but {robot.name} has "
                f"{len(free)} free bases and {len(robot.points)} contact points; vary entries of "
                "start.q"
            )
        q = np.atleast_2d(sim.start["q"])[0]
        at = free[0].iq + 2
        return [PathTarget("q", at, offset=float(q[at]) - lowest_height(robot, q))]
    kind, _, name = path.removeprefix("start.").partition(".")
    known = start_entries(sim, kind) if kind in ("q", "v") else {}
    if name not in known:
        among = [f"start.{k}.{n}" for k in ("q", "v") for n in start_entries(sim, k)]
        raise UnknownNameError("start", path, [DROP, *among], path=path)
    found = [PathTarget(kind, known[name])]
    control = sim.plan.control
    if kind == "q" and isinstance(control, ServoPlan) and control.follows_start:
        held = [j.iv for j in robot.joints if j.iq == known[name] and j.nq == 1]
        found += [PathTarget("servo.q_ref", at) for at in held]
    return found
