"""Limp robots dropped onto elastic ground: how low any of their shapes gets.

    python -m benchmarks.falls [FOLDER ...] [--only REGEX] [--json FILE] [--resume] [--from FILE]
                               [--page FILE]

Models are the bundled humanoids, those of benchmarks.loading, and those of further folders, such as
packages that were unpacked there. A model of fewer than three joints is no robot, and one that is
equal to another is counted once. Each has every collision shape (`collide="all"`), a free base
where the file allows one, no motors and no joint limits. It is dropped from 5 cm, turned by 0.3 rad
about x and y, and falls for 2 s; under one whose base is fixed the ground is 5 cm below it. The
ground is a spring that one of four points under the weight presses in by 2 mm; a shape that passed
through the floor would be far below it. Steps are 0.1 ms, or shorter where links are so light that
a run diverges. --resume keeps the rows that the file of results has. benchmarks/falls.md explains
the columns.
"""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from rich.console import Console

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.loading import models as models_at_hand
from benchmarks.pages import markdown, placed
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
MIN_JOINTS = 3
"""Joints of a robot at least, besides that of its base."""
BASES = ("floating", "auto", "fixed")
"""What is tried in turn: some files do not allow a free base."""
EARLIER = "measured earlier, with hulls of at most 24 corners"
LIMBS_PASS = "measured without contact between bodies"
"""Marks of rows that are kept from earlier runs."""
MARK = "falls of benchmarks/results/falls.json"
COUNT = "count of benchmarks/results/falls.json"
HUMANOIDS = ("hoap1", "hrp2", "biped14")


def models(folders: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return the names and sources of all models at hand."""
    yield from ((name, name) for name in HUMANOIDS)
    yield from ((name, str(path)) for name, path in models_at_hand(folders))


def is_robot(source: str) -> bool:
    """Return whether a file can be read alone, and has at least MIN_JOINTS joints."""
    if source.endswith(".urdf"):
        text = Path(source).read_text(errors="ignore")
        return len(re.findall(r"""type=["'](revolute|continuous|prismatic)""", text)) >= MIN_JOINTS
    if not source.endswith(".xml"):
        return True
    try:
        model = mujoco.MjModel.from_xml_path(source)
    except ValueError:  # a part of other files
        return False
    return bool(np.sum(model.jnt_type != mujoco.mjtJoint.mjJNT_FREE) >= MIN_JOINTS)


def loaded(source: str) -> tuple[hs.Robot, list[str]]:
    """Return a robot on a free base where possible, and what its warnings say is left out."""
    for base in BASES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                robot = hs.load(source, base=base, collide="all")
            except hs.LoadError:
                if base == BASES[-1]:
                    raise
            else:
                break
    said = [_without_folders(str(w.message).partition(": ")[2]) for w in caught]
    return robot, [text for text in said if re.search("left out|concave|touches|inertia", text)]


def lowest_shape(robot: hs.Robot, q: np.ndarray) -> float:
    """Return the height of the lowest contact point, or vertex of a mesh's whole hull [m]."""
    lowest, placed = lowest_height(robot, q), placements(robot, q)
    for shape in robot.shapes:
        if shape.meets_floor and shape.body != WORLD and shape.vertices is not None:
            corners = shape.vertices @ shape.rotation.T + shape.translation
            lowest = min(lowest, float(heights(corners, placed[shape.body]).min()))
    return lowest


def digest(robot: hs.Robot) -> tuple[object, ...]:
    """Return what tells robots from one another: masses, joints and shapes."""
    bodies = tuple((body.name, round(body.mass, 9)) for body in robot.bodies)
    places = (*(x.translation for x in robot.joints), *(x.translation for x in robot.shapes))
    return bodies, np.round(np.array([*places]), 9).tobytes()


