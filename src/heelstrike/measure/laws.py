"""The same scene under several laws and steps, and under MuJoCo's contact: one yardstick.

    found = hs.compare_laws("stand", ["rigid", "hunt-crossley"], dt=[1e-3, 2e-3], mujoco=True)
    print(found); found["rigid, 1 ms"].run.plot(); found.as_dict()

Robot, state, control, contact points and friction are the same in every run. A law by name gets
numbers from `hs.suggest`, for the same depth and restitution in every step; "scene" is the scene's
own. Friction has one coefficient, the scene's mu_k: some laws, and MuJoCo, know no other.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from heelstrike.contact.choose import NAMES, friction_of, template
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.measure.compare import Comparison
from heelstrike.measure.measures import Measures, measured
from heelstrike.measure.peer.run import run_mujoco
from heelstrike.measure.peer.stability import largest_stable_step as mujoco_step
from heelstrike.measure.resting import NotAtRestError
from heelstrike.measure.stability import largest_stable_step
from heelstrike.measure.yardsticks import Yardsticks, yardsticks
from heelstrike.record.recording import Recording
from heelstrike.simulate.scene_file import SceneFile, load_scene
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.suggest import in_words, suggest

SCENE, ALL, MUJOCO = "scene", "all", "mujoco"
"""The scene's own law; all that hs.suggest knows; the column of MuJoCo."""
TURNS = 7
"""Runs of which the fastest gives the time of a step."""
CLEAR = 5e-3
"""Smallest difference between the time of a run and of one step that gives that time [s]."""


@dataclass(frozen=True)
class Column:
    """One run of the comparison."""

    name: str
    law: str
    dt: float
    words: str
    """The law with its numbers."""
    reasons: tuple[str, ...] = ()
    """Reasons for these parameters."""
    said: tuple[str, ...] = ()
    """Errors and warnings."""
    run: Recording | None = field(default=None, repr=False)
    yardsticks: Yardsticks = field(default_factory=Yardsticks, repr=False)
    measures: Measures = field(default_factory=Measures)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison, ready for JSON."""
        return {
            "name": self.name,
            "law": self.law,
            "dt": self.dt,
            "words": self.words,
            "reasons": list(self.reasons),
            "said": list(self.said),
            "measures": self.measures.as_dict(),
            "yardsticks": self.yardsticks.as_dict(),
        }


@dataclass(frozen=True)
class LawComparison(Mapping[str, Column]):
    """Runs of one scene by name; print() shows their yardsticks."""

    scene: str
    about: str
    settle: float
    """Time at the start that yardsticks leave out [s]."""
    duration: float
    columns: tuple[Column, ...]

    def __getitem__(self, name: str) -> Column:
        return {column.name: column for column in self.columns}[name]

    def __iter__(self) -> Iterator[str]:
        return (column.name for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def table(self) -> Comparison:
        """Yardsticks of all runs, as by hs.compare."""
        return Comparison({column.name: column.yardsticks for column in self.columns})

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison, ready for JSON."""
        return {
            "scene": self.scene,
            "about": self.about,
            "settle": self.settle,
            "duration": self.duration,
            "columns": [column.as_dict() for column in self.columns],
        }

    def __str__(self) -> str:
        return str(self.table)


def compare_laws(
    scene: str | SceneFile,
    laws: str | Sequence[str] = ALL,
    dt: float | Sequence[float] | None = None,
    mujoco: bool = False,
    depth: float = 1e-3,
    restitution: float = 0.3,
    settle: float | None = None,
    report: Callable[[str], None] = lambda name: None,
) -> LawComparison:
    """Run a scene under each law and step; `settle` is half of its duration by default.

    `report` is called with the name of each run before it starts.
    """
    made = scene if isinstance(scene, SceneFile) else load_scene(scene)
    made = made.changed(recording=replace(made.content.recording, every=1, variables="standard"))
    steps = [made.content.simulation.dt] if dt is None else np.atleast_1d(dt).tolist()
    steps = list(dict.fromkeys(steps))
    if not steps or not all(0 < step < 10 for step in steps):
        raise HeelstrikeError(f"dt are steps above 0 s, not {steps}")
    how = made.content.simulation
    settle = how.duration / 2 if settle is None else settle
    columns: list[Column] = []
    for law in law_names(laws):
        for step in steps:
            name = law if len(steps) == 1 else f"{law}, {1e3 * step:g} ms"
            report(name)
            columns.append(_column(made, name, law, step, (depth, restitution), settle))
    if mujoco:
        for step in steps:
            name = MUJOCO if len(steps) == 1 else f"{MUJOCO}, {1e3 * step:g} ms"
            report(name)
            columns.append(_mujoco_column(made, name, step, (depth, restitution), settle))
    return LawComparison(made.name, made.content.about, settle, how.duration, tuple(columns))


