"""Draws docs/images/sugihara2006_floor.png and docs/images/tsujita2009_models.png.

    python tools/paper_sketches.py

What the papers' own diagrams show (Sugihara figs 1 and 2; Tsujita figs 1, 2, 8 and 9), drawn anew.
Nothing is simulated here.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Polygon, Rectangle

from heelstrike.view.plot import COLOURS

mpl.use("Agg")
import matplotlib.pyplot as plt

IMAGES = Path(__file__).parents[1] / "docs" / "images"
ROCK, SKIN, BODY = "0.72", "#cfe3f2", "0.93"


def main() -> None:
    plt.rcParams.update({"font.size": 9, "axes.titlesize": 10})
    floor()
    models()


def floor() -> None:
    """Membrane over rock, and the force of a step by (13) and (14)."""
    shape = {"figsize": (9.2, 2.9), "width_ratios": (1.25, 1), "layout": "constrained"}
    figure, (left, right) = plt.subplots(1, 2, **shape)
    _bare(left, (0, 10), (-1.5, 1.9))
    left.add_patch(Rectangle((0, -1.5), 10, 1.0, color=ROCK, lw=0))
    left.add_patch(Rectangle((0, -0.5), 10, 0.5, color=SKIN, lw=0))
    left.plot([0, 10], [0, 0], color="0.3", lw=1)
    left.plot([0, 10], [-0.5, -0.5], color="0.3", lw=1)
    corners = [(1.6, 0.25), (8.4, -0.72), (8.55, 0.35), (1.75, 1.32)]
    left.add_patch(Polygon(corners, closed=True, fc=BODY, ec="0.2", lw=1.2))
    for share, name, colour, up in ((0.5, "micro set T: (14)", COLOURS[0], 1.4),
                                    (0.93, "macro set H: (33)", COLOURS[1], 1.5)):  # fmt: skip
        x, y = (np.array(corners[0]) * (1 - share) + np.array(corners[1]) * share).tolist()
        left.plot([x], [y], "o", ms=7, color=colour, zorder=5)
        _arrow(left, (x, y), (x, y + up), colour)
        left.annotate(name, (x + 0.12, y + up), color=colour, va="bottom", ha="center")
    left.plot([corners[0][0]], [corners[0][1]], "o", ms=7, mfc="w", mec="0.2", zorder=5)
    left.annotate("no contact", (1.6, 0.25), (0.2, 0.55), color="0.2")
    left.annotate("membrane", (0.2, -0.38), color="0.2")
    left.annotate("rigid floor", (0.2, -1.1), color="0.2")
    left.set_title("A foot on the floor of IV-C", loc="left", weight="bold")

    time = np.linspace(0, np.pi, 200)
    force = np.sin(time)
    right.plot(time, force, color="0.2", lw=1.2, label="continuous")
    starts = np.linspace(0, np.pi, 7)
    for colour, shift, name in ((COLOURS[1], 0, "(13): depth at the start of a step"),
                                (COLOURS[0], 1, "(14): depth at its end")):  # fmt: skip
        held = np.clip(np.sin(starts + shift * (starts[1] - starts[0])), 0, None)[:-1]
        right.stairs(held, starts, color=colour, lw=1.4, label=name)
    right.axvline(np.pi / 2, color="0.6", lw=0.8, ls=":")
    right.annotate("going in", (0.08, 1.12), color="0.3")
    right.annotate("coming out", (np.pi / 2 + 0.08, 1.12), color="0.3")
    right.set(xticks=[], yticks=[], ylim=(0, 1.9), xlabel="time", ylabel="force")
    right.legend(frameon=False, fontsize=8, loc="upper left")
    right.spines[["top", "right"]].set_visible(False)
    right.set_title("Force over a bounce in large steps", loc="left", weight="bold")
    _save(figure, "sugihara2006_floor.png")


def models() -> None:
    """Full robot, soles held by a huge mass, virtual mass."""
    figure, axes = plt.subplots(1, 3, figsize=(9.2, 3.1), layout="constrained")
    titles = ("Full simulation", "Simplified: soles held by 1e5 kg", "Virtual mass")
    for ax, title in zip(axes, titles, strict=True):
        _bare(ax, (0, 10), (-1.2, 8.4))
        ax.set_title(title, loc="left", weight="bold")
        _target(ax, (8.1, 5.2))
    for ax in axes[:2]:
        _robot(ax)
    axes[0].add_patch(Rectangle((0, -1.0), 7, 1.0, color=ROCK, lw=0))
    axes[0].annotate("friction floor", (0.2, -0.72), color="0.2")
    axes[1].add_patch(Rectangle((0.6, -1.0), 4.7, 1.0, fc=COLOURS[0], alpha=0.25, ec=COLOURS[0]))
    axes[1].annotate("virtual base (1) to (4)", (0.75, -0.72), color=COLOURS[0])
    axes[1].annotate("H*, J* kept from\nthe first touch on", (4.4, 6.9), color="0.2")
    axes[2].add_patch(Rectangle((4.6, 4.55), 1.3, 1.3, fc=COLOURS[1], alpha=0.3, ec=COLOURS[1]))
    axes[2].annotate("$m_a$", (5.25, 5.2), ha="center", va="center", color="0.1")
    _arrow(axes[2], (2.9, 5.2), (4.4, 5.2), "0.2")
    axes[2].annotate("$v_c$", (3.5, 5.45), color="0.2")
    axes[2].annotate("no servo: the hand\ndoes not follow", (0.4, 2.6), color="0.2")
    _save(figure, "tsujita2009_models.png")


def _save(figure: Figure, name: str) -> None:
    figure.savefig(IMAGES / name, dpi=110, bbox_inches="tight", pad_inches=0.1)


def _robot(ax: Axes) -> None:
    """A robot that punches, as a stick figure with servos at its joints."""
    hip, neck, elbow, hand = (2.7, 3.7), (2.7, 6.2), (4.0, 5.0), (5.9, 5.2)
    lines = [
        [(1.2, 0.15), (1.5, 2.0), hip],
        [(4.2, 0.15), (3.7, 2.0), hip],
        [hip, neck],
        [neck, elbow, hand],
    ]
    for line in lines:
        ax.plot(*np.array(line).T, color="0.25", lw=5, solid_capstyle="round", zorder=2)
    for x in (0.9, 3.9):
        ax.add_patch(Rectangle((x, 0), 1.1, 0.25, color="0.25", lw=0))
    ax.add_patch(Circle((2.7, 7.1), 0.55, fc=BODY, ec="0.25", lw=1.5))
    for joint in ((1.5, 2.0), (3.7, 2.0), hip, neck, elbow):
        ax.add_patch(Circle(joint, 0.24, fc="w", ec=COLOURS[2], lw=1.6, zorder=4))
    ax.add_patch(Circle(hand, 0.3, color="0.25", zorder=3))
    ax.annotate("PD", (3.05, 3.55), color=COLOURS[2])


def _target(ax: Axes, at: tuple[float, float]) -> None:
    """The target with its spring and damper in front."""
    x, y = at
    ax.add_patch(Rectangle((x - 0.3, y - 1.1), 1.7, 2.2, fc=BODY, ec="0.2", lw=1.2))
    ax.annotate("5 kg", (x + 0.55, y), ha="center", va="center")
    teeth = np.array([0, 0.15, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.45, 1.6])
    zigzag = np.array([0, 0, 0.25, -0.25, 0.25, -0.25, 0.25, -0.25, 0, 0])
    ax.plot(x - 1.9 + teeth, y + 0.5 + zigzag, color="0.2", lw=1)
    ax.plot([x - 1.9, x - 1.2], [y - 0.5, y - 0.5], color="0.2", lw=1)
    ax.plot([x - 0.9, x - 0.3], [y - 0.5, y - 0.5], color="0.2", lw=1)
    for low, high in ((-0.2, -0.2), (-0.8, -0.8)):
        ax.plot([x - 1.3, x - 0.7], [y + low, y + high], color="0.2", lw=1)
    ax.plot([x - 0.9, x - 0.9], [y - 0.8, y - 0.2], color="0.2", lw=1)
    ax.plot([x - 1.2, x - 1.2], [y - 0.68, y - 0.32], color="0.2", lw=1)
    ax.plot([x - 1.9, x - 1.9], [y - 0.8, y + 0.8], color="0.2", lw=1.4)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, color=colour,
                                 lw=1.6, shrinkA=0, shrinkB=0, zorder=6))  # fmt: skip


def _bare(ax: Axes, x: tuple[float, float], y: tuple[float, float]) -> None:
    ax.set(xlim=x, ylim=y, xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)


if __name__ == "__main__":
    main()
