"""Limp robots dropped onto elastic ground: how low any of their shapes gets.

    python -m benchmarks.falls [--only REGEX] [--json FILE] [--from FILE] [--page FILE]

Models are the bundled humanoids, those of HEELSTRIKE_DATA and of the packages mujoco and
example-robot-data, each with every collision shape (`collide="all"`), on a free base where the file
allows one, without motors and joint limits. Each is dropped from 5 cm, turned by 0.3 rad about x
and y, and falls for 2 s. The ground is a spring that one of four points under the weight presses in
by 2 mm; a shape that passed through the floor would be far below it. Steps are 0.1 ms, or shorter
where links are so light that a run diverges. benchmarks/falls.md explains the columns.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from rich.console import Console

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.pages import placed
from heelstrike.robot.placement import heights, lowest_height, placements
from heelstrike.robot.robot import WORLD

STEPS, SECONDS, RECORDS = (1e-4, 2e-5, 4e-6), 2.0, 200
"""Time steps to try until one does not diverge, duration [s], and number of records."""
DROP, TILT = 0.05, 0.3
"""Height of the lowest point at the start [m], and turns about x and y [rad]."""
PRESSED = 2e-3
"""Depth to which four points carry the weight [m]."""
DEEP = 0.05
"""Depth below which a shape counts as fallen through the floor [m]."""
EARLIER = "measured without contact between bodies"
"""Mark of rows that are kept from an earlier run."""
MARK = "falls of benchmarks/results/falls.json"
HUMANOIDS = ("hoap1", "hrp2", "biped14")


def models() -> Iterator[tuple[str, str]]:
    """Return the names and sources of all models at hand."""
    yield from ((name, name) for name in HUMANOIDS)
    if data := os.environ.get("HEELSTRIKE_DATA"):
        for path in sorted(Path(data, "robots").iterdir()):
            if path.suffix in (".xml", ".urdf"):
                yield f"data/{path.name}", str(path)
    package = find_spec("mujoco")
    for folder in (package.submodule_search_locations if package else None) or []:
        for path in sorted(Path(folder).rglob("*.xml")):
            if "<mujoco" in path.read_text(errors="ignore"):
                yield f"mujoco/{path.name}", str(path)
    try:
        found = sorted(str(f.locate()) for f in files("example-robot-data") or [])
    except PackageNotFoundError:
        return
    for source in found:
        if source.endswith(".urdf"):
            yield "/".join(Path(source).parts[-3:]), source


def loaded(source: str) -> tuple[hs.Robot, list[str]]:
    """Return a robot on a free base where possible, and what its warnings say is left out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            robot = hs.load(source, base="floating", collide="all")
        except hs.LoadError:
            robot = hs.load(source, collide="all")
    said = [_without_folders(str(w.message).partition(": ")[2]) for w in caught]
    return robot, [text for text in said if re.search("left out|concave|touches", text)]


def lowest_shape(robot: hs.Robot, q: np.ndarray) -> float:
    """Return the height of the lowest contact point, or vertex of a mesh's whole hull [m]."""
    lowest, placed = lowest_height(robot, q), placements(robot, q)
    for shape in robot.shapes:
        if shape.meets_floor and shape.body != WORLD and shape.vertices is not None:
            corners = shape.vertices @ shape.rotation.T + shape.translation
            lowest = min(lowest, float(heights(corners, placed[shape.body]).min()))
    return lowest


