"""What a scene file may say: each table is a dataclass, each key a field.

What stands under a field is what `heelstrike run --print` writes beside the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.scene.files.motion import Motion
from heelstrike.scene.files.part import Part
from heelstrike.scene.servo import Servo
from heelstrike.scene.stops import Stops
from heelstrike.scene.surfaces import Surface


@dataclass(frozen=True)
class Simulation:
    """How it is simulated."""

    duration: float = 1.0
    """Simulated time [s]"""
    dt: float = 1e-3
    """Step [s]"""
    integrator: str = "symplectic"
    """"symplectic", "euler" or "rk4\""""
    dtype: str = "float64"
    """"float64" or "float32\""""
    sensors: Sequence[str] = ()
    """Bodies, links or sites that carry an accelerometer and a gyro"""

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
class Shove:
    """A push: a force on a body for a while."""

    body: str
    """Body, link or site; "part/body" where a scene has several parts"""
    force: Sequence[float]
    """In world axes [N]"""
    duration: float
    """[s]"""
    start: float = 0.0
    """[s]"""
    point: Sequence[float] | None = None
    """Where it acts, in the body's frame [m]; none: its centre of mass"""

    def __post_init__(self) -> None:
        for word in ("force", "point"):
            value = getattr(self, word)
            if value is not None and (len(value) != 3 or not all(abs(x) < 1e9 for x in value)):
                raise ParameterError(word, list(value), "three finite numbers")
        if not 0 < self.duration < 1e6:
            raise ParameterError("duration", self.duration, "a time above 0 s")
        if not 0 <= self.start < 1e6:
            raise ParameterError("start", self.start, "a time of at least 0 s")


@dataclass(frozen=True)
class Keep:
    """What is recorded."""

    every: int = 1
    """Steps from one record to the next"""
    variables: str | Sequence[str] = "standard"
    """"standard", "final" (the end only), or names: docs/recording.md"""
    file: str | None = None
    """Where `heelstrike run` writes it, .nc, seen from where it runs"""

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ParameterError("every", self.every, "a whole number of steps above 0")


@dataclass(frozen=True)
class Content:
    """A whole scene."""

    about: str = ""
    """What it shows"""
    gravity: float | Sequence[float] | None = None
    """Positive down, or three in world axes [m/s^2]; none: the model's"""
    points: Sequence[Sequence[float]] = ()
    """That stand in the world, [x, y, z] or with a radius [m]: they meet surfaces on bodies"""
    simulation: Simulation = field(default_factory=Simulation)
    robot: Sequence[Part] = ()
    object: Sequence[Part] = ()
    surface: Sequence[Surface] = ()
    materials: Mapping[str, SurfaceLaw] = field(default_factory=dict)
    """Laws of bodies, [materials.BODY]: they hold for the points of a body, whatever they touch;
    [materials."BODY on SURFACE"]: on that surface alone"""
    servo: Servo | None = None
    """A table [servo]; none: the joints are free"""
    stops: Stops | None = field(default_factory=Stops)
    """At the ends of the joints' ranges; none: there are none"""
    motion: Motion | None = None
    """A table [motion] with file = ..., that the servo follows"""
    push: Sequence[Shove] = ()
    recording: Keep = field(default_factory=Keep)

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

    def tables(self) -> list[Any]:
        """Where the parts stand in the file."""
        return [
            *(("robot", i) for i in range(len(self.robot))),
            *(("object", i) for i in range(len(self.object))),
        ]
