"""Parameters of a contact law from measurements, which [Marhefka1996] leaves to future work.

    hs.identify({"speed": v, "e": e}, hs.HuntCrossley())                      bounces.py
    hs.identify({"depth": d, "depth_rate": w, "force": f}, hs.HuntCrossley()) loops.py
    hs.identify({"time": t, "force": f}, hs.HuntCrossley(), mass=2.0)         plate.py
    hs.identify(run, hs.Elastic(...), {"normal.k": (1e3, 1e5)})               motions.py

What the table holds says what is compared. Where motions depend smoothly on parameters: least
squares, slopes.py. Where they do not, a `loss` of each motion is made small, search.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.restitution import Floats
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.identification.assembly import Assembly
from heelstrike.identification.bounces import Bounces
from heelstrike.identification.identified import Identified, of_search, of_slopes
from heelstrike.identification.inertia import expanded
from heelstrike.identification.loops import Loop, changed
from heelstrike.identification.motions import (
    Motions,
    PoseErrors,
    Rollouts,
    differences,
    motions,
    pose_errors,
)
from heelstrike.identification.plate import PlateForces
from heelstrike.identification.progress import search_bar
from heelstrike.identification.search import Report
from heelstrike.identification.search import search as search_sets
from heelstrike.identification.slopes import least_squares
from heelstrike.identification.space import Search, Space, around
from heelstrike.identification.tables import FORCE_OVER_DEPTH, FORCE_OVER_TIME, MOTION, kind_of
from heelstrike.parameters import parameters
from heelstrike.record.recording import Recording
from heelstrike.scene.scene import Scene
from heelstrike.scene.surfaces import Plane
from heelstrike.simulate.simulator import Simulator

GROUND = "ground."


def identify(
    measured: Recording | Mapping[str, Any] | Sequence[Any],
    model: SurfaceLaw | NormalLaw | Simulator,
    search: Search | None = None,
    *,
    loss: Callable[[PoseErrors], Floats] | None = None,
    noise: tuple[float, float] = (1e-3, 1e-2),
    mass: float = 1.0,
    dt: float = 1e-4,
    sets: int = 48,
    rounds: int = 10,
    seed: int = 0,
    progress: bool | None = None,
) -> Identified:
    """Find the parameters that explain measurements best, with intervals.

    Combinations that the data do not determine are reported.

    `model` is a law, on flat ground under the recording's own robot, or a simulator. `search` gives
    ranges by path, (least, most); without it, a decade to each side of every number of the law.
    `noise` of positions [m] and angles [rad]: their ratio weighs the two. `mass` [kg] and `dt` [s]
    are of bounces and of forces over time. `loss` makes it a search in `rounds` of `sets`, with a
    number for each motion. `progress` shows a bar with the best loss so far; None shows one in a
    terminal.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)  # of sets that diverge
        with search_bar("identifying", progress) as report:
            effort = (sets, rounds, seed)
            found = _found(measured, model, search, loss, noise, (mass, dt), effort, report)
    for name in found.at_end:
        warnings.warn(
            f"{name} = {found.values[name]:.4g} lies at an end of its range: the data ask for a "
            "value outside; widen the range before you use it",
            HeelstrikeWarning,
            stacklevel=2,
        )
    return found


def _found(
    measured: Any,
    model: Any,
    search: Search | None,
    loss: Callable[[PoseErrors], Floats] | None,
    noise: tuple[float, float],
    impact: tuple[float, float],
    effort: tuple[int, int, int],
    report: Report,
) -> Identified:
    """Return what is found from motions or from a table; `impact` has a mass and a step."""
    if _is_motion(measured):
        return _from_motions(measured, model, search, loss, noise, effort, report)
    if isinstance(model, Simulator) or loss is not None:
        raise HeelstrikeError("a simulator and a loss are for motions: tables with time, q and v0")
    sets, _, seed = effort
    space = _space(model, search)
    compared = _table(measured, model, space, *impact)
    found = least_squares(compared, compared.space, sets, seed, report)
    law: Any = model
    for name, paths in zip(space.names, space.paths, strict=True):
        for path in paths:
            value = float(np.exp(found.x[space.names.index(name)]))
            law = changed(law, path, value)
    return of_slopes(compared.space, found, law)


def _is_motion(measured: Any) -> bool:
    if isinstance(measured, Recording | str):
        return isinstance(measured, Recording)
    return isinstance(measured, Sequence) or kind_of(measured) == MOTION


