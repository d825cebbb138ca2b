"""Heelstrike: a contact laboratory and simulator for legged and humanoid robots."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heelstrike import impact, motion
    from heelstrike.contact.law import where
    from heelstrike.contact.laws.bristle import Bristle
    from heelstrike.contact.laws.coulomb import Coulomb
    from heelstrike.contact.laws.custom import friction_law, normal_law
    from heelstrike.contact.laws.elastic import Elastic
    from heelstrike.contact.laws.feedback_linearized import FeedbackLinearized
    from heelstrike.contact.laws.hunt_crossley import HuntCrossley
    from heelstrike.contact.laws.kinetic import Kinetic
    from heelstrike.contact.laws.linear_spring import LinearSpring
    from heelstrike.contact.laws.micro_macro import MicroMacro
    from heelstrike.contact.laws.poisson_spring import PoissonSpring
    from heelstrike.contact.laws.rigid import Rigid
    from heelstrike.contact.laws.signorini import Signorini
    from heelstrike.contact.laws.timestep_damper import TimestepDamper
    from heelstrike.environments import Environments, Pushes
    from heelstrike.errors import (
        HeelstrikeError,
        HeelstrikeWarning,
        LoadError,
        ProgramError,
        SceneError,
        TraceError,
    )
    from heelstrike.identification.identify import identify
    from heelstrike.impact.base import VirtualBase
    from heelstrike.impact.mass import virtual_mass
    from heelstrike.impact.target import Target
    from heelstrike.ir.program import Program
    from heelstrike.measure.compare import compare
    from heelstrike.measure.laws import compare_laws
    from heelstrike.measure.yardsticks import yardsticks
    from heelstrike.record.recording import Recording
    from heelstrike.robot import Point, Robot, bundled, combine, load
    from heelstrike.runtime.compiler import compile_program
    from heelstrike.scene.controller import controller
    from heelstrike.scene.files import scenes
    from heelstrike.scene.scene import Scene
    from heelstrike.scene.servo import Servo, Trajectory
    from heelstrike.scene.stops import Stops
    from heelstrike.scene.surfaces import (
        Box,
        Capsule,
        HeightField,
        Plane,
        Sphere,
        Stairs,
        Treadmill,
    )
    from heelstrike.simulate.scene_file import SceneFile, load_scene
    from heelstrike.simulate.simulator import Simulator
    from heelstrike.simulate.suggest import suggest
    from heelstrike.sweeps.sweep import sweep

__version__ = "0.1.0"

_HOMES = {
    "Box": "heelstrike.scene.surfaces",
    "Bristle": "heelstrike.contact.laws.bristle",
    "Capsule": "heelstrike.scene.surfaces",
    "Coulomb": "heelstrike.contact.laws.coulomb",
    "Elastic": "heelstrike.contact.laws.elastic",
    "Environments": "heelstrike.environments",
    "FeedbackLinearized": "heelstrike.contact.laws.feedback_linearized",
    "HeelstrikeError": "heelstrike.errors",
    "HeelstrikeWarning": "heelstrike.errors",
    "HeightField": "heelstrike.scene.surfaces",
    "HuntCrossley": "heelstrike.contact.laws.hunt_crossley",
    "Kinetic": "heelstrike.contact.laws.kinetic",
    "LinearSpring": "heelstrike.contact.laws.linear_spring",
    "LoadError": "heelstrike.errors",
    "MicroMacro": "heelstrike.contact.laws.micro_macro",
    "Plane": "heelstrike.scene.surfaces",
    "Point": "heelstrike.robot",
    "PoissonSpring": "heelstrike.contact.laws.poisson_spring",
    "Program": "heelstrike.ir.program",
    "ProgramError": "heelstrike.errors",
    "Pushes": "heelstrike.environments",
    "Recording": "heelstrike.record.recording",
    "Rigid": "heelstrike.contact.laws.rigid",
    "Robot": "heelstrike.robot",
    "Scene": "heelstrike.scene.scene",
    "SceneError": "heelstrike.errors",
    "SceneFile": "heelstrike.simulate.scene_file",
    "Servo": "heelstrike.scene.servo",
    "Signorini": "heelstrike.contact.laws.signorini",
    "Simulator": "heelstrike.simulate.simulator",
    "Sphere": "heelstrike.scene.surfaces",
    "Stairs": "heelstrike.scene.surfaces",
    "Stops": "heelstrike.scene.stops",
    "Target": "heelstrike.impact.target",
    "TimestepDamper": "heelstrike.contact.laws.timestep_damper",
    "TraceError": "heelstrike.errors",
    "Trajectory": "heelstrike.scene.servo",
    "Treadmill": "heelstrike.scene.surfaces",
    "VirtualBase": "heelstrike.impact.base",
    "bundled": "heelstrike.robot",
    "combine": "heelstrike.robot",
    "compare": "heelstrike.measure.compare",
    "compare_laws": "heelstrike.measure.laws",
    "compile_program": "heelstrike.runtime.compiler",
    "controller": "heelstrike.scene.controller",
    "friction_law": "heelstrike.contact.laws.custom",
    "identify": "heelstrike.identification.identify",
    "load": "heelstrike.robot",
    "load_scene": "heelstrike.simulate.scene_file",
    "normal_law": "heelstrike.contact.laws.custom",
    "scenes": "heelstrike.scene.files",
    "suggest": "heelstrike.simulate.suggest",
    "sweep": "heelstrike.sweeps.sweep",
    "virtual_mass": "heelstrike.impact.mass",
    "where": "heelstrike.contact.law",
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
