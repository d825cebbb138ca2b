"""What a path of a sweep means: where its numbers go.

ground.normal.k             a parameter that is one number
gravity.z, servo.kp.R_KN    an entry of one that is several: x, y, z, a joint's name, 0, 1, ...
servo.kp_scale              all its entries, times the number
torso.mass, torso.mass_scale, robot.mass_scale       masses; inertias go with them
start.drop, start.q.R_KN, start.v.root.vx            the state at time 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.parameters import units
from heelstrike.record.labels import labels
from heelstrike.record.variables import AXES
from heelstrike.robot.placement import lowest_height
from heelstrike.scene.servo import ServoPlan
from heelstrike.simulate.simulator import Simulator

SCALE = "_scale"
MASS = ".mass"
ALL_MASSES = f"robot{MASS}{SCALE}"
DROP = "start.drop"
UNITS = {"gravity": "m s-2", "force": "N", "point": "m", "velocity": "m s-1", "drop": "m"}
"""Of what no law holds, by the last word of its path."""


@dataclass(frozen=True)
class Place:
    """Entries of a parameter, or of the state at time 0, q or v."""

    port: str
    entry: int | None
    """None: all."""
    scale: bool = False
    """Multiplies what is there."""
    offset: float = 0.0
    """Added to the number."""


def places(sim: Simulator, path: str) -> list[Place]:
    """Where the numbers of a path go; the masses that it names become parameters."""
    if path == "dt":
        raise HeelstrikeError("all worlds of a sweep make the same steps: sweep each dt by itself")
    if path.startswith("start."):
        return _start(sim, path)
    if path == ALL_MASSES:
        heavy = [body.name for body in sim.robot.bodies if body.mass > 0]
        sim.free_masses(*heavy)
        return [Place(f"{name}{MASS}", None, scale=True) for name in heavy]
    scale = path not in sim.parameters and path.endswith(SCALE)
    whole = path.removesuffix(SCALE) if scale else path
    _free(sim, whole)
    if whole in sim.parameters:
        if sim.parameters.size(whole) > 1 and not scale:
            few = list(entries(sim, whole))
            shown = ", ".join(f"{whole}.{name}" for name in few[:3]) + ", ..." * (len(few) > 3)
            raise HeelstrikeError(
                f"'{path}' is {len(few)} numbers; name one of them, {shown}, or scale all: "
                f"{whole}{SCALE}"
            )
        return [Place(whole, None, scale)]
    return [_entry(sim, whole, scale, path)]


def entries(sim: Simulator, port: str) -> dict[str, int]:
    """Names of a parameter's entries."""
    size = sim.parameters.size(port)
    if size == len(AXES):
        return {axis: i for i, axis in enumerate(AXES)}
    if size == sim.robot.nv:
        return {name: i for i, name in enumerate(labels(sim.robot)["joint"])}
    return {str(i): i for i in range(size)}


