"""Box 8 of [Sugihara2006], Fig. 4: joint torques that depend on the acceleration they cause.

    tau = now - slope a + rows

A servo, joint damping, a stop and dry friction all have this form. The slope joins the diagonal of
H, so that stiff servos and light joints stay stable at any step. Rows are straight in pieces
(contact/solver/joint_rows.py): a torque limit, a stop, dry friction. limits.py finds the pieces on
which they are; where contacts couple, contact/solver/swept.py does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca

from heelstrike.contact.solver.joint_rows import Piecewise
from heelstrike.spatial.vector import SX

Limbs = Sequence[tuple[str, Sequence[int]]]
"""Names of limbs, and the velocity indices of each."""
Rows = dict[int, tuple[Piecewise, ...]]
"""What is straight in pieces, by velocity index."""


@dataclass(frozen=True)
class Torque:
    """A torque by velocity index [N m or N], as symbols."""

    now: SX
    """Torque at zero acceleration, without rows."""
    slope: SX
    """Decrease of the torque with the acceleration, >= 0 [kg m^2 or kg]."""
    rows: Rows = field(default_factory=dict)
    """What is straight in pieces."""
    cheap: bool = False
    """Whether `now` is recomputed wherever it is needed instead of stored."""


@dataclass(frozen=True)
class LimitedSolution:
    """Accelerations and the torques that cause them."""

    a: SX
    """Joint accelerations."""
    applied: list[SX]
    """Torques in the order of the arguments [N m or N]."""
    sliding: SX
    """Whether each joint with dry friction slides, 1 or 0."""
    counted: SX
    """Sum of what the solves counted, over all rounds."""


def by_joint(limbs: Limbs) -> list[tuple[str, int]]:
    """Return each velocity index with the name of its limb."""
    return [(limb, i) for limb, indices in limbs for i in indices]


def clamped(tau: SX, limit: SX, limited: Sequence[int]) -> SX:
    """Return the torque with its limited entries within +-limit."""
    result = SX(tau)
    for i in limited:
        result[i] = ca.fmax(-limit[i], ca.fmin(limit[i], tau[i]))
    return result
