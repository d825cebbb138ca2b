"""Impacts of a hand or foot: force, impulse and ZMP by [Tsujita2009], and by full simulation."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heelstrike.impact.base import VirtualBase
    from heelstrike.impact.comparison import Comparison, compare
    from heelstrike.impact.estimates import estimate
    from heelstrike.impact.full import simulate_full
    from heelstrike.impact.full_motion import MotionRun, simulate_motion
    from heelstrike.impact.mass import point_impact, virtual_mass
    from heelstrike.impact.planning import PlannedHit, plan
    from heelstrike.impact.posture_search import Posture, posture
    from heelstrike.impact.target import Target

_HOMES = {
    "Comparison": "comparison",
    "MotionRun": "full_motion",
    "PlannedHit": "planning",
    "Posture": "posture_search",
    "Target": "target",
    "VirtualBase": "base",
    "compare": "comparison",
    "estimate": "estimates",
    "plan": "planning",
    "point_impact": "mass",
    "posture": "posture_search",
    "simulate_full": "full",
    "simulate_motion": "full_motion",
    "virtual_mass": "mass",
}

__all__ = [
    "Comparison",
    "MotionRun",
    "PlannedHit",
    "Posture",
    "Target",
    "VirtualBase",
    "compare",
    "estimate",
    "plan",
    "point_impact",
    "posture",
    "simulate_full",
    "simulate_motion",
    "virtual_mass",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'heelstrike.impact' has no attribute '{name}'")
    return getattr(import_module(f"heelstrike.impact.{_HOMES[name]}"), name)
