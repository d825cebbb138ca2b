"""What sensors cost: a step that measures six quantities, read from Python, beside the bare step.

    python -m benchmarks.sensors [--json FILE]

hoap1 stands on elastic ground, on its feet. One world: `step`, then all six readings; `observe` of
the same quantities, which makes a step that is dropped. 1,024 worlds in float32 on one thread: the
step with and without the sensors. Contenders take turns, the best turn of each counts, in CPU time
of the thread.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import heelstrike as hs
from heelstrike.bench.timing import Contender, timed

SENSORS = ("L_AAA.force", "R_AAA.force", "zmp", "com", "WAIST.accelerometer", "WAIST.gyro")
WORLDS, STEPS, TURNS = 1024, 20, 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    options = parser.parse_args()
    one, many = one_world(), many_worlds()
    result = {"sensors": SENSORS, "one_world_us": one, "worlds": WORLDS, "many_worlds_us": many}
    print(json.dumps(result, indent=1))
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


def standing(worlds: int, dtype: str, *sensors: str) -> hs.Simulator:
    """Return a simulator of hoap1 after 0.5 s of standing."""
    robot = hs.load("hoap1", collide="feet")
    scene = hs.Scene(robot, hs.Plane())
    sim = hs.Simulator(scene, control=hs.Servo(), worlds=worlds, dtype=dtype, sensors=sensors)
    sim.reset(q0=robot.pose("stance"))
    sim.step(500)
    return sim


def one_world() -> dict[str, float]:
    """Return microseconds of a step, of a step with six readings, and of an observation."""
    bare, sensing = standing(1, "float64"), standing(1, "float64", *SENSORS)

    def measured() -> None:
        sensing.step()
        readings = sensing.sensors
        for name in SENSORS:
            readings[name]

    contenders = {
        "step": Contender(bare.step, 1),
        "step_and_readings": Contender(measured, 1),
        "observe": Contender(partial(bare.observe, *SENSORS), 1),
    }
    found = timed(contenders, TURNS)
    return {name: round(times["us"], 3) for name, times in found.items()}


def many_worlds() -> dict[str, float]:
    """Return microseconds of a step of a world in a batch, without and with sensors."""
    sims = {
        "step": standing(WORLDS, "float32"),
        "step_with_sensors": standing(WORLDS, "float32", *SENSORS),
    }
    contenders = {
        name: Contender(partial(sim.step, STEPS), WORLDS * STEPS) for name, sim in sims.items()
    }
    return {name: round(times["us"], 4) for name, times in timed(contenders, TURNS).items()}


if __name__ == "__main__":
    main()
