"""Forward dynamics and a servo-driven step in the air, beside Pinocchio's ABA and MuJoCo's mj_step.

    python -m benchmarks.dynamics [--json FILE] [--quick]

Times are microseconds per world (and step), the best of several rounds in which all contenders take
turns. The step is the simulator's, of a scene without surfaces; dry friction, torque limits and
joint stops are left out. benchmarks/results/dynamics.json was measured on an earlier step, which
did not account for work. Robots of example-robot-data and of HEELSTRIKE_DATA are left out where
those are not there.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table

from benchmarks.command import CONDITIONS, keep, parser
from heelstrike.bench.peer import mujoco_model
from heelstrike.bench.timing import Contender, seconds_of, timed
from heelstrike.codegen.cpu import widest
from heelstrike.codegen.real import REALS
from heelstrike.dynamics.quantities import quantities
from heelstrike.ir.program import Program
from heelstrike.robot import Robot, load
from heelstrike.runtime.batch import Batch
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.kernel import Kernel
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.simulate.simulator import Simulator

WORLDS = 256
"""In lanes on one thread: a batch that stays in the second-level cache."""
THREAD_WORLDS = 8192
"""On two threads: handing work to a thread takes about 0.1 ms."""
CHAIN = (5, 10, 20, 50, 100, 200)
GRAVITY = 9.81
STEPS = 10
"""Steps of a batch in one call from Python."""
TURNS, SHORTEST = 15, 0.01
"""Turns of the contenders, and how long one lasts at least [s]."""


@dataclass
class Row:
    """One robot's figures; times in microseconds per world, None where a peer cannot load it."""

    robot: str
    joints: int
    nv: int
    trace_s: float = 0.0
    compile_s: float = 0.0
    operations: int = 0
    formula: int = 0
    aba: dict[str, float] = field(default_factory=dict)
    step: dict[str, float] = field(default_factory=dict)
    pinocchio_aba: float | None = None
    mujoco_step: float | None = None


def main() -> None:
    options = parser(__doc__, "hoap1 and short chains only").parse_args()
    warnings.simplefilter("ignore")
    console = Console()
    rows = []
    with TemporaryDirectory() as folder, console.status("measuring") as status:
        for name, path, base in robots(Path(folder), options.quick):
            status.update(f"measuring {name}")
            rows.append(measure(name, path, base))
    growth = growths([row for row in rows if row.robot.startswith("chain")])
    show(console, rows, growth)
    result = {"rows": [asdict(row) for row in rows], "growth": growth}
    keep(result, options.json)


