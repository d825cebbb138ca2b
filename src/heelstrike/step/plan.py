"""Plan of a step: everything that decides its compiled code."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from heelstrike.parameters import parameters, structure
from heelstrike.robot.fingerprint import fingerprint
from heelstrike.robot.robot import Robot
from heelstrike.scene.scene import Scene
from heelstrike.scene.stops import StopsPlan
from heelstrike.step.control import Control, key, prefix
from heelstrike.step.coupled import coupled_pairs
from heelstrike.step.push import Push


@dataclass(frozen=True)
class StepPlan:
    """All that decides over the compiled step."""

    scene: Scene
    integrator: str
    control: Control
    stops: StopsPlan | None
    sensors: tuple[str, ...] = ()
    pushes: tuple[str, ...] = ()
    """Bodies that pushes act on."""
    varied: tuple[str, ...] = ()
    """Bodies whose mass is a parameter."""
    tolerance: float = 1e-9
    """Of the coupled problem, relative."""
    pose: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """In which inertias are taken where a rule needs one."""

    @property
    def robot(self) -> Robot:
        return self.scene.robot

    def parameters(self) -> dict[str, np.ndarray]:
        """Every run-time parameter by path, but dt."""
        found = {"gravity": self.scene.gravity}
        found |= parameters(self.control, prefix(self.control))
        if self.stops is not None:
            found |= parameters(self.stops, "stops.")
        for surface in self.scene.surfaces:
            found |= parameters(surface, f"{surface.name}.")
        for name, law in self.scene.materials.items():
            found |= parameters(law, f"{name}.")
        if coupled_pairs(self.scene):
            found["solver.tolerance"] = np.array([self.tolerance])
        for k, _ in enumerate(self.pushes):
            found |= parameters(Push(), f"push{k}.")
        for name in self.varied:
            found[f"{name}.mass"] = np.array([self.robot.bodies[self.robot.body(name)].mass])
        return found

    def key(self) -> tuple[object, ...]:
        """What tells one compiled step from another, without tracing it."""
        own = key(self.control, self.robot)
        scene = self.scene
        surfaces = [structure(surface) for surface in scene.surfaces]
        bodies = [[name, structure(law)] for name, law in scene.materials.items()]
        fixed = [[point.position, point.radius] for point in scene.points]
        stops = None if self.stops is None else structure(self.stops)
        rest = (self.integrator, list(self.sensors), list(self.pushes), list(self.varied))
        pose = self.pose if (self.robot.friction > 0).any() else None
        return ("step", own, surfaces, bodies, fixed, stops, *rest, pose, fingerprint(self.robot))
