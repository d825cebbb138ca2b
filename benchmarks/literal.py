"""Energy that literal rules of papers create: 200 tosses of a box, and a rimless wheel.

    python -m benchmarks.literal [--json FILE] [--quick]

A box is thrown 200 times at 1 to 3 m/s with spins of up to 10 rad/s and steps 1 ms for 2 s. Counted
are the throws whose energy rises above that at the start by more than 1 %, and the largest rise.
The wheel (eight spokes of 0.5 m, 2 kg) rolls down 5 degrees for 8 s from 0.5, 1.5, 3 and 5 rad/s;
its largest angular velocity is kept. The consistent rules stand beside the literal ones.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser

DT = 1e-3
TOSSES, QUICK_TOSSES = 200, 20
RISE = 0.01
"""Rise of the energy, as a share of that at the start, from which on a toss counts."""
SLOPE = np.radians(5)
SPOKE, SPOKES = 0.5, 8
STARTS = np.array([0.5, 1.5, 3.0, 5.0])
"""Angular velocities at which the wheel starts [rad/s]."""
WHEEL = """<mujoco><worldbody><body name="wheel"><freejoint/>
  <inertial pos="0 0 0" mass="2" diaginertia="0.05 0.05 0.05"/></body></worldbody></mujoco>"""


def laws(friction: hs.Coulomb) -> dict[str, hs.SurfaceLaw]:
    """Return the literal rules and the consistent ones by name."""
    made: dict[str, hs.SurfaceLaw] = {}
    for rule in ("paper", "consistent"):
        made[f"Rigid, {rule}"] = hs.Rigid(friction=friction, rule=rule)
        made[f"FeedbackLinearized, {rule}"] = hs.FeedbackLinearized(friction=friction, rule=rule)
    made["Rigid, paper, lam 1e-6"] = hs.Rigid(friction=friction, rule="paper", lam=1e-6)
    return made


def main() -> None:
    options = parser(__doc__, "20 tosses of 0.5 s").parse_args()
    warnings.simplefilter("ignore")
    console, result = Console(), {}
    table = Table("law", "tosses that gain energy", "largest gain [J]", "failed", "wheel [rad/s]")
    for name, law in laws(hs.Coulomb(0.6, 0.5)).items():
        row = tossed(law, options.quick) | {"wheel": rolled(laws(hs.Coulomb(5.0, 4.0))[name])}
        table.add_row(name, *(f"{value:.4g}" for value in row.values()))
        result[name] = row
    console.print(table)
    keep(result, options.json)


def tossed(law: hs.SurfaceLaw, quick: bool) -> dict[str, Any]:
    """Return how many tosses gain energy, the largest gain [J], and how many worlds fail."""
    count = QUICK_TOSSES if quick else TOSSES
    rng = np.random.default_rng(0)
    turn = rng.normal(size=(count, 4))
    q0 = np.zeros((count, 7))
    q0[:, 2], q0[:, 3:] = 0.3, turn / np.linalg.norm(turn, axis=1, keepdims=True)
    v0 = rng.uniform(-1, 1, (count, 6)) * [2, 2, 1, 10, 10, 10]
    sim = hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(law=law)), dt=DT, worlds=count)
    duration, record = 0.5 if quick else 2.0, ("kinetic", "potential")
    data = sim.run(duration, q0=q0, v0=v0, record=record, progress=False).data
    energy = (data.kinetic + data.potential).values
    gain = np.nanmax(energy, axis=1) - energy[:, 0]
    return {
        "gained": int((gain > RISE * energy[:, 0]).sum()),
        "gain_J": float(gain.max()),
        "failed": int((data.failed.values >= 0).sum()),
    }


def rolled(law: hs.SurfaceLaw) -> float:
    """Return the largest angular velocity of the wheel [rad/s]."""
    angles = 2 * np.pi / SPOKES * np.arange(SPOKES)
    tips = [(SPOKE * np.sin(a), y, -SPOKE * np.cos(a)) for a in angles for y in (-0.1, 0.1)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wheel.xml"
        path.write_text(WHEEL)
        wheel = hs.load(path, points=[("wheel", tip) for tip in tips])
    down = 9.81 * np.array([np.sin(SLOPE), 0, -np.cos(SLOPE)])
    worlds = len(STARTS)
    sim = hs.Simulator(hs.Scene(wheel, hs.Plane(law=law), gravity=down), dt=DT, worlds=worlds)
    q0 = np.tile([0, 0, SPOKE - 1e-6, 0, 0, 0, 1.0], (worlds, 1))
    v0 = np.zeros((worlds, 6))
    v0[:, 0], v0[:, 4] = SPOKE * STARTS, STARTS
    data = sim.run(8.0, q0=q0, v0=v0, record=("v",), progress=False).data
    return float(np.nanmax(np.abs(data.v.values[:, :, 4])))


if __name__ == "__main__":
    main()
