"""Quadrupeds on their backs right themselves by three poses that tools/search_righting.py found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.view.render.camera import Camera

ROBOT = Path(__file__).with_name("quadruped.xml")
FOLDED, STANCE = (0.0, 1.3, -2.6), (0.0, 0.75, -1.5)  # roll, pitch and knee of a leg [rad]
LEFT = [[0.46, -2.67, -1.48], [0.26, -2.55, -0.79], [-0.08, -1.32, -1.81]]  # left legs
RIGHT = [[-0.34, -1.74, -1.04], [0.48, -2.52, -0.47], [-0.18, -0.83, -2.04]]
TIMES = [0.0, 0.4, 0.99, 1.61, 2.14, 2.74]  # folded twice, the poses, the stance [s]
RIGID = hs.Rigid(friction=hs.Coulomb(mu_s=0.7, mu_k=0.6))
ELASTIC = hs.Elastic(hs.HuntCrossley(k=2e4), hs.Bristle(mu_s=0.7, mu_k=0.6, k_t=1e4, c_t=50))


def starts(count: int, seed: int = 0, spread: float = 0.5) -> np.ndarray:
    """Robots above the floor, upside down, turned by up to `spread` [rad], joints by a third."""
    robot, rng = hs.load(ROBOT), np.random.default_rng(seed)
    q = np.zeros((count, robot.nq))
    angles = spread * rng.uniform(-1, 1, (count, 2)) * [1, 0.3] + [np.pi, 0]  # roll, pitch
    q[:, 2], q[:, 3:7] = 0.12 + 0.1 * spread, Rotation.from_euler("xy", angles).as_quat()
    q[:, 7:] = np.tile(FOLDED, 4) + 0.3 * spread * rng.uniform(-1, 1, (count, 12))
    return np.clip(q, robot.lower, robot.upper)  # no joint on its stop


def motion() -> np.ndarray:
    """Angles of the joints at TIMES, (6, 12) [rad]."""
    poses = [[a, a, b, b] for a, b in zip(LEFT, RIGHT, strict=True)]
    return np.reshape([[FOLDED] * 4] * 2 + poses + [[STANCE] * 4], (6, 12))


def simulate(law: hs.SurfaceLaw, q0: np.ndarray, **options: object) -> hs.Recording:
    """All robots follow the same motion, each from its own start."""
    servo = hs.Servo(reference=hs.Trajectory(TIMES, np.hstack([np.zeros((6, 7)), motion()])))
    sim = hs.Simulator(hs.Scene(hs.load(ROBOT), hs.Plane(law)), control=servo)
    return sim.run(4.0, worlds=len(q0), q0=q0, **options)


def upright(q: np.ndarray) -> np.ndarray:
    """Whether robots stand: their trunks within 15 degrees of level, and 0.2 m high."""
    return (1 - 2 * (q[..., 3] ** 2 + q[..., 4] ** 2) > 0.966) & (q[..., 2] > 0.2)


def main() -> None:
    for law in (ELASTIC, RIGID):
        run = simulate(law, starts(64), every=10)
        print(f"{upright(run.data['q'].values[:, -1]).sum()} of 64 stand on {type(law).__name__}")
    view = {"camera": Camera(azimuth=-60, elevation=12), "labels": [""]}
    print(f"wrote {run.film_strip('right.png', times=(0.35, 1, 1.2, 1.35, 1.8, 4), **view)}")


if __name__ == "__main__":
    main()
