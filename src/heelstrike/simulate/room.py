"""Room for what a run varies: a number of worlds, masses that are parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError
from heelstrike.simulate.compiled_scene import Machine
from heelstrike.simulate.run_options import whole

MASS = ".mass"
"""Ends the path of a body's mass."""


def make_room(machine: Machine, worlds: int | None, vary: Mapping[str, ArrayLike]) -> bool:
    """For a number of worlds, and for masses that vary; refuses before anything changes. Says
    whether the number is another one: then all worlds start anew.
    """
    worlds = machine.worlds if worlds is None else whole("worlds", worlds)
    parameters = machine.parameters
    for path, value in vary.items():
        if path in parameters:
            parameters.shaped(path, value, worlds)
        elif not path.endswith(MASS):
            parameters.known(path)
    new = [path for path in vary if path not in parameters]
    free_masses(machine, [path.removesuffix(MASS) for path in new])
    if worlds == machine.worlds:
        return False
    machine.resize(worlds)
    return True


def free_masses(machine: Machine, names: Sequence[str]) -> None:
    """Makes the masses of bodies parameters of a program compiled anew."""
    robot = machine.plan.robot
    bodies = [robot.bodies[robot.body(name)].name for name in names]
    for name, body in zip(names, bodies, strict=True):
        if name != body:
            raise HeelstrikeError(f"vary the mass of the whole body: '{body}{MASS}'")
    new = [body for body in bodies if body + MASS not in machine.parameters]
    if new:
        machine.grow(varied=(*machine.plan.varied, *new))