def fallen(robot: hs.Robot, left_out: Sequence[str]) -> dict[str, Any]:
    """Return how a robot falls."""
    solid = {point.body for point in robot.points}
    bare = [b.name for i, b in enumerate(robot.bodies) if i not in solid and b.mass > 0]
    row: dict[str, Any] = {"bodies": len(robot.bodies), "points": len(robot.points)}
    row |= {"without shapes": bare, "left out": list(left_out)}
    row["floating"] = robot.joints[0].kind == "free"
    row["hull error"] = max((s.hull_error for s in robot.shapes), default=0.0)
    if not robot.points:
        return row
    q = next(iter(robot.poses.values()), robot.neutral).copy()
    if row["floating"]:
        turn = pin.Quaternion(pin.rpy.rpyToMatrix(TILT, TILT, 0.0)) * pin.Quaternion(q[3:7])
        q[3:7] = turn.coeffs()
        q[2] += DROP - lowest_height(robot, q)
    ground = 0.0 if row["floating"] else lowest_height(robot, q) - DROP
    k = robot.mass * robot.gravity / (4 * PRESSED)
    law = hs.Elastic(hs.HuntCrossley(k=k, alpha=1.0), hs.Kinetic(mu=0.6))
    began = time.process_time()
    scene = hs.Scene(robot, hs.Plane(law, name="ground", point=(0, 0, ground)))
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
    row["lowest [m]"] = min(lowest_shape(robot, q) for q in path) - ground
    row["lowest at the end [m]"] = lowest_shape(robot, path[-1]) - ground
    row["com at the end [m]"] = float(run.data["com"].values[0, len(path) - 1, 2]) - ground
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
        said = said if row.get("floating", True) else f"fixed base; {said}"
        said = "; ".join([*(mark for mark in (EARLIER, LIMBS_PASS) if row.get(mark)), said])
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
    made.add_argument("folders", nargs="*", metavar="FOLDER", help="further models")
    made.add_argument("--only", metavar="REGEX", default="", help="models whose name matches")
    made.add_argument("--resume", action="store_true", help="keep the rows of the --json file")
    made.add_argument("--from", dest="source", metavar="FILE", help="take what was measured")
    made.add_argument("--page", metavar="FILE", help="write the table into this page")
    options = made.parse_args()
    console, rows = Console(width=200), {}
    known = options.source or (options.resume and options.json)
    if known and Path(known).exists():
        rows = json.loads(Path(known).read_text())["models"]
    if not options.source:
        for name, row in measured(options.folders, options.only, rows):
            rows[name] = row
            console.print(name, json.dumps(row)[:180], markup=False, highlight=False)
            keep({"models": rows}, options.json)
    console.print(table(rows), markup=False, highlight=False, soft_wrap=True)
    console.print(summary(rows), markup=False, highlight=False, soft_wrap=True)
    if options.page:
        page = Path(options.page)
        tables = {MARK: table(rows), COUNT: summary(rows)}
        page.write_text(placed(page.read_text(), tables))


def measured(
    folders: Sequence[str], only: str, known: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return names and rows of the robots that are not known yet."""
    seen: dict[tuple[object, ...], str] = {}
    for name, source in models(folders):
        if not re.search(only, name) or not is_robot(source):
            continue
        try:
            robot, left_out = loaded(source)
            if seen.setdefault(digest(robot), name) != name or name in known:
                continue
            yield name, fallen(robot, left_out)
        except hs.HeelstrikeError as error:
            if name not in known:
                yield name, {"refused": _without_folders(str(error))}


def summary(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return how many robots fell, and which passed through the floor, as a table in Markdown."""
    fell = {n: row for n, row in rows.items() if "lowest at the end [m]" in row}
    refused = sum("refused" in row for row in rows.values())
    through = [n for n, row in fell.items() if row["lowest at the end [m]"] < -DEEP]
    counts = {
        "robots": len(rows),
        "dropped": len(fell),
        "met the floor": sum(row["lowest [m]"] < 0 for row in fell.values()),
        "without collision shapes": len(rows) - len(fell) - refused,
        "refused": refused,
        "measured earlier": sum(bool(row.get(EARLIER)) for row in rows.values()),
        "diverged": sum(row["diverged"] for row in fell.values()),
        f"deeper than {1e3 * DEEP:.0f} mm at the end": ", ".join(through) or 0,
    }
    return markdown([*counts], [[str(x) for x in counts.values()]])


if __name__ == "__main__":
    main()
