"""Robots pushed over eight ways onto rigid and onto elastic ground, with MuJoCo beside.

    python -m benchmarks.pushed_over [--only REGEX] [--quick] [--json FILE] [--from FILE] [--pages]

Models are hoap1, biped14, those of HEELSTRIKE_DATA and example-robot-data that are named below, and
humanoid.xml of the package gymnasium, with all collision shapes and the pairs of them that the file
lets touch. Each stands in its first pose, with its joints inside their ranges, held by its servo,
or limp if its file has no servo, and turns as a whole about the ground below its centre of mass. It
falls for 6 s.
benchmarks/pushed_over.md explains the columns.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from rich.console import Console

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.depths import Depths
from benchmarks.pages import markdown, placed
from heelstrike.bench.standing import first_pose
from heelstrike.robot.placement import joints_into_range, on_flat_ground, placements

ROOT = Path(__file__).parents[1]
DT, SECONDS, SAMPLE = 1e-3, 6.0, 0.01
"""Step of Rigid and of MuJoCo, duration of a fall, and time between measured depths [s]."""
ELASTIC_STEPS = (1e-4, 2e-5)
"""Steps on elastic ground, until one does not diverge [s]."""
MU, PRESSED, FAST = 0.6, 2e-3, 0.9
"""Friction; depth to which four points carry the weight [m]; speed of the centre of mass at the
start, as a part of that at which it would lift off."""
CORRECTIONS = (10.0, 0.0)
"""Outward speeds per depth of Rigid beyond its allowance [1/s]; the first is the default."""
BUNDLED = ("hoap1", "biped14")
FILES = ("g1", "anymal_c", "talos", "t1")
URDFS = ("go2_description/urdf/go2.urdf", "talos_data/robots/talos_reduced.urdf")
"""Files of example-robot-data; their meshes collide as hulls."""
SRDFS = {"talos_reduced": "../srdf/talos.srdf"}
"""SRDFs of another name than the URDF's, from its folder. Their pose is the first one."""
RECORDED = ("q", "v", "com")


def models() -> Iterator[tuple[str, str]]:
    """Return the names and sources of the models at hand."""
    yield from ((name, name) for name in BUNDLED)
    if data := os.environ.get("HEELSTRIKE_DATA"):
        yield from ((name, str(Path(data, "robots", f"{name}.xml"))) for name in FILES)
    try:
        parts = [str(file.locate()) for file in files("example-robot-data") or []]
    except PackageNotFoundError:
        parts = []
    yield from ((Path(x).stem, x) for x in parts if x.endswith(URDFS))
    package = find_spec("gymnasium")
    for folder in (package.submodule_search_locations if package else None) or []:
        yield "humanoid", str(Path(folder, "envs", "mujoco", "assets", "humanoid.xml"))


def loaded(source: str) -> hs.Robot:
    """Return the robot of a file, all of whose shapes collide; its first pose is its SRDF's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)
        if Path(source).stem not in SRDFS:
            return hs.load(source)
        srdf = Path(source).parent / SRDFS[Path(source).stem]
        robot = hs.load(source, srdf=srdf, collide="all")
    q = robot.pose("zero").copy()
    state = ElementTree.parse(srdf).getroot().find("group_state")
    assert state is not None
    angles = {joint.get("name"): joint.get("value", "") for joint in state}
    for joint in robot.joints:
        if joint.kind != "free" and joint.name in angles:
            q[joint.iq] = float(angles[joint.name])
    return replace(robot, poses={state.get("name", "pose"): q, **robot.poses})


def starts(robot: hs.Robot, ways: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose at the start, and the velocities of the pushes in as many directions.

    The pose is the robot's first one, with its joints moved into their ranges.
    """
    q = first_pose(robot)
    inside = joints_into_range(robot, q)
    for joint in robot.joints:
        if joint.name in inside:
            q[joint.iq] = inside[joint.name]
    q = on_flat_ground(robot, q, drop=0.0)
    com = pin.centerOfMass(robot.model, robot.model.createData(), q)
    R, p = placements(robot, q)[0]
    v = np.zeros((ways, robot.nv))
    for k in range(ways):
        angle = 2 * np.pi * k / ways
        turn = FAST * np.sqrt(robot.gravity / com[2]) * np.array([-np.sin(angle), np.cos(angle), 0])
        v[k, :3] = R.T @ np.cross(turn, p - [com[0], com[1], 0.0])
        v[k, 3:6] = R.T @ turn
    return q, v


