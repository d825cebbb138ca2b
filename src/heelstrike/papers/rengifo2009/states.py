"""Section I: 10 ways for a foot to touch, 100 for a biped; here no event or state is needed.

hoap1 is thrown onto its soles, tilted by up to 30 degrees and moving, 64 times; its servo holds the
stance. Every millisecond each foot is none, on one of four vertices, on one of four edges, or on
its face; what the paper leaves out, diagonals and three vertices, is counted apart.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.report import Result, finished, meets, near

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

WORLDS, DURATION, DT = 64, 0.8, 1e-3
TILT, SPEED = np.radians(30), 0.5
"""Largest [rad], [m/s]; ours."""
OTHER = 10
"""A state that is none of the ten."""


@cache
def thrown() -> xr.Dataset:
    """One world a throw."""
    robot = hs.load("hoap1", collide="feet")
    scene = hs.Scene(robot, hs.Plane(law=hs.FeedbackLinearized()))
    sim = hs.Simulator(scene, dt=DT, control=hs.Servo())
    random = np.random.default_rng(2009)
    q0 = np.tile(robot.pose("stance"), (WORLDS, 1))
    tilt = random.uniform(-TILT, TILT, (WORLDS, 2)) / 2
    q0[:, 3:5], q0[:, 5] = tilt, 0
    q0[:, 6] = np.sqrt(1 - (tilt**2).sum(axis=1))
    q0[:, 2] += 0.03
    v0 = np.zeros((WORLDS, robot.nv))
    v0[:, :6] = random.uniform(-1, 1, (WORLDS, 6)) * [SPEED, SPEED, SPEED, 2, 2, 2]
    steps = round(DURATION / DT)
    record = ("depth", "solver_unfinished")
    run = sim.run(
        steps=steps, q0=q0, v0=v0, worlds=WORLDS, record=record, progress=False, check=False
    )
    return finished(run, steps)


def names() -> dict[frozenset[int], int]:
    """Return the ten states of a foot, by its touching vertices; edges join vertices that share x
    or y.
    """
    robot = hs.load("hoap1", collide="feet")
    body = robot.points[0].body
    corners = np.array([point.position[:2] for point in robot.points if point.body == body])
    sets = [frozenset(), *(frozenset({i}) for i in range(4))]
    sets += [
        frozenset({i, j})
        for i in range(4)
        for j in range(i)
        if np.isclose(corners[i], corners[j]).any()
    ]
    sets.append(frozenset(range(4)))
    return {each: k for k, each in enumerate(sets)}


def states(data: xr.Dataset) -> np.ndarray:
    """Return the state of each foot, (world, time, foot)."""
    known = names()
    code = np.array(
        [known.get(frozenset(i for i in range(4) if bits >> i & 1), OTHER) for bits in range(16)]
    )
    inside = data.depth.values > 0
    bits = (inside.reshape(*inside.shape[:2], 2, 4) << np.arange(4)).sum(axis=-1)
    return np.asarray(code[bits])


def visited() -> Result:
    """Return how many of the hundred states occurred."""
    data = thrown()
    found = states(data)
    flat = found.reshape(-1, 2)
    ten = (flat < OTHER).all(axis=1)
    pairs = {tuple(pair) for pair in flat[ten].tolist()}
    events = int((np.diff(found, axis=1) != 0).any(axis=-1).sum())
    ways = len(set(flat[flat < OTHER].tolist()))
    unfinished = float(data.solver_unfinished.values.mean())
    rows = [
        near(
            "ways of a foot visited",
            ways,
            None,
            0,
            10,
            "In the air, on each of four vertices, on each of four edges, on the face.",
        ),
        meets(
            "states of the robot visited",
            len(pairs),
            least=50,
            remark="Of the paper's 100 possible ones; throws do not come to all of them.",
        ),
        meets("changes of state, none of them an event", events, least=1000),
        meets(
            "share of steps with a diagonal or three vertices",
            float((~ten).mean()),
            most=0.1,
            remark="The paper's ten leave out six of sixteen.",
        ),
        meets("share of steps at the solver's limit", unfinished, most=0.01),
    ]
    return Result(
        "states",
        "contact states",
        "Each foot may touch in 10 ways, so an event-driven simulator has 100 states; the "
        "law needs none of them.",
        tuple(rows),
        lambda: _draw(flat[ten]),
    )


def _draw(flat: np.ndarray) -> Figure:
    from heelstrike.view import plot

    figure, (ax,) = plot.figure(size=(5.6, 4.8))
    counts = np.zeros((10, 10))
    np.add.at(counts, (flat[:, 0], flat[:, 1]), 1)
    shade = ax.pcolormesh(np.log10(np.where(counts > 0, counts, np.nan)), cmap="Blues")
    ax.grid(False)
    label = ["none", *"vvvv", *"eeee", "face"]
    ticks = np.arange(10) + 0.5
    ax.set(xticks=ticks, yticks=ticks, xticklabels=label, yticklabels=label)
    plot.label(ax, "Steps in each of the 100 states", "one foot", "the other")
    figure.colorbar(shade, ax=ax, label="log10 of steps")
    return figure
