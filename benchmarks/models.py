"""Contact models side by side: three scenes of [LeLidec2024], one table.

    python -m benchmarks.models [--json FILE]

    slide   a cube of 2 kg that slides at 1 m/s, askew to its sides: drift aside, hop, way
    ramp    the same under a horizontal push of 0 to 20 N at its centre, mu m g = 9.81 N
    stack   a cube on a light one, 1 to a million times its mass; springs grow with it

Every law lets its cube settle for half a second first. Steps are 1 ms, mu = 0.5. MuJoCo, with its
defaults but the elliptic cone and this mu, is held to the same yardsticks (models_mujoco.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser

G, DT, MU, MASS, SPEED = 9.81, 1e-3, 0.5, 2.0, 1.0
HALF = 0.0524
"""Of a cube's side [m]."""
AHEAD = np.array([np.cos(np.radians(30)), np.sin(np.radians(30)), 0])
PUSHES = np.linspace(0.1, 20, 200)
"""[N], 10 ms each."""
STARTS = 1e-3
"""Speed of a cube that slides [m/s]."""
RATIOS = (1.0, 1e3, 1e6)
SETTLE = 0.5
ONE = hs.Coulomb(MU, MU)
LAWS: dict[str, hs.Signorini | hs.Rigid | hs.MicroMacro | hs.Elastic] = {
    "Signorini": hs.Signorini(ONE),
    "Rigid": hs.Rigid(friction=ONE),
    "Rigid, paper": hs.Rigid(friction=ONE, rule="paper"),
    "MicroMacro": hs.MicroMacro(
        hs.Elastic(hs.LinearSpring(k=2e4, c=50), hs.Kinetic(mu=MU)), hs.Rigid(friction=ONE), 1e-4
    ),
    "Elastic, implicit": hs.Elastic(hs.LinearSpring(k=2e4, c=50), ONE, implicit=True),
    "Elastic": hs.Elastic(hs.HuntCrossley(k=2e4, alpha=1), hs.Bristle(mu_s=MU, mu_k=MU)),
}


@dataclass(frozen=True)
class Slide:
    """Of a cube that slides; nan where it did not."""

    drift_um: float
    """Largest way aside."""
    hop_um: float
    """Largest rise of its centre."""
    short_um: float
    """Of the way of Coulomb's law."""
    depth_um: float
    primal_N: float
    dual_m_s2: float
    complementary_W: float
    won_uJ: float
    """Largest rise of kinetic and potential energy, from any time to any later one."""
    rounds: float
    """Evaluations in a step, mean."""


@dataclass(frozen=True)
class Ramp:
    """Of a cube under a growing push."""

    moved_um: float
    """Way of its centre under 1 to 6 N; on springs it leans."""
    starts_N: float
    """The push under which it slides."""


@dataclass(frozen=True)
class Stack:
    """Of a cube on a light one, after a second."""

    ratio: float
    depth_um: float
    """Largest depth."""
    speed_m_s: float
    """Of the fastest joint at the end, or rad/s."""
    won_um: float
    """Energy won, as in Slide, in heights of the upper cube."""
    rounds: float


def won(energy: np.ndarray) -> float:
    """What energy grew by from its lowest value so far, at most."""
    return float((energy - np.minimum.accumulate(energy)).max())


def way(position: np.ndarray, speed: float = SPEED) -> tuple[float, float, float]:
    """Drift aside, hop, and what is missing of the way of Coulomb's law [m]."""
    moved = position - position[0]
    aside = moved @ np.cross([0, 0, 1], AHEAD)
    speeds = np.maximum(speed - MU * G * DT * np.arange(1, len(position)), 0)
    stops = speeds.sum() * DT
    return float(np.abs(aside).max()), float(moved[:, 2].max()), float(stops - moved[-1] @ AHEAD)


def cube(law: Any) -> hs.Simulator:
    """On four corners, settled."""
    corners = [("cube", (x, y, -HALF)) for x in (-HALF, HALF) for y in (-HALF, HALF)]
    robot = hs.load("cube", points=corners)
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), dt=DT)
    start = [0, 0, HALF - 1e-6, 0, 0, 0, 1]
    sim.run(SETTLE, q0=start, v0=np.zeros(6), vary={"cube.mass": MASS}, record="final")
    return sim


def slide(law: Any) -> Slide:
    sim = cube(law)
    sim.state["v"] = [*(SPEED * AHEAD), 0, 0, 0]
    run = sim.run(0.4)
    drift, hop, short = (1e6 * x for x in way(run.data["q"].values[0, :, :3]))
    energy = (run.data["kinetic"] + run.data["potential"]).values[0]
    found = hs.yardsticks(run)
    coupled = "solver_rounds" in run.data
    return Slide(
        drift,
        hop,
        short,
        1e6 * found.deepest,
        found.ncp_primal,
        found.ncp_dual,
        found.ncp_complementarity,
        1e6 * won(energy),
        float(run.data["solver_rounds"].mean()) if coupled else float("nan"),
    )


