"""Contact forces in float32 against float64, a step from the same state, for every coupled law.

    python -m benchmarks.float32 [--json FILE] [--quick] [--robots g1 ...]

hoap1, and of HEELSTRIKE_DATA/robots G1 and ANYmal C, with contact points on the whole body
(whole_body.py), settle after a drop of up to 2 cm, sway at 0.3 m/s and fall with any orientation.
Float64 makes the states: at several times of such runs the whole state, memory of the solver
included, is rounded to float32, and both make a step from there. The error is the difference of the
net force on a body that touches in either of them, over the robot's weight. A point whose depth is
zero to rounding may touch in one of them only; worlds where none does are listed apart, "same
points".

"history" is how far float64 differs from itself where it forgets which torque the dry friction of
its joints had in the last step. Joints that friction holds leave it open which body carries what,
and that torque decides: an error of this size is no error of rounding.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.whole_body import LAWS, Faller, faller, swaying, tumbling, with_robots
from heelstrike.step.inputs import FRICTION_LAST

WORLDS, TIMES = 32, 8
"""States of each kind are their product."""
BETWEEN = {"settling": 0.05, "swaying": 0.05, "falling": 0.1}
"""Time between two states that are compared [s]."""
SEEN = ("body_force", "touching")
QUICK_LAWS = ("Rigid", "FeedbackLinearized", "Elastic, implicit")
ALLOWED = 1e-3
"""Error that 99 of 100 bodies may have."""


def main() -> None:
    made = parser(__doc__, "few points of hoap1, three laws, few states")
    options, robots = with_robots(made)
    warnings.simplefilter("ignore")
    console = Console()
    result: dict[str, Any] = {"rows": {}}
    for name in robots:
        thrown = faller(name, few=options.quick)
        for law in QUICK_LAWS if options.quick else LAWS:
            with console.status(f"{name}, {law}"):
                found = errors(thrown, LAWS[law], TIMES // 2 if options.quick else TIMES)
            off, same, own = (np.concatenate(each) for each in zip(*found.values(), strict=True))
            result["rows"][f"{name}, {law}"] = {
                **{kind: spread(off) for kind, (off, _, _) in found.items()},
                "all": spread(off),
                "same points": spread(off[same]),
                "history": spread(own),
            }
    show(console, result["rows"])
    keep(result, options.json)


def errors(
    thrown: Faller, law: hs.SurfaceLaw, times: int = TIMES, worlds: int = WORLDS
) -> dict[str, tuple[np.ndarray, ...]]:
    """Return the errors of all forces, over the weight, whether the same points touch in their
    world, and what history changes, over the weight, by kind of motion.
    """
    robot = thrown.robot
    exact, single = (thrown.simulator(law, worlds, dtype) for dtype in ("float64", "float32"))
    for sim in (exact, single):
        sim.compile(record=SEEN)  # one program for stepping and for observing
    starts = {
        "settling": swaying(robot, worlds, drop=0.02, speed=0.0),
        "swaying": swaying(robot, worlds, drop=0.0, speed=0.3),
        "falling": tumbling(robot, worlds),
    }
    found = {}
    for kind, (q0, v0) in starts.items():
        exact.reset(q0=q0, v0=v0)
        single.reset(q0=q0, v0=v0)
        steps = round(BETWEEN[kind] / thrown.dt)
        pairs = [compared(exact, single, steps) for _ in range(times)]
        off, same, own = (np.concatenate(each) for each in zip(*pairs, strict=True))
        weight = robot.mass * robot.gravity
        found[kind] = off / weight, same, own / weight
    return found


def compared(exact: hs.Simulator, single: hs.Simulator, steps: int) -> tuple[np.ndarray, ...]:
    """Advance the float64 worlds, and make a step from where they are.

    Return the differences of the forces [N] on all bodies that touch, whether the same points touch
    in their world, and the differences where float64 forgets the dry friction of its joints.
    """
    exact.run(steps=steps, record=SEEN, every=steps, progress=False)
    for name in exact.state:
        single.state[name] = exact.state[name]
        exact.state[name] = single.state[name]  # rounded: both start from the same numbers
    one, other = (sim.observe(*SEEN) for sim in (exact, single))
    same = (one["touching"] == other["touching"]).all(axis=1)
    off, loaded = _differences(one, other)
    forgotten = one
    if FRICTION_LAST in exact.state:
        last = exact.state[FRICTION_LAST].copy()
        exact.state[FRICTION_LAST] = 0 * last
        forgotten = exact.observe(*SEEN)
        exact.state[FRICTION_LAST] = last
    own, both = _differences(one, forgotten)
    return off[loaded], np.broadcast_to(same[:, None], off.shape)[loaded], own[both]


def _differences(
    one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences of forces [N], and which bodies touch in one of two steps."""
    forces = [seen["body_force"].astype(float) for seen in (one, other)]
    loaded = (forces[0] != 0).any(axis=-1) | (forces[1] != 0).any(axis=-1)
    return np.linalg.norm(forces[1] - forces[0], axis=-1), loaded


def spread(errors: np.ndarray) -> dict[str, float]:
    """Return the number of errors, their median, 99th percentile and largest."""
    if not len(errors):
        return {"count": 0, **dict.fromkeys(("median", "99th percentile", "largest"), np.nan)}
    return {
        "count": len(errors),
        "median": float(np.median(errors)),
        "99th percentile": float(np.percentile(errors, 99)),
        "largest": float(errors.max()),
    }


def show(console: Console, rows: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Print median, 99th percentile and largest error, by robot, law and kind of motion."""
    kinds = list(next(iter(rows.values())))
    title = "force of a body, float32 against float64, over the weight: median / 99 % / largest"
    table = Table("", *kinds, f"99 % below {ALLOWED:g}", title=title)
    for name, row in rows.items():
        cells = []
        for kind in kinds:
            found = row[kind]
            named = (found["median"], found["99th percentile"], found["largest"])
            cells.append(" / ".join(f"{value:.0e}" for value in named))
        table.add_row(name, *cells, "yes" if row["all"]["99th percentile"] < ALLOWED else "no")
    console.print(table)


if __name__ == "__main__":
    main()
