"""Every law on every motion: one gait, one set of gains, one step; who walks, who falls, and why.

    python -m benchmarks.motions [--json FILE] [--from FILE] [--figure FILE] [--film FILE] [--quick]

hoap1 stands up, walks eight steps, jumps and punches; SR1 walks its three public patterns
(HEELSTRIKE_DATA; left out where that is not set), in MuJoCo as well. Ground:
benchmarks/motion_cases.py. Prints Markdown tables.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.motion_cases import Case, Ground, hoap1, sr1
from benchmarks.motion_peer import ways
from heelstrike.finite import finite
from heelstrike.measure.yardsticks import yardsticks
from heelstrike.motion import Humanoid, Motion, outcome

DT = 1e-3
KEPT = (
    "deepest",
    "mean_depth",
    "creep_normal",
    "creep_tangential",
    "chatter",
    "ncp_primal",
    "ncp_dual",
    "ncp_complementarity",
    "energy_residual",
)
FILMED = ("Rigid", "HuntCrossley", "Rigid, literal")
QUICK = ("Rigid", "HuntCrossley")
TITLES = {"deepest": "Largest depth", "slid": "Loaded points slide", "chatter": "Chatter of forces"}
LINE = {"color": "0.9", "linewidth": 0.8}
COLUMNS = {
    "stood": ("stands", "", 1.0),
    "lost_at": ("lost at", "s", 1.0),
    "way": ("distance", "m", 1.0),
    "off": ("final error", "mm", 1e3),
    "deepest": ("deepest", "mm", 1e3),
    "tilt": ("sole tilt", "mrad", 1e3),
    "slid": ("a point slides", "mm", 1e3),
    "lag": ("joint lag", "mrad", 1e3),
    "creep_tangential": ("creep", "um/s", 1.0),
    "chatter": ("chatter", "1/s", 1.0),
    "ncp_primal": ("primal", "N", 1.0),
    "ncp_dual": ("dual", "m/s^2", 1.0),
    "ncp_complementarity": ("compl.", "W", 1.0),
}
"""Label, unit and factor of what is shown."""


def main() -> None:
    command = parser(__doc__, "two laws, hoap1 alone")
    command.add_argument("--figure", metavar="FILE", help="draw them to FILE")
    command.add_argument(
        "--from", dest="kept", metavar="FILE", help="show kept results, measure none"
    )
    command.add_argument("--film", metavar="FILE", help="film one walk on some laws, no tables")
    options = command.parse_args()
    if options.film:
        film(options.film)
        return
    kept = options.kept and json.loads(Path(options.kept).read_text())
    result = kept or measured(options.quick)
    print(summary(result), end="\n\n")
    for motion in dict.fromkeys(row["motion"] for row in result["rows"]):
        print(markdown(result, motion), end="\n\n")
    keep(result, options.json)
    if options.figure:
        from heelstrike.view import plot

        plot.save(drawn(result), options.figure)


def measured(quick: bool = False) -> dict[str, Any]:
    """All cases."""
    cases = [hoap1()] if quick else [case for case in (hoap1(), sr1()) if case is not None]
    result: dict[str, Any] = {"dt": DT, "ground": {}, "rows": []}
    result["mujoco"] = {} if quick else ways(DT)
    for case in cases:
        ground, human = Ground.under(case, DT), Humanoid.of(case.robot)
        result["ground"][case.robot.name] = {**asdict(ground), "limits": ground.limits(DT)}
        for law, made in ground.laws().items():
            if quick and law not in QUICK:
                continue
            for name, motion in case.motions.items():
                told = {"robot": case.robot.name, "motion": name, "law": law}
                result["rows"].append({**told, **one(case, human, motion, made)})
    return result


def one(case: Case, human: Humanoid, motion: Motion, law: Any) -> dict[str, Any]:
    """What became of a motion on a law."""
    run = followed(case, motion, law)
    found = asdict(outcome(motion, run, human))
    measures = yardsticks(run).as_dict()
    found |= {name: measures[name] for name in KEPT}
    return finite(found)


def followed(case: Case, motion: Motion, law: Any) -> hs.Recording:
    """The motion on a plane of this law."""
    scene = hs.Scene(case.robot, hs.Plane(law))
    sim = hs.Simulator(scene, dt=DT, control=case.servo(motion))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that is lost is told in the table
        return sim.run(motion.settings["seconds"], q0=motion.start, progress=False)


def film(path: str) -> None:
    """hoap1's walk on three laws, from the second step on."""
    from heelstrike.view.render.camera import Camera
    from heelstrike.view.render.film_strip import film_strip

    case = hoap1("walk")
    laws, motion = Ground.under(case, DT).laws(), case.motions["walk"]
    runs = [followed(case, motion, laws[law]) for law in FILMED]
    times = np.linspace(2.6, 4.6, 6)
    film_strip(runs, path, times=list(times), labels=FILMED, camera=Camera(follow=True))