def law_names(laws: str | Sequence[str]) -> list[str]:
    """Return the named laws, each once; raise an error for an unknown name."""
    given = laws.split(",") if isinstance(laws, str) else list(laws)
    names = [word for name in given for word in (NAMES if name == ALL else (name.strip(),))]
    for name in names:
        if name != SCENE:
            template(name)
    if not names:
        raise HeelstrikeError(f"name laws: {', '.join((SCENE, *NAMES))}, or all")
    return list(dict.fromkeys(names))


def under(
    made: SceneFile, law: str, dt: float, wish: tuple[float, float]
) -> tuple[SceneFile, str, tuple[str, ...]]:
    """Return the scene with a law and a step, the law in words, and the reasons for its
    parameters.
    """
    if not made.content.surface:
        raise HeelstrikeError(f"scene '{made.name}' has no surface, so no law to compare")
    timed = made.changed(simulation=replace(made.content.simulation, dt=dt))
    if law == SCENE:
        own = [f"{s.name}: {in_words(s.law)}" for s in made.scene.surfaces]
        return timed, "; ".join(own), ("as the scene has it",)
    surfaces, found = [], {}
    for surface in made.content.surface:
        mu = friction_of(surface.law).mu_k
        found[surface.name] = suggest(
            made.scene,
            law,
            dt,
            *wish,
            q=made.start[0],
            control=made.control,
            friction=Coulomb(mu, mu),
        )
        surfaces.append(replace(surface, law=found[surface.name].law))
    changed = timed.changed(surface=tuple(surfaces), materials={})
    words = _by_surface({name: in_words(one.law) for name, one in found.items()})
    return changed, words, tuple(dict.fromkeys(r for one in found.values() for r in one.reasons))


def _by_surface(words: dict[str, str]) -> str:
    """Return the laws of several surfaces, each after the names of its surfaces."""
    names: dict[str, list[str]] = {}
    for name, text in words.items():
        names.setdefault(text, []).append(name)
    if len(names) == 1:
        return next(iter(names))
    return "; ".join(f"{', '.join(of)}: {text}" for text, of in names.items())


def _column(
    made: SceneFile, name: str, law: str, dt: float, wish: tuple[float, float], settle: float
) -> Column:
    own, words, reasons = under(made, law, dt, wish)
    try:
        sim = own.simulator()
    except HeelstrikeError as error:
        return Column(name, law, dt, words, reasons, (str(error),))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", HeelstrikeWarning)
        run = own.run_on(sim, progress=False)
    took = _step_time(own, sim, int(run.info["steps"]))
    said = tuple(dict.fromkeys(str(w.message) for w in told))
    stable, why = _stable(lambda: largest_stable_step(own))
    return Column(
        name,
        law,
        dt,
        words,
        reasons,
        said + why,
        run,
        yardsticks(run, settle=settle),
        measured(run, own.scene, stable, took),
    )


def _stable(largest: Callable[[], float]) -> tuple[float, tuple[str, ...]]:
    """Return the largest stable step [s] and, where it is NaN, the reason."""
    try:
        return largest(), ()
    except NotAtRestError as reason:
        return float("nan"), (str(reason),)


def _step_time(made: SceneFile, sim: Simulator, steps: int) -> float:
    """Return the CPU time of a recorded step [s]: that of a run less that of a single step.

    A run that takes hardly longer than one step is extended; its results are not used.
    """
    q0, v0 = made.start

    def taken(count: int) -> float:
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HeelstrikeWarning)
            sim.run(steps=count, q0=q0, v0=v0, record="standard", progress=False, check=False)
        return time.process_time() - began

    def least(count: int) -> float:
        return min(taken(count) for _ in range(TURNS))

    one, steps = least(1), max(steps, 2)
    while (more := least(steps) - one) < CLEAR:
        steps *= 4
    return more / (steps - 1)


def _mujoco_column(
    made: SceneFile, name: str, dt: float, wish: tuple[float, float], settle: float
) -> Column:
    words = "MuJoCo's own contact at its defaults, elliptic cone, friction of three dimensions"
    own, _, _ = under(made, "rigid", dt, wish)
    try:
        like = own.run(progress=False)
        run, took = run_mujoco(own, like)
        stable, why = _stable(lambda: mujoco_step(own))
    except HeelstrikeError as error:
        return Column(name, MUJOCO, dt, words, (), (str(error),))
    judged = yardsticks(run, settle=settle)
    return Column(
        name, MUJOCO, dt, words, (), why, run, judged, measured(run, own.scene, stable, took)
    )
