"""From the plain outputs of a step to the variables of a recording.

Arrays are (worlds, records, ...).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.record.variables import known
from heelstrike.scene.scene import Scene
from heelstrike.step.state import WORKS

Values = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Source:
    """Where a variable comes from."""

    outputs: tuple[str, ...]
    value: Callable[[Values], np.ndarray]


def needed(variables: Iterable[str]) -> list[str]:
    """The plain outputs behind some variables, in a stable order."""
    names = {output for name in variables for output in SOURCES[name].outputs}
    return sorted(names)


def derived(variables: Iterable[str], values: Values) -> dict[str, np.ndarray]:
    """Variables from plain outputs."""
    return {name: SOURCES[name].value(values) for name in variables}


def check_variables(scene: Scene, variables: Sequence[str], sensors: Sequence[str]) -> None:
    """Refuses names that nothing is recorded under here."""
    for name in variables:
        known(name, SOURCES)
        if name in SENSED and not sensors:
            raise HeelstrikeError(
                f"'{name}' needs to know where: hs.Simulator(..., sensors=('torso',))"
            )
        if CONTACT & set(SOURCES[name].outputs) and not scene.pairs:
            raise HeelstrikeError(
                f"'{name}' is recorded at contacts: the scene needs a surface, hs.Plane(...), and "
                "the robot contact points"
            )


def standard(scene: Scene, sensors: Sequence[str]) -> tuple[str, ...]:
    """What is recorded unless the user says otherwise."""
    contact = set() if scene.pairs else CONTACT
    coupled = any(law.couples for law in scene.laws.values())
    return tuple(
        name
        for name, source in SOURCES.items()
        if not (contact & set(source.outputs))
        and (sensors or name not in SENSED)
        and (coupled or name not in SOLVED)
    )


def _plain(name: str) -> Source:
    return Source((name,), lambda values: values[name])


def _scalar(name: str) -> Source:
    return Source((name,), lambda values: values[name][..., 0])


def _work(k: int) -> Source:
    return Source(("work",), lambda values: values["work"][..., k])


POINTS = {"position", "depth", "depth_rate", "slip", "normal", "force"}
CONTACT = POINTS | {"body_force", "body_moment", "cop", "zmp"}
"""Plain outputs that need a contact pair."""
SENSED = ("accelerometer", "gyro")
SOLVED = ("solver_rounds", "solver_unfinished", "solver_residual")

SOURCES: dict[str, Source] = {
    "q": _plain("q"),
    "v": _plain("v"),
    "torque": _plain("torque"),
    "contact_position": _plain("position"),
    "depth": _plain("depth"),
    "depth_rate": _plain("depth_rate"),
    "slip": _plain("slip"),
    "touching": Source(("depth",), lambda values: values["depth"] > 0),
    "normal_force": _plain("normal"),
    "force": _plain("force"),
    "body_force": _plain("body_force"),
    "body_moment": _plain("body_moment"),
    "cop": _plain("cop"),
    "zmp": _plain("zmp"),
    "com": _plain("com"),
    "com_velocity": _plain("com_velocity"),
    "kinetic": _scalar("kinetic"),
    "potential": _scalar("potential"),
    **{name: _work(k) for k, name in enumerate(WORKS)},
    "solver_rounds": _scalar("rounds"),
    "solver_unfinished": Source(("unfinished",), lambda v: v["unfinished"][..., 0] > 0.5),
    "solver_residual": _scalar("residual"),
    "accelerometer": _plain("accelerometer"),
    "gyro": _plain("gyro"),
}
"""Every variable of a recording that has a time."""