def robots(folder: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Name, what to load, and the base."""
    if not quick:
        examples = {
            "G1 (urdf)": "g1_29dof_rev_1_0.urdf",
            "Talos (urdf)": "talos_reduced.urdf",
            "ANYmal (urdf)": "anymal.urdf",
        }
        try:
            there = {Path(str(f)).name: str(f.locate()) for f in files("example-robot-data") or []}
        except PackageNotFoundError:
            there = {}
        for name, file in examples.items():
            if file in there:
                yield name, there[file], "floating"
        data = os.environ.get("HEELSTRIKE_DATA")
        for name in ("g1", "talos", "anymal_c") if data else ():
            yield f"{name} (mjcf)", f"{data}/robots/{name}.xml", "auto"
        yield "hrp2", "hrp2", "auto"
    yield "hoap1", "hoap1", "auto"
    for n in CHAIN[:3] if quick else CHAIN:
        path = folder / f"chain{n}.xml"
        path.write_text(chain(n))
        yield f"chain {n}", str(path), "auto"


def chain(n: int) -> str:
    """Return an MJCF of n links on a free base, each turned 90 degrees against the last about y,
    x, z.
    """
    axes = ("0 1 0", "1 0 0", "0 0 1")
    opening = "".join(
        f'<body name="b{i}" pos="0.02 0 -0.1"><joint name="j{i}" axis="{axes[i % 3]}" '
        'armature="0.01"/><inertial pos="0.01 0.02 -0.05" mass="0.5" '
        'fullinertia="0.002 0.0021 0.001 0.0001 0.0002 0.0001"/>'
        for i in range(n)
    )
    motors = "".join(f'<position joint="j{i}" kp="50" kv="1"/>' for i in range(n))
    return (
        '<mujoco model="chain"><compiler angle="radian"/><worldbody><body name="base">'
        '<freejoint name="root"/><inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'
        f"{opening}{'</body>' * n}</body></worldbody><actuator>{motors}</actuator></mujoco>"
    )


def measure(name: str, source: str, base: str) -> Row:
    robot = load(source, base=base, collide="feet")
    joints = sum(joint.kind != "free" for joint in robot.joints)
    row = Row(name, joints, robot.nv)
    row.trace_s = seconds_of(lambda: step_in_air(robot))
    step = step_in_air(robot)
    row.compile_s = seconds_of(lambda: compile_program(step))
    aba = quantities(robot, ["forward_dynamics"])
    row.operations = aba.counts().arithmetic
    row.formula = 373 * robot.nv - 371
    contenders = {"pinocchio": Contender(pinocchio_aba(robot), 1, time.perf_counter)}
    if source.endswith(".xml") or source in ("hoap1", "hrp2"):
        contenders["mujoco"] = Contender(mujoco_step(source), 1, time.perf_counter)
    for kind, program in (("aba", aba), ("step", step)):
        for label, call, worlds in calls(robot, program):
            contenders[f"{kind} {label}"] = Contender(call, worlds, time.perf_counter)
    times = {key: found["us"] for key, found in timed(contenders, TURNS, SHORTEST).items()}
    row.pinocchio_aba = times.pop("pinocchio")
    row.mujoco_step = times.pop("mujoco", None)
    for key, value in times.items():
        kind, _, label = key.partition(" ")
        (row.aba if kind == "aba" else row.step)[label] = value
    return row


def step_in_air(robot: Robot) -> Program:
    """Trace the step of a robot under a servo that touches nothing."""
    zero, none = np.zeros(robot.nv), np.full(robot.nv, np.inf)
    ideal = replace(robot, friction=zero, torque_limit=none)
    return Simulator(Scene(ideal), control=Servo(kp=1.0, kd=1.0), stops=None).program


def calls(robot: Robot, program: Program) -> Iterator[tuple[str, Callable[[], object], int]]:
    """One world, a step a call; a batch in lanes and on two threads, several steps a call."""
    steps = STEPS if program.memories else 1
    for dtype in REALS:
        one = filled(compile_program(program, width=1, dtype=dtype), robot, 1)
        lanes = compile_program(program, dtype=dtype)
        few, many = filled(lanes, robot, WORLDS), filled(lanes, robot, THREAD_WORLDS)
        yield f"{dtype} one", one.run, 1
        yield f"{dtype} lanes", partial(few.run, steps), WORLDS * steps
        yield f"{dtype} 2 threads", partial(many.run, steps, threads=2), THREAD_WORLDS * steps


def filled(kernel: Kernel, robot: Robot, worlds: int) -> Batch:
    rng = np.random.default_rng(0)
    q = np.tile(robot.neutral, (worlds, 1))
    for joint in robot.joints:
        if joint.kind == "revolute":
            q[:, joint.iq] += 0.3 * rng.normal(size=worlds)
    values: dict[str, Any] = {
        "q": q,
        "v": 0.3 * rng.normal(size=(worlds, robot.nv)),
        "tau": rng.normal(size=(worlds, robot.nv)),
        "dt": [1e-3],
        "gravity": [0.0, 0.0, -GRAVITY] if kernel.layout.memory else [GRAVITY],
        "servo.kp": robot.kp,
        "servo.kd": robot.kd,
    }
    batch = kernel.batch(worlds)
    names = {port.name for port in kernel.layout.ports}
    batch.set(**{name: value for name, value in values.items() if name in names})
    return batch


def pinocchio_aba(robot: Robot) -> Callable[[], object]:
    assert robot.model is not None
    model, data = robot.model, robot.model.createData()
    q = pin.neutral(model)
    v, tau = np.random.default_rng(0).normal(size=(2, model.nv))
    return lambda: pin.aba(model, data, q, v, tau)


def mujoco_step(source: str) -> Callable[[], object]:
    """Return MuJoCo's step of the same file in the air, with its own servo."""
    import mujoco

    model, data = mujoco_model(source)
    data.qpos[2] = 1e3  # far above any floor of the file
    mujoco.mj_forward(model, data)
    return lambda: mujoco.mj_step(model, data)


def growths(rows: list[Row]) -> dict[str, float]:
    """Exponents p of cost ~ n^p over the chains, by least squares in the logarithms."""
    n = np.log([row.joints for row in rows])

    def slope(values: list[float]) -> float:
        return float(np.polyfit(n, np.log(values), 1)[0])

    return {
        "compile (trace + machine code)": slope([row.trace_s + row.compile_s for row in rows]),
        "operations": slope([float(row.operations) for row in rows]),
        "ABA, one world": slope([row.aba["float64 one"] for row in rows]),
        "ABA, lanes": slope([row.aba["float64 lanes"] for row in rows]),
        "step, lanes": slope([row.step["float64 lanes"] for row in rows]),
    }


def show(console: Console, rows: list[Row], growth: dict[str, float]) -> None:
    for key, value in CONDITIONS.machine.items():
        console.print(f"{key} {value}", end="; ", highlight=False)
    console.print(f"lanes {widest(REALS['float64'])} x float64\n", highlight=False)
    console.print(_costs(rows))
    for kind, title in (("aba", "forward dynamics"), ("step", "servo-driven step in the air")):
        console.print(_times(rows, kind, f"{title}: us per world"))
    table = Table(title="growth with the joints of a chain: cost ~ n^p")
    table.add_column("cost")
    table.add_column("p", justify="right")
    for name, value in growth.items():
        table.add_row(name, f"{value:.2f}")
    console.print(table)


def _costs(rows: list[Row]) -> Table:
    table = Table(title="cold start, and operations of the forward dynamics")
    for column in ("robot", "joints", "trace s", "compile s", "operations", "373 n - 371"):
        table.add_column(column, justify="left" if column == "robot" else "right")
    for row in rows:
        cells = [f"{row.trace_s:.2f}", f"{row.compile_s:.2f}", str(row.operations)]
        table.add_row(row.robot, str(row.joints), *cells, str(row.formula))
    return table


def _times(rows: list[Row], kind: str, title: str) -> Table:
    table = Table(title=title)
    peer = "Pin" if kind == "aba" else "MuJoCo"
    for column in ("robot", peer, "one", "ratio", "lanes", "ratio", "2 thr", "f32", "2 thr"):
        table.add_column(column, justify="left" if column == "robot" else "right")
    for row in rows:
        ours = row.aba if kind == "aba" else row.step
        theirs = row.pinocchio_aba if kind == "aba" else row.mujoco_step
        one, lanes = ours["float64 one"], ours["float64 lanes"]
        table.add_row(
            row.robot,
            "-" if theirs is None else f"{theirs:.1f}",
            f"{one:.2f}",
            "-" if theirs is None else f"{theirs / one:.1f}",
            f"{lanes:.3f}",
            "-" if theirs is None else f"{theirs / lanes:.0f}",
            f"{ours['float64 2 threads']:.3f}",
            f"{ours['float32 lanes']:.3f}",
            f"{ours['float32 2 threads']:.3f}",
        )
    return table


if __name__ == "__main__":
    main()
