"""Judge walking policies under every contact law and in MuJoCo; write tables of docs/learning.md.

    python tools/walking.py judge NAME=FILE.onnx ...     figures, in benchmarks/results/walking.json
    python tools/walking.py judge ... --robot FILE.xml   of another robot, in walking-STEM.json
    python tools/walking.py strips FILE.onnx             film strips, docs/images/walk-*.png
    python tools/walking.py write                        tables from the figures, and the curve

Each policy walks on a plane in WORLDS worlds for DURATION, each with a command of its own, from the
grid of COMMANDS in turn and from a start with noise; in MuJoCo one run for each command, without
noise. Robots that fell keep what they did before. Errors are those of the mean velocity from SETTLE
until the end, against the command. Commands of another robot are scaled by the speed sqrt(g h) of
its base.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

import heelstrike as hs
from heelstrike.environments.walk import WEIGHTS, walking
from heelstrike.machine import machine
from heelstrike.measure.laws import NAMES, under
from heelstrike.measure.peer.trace import traced
from heelstrike.view.plot import figure, label, save

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "benchmarks/results/walking.json", ROOT / "docs/learning.md"
IMAGES, CURVE = ROOT / "docs/images", ROOT / "benchmarks/results/walk-cpu.csv"
CURVES = {
    "`walk.onnx`, hoap1, CPU": "walk-cpu.csv",
    "`walk-gpu.onnx`, hoap1, H200": "walk-h200.csv",
    "`walk-soft.onnx`, hoap1 on soft ground, H200": "walk-soft-h200.csv",
    "`walk-rigid.onnx`, hoap1 on `Rigid`, H200": "walk-rigid-h200.csv",
    "`walk-g1.onnx`, Unitree G1, H200": "walk-g1-h200.csv",
}
"""Learning curves of the policies in examples/learning, beside RESULTS."""
COMMANDS = np.array(
    [
        (0.1, 0, 0),
        (0.15, 0, 0),
        (0.05, 0, 0),
        (-0.05, 0, 0),
        (0.08, 0.03, 0),
        (0.08, 0, 0.4),
        (0, 0, 0),
    ]
)
"""Velocities along x and y [m/s] and rate of turn [rad/s]."""
WORLDS, DURATION, SETTLE = 70, 8.0, 2.0
SCENE = "stand"
ROBOT = "hoap1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("task", choices=("judge", "strips", "write"))
    parser.add_argument("policies", nargs="*", metavar="NAME=FILE")
    parser.add_argument("--laws", nargs="*", default=list(NAMES))
    parser.add_argument("--robot", help="another robot than hoap1: a .xml or .urdf file")
    given = parser.parse_args()
    if given.task == "judge":
        judge(dict(each.split("=") for each in given.policies), given.laws, given.robot)
    elif given.task == "strips":
        strips(hs.Policy(given.policies[0]), given.robot)
    else:
        write()


def judge(policies: dict[str, str], laws: list[str], robot: str | None = None) -> None:
    """Measure every policy under every law, and keep the figures."""
    made = hs.robot_scene(robot) if robot else hs.load_scene(SCENE)
    path = RESULTS.with_stem(f"walking-{Path(robot).stem}") if robot else RESULTS
    asked = COMMANDS * scale_of(made)
    loaded = {name: hs.Policy(file) for name, file in policies.items()}
    rows: dict[str, Any] = json.loads(path.read_text())["rows"] if path.exists() else {}
    for law in laws:
        scene, words, _ = under(made, law, 1e-3, (1e-3, 0.3))
        envs = worlds_of(robot or ROBOT, scene.scene.surfaces[0].law)
        for name, policy in {"none": None, **loaded}.items():
            rows.setdefault(name, {})[law] = walked(envs, policy, asked) | {"law": words}
            print(law, name, rows[name][law], flush=True)
        keep(path, rows)
    for name, policy in loaded.items():
        rows[name]["MuJoCo"] = in_mujoco(made, policy, asked)
        print("MuJoCo", name, rows[name]["MuJoCo"], flush=True)
        keep(path, rows)


def scale_of(made: hs.SceneFile) -> np.ndarray:
    """Return factors of commands: speeds grow with the root of the base's height, turns fall."""
    own, usual = (float(x.start[0][2]) for x in (made, hs.load_scene(SCENE)))
    speed = np.sqrt(own / usual)
    return np.array([speed, speed, 1 / speed])


