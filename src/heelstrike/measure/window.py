"""The steps of a recording that are measured, as plain arrays.

A record holds the state at the start of a step and the forces of that step. A step's force is
judged by the velocity that it leaves, u+: that of the next record. There the coupled laws promise
something, and an explicit law, which saw the velocity of the step's start, is held to the same. So
the last record, which nothing follows, lends its velocity only.

    |f_t|^2 = |f|^2 - f_n^2,    f_t . u_t = f . slip        slip has no part along the normal

need no normal, so surfaces of any shape are measured, at rest or moving. Where the normal turns
within a step the second is off by f_n |slip| times the angle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heelstrike.checks import count, number
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.measure.friction import coefficients
from heelstrike.record.recording import Recording

NEEDED = ("depth", "depth_rate", "force", "normal_force", "slip")


@dataclass(frozen=True)
class Window:
    """Measured steps; arrays are (steps, points) unless stated otherwise, in SI units."""

    dt: float
    points: list[str]
    bodies: list[str]
    """The body of each point."""
    depth: np.ndarray
    """Depth at the start of each step and at the end of the last, (steps + 1, points)."""
    normal: np.ndarray
    """Normal force."""
    tangent: np.ndarray
    """Size of the friction force."""
    outward: np.ndarray
    """Normal velocity after the step, out of the surface."""
    slip: np.ndarray
    """Tangential velocity after the step, (steps, points, 3)."""
    power: np.ndarray
    """Power of friction at that velocity."""
    mu_s: np.ndarray
    mu_k: np.ndarray

    @property
    def touching(self) -> np.ndarray:
        """Whether a point is inside a surface at the start of a step, so that a law acts on it."""
        return self.depth[:-1] > 0

    @property
    def loaded(self) -> np.ndarray:
        """Whether a point carries load."""
        return self.touching & (self.normal > 0)

    @property
    def seconds(self) -> float:
        return len(self.normal) * self.dt


def window(run: Recording, world: int = 0, settle: float = 0.0) -> Window:
    """Return a world's steps after `settle` seconds."""
    first, dt = start(run, world, settle)
    data, info = run.data.isel(world=world, time=slice(first, None)), run.info
    depth, rate, force, normal, slip = (data[name].values.astype(float) for name in NEEDED)
    force, normal, after = force[:-1], normal[:-1], slip[1:]
    size = np.linalg.norm(force, axis=-1)
    tangent = np.sqrt(np.maximum(size - np.abs(normal), 0) * (size + np.abs(normal)))
    laws = [str(name) for name in data.get("point_law", data["surface"]).values]
    pairs = [coefficients(info, name, world, depth[:-1, k]) for k, name in enumerate(laws)]
    mu_s, mu_k = (np.stack(of, axis=-1) for of in zip(*pairs, strict=True))
    return Window(
        dt=dt,
        points=[str(name) for name in data["point"].values],
        bodies=[str(name) for name in data["point_body"].values],
        depth=depth,
        normal=normal,
        tangent=tangent,
        outward=-rate[1:],
        slip=after,
        power=np.einsum("kpx,kpx->kp", force, after),
        mu_s=mu_s,
        mu_k=mu_k,
    )


def start(run: Recording, world: int, settle: float) -> tuple[int, float]:
    """Return the first record of a window and the step [s]; raise an error if nothing can be
    measured.
    """
    if not isinstance(run, Recording):
        raise ParameterError("run", run, "an hs.Recording")
    world = count("world", world, least=0)
    settle = number("settle", settle, "a finite time of at least 0 s", least=0.0)
    data, info = run.data, run.info
    missing = [name for name in NEEDED if name not in data or "time" not in data[name].dims]
    if missing or not data.sizes.get("point"):
        raise HeelstrikeError(
            f"this recording lacks {', '.join(missing) or 'points'} over time, by which contacts "
            "are measured; run a scene with a surface, with record='standard'"
        )
    if info["every"] != 1:
        raise HeelstrikeError(
            f"this recording keeps every {info['every']}th step; a step's force is judged by the "
            "velocity after it, so run with every=1"
        )
    if world >= data.sizes["world"]:
        raise HeelstrikeError(
            f"no world {world}; this recording has 0 to {data.sizes['world'] - 1}"
        )
    dt = float(np.ravel(info["varied"]["dt"])[world] if "dt" in info["varied"] else info["dt"])
    first = int(np.ceil(settle / dt - 1e-6))
    last = data.sizes["time"] - 1
    if first < 0 or first >= last:
        raise HeelstrikeError(
            f"settle={settle:g} leaves nothing to measure of {last * dt:g} s; "
            "it is how many seconds of the start are left out"
        )
    return first, dt
