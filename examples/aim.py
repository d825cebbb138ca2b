"""Exact derivatives: aim a throw that reaches its target after a bounce, by Newton's method.

    dx_end / dx_0 = A_n ... A_2 A_1,  A_i the derivative of step i, contact included

The ground is slippery and the ball slides all along: where rolling begins a step has a kink.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import heelstrike as hs

STEPS = 400
TARGET = np.array([0.6, 0.2, 0.25])  # [m]


def main() -> None:
    floor = hs.Plane(law=hs.Elastic(hs.HuntCrossley(k=2e3, alpha=0.1), hs.Kinetic(mu=0.05)))
    sim = hs.Simulator(hs.Scene(hs.load("ball"), floor), dt=1e-3)
    throw = np.array([1.0, 0.0, -2.0])  # [m/s]
    for _ in range(8):
        sim.reset(q0=[0, 0, 0.2, 0, 0, 0, 1], v0=[*throw, 0, 0, 0])
        slope = np.eye(12)
        for _ in range(STEPS):
            slope = sim.linearize().state @ slope
            sim.step()
        q = sim.state["q"]
        axes = Rotation.from_quat(q[3:7]).as_matrix()  # the slope's places are in the body's
        miss = q[:3] - TARGET
        print(f"throw {np.round(throw, 3)} m/s misses by {1e3 * np.linalg.norm(miss):.1e} mm")
        if np.linalg.norm(miss) < 1e-5:
            break
        throw -= np.linalg.solve(axes @ slope[:3, 6:9], miss)


if __name__ == "__main__":
    main()