def ramp(law: Any) -> Ramp:
    sim = cube(law)

    def pushed(force: float) -> tuple[float, float]:
        sim.push(body="cube", force=[force, 0, 0], duration=0.01)
        sim.step(10)
        return float(sim.state["q"][0]), float(sim.state["v"][0])

    return climbed(pushed)


def climbed(pushed: Callable[[float], tuple[float, float]]) -> Ramp:
    """Raises the push until the cube slides; `pushed` gives its place and speed after 10 ms."""
    places = {}
    for force in PUSHES:
        places[round(force, 1)], speed = pushed(float(force))
        if speed > STARTS:
            break
    moved = 1e6 * (places.get(6.0, np.nan) - places.get(1.0, np.nan))
    return Ramp(moved, float(force) if speed > STARTS else float("nan"))


def stack(law: Any) -> list[Stack]:
    """All mass ratios at once, a world each; the light cube carries the surface."""
    corners = [("cube", (x, y, -HALF)) for x in (-HALF, HALF) for y in (-HALF, HALF)]
    both = hs.combine(
        {"low": hs.load("cube", points=corners), "top": hs.load("cube", points=corners)}
    )
    lid = hs.Box(law, "lid", body="low/cube", size=(0.12, 0.12, 2 * HALF), faces=("+z",))
    scene = Above(both, hs.Plane(law, "ground"), lid)
    sim = hs.Simulator(scene, dt=DT)
    start = [0, 0, HALF - 1e-6, 0, 0, 0, 1, 0.002, 0.001, 3 * HALF - 2e-6, 0, 0, 0, 1]
    vary = {"top/cube.mass": 0.37 * np.array(RATIOS)}
    if isinstance(law, hs.Elastic):
        stiff = [n for n in sim.parameters if n.endswith((".normal.k", ".normal.c"))]
        vary |= {name: float(sim.parameters[name][0]) * np.array(RATIOS) for name in stiff}
    data = sim.run(1.0, q0=start, vary=vary, worlds=len(RATIOS), record="standard").data
    energy = (data["kinetic"] + data["potential"]).values
    failed = data["failed"].values >= 0
    rounds = data["solver_rounds"].values if "solver_rounds" in data else np.full((3, 1), np.nan)
    found = []
    for k, ratio in enumerate(RATIOS):
        weight = 0.37 * ratio * G
        speed = np.nan if failed[k] else float(np.abs(data["v"].values[k, -1]).max())
        sunk = np.nan if failed[k] else 1e6 * float(data["depth"].values[k].max())
        gain = np.nan if failed[k] else 1e6 * won(energy[k]) / weight
        found.append(Stack(ratio, sunk, speed, gain, float(rounds[k].mean())))
    return found


class Above(hs.Scene):
    """The low cube meets the ground only, the top one the lid only."""

    @property
    def pairs(self) -> list[Any]:
        return [p for p in super().pairs if (p.carrier is None) == (p.point.body == 0)]


def measured() -> dict[str, Any]:
    """Of all models, ready for JSON."""
    from benchmarks import models_mujoco as peer

    result: dict[str, Any] = {}
    for name, law in LAWS.items():
        stacks = [asdict(x) for x in stack(law)]
        result[name] = {"slide": asdict(slide(law)), "ramp": asdict(ramp(law)), "stack": stacks}
    result["MuJoCo"] = {
        "slide": asdict(peer.slide()),
        "ramp": asdict(peer.ramp()),
        "stack": [asdict(peer.stack(ratio)) for ratio in RATIOS],
    }
    return result


def show(console: Console, models: dict[str, Any]) -> None:
    """A table a scene, a row a model."""
    slides = {name: found["slide"] for name, found in models.items()}
    gaps = ("primal_N", "dual_m_s2", "complementary_W")
    moves = [name for name in Slide.__annotations__ if name not in gaps]
    scenes = {"slide": {n: {k: v[k] for k in moves} for n, v in slides.items()}}
    scenes["slide: c + Gamma"] = {n: {k: v[k] for k in gaps} for n, v in slides.items()}
    scenes["ramp, 0 to 20 N"] = {name: found["ramp"] for name, found in models.items()}
    for i, ratio in enumerate(RATIOS):
        title = f"stack, mass ratio {ratio:.0e}"
        scenes[title] = {name: found["stack"][i] for name, found in models.items()}
    for title, rows in scenes.items():
        names = [name for name in next(iter(rows.values())) if name != "ratio"]
        table = Table(title=title, padding=0)
        for column in ("", *(name.replace("_", " ", 1) for name in names)):
            table.add_column(column, justify="right" if column else "left", no_wrap=not column)
        for model, values in rows.items():
            table.add_row(
                model, *("-" if np.isnan(values[n]) else f"{values[n]:.2g}" for n in names)
            )
        console.print(table)


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")
    models = measured()
    show(Console(), models)
    result = {"models": models}
    keep(result, options.json)


if __name__ == "__main__":
    main()
