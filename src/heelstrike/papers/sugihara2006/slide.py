"""A mass on a vertical slide above the floor, for the micro part of the paper.

The robot is the bundled `foot`, 1 kg or 5 kg on one contact point. n points that touch together are
n planes at one height: a plane that is let down takes its point out of contact, so that every world
of a batch may have its own n.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import heelstrike as hs
from heelstrike.contact.law import NormalLaw
from heelstrike.papers.sugihara2006.closed_form import C, K

SCHEMES = ("symplectic", "euler")
EQUATIONS = (13, 14)
NAMES = {"symplectic": "symplectic", "euler": "explicit"}


def law(equation: int, linear: bool = False) -> NormalLaw:
    """(13), or (14); `linear` damps both ways and keeps tension: one matrix makes a step."""
    spring = hs.LinearSpring(K, C)
    if linear:
        spring = hs.LinearSpring(K, C, damping="both", adhesive=True)
    return spring if equation == 13 else hs.TimestepDamper(spring)


def parameter(equation: int, name: str, surface: str = "floor") -> str:
    """Path of the spring's k or c."""
    return f"{surface}.normal.{'law.' if equation == 14 else ''}{name}"


def simulator(
    equation: int, scheme: str = "symplectic", linear: bool = False, planes: int = 1
) -> hs.Simulator:
    """Return a mass above one plane called floor, or above several called floor 1, floor 2, ..."""
    names = ["floor"] if planes == 1 else [f"floor {i}" for i in range(1, planes + 1)]
    chosen = hs.Elastic(law(equation, linear), friction=None)
    scene = hs.Scene(hs.load("foot"), *(hs.Plane(name=name, law=chosen) for name in names))
    return hs.Simulator(scene, integrator=scheme)


def run(
    sim: hs.Simulator,
    depth: np.ndarray,
    rate: np.ndarray,
    steps: int,
    vary: Mapping[str, Any],
    record: str | tuple[str, ...] = "final",
) -> hs.Recording:
    """Worlds from depths and rates; those that diverge are meant to, and are marked `failed`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)
        return sim.run(
            steps=steps,
            q0=-depth[:, None],
            v0=-rate[:, None],
            worlds=len(depth),
            vary=vary,
            record=record,
            progress=False,
            check=False,
        )