def on_rigid(robot: hs.Robot, depths: Depths, ways: int) -> dict[str, Any]:
    """Return the figures of falls on rigid ground, by the row's name."""
    law, (q, v) = hs.Rigid(friction=hs.Coulomb(MU, MU)), starts(robot, ways)
    names, rows = (*RECORDED, "solver_unfinished"), {}
    sim = _simulator(robot, law, q, ways, DT)
    for correction in CORRECTIONS:
        sim.parameters["ground.correction"] = correction
        run, took = _run(sim, q, v, names, 1)
        row = _figures_of_run(depths, run, round(SAMPLE / DT)) | {"dt [s]": DT}
        row["us per step"] = 1e6 * took / (ways * SECONDS / DT)
        row["unfinished steps"] = int(run["solver_unfinished"].sum())
        rows["Rigid" if correction else "Rigid, correction 0"] = row
    return rows


def on_springs(robot: hs.Robot, depths: Depths, ways: int) -> dict[str, Any]:
    """Return the figures of falls on elastic ground, in the first step that does not diverge."""
    k = robot.mass * robot.gravity / (4 * PRESSED)
    law, (q, v) = (
        hs.Elastic(hs.HuntCrossley(k=k, alpha=1.0), hs.Kinetic(mu=MU)),
        starts(robot, ways),
    )
    sim = _simulator(robot, law, q, ways, ELASTIC_STEPS[0])
    for dt in ELASTIC_STEPS:
        sim.parameters["dt"] = dt
        run, took = _run(sim, q, v, RECORDED, round(SAMPLE / dt), round(SECONDS / dt))
        row = _figures_of_run(depths, run, 1) | {"dt [s]": dt}
        row["us per step"] = 1e6 * took / (ways * SECONDS / dt)
        if not row["diverged"]:
            break
    return row


def _simulator(robot: hs.Robot, law: Any, q: np.ndarray, ways: int, dt: float) -> hs.Simulator:
    control = hs.Servo(reference=q) if np.any(robot.kp) else None
    scene = hs.Scene(robot, hs.Plane(law, name="ground"))
    return hs.Simulator(scene, dt=dt, control=control, worlds=ways)


