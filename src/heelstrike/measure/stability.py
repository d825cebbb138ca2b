"""Which steps a scene can rest in: over dt, and over dt and stiffness, a world for every pair.

Every world starts at rest at the depth of its load, and makes 1000 steps in which the servo holds
its pose, without pushes. It is unstable if it diverged, or if in the last quarter the ground
carries less than half of its weight, or with a force that leaves half to one and a half times its
own mean. dt and k are run-time inputs: one batch, one compilation.

Damping of a linear spring follows its stiffness, c ~ sqrt(k), so that its damping ratio stays.
Beside it stands the closed form (contact/stability.py), with the mass of simulate/suggest.py, for
the normal law, and for a bristle along the surface.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.contact.bristle import Bristle
from heelstrike.contact.contact import NormalLaw
from heelstrike.contact.elastic import Elastic
from heelstrike.contact.hunt_crossley import HuntCrossley
from heelstrike.contact.micro_macro import MicroMacro
from heelstrike.contact.parameters import parameters
from heelstrike.contact.stability import largest_step, slopes
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeWarning
from heelstrike.simulate.advice import GOING_IN
from heelstrike.simulate.place import meetings
from heelstrike.simulate.start import rest_depth
from heelstrike.simulate.suggest import what_is_felt

if TYPE_CHECKING:
    from heelstrike.contact.choose import Felt
    from heelstrike.scene_files import SceneFile
    from heelstrike.simulate.simulator import Simulator

STEPS = 1000
SWING = 0.5
"""Of the mean force: how far the force of a scene at rest may leave it."""
SCALE = np.geomspace(1e-1, 1e3, 21)
"""Stiffness of a map, times the law's own."""
STEP_SIZES = np.geomspace(1e-4, 2e-2, 24)
"""Of a map, and of a search for the largest stable step [s]."""
STIFF = re.compile(r".*\bnormal\.(law\.)?k")
DAMPED = re.compile(r".*\bnormal\.(law\.)?c")
LONGEST = 0.1
"""Step that the closed form looks below [s]."""
TOUCH = 1e-6
"""Depth at which what has no stiffness starts [m]."""


@dataclass(frozen=True)
class StabilityMap:
    """Where a scene rests, and where the closed form says it could."""

    k: np.ndarray
    """Stiffness of a point [N/m]; empty for laws without."""
    dt: np.ndarray
    """[s]"""
    unstable: np.ndarray
    """(dt, k), or (dt, 1)."""
    closed: np.ndarray
    """The largest stable step of each k [s]; inf where there is no limit."""
    bristle: float
    """That of friction's own spring along the surface [s]; beyond it friction chatters."""
    mass: float
    """Of the lightest way in which the points move together, at the scene's own step [kg]."""

    @property
    def own(self) -> int:
        """The column of the law's own stiffness."""
        return int(np.abs(np.log(SCALE)).argmin()) if len(self.k) > 1 else 0

    def row(self, dt: float) -> int:
        """That of the largest simulated step up to dt."""
        return max(int(np.searchsorted(self.dt, dt * (1 + 1e-9))) - 1, 0)

    def largest(self, column: int = 0) -> float:
        """The last of the smallest steps that are stable [s]; 0 if none is."""
        return last_stable(self.dt, ~self.unstable[:, column])

    def stiffest(self, row: int) -> float:
        """The largest simulated k below the first unstable one at a step [N/m]; 0 if none is."""
        unstable = self.unstable[row]
        first = int(unstable.argmax()) if unstable.any() else len(self.k)
        return float(self.k[first - 1]) if first else 0.0


def last_stable(steps: np.ndarray, stable: np.ndarray) -> float:
    """The last of the first row of stable steps [s]; 0 if there is none.

    Smaller ones that are not stable do not count: what falls has not settled in so short a time.
    """
    if not stable.any():
        return 0.0
    first = int(stable.argmax())
    row = stable[first:]
    return float(steps[first + (len(row) if row.all() else int((~row).argmax())) - 1])


def stability_map(made: SceneFile, scales: np.ndarray | None = None) -> StabilityMap:
    """Of a scene under its laws; `scales` are those of the stiffness, one where it has none."""
    made = still(made)
    sim, law = made.unchecked(), made.scene.surfaces[0].law
    stiff = [float(x.ravel()[0]) for path, x in sim.parameters.items() if STIFF.fullmatch(path)]
    scales = (SCALE if scales is None else scales) if stiff else np.ones(1)
    dt, scale = (x.ravel() for x in np.meshgrid(STEP_SIZES, scales, indexing="ij"))
    unstable = ~rests(made, sim, dt, scale).reshape(len(STEP_SIZES), len(scales))
    felt = [_felt(made, float(at)) for at in STEP_SIZES[::4]]
    return StabilityMap(
        k=stiff[0] * scales if stiff else np.zeros(0),
        dt=STEP_SIZES,
        unstable=unstable,
        closed=np.array([limit(law, felt, s) for s in scales]),
        bristle=bristle_limit(law, felt),
        mass=_felt(made, made.content.simulation.dt).mass,
    )


def still(made: SceneFile) -> SceneFile:
    """The scene without pushes, held by its servo in the pose in which it starts."""
    servo = made.content.servo
    held = None if servo is None else replace(servo, reference=None)
    return made.changed(push=(), motion=None, servo=held)


