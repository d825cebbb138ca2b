"""Contact of two convex shapes: time per world, by kinds of shapes and depth.

    python -m benchmarks.shapes [--json FILE] [--quick]

Poses are random, moved along the normal to a depth. Times are CPU time per world of the compiled
program of one pair on one thread, in the widest lanes; contenders take turns, each one's best turn
counts. The last normal is that of the pose, turned by 0.01 rad.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from time import process_time
from typing import Any

import casadi as ca
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.command import keep, parser
from heelstrike.bench.timing import Contender, timed
from heelstrike.contact.geometry import Convex, contact_points
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.kernel import Kernel

WORLDS = 1024
DEPTHS = {"50 mm apart": -0.05, "2 mm apart": -0.002, "2 mm deep": 0.002}
PAIRS = [
    ("sphere", "sphere", 1),
    ("sphere", "capsule", 1),
    ("capsule", "capsule", 2),
    ("sphere", "box", 1),
    ("capsule", "box", 2),
    ("box", "box", 4),
    ("capsule", "hull", 2),
    ("box", "hull", 4),
    ("hull", "hull", 4),
    ("cylinder", "box", 4),
    ("ellipsoid", "box", 1),
    ("ellipsoid", "ellipsoid", 1),
]
"""Shapes and numbers of points. Hulls have 24 vertices."""
TURNS, SHORTEST = 20, 1e-3
"""Turns of the contenders, and how long one lasts at least [s]."""

Shape = tuple[np.ndarray, np.ndarray | None, float]
"""Vertices (n, 3), half axes, radius [m]."""


def main() -> None:
    options = parser(__doc__, "few turns").parse_args()
    result: dict[str, Any] = {}
    for a, b, count in PAIRS:
        result[f"{a}, {b}"] = measured(a, b, count, 3 if options.quick else TURNS)
    Console().print(_shown(result))
    keep(result, options.json)


def shape(kind: str) -> Shape:
    """Return a shape of 0.2 to 0.6 m in its own axes."""
    half, ends = np.array([0.3, 0.2, 0.12]), np.array([[0, 0, -0.3], [0, 0, 0.3]])
    if kind == "hull":
        points = np.random.default_rng(5).normal(size=(24, 3))
        return half * points / np.linalg.norm(points, axis=1)[:, None], None, 0.0
    return {
        "sphere": (np.zeros((1, 3)), None, 0.2),
        "capsule": (ends, None, 0.1),
        "box": (np.array(list(product((-1, 1), repeat=3))) * half, None, 0.0),
        "cylinder": (ends, np.diag([0.15, 0.15, 0]), 0.0),
        "ellipsoid": (np.zeros((1, 3)), np.diag(half), 0.0),
    }[kind]


def program(a: str, b: str, count: int) -> Program:
    """Return the program of a pair, the first of which is at `place`."""
    p = Program("pair")
    place, last = p.input("place", 3), p.input("last", 3)
    shapes = []
    for side, kind in (("a", a), ("b", b)):
        vertices, half_axes, radius = shape(kind)
        turn = ca.reshape(p.input(f"{side} turn", 9), 3, 3)
        offset = place if side == "a" else ca.SX.zeros(3)
        with p.block("place"):
            own = p.let("v", turn @ vertices.T + ca.repmat(offset, 1, len(vertices)))
            axes = None if half_axes is None else p.let("axes", turn @ half_axes)
        shapes.append(Convex(own, axes, radius, box=kind == "box"))
    points = contact_points(p, *shapes, count, last)
    with p.block("out"):
        p.output("depth", ca.vertcat(*(point.depth for point in points)))
        p.output("normal", points[0].normal)
        p.output("positions", ca.vertcat(*(point.position for point in points)))
    return p


def measured(a: str, b: str, count: int, turns: int) -> dict[str, float]:
    """Return nanoseconds per world by depth, and seconds of compiling."""
    start = process_time()
    kernel = compile_program(program(a, b, count))
    seconds = process_time() - start
    rng = np.random.default_rng(1)
    pose = {f"{side} turn": _rotations(rng) for side in "ab"}
    direction = rng.normal(size=(WORLDS, 3))
    place = 0.6 * direction / np.linalg.norm(direction, axis=1)[:, None]
    none = np.zeros((WORLDS, 3))
    out = kernel(place=place, last=none, **pose)
    normal, depth = out["normal"], out["depth"].max(axis=1, keepdims=True)
    aside = normal + 0.01 * rng.normal(size=normal.shape)
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    contenders = {}
    for label, wanted in DEPTHS.items():
        values = pose | {"place": place + (depth - wanted) * normal}
        contenders[label] = _contender(kernel, values | {"last": none})
        if wanted > 0:
            contenders[f"{label}, last normal"] = _contender(kernel, values | {"last": aside})
    found = timed(contenders, turns, SHORTEST)
    times = {label: 1e3 * one["us"] for label, one in found.items()}
    return times | {"compile [s]": seconds}


def _contender(kernel: Kernel, values: dict[str, np.ndarray]) -> Contender:
    batch = kernel.batch(WORLDS)
    batch.set(**values)
    return Contender(partial(batch.run), WORLDS)


def _rotations(rng: np.random.Generator) -> np.ndarray:
    """Return random rotation matrices, (WORLDS, 9)."""
    matrices, _ = np.linalg.qr(rng.normal(size=(WORLDS, 3, 3)))
    matrices *= np.sign(np.linalg.det(matrices))[:, None, None]
    return matrices.reshape(WORLDS, 9)


def _shown(result: dict[str, dict[str, float]]) -> Table:
    table = Table(title="Contact of two shapes: ns per world")
    labels = list(next(iter(result.values())))
    for column in ("shapes", *labels):
        table.add_column(column, justify="left" if column == "shapes" else "right")
    for pair, found in result.items():
        table.add_row(pair, *(f"{found[label]:.3g}" for label in labels))
    return table


if __name__ == "__main__":
    main()