def keep(path: Path, rows: dict[str, Any]) -> None:
    result = {"machine": machine(), "worlds": WORLDS, "duration": DURATION, "rows": rows}
    path.write_text(json.dumps(result, indent=1) + "\n")


def worlds_of(robot: str, law: object) -> hs.Environments:
    """Worlds that walk on a plane with a law, without pushes; their commands are set by hand."""
    asked = hs.Commands({name: (0, 0) for name in ("vx", "vy", "turn")}, wait=(1e3, 1e3))
    options = walking(robot, WORLDS, law=law, rough=0, push=0, commands=asked)
    own = {"vary": None, "curriculum": None, "autoreset": "disabled", "episode": DURATION}
    return hs.Environments(**options | own)


def walked(
    envs: hs.Environments, policy: hs.Policy | None, commands: np.ndarray
) -> dict[str, float]:
    """Falls, tracking errors and distances of all worlds."""
    asked = np.array([commands[i % len(commands)] for i in range(WORLDS)])
    seen, _ = envs.reset(seed=10**6, options={"commands": asked})
    start, stands = envs.sim.state["q"][:, :2].copy(), np.ones(WORLDS, bool)
    total, count, last = np.zeros((WORLDS, 3)), np.zeros(WORLDS), start
    for k in range(round(DURATION / 0.02)):
        action = np.zeros(envs.action_space.shape) if policy is None else policy(seen)
        seen, _, fell, _, _ = envs.step(action)
        stands &= ~fell
        if k * 0.02 >= SETTLE:
            total += np.where(stands[:, None], envs.sim.state["v"][:, [0, 1, 5]], 0)
            count += stands
        last = np.where(stands[:, None], envs.sim.state["q"][:, :2], last)
    return figures(stands, total, count, asked, last - start, commands)


def in_mujoco(made: hs.SceneFile, policy: hs.Policy, commands: np.ndarray) -> dict[str, float]:
    """The same of one run for each command in MuJoCo."""
    found = []
    steps = round(DURATION / 1e-3)
    for command in commands:
        policy.command(tuple(command))
        sim = made.simulator(sensors=policy.sensors)
        q0 = sim.place(made.start[0])
        sim.reset(q0=q0)
        trace = traced(made, steps, 1e-3, q0, policy.controller(sim).reference)
        fell = np.flatnonzero((trace.q[:, 2] < 0.7 * q0[2]) | (trace.failed >= 0))
        last = int(fell[0]) if len(fell) else steps
        late = trace.v[round(SETTLE / 1e-3) : last, [0, 1, 5]]
        found.append((not len(fell), late.sum(0), len(late), trace.q[last, :2] - q0[:2]))
    stands, total, count, moved = map(np.array, zip(*found, strict=True))
    return figures(stands, total, count, commands, moved, commands)


def figures(
    stands: np.ndarray,
    total: np.ndarray,
    count: np.ndarray,
    asked: np.ndarray,
    moved: np.ndarray,
    commands: np.ndarray,
) -> dict[str, float]:
    late = count > 0
    off = np.abs(total[late] / count[late][:, None] - asked[late])
    forward = asked[:, 0] >= commands[0, 0]  # the first two of them
    return {
        "stands": float(stands.mean()),
        "error_x": float(off[:, 0].mean()) if late.any() else float("nan"),
        "error_y": float(off[:, 1].mean()) if late.any() else float("nan"),
        "error_turn": float(off[:, 2].mean()) if late.any() else float("nan"),
        "distance": float(np.linalg.norm(moved[forward], axis=1).mean()),
    }


