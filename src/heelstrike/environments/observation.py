"""The quantities from which observations, rewards and the end of an episode are computed.

They are arrays with a row per world: NumPy arrays on a CPU, PyTorch tensors on a GPU. Gravity's
direction in the base's frame, R^T (0, 0, -1), gives the tilt of the base, independent of its
heading:

    g = -(2 (x z - w y), 2 (y z + w x), 1 - 2 (x^2 + y^2))       quaternion (x, y, z, w)

The force on a foot is its impulse over the last action divided by the action's time: a mean, which
does not depend on chatter between two observations. It is 0 after a reset.

On a terrain the height of the base is that above the ground below it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np

from heelstrike.environments.arrays import Array, Arrays, columns
from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.record.variables import check_variables
from heelstrike.robot.points import on_feet
from heelstrike.scene.controller import Readings
from heelstrike.scene.servo import positions
from heelstrike.scene.terrain import Terrain
from heelstrike.simulate.target import check_choice

OF_BASE = ("height", "gravity", "twist")
"""Quantities of a floating base."""
QUANTITIES = (*OF_BASE, "joints", "joint_velocities", "load", "foot_load")
"""Quantities that `Observation.joined` takes, besides states and sensors of the simulator."""


class Named(dict[str, Array]):
    """Arrays by name; unknown names raise with the nearest one."""

    def __init__(self, kind: str, arrays: Mapping[str, Array]) -> None:
        super().__init__(arrays)
        self._kind = kind

    def __missing__(self, name: str) -> Array:
        raise UnknownNameError(self._kind, name, self)


class StateLayout:
    """The positions of quantities in q and v, and the start with which they are compared."""

    def __init__(
        self, arrays: Arrays, q0: np.ndarray, period: float, terrain: Terrain | None = None
    ) -> None:
        sim, robot = arrays.sim, arrays.sim.robot
        self.arrays, self.robot = arrays, robot
        self.period = period
        """Time between two actions [s]."""
        self.dt = float(sim.parameters["dt"].ravel()[0])
        self.tiles = {name: arrays.tiles(name) for name in sim.state}
        self.sensors = {sensor.name: sensor.reading_shape for sensor in sim.plan.sensors}
        """Shapes of what sensors show, by name."""
        self.readable = self.tiles | {
            sensor.name: self.tiles[sensor.name][:, sensor.delay * sensor.size :]
            for sensor in sim.plan.sensors
        }
        """States, and what sensors show: without samples that are on their way."""
        self.parameters: dict[str, Array] = {}
        """Parameters that differ between worlds, by path, as tiles."""
        self.command_names: tuple[str, ...] = ()
        self.ground = None if terrain is None else GroundHeight(arrays, terrain)
        self.impulse = self.tiles.get("impulse", self.tiles["q"][:, :0])
        self.floating = robot.joints[0].kind == "free"
        single = [j for j in robot.joints if j.kind in ("revolute", "prismatic")]
        continuous = [j for j in robot.joints if j.kind == "continuous"]
        order = [j.iv for j in (*single, *continuous)]
        self.single = columns(arrays, [j.iq for j in single])
        """Columns of q that hold joints with one coordinate."""
        self.continuous = [columns(arrays, [j.iq + k for j in continuous]) for k in (0, 1)]
        """Columns of q that hold cosines and sines of continuous joints."""
        self.velocities = columns(arrays, order)
        """Columns of v of the joints, in the order of Observation.joints."""
        self.names = tuple(joint.name for joint in (*single, *continuous))
        self.pose = arrays.per_lane(positions(robot, q0)[order])
        self.height = float(q0[2]) if self.floating else 0.0
        touching = sim.scene.bodies
        self.bodies = tuple(robot.bodies[b].name for b in touching)
        standing = {point.body for point in on_feet(robot).points}
        feet = [3 * i + k for i, body in enumerate(touching) if body in standing for k in range(3)]
        self.feet = columns(arrays, feet)
        """Columns of impulses of the feet."""
        self.weight = robot.mass * float(np.linalg.norm(sim.scene.gravity)) or 1.0


class GroundHeight:
    """Heights of a terrain below places, bilinear as in the compiled step."""

    def __init__(self, arrays: Arrays, terrain: Terrain) -> None:
        self._arrays, self._heights = arrays, arrays.real_array(terrain.heights)
        self._middle = [(n - 1) / 2 for n in terrain.heights.shape]
        self._per = [
            (n - 1) / size for n, size in zip(terrain.heights.shape, terrain.size, strict=True)
        ]

    def __call__(self, x: Array, y: Array) -> Array:
        """Return the height [m] at places x, y [m], in arrays of any shape."""
        cells, parts = [], []
        for place, middle, per, n in zip(
            (x, y), self._middle, self._per, self._heights.shape, strict=True
        ):
            held = (place * per + middle).clip(0.0, n - 1.0)
            cells.append(self._arrays.index(held.clip(0.0, n - 2.0)))
            parts.append(held - self._arrays.real_array(cells[-1]))
        (i, j), (a, b), h = cells, parts, self._heights
        low, high = ((1 - b) * h[k, j] + b * h[k, j + 1] for k in (i, i + 1))
        return (1 - a) * low + a * high


@dataclass(frozen=True)
class Observation:
    """The quantities of all worlds after an action or a reset; all arrays are copies."""

    _layout: StateLayout
    action: Array
    """The action as applied, within -1 and 1, (worlds, joints); 0 after a reset."""
    _impulse_before: Array
    """Impulses before the action, as tiles."""
    last_action: Array = None
    """The action before that, as applied; 0 after a reset."""

    @property
    def xp(self) -> ModuleType:
        """The module of the arrays, numpy or torch: s.xp.exp(...), s.xp.where(...)."""
        return self._layout.arrays.xp

    @cached_property
    def q(self) -> Array:
        """Coordinates, (worlds, nq)."""
        return self.joined("q")

    @cached_property
    def v(self) -> Array:
        """Velocities, (worlds, nv); the base's are linear, then angular, in its own frame."""
        return self.joined("v")

    @cached_property
    def height(self) -> Array:
        """Height of the base [m], on a terrain above the ground below it, (worlds,)."""
        return self._layout.arrays.column(self._tiles("height"), 0)

    @cached_property
    def gravity(self) -> Array:
        """Direction of gravity in the base's frame, (worlds, 3); (0, 0, -1) upright."""
        return self.joined("gravity")

    @cached_property
    def twist(self) -> Array:
        """Velocity of the base in its own frame, linear, then angular, (worlds, 6)."""
        return self.joined("twist")

    @cached_property
    def joints(self) -> Array:
        """Joint positions relative to the start [rad or m], (worlds, joints)."""
        return self.joined("joints")

    @cached_property
    def joint_velocities(self) -> Array:
        """Joint velocities [rad/s or m/s], (worlds, joints)."""
        return self.joined("joint_velocities")

    @cached_property
    def force(self) -> Array:
        """Mean contact force on each body over the action [N, world axes], (worlds, bodies, 3)."""
        return (self.joined("load") * self.weight).reshape(-1, len(self.bodies), 3)

    @cached_property
    def sensors(self) -> Mapping[str, Array]:
        """What the simulator's sensors showed after the last step by name, (worlds, ...)."""
        shapes = self._layout.sensors
        return Readings({n: self.joined(n).reshape(-1, *shape) for n, shape in shapes.items()})

    @property
    def command(self) -> Array:
        """Present commands side by side, (worlds, commands)."""
        if not self._layout.command_names:
            raise HeelstrikeError(
                "this environment has no commands", remedy="pass commands=hs.Commands(...)"
            )
        return self.joined("command")

    @cached_property
    def commands(self) -> Mapping[str, Array]:
        """Present commands by name, (worlds,) each."""
        named = enumerate(self._layout.command_names)
        tiles = self._layout.readable.get("command")
        column = self._layout.arrays.column
        return Named("command", {name: column(tiles, i) for i, name in named})

    @property
    def level(self) -> Array:
        """Level of each world, 0 to 1, (worlds,)."""
        return self._layout.arrays.column(self._tiles("level"), 0)

    @cached_property
    def parameters(self) -> Mapping[str, Array]:
        """Values of the parameters that were drawn, by path, (worlds, size) each."""
        rows = self._layout.arrays.rows
        drawn = self._layout.parameters.items()
        return Named("drawn parameter", {path: rows(tiles) for path, tiles in drawn})

    def phase(self, cycle: float) -> Array:
        """Return sine and cosine of a clock with a cycle [s], (worlds, 2)."""
        angle = (2 * math.pi / cycle) * self.time
        return self.xp.stack([self.xp.sin(angle), self.xp.cos(angle)], 1)

    def ground(self, x: Array, y: Array) -> Array:
        """Return the height of the terrain at places x, y [m], arrays of any shape; else 0."""
        return 0 * x if self._layout.ground is None else self._layout.ground(x, y)

    @cached_property
    def steps(self) -> Array:
        """Steps of the simulator since the reset, (worlds,)."""
        return self._layout.arrays.column(self._tiles("clock"), 0)

    @property
    def time(self) -> Array:
        """Time since the reset [s], (worlds,)."""
        return self.steps * self._layout.dt

    @cached_property
    def failed(self) -> Array:
        """Mask of the worlds that diverged, (worlds,)."""
        return self._layout.arrays.column(self._tiles("failed"), 0) >= 0

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies of `force`."""
        return self._layout.bodies

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints of `joints`."""
        return self._layout.names

    @property
    def weight(self) -> float:
        """Weight of the robot [N]."""
        return self._layout.weight

    @property
    def start_height(self) -> float:
        """Height of the base at the start [m]."""
        return self._layout.height

    @property
    def floating(self) -> bool:
        """True if the robot's base is free."""
        return self._layout.floating

    def joined(self, *names: str) -> Array:
        """Return several quantities side by side, (worlds, n): the fastest way to an observation.

        Names are any state or sensor of the simulator, any parameter that is drawn, or command,
        level, height, gravity, twist, joints,
        joint_velocities, load (the contact forces divided by the weight) and foot_load (those of
        the feet).
        """
        return self._layout.arrays.rows(*map(self._tiles, names))

    def _tiles(self, name: str) -> Array:
        """Return a quantity as tiles."""
        layout = self._layout
        for known in (layout.readable, layout.parameters):
            if name in known:
                return known[name]
        if isinstance(name, str) and "." in name:
            check_variables(layout.arrays.sim.scene, [name], (), path="sensors")
            raise HeelstrikeError(
                f"no sensor measures '{name}'",
                path="sensors",
                remedy=f"pass sensors=['{name}'] to the environment or its simulator",
            )
        check_choice("quantity", name, [*QUANTITIES, *layout.readable], "quantities")
        if name in OF_BASE and not layout.floating:
            raise HeelstrikeError(f"{layout.robot.name} has no free base, so it has no '{name}'")
        if name in ("load", "foot_load") and not layout.bodies:
            raise HeelstrikeError("this scene has no contacts, so it has no contact forces")
        return self._quantity(name)

    def _quantity(self, name: str) -> Array:
        layout = self._layout
        q, v = layout.tiles["q"], layout.tiles["v"]
        match name:
            case "height":
                return q[:, 2:3] - self.ground(q[:, 0:1], q[:, 1:2]) if layout.ground else q[:, 2:3]
            case "gravity":
                return self._gravity
            case "twist":
                return v[:, :6]
            case "joints":
                return self._joint_positions - layout.pose
            case "joint_velocities":
                return v[:, layout.velocities]
        impulse = layout.impulse - self._impulse_before
        own = impulse[:, layout.feet] if name == "foot_load" else impulse
        return own / (layout.period * layout.weight)

    @cached_property
    def _gravity(self) -> Array:
        turn = self._layout.tiles["q"][:, 3:7].swapaxes(0, 1).reshape(4, -1)  # contiguous: fast
        level = turn[:2]  # x, y
        z, w, square = turn[2] * level, turn[3] * level, level * level
        g = self.xp.concatenate([w[1] - z[0], -z[1] - w[0], square[0] + square[1] - 0.5])
        g *= 2
        return g.reshape(3, *self._layout.arrays.shape).swapaxes(0, 1)

    @property
    def _joint_positions(self) -> Array:
        layout = self._layout
        q = layout.tiles["q"]
        single = q[:, layout.single]
        if len(layout.names) == single.shape[1]:
            return single
        cos, sin = (q[:, columns] for columns in layout.continuous)
        return self.xp.concatenate([single, self.xp.arctan2(sin, cos)], 1)