def _run(
    sim: hs.Simulator,
    q: np.ndarray,
    v: np.ndarray,
    names: tuple[str, ...],
    every: int,
    steps: int = round(SECONDS / DT),
) -> tuple[Any, float]:
    """Return the recorded data of a run and its CPU time, without that of compiling [s]."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # losses and failures are counted
        sim.run(steps=every, q0=q, v0=v, record=names, every=every, threads=1)
        began = time.process_time()
        run = sim.run(steps=steps, q0=q, v0=v, record=names, every=every, threads=1)
    return run.data, time.process_time() - began


def _figures_of_run(depths: Depths, run: Any, every: int) -> dict[str, Any]:
    row = figures(depths, *(run[name].values[:, ::every] for name in RECORDED))
    row["diverged"] = int((run["failed"] >= 0).sum())
    if "lost_contacts" in run:
        row["lost contacts"] = int(run["lost_contacts"].sum())
    return row


def figures(depths: Depths, q: np.ndarray, v: np.ndarray, com: np.ndarray) -> dict[str, Any]:
    """Return what is measured of falls, by our own geometry and coal, from (worlds, times, n)."""
    low, folded = (np.array([[f(x) for x in path] for path in q]) for f in depths.both)
    return {
        "com at the end [m]": com[:, -1, 2].tolist(),
        "in the ground [m]": float(low.max()),
        "in the ground at the end [m]": float(low[:, -1].max()),
        "in one another [m]": float(folded.max()),
        "in one another at the end [m]": float(folded[:, -1].max()),
        "speed at the end": np.abs(v[:, -1]).max(axis=1).tolist(),
    }


def fallen(source: str, ways: int) -> dict[str, Any]:
    """Return the figures of a model on each ground and in MuJoCo."""
    from benchmarks.pushed_over_mujoco import fallen_in_mujoco

    robot = loaded(source)
    depths = Depths(robot)
    row: dict[str, Any] = {"pairs": len(robot.self_pairs), "servo": bool(np.any(robot.kp))}
    row |= {"falls": on_rigid(robot, depths, ways)}
    row["falls"]["Elastic"] = on_springs(robot, depths, ways)
    q, v = starts(robot, ways)
    with TemporaryDirectory() as folder:
        is_urdf = source.endswith(".urdf")
        peer = str(robot.to_mjcf(Path(folder, "robot.xml"))) if is_urdf else source
        paths = fallen_in_mujoco(peer, robot, q, v)
    row["falls"]["MuJoCo"] = figures(depths, *paths) | {"dt [s]": DT}
    return row


def table(rows: dict[str, Any]) -> str:
    """Return the figures as a table in Markdown."""
    head = ("model", "pairs", "", "com at the end [mm]", "in the ground [mm]", "at the end",
            "in one another [mm]", "at the end", "speed at the end", "unfinished", "lost",
            "us per step")  # fmt: skip
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for name, row in rows.items():
        for kind, x in row["falls"].items():
            com = [1e3 * z for z in x["com at the end [m]"]]
            speed = x["speed at the end"]
            cells = [f"{name}{'' if row['servo'] else ', limp'}", row["pairs"]]
            cells += [f"{kind}, {1e3 * x['dt [s]']:g} ms", f"{min(com):.0f} to {max(com):.0f}"]
            for key in ("in the ground", "in one another"):
                cells += [f"{1e3 * x[f'{key}{when} [m]']:.2f}" for when in ("", " at the end")]
            cells.append(f"{np.median(speed):.1g}, {max(speed):.1g}")
            cells += [x.get("unfinished steps", ""), x.get("lost contacts", "")]
            cells.append(f"{x['us per step']:.1f}" if "us per step" in x else "")
            if x.get("diverged"):
                cells[2] += f", {x['diverged']} diverged"
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def depths_at_rest(rows: dict[str, Any]) -> str:
    """Return the largest depths at the end on Rigid, without and with correction, as a table."""
    kinds = "Rigid, correction 0", "Rigid"
    cells = [
        [name, *(f"{1e3 * row['falls'][x]['in the ground at the end [m]']:.2f} mm" for x in kinds)]
        for name, row in rows.items()
    ]
    title = "deepest shape at rest after falls (`python -m benchmarks.pushed_over`)"
    return markdown([title, "`correction=0`", "default"], cells)


def pages(rows: dict[str, Any]) -> dict[Path, str]:
    """Return the pages with their tables, each after its mark."""
    made = {
        "benchmarks/pushed_over.md": ("falls", table(rows)),
        "docs/laws/rigid.md": ("depths", depths_at_rest(rows)),
    }
    return {
        ROOT / name: placed(
            (ROOT / name).read_text(), {f"{mark} of benchmarks/results/pushed-over.json": text}
        )
        for name, (mark, text) in made.items()
    }


def main() -> None:
    made = parser(__doc__, quick="three pushes")
    made.add_argument("--only", metavar="REGEX", default="", help="models whose name matches")
    made.add_argument("--from", dest="source", metavar="FILE", help="take the others from a file")
    made.add_argument("--pages", action="store_true", help="write the tables into their pages")
    options = made.parse_args()
    console, rows = Console(width=200), {}
    if options.source:
        rows = json.loads(Path(options.source).read_text())["models"]
    for name, source in models():
        if re.search(options.only, name) and (options.only or not options.source):
            rows[name] = fallen(source, 3 if options.quick else 8)
            keep({"models": rows}, options.json)
            console.print(table({name: rows[name]}), markup=False, highlight=False, soft_wrap=True)
    console.print(table(rows), markup=False, highlight=False, soft_wrap=True)
    for page, text in pages(rows).items() if options.pages else ():
        page.write_text(text)


if __name__ == "__main__":
    main()
