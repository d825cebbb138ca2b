"""The tables of a scene file, each as a dataclass whose fields are the keys.

The entry of a key under "Args:" is the comment that `heelstrike run --print` writes beside the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.scene.files.document import Key
from heelstrike.scene.files.motion_table import MotionTable
from heelstrike.scene.files.part import Part
from heelstrike.scene.motors import Motors
from heelstrike.scene.servo import Servo
from heelstrike.scene.spring_damper import SpringDamper
from heelstrike.scene.stops import Stops
from heelstrike.scene.surfaces import Surface


@dataclass(frozen=True)
class SimulationSettings:
    """Settings of the simulator: [simulation].

    Args:
        duration: simulated time [s].
        dt: time step [s].
        integrator: "symplectic", "euler" or "rk4".
        dtype: "float64" or "float32".
        sensors: quantities that every step measures, such as "WAIST.gyro": docs/control.md.
    """

    duration: float = 1.0
    dt: float = 1e-3
    integrator: str = "symplectic"
    dtype: str = "float64"
    sensors: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not 0 < self.duration < 1e6:
            raise ParameterError("duration", self.duration, "a time above 0 s")
        if not 0 < self.dt < 10:
            raise ParameterError("dt", self.dt, "a time step above 0 s, such as 1e-3")
        if self.duration / self.dt > 1e9:
            raise HeelstrikeError(
                f"a duration of {self.duration:g} s takes {self.duration / self.dt:.2g} steps of "
                f"dt = {self.dt:g} s",
                path="dt",
                value=self.dt,
                allowed="1e9 steps",
                remedy="choose a larger dt or a shorter duration",
            )


@dataclass(frozen=True)
class Push:
    """Constant force on a body for a time: [[push]].

    Args:
        body: body, link or site; "part/body" if the scene has several parts.
        force: force in world axes [N].
        duration: duration [s].
        start: time at which it begins [s].
        point: point of application in the body's frame [m]; none: the centre of mass.
    """

    body: str
    force: Sequence[float]
    duration: float
    start: float = 0.0
    point: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for name in ("force", "point"):
            value = getattr(self, name)
            if value is not None and (len(value) != 3 or not all(abs(x) < 1e9 for x in value)):
                raise ParameterError(name, list(value), "three finite numbers")
        if not 0 < self.duration < 1e6:
            raise ParameterError("duration", self.duration, "a time above 0 s")
        if not 0 <= self.start < 1e6:
            raise ParameterError("start", self.start, "a time of at least 0 s")


@dataclass(frozen=True)
class RecordingSettings:
    """Variables to record, how often, and where to: [recording].

    Args:
        every: steps from one record to the next.
        variables: "standard", "final" (the end only), or names: docs/recording.md.
        file: file that `heelstrike run` writes, .nc, relative to the current folder.
    """

    every: int = 1
    variables: str | Sequence[str] = "standard"
    file: str | None = None

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ParameterError("every", self.every, "a whole number of steps above 0")


@dataclass(frozen=True)
class SceneContent:
    """Everything that a scene file holds.

    Args:
        about: description of the scene.
        gravity: positive down, or three numbers in world axes [m/s^2]; none: the model's.
        points: contact points fixed in the world, [x, y, z] or with a radius [m]; they meet
            surfaces on bodies.
        simulation: settings of the simulator.
        robot: robots.
        object: objects, free bodies as a rule.
        surface: surfaces with their laws.
        materials: laws of bodies: [materials.BODY] holds for the points of a body, whatever
            they touch; [materials."BODY on SURFACE"] on that surface only.
        self_contact: whether bodies touch one another, by the law of the first surface.
        edges: whether shapes touch edges of boxes and stairs, and ridges of other ground, between
            their contact points.
        servo: a table [servo]; none: the joints are free.
        stops: springs at the ends of the joints' ranges; none: joints turn past them.
        motors: a table [motors]: delay, lag, curve and gear friction; none: torques act as they
            are.
        motion: a table [motion] with file = ..., which the servo follows.
        push: forces on bodies for a time.
        spring: springs and dampers between bodies.
        recording: variables to record, how often, and where to.
    """

    about: str = ""
    gravity: float | Sequence[float] | None = None
    points: Sequence[Sequence[float]] = ()
    simulation: SimulationSettings = field(default_factory=SimulationSettings)
    robot: Sequence[Part] = ()
    object: Sequence[Part] = ()
    surface: Sequence[Surface] = ()
    materials: Mapping[str, SurfaceLaw] = field(default_factory=dict)
    self_contact: bool = True
    edges: bool = True
    servo: Servo | None = None
    stops: Stops | None = field(default_factory=Stops)
    motors: Motors | None = None
    motion: MotionTable | None = None
    push: Sequence[Push] = ()
    spring: Sequence[SpringDamper] = ()
    recording: RecordingSettings = field(default_factory=RecordingSettings)

    def __post_init__(self) -> None:
        if not self.parts:
            raise HeelstrikeError(
                "a scene needs a robot or an object",
                remedy="add [[robot]] with model = ..., a name that `heelstrike list robots` "
                "prints, or a file",
            )
        if self.motion is not None and self.servo is None:
            raise HeelstrikeError(
                "no servo follows the motion", path="motion", remedy="add the table [servo]"
            )

    @property
    def parts(self) -> tuple[Part, ...]:
        """Robots, then objects."""
        return (*self.robot, *self.object)

    def part_keys(self) -> list[Key]:
        """Return the key of each part's table in the file."""
        return [
            *(("robot", i) for i in range(len(self.robot))),
            *(("object", i) for i in range(len(self.object))),
        ]
