"""Pictures of each law's force, in docs/images/laws: the same two experiments for all.

Impact: a ball of 1 kg meets the ground at three speeds, without gravity: force over time and depth.
Push: a box of 5 kg is pushed by a force that grows by 50 N/s: friction, and the way it slides.

    python docs/make_pictures.py [NAME ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import heelstrike as hs
from heelstrike.view.plot import figure, label, save

FOLDER = Path(__file__).parent / "images" / "laws"
SPEEDS = (0.25, 0.5, 1.0)  # [m/s]
STEP, COUPLED_STEP = 1e-4, 1e-3  # [s]
SPRING = hs.LinearSpring(k=2e4, c=60)
DRY = hs.Coulomb(mu_s=0.8, mu_k=0.6)
MEMBRANE = hs.Elastic(hs.LinearSpring(k=1e4, c=60), hs.Kinetic(mu=0.6))
NORMAL = {
    "linear-spring": hs.Elastic(SPRING),
    "hunt-crossley": hs.Elastic(hs.HuntCrossley(k=2e4, alpha=0.4)),
    "poisson-spring": hs.Elastic(hs.PoissonSpring()),
    "timestep-damper": hs.Elastic(hs.TimestepDamper(SPRING)),
}
FRICTION = {
    "kinetic": hs.Elastic(hs.LinearSpring(k=1e5, c=1e3), hs.Kinetic(mu=0.6)),
    "bristle": hs.Elastic(hs.LinearSpring(k=1e5, c=1e3), hs.Bristle(mu_s=0.8, mu_k=0.6)),
    "coulomb": hs.Rigid(friction=DRY),
}
BOTH = {
    "elastic": hs.Elastic(SPRING, DRY, implicit=True),
    "rigid": hs.Rigid(restitution=0.5, friction=DRY),
    "micro-macro": hs.MicroMacro(MEMBRANE, hs.Rigid(friction=DRY), thickness=2e-3),
    "signorini": hs.Signorini(friction=hs.Coulomb(0.8, 0.8)),
    "feedback-linearized": hs.FeedbackLinearized(),
}


def impact(law, dt: float, axes: np.ndarray) -> None:
    """Force over time and over depth."""
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law=law), gravity=0.0), dt=dt)
    start = np.zeros((len(SPEEDS), 6))
    start[:, 2] = np.negative(SPEEDS)
    run = sim.run(0.06, worlds=len(SPEEDS), q0=[0, 0, 0.05, 0, 0, 0, 1], v0=start).data
    for i, speed in enumerate(SPEEDS):
        force = run["normal_force"].values[i, :, 0]
        depth = 1e3 * run["depth"].values[i, :, 0]
        axes[0].plot(1e3 * run["time"], force, label=f"{speed:g} m/s")
        axes[1].plot(np.maximum(depth, 0), force)
    label(axes[0], "ball, 1 kg: force over time", "time [ms]", "force [N]")
    label(axes[1], "force over depth", "depth [mm]", "force [N]")


def push(law, dt: float, axes: np.ndarray) -> None:
    """Friction over the push, and the way that the box has slid."""
    sim = hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(law=law)), dt=dt)
    sim.run(0.5)
    times = np.arange(0, 1.0, 0.01)
    rows = []
    for t in times:
        sim.push("box", [50 * t, 0, 0], duration=0.01, point=(0, 0, -0.05)) if t == 0 else None
        sim.parameters["push0.force"] = [50 * t, 0, 0]
        sim.parameters["push0.last"] = 1e9
        run = sim.run(0.01).data
        friction = -run["force"].values[0, :, :, 0].sum(-1).mean()
        rows.append((50 * t, friction, run["q"].values[0, -1, 0]))
    force, friction, way = np.array(rows).T
    axes[0].plot(force, friction)
    axes[0].plot(force, force, color="#999999", linewidth=0.8, linestyle=":")
    axes[0].set_ylim(0, 1.3 * friction.max())
    label(axes[0], "box, 5 kg: friction over push", "push [N]", "friction [N]")
    if len(axes) > 1:
        axes[1].semilogy(force, np.maximum(1e3 * (way - way[0]), 1e-9))
        label(axes[1], "way", "push [N]", "way [mm]")


def picture(name: str) -> Path:
    law = {**NORMAL, **FRICTION, **BOTH}[name]
    coupled = name in BOTH or name == "coulomb"
    dt = COUPLED_STEP if coupled else STEP
    drawn, axes = figure(1, 3 if name in BOTH else 2)
    if name not in FRICTION:
        impact(law, dt, axes)
    if name not in NORMAL:
        push(law, dt, axes[2:] if name in BOTH else axes)
    FOLDER.mkdir(parents=True, exist_ok=True)
    return save(drawn, FOLDER / f"{name}.png", few_colours=True)


if __name__ == "__main__":
    for each in sys.argv[1:] or [*NORMAL, *FRICTION, *BOTH]:
        print(f"wrote {picture(each)}")
