"""Reverse gradient of a loss over one step beside forward directions: CPU time of both.

    python -m benchmarks.gradients [--json FILE]

G1 of HEELSTRIKE_DATA (hoap1 where that is not set) stands on elastic ground on its feet, under its
servo. One world, on one thread: a step; the step's derivative along 2 nv directions, whose matrix a
loss needs by forward differentiation; and the reverse sweep, which gives the gradient with respect
to all memory and to the servo's references. The calls are those of the kernels, then those from
Python with copies of their arrays. 64 worlds: the reverse sweep per world. Contenders take turns,
the best turn of each counts, in CPU time of the thread.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

import heelstrike as hs
from heelstrike.bench.timing import Contender, timed
from heelstrike.machine import machine
from heelstrike.simulate.adjoint import DifferentiableStep
from heelstrike.simulate.linearize import Linearizer
from heelstrike.step.step import step_program

TURNS, WORLDS = 15, 64
INPUT = "servo.q_ref"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    options = parser.parse_args()
    result = measured()
    print(json.dumps(result, indent=1))
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


def standing(worlds: int) -> hs.Simulator:
    """Return a simulator of a robot that has stood for 0.1 s."""
    data = os.environ.get("HEELSTRIKE_DATA")
    robot = hs.load(f"{data}/robots/g1.xml" if data else "hoap1", collide="feet")
    scene = hs.Scene(robot, hs.Plane(), self_contact=False, edges=False)
    sim = hs.Simulator(scene, control=hs.Servo(), worlds=worlds)
    sim.reset(q0=robot.on_ground(next(iter(robot.poses.values()))))
    sim.step(100)
    return sim


def measured() -> dict[str, object]:
    """Return microseconds of a step, of its directions and of its reverse sweep."""
    sim, many = standing(1), standing(WORLDS)
    started = time.process_time()
    reverse = DifferentiableStep(sim, [INPUT])
    compiled = {"reverse_s": time.process_time() - started}
    started = time.process_time()
    plan = sim.compiled.plan
    forward = Linearizer(sim.robot, step_program(plan, thorough=True))
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
        "machine": machine(),
        "robot": sim.robot.name,
        "directions": 2 * sim.robot.nv,
        "gradient_entries": x.shape[1] + u.shape[1],
        "compile": {name: round(seconds, 1) for name, seconds in compiled.items()},
        "us": {name: round(times["us"], 2) for name, times in found.items()},
    }


if __name__ == "__main__":
    main()
