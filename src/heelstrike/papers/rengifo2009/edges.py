"""Edges and faces: "impacts on edges are treated as a simultaneous collision of two vertices".

The bundled box as a foot, 5 kg, falls at 0.3 m/s tilted by 10 degrees: heel, toe, either side, and
flat. It must meet the ground with two vertices at once (four, flat) that share the force evenly,
and come to rest on its face, though (18) has rank 5 on an edge and 6 on a face.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.rengifo2009.closed_form import Floats, G
from heelstrike.papers.report import Result, Row, below, finished, near, worst

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

A, B, H, MASS = 0.1, 0.05, 0.05, 5.0
TILT, SPEED = np.radians(10), 0.3
"""[rad], [m/s]; ours."""
LANDINGS = {"heel": (1, -1), "toe": (1, 1), "left": (0, -1), "right": (0, 1), "flat": (1, 0)}
"""Axis that it is tilted about (x, y), and which way."""
STEPS, DT = 1500, 1e-3


@cache
def landed(rule: str) -> xr.Dataset:
    """One world a landing."""
    points = [("box", (x, y, -H), 0.0) for x in (-A, A) for y in (-B, B)]
    law = hs.FeedbackLinearized(rule=rule)
    sim = hs.Simulator(hs.Scene(hs.load("box", points=points), hs.Plane(law=law)), dt=DT)
    n = len(LANDINGS)
    q0, v0 = np.zeros((n, 7)), np.zeros((n, 6))
    for world, (axis, way) in enumerate(LANDINGS.values()):
        half = 0.5 * TILT * way
        q0[world, 3 + axis], q0[world, 6] = np.sin(half), np.cos(half)
        reach = A if axis else B
        q0[world, 2] = H * np.cos(2 * half) + reach * np.sin(abs(2 * half)) + 1e-3
        v0[world, :3] = _turned(2 * half, axis) @ [0, 0, -SPEED]
    run = sim.run(steps=STEPS, q0=q0, v0=v0, worlds=n, progress=False, check=False)
    return finished(run, STEPS)


def _turned(angle: float, axis: int) -> Floats:
    """World to body."""
    c, s = np.cos(angle), np.sin(angle)
    about_x = [[1, 0, 0], [0, c, s], [0, -s, c]]
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]] if axis else about_x)


def edges() -> Result:
    """Vertices at the first touch, how they share it, and rest."""
    rows: list[Row] = []
    for rule in ("consistent", "paper"):
        data = landed(rule)
        spreads = []
        for world, name in enumerate(LANDINGS):
            many = 4.0 if name == "flat" else 2.0
            found, spread = _first_touch(data, world)
            spreads.append(spread)
            rows.append(near(f"{rule}, {name}: vertices at first touch", found, many, 0, many))
        support = data.normal_force.values[:, -1].sum(axis=-1) / (MASS * G)
        least = float((data.depth.values[:, -1] > 0).sum(axis=-1).min())
        rows += [
            below(f"{rule}: their forces differ by", worst(spreads), 1e-9, "simultaneous"),
            below(f"{rule}: support at the end off by", worst(support - 1), 1e-6),
            near(f"{rule}: least vertices at the end", least, 4, 0),
        ]
    return Result(
        "edges",
        "heel, toe and face",
        "Impacts on edges are a simultaneous collision of two vertices, flat ones of four; "
        "multiple contacts are naturally handled.",
        tuple(rows),
        lambda: _draw(landed("consistent")),
    )


def _first_touch(data: xr.Dataset, world: int) -> tuple[float, float]:
    """Vertices that touch in the first step that any does, and the spread of their forces."""
    depth = data.depth.values[world]
    first = int(np.flatnonzero((depth > 0).any(axis=1))[0])
    share = data.normal_force.values[world, first][depth[first] > 0]
    return float(len(share)), float(np.ptp(share) / share.mean())


def _draw(data: xr.Dataset) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(1, 2, size=(10.0, 3.9))
    for ax, world, name in zip(axes, (0, 4), ("heel first", "flat"), strict=True):
        for colour, point in zip(plot.COLOURS, range(4), strict=False):
            ax.plot(data.time, -1e3 * data.depth.values[world, :, point], "-", color=colour)
        plot.label(ax, f"Height of the four vertices, {name}", "time [s]", "height [mm]")
        ax.set(xlim=(0, 0.6))
    return figure
