"""A contact law of one's own: ground that stiffens with depth, beside the nearest bundled law.

The law is traced like the bundled ones, and its numbers are parameters with a path.
"""

from __future__ import annotations

import heelstrike as hs


@hs.normal_law
def stiffening(c, k=2e3, b=2e6, alpha=0.4):  # [N/m], [N/m^2], [s/m]
    return (k * c.depth + b * c.depth**2) * (1 + 1.5 * alpha * c.depth_rate)


def main() -> None:
    ball = hs.load("ball")
    q0 = [0, 0, 0.15, 0, 0, 0, 1]  # 0.1 m above the ground
    for name, law in {
        "HuntCrossley": hs.HuntCrossley(k=5e4, alpha=0.4),
        "mine": stiffening(),
    }.items():
        sim = hs.Simulator(hs.Scene(ball, hs.Plane(law=hs.Elastic(law))), dt=1e-4)
        run = sim.run(0.4, q0=q0)
        force, depth = (float(run.data[key].max()) for key in ("peak_force", "peak_depth"))
        print(f"{name:<13} {force:6.1f} N at most, {1e3 * depth:.2f} mm deep")
    sim.parameters["ground.normal.b"] = 1e7  # costs no compilation
    harder = float(sim.run(0.4, q0=q0).data["peak_force"].max())
    print(f"mine, b = 1e7 {harder:6.1f} N at most")


if __name__ == "__main__":
    main()
