"""Search for the motion of examples/right.py by the cross-entropy method.

    python tools/search_righting.py

512 robots at a time try three poses each, and seconds to reach them; the best 32 decide where the
next 512 are searched. Starts are spread from the sixth round on. Printed last is the mean of the
best: angles of left and right legs, and seconds.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np

import heelstrike as hs

EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "right.py"))
TRIES, BEST, ROUNDS = 512, 32, 30
REST, RISE, SECONDS = 0.4, 0.6, 3.2  # lies folded; gets up to its stance; whole run [s]
LOW = np.array([-1.5, -3.0, -2.6] * 2 + [0.25])
"""Least angles of left and right legs [rad], and least time of a pose [s]."""
HIGH = np.array([1.5, 3.0, 2.6] * 2 + [0.7])
STILL = ("FOLDED", 2), ("STANCE", 1)
"""Poses before and after those that are searched."""
EVERY = 20
"""Steps of 1 ms between two references."""


def motions(poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return times (tries, 6) [s] and joint angles (tries, 6, 12) [rad] of poses (tries, 3, 7)."""
    left, right, ends = poses[..., :3], poses[..., 3:6], REST + np.cumsum(poses[..., 6], axis=1)
    start, end = (np.tile(EXAMPLE[name], (len(poses), n, 4)) for name, n in STILL)
    angles = np.concatenate(
        [start, np.concatenate([left, left, right, right], axis=2), end], axis=1
    )
    before = np.tile([0.0, REST], (len(poses), 1))
    return np.hstack([before, ends, ends[:, -1:] + RISE]), angles


def follow(sim: hs.Simulator, poses: np.ndarray, q0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where robots end, and the largest speed of their trunks [m/s]."""
    (times, angles), worlds = motions(poses), np.arange(len(q0))
    sim.reset(q0=q0)
    reference, fastest = np.zeros((len(q0), 18)), np.zeros(len(q0))
    for now in 1e-3 * np.arange(EVERY, 1000 * SECONDS + 1, EVERY):
        k = np.clip((times <= now).sum(axis=1) - 1, 0, times.shape[1] - 2)
        start, end = times[worlds, k], times[worlds, k + 1]
        share = np.clip((now - start) / (end - start), 0, 1)[:, None]
        reference[:, 6:] = (1 - share) * angles[worlds, k] + share * angles[worlds, k + 1]
        sim.parameters["servo.q_ref"] = reference
        v = sim.step(EVERY, threads=2)["v"]
        fastest = np.maximum(fastest, np.linalg.norm(v[:, :3], axis=1))
    return np.array(sim.state["q"]), fastest


def main() -> None:
    scene = hs.Scene(hs.load(EXAMPLE["ROBOT"]), hs.Plane(EXAMPLE["ELASTIC"]))
    sim = hs.Simulator(scene, control=hs.Servo(), worlds=TRIES, dtype="float32")
    rng = np.random.default_rng(0)
    mean, width = np.tile((LOW + HIGH) / 2, (3, 1)), np.tile((HIGH - LOW) / 2.5, (3, 1))
    for k in range(ROUNDS):
        poses = np.clip(mean + width * rng.normal(size=(TRIES, 3, 7)), LOW, HIGH)
        q, speed = follow(sim, poses, EXAMPLE["starts"](TRIES, k, 0.0 if k < 5 else 0.5))
        level = 1 - 2 * (q[:, 3] ** 2 + q[:, 4] ** 2)
        score = level + 2 * np.clip(q[:, 2] - 0.1, 0, 0.12) - 0.05 * speed
        best = poses[np.argsort(-np.nan_to_num(score, nan=-9.0))[:BEST]]
        mean = 0.3 * mean + 0.7 * best.mean(axis=0)
        width = 0.3 * width + 0.7 * best.std(axis=0) + 0.01
        print(f"round {k}: {EXAMPLE['upright'](q).mean():.0%} of the tries stand", flush=True)
    print(np.array2string(mean, separator=", ", precision=2, suppress_small=True))


if __name__ == "__main__":
    main()
