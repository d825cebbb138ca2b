"""Steps in which a scene can rest, over dt and stiffness, one world for every pair.

Every world starts at rest where the scene came to rest (measure/resting.py), and makes 1000 steps.
It is unstable if it diverged, or if the force of the ground is not steady. dt and k are run-time
inputs: one batch, one compilation.

Damping of a linear spring follows its stiffness, c ~ sqrt(k), so that its damping ratio stays.
Beside it stands the closed form (contact/stability.py), with the mass of simulate/suggest.py, for
the normal law, and for a bristle along the surface.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.micro_macro import MicroMacro
from heelstrike.contact.stability import largest_step, slopes
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeWarning
from heelstrike.measure.resting import (
    exponent,
    lowered,
    rest_pose,
    spring_of,
    steady,
    still,
    support,
)
from heelstrike.parameters import parameters
from heelstrike.simulate.start import MIN_RATE, rest_depth

if TYPE_CHECKING:
    from heelstrike.contact.choose import Support
    from heelstrike.simulate.scene_file import SceneFile
    from heelstrike.simulate.simulator import Simulator

STEPS = 1000
SCALE = np.geomspace(1e-1, 1e3, 21)
"""Scales of the law's stiffness in a map."""
STEP_SIZES = np.geomspace(1e-4, 2e-2, 24)
"""Steps of a map and of a search for the largest stable step [s]."""
STIFF = re.compile(r".*\bnormal\.(law\.)?k")
DAMPED = re.compile(r".*\bnormal\.(law\.)?c")
LONGEST = 0.1
"""Largest step that the closed form considers [s]."""


@dataclass(frozen=True)
class StabilityMap:
    """Steps and stiffnesses in which a scene rests, simulated and by the closed form."""

    k: np.ndarray
    """Stiffness of a point [N/m]; empty for laws without."""
    dt: np.ndarray
    """Steps [s]."""
    unstable: np.ndarray
    """Whether a world is unstable, (dt, k) or (dt, 1)."""
    closed: np.ndarray
    """The largest stable step of each k [s]; inf where there is no limit."""
    bristle: float
    """Largest stable step of friction's own spring [s]; beyond it friction chatters."""
    mass: float
    """Smallest effective mass of the points, at the scene's own step [kg]."""

    @property
    def own(self) -> int:
        """The column of the law's own stiffness."""
        return int(np.abs(np.log(SCALE)).argmin()) if len(self.k) > 1 else 0

    def row(self, dt: float) -> int:
        """Return the row of the largest simulated step up to dt."""
        return max(int(np.searchsorted(self.dt, dt * (1 + 1e-9))) - 1, 0)

    def largest(self, column: int = 0) -> float:
        """Return the last of the smallest steps that are stable [s]; 0 if none is."""
        return last_stable(self.dt, ~self.unstable[:, column])

    def stiffest(self, row: int) -> float:
        """Return the largest simulated k below the first unstable one at a step [N/m]; 0 if none
        is.
        """
        unstable = self.unstable[row]
        first = int(unstable.argmax()) if unstable.any() else len(self.k)
        return float(self.k[first - 1]) if first else 0.0


def last_stable(steps: np.ndarray, stable: np.ndarray) -> float:
    """Return the last step before the first that is not stable [s]; 0 if there is none."""
    count = len(stable) if stable.all() else int((~stable).argmax())
    return float(steps[count - 1]) if count else 0.0


def stability_map(
    made: SceneFile, scales: np.ndarray | None = None, progress: bool | None = False
) -> StabilityMap:
    """Return the map of a scene under its laws.

    Args:
        made: the scene.
        scales: factors of the stiffness; 1 where a law has none.
        progress: whether to show a progress bar; None: if it takes long, in a terminal.
    """
    made = still(made)
    sim, law = made.simulator(bare=True), made.scene.surfaces[0].law
    stiff = [float(x.ravel()[0]) for path, x in sim.parameters.items() if STIFF.fullmatch(path)]
    scales = (SCALE if scales is None else scales) if stiff else np.ones(1)
    dt, scale = (x.ravel() for x in np.meshgrid(STEP_SIZES, scales, indexing="ij"))
    unstable = ~rests(made, sim, dt, scale, progress).reshape(len(STEP_SIZES), len(scales))
    at_steps = [support(made, float(at)) for at in STEP_SIZES[::4]]
    return StabilityMap(
        k=stiff[0] * scales if stiff else np.zeros(0),
        dt=STEP_SIZES,
        unstable=unstable,
        closed=np.array([limit(law, at_steps, s) for s in scales]),
        bristle=bristle_limit(law, at_steps),
        mass=support(made, made.content.simulation.dt).normal_mass,
    )


def largest_stable_step(made: SceneFile) -> float:
    """Return the last of STEP_SIZES in which the scene rests [s]."""
    return stability_map(made, np.ones(1)).largest()


def rests(
    made: SceneFile,
    sim: Simulator,
    dt: np.ndarray,
    scale: np.ndarray,
    progress: bool | None = False,
) -> np.ndarray:
    """Return whether the scene stays at rest, for each step and scale of the stiffness."""
    worlds, rest = len(dt), rest_pose(made, sim)
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
            q0=lowered(made, rest, scale),
            v0=np.zeros((worlds, made.robot.nv)),
            worlds=worlds,
            vary=vary,
            record=("normal_force",),
            progress=progress,
            check=False,
        ).data
    return steady(made, data["normal_force"].values) & (data["failed"].values < 0)


def limit(law: SurfaceLaw, at_steps: list[Support], scale: float = 1.0) -> float:
    """Return the largest stable step of the normal law by the closed form [s]; inf where it has
    none.

    `at_steps` holds loads and masses at every fourth of STEP_SIZES: an implicit servo adds less
    inertia in small steps.
    """
    normal = spring_of(law)
    if normal is None:
        return float("inf")
    factors = {".k": scale, ".c": np.sqrt(scale)}
    values = {
        name: value * factors.get(name[-2:], 1.0)
        for name, value in parameters(normal, "normal.").items()
    }
    depth = rest_depth(normal, at_steps[0].load, STEP_SIZES[0]) / scale ** (1 / exponent(normal))

    def per_mass(at: float) -> tuple[float, float]:
        k, c = slopes(normal, values, "normal.", depth, MIN_RATE, at)
        mass = float(np.interp(at, STEP_SIZES[::4], [f.normal_mass for f in at_steps]))
        return k / mass, c / mass

    return largest_step(per_mass, 1.0, LONGEST, "symplectic") or 0.0


def bristle_limit(law: SurfaceLaw, at_steps: list[Support]) -> float:
    """Return the largest stable step of a bristle along the surface [s]."""
    soft = law.membrane if isinstance(law, MicroMacro) else law
    friction = getattr(soft, "friction", None)
    if not isinstance(friction, Bristle):
        return float("inf")

    def per_mass(at: float) -> tuple[float, float]:
        mass = float(np.interp(at, STEP_SIZES[::4], [f.tangent_mass for f in at_steps]))
        return friction.k_t / mass, friction.c_t / mass

    return largest_step(per_mass, 1.0, LONGEST, "symplectic") or 0.0