def largest_stable_step(made: SceneFile) -> float:
    """The last of STEP_SIZES in which the scene rests [s]."""
    return stability_map(made, np.ones(1)).largest()


def rests(made: SceneFile, sim: Simulator, dt: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Whether the scene stays at rest, for each step and scale of the stiffness."""
    worlds = len(dt)
    vary: dict[str, np.ndarray] = {"dt": dt}
    for path, value in sim.parameters.items():
        if STIFF.fullmatch(path):
            vary[path] = float(value.ravel()[0]) * scale
        elif DAMPED.fullmatch(path):
            vary[path] = float(value.ravel()[0]) * np.sqrt(scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)  # worlds that diverge are the point
        data = sim.run(
            steps=STEPS,
            q0=lowered(made, scale),
            v0=np.zeros((worlds, made.robot.nv)),
            worlds=worlds,
            vary=vary,
            record=("normal_force",),
            progress=False,
        ).data
    return steady(made, data["normal_force"].values) & (data["failed"].values < 0)


def steady(made: SceneFile, normal: np.ndarray) -> np.ndarray:
    """Whether ground carries a scene at rest, from normal forces (worlds, steps, points)."""
    ground = [pair.carrier is None for pair in made.scene.pairs]
    late = normal[:, -STEPS // 4 :, ground].sum(axis=2)
    felt, mean = _felt(made, made.content.simulation.dt), late.mean(axis=1)
    free = any(joint.kind == "free" for joint in made.robot.joints)
    least = SWING * felt.points * felt.load if free else 1e-9
    swing = np.abs(late - mean[:, None]).max(axis=1)
    return np.asarray((swing <= SWING * mean) & (mean > least))


def limit(law: SurfaceLaw, felt: list[Felt], scale: float = 1.0) -> float:
    """The largest stable step of the normal law by the closed form [s]; inf where it has none.

    `felt` is what points feel in every fourth of STEP_SIZES: an implicit servo weighs less in small
    steps.
    """
    normal = _spring_of(law)
    if normal is None:
        return float("inf")
    factors = {".k": scale, ".c": np.sqrt(scale)}
    values = {
        name: value * factors.get(name[-2:], 1.0)
        for name, value in parameters(normal, "normal.").items()
    }
    depth = rest_depth(normal, felt[0].load, STEP_SIZES[0]) / scale ** (1 / _exponent(normal))

    def per_mass(at: float) -> tuple[float, float]:
        k, c = slopes(normal, values, "normal.", depth, GOING_IN, at)
        mass = float(np.interp(at, STEP_SIZES[::4], [f.mass for f in felt]))
        return k / mass, c / mass

    return largest_step(per_mass, 1.0, LONGEST, "symplectic") or 0.0


def bristle_limit(law: SurfaceLaw, felt: list[Felt]) -> float:
    """The same of a bristle along the surface [s]."""
    soft = law.membrane if isinstance(law, MicroMacro) else law
    friction = getattr(soft, "friction", None)
    if not isinstance(friction, Bristle):
        return float("inf")

    def per_mass(at: float) -> tuple[float, float]:
        mass = float(np.interp(at, STEP_SIZES[::4], [f.along for f in felt]))
        return friction.k_t / mass, friction.c_t / mass

    return largest_step(per_mass, 1.0, LONGEST, "symplectic") or 0.0


def _felt(made: SceneFile, dt: float) -> Felt:
    return what_is_felt(made.scene, dt, made.start[0], made.control)


def _spring_of(law: SurfaceLaw) -> NormalLaw | None:
    if isinstance(law, MicroMacro):
        return _spring_of(law.membrane)
    return law.normal if isinstance(law, Elastic) and not law.couples else None


def _exponent(law: NormalLaw) -> float:
    return float(law.n) if isinstance(law, HuntCrossley) else 1.0


def lowered(made: SceneFile, scale: np.ndarray) -> np.ndarray:
    """Starts at the depth of the load, (worlds, nq): all that is free is moved along gravity."""
    q, scene = made.start[0].copy(), made.scene
    free = [joint.iq for joint in made.robot.joints if joint.kind == "free"]
    starts = np.tile(q, (len(scale), 1))
    pull = np.linalg.norm(scene.gravity)
    if not free or pull == 0 or not scene.pairs:
        return starts
    depths, joined = meetings(scene, q)
    ground = [i for i, pair in enumerate(scene.pairs) if pair.carrier is None]
    deepest = max(ground or range(len(depths)), key=lambda i: depths[i])
    down = scene.gravity / pull
    slope = max(-float(joined[deepest].normal @ down), 0.1)
    wanted = _depths(made, scale)
    for at in free:
        starts[:, at : at + 3] += ((wanted - depths[deepest]) / slope)[:, None] * down
    return starts


def _depths(made: SceneFile, scale: np.ndarray) -> np.ndarray:
    """Of a point at rest, for each scale of the stiffness [m]."""
    law = made.scene.surfaces[0].law
    normal = law.normal if isinstance(law, Elastic) else _spring_of(law)
    if normal is None:
        return np.full(len(scale), TOUCH)
    felt = _felt(made, made.content.simulation.dt)
    depth = rest_depth(normal, felt.load, STEP_SIZES[0]) / scale ** (1 / _exponent(normal))
    if isinstance(law, MicroMacro):
        depth = np.minimum(depth, law.thickness + TOUCH)
    return np.asarray(depth)
