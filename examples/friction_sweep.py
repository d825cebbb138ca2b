"""Many worlds: at which friction does a brick hold on a ramp of 20 degrees?

By Coulomb's law at mu = tan 20 deg = 0.364. One compilation, 256 worlds.
"""

from __future__ import annotations

import numpy as np

import heelstrike as hs

ANGLE = np.deg2rad(20)


def main() -> None:
    brick = hs.load("brick")
    up = (-np.sin(ANGLE), 0, np.cos(ANGLE))
    ramp = hs.Plane(hs.Rigid(friction=hs.Coulomb(mu_s=0.5, mu_k=0.5)), "ramp", normal=up)
    sim = hs.Simulator(hs.Scene(brick, ramp), dt=1e-3)
    low = min(point.position[2] for point in brick.points)
    height = -low * np.asarray(up)
    q0 = [*height, 0, np.sin(-ANGLE / 2), 0, np.cos(-ANGLE / 2)]

    mu = np.linspace(0.3, 0.45, 256)
    paths = ("ramp.friction.mu_s", "ramp.friction.mu_k")
    run = sim.run(0.5, worlds=256, q0=q0, vary=dict.fromkeys(paths, mu))
    speed = np.abs(run.data["v"].sel(joint="root.vx").values.reshape(256, -1)[:, -1])
    holds = mu[speed < 1e-3]
    print(f"holds from mu = {holds.min():.3f} on; tan 20 deg = {np.tan(ANGLE):.3f}")
    slides = 9.81 * (np.sin(ANGLE) - mu[0] * np.cos(ANGLE)) * 0.5
    print(f"at mu = {mu[0]:.2f} it slides at {speed[0]:.3f} m/s; Coulomb: {slides:.3f} m/s")


if __name__ == "__main__":
    main()
