"""Impacts of a robot's hand or foot: force, impulse and ZMP by [Tsujita2009], and in full."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heelstrike.impact.base import VirtualBase
    from heelstrike.impact.comparison import Comparison, compare
    from heelstrike.impact.estimating import estimate
    from heelstrike.impact.full import simulate_full
    from heelstrike.impact.mass import point_impact, virtual_mass
    from heelstrike.impact.moving import MotionRun, simulate_motion
    from heelstrike.impact.planning import PlannedHit, plan
    from heelstrike.impact.posing import Posture, posture
    from heelstrike.impact.target import Target

_HOMES = {
    "Comparison": "comparison",
    "MotionRun": "moving",
    "PlannedHit": "planning",
    "Posture": "posing",
    "Target": "target",
    "VirtualBase": "base",
    "compare": "comparison",
    "estimate": "estimating",
    "plan": "planning",
    "point_impact": "mass",
    "posture": "posing",
    "simulate_full": "full",
    "simulate_motion": "moving",
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
    """Imported when first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'heelstrike.impact' has no attribute '{name}'")
    return getattr(import_module(f"heelstrike.impact.{_HOMES[name]}"), name)
