"""Criteria that end the passes of the coupled problem (passes.py)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

SINGLE = 1e-7
"""Tolerance above which numbers are float32."""


class Ended(IntEnum):
    """Criterion that ended a solve; where several did, the last of them in this order."""

    NO_CONTACT = 0
    """Nothing touches."""
    SETTLED = 1
    """A pass changed velocities by less than the limit."""
    RESTS = 2
    """After a few passes, contacts that all rest changed by less than `resting` limits."""
    CREEPS = 3
    """Slips that are left, within their limit, are no longer reduced by passes."""
    ROUNDING = 4
    """Newton's method ended the last pass at the rounding of velocities, not at the tolerance."""
    LIMIT = 5
    """The limit of rounds."""


@dataclass(frozen=True)
class Accuracy:
    """Limits; velocities are shares of the largest free velocity."""

    rounds: int = 500
    """Evaluations, over all passes; at the limit the impulses of the last pass are taken."""
    sticks: float = 1e-5
    """Slip left to a sticking point above which it slides."""
    settled: float = 7e-7
    """Change of velocity from pass to pass below which the passes end."""
    stalls: float = 1e-4
    """Velocity left that ends the passes where they no longer change it,"""
    lasts: int = 10
    """in so many of them, made after it was judged what slides."""
    patient: int = 3
    """Passes after which contacts that all rest need not settle so far:"""
    resting: float = 100.0
    """times both above; the next step goes on from here."""
    turning: float = 1e-3
    """Share of a sliding point's friction that may still turn; the next step goes on from there."""
    rubbing: float = 1e-6
    """Share of it that may still grow."""
    plain: int = 6
    """Passes that change impulses by no more than they find (passes.py)."""
    judged: int = 20
    """Passes after which a slip counts even if impulses still change."""
    long: int = 20
    """Passes after which each anchor follows the impulse of its point, and after which a pass
    between moving bodies that hardly helps halves compliances,"""
    firmest: float = 1e-3
    """down to this share of the first;"""
    firms: bool = False
    """between a body and the ground too."""
    thorough: int = 20
    """Passes at least, where derivatives are wanted and something slides."""


USUAL = Accuracy()
EXACT = Accuracy(
    rounds=3000,
    sticks=1e-9,
    settled=1e-10,
    stalls=1e-6,
    lasts=100,
    resting=1.0,
    turning=1e-9,
    rubbing=1e-11,
    firms=True,
)
"""Signorini's condition and Coulomb's law to 1e-8."""
