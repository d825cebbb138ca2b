"""Sixty-four cubes fall on rolling hills, each in another place; where do they come to rest?"""

from __future__ import annotations

import numpy as np

import heelstrike as hs


def main() -> None:
    x = np.linspace(-2, 2, 64)
    hills = hs.HeightField(
        hs.Elastic(hs.LinearSpring(k=2e3, c=8, damping="both"), hs.Bristle(k_t=2e3, c_t=8)),
        name="hills",
        heights=np.sin(3 * x)[:, None] * np.cos(3 * x),
        size=(4, 4),
        scale=0.2,
    )
    sim = hs.Simulator(hs.Scene(hs.load("cube"), hills), dt=1e-3)
    places = np.random.default_rng(0).uniform(-1.2, 1.2, (64, 2))
    q0 = [[a, b, 0.35, 0, 0, 0, 1] for a, b in places]
    end = sim.run(2.0, worlds=64, q0=q0, record="final").data["q"].values.reshape(64, -1)
    ground = 0.2 * np.sin(3 * end[:, 0]) * np.cos(3 * end[:, 1])
    before = 0.2 * np.sin(3 * places[:, 0]) * np.cos(3 * places[:, 1])
    print(f"they moved by {np.hypot(*(end[:, :2] - places).T).mean():.2f} m on average,")
    print(f"from ground at {1e3 * before.mean():+.0f} mm to {1e3 * ground.mean():+.0f} mm,")
    print(f"and {int((end[:, 2] > ground).sum())} of 64 lie on the ground")


if __name__ == "__main__":
    main()
