"""Reverse gradient of a loss over one step beside forward directions: CPU time of both.

    python -m benchmarks.gradients [--json FILE] [--pages] [--device cuda]

G1 of HEELSTRIKE_DATA (hoap1 where that is not set) stands on its feet, under its servo, on elastic
ground and on hs.Rigid, whose points stick. One world, on one thread: a step; the step's derivative
along 2 nv directions, whose matrix a loss needs by forward differentiation; and the reverse sweep,
which gives the gradient with respect to all memory and to the servo's references. The calls are
those of the kernels, then those from Python with copies of their arrays. 64 worlds: the reverse
sweep per world. Contenders take turns, the best turn of each counts, in CPU time of the thread.

With --device cuda: microseconds of the reverse sweep and of a step per world, of 16,384 worlds on a
GPU in float32 by the clock, and in how many of 256 worlds it has the CPU's bits. --pages writes the
table of docs/derivatives.md.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.pages import markdown, placed
from heelstrike.bench.timing import Contender, timed
from heelstrike.runtime.compiler import compile_program
from heelstrike.simulate.adjoint import DifferentiableStep, gradient_program
from heelstrike.simulate.linearize import Linearizer
from heelstrike.step.step import step_program

TURNS, WORLDS, GPU_WORLDS, BITS = 15, 64, 16384, 256
INPUT = "servo.q_ref"
LAWS: dict[str, hs.SurfaceLaw | None] = {"elastic": None, "rigid": hs.Rigid()}
PAGE = Path(__file__).parents[1] / "docs/derivatives.md"
ROWS = {
    "step": "step",
    "forward_directions": "{directions} forward directions: the matrix A",
    "reverse": "reverse sweep: gradient of a loss with respect to {entries} numbers",
    "reverse_of_64_worlds": "the same, each of 64 worlds",
    "forward_from_python": "{directions} forward directions, called from Python",
    "reverse_from_python": "reverse sweep, called from Python",
}


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    made.add_argument("--pages", action="store_true", help="write the table of the page")
    options = made.parse_args()
    on_gpu = options.device == "cuda"
    robot = standing(None, 1).robot
    found: dict[str, Any] = {"robot": robot.name, "directions": 2 * robot.nv}
    found |= {name: (on_a_gpu if on_gpu else measured)(law) for name, law in LAWS.items()}
    print(json.dumps(found, indent=1))
    keep(found, options.json)
    if options.pages and not on_gpu:
        PAGE.write_text(placed(PAGE.read_text(), {"costs of gradients": table(found)}))


def standing(law: hs.SurfaceLaw | None, worlds: int, **options: Any) -> hs.Simulator:
    """Return a simulator of a robot that has stood for 0.1 s; worlds differ in their speed."""
    data = os.environ.get("HEELSTRIKE_DATA")
    robot = hs.load(f"{data}/robots/g1.xml" if data else "hoap1", collide="feet")
    ground = hs.Plane() if law is None else hs.Plane(law)
    scene = hs.Scene(robot, ground, self_contact=False, edges=False)
    sim = hs.Simulator(scene, control=hs.Servo(), worlds=worlds, **options)
    v0 = np.zeros((worlds, robot.nv))
    v0[:, 0] = np.linspace(0, 0.1, worlds)
    sim.reset(q0=robot.on_ground(next(iter(robot.poses.values()))), v0=v0)
    sim.step(100)
    return sim


def measured(law: hs.SurfaceLaw | None) -> dict[str, Any]:
    """Return microseconds of a step, of its directions and of its reverse sweep."""
    sim, many = standing(law, 1), standing(law, WORLDS)
    reverse = DifferentiableStep(sim, [INPUT])
    started = time.process_time()
    compile_program(gradient_program(sim.compiled.plan, [INPUT], reverse.sizes))  # not cached
    compiled = {"reverse_s": time.process_time() - started}
    started = time.process_time()
    forward = Linearizer(sim.robot, step_program(sim.compiled.plan, thorough=True))
    compiled["forward_s"] = time.process_time() - started
    values = sim.compiled.parameters.of_world(0)
    values |= {name: value[0] for name, value in sim.compiled.batch().state().items()}
    taken = {port.name for port in forward.batch.layout.inputs}
    values = {name: value for name, value in values.items() if name in taken}
    forward(**values)
    x, u = reverse.state(sim), reverse.input_values(sim)
    after, w = reverse(x, u), np.ones_like(x)
    reverse.pullback(x, u, after, w)
    batched = DifferentiableStep(many, [INPUT])
    xs, us = batched.state(many), batched.input_values(many)
    batched.pullback(xs, us, batched(xs, us), np.ones_like(xs))
    found = timed(
        {
            "step": Contender(sim.step, 1),
            "forward_directions": Contender(forward.batch.run, 1),
            "reverse": Contender(reverse.reverse_batch.run, 1),
            "forward_from_python": Contender(lambda: forward(**values), 1),
            "reverse_from_python": Contender(lambda: reverse.pullback(x, u, after, w), 1),
            "reverse_of_64_worlds": Contender(batched.reverse_batch.run, WORLDS),
        },
        TURNS,
    )
    return {
        "gradient_entries": x.shape[1] + u.shape[1],
        "compile": {name: round(seconds, 1) for name, seconds in compiled.items()},
        "us": {name: round(times["us"], 2) for name, times in found.items()},
    }


def on_a_gpu(law: hs.SurfaceLaw | None) -> dict[str, Any]:
    """Return microseconds per world of the reverse sweep and of a step, and the equal worlds."""
    sim = standing(law, GPU_WORLDS, device="cuda")
    started = time.process_time()
    f = DifferentiableStep(sim, [INPUT])
    compiled = time.process_time() - started
    x, u = f.state(sim), f.input_values(sim)
    f.pullback(x, u, f(x, u), np.ones_like(x))

    def reverse() -> None:
        f.reverse_batch.run()
        f.reverse_batch.sync()

    def steps() -> None:
        sim.step(10)
        sim.compiled.batch().sync()

    clocks = {"reverse": Contender(reverse, GPU_WORLDS, time.perf_counter)}
    clocks["step"] = Contender(steps, 10 * GPU_WORLDS, time.perf_counter)
    found = {name: times["us"] for name, times in timed(clocks, TURNS).items()}
    gradients = []
    for device in ("cuda", "cpu"):
        some = standing(law, BITS, device=device, dtype="float32")
        f = DifferentiableStep(some, [INPUT])
        x, u = f.state(some), f.input_values(some)
        gradients.append(np.hstack(f.pullback(x, u, f(x, u), np.ones_like(x))))
    equal = int((gradients[0] == gradients[1]).all(axis=1).sum())
    return {"us": found, "compile_s": round(compiled, 1), f"equal_of_{BITS}": equal}


def table(found: Mapping[str, Any]) -> str:
    """Return the table of costs, a column for each law."""
    laws = [found[name] for name in LAWS]
    entries = " and ".join(str(law["gradient_entries"]) for law in laws)
    counts = {"directions": found["directions"], "entries": entries}
    rows = [
        (text.format(**counts), *(f"{law['us'][name]:.3g}" for law in laws))
        for name, text in ROWS.items()
    ]
    for name, text in (("reverse_s", "reverse sweep"), ("forward_s", "forward directions")):
        own = (f"{law['compile'][name]:.1f}" for law in laws)
        rows.append((f"to compile the {text} [CPU s]", *own))
    return markdown(["[us]", "elastic", "`Rigid`"], rows)


if __name__ == "__main__":
    main()
