"""A mass on a vertical slide that meets the ground, without gravity, in many worlds at once.

The bundled `foot`, for tests of every normal law. Depth d and its rate are -z and -z'.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import heelstrike as hs

INTEGRATORS = ("symplectic", "euler", "rk4")


@hs.normal_law
def hardening(c, k=1e4, stiffer=1e9, alpha=0.3):
    """A user's own: a spring that grows stiffer with depth, damped as Hunt and Crossley's."""
    return (k * c.depth + stiffer * c.depth**3) * (1 + 1.5 * alpha * c.depth_rate)


@dataclass(frozen=True)
class Case:
    """A law, and its equation once more on plain numbers."""

    law: hs.NormalLaw
    force: object
    """(d, d') -> f_n in contact, clamped like the law."""
    jumps: bool = False
    """The force jumps at the surface, or at the deepest point."""
    damper: bool = False
    """Wrapped in a TimestepDamper."""


K, C, ALPHA, E = 1e4, 30.0, 0.4, 0.7
"""[N/m], [N s/m], [s/m], [1]; of a mass of 1 kg."""
K_SPHERE = 2e5
"""[N/m^1.5]"""

PLAIN = {
    "compression": Case(hs.LinearSpring(K, C), lambda d, v: K * d + C * max(v, 0), jumps=True),
    "both": Case(
        hs.LinearSpring(K, C, damping="both"), lambda d, v: max(K * d + C * v, 0), jumps=True
    ),
    "adhesive": Case(
        hs.LinearSpring(K, C, damping="both", adhesive=True), lambda d, v: K * d + C * v, jumps=True
    ),
    "hunt-crossley": Case(
        hs.HuntCrossley(K, ALPHA), lambda d, v: K * d * max(1 + 1.5 * ALPHA * v, 0)
    ),
    "sphere": Case(
        hs.HuntCrossley(K_SPHERE, ALPHA, n=1.5),
        lambda d, v: K_SPHERE * d**1.5 * max(1 + 1.5 * ALPHA * v, 0),
    ),
    "two-alphas": Case(
        hs.HuntCrossley(K, ALPHA, alpha_restitution=0.1),
        lambda d, v: K * d * max(1 + 1.5 * (ALPHA if v > 0 else 0.1) * v, 0),
    ),
    "poisson": Case(
        hs.PoissonSpring(K, E), lambda d, v: (1 if v >= 0 else E**2) * K * d, jumps=True
    ),
    "user": Case(hardening, lambda d, v: (1e4 * d + 1e9 * d**3) * max(1 + 0.45 * v, 0)),
}
DAMPED = {
    f"timestep {name}": replace(case, law=hs.TimestepDamper(case.law), damper=True)
    for name, case in PLAIN.items()
}
CASES = PLAIN | DAMPED


@dataclass(frozen=True)
class Motion:
    """What became of each world."""

    depth: np.ndarray
    rate: np.ndarray
    deepest: np.ndarray
    touched: np.ndarray | None
    """Steps in contact, where counted."""


@cache
def slide(name: str, integrator: str) -> tuple[hs.Simulator, dict[str, np.ndarray]]:
    """A mass above the ground with one of the laws above, and the law's own parameters."""
    ground = hs.Plane(name="ground", law=hs.Elastic(CASES[name].law, friction=None))
    scene = hs.Scene(hs.load("foot"), ground, gravity=(0, 0, 0))
    sim = hs.Simulator(scene, integrator=integrator)
    own = {path: sim.parameters[path] for path in sim.parameters if ".normal." in path}
    return sim, own


def motion(name, integrator, depth, rate, dt, steps, mass=1.0, count=False, **values) -> Motion:
    """Runs worlds from depths and rates, with other values of the law's parameters if given."""
    sim, own = slide(name, integrator)
    depth, rate, dt, mass = np.broadcast_arrays(*np.atleast_1d(depth, rate, dt, mass))
    prefix = "ground.normal.law." if CASES[name].damper else "ground.normal."
    varied = {prefix + key: np.broadcast_to(value, depth.shape) for key, value in values.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # some gain energy, and are meant to
        data = sim.run(
            steps=steps,
            q0=-depth[:, None],
            v0=-rate[:, None],
            worlds=len(depth),
            vary=own | {"foot.mass": mass, "dt": dt} | varied,
            record=("depth",) if count else "final",
            progress=False,
        ).data
    touched = (data.depth.values[..., 0] > 0).sum(axis=1) if count else None
    q, v = (sim.state[key].reshape(-1) for key in ("q", "v"))
    return Motion(-q, -v, data.peak_depth.values[:, 0], touched)
