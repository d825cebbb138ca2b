"""A ball rolls down stairs: its speed after each landing, and a film strip, roll.png."""

from __future__ import annotations

import numpy as np

import heelstrike as hs
from heelstrike.view.render.camera import Camera

SPEED = 0.6  # at the start [m/s]


def simulate() -> hs.Recording:
    """The ball rolls towards the first nose, and over four of them."""
    law = hs.Rigid(friction=hs.Coulomb(mu_s=0.5, mu_k=0.5))
    stairs = hs.Stairs(law, "stairs", rise=0.1, run=0.2, count=4, width=0.4)
    ball = hs.load("ball")  # of radius 0.05 m
    scene = hs.Scene(ball, stairs, hs.Plane(law, "floor"))
    start = {"q0": [0.7, 0, 0.45, 0, 0, 0, 1], "v0": [-SPEED, 0, 0, 0, -SPEED / 0.05, 0]}
    return hs.Simulator(scene, dt=1e-3).run(1.8, **start)


def main() -> None:
    run = simulate()
    v = run.data["com_velocity"].values[0]
    landings = np.flatnonzero(np.diff(v[:, 2]) > 0.2)
    speeds = ", ".join(f"{-v[k + 1, 0]:.3f}" for k in landings)
    print(f"it rolls at {SPEED:.3f} m/s, after {len(landings)} landings at {speeds} m/s")
    view = {"camera": Camera(azimuth=-100, elevation=12), "forces": False, "labels": [""]}
    print(f"wrote {run.film_strip('roll.png', times=0.2 * np.arange(8), columns=4, **view)}")


if __name__ == "__main__":
    main()