def strips(policy: hs.Policy, robot: str | None = None) -> None:
    """Film strips at 0.1 m/s under two laws; of another robot at its speed, on its own ground.

    Frames are 0.55 s apart, so that phases differ.
    """
    made = hs.robot_scene(robot) if robot else hs.load_scene(SCENE)
    policy.command(tuple(COMMANDS[0] * scale_of(made)))
    scenes = {Path(robot).stem: made} if robot else {}
    for law in () if robot else ("hunt-crossley", "rigid"):
        scenes[law], *_ = under(made, law, 1e-3, (1e-3, 0.3))
    for name, scene in scenes.items():
        sim = scene.simulator(sensors=policy.sensors)
        run = policy.play(sim, 2.75, q0=sim.place(made.start[0]))
        run.film_strip(IMAGES / f"walk-{name}.png")
        print(f"wrote {IMAGES / f'walk-{name}.png'}")


def write() -> None:
    """Write the tables between their marks in the page."""
    curve()
    text = PAGE.read_text()
    tables = {"trained": trained(), "judged": judged(RESULTS)}
    tables["judged g1"] = judged(RESULTS.with_stem("walking-g1"))
    for name, table in tables.items():
        mark = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(mark, rf"\g<1>\n{table}\n\n\g<2>", text, flags=re.S)
    PAGE.write_text(text)
    print(f"wrote {PAGE}")


def judged(path: Path) -> str:
    """Return a table of policies under every law."""
    rows = json.loads(path.read_text())["rows"]
    laws = list(dict.fromkeys(law for row in rows.values() for law in row))
    parts = ["| judged on | " + " | ".join(rows) + " |", "| --- |" + " --- |" * len(rows)]
    for law in laws:
        cells = [cell(row.get(law)) for row in rows.values()]
        parts.append(f"| {law} | " + " | ".join(cells) + " |")
    return "\n".join(parts)


def trained() -> str:
    """Return a table of the trainings of the policies in examples/learning."""
    parts = [
        "| policy | minutes | million actions | actions/s | reward [1/s] | falls [1/min] | level |"
    ]
    parts.append("| --- |" + " --- |" * 6)
    for name, file in CURVES.items():
        rows = np.genfromtxt(RESULTS.parent / file, delimiter=",", names=True)
        last, tail = rows[-1], rows[-10:]
        reward = sum(tail[name].mean() for name in WEIGHTS) / 0.02
        rate = 1e6 * last["million_actions"] / last["seconds"]
        parts.append(
            f"| {name} | {last['seconds'] / 60:.2g} | {last['million_actions']:.1f} "
            f"| {rate:,.0f} | "
            f"{reward:.2f} | {3000 * tail['falls'].mean():.2f} | {tail['level'].mean():.2f} |"
        )
    return "\n".join(parts)


def curve() -> None:
    """Draw the learning curve of walk.onnx."""
    rows = np.genfromtxt(CURVE, delimiter=",", names=True)
    reward = sum(rows[name] for name in WEIGHTS) / 0.02
    kernel = np.ones(5) / 5
    made, axes = figure(1, 3, size=(9.0, 2.6))
    for ax, values, name in zip(
        axes,
        (reward, 3000 * rows["falls"], rows["level"]),
        ("reward [1/s]", "falls [1/min]", "level"),
        strict=True,
    ):
        ax.plot(rows["million_actions"][2:-2], np.convolve(values, kernel, "valid"))
        label(ax, "", "million actions", name)
    save(made, IMAGES / "walk-curve.png")
    print(f"wrote {IMAGES / 'walk-curve.png'}")


def cell(row: dict[str, float] | None) -> str:
    if row is None:
        return ""
    return f"{row['stands']:.0%}, {100 * row['error_x']:.1f} cm/s, {row['distance']:.2f} m"


if __name__ == "__main__":
    main()
