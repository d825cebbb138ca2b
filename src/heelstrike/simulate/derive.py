"""From the plain outputs of a step to the variables of a recording.

Arrays are (worlds, records, ...). Net forces, moments, CoP and ZMP follow from the points' own:

    CoP of a body  = sum f_n p / sum f_n            over its points
    ZMP            = (-M_y / F_z, M_x / F_z, 0)     of all forces about the world's origin
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import WORLD
from heelstrike.simulate.scene import Scene, bodies_in
from heelstrike.simulate.variables import WORKS, known

Values = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Source:
    """Where a variable comes from."""

    outputs: tuple[str, ...]
    value: Callable[[Scene, Values], np.ndarray]


def needed(variables: Iterable[str]) -> list[str]:
    """The plain outputs behind some variables, in a stable order."""
    names = {output for name in variables for output in SOURCES[name].outputs}
    return sorted(names)


def derived(scene: Scene, variables: Iterable[str], values: Values) -> dict[str, np.ndarray]:
    """Variables from plain outputs."""
    return {name: SOURCES[name].value(scene, values) for name in variables}


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
    return Source((name,), lambda _, values: values[name])


def _scalar(name: str) -> Source:
    return Source((name,), lambda _, values: values[name][..., 0])


def _work(k: int) -> Source:
    return Source(("work",), lambda _, values: values["work"][..., k])


def _by_body(scene: Scene, of_pairs: np.ndarray, reaction: float) -> np.ndarray:
    """Sums over the pairs of each body; pairs whose surface it carries count `reaction` times."""
    points = np.array([pair.point.body for pair in scene.pairs], dtype=int)
    carriers = np.array([-1 if p.carrier is None else p.carrier for p in scene.pairs], dtype=int)
    sums = [
        of_pairs[..., points == body, :].sum(axis=-2)
        + reaction * of_pairs[..., carriers == body, :].sum(axis=-2)
        for body in bodies_in(scene.pairs)
    ]
    empty = np.zeros((*of_pairs.shape[:-2], 0, of_pairs.shape[-1]))
    return np.stack(sums, axis=-2) if sums else empty


def _body_force(scene: Scene, values: Values) -> np.ndarray:
    return _by_body(scene, values["force"], -1.0)


def _body_moment(scene: Scene, values: Values) -> np.ndarray:
    return _by_body(scene, np.cross(values["position"], values["force"]), -1.0)


def _cop(scene: Scene, values: Values) -> np.ndarray:
    normal = np.maximum(values["normal"], 0)[..., None]
    weighted = _by_body(scene, normal * values["position"], 1.0)
    total = _by_body(scene, normal, 1.0)
    return np.divide(weighted, total, out=np.full_like(weighted, np.nan), where=total > 0)


def _zmp(scene: Scene, values: Values) -> np.ndarray:
    # forces between bodies cancel; of a point of the world the robot feels the opposite
    outer = [pair.carrier is None or pair.point.body == WORLD for pair in scene.pairs]
    signs = np.array([1.0 if pair.carrier is None else -1.0 for pair in scene.pairs])[outer, None]
    force, position = signs * values["force"][..., outer, :], values["position"][..., outer, :]
    total = force.sum(axis=-2)
    moment = np.cross(position, force).sum(axis=-2)
    place = np.stack([-moment[..., 1], moment[..., 0], np.zeros_like(total[..., 0])], axis=-1)
    lift = np.broadcast_to(total[..., 2:], place.shape)
    return np.divide(place, lift, out=np.full_like(place, np.nan), where=lift > 0)


CONTACT = {"position", "depth", "depth_rate", "slip", "normal", "force"}
"""Plain outputs of which there is one a pair."""
SENSED = ("accelerometer", "gyro")
SOLVED = ("solver_rounds", "solver_unfinished", "solver_residual")
FORCES = ("position", "force")

SOURCES: dict[str, Source] = {
    "q": _plain("q"),
    "v": _plain("v"),
    "torque": _plain("torque"),
    "contact_position": _plain("position"),
    "depth": _plain("depth"),
    "depth_rate": _plain("depth_rate"),
    "slip": _plain("slip"),
    "touching": Source(("depth",), lambda _, values: values["depth"] > 0),
    "normal_force": _plain("normal"),
    "force": _plain("force"),
    "body_force": Source(("force",), _body_force),
    "body_moment": Source(FORCES, _body_moment),
    "cop": Source(("normal", "position"), _cop),
    "zmp": Source(FORCES, _zmp),
    "com": _plain("com"),
    "com_velocity": _plain("com_velocity"),
    "kinetic": _scalar("kinetic"),
    "potential": _scalar("potential"),
    **{name: _work(k) for k, name in enumerate(WORKS)},
    "solver_rounds": _scalar("rounds"),
    "solver_unfinished": Source(("unfinished",), lambda _, v: v["unfinished"][..., 0] > 0.5),
    "solver_residual": _scalar("residual"),
    "accelerometer": _plain("accelerometer"),
    "gyro": _plain("gyro"),
}
"""Every variable of a recording that has a time."""
