"""Paths of numbers that vary from world to world, and the parameters that they set.

ground.normal.k             a parameter that is one number
gravity.z, servo.kp.R_KN    an entry of a vector: x, y, z, a joint's name, or 0, 1, ...
servo.kp_scale              a factor on all its entries
torso.mass, torso.mass_scale, robot.mass_scale       masses; inertias go with them
torso.com.x, R_KN.armature  other numbers of the robot: step/freed.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.record.labels import joint_labels
from heelstrike.record.variables import AXES
from heelstrike.simulate.simulator import Simulator
from heelstrike.step.freed import freeable

SCALE = "_scale"
MASS = ".mass"
ALL_MASSES = f"robot{MASS}{SCALE}"


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


def parameter_targets(sim: Simulator, path: str, others: Sequence[str] = ()) -> list[PathTarget]:
    """Return the targets of a path; numbers of the robot that it names become parameters.

    `others` are paths that an error suggests besides.
    """
    if path == ALL_MASSES:
        heavy = [body.name for body in sim.robot.bodies if body.mass > 0]
        sim.free_masses(*heavy)
        return [PathTarget(f"{name}{MASS}", None, scale=True) for name in heavy]
    scale = path not in sim.parameters and path.endswith(SCALE)
    whole = path.removesuffix(SCALE) if scale else path
    _free(sim, whole)
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
    return [_entry(sim, whole, scale, path, others)]


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


def _free(sim: Simulator, path: str) -> None:
    """Make the number of the robot that a path names, or whose entry it names, a parameter."""
    known = [*(f"{body.name}{MASS}" for body in sim.robot.bodies), *freeable(sim.robot)]
    for whole in (path, path.rpartition(".")[0]):
        if whole in known and whole not in sim.parameters:
            sim.compiled.add_parameters([whole])


def _entry(sim: Simulator, path: str, scale: bool, given: str, others: Sequence[str]) -> PathTarget:
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
    among = [*sim.parameters, *masses, ALL_MASSES, *others]
    raise UnknownNameError("parameter", given, among, path=given)