def filled(
    base: Mapping[str, np.ndarray],
    where: Mapping[str, Sequence[Place]],
    values: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Rows, one a world, of every port that varies; factors come last."""
    found: dict[str, np.ndarray] = {}
    pairs = [(place, values[path]) for path, those in where.items() for place in those]
    for place, numbers in sorted(pairs, key=lambda pair: pair[0].scale):
        if place.port not in found:
            found[place.port] = np.tile(base[place.port], (len(numbers), 1))
        columns = slice(None) if place.entry is None else slice(place.entry, place.entry + 1)
        rows = found[place.port][:, columns]
        new = numbers[:, None] + place.offset
        rows[...] = rows * new if place.scale else new
    return found


def check_once(where: Mapping[str, Sequence[Place]]) -> None:
    """Refuses two paths that set the same number; factors may meet it."""
    by: dict[tuple[str, int | None], str] = {}
    for path, those in where.items():
        for place in (place for place in those if not place.scale):
            other = by.setdefault((place.port, place.entry), path)
            if other != path:
                raise HeelstrikeError(
                    f"'{other}' and '{path}' set the same number; keep one of them"
                )


def check_drop(sim: Simulator, paths: Sequence[str]) -> None:
    """Refuses a height of the lowest point beside coordinates that decide which one is lowest."""
    names = labels(sim.robot)["coordinate"][:2]
    level = [f"start.q.{name}" for name in names]
    others = [path for path in paths if path.startswith("start.q.") and path not in level]
    if DROP in paths and others:
        raise HeelstrikeError(
            f"'{DROP}' is the height of the lowest contact point, and '{others[0]}' moves that "
            f"point; vary the base's own height, start.q.{labels(sim.robot)['coordinate'][2]}"
        )


def unit_of(sim: Simulator, path: str) -> str:
    """Of a path's numbers; empty where nothing says so."""
    of_laws: dict[str, str] = {}
    for name, law in sim.scene.laws.items():
        of_laws |= units(law, f"{name}.")
    if path in of_laws:
        return of_laws[path]
    if path.endswith(SCALE) and path not in sim.parameters:
        return "1"
    if path.endswith(MASS):
        return "kg"
    names = labels(sim.robot)
    for kind, of, end in (("q", "coordinate", ""), ("v", "joint", " s-1")):
        if path.startswith(f"start.{kind}."):
            at = names[of].index(path.removeprefix(f"start.{kind}."))
            return names[f"{of}_unit"][at] + end
    whole = path if path in (DROP, *sim.parameters) else path.rpartition(".")[0]
    return UNITS.get(whole.rpartition(".")[2], "")


def _free(sim: Simulator, path: str) -> None:
    """Makes the mass that a path names a parameter."""
    names = [body.name for body in sim.robot.bodies]
    if path.endswith(MASS) and path not in sim.parameters and path.removesuffix(MASS) in names:
        sim.free_masses(path.removesuffix(MASS))


def _entry(sim: Simulator, path: str, scale: bool, given: str) -> Place:
    """Of a parameter of several numbers, whose names may have dots: root.vx."""
    words = path.split(".")
    for end in range(len(words) - 1, 0, -1):
        port, name = ".".join(words[:end]), ".".join(words[end:])
        if port in sim.parameters:
            known = entries(sim, port)
            if name in known and sim.parameters.size(port) > 1:
                return Place(port, known[name], scale)
            if sim.parameters.size(port) > 1:
                raise UnknownNameError("entry", name, known, "entries", given, owner=port)
    masses = [f"{body.name}{MASS}" for body in sim.robot.bodies]
    starts = [f"start.{kind}.{name}" for kind in "qv" for name in start_entries(sim, kind)]
    among = [*sim.parameters, *masses, ALL_MASSES, DROP, *starts]
    raise UnknownNameError("parameter", given, among, path=given)


def start_entries(sim: Simulator, kind: str) -> dict[str, int]:
    """Entries of q or v that may vary by themselves: a quaternion's may not."""
    names = labels(sim.robot)["coordinate" if kind == "q" else "joint"]
    if kind == "v":
        return {name: i for i, name in enumerate(names)}
    plain = [j.iq for j in sim.robot.joints if j.kind in ("revolute", "prismatic")]
    based = [j.iq + k for j in sim.robot.joints if j.kind == "free" for k in range(3)]
    return {names[i]: i for i in sorted(plain + based)}


def _start(sim: Simulator, path: str) -> list[Place]:
    robot = sim.robot
    if path == DROP:
        free = [joint for joint in robot.joints if joint.kind == "free"]
        if len(free) != 1 or robot.joints[0] is not free[0] or not robot.points:
            raise HeelstrikeError(
                f"'{DROP}' needs one free base with contact points, and {robot.name} has "
                f"{len(free)} and {len(robot.points)}; see start.q"
            )
        q = np.atleast_2d(sim.start["q"])[0]
        at = free[0].iq + 2
        return [Place("q", at, offset=float(q[at]) - lowest_height(robot, q))]
    kind, _, name = path.removeprefix("start.").partition(".")
    known = start_entries(sim, kind) if kind in ("q", "v") else {}
    if name not in known:
        among = [f"start.{k}.{n}" for k in ("q", "v") for n in start_entries(sim, k)]
        raise UnknownNameError("start", path, [DROP, *among], path=path)
    found = [Place(kind, known[name])]
    control = sim.plan.control
    if kind == "q" and isinstance(control, ServoPlan) and control.follows_start:
        held = [j.iv for j in robot.joints if j.iq == known[name] and j.nq == 1]
        found += [Place("servo.q_ref", at) for at in held]
    return found
