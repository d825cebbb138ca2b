"""The same box under four laws, pushed below its cone, judged by one yardstick."""

from __future__ import annotations

import heelstrike as hs

DRY = hs.Coulomb(mu_s=0.6, mu_k=0.5)
SPRING = hs.LinearSpring(k=2e4, c=100)
LAWS = {
    "rigid": hs.Rigid(friction=DRY),
    "implicit": hs.Elastic(SPRING, DRY, implicit=True),
    "bristle": hs.Elastic(SPRING, hs.Bristle(mu_s=0.6, mu_k=0.5)),
    "kinetic": hs.Elastic(SPRING, hs.Kinetic(mu=0.5)),
}


def main() -> None:
    runs = {}
    for name, law in LAWS.items():
        sim = hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(law=law)), dt=1e-3)
        sim.push(body="box", force=[20, 0, 0], duration=1.0)  # below the cone: 0.6 x 49 N
        runs[name] = sim.run(1.0)
    print(hs.compare(runs, settle=0.5))


if __name__ == "__main__":
    main()