def _table(
    measured: Any, law: Any, space: Space, mass: float, dt: float
) -> Loop | PlateForces | Bounces:
    kind = kind_of(measured)
    if kind == FORCE_OVER_DEPTH:
        return Loop(measured, law, space, dt)
    own = space.prefixed("normal.") if isinstance(law, NormalLaw) else space
    return (PlateForces if kind == FORCE_OVER_TIME else Bounces)(measured, law, own, mass, dt)


def _space(law: object, search: Search | None) -> Space:
    if not isinstance(law, SurfaceLaw | NormalLaw):
        raise HeelstrikeError(
            f"identify takes a law, such as hs.HuntCrossley(), or a simulator, not {law!r:.60}"
        )
    return Space.of(search if search is not None else around(parameters(law)))


def _from_motions(
    measured: Any,
    model: Any,
    search: Search | None,
    loss: Callable[[PoseErrors], Floats] | None,
    noise: tuple[float, float],
    effort: tuple[int, int, int],
    report: Report,
) -> Identified:
    sim, space, prefix = _simulator(measured, model, search)
    long = space.prefixed(prefix)
    assembly = Assembly(sim, [path for one in long.paths for path in one])
    rollouts = Rollouts(sim, motions(measured), assembly)
    sets, rounds, seed = effort
    if loss is None:
        compared = _compared(rollouts, long, noise)
        found = of_slopes(space, least_squares(compared, space, sets, seed, report), sim)
    else:
        losses = _losses(rollouts, long, loss)
        tried = search_sets(losses, space, sets, rounds, seed, report)
        found = of_search(space, tried, tried.again(np.random.default_rng(seed)), sim)
    best = np.log([list(found.values.values())])
    for path, value in assembly(long.values(best)).items():
        sim.parameters[path] = value[0]
    return found


def _simulator(measured: Any, model: Any, search: Search | None) -> tuple[Simulator, Space, str]:
    """Return the simulator of a model, its space, and the prefix of its paths."""
    if isinstance(model, Simulator):
        if search is None:
            raise HeelstrikeError(
                "say which of the simulator's parameters are searched, and where: "
                "search={'ground.normal.k': (1e3, 1e5)}"
            )
        return model, Space.of(expanded(search)), ""
    space = _space(model, search)
    first = measured[0] if isinstance(measured, Sequence) and measured else measured
    if not isinstance(first, Recording) or isinstance(model, NormalLaw):
        raise HeelstrikeError(
            "a law alone goes with a recording, and is a surface's, such as hs.Elastic(...); with "
            "a table of poses give a simulator: hs.Simulator(hs.Scene(robot, ground), dt)"
        )
    info = first.info
    scene = Scene(first.robot, Plane(name=GROUND[:-1], law=model))
    sim = Simulator(scene, dt=info["dt"], integrator=info["integrator"])
    return sim, space, GROUND


def _compared(
    rollouts: Rollouts, space: Space, noise: tuple[float, float]
) -> Callable[[Floats], Floats]:
    """Return the weighted differences of all measured frames."""
    measured: Motions = rollouts.measured
    robot = rollouts.sim.robot
    parts = differences(robot, measured.q, measured.q)
    known = [np.isfinite(part) & (np.arange(part.shape[1]) > 0)[:, None] for part in parts]

    def compared(x: Floats) -> Floats:
        made = differences(robot, rollouts.poses(space.values(x)), measured.q)
        flat = [d[:, k] / s for d, k, s in zip(made, known, noise, strict=True)]
        return np.concatenate(flat, axis=1)

    return compared


def _losses(
    rollouts: Rollouts, space: Space, loss: Callable[[PoseErrors], Floats]
) -> Callable[[Floats], Floats]:
    """Return the loss of each set and motion."""

    def losses(x: Floats) -> Floats:
        found = pose_errors(
            rollouts.sim.robot, rollouts.poses(space.values(x)), rollouts.measured.q
        )
        made = np.asarray(loss(found), dtype=float)
        if made.shape != (len(x), len(rollouts.measured)):
            raise HeelstrikeError(
                "a loss gives one number a motion: the mean over the last axis, say; this one "
                f"gives shape {made.shape} of {found.position.shape}"
            )
        return np.where(np.isfinite(made), made, np.inf)

    return losses
