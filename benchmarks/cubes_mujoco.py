"""MuJoCo on the tosses of benchmarks.cubes: same starts, step, frames, loss and search.

Elliptic cones, solref = (-k, -b) as [Acosta2022] set it: k [1/s^2] and b [1/s] are of the contact's
acceleration, not of a force. Three numbers, as most of the laws have. It is judged with the
numbers of [Acosta2022] and with those of an earlier search over 80 tosses as well.
"""

from __future__ import annotations

import os
import time
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from scipy.spatial.transform import Rotation

from heelstrike.identification.motions import PoseErrors
from heelstrike.identification.search import search
from heelstrike.identification.space import Space
from heelstrike.papers.marhefka1996.tosses import (
    RATE,
    SUBSTEPS,
    Cube,
    Errors,
    Tosses,
    errors,
    loss,
)

MASS = 0.37
"""Of the bundled cube [kg]."""
GIVEN = {
    "mujoco, as Acosta 2022": (3294.0, 45.1, 0.218),
    "mujoco, found on 80 tosses": (18489.0, 116.0, 0.208),
}
SPACE = Space.of({"k": (300.0, 1e5), "b": (5.0, 1e3), "mu": (0.03, 0.8)})
SETS, ROUNDS, SHARE = 12, 6, 3
"""Of the search, on every third training toss: a set takes seconds here."""


def world(cube: Cube) -> mujoco.MjModel:
    """A box above a plane."""
    inertia, size = (" ".join([repr(x)] * 3) for x in (cube.inertia, cube.half))
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{1 / (RATE * SUBSTEPS)}" cone="elliptic"
        gravity="0 0 -{cube.gravity}"/><worldbody>
        <geom type="plane" size="0 0 0.05" condim="3"/>
        <body><freejoint/>
          <inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia}"/>
          <geom type="box" size="{size}" condim="3"/></body>
        </worldbody></mujoco>"""
    )


def poses(tosses: Tosses, k: float, b: float, mu: float) -> np.ndarray:
    """(toss, frame, 7), quaternions xyzw."""
    model = world(tosses.cube)
    model.geom_solref[:] = (-k, -b)
    model.geom_friction[:] = (mu, 0, 0)
    start = tosses.poses[:, 0]
    linear = Rotation.from_quat(start[:, 3:]).apply(tosses.v0[:, :3])
    state = np.concatenate(
        [
            np.zeros((len(tosses), 1)),
            start[:, :3],
            start[:, [6, 3, 4, 5]],
            linear,
            tosses.v0[:, 3:],
        ],
        axis=1,
    )
    data = [mujoco.MjData(model) for _ in range(os.cpu_count() or 1)]
    made, _ = rollout.rollout(model, data, state, nstep=SUBSTEPS * (tosses.frames - 1))
    every = made[:, SUBSTEPS - 1 :: SUBSTEPS, 1:8][..., [0, 1, 2, 4, 5, 6, 3]]
    return np.concatenate([start[:, None], every], axis=1)


def _judged(tosses: Tosses, numbers: tuple[float, ...]) -> Errors:
    return errors(tosses, poses(tosses, *numbers))


def compared(tosses: Tosses) -> dict[str, Any]:
    """MuJoCo with numbers found here, and with those of others."""
    from benchmarks.cubes import judged

    training, others = tosses.training, tosses.held_out

    fewer = training.chosen(slice(0, None, SHARE))

    def losses(x: np.ndarray) -> np.ndarray:
        made = [_judged(fewer, tuple(one)) for one in np.exp(x)]
        return np.array([loss(PoseErrors(one.position, one.rotation)) for one in made])

    started = time.perf_counter()
    tried = search(losses, SPACE, SETS, ROUNDS, seed=0)
    spent = time.perf_counter() - started
    found = {"mujoco": tuple(np.exp(tried.best).tolist()), **GIVEN}
    results: dict[str, Any] = {
        name: {
            "found": dict(zip(SPACE.names, numbers, strict=True)),
            "training": judged(_judged(training, numbers)),
            "held_out": judged(_judged(others, numbers)),
        }
        for name, numbers in found.items()
    }
    results["mujoco"] |= {"sets": SETS * (ROUNDS + 1), "seconds": round(spent, 1)}
    return results