def fallen(source: str) -> dict[str, Any]:
    """Return how a robot falls."""
    robot, left_out = loaded(source)
    solid = {point.body for point in robot.points}
    bare = [b.name for i, b in enumerate(robot.bodies) if i not in solid and b.mass > 0]
    row: dict[str, Any] = {"bodies": len(robot.bodies), "points": len(robot.points)}
    row |= {"without shapes": bare, "left out": left_out}
    row["hull error"] = max((s.hull_error for s in robot.shapes), default=0.0)
    if not robot.points:
        return row
    q = next(iter(robot.poses.values()), robot.neutral).copy()
    if robot.joints[0].kind == "free":
        turn = pin.Quaternion(pin.rpy.rpyToMatrix(TILT, TILT, 0.0)) * pin.Quaternion(q[3:7])
        q[3:7] = turn.coeffs()
        q[2] += DROP - lowest_height(robot, q)
    k = robot.mass * robot.gravity / (4 * PRESSED)
    law = hs.Elastic(hs.HuntCrossley(k=k, alpha=1.0), hs.Kinetic(mu=0.6))
    began = time.process_time()
    scene = hs.Scene(robot, hs.Plane(law, name="ground"))
    sim = hs.Simulator(scene, dt=STEPS[0], stops=None)
    sim.compile(("q", "com"))
    row["compile [s]"] = time.process_time() - began
    for dt in STEPS:
        run = _run(sim, q, dt)
        row |= {"dt [s]": dt, "diverged": bool(np.any(sim.failed >= 0))}
        if not row["diverged"]:
            break
    path = run.data["q"].values[0]
    path = path[np.isfinite(path).all(axis=1)]
    row["lowest [m]"] = min(lowest_shape(robot, q) for q in path)
    row["lowest at the end [m]"] = lowest_shape(robot, path[-1])
    row["com at the end [m]"] = float(run.data["com"].values[0, len(path) - 1, 2])
    return row


def _run(sim: hs.Simulator, q: np.ndarray, dt: float) -> hs.Recording:
    """Return a fall from q in steps of dt [s]."""
    steps = round(SECONDS / dt)
    sim.parameters["dt"] = dt
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # of runs that diverge
        return sim.run(steps=steps, q0=q, record=("q", "com"), every=steps // RECORDS, threads=1)


def table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the rows as a table in Markdown."""
    head = ("model", "bodies", "points", "hull error [mm]", "compile [s]", "lowest [mm]",
            "at the end [mm]", "without shapes", "left out")  # fmt: skip
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for name, row in rows.items():
        if "refused" in row:
            lines.append(f"| {name} | | | | | | | | refused: {_cut(row['refused'])} |")
            continue
        bare, bodies = len(row["without shapes"]), row["bodies"]
        numbers = [f"{1e3 * row['hull error']:.0f}"]
        if "compile [s]" in row:
            ends = (f"{1e3 * row[key]:.0f}" for key in ("lowest [m]", "lowest at the end [m]"))
            numbers += [f"{row['compile [s]']:.1f}", *ends]
        else:
            numbers += ["", "", ""]
        said = "; ".join(_cut(text) for text in row["left out"])
        said = f"diverged; {said}" if row.get("diverged") else said
        said = f"{EARLIER}; {said}" if row.get(EARLIER) else said
        lines.append(
            f"| {name} | {bodies} | {row['points']} | {' | '.join(numbers)} | {bare} | {said} |"
        )
    return "\n".join(lines)


def _without_folders(text: str) -> str:
    return re.sub(r"\S*/", "", text)


def _cut(text: str, most: int = 90) -> str:
    """Return the beginning of a text."""
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " ..."


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--only", metavar="REGEX", default="", help="models whose name matches")
    made.add_argument("--from", dest="source", metavar="FILE", help="take what was measured")
    made.add_argument("--page", metavar="FILE", help="write the table into this page")
    options = made.parse_args()
    console, rows = Console(width=200), {}
    if options.source:
        rows = json.loads(Path(options.source).read_text())["models"]
    for name, source in () if options.source else models():
        if not re.search(options.only, name):
            continue
        try:
            rows[name] = fallen(source)
        except hs.HeelstrikeError as error:
            rows[name] = {"refused": _without_folders(str(error))}
        console.print(name, json.dumps(rows[name])[:180], markup=False, highlight=False)
        keep({"models": rows}, options.json)
    console.print(table(rows), markup=False, highlight=False, soft_wrap=True)
    if options.page:
        page = Path(options.page)
        page.write_text(placed(page.read_text(), {MARK: table(rows)}))
    through = [n for n, row in rows.items() if row.get("lowest at the end [m]", 0.0) < -DEEP]
    console.print(f"{len(rows)} models, through the floor: {', '.join(through) or 'none'}")


if __name__ == "__main__":
    main()
