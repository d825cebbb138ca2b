"""What curves show over time: a contact, the CoM with CoP and ZMP, energies, or a joint.

The CoP of all contacts together is the mean of their places, weighted by normal force; CoP and ZMP
keep their last value while nothing touches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from heelstrike.view.browser.run_arrays import RunArrays

CONTACT, BALANCE, ENERGY, JOINT = "contact", "CoM, CoP and ZMP", "energy", "joint"
TOPICS = (CONTACT, BALANCE, ENERGY, JOINT)

Value = Callable[[RunArrays], np.ndarray]
"""Returns a number over time, (n,)."""


@dataclass(frozen=True)
class Plot:
    """One plot: numbers over time with one unit."""

    title: str
    """With the unit in brackets."""
    needs: tuple[str, ...]
    """Variables that a run must hold."""
    lines: dict[str, Value]
    """Numbers by name."""
    span: float
    """Smallest span of the axis, in the plot's unit: less is not worth a look."""
    from_zero: bool = True
    """Whether the axis contains zero."""


def topics(run: RunArrays) -> list[str]:
    """Return the topics of which a run holds something."""
    return [topic for topic in TOPICS if plots(run, topic, first_choice(run, topic))]


def choices(run: RunArrays, topic: str) -> tuple[str, ...]:
    """Return the contacts or the joints of which one is shown; none for the other topics."""
    if topic == CONTACT:
        return run.points
    if topic == JOINT:
        return tuple(joint.name for joint in run.robot.joints if joint.nq == joint.nv == 1)
    return ()


def first_choice(run: RunArrays, topic: str) -> str:
    """Return what is shown first: the most loaded contact, or the first joint."""
    names = choices(run, topic)
    return most_loaded(run) if topic == CONTACT and names else next(iter(names), "")


def most_loaded(run: RunArrays) -> str:
    """Return the contact with the largest normal force, or else the one nearest to a surface."""
    for name in ("normal_force", "depth"):
        largest = run.arrays.get(name, np.zeros((1, len(run.points)))).max(axis=0)
        if largest.any():
            break
    return run.points[int(np.argmax(largest))]


def plots(run: RunArrays, topic: str, choice: str) -> list[Plot]:
    """Return the plots of a topic whose variables a run holds; `choice`: a contact or a joint."""
    if choice not in choices(run, topic) and choices(run, topic):
        return []
    found: list[Plot] = []
    if topic == CONTACT and run.points:
        found = _contact(choice)
    elif topic == JOINT and choice:
        found = _joint(run, choice)
    elif topic == BALANCE:
        found = [_balance("forward, x [m]", 0), _balance("to the left, y [m]", 1)]
    elif topic == ENERGY:
        found = _energy()
    return [plot for plot in found if set(plot.needs) <= set(run.arrays)]


def _contact(name: str) -> list[Plot]:
    def at(variable: str, factor: float = 1.0) -> Value:
        return lambda run: factor * run.arrays[variable][:, run.points.index(name)]

    def friction(run: RunArrays) -> np.ndarray:
        """Return |f_t| from |f| and f_n [N]."""
        size = np.linalg.norm(at("force")(run), axis=-1)
        normal = np.abs(at("normal_force")(run))
        return np.sqrt(np.maximum(size - normal, 0) * (size + normal))

    def slip(run: RunArrays) -> np.ndarray:
        speed = np.linalg.norm(at("slip", 1e3)(run), axis=-1)
        return np.where(at("depth")(run) > 0, speed, 0.0)

    return [
        Plot("normal force [N]", ("normal_force",), {name: at("normal_force")}, 0.1),
        Plot("friction [N]", ("force", "normal_force"), {name: friction}, 0.1),
        Plot("depth [mm]", ("depth",), {name: at("depth", 1e3)}, 0.1),
        Plot("slip [mm/s]", ("slip", "depth"), {name: slip}, 1.0),
    ]


def _balance(title: str, axis: int) -> Plot:
    def cop(run: RunArrays) -> np.ndarray:
        load = np.maximum(run.arrays["normal_force"], 0.0)
        total, places = load.sum(axis=1), run.arrays["contact_position"][:, :, axis]
        return _held(np.where(total > 0, (load * places).sum(axis=1), np.nan) / (total + 1e-300))

    lines = {
        "CoM": lambda run: run.arrays["com"][:, axis],
        "CoP": cop,
        "ZMP": lambda run: _held(run.arrays["zmp"][:, axis]),
    }
    needs = ("com", "zmp", "contact_position", "normal_force")
    return Plot(title, needs, lines, 0.02, from_zero=False)


def _energy() -> list[Plot]:
    def given(variable: str) -> Value:
        return lambda run: run.arrays[variable]

    works = {
        "normal forces": "work_contact",
        "friction": "work_friction",
        "control": "work_control",
        "pushes": "work_push",
    }
    return [
        Plot("kinetic energy [J]", ("kinetic",), {"kinetic": given("kinetic")}, 0.02),
        Plot("potential energy [J]", ("potential",), {"potential": given("potential")}, 0.1, False),
        Plot(
            "work since start [J]",
            tuple(works.values()),
            {k: given(v) for k, v in works.items()},
            0.1,
        ),
    ]


def _joint(run: RunArrays, name: str) -> list[Plot]:
    joint = next(joint for joint in run.robot.joints if joint.name == name)
    slides = joint.kind == "prismatic"
    scale = 1e3 if slides else np.degrees(1.0)
    where, speed, effort = (
        ("position [mm]", "speed [mm/s]", "force [N]")
        if slides
        else ("angle [deg]", "speed [deg/s]", "torque [N m]")
    )
    return [
        Plot(where, ("q",), {name: lambda run: scale * run.arrays["q"][:, joint.iq]}, 0.5, False),
        Plot(speed, ("v",), {name: lambda run: scale * run.arrays["v"][:, joint.iv]}, 5.0),
        Plot(effort, ("torque",), {name: lambda run: run.arrays["torque"][:, joint.iv]}, 0.1),
    ]


def _held(value: np.ndarray) -> np.ndarray:
    """Return values whose gaps repeat the last finite one, or else the first."""
    known = np.isfinite(value)
    if not known.any():
        return np.zeros(len(value))
    last = np.maximum.accumulate(np.where(known, np.arange(len(value)), -1))
    return value[np.where(last < 0, int(np.argmax(known)), last)]
