"""Paths of a sweep, and the inputs of the step that they set.

ground.normal.k             a parameter that is one number
gravity.z, servo.kp.R_KN    an entry of a vector: x, y, z, a joint's name, or 0, 1, ...
servo.kp_scale              a factor on all its entries
torso.mass, torso.mass_scale, robot.mass_scale       masses; inertias go with them
start.drop, start.q.R_KN, start.v.root.vx            the state at time 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.parameters import units
from heelstrike.record.labels import joint_labels
from heelstrike.record.variables import AXES
from heelstrike.robot.placement import lowest_height
from heelstrike.scene.servo import ServoPlan
from heelstrike.simulate.simulator import Simulator

SCALE = "_scale"
MASS = ".mass"
ALL_MASSES = f"robot{MASS}{SCALE}"
DROP = "start.drop"
UNITS = {"gravity": "m s-2", "force": "N", "point": "m", "velocity": "m s-1", "drop": "m"}
"""Units of parameters that belong to no law, by the last word of their path."""


@dataclass(frozen=True)
class PathTarget:
    """The entries of an input that a path sets: of a parameter, or of q or v at time 0."""

    port: str
    """Name of the input."""
    entry: int | None
    """Index of the entry; None for all."""
    scale: bool = False
    """Whether the number multiplies the present value, in place of replacing it."""
    offset: float = 0.0
    """Value that is added to the number."""


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
    if path == ALL_MASSES:
        heavy = [body.name for body in sim.robot.bodies if body.mass > 0]
        sim.free_masses(*heavy)
        return [PathTarget(f"{name}{MASS}", None, scale=True) for name in heavy]
    scale = path not in sim.parameters and path.endswith(SCALE)
    whole = path.removesuffix(SCALE) if scale else path
    _make_mass_a_parameter(sim, whole)
    if whole in sim.parameters:
        if sim.parameters.size(whole) > 1 and not scale:
            names = list(entries(sim, whole))
            first = ", ".join(f"{whole}.{name}" for name in names[:3]) + ", ..." * (len(names) > 3)
            raise HeelstrikeError(
                f"'{path}' is a vector of {len(names)} numbers",
                path=path,
                remedy=f"name one entry, {first}, or scale all by {whole}{SCALE}",
            )
        return [PathTarget(whole, None, scale)]
    return [_entry(sim, whole, scale, path)]


def entries(sim: Simulator, port: str) -> dict[str, int]:
    """Return the indices of a parameter's entries by name."""
    size = sim.parameters.size(port)
    if size == len(AXES):
        return {axis: i for i, axis in enumerate(AXES)}
    if size == sim.robot.nv:
        return {name: i for i, name in enumerate(joint_labels(sim.robot)["joint"])}
    return {str(i): i for i in range(size)}


def fill_rows(
    base: Mapping[str, np.ndarray],
    targets: Mapping[str, Sequence[PathTarget]],
    values: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Return the rows, one per world, of every input that varies; factors are applied last."""
    found: dict[str, np.ndarray] = {}
    pairs = [(target, values[path]) for path, own in targets.items() for target in own]
    for target, numbers in sorted(pairs, key=lambda pair: pair[0].scale):
        if target.port not in found:
            found[target.port] = np.tile(base[target.port], (len(numbers), 1))
        columns = slice(None) if target.entry is None else slice(target.entry, target.entry + 1)
        rows = found[target.port][:, columns]
        new = numbers[:, None] + target.offset
        rows[...] = rows * new if target.scale else new
    return found


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


def _make_mass_a_parameter(sim: Simulator, path: str) -> None:
    """Make the mass that a path names, if any, a parameter."""
    names = [body.name for body in sim.robot.bodies]
    if path.endswith(MASS) and path not in sim.parameters and path.removesuffix(MASS) in names:
        sim.free_masses(path.removesuffix(MASS))


def _entry(sim: Simulator, path: str, scale: bool, given: str) -> PathTarget:
    """Return the target of an entry of a vector; names of entries may have dots, as root.vx."""
    words = path.split(".")
    for end in range(len(words) - 1, 0, -1):
        port, name = ".".join(words[:end]), ".".join(words[end:])
        if port in sim.parameters:
            known = entries(sim, port)
            if name in known and sim.parameters.size(port) > 1:
                return PathTarget(port, known[name], scale)
            if sim.parameters.size(port) > 1:
                raise UnknownNameError("entry", name, known, "entries", given, owner=port)
    masses = [f"{body.name}{MASS}" for body in sim.robot.bodies]
    starts = [f"start.{kind}.{name}" for kind in "qv" for name in start_entries(sim, kind)]
    among = [*sim.parameters, *masses, ALL_MASSES, DROP, *starts]
    raise UnknownNameError("parameter", given, among, path=given)


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
