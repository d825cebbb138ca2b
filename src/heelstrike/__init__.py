"""Heelstrike: a contact laboratory and simulator for legged and humanoid robots."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heelstrike import impact, motion
    from heelstrike.compile.cpu import compile_program
    from heelstrike.compile.program import Program
    from heelstrike.contact.bristle import Bristle
    from heelstrike.contact.contact import where
    from heelstrike.contact.coulomb import Coulomb
    from heelstrike.contact.custom import friction_law, normal_law
    from heelstrike.contact.elastic import Elastic
    from heelstrike.contact.feedback_linearized import FeedbackLinearized
    from heelstrike.contact.hunt_crossley import HuntCrossley
    from heelstrike.contact.kinetic import Kinetic
    from heelstrike.contact.linear_spring import LinearSpring
    from heelstrike.contact.micro_macro import MicroMacro
    from heelstrike.contact.poisson_spring import PoissonSpring
    from heelstrike.contact.rigid import Rigid
    from heelstrike.contact.signorini import Signorini
    from heelstrike.contact.timestep_damper import TimestepDamper
    from heelstrike.environments import Environments, Pushes
    from heelstrike.errors import (
        HeelstrikeError,
        HeelstrikeWarning,
        LoadError,
        ProgramError,
        SceneError,
        TraceError,
    )
    from heelstrike.fit.identify import identify
    from heelstrike.impact.base import VirtualBase
    from heelstrike.impact.mass import virtual_mass
    from heelstrike.impact.target import Target
    from heelstrike.measure.compare import compare
    from heelstrike.measure.laws import compare_laws
    from heelstrike.measure.yardsticks import yardsticks
    from heelstrike.robot import Point, Robot, bundled, combine, load
    from heelstrike.scene_files import SceneFile, load_scene, scenes
    from heelstrike.simulate.controller import controller
    from heelstrike.simulate.joints import Stops
    from heelstrike.simulate.recording import Recording
    from heelstrike.simulate.scene import Scene
    from heelstrike.simulate.servo import Servo, Trajectory
    from heelstrike.simulate.simulator import Simulator
    from heelstrike.simulate.suggest import suggest
    from heelstrike.simulate.surface import (
        Box,
        Capsule,
        HeightField,
        Plane,
        Sphere,
        Stairs,
        Treadmill,
    )
    from heelstrike.sweeps.sweep import sweep

__version__ = "0.1.0"

_HOMES = {
    "Box": "heelstrike.simulate.surface",
    "Bristle": "heelstrike.contact.bristle",
    "Capsule": "heelstrike.simulate.surface",
    "Coulomb": "heelstrike.contact.coulomb",
    "Elastic": "heelstrike.contact.elastic",
    "Environments": "heelstrike.environments",
    "FeedbackLinearized": "heelstrike.contact.feedback_linearized",
    "HeelstrikeError": "heelstrike.errors",
    "HeelstrikeWarning": "heelstrike.errors",
    "HeightField": "heelstrike.simulate.surface",
    "HuntCrossley": "heelstrike.contact.hunt_crossley",
    "Kinetic": "heelstrike.contact.kinetic",
    "LinearSpring": "heelstrike.contact.linear_spring",
    "LoadError": "heelstrike.errors",
    "MicroMacro": "heelstrike.contact.micro_macro",
    "Plane": "heelstrike.simulate.surface",
    "Point": "heelstrike.robot",
    "PoissonSpring": "heelstrike.contact.poisson_spring",
    "Program": "heelstrike.compile.program",
    "ProgramError": "heelstrike.errors",
    "Pushes": "heelstrike.environments",
    "Recording": "heelstrike.simulate.recording",
    "Rigid": "heelstrike.contact.rigid",
    "Robot": "heelstrike.robot",
    "Scene": "heelstrike.simulate.scene",
    "SceneError": "heelstrike.errors",
    "SceneFile": "heelstrike.scene_files",
    "Servo": "heelstrike.simulate.servo",
    "Signorini": "heelstrike.contact.signorini",
    "Simulator": "heelstrike.simulate.simulator",
    "Sphere": "heelstrike.simulate.surface",
    "Stairs": "heelstrike.simulate.surface",
    "Stops": "heelstrike.simulate.joints",
    "Target": "heelstrike.impact.target",
    "TimestepDamper": "heelstrike.contact.timestep_damper",
    "TraceError": "heelstrike.errors",
    "Trajectory": "heelstrike.simulate.servo",
    "Treadmill": "heelstrike.simulate.surface",
    "VirtualBase": "heelstrike.impact.base",
    "bundled": "heelstrike.robot",
    "combine": "heelstrike.robot",
    "compare": "heelstrike.measure.compare",
    "compare_laws": "heelstrike.measure.laws",
    "compile_program": "heelstrike.compile.cpu",
    "controller": "heelstrike.simulate.controller",
    "friction_law": "heelstrike.contact.custom",
    "identify": "heelstrike.fit.identify",
    "load": "heelstrike.robot",
    "load_scene": "heelstrike.scene_files",
    "normal_law": "heelstrike.contact.custom",
    "scenes": "heelstrike.scene_files",
    "suggest": "heelstrike.simulate.suggest",
    "sweep": "heelstrike.sweeps.sweep",
    "virtual_mass": "heelstrike.impact.mass",
    "where": "heelstrike.contact.contact",
    "yardsticks": "heelstrike.measure.yardsticks",
}

__all__ = [
    "Box",
    "Bristle",
    "Capsule",
    "Coulomb",
    "Elastic",
    "Environments",
    "FeedbackLinearized",
    "HeelstrikeError",
    "HeelstrikeWarning",
    "HeightField",
    "HuntCrossley",
    "Kinetic",
    "LinearSpring",
    "LoadError",
    "MicroMacro",
    "Plane",
    "Point",
    "PoissonSpring",
    "Program",
    "ProgramError",
    "Pushes",
    "Recording",
    "Rigid",
    "Robot",
    "Scene",
    "SceneError",
    "SceneFile",
    "Servo",
    "Signorini",
    "Simulator",
    "Sphere",
    "Stairs",
    "Stops",
    "Target",
    "TimestepDamper",
    "TraceError",
    "Trajectory",
    "Treadmill",
    "VirtualBase",
    "bundled",
    "combine",
    "compare",
    "compare_laws",
    "compile_program",
    "controller",
    "friction_law",
    "identify",
    "impact",
    "load",
    "load_scene",
    "motion",
    "normal_law",
    "scenes",
    "suggest",
    "sweep",
    "virtual_mass",
    "where",
    "yardsticks",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: CasADi and Pinocchio are large."""
    if name in ("impact", "motion"):
        return import_module(f"heelstrike.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'heelstrike' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
