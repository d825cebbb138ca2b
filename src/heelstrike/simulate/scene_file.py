"""A scene from a file: what it holds, checked, and the simulator made of it.

scene = hs.load_scene("stand")              # a bundled name (hs.scenes()), or a path to .toml
sim = scene.simulator()                     # an hs.Simulator, pushes and start included
run = scene.run()                           # as long as the file says: an hs.Recording
print(scene.text())                         # all of it, with defaults, units and meanings
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError, SceneError, UnknownNameError, at_path
from heelstrike.record.recording import Recording
from heelstrike.robot import Robot, combine
from heelstrike.robot.robot import first_duplicate
from heelstrike.scene.files.build import blame, build
from heelstrike.scene.files.content import Content
from heelstrike.scene.files.document import Document, Key
from heelstrike.scene.files.find import read_scene
from heelstrike.scene.files.part import Part
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.start import StartError


class SceneFile:
    """A scene that a file describes."""

    def __init__(self, document: Document) -> None:
        """Of a document that was read; a mistake in it is a SceneError with its line."""
        self.document = document
        made = build(Content, document, (), document.data)
        self.content = replace(
            made,
            robot=tuple(replace(p, model=p.source(document.folder)) for p in made.robot),
            object=tuple(replace(p, model=p.source(document.folder)) for p in made.object),
        )

    @property
    def name(self) -> str:
        """The file's, without its ending."""
        return Path(self.document.name).stem

    @cached_property
    def robot(self) -> Robot:
        """All parts as one: the only one, or several with their names before a slash."""
        robots = self._robots
        if len(robots) == 1:
            return robots[0]
        named = zip(self._names, robots, strict=True)
        return combine(dict(named), name=self.name)

    @cached_property
    def scene(self) -> Scene:
        """Parts, surfaces and gravity."""
        robot, content, surfaces = self.robot, self.content, self.content.surface
        for i, surface in enumerate(surfaces):
            with self._blaming(("surface", i)):
                Scene(robot, surface)
            if surface.name in [other.name for other in surfaces[:i]]:
                said = f"two surfaces are called '{surface.name}'; give each its own name"
                self.document.fail(("surface", i, "name"), said)
        with self._blaming((), ("materials",)):
            return Scene(
                robot,
                *surfaces,
                gravity=content.gravity,
                points=content.points,
                materials=content.materials,
            )

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """q and v at time 0."""
        q, v = [], []
        for key, part, robot in self._placed():
            with self._blaming(key):
                q.append(part.coordinates(robot))
                v.append(part.velocities(robot, q[-1]))
        return np.concatenate(q), np.concatenate(v)

    def simulator(
        self,
        worlds: int = 1,
        device: str = "cpu",
        math: str = "exact",
        dtype: str | None = None,
        bare: bool = False,
    ) -> Simulator:
        """A simulator with the pushes; the start and the step are checked. A `bare` one has no
        pushes, and takes any start and step. On a CPU its numbers are of the file's type, on a GPU
        float32, unless `dtype` is given.
        """
        how = self.content.simulation
        own = how.dtype if device == "cpu" else None
        control, scene = self.control, self.scene
        with self._blaming(("simulation",), ("servo",), ("stops",)):
            sim = Simulator(
                scene,
                how.dt,
                control,
                worlds,
                integrator=how.integrator,
                dtype=dtype or own,
                device=device,
                math=math,
                stops=self.content.stops,
                sensors=how.sensors,
            )
        if not bare:
            self._check_start(sim)
            for i, push in enumerate(self.content.push):
                with self._blaming(("push", i)):
                    sim.push(push.body, push.force, push.duration, at=push.start, point=push.point)
        return sim

    def changed(self, **values: Any) -> SceneFile:
        """A copy with other values of its content; the robot is not read again."""
        other = copy.copy(self)
        other.content = replace(self.content, **values)
        for made in ("scene", "control"):
            other.__dict__.pop(made, None)
        return other

    def run(self, progress: bool | None = None) -> Recording:
        """Simulates it from its start for its duration."""
        return self.run_on(self.simulator(), progress)

    def compile(self, sim: Simulator) -> None:
        """Compiles what a run of this scene takes."""
        with self._blaming(("recording",), record="variables"):
            sim.compile(self.content.recording.variables)

    def run_on(self, sim: Simulator, progress: bool | None = None) -> Recording:
        """The same on a simulator of this scene."""
        keep, (q0, v0) = self.content.recording, self.start
        with self._blaming(("recording",), ("simulation",), record="variables"):
            return sim.run(
                self.content.simulation.duration,
                q0=q0,
                v0=v0,
                record=keep.variables,
                every=keep.every,
                progress=progress,
            )

    def text(self) -> str:
        """All of it as a scene file, with every default, unit and meaning."""
        from heelstrike.scene.files.text import written

        return written(self.content)

    def _check_start(self, sim: Simulator) -> None:
        """Raise SceneError at the step, or at the surface or the material that it concerns."""
        try:
            sim.check_start(self.start[0])
        except StartError as error:
            names = [surface.name for surface in self.content.surface]
            guilty: Key = ("materials", error.law)
            if error.law in names:
                guilty = ("surface", names.index(error.law))
            if error.path == "dt" and "dt" in self.document.written(("simulation",)):
                guilty = ("simulation",)
            blame(self.document, error, guilty)

    @cached_property
    def _robots(self) -> list[Robot]:
        made = []
        for key, part in zip(self.content.tables(), self.content.parts, strict=True):
            with self._blaming(key), at_path("model"):
                made.append(part.robot())
        return made

    @cached_property
    def _names(self) -> list[str]:
        """What tells the parts apart."""
        parts = zip(self.content.parts, self._robots, strict=True)
        names = [part.name or robot.name for part, robot in parts]
        if (twice := first_duplicate(names)) is not None:
            key = self.content.tables()[[i for i, n in enumerate(names) if n == twice][1]]
            self.document.fail(key, f"two parts are called '{twice}'; give each its own name = ...")
        return names

    def _placed(self) -> Iterator[tuple[Key, Part, Robot]]:
        return zip(self.content.tables(), self.content.parts, self._robots, strict=True)

    @cached_property
    def control(self) -> Servo | None:
        """The servo, with its reference by name or as a motion."""
        servo, motion = self.content.servo, self.content.motion
        if servo is None:
            return None
        if motion is not None:
            with self._blaming(("motion",)), at_path("file"):
                return replace(servo, reference=motion.trajectory(self.robot, self.start[0]))
        if isinstance(servo.reference, str):
            if servo.reference not in self.robot.poses:
                unknown = UnknownNameError(
                    "pose", servo.reference, self.robot.poses, owner=self.robot.name
                )
                self.document.fail(("servo", "reference"), unknown)
            return replace(servo, reference=self.robot.pose(servo.reference))
        return servo

    @contextmanager
    def _blaming(self, *tables: Key, **keys: str) -> Iterator[None]:
        """Raise errors as SceneErrors at the key of these tables that is at fault.

        `keys` are the keys of arguments that the file calls otherwise.
        """
        try:
            yield
        except SceneError:
            raise
        except HeelstrikeError as error:
            error.path = keys.get(error.path or "", error.path)
            blame(self.document, error, *tables)

    def __repr__(self) -> str:
        return f"<SceneFile {self.document.name}>"


def load_scene(source: str | os.PathLike[str]) -> SceneFile:
    """A scene from a bundled name (see `scenes`) or a path to a .toml file.

    Raises SceneError, with file, line and key, where it cannot be used.
    """
    return SceneFile(read_scene(source))
