"""Draws docs/images/stairs.png and docs/images/contact-points.png.

    python tools/sketches.py

Depths and the ball's way are the simulator's own; what points do not see is drawn by hand.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casadi as ca
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon, Rectangle

import heelstrike as hs
from heelstrike.view.plot import COLOURS

mpl.use("Agg")
import matplotlib.pyplot as plt

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SOLID = "0.85"
FLIGHT = hs.Stairs(rise=0.1, run=0.2, count=4)


def main() -> None:
    plt.rcParams.update({"font.size": 9, "axes.titlesize": 9, "axes.edgecolor": "0.6"})
    stairs()
    contact_points()


def stairs() -> None:
    shape = {"figsize": (9, 3.4), "width_ratios": (1, 1.6), "layout": "constrained"}
    fig, (left, right) = plt.subplots(1, 2, **shape)
    _flight(left)
    grids = np.meshgrid(np.arange(0.12, 0.3, 8e-3), np.arange(0.052, 0.2, 8e-3))
    x, z = (grid.ravel() for grid in grids)
    place = ca.SX.sym("place", 3)
    for part, (mark, word) in enumerate((("|", "held by a tread"), ("_", "by a riser"))):
        depth = ca.Function("d", [place], [FLIGHT.depth_and_axes(place, 0.0, part)[0]])
        deep = np.array(depth(np.array([x, 0 * x, z]))).ravel()
        held = (deep > 0) & (deep < 0.05)
        left.plot(x[held], z[held], mark, ms=6, mew=1.2, color=COLOURS[part], label=word)
    left.set(xlim=(0.1, 0.31), ylim=(0.04, 0.26))
    left.set_title("what holds a point inside the stairs", loc="left", fontweight="bold")
    left.legend(loc="upper left", frameon=False)
    left.annotate("nose", (0.2, 0.2), (0.165, 0.205), fontsize=8, color="0.3")
    left.annotate("corner", (0.2, 0.1), (0.155, 0.108), fontsize=8, color="0.3")

    law = hs.Elastic(hs.LinearSpring(k=2e4, c=100), hs.Bristle())
    touched = replace(FLIGHT, law=law, name="stairs"), hs.Plane(law, "floor")
    sim = hs.Simulator(hs.Scene(hs.load("ball"), *touched))
    data = sim.run(1.6, q0=[0.75, 0, 0.45, 0, 0, 0, 1], v0=[-0.7, 0, 0, 0, -14, 0]).data
    _flight(right)
    q = data["q"].values[0]
    for k in range(0, len(q), 160):
        ball = Circle((q[k, 0], q[k, 2]), 0.05, facecolor=COLOURS[1], alpha=0.3, edgecolor="none")
        right.add_patch(ball)
    right.plot(q[:, 0], q[:, 2], "-", lw=1.2, color=COLOURS[1], label="its centre")
    right.axhline(0, color="0.3", lw=0.8)
    right.set(xlim=(-0.5, 0.85), ylim=(-0.03, 0.53))
    right.set_title("a ball comes down, every 160 ms", loc="left", fontweight="bold")
    right.legend(loc="upper left", frameon=False)
    for axes in (left, right):
        axes.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    fig.savefig(IMAGES / "stairs.png", dpi=150)


def _flight(axes: Axes) -> None:
    corners = [(0.0, -0.1), (0.0, 0.0)]
    for k in range(FLIGHT.count):
        tread = (k + 1) * FLIGHT.rise
        corners += [(k * FLIGHT.run, tread), ((k + 1) * FLIGHT.run, tread)]
    corners.append((FLIGHT.count * FLIGHT.run, -0.1))
    _solid(axes, corners)


def contact_points() -> None:
    fig, panels = plt.subplots(1, 4, figsize=(8.4, 1.9), layout="constrained")
    corners = [(x, z) for x in (-0.5, 0.5) for z in (0.0, 0.6)]
    between = [(x, 0.0) for x in (-0.25, 0.0, 0.25)]
    floor = [(-0.85, -0.3), (0.85, -0.3), (0.85, 0), (-0.85, 0)]
    beam = [(-0.2, -0.3), (0.2, -0.3), (0.2, 0), (-0.2, 0)]
    spike = [(-0.2, -0.3), (0.2, -0.3), (0, 0)]
    drawn = (
        (floor, corners, "corners on a floor:\nseen"),
        (beam, corners, "a face on something small:\nnot seen, it falls through"),
        (beam, [*corners, *between], "the same with edge_points=3:\nseen"),
        (spike, [(0.0, 0.0)], "a point of the world and\na box on the body: seen"),
    )
    for axes, (ground, points, title) in zip(panels, drawn, strict=True):
        _solid(axes, ground)
        axes.add_patch(Rectangle((-0.5, 0), 1, 0.6, facecolor="white", edgecolor="k", lw=1.2))
        axes.plot(*np.transpose(points), "o", color=COLOURS[0], ms=5)
        axes.set(xlim=(-0.9, 0.9), ylim=(-0.32, 0.68), aspect="equal", title=title)
        axes.axis("off")
    fig.savefig(IMAGES / "contact-points.png", dpi=150)


def _solid(axes: Axes, corners: list[tuple[float, float]]) -> None:
    axes.add_patch(Polygon(corners, closed=True, facecolor=SOLID, edgecolor="k", lw=0.8))


if __name__ == "__main__":
    main()
