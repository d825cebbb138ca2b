"""The target of a hit, and the contact between hand and target along one line [Tsujita2009] fig 1,
fig 9.

    d = x_h - x_t - gap,   d' = v_h - v_t,   f = law(d, d')          force on the target, > 0 pushes
    m_t v_t' = f - k x_t - c v_t

x_h and x_t are displacements along the direction of the hit since the start. A target of infinite
mass keeps its velocity: it is fixed, or moves at constant speed.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.checks import array_of_numbers
from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.surface_law import PointState
from heelstrike.errors import HeelstrikeError
from heelstrike.ir.program import Program
from heelstrike.parameters import parameters, structure, with_values
from heelstrike.spatial.vector import SX, zeros

SKIN = 1e-12
"""Depth at which a hit without gap begins [m]: at d = 0 a law gives no force yet, and a damper's
first force, the largest of [Tsujita2009], would come a step late."""


@dataclass(frozen=True)
class Target:
    """A target on a line: free, on a spring, fixed (mass np.inf) or moving.

    Values are numbers, or arrays with one per hit.
    """

    mass: ArrayLike = 5.0
    """Mass [kg]; np.inf: it cannot be moved."""
    velocity: ArrayLike = 0.0
    """Initial velocity along the direction of the hit [m/s]; negative: towards the hand."""
    k: ArrayLike = 0.0
    """Stiffness of a spring that holds it in place [N/m]."""
    c: ArrayLike = 0.0
    """Damping beside the spring [N s/m]."""
    gap: ArrayLike = 0.0
    """Initial distance between hand and target [m]."""

    def __post_init__(self) -> None:
        for name in ("mass", "velocity", "k", "c", "gap"):
            value = array_of_numbers(getattr(self, name))
            fixed = value is not None and name == "mass" and not np.isnan(value).any()
            if value is None or not (fixed or np.isfinite(value).all()):
                raise HeelstrikeError(f"a target's {name} is a number, not {getattr(self, name)}")
        if np.any(np.asarray(self.mass) <= 0):
            raise HeelstrikeError(
                f"a target's mass is above 0 kg (np.inf: fixed), not {self.mass}; a hit of nothing "
                "has no force"
            )
        if np.any(np.asarray(self.k) < 0) or np.any(np.asarray(self.c) < 0):
            raise HeelstrikeError("a target's spring and damper are at least 0")
        if np.any(np.asarray(self.gap) < 0):
            raise HeelstrikeError(
                f"the hand is already {-np.min(self.gap):g} m inside the target; start with "
                "gap >= 0, where they touch or are apart"
            )

    def inputs(self) -> dict[str, ArrayLike]:
        """Return the values by the names of program inputs."""
        return {
            "target.yield": 1 / np.asarray(self.mass, dtype=float),
            "target.k": self.k,
            "target.c": self.c,
            "target.gap": self.gap,
        }


def check_law(law: NormalLaw) -> None:
    """Raise an error if the law is not a normal law."""
    if not isinstance(law, NormalLaw):
        raise HeelstrikeError(
            f"the contact of a hit is a normal law, such as hs.LinearSpring(k=1e4, c=300), not "
            f"{law!r}"
        )


class Line:
    """Hand and target on their line, in a program."""

    def __init__(self, p: Program, law: NormalLaw, dt: SX) -> None:
        self.dt = dt
        values = {path: p.input(f"law.{path}", v.size) for path, v in parameters(law).items()}
        self.law = Elastic(with_values(law, values), friction=None)
        self.softness, self.k = p.input("target.yield", 1), p.input("target.k", 1)
        self.c, self.gap = p.input("target.c", 1), p.input("target.gap", 1)
        size = law.memory_size
        self.memory = p.memory("law memory", size) if size else SX(0, 1)

    def force(self, hand: SX, hand_rate: SX, moved: SX, rate: SX) -> tuple[SX, SX]:
        """Return f [N] and the law's next memory."""
        depth = hand - moved - self.gap + SKIN
        state = PointState(depth, hand_rate - rate, zeros(2), zeros(2), self.dt, SX(0), self.memory)
        touch = self.law.force(state)
        return touch.normal, touch.memory

    def acceleration(self, force: SX, moved: SX, rate: SX) -> SX:
        """Return the acceleration of the target [m/s^2]."""
        return self.softness * (force - self.k * moved - self.c * rate)

    def account(self, p: Program, force: SX, memory: SX) -> None:
        """Update the law's memory, peak, duration and first separation, in a block of the
        program.
        """
        if memory.numel():
            p.update("law memory", memory)
        touching = force > 0
        p.update_max("peak", force)
        p.update_sum("duration", ca.if_else(touching, self.dt, 0))
        last = p.memory("touched", 1)
        p.update("touched", ca.fmax(last, ca.if_else(touching, 1, 0)))
        p.update_first("separated", ca.logic_and(last > 0, ca.logic_not(touching)))


def law_inputs(law: NormalLaw) -> dict[str, np.ndarray]:
    """Return the values of a law's parameters by the names of program inputs."""
    return {f"law.{path}": value for path, value in parameters(law).items()}


def law_key(law: NormalLaw) -> object:
    """Return the part of the cache key that identifies the code of a law."""
    return structure(law)
