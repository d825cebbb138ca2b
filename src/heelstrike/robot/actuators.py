"""Actuators and tendons of a robot: data, traced by step/actuators.py and step/tendons.py.

An actuator has a length l and a speed l_dot, which are linear in the joints, and pulls with

    f = (g_0 + g_1 l + g_2 l_dot) w + b_0 + b_1 l + b_2 l_dot,    within its force range

where w is its control u, within the control range, or its activation:

    integrator    w_dot = u
    filter        w_dot = (u - w) / T        filterexact: the same, integrated exactly
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Arms = tuple[tuple[int, float], ...]
"""Velocity indices with moment arms: l_dot is the sum of arm v, and each joint gets arm f."""
Range = tuple[float, float]
STOP_RATE = 100.0
"""Rate of the stops of a spatial tendon, sqrt(k / m) with the mass m that it moves [1/s]: under its
weight it stretches by 1 mm."""
DYNAMICS = ("none", "integrator", "filter", "filterexact")


Path = tuple[tuple[int, np.ndarray], ...]
"""Points of bodies, or of WORLD, along which a tendon runs straight: (body, place [m])."""


@dataclass(frozen=True, eq=False)
class BodyWrench:
    """Force and moment on a body that an actuator of unit force causes, in the body's frame."""

    body: int
    force: np.ndarray
    """(3,) [-]"""
    moment: np.ndarray
    """About the body's origin, (3,) [m]."""


@dataclass(frozen=True, eq=False)
class Actuator:
    """An actuator that acts on joints by moment arms, or on a body by a wrench."""

    name: str
    arms: Arms = ()
    wrench: BodyWrench | None = None
    """For an actuator of a site: it has no length, and the speed of the site along the wrench."""
    path: Path = ()
    """For an actuator of a spatial tendon."""
    gear: float = 1.0
    """Arm of the tendon of a path: l is gear times its length."""
    gain: tuple[float, float, float] = (1.0, 0.0, 0.0)
    """g_0, g_1, g_2."""
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """b_0, b_1, b_2."""
    dynamics: str = "none"
    """One of DYNAMICS."""
    time_constant: float = 0.0
    """T of a filter [s]."""
    control_range: Range | None = None
    force_range: Range | None = None
    activation_range: Range | None = None
    acts_early: bool = False
    """Whether the force takes the activation after the step instead of that before it."""

    @property
    def has_activation(self) -> bool:
        return self.dynamics != "none"

    @property
    def kind(self) -> str:
        """The shortcut of MJCF that it is: motor, position, velocity, intvelocity, damper, or
        general."""
        (g0, g1, g2), (b0, b1, b2) = self.gain, self.bias
        if not (g0 or g1 or any(self.bias)) and g2 < 0:
            return "damper"
        if g1 or g2 or b0:
            return "general"
        if not (b1 or b2):
            return "motor" if self.dynamics == "none" else "general"
        if b1 == -g0:
            return "intvelocity" if self.dynamics == "integrator" else "position"
        return "velocity" if not b1 and b2 == -g0 and self.dynamics == "none" else "general"


@dataclass(frozen=True, eq=False)
class Tendon:
    """A tendon whose length is linear in the joints: l = sum of arm q.

    It pulls with f = -stiffness (l - rest) - damping l_dot; within the rest range there is no
    spring force.
    """

    name: str
    arms: Arms
    stiffness: float = 0.0
    """[N/m], or N m/rad where all its joints are revolute and arms have no unit."""
    rest: Range = (0.0, 0.0)
    """Lengths between which the spring is slack."""
    damping: float = 0.0
    limit: Range | None = None
    """Range of l, at whose ends it has the stops of its joints."""


@dataclass(frozen=True, eq=False)
class SpatialTendon:
    """A tendon that runs straight from point to point; it pulls as a `Tendon` does."""

    name: str
    path: Path
    stiffness: float = 0.0
    """[N/m]"""
    rest: Range = (0.0, 0.0)
    """Lengths between which the spring is slack [m]."""
    damping: float = 0.0
    """[N s/m]"""
    limit: Range | None = None
    """Range of its length [m]."""
    stop: float = 0.0
    """Stiffness of the stops at the ends of that range [N/m]."""
