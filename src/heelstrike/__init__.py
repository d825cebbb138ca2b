"""Heelstrike: a contact laboratory and simulator for legged and humanoid robots."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heelstrike import adapters as adapters
    from heelstrike import impact as impact
    from heelstrike import motion as motion
    from heelstrike.contact.law import Contact as Contact
    from heelstrike.contact.law import FrictionLaw as FrictionLaw
    from heelstrike.contact.law import NormalLaw as NormalLaw
    from heelstrike.contact.law import where as where
    from heelstrike.contact.laws.bristle import Bristle as Bristle
    from heelstrike.contact.laws.coulomb import Coulomb as Coulomb
    from heelstrike.contact.laws.custom import friction_law as friction_law
    from heelstrike.contact.laws.custom import normal_law as normal_law
    from heelstrike.contact.laws.custom_coupled import coupled_law as coupled_law
    from heelstrike.contact.laws.elastic import Elastic as Elastic
    from heelstrike.contact.laws.feedback_linearized import FeedbackLinearized as FeedbackLinearized
    from heelstrike.contact.laws.hunt_crossley import HuntCrossley as HuntCrossley
    from heelstrike.contact.laws.kinetic import Kinetic as Kinetic
    from heelstrike.contact.laws.linear_spring import LinearSpring as LinearSpring
    from heelstrike.contact.laws.micro_macro import MicroMacro as MicroMacro
    from heelstrike.contact.laws.patch import Patch as Patch
    from heelstrike.contact.laws.poisson_spring import PoissonSpring as PoissonSpring
    from heelstrike.contact.laws.rigid import Rigid as Rigid
    from heelstrike.contact.laws.signorini import Signorini as Signorini
    from heelstrike.contact.laws.timestep_damper import TimestepDamper as TimestepDamper
    from heelstrike.contact.surface_law import ContactForce as ContactForce
    from heelstrike.contact.surface_law import ContactTarget as ContactTarget
    from heelstrike.contact.surface_law import CouplingRule as CouplingRule
    from heelstrike.contact.surface_law import PointState as PointState
    from heelstrike.contact.surface_law import SurfaceLaw as SurfaceLaw
    from heelstrike.environments import Changes as Changes
    from heelstrike.environments import Commands as Commands
    from heelstrike.environments import Environments as Environments
    from heelstrike.environments import Factor as Factor
    from heelstrike.environments import Graded as Graded
    from heelstrike.environments import Pushes as Pushes
    from heelstrike.environments.policy import Policy as Policy
    from heelstrike.errors import FileError as FileError
    from heelstrike.errors import HeelstrikeError as HeelstrikeError
    from heelstrike.errors import HeelstrikeWarning as HeelstrikeWarning
    from heelstrike.errors import LoadError as LoadError
    from heelstrike.errors import ParameterError as ParameterError
    from heelstrike.errors import ProgramError as ProgramError
    from heelstrike.errors import SceneError as SceneError
    from heelstrike.errors import TraceError as TraceError
    from heelstrike.errors import UnknownNameError as UnknownNameError
    from heelstrike.identification.identify import identify as identify
    from heelstrike.impact.base import VirtualBase as VirtualBase
    from heelstrike.impact.mass import virtual_mass as virtual_mass
    from heelstrike.impact.target import Target as Target
    from heelstrike.ir.program import Program as Program
    from heelstrike.measure.compare import compare as compare
    from heelstrike.measure.laws import compare_laws as compare_laws
    from heelstrike.measure.yardsticks import yardsticks as yardsticks
    from heelstrike.record.recording import Recording as Recording
    from heelstrike.robot import Point as Point
    from heelstrike.robot import Robot as Robot
    from heelstrike.robot.combine import combine as combine
    from heelstrike.robot.constraints import Connect as Connect
    from heelstrike.robot.constraints import Distance as Distance
    from heelstrike.robot.constraints import JointCoupling as JointCoupling
    from heelstrike.robot.constraints import Weld as Weld
    from heelstrike.robot.load import bundled as bundled
    from heelstrike.robot.load import load as load
    from heelstrike.runtime.compiler import compile_program as compile_program
    from heelstrike.scene.actuators import Actuators as Actuators
    from heelstrike.scene.controller import controller as controller
    from heelstrike.scene.files import scenes as scenes
    from heelstrike.scene.motors import Motors as Motors
    from heelstrike.scene.rays import Rays as Rays
    from heelstrike.scene.scene import Scene as Scene
    from heelstrike.scene.sensor import Sensor as Sensor
    from heelstrike.scene.servo import Servo as Servo
    from heelstrike.scene.servo import Trajectory as Trajectory
    from heelstrike.scene.spring_damper import SpringDamper as SpringDamper
    from heelstrike.scene.stops import Stops as Stops
    from heelstrike.scene.surfaces import Box as Box
    from heelstrike.scene.surfaces import Capsule as Capsule
    from heelstrike.scene.surfaces import Cylinder as Cylinder
    from heelstrike.scene.surfaces import HeightField as HeightField
    from heelstrike.scene.surfaces import Mesh as Mesh
    from heelstrike.scene.surfaces import Plane as Plane
    from heelstrike.scene.surfaces import Sphere as Sphere
    from heelstrike.scene.surfaces import Stairs as Stairs
    from heelstrike.scene.surfaces import Treadmill as Treadmill
    from heelstrike.scene.terrain import Terrain as Terrain
    from heelstrike.simulate.robot_scene import robot_scene as robot_scene
    from heelstrike.simulate.scene_file import SceneFile as SceneFile
    from heelstrike.simulate.scene_file import load_scene as load_scene
    from heelstrike.simulate.simulator import Simulator as Simulator
    from heelstrike.simulate.suggest import suggest as suggest
    from heelstrike.sweeps.sweep import sweep as sweep
    from heelstrike.validation.validate import validate as validate

__version__ = "0.1.0"

HOMES = {
    "Actuators": "heelstrike.scene.actuators",
    "Box": "heelstrike.scene.surfaces",
    "Bristle": "heelstrike.contact.laws.bristle",
    "Capsule": "heelstrike.scene.surfaces",
    "Changes": "heelstrike.environments",
    "Commands": "heelstrike.environments",
    "Connect": "heelstrike.robot.constraints",
    "Contact": "heelstrike.contact.law",
    "ContactForce": "heelstrike.contact.surface_law",
    "ContactTarget": "heelstrike.contact.surface_law",
    "Coulomb": "heelstrike.contact.laws.coulomb",
    "CouplingRule": "heelstrike.contact.surface_law",
    "Cylinder": "heelstrike.scene.surfaces",
    "Distance": "heelstrike.robot.constraints",
    "Elastic": "heelstrike.contact.laws.elastic",
    "Environments": "heelstrike.environments",
    "Factor": "heelstrike.environments",
    "FeedbackLinearized": "heelstrike.contact.laws.feedback_linearized",
    "FileError": "heelstrike.errors",
    "FrictionLaw": "heelstrike.contact.law",
    "Graded": "heelstrike.environments",
    "HeelstrikeError": "heelstrike.errors",
    "HeelstrikeWarning": "heelstrike.errors",
    "HeightField": "heelstrike.scene.surfaces",
    "HuntCrossley": "heelstrike.contact.laws.hunt_crossley",
    "JointCoupling": "heelstrike.robot.constraints",
    "Kinetic": "heelstrike.contact.laws.kinetic",
    "LinearSpring": "heelstrike.contact.laws.linear_spring",
    "LoadError": "heelstrike.errors",
    "Mesh": "heelstrike.scene.surfaces",
    "MicroMacro": "heelstrike.contact.laws.micro_macro",
    "NormalLaw": "heelstrike.contact.law",
    "ParameterError": "heelstrike.errors",
    "Patch": "heelstrike.contact.laws.patch",
    "Plane": "heelstrike.scene.surfaces",
    "Point": "heelstrike.robot",
    "Policy": "heelstrike.environments.policy",
    "PointState": "heelstrike.contact.surface_law",
    "PoissonSpring": "heelstrike.contact.laws.poisson_spring",
    "Program": "heelstrike.ir.program",
    "ProgramError": "heelstrike.errors",
    "Pushes": "heelstrike.environments",
    "Rays": "heelstrike.scene.rays",
    "Recording": "heelstrike.record.recording",
    "Rigid": "heelstrike.contact.laws.rigid",
    "Robot": "heelstrike.robot",
    "Scene": "heelstrike.scene.scene",
    "SceneError": "heelstrike.errors",
    "SceneFile": "heelstrike.simulate.scene_file",
    "Sensor": "heelstrike.scene.sensor",
    "Servo": "heelstrike.scene.servo",
    "Signorini": "heelstrike.contact.laws.signorini",
    "Simulator": "heelstrike.simulate.simulator",
    "Sphere": "heelstrike.scene.surfaces",
    "SpringDamper": "heelstrike.scene.spring_damper",
    "Stairs": "heelstrike.scene.surfaces",
    "Motors": "heelstrike.scene.motors",
    "Stops": "heelstrike.scene.stops",
    "SurfaceLaw": "heelstrike.contact.surface_law",
    "Target": "heelstrike.impact.target",
    "Terrain": "heelstrike.scene.terrain",
    "TimestepDamper": "heelstrike.contact.laws.timestep_damper",
    "TraceError": "heelstrike.errors",
    "Trajectory": "heelstrike.scene.servo",
    "Treadmill": "heelstrike.scene.surfaces",
    "UnknownNameError": "heelstrike.errors",
    "VirtualBase": "heelstrike.impact.base",
    "Weld": "heelstrike.robot.constraints",
    "bundled": "heelstrike.robot.load",
    "combine": "heelstrike.robot.combine",
    "compare": "heelstrike.measure.compare",
    "compare_laws": "heelstrike.measure.laws",
    "compile_program": "heelstrike.runtime.compiler",
    "controller": "heelstrike.scene.controller",
    "coupled_law": "heelstrike.contact.laws.custom_coupled",
    "friction_law": "heelstrike.contact.laws.custom",
    "identify": "heelstrike.identification.identify",
    "load": "heelstrike.robot.load",
    "load_scene": "heelstrike.simulate.scene_file",
    "normal_law": "heelstrike.contact.laws.custom",
    "robot_scene": "heelstrike.simulate.robot_scene",
    "scenes": "heelstrike.scene.files",
    "suggest": "heelstrike.simulate.suggest",
    "sweep": "heelstrike.sweeps.sweep",
    "validate": "heelstrike.validation.validate",
    "virtual_mass": "heelstrike.impact.mass",
    "where": "heelstrike.contact.law",
    "yardsticks": "heelstrike.measure.yardsticks",
}
"""Where each public name is defined. It is imported when first used: CasADi is large."""
PACKAGES = ("adapters", "impact", "motion")
"""Public packages."""

__all__ = [*HOMES, *PACKAGES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in PACKAGES:
        return import_module(f"heelstrike.{name}")
    if name not in HOMES:
        raise AttributeError(f"module 'heelstrike' has no attribute '{name}'")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names, also those that were not imported yet."""
    return sorted({*globals(), *__all__})
