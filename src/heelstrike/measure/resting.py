"""The pose in which a scene rests, where its stability is judged.

Pushes and motions are left out. The servo of what stands free holds the pose of the start; a fixed
base keeps its servo's own reference, by which alone it can press on anything. So held, the scene is
let down on its ground and left alone for two seconds in the smallest step: where it is then, it
rests, if the force of the ground is steady. If not, no step can be judged, and a sentence says so.

A force is steady if in the last quarter of the time it leaves its own mean by no more than half,
and carries half of the weight of what is free, or something at all.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.micro_macro import MicroMacro
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.simulate.start import contacts_at, rest_depth
from heelstrike.simulate.suggest import support_of

if TYPE_CHECKING:
    from heelstrike.contact.choose import Support
    from heelstrike.simulate.scene_file import SceneFile
    from heelstrike.simulate.simulator import Simulator

SETTLES, SMALL = 2.0, 1e-4
"""Time that a scene has to come to rest, and its step [s]."""
PAIR = 2
"""Worlds that come to rest together, alike: the step of several worlds, which the search for the
largest stable step runs next, is compiled once instead of one for a single world beside it."""
SWING = 0.5
"""Largest deviation of the force from its mean in a scene at rest, as a share."""
TOUCH = 1e-6
"""Initial depth under a law without stiffness [m]."""


class NotAtRestError(HeelstrikeError):
    """A scene that does not come to rest: its steps cannot be judged."""


def still(made: SceneFile) -> SceneFile:
    """Return the scene without pushes and motions, held by its servo."""
    servo = made.content.servo
    if servo is not None and free(made):
        servo = replace(servo, reference=None)
    return made.changed(push=(), motion=None, servo=servo)


def rest_pose(made: SceneFile, sim: Simulator) -> np.ndarray:
    """Return the pose in which a still scene comes to rest, (nq,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        data = sim.run(
            steps=round(SETTLES / SMALL),
            q0=let_down(made),
            v0=np.zeros(made.robot.nv),
            worlds=PAIR,
            vary={"dt": SMALL},
            record=("normal_force",),
            progress=False,
            check=False,
        ).data
    if data["failed"].values[0] >= 0:
        raise NotAtRestError(f"{_cannot(made)}: it diverges in steps of {1e3 * SMALL:g} ms")
    force = data["normal_force"].values
    if not steady(made, force)[0]:
        late = _late(made, force)[0]
        if not late.any():
            raise NotAtRestError(f"{_cannot(made)}: left alone it does not touch the ground")
        raise NotAtRestError(
            f"{_cannot(made)}: left alone for {SETTLES:g} s in steps of {1e3 * SMALL:g} ms, it is "
            f"carried by {late.min():.3g} to {late.max():.3g} N"
        )
    return np.array(sim.state["q"][0])


def _cannot(made: SceneFile) -> str:
    return f"no largest stable step, as '{made.name}' does not come to rest under this law"


def steady(made: SceneFile, normal: np.ndarray) -> np.ndarray:
    """Return whether the ground carries a scene at rest, from normal forces (worlds, steps,
    points).
    """
    late, at = _late(made, normal), support(made, made.content.simulation.dt)
    mean = late.mean(axis=1)
    least = SWING * at.points * at.load if free(made) else 1e-9
    swing = np.abs(late - mean[:, None]).max(axis=1)
    return np.asarray((swing <= SWING * mean) & (mean > least))


def _late(made: SceneFile, normal: np.ndarray) -> np.ndarray:
    """Return the force of surfaces at rest in the last quarter, (worlds, steps)."""
    ground = [pair.carrier is None for pair in made.scene.pairs]
    return np.asarray(normal[:, -(normal.shape[1] // 4) :, ground].sum(axis=2))


def let_down(made: SceneFile) -> np.ndarray:
    """Return the start with free bodies moved along gravity to the depth of their load, (nq,)."""
    q, scene = made.start[0].copy(), made.scene
    if not free(made) or not scene.gravity.any() or not scene.pairs:
        return q
    depth, down = _deepest(made, q)
    return _moved(made, q, (_depths(made, np.ones(1)) - depth)[:, None] * down)[0]


def lowered(made: SceneFile, rest: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the rest poses for scaled stiffness, (worlds, nq): deeper where it is softer."""
    if not free(made) or not made.scene.gravity.any():
        return np.tile(rest, (len(scale), 1))
    deeper = _depths(made, scale) - _depths(made, np.ones(1))
    return _moved(made, rest, deeper[:, None] * _deepest(made, rest)[1])


def free(made: SceneFile) -> bool:
    """Return whether a body of the scene can fall."""
    return any(joint.kind == "free" for joint in made.robot.joints)


def _deepest(made: SceneFile, q: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the depth of the deepest point [m], and the way along gravity that takes it 1 m
    deeper.
    """
    scene = made.scene
    depths, joined = contacts_at(scene, q)
    ground = [i for i, pair in enumerate(scene.pairs) if pair.carrier is None]
    deepest = max(ground or range(len(depths)), key=lambda i: depths[i])
    down = scene.gravity / np.linalg.norm(scene.gravity)
    return float(depths[deepest]), down / max(-float(joined[deepest].normal @ down), 0.1)


def _moved(made: SceneFile, q: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Return the pose with all free bodies moved, (worlds, nq)."""
    starts = np.tile(q, (len(by), 1))
    for joint in made.robot.joints:
        if joint.kind == "free":
            starts[:, joint.iq : joint.iq + 3] += by
    return starts


def _depths(made: SceneFile, scale: np.ndarray) -> np.ndarray:
    """Return the depth of a point at rest for each scale of the stiffness [m]."""
    law = made.scene.surfaces[0].law
    normal = law.normal if isinstance(law, Elastic) else spring_of(law)
    if normal is None:
        return np.full(len(scale), TOUCH)
    load = support(made, made.content.simulation.dt).load
    depth = rest_depth(normal, load, SMALL) / scale ** (1 / exponent(normal))
    if isinstance(law, MicroMacro):
        depth = np.minimum(depth, law.thickness + TOUCH)
    return np.asarray(depth)


def support(made: SceneFile, dt: float) -> Support:
    """Return the load and the effective masses of points that touch at the start."""
    return support_of(made.scene, dt, made.start[0], made.control)


def spring_of(law: SurfaceLaw) -> NormalLaw | None:
    """Return the explicit elastic law; None if there is none."""
    if isinstance(law, MicroMacro):
        return spring_of(law.membrane)
    return law.normal if isinstance(law, Elastic) and not law.couples else None


def exponent(law: NormalLaw) -> float:
    """Return the exponent of its depth."""
    return float(law.n) if isinstance(law, HuntCrossley) else 1.0
