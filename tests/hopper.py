"""A recording made of closed forms: a robot that hops on two feet, and gains a known energy."""

from __future__ import annotations

import numpy as np

from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.kinetic import Kinetic
from heelstrike.record.dataset import dataset
from heelstrike.record.recording import Recording
from heelstrike.record.variables import VARIABLES
from heelstrike.step.inputs import WORKS

RESIDUAL = 0.0125
"""Energy that the made-up run gains out of nothing, from its start to its end [J]."""
MASS = 4.0
COORDS = {
    "coordinate": ["root.x", "root.y", "root.z", "root.qx", "root.qy", "root.qz", "root.qw", "hip"],
    "coordinate_unit": ["m", "m", "m", "1", "1", "1", "1", "rad"],
    "joint": ["root.vx", "root.vy", "root.vz", "root.wx", "root.wy", "root.wz", "hip"],
    "joint_unit": ["m", "m", "m", "rad", "rad", "rad", "rad"],
    "point": [f"{side}_{i}" for side in ("left", "right") for i in range(4)],
    "surface": ["ground"] * 8,
    "point_body": ["left_foot"] * 4 + ["right_foot"] * 4,
    "body": ["left_foot", "right_foot"],
    "slot": ["0", "1"],
    "constraint": ["pin"],
    "constraint_row": ["pin.x", "pin.y", "pin.z"],
    "constraint_unit": ["N", "N", "N"],
    "spring": ["calf"],
}


def attributes(**changes: object) -> dict[str, object]:
    law = Elastic(HuntCrossley(k=5e4, alpha=0.4), Kinetic(mu=0.6))
    return {
        "robot": "hopper",
        "scene": {"surfaces": ["ground"], "gravity": [0.0, 0.0, -9.81]},
        "laws": {"ground": law},
        "parameters": {"ground.normal.k": np.array([5e4]), "dt": 1e-3},
        "control": None,
        "dt": 1e-3,
        "integrator": "symplectic",
        "dtype": "float64",
        "device": "cpu",
        "duration": 2.0,
        "steps": 2000,
        "every": 10,
        "seed": 7,
        "wall_time": 0.05,
        "created": "2026-11-15T12:00:00Z",
        "versions": {"heelstrike": "0.1.0", "numpy": "2.0"},
        **changes,
    }


def hop(worlds: int, records: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Series and finals of a robot that hops once a second; each world a little harder."""
    t = np.linspace(0.0, 2.0, records)[None, :]
    harder = 1.0 + 0.1 * np.arange(worlds)[:, None]
    high = 0.05 * np.cos(2 * np.pi * t) * harder  # above the ground while positive
    dims = (
        "coordinate", "joint", "point", "body", "slot", "constraint", "constraint_row",
        "spring",
    )  # fmt: skip
    shape = {dim: len(COORDS[dim]) for dim in dims} | {"axis": 3}
    series = {
        name: np.zeros((worlds, records, *(shape[dim] for dim in variable.dims)))
        for name, variable in VARIABLES.items()
        if not variable.final
    }
    depth = -high[..., None] * 0.02 - 1e-5 * np.arange(8)
    series["depth"] += depth
    series["touching"] = depth > 0
    series["normal_force"] += 5e5 * np.maximum(depth, 0.0)
    series["force"][..., 2] = series["normal_force"]
    series["slip"][..., 0] = 0.01 * np.sin(9 * t)[..., None]
    series["body_force"][..., 2] = series["normal_force"].reshape(worlds, records, 2, 4).sum(-1)
    series["cop"][~series["touching"].reshape(worlds, records, 2, 4).any(-1)] = np.nan
    series["com"][..., 2] = 0.5 + high
    series["q"][..., 2], series["q"][..., 6] = 0.45 + high, 1.0
    series["v"][..., 2] = -0.1 * np.pi * np.sin(2 * np.pi * t) * harder
    series["torque"][..., 6] = 3.0 * np.sin(2 * np.pi * t)
    series["kinetic"] += 0.5 * MASS * series["v"][..., 2] ** 2
    series["work_contact"] -= 0.8 * t
    series["work_control"] += 0.3 * np.sin(t)
    work = sum(series[name] for name in WORKS)
    series["potential"] += 9.0 + work - series["kinetic"] + RESIDUAL * t / 2.0
    finals = {
        "peak_force": series["normal_force"].max(1),
        "peak_depth": series["depth"].max(1),
        "impulse": np.trapezoid(series["body_force"], t[0], axis=1),
        "lost_contacts": np.zeros(worlds),
        "failed": np.full(worlds, -1),
        "steps": np.full(worlds, 2000),
    }
    return series, finals


def over_time(worlds: int = 3, records: int = 201, **changes: object) -> Recording:
    series, finals = hop(worlds, records)
    coords = {**COORDS, "time": np.linspace(0.0, 2.0, records)}
    return Recording(dataset(series, finals, coords, attributes(**changes)))


def at_end(worlds: int = 100, **changes: object) -> Recording:
    series, finals = hop(worlds, 21)
    ends = {name: series[name][:, -1] for name in ("q", "v")}
    return Recording(dataset({}, ends | finals, COORDS, attributes(**changes)))
