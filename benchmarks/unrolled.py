"""Contact points unrolled, as the coupled solver has them, or in a loop over a table.

    python -m benchmarks.unrolled

One evaluation of the points of two feet, what contact/solver/coupled.py does in a round: velocity,
nearest impulse in cone or tube, wrench and stiffness of each body. The same operations both ways;
processor time of one thread, best of the turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import casadi as ca
import numpy as np
from rich.console import Console
from rich.table import Table

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.cone import in_cone, in_tube
from heelstrike.ir.loop import Array, counted
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from heelstrike.spatial.vector import skew, zeros

FEET, COUNTS, ROUNDS, WORLDS, TURNS = 2, (8, 32, 128), 10, 512, 25
COLUMNS = {"axes": 9, "lever": 3, "target": 3, "a": 3, "radius": 1, "slides": 1, "mu": 1, "rho": 1}
"""Of a point."""
WIDTH = sum(COLUMNS.values())
UPPER = [(i, j) for i in range(6) for j in range(i, 6)]


def point(row: SX, twist: SX) -> tuple[SX, SX]:
    """Wrench (6), and upper triangle of the stiffness (21), of one point."""
    parts = ca.vertsplit(row, np.cumsum([0, *COLUMNS.values()]).tolist())
    axes, lever, target, a, radius, slides, mu, rho = parts
    axes = ca.reshape(axes, 3, 3).T
    g = ca.horzcat(axes, -axes @ skew(lever))
    z = a - (g @ twist - target) / rho
    tube, cone = in_tube(z, radius), in_cone(z, mu)
    weight = where(slides, tube.slope, cone.slope) / rho
    full = ca.densify(g.T @ weight @ g)
    return g.T @ where(slides, tube.f, cone.f), ca.vertcat(*(full[i, j] for i, j in UPPER))


def evaluation(count: int, looped: bool) -> Program:
    """ROUNDS evaluations, each at what the one before it gave."""
    p, own = Program("points"), count // FEET
    feet = [p.input(f"foot{b}", own * WIDTH) for b in range(FEET)]
    start = p.input("twists", 6 * FEET)
    with counted(p, "rounds", ROUNDS) as rounds:
        twists = rounds.carry("twists", start)
        sums = []
        for b, foot in enumerate(feet):
            twist = twists[6 * b : 6 * b + 6]
            if looped:
                with counted(p, f"foot {b}", own) as points:
                    row = points.row(Array(f"foot{b}", own, WIDTH))
                    total = points.carry("total", zeros(27))
                    with p.block("point"):
                        points.next(total, total + ca.vertcat(*point(row, twist)))
            else:
                total = zeros(27)
                for j in range(own):
                    with p.block("point"):
                        one = ca.vertcat(*point(foot[WIDTH * j : WIDTH * (j + 1)], twist))
                        total = p.let("total", total + one)
            sums.append(total)
        with p.block("next"):
            moved = [total[:6] + total[6:12] + total[-6:] for total in sums]
            rounds.next(twists, twists + 1e-9 * ca.vertcat(*moved))
    with p.block("end"):
        p.output("ends", twists)
    return p


def inputs(count: int) -> dict[str, np.ndarray]:
    """Random feet, a third of whose points slide."""
    rng = np.random.default_rng(0)
    found = {"twists": rng.normal(size=(WORLDS, 6 * FEET))}
    for b in range(FEET):
        rows = 0.1 * rng.normal(size=(WORLDS, count // FEET, WIDTH))
        rows[..., :9] = np.linalg.qr(rng.normal(size=(*rows.shape[:2], 3, 3)))[0].reshape(
            *rows.shape[:2], 9
        )
        rows[..., -4:] = 0.1, 0.0, 0.6, 0.1
        rows[..., -3] = rng.random(rows.shape[:2]) < 1 / 3
        found[f"foot{b}"] = rows.reshape(WORLDS, -1)
    return found


def seconds(call: Callable[[], object]) -> float:
    """Of the processor."""
    started = time.process_time()
    call()
    return time.process_time() - started


def main() -> None:
    table = Table(title=f"an evaluation of the points of {FEET} feet")
    for column in ("points", "", "compile [s]", "us", "ns a point"):
        table.add_column(column, justify="right")
    for count in COUNTS:
        given, made, compiled = inputs(count), {}, {}
        for name, looped in (("unrolled", False), ("loop", True)):
            started = time.process_time()
            made[name] = compile_program(evaluation(count, looped))
            compiled[name] = time.process_time() - started
        ends = [kernel(**given, threads=1)["ends"] for kernel in made.values()]
        assert np.allclose(*ends, rtol=1e-9)
        best = dict.fromkeys(made, np.inf)
        for _ in range(TURNS):
            for name, kernel in made.items():
                best[name] = min(best[name], seconds(partial(kernel, **given, threads=1)))
        for name, spent in best.items():
            us = 1e6 * spent / (WORLDS * ROUNDS)
            numbers = f"{compiled[name]:.2f}", f"{us:.3f}", f"{1e3 * us / count:.1f}"
            table.add_row(str(count), name, *numbers)
    Console().print(table)


if __name__ == "__main__":
    main()
