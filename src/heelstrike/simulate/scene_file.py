"""Scenes from files: the content of a file, checked, and the simulator that it describes.

scene = hs.load_scene("stand")              # a bundled name (hs.scenes()), or a path to .toml
sim = scene.simulator()                     # an hs.Simulator with the pushes of the file
run = scene.run()                           # an hs.Recording of the duration in the file
print(scene.text())                         # the complete scene, with defaults, units and meanings
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError, SceneError, UnknownNameError, at_path
from heelstrike.record.recording import Recording
from heelstrike.robot import Robot, combine
from heelstrike.robot.robot import first_duplicate
from heelstrike.scene.files.build import build, fail_at_path
from heelstrike.scene.files.content import SceneContent
from heelstrike.scene.files.document import Document, Key, read_scene
from heelstrike.scene.files.write import scene_text
from heelstrike.scene.placing import placed
from heelstrike.scene.scene import Scene
from heelstrike.scene.sensor import Sensor
from heelstrike.scene.servo import Servo
from heelstrike.scene.surfaces import Plane
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.start import StartError


class SceneFile:
    """A scene that a file describes: robots, surfaces, control, pushes and what to record.

    `hs.load_scene` makes one. Mistakes in the file raise `hs.SceneError`, which carries the key
    (`path`) and its `line`.

    Attributes:
        document: data of the file, with the line of each key.
        content: the file's tables as dataclasses.

    Examples:
        >>> scene = hs.load_scene("stand")
        >>> run = scene.run()                          # an hs.Recording
        >>> sim = scene.simulator(worlds=64)           # or a simulator, to step or sweep
    """

    def __init__(self, document: Document) -> None:
        """Build the content of a document; a mistake in it raises SceneError with its line."""
        if not isinstance(document, Document):
            raise ParameterError("document", document, "what hs.load_scene reads from a file")
        self.document = document
        content = build(SceneContent, document, (), document.data)
        self.content = replace(
            content,
            robot=tuple(replace(p, model=p.source(document.folder)) for p in content.robot),
            object=tuple(replace(p, model=p.source(document.folder)) for p in content.object),
        )

    @property
    def name(self) -> str:
        """Name of the file without its suffix."""
        return Path(self.document.name).stem

    @cached_property
    def robot(self) -> Robot:
        """All parts as one robot; of several, names are prefixed by the part's name and a slash."""
        robots = self._robots
        if len(robots) == 1:
            return robots[0]
        named = zip(self._names, robots, strict=True)
        return combine(dict(named), name=self.name)

    @cached_property
    def scene(self) -> Scene:
        """Robot, surfaces, materials and gravity."""
        robot, content, surfaces = self.robot, self.content, self.content.surface
        for i, surface in enumerate(surfaces):
            with self._locating_errors(("surface", i)):
                Scene(robot, surface)
            if surface.name in [other.name for other in surfaces[:i]]:
                problem = f"two surfaces are called '{surface.name}'; give each its own name"
                self.document.fail(("surface", i, "name"), problem)
        for i in range(len(content.spring)):
            with self._locating_errors(("spring", i)):
                Scene(robot, springs=content.spring[: i + 1])
        with self._locating_errors((), ("materials",)):
            return Scene(
                robot,
                *surfaces,
                gravity=content.gravity,
                points=content.points,
                materials=content.materials,
                self_contact=content.self_contact,
                edges=content.edges,
                springs=content.spring,
            )

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """q and v at time 0."""
        q, v = [], []
        parts = zip(self.content.part_keys(), self.content.parts, self._robots, strict=True)
        for key, part, robot in parts:
            with self._locating_errors(key):
                q.append(part.coordinates(robot))
                if part.drop is not None and len(self._robots) == 1 and not self._is_flat:
                    q[-1] = placed(self.scene, q[-1], part.drop)
                v.append(part.velocities(robot, q[-1]))
        return np.concatenate(q), np.concatenate(v)

    @property
    def _is_flat(self) -> bool:
        """Whether the only surface that is fixed in the world is the plane z = 0."""
        fixed = [surface for surface in self.content.surface if surface.body is None]
        return not fixed or (
            len(fixed) == 1
            and isinstance(fixed[0], Plane)
            and fixed[0].slope is None
            and tuple(fixed[0].normal) == (0, 0, 1)
            and not fixed[0].point[2]
        )

    @cached_property
    def control(self) -> Servo | None:
        """The servo, which holds a pose or follows the motion of the file."""
        servo, motion = self.content.servo, self.content.motion
        if servo is None:
            return None
        if motion is not None:
            with self._locating_errors(("motion",)), at_path("file"):
                return replace(servo, reference=motion.trajectory(self.robot, self.start[0]))
        if isinstance(servo.reference, str):
            poses = self.robot.poses
            if servo.reference not in poses:
                unknown = UnknownNameError("pose", servo.reference, poses, owner=self.robot.name)
                self.document.fail(("servo", "reference"), unknown)
            return replace(servo, reference=self.robot.pose(servo.reference))
        return servo

    def simulator(
        self,
        worlds: int = 1,
        device: str = "cpu",
        math: str = "exact",
        dtype: str | None = None,
        bare: bool = False,
        sensors: Sequence[str | Sensor] = (),
    ) -> Simulator:
        """Return a simulator of the scene with its pushes; start and step are checked.

        Args:
            worlds: number of worlds.
            device: "cpu", "cuda", or GPUs by number, such as "cuda:1" or "cuda:0,1".
            math: "exact", or "fast" with float32 on a GPU.
            dtype: "float64" or "float32"; None: the file's on a CPU, float32 on a GPU.
            bare: leave out the pushes and accept any start and step.
            sensors: quantities that every step measures, besides those of the file.
        """
        settings = self.content.simulation
        own = settings.dtype if device == "cpu" else None
        control, scene = self.control, self.scene
        with self._locating_errors(("simulation",), ("servo",), ("stops",), ("motors",)):
            sim = Simulator(
                scene,
                settings.dt,
                control,
                worlds,
                integrator=settings.integrator,
                dtype=dtype or own,
                device=device,
                math=math,
                stops=self.content.stops,
                sensors=[*settings.sensors, *sensors],
                motors=self.content.motors,
            )
        if not bare:
            self._check_start(sim)
            for i, push in enumerate(self.content.push):
                with self._locating_errors(("push", i)):
                    sim.push(push.body, push.force, push.duration, at=push.start, point=push.point)
        return sim

    def changed(self, **values: Any) -> SceneFile:
        """Return a copy with other values of `content`; the robot is not loaded again."""
        other = copy.copy(self)
        other.content = replace(self.content, **values)
        for cached in ("scene", "control"):
            other.__dict__.pop(cached, None)
        return other

    def run(self, progress: bool | None = None) -> Recording:
        """Simulate the scene from its start for its duration.

        Args:
            progress: show a progress bar; None: if the run takes long and a terminal shows it.
        """
        return self.run_on(self.simulator(), progress)

    def compile(self, sim: Simulator) -> None:
        """Compile the step that a run of this scene on a simulator needs."""
        with self._locating_errors(("recording",), record="variables"):
            sim.compile(self.content.recording.variables)

    def run_on(self, sim: Simulator, progress: bool | None = None) -> Recording:
        """Simulate the scene from its start for its duration on a simulator of this scene."""
        recording, (q0, v0) = self.content.recording, self.start
        with self._locating_errors(("recording",), ("simulation",), record="variables"):
            return sim.run(
                self.content.simulation.duration,
                q0=q0,
                v0=v0,
                record=recording.variables,
                every=recording.every,
                progress=progress,
                check=False,  # `simulator` has checked it
            )

    def text(self) -> str:
        """Return the complete scene as a scene file, with every default, unit and meaning."""
        return scene_text(self.content)

    def _check_start(self, sim: Simulator) -> None:
        """Raise SceneError at the step, or at the surface or the material that it concerns."""
        try:
            sim.check_start(self.start[0])
        except StartError as error:
            names = [surface.name for surface in self.content.surface]
            table: Key = ("materials", error.law)
            if error.law in names:
                table = ("surface", names.index(error.law))
            if error.path == "dt" and "dt" in self.document.keys_in(("simulation",)):
                table = ("simulation",)
            fail_at_path(self.document, error, table)

    @cached_property
    def _robots(self) -> list[Robot]:
        loaded = []
        for key, part in zip(self.content.part_keys(), self.content.parts, strict=True):
            with self._locating_errors(key), at_path("model"):
                loaded.append(part.robot())
        return loaded

    @cached_property
    def _names(self) -> list[str]:
        """Names of the parts, each different."""
        parts = zip(self.content.parts, self._robots, strict=True)
        names = [part.name or robot.name for part, robot in parts]
        if (twice := first_duplicate(names)) is not None:
            second = [i for i, name in enumerate(names) if name == twice][1]
            problem = f"two parts are called '{twice}'; give each its own name = ..."
            self.document.fail(self.content.part_keys()[second], problem)
        return names

    @contextmanager
    def _locating_errors(self, *tables: Key, **keys: str) -> Iterator[None]:
        """Raise errors as SceneErrors at the key of these tables that is at fault.

        `keys` maps names of arguments to the keys that stand for them in the file.
        """
        try:
            yield
        except SceneError:
            raise
        except HeelstrikeError as error:
            error.path = keys.get(error.path or "", error.path)
            fail_at_path(self.document, error, *tables)

    def __repr__(self) -> str:
        return f"<SceneFile {self.document.name}>"


def load_scene(source: str | os.PathLike[str]) -> SceneFile:
    """Load a scene from a bundled name (see `hs.scenes`) or a path to a .toml file.

    Args:
        source: the name or the path.

    Raises:
        SceneError: the file cannot be used; the error has the key and its line.

    Examples:
        >>> run = hs.load_scene("stand").run()
    """
    return SceneFile(read_scene(source))