def summary(result: dict[str, Any]) -> str:
    """Return the table of final errors, of distances for SR1, and of times of loss."""
    motions = list(dict.fromkeys(row["motion"] for row in result["rows"]))
    found = {(row["law"], row["motion"]): row for row in result["rows"]}
    heads = [f"{m}: distance [m]" if m in result["mujoco"] else f"{m}: error [mm]" for m in motions]
    lines = [["law", *heads], ["---"] * (1 + len(motions))]
    for law in dict.fromkeys(law for law, _ in found):
        lines.append([law, *(_ended(found[law, motion]) for motion in motions)])
    if result["mujoco"]:
        ways = {motion: f"{way:.3f}" for motion, (way, _) in result["mujoco"].items()}
        lines.append(["MuJoCo", *(ways.get(motion, "") for motion in motions)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _ended(row: dict[str, Any]) -> str:
    if not row["stood"]:
        return f"**lost at {row['lost_at']:.1f} s**"
    return f"{row['way']:.3f}" if row["off"] is None else f"{1e3 * row['off']:.2g}"


def markdown(result: dict[str, Any], motion: str) -> str:
    """The table of a motion."""
    rows = [row for row in result["rows"] if row["motion"] == motion]
    shown = [name for name in COLUMNS if any(row[name] is not None for row in rows)]
    heads = [f"{label} [{unit}]" if unit else label for label, unit, _ in map(COLUMNS.get, shown)]
    lines = [["law", *heads], ["---"] * (1 + len(shown))]
    for row in rows:
        lines.append([row["law"], *(_told(row[name], COLUMNS[name][2]) for name in shown)])
    if motion in result["mujoco"]:
        way, stood = result["mujoco"][motion]
        peer = {"stood": _told(stood, 1.0), "way": _told(way, 1.0)}
        lines.append(["MuJoCo", *(peer.get(name, "") for name in shown)])
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"### {motion}\n\n{text}"


def drawn(result: dict[str, Any]) -> Any:
    """Depth, slip and chatter by law; open marks where the robot fell, or left its reference."""
    from heelstrike.view import plot

    there = {row["motion"] for row in result["rows"]}
    motions = [motion for motion in ("walk", "jump", "SR1 q3") if motion in there]
    laws = list(dict.fromkeys(row["law"] for row in result["rows"]))
    figure, axes = plot.figure(1, 3, size=(13.0, 5.0))
    for ax, name in zip(axes, ("deepest", "slid", "chatter"), strict=True):
        label, unit, factor = COLUMNS[name]
        for k, motion in enumerate(motions):
            found = {r["law"]: r for r in result["rows"] if r["motion"] == motion}
            values = np.array([factor * (found[law][name] or np.nan) for law in laws])
            rows = np.arange(len(laws)) + 0.24 * (k - (len(motions) - 1) / 2)
            stood = np.array([bool(found[law]["stood"]) for law in laws])
            ax.plot(values[stood], rows[stood], **plot.dots(k), label=motion)
            ax.plot(values[~stood], rows[~stood], **plot.dots(k), markerfacecolor="white")
        ax.set(xscale="log", yticks=range(len(laws)), yticklabels=laws)
        ax.set_ylim(len(laws) - 0.5, -0.5)
        ax.hlines(np.arange(1, len(laws)) - 0.5, 0, 1, transform=ax.get_yaxis_transform(), **LINE)
        ax.grid(False, axis="y")
        plot.label(ax, TITLES[name], f"{label} [{unit}]")
        ax.get_legend().remove()
    for ax in axes[1:]:
        ax.set_yticklabels([])
    dots, names = axes[0].get_legend_handles_labels()
    dots.append(axes[0].plot([], [], "o", color=plot.INK, markerfacecolor="white")[0])
    names.append("fell, or left its reference")
    figure.legend(
        dots, names, loc="outside lower center", ncols=len(dots), frameon=False, fontsize=9
    )
    return figure


def _told(value: Any, factor: float) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "**no**"
    return f"{factor * value:.2g}" if abs(factor * value) < 100 else f"{factor * value:.0f}"


if __name__ == "__main__":
    main()
