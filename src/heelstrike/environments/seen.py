"""What a policy, a reward and the end of an episode are made of: arrays with a row a world.

The same names hold NumPy arrays on a CPU and tensors of PyTorch on a GPU. Gravity's direction in
the base's frame, R^T (0, 0, -1), says how the base is tilted whichever way it faces:

    g = -(2 (x z - w y), 2 (y z + w x), 1 - 2 (x^2 + y^2))       quaternion (x, y, z, w)

A foot's force is its impulse over the last action, over its time: the mean, which no chatter
between two looks can hide or feign; 0 after a reset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from heelstrike.environments.arrays import Arrays, columns
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.scene import bodies_in
from heelstrike.scene.servo import positions
from heelstrike.simulate.target import check_choice


class Layout:
    """Where things lie in q and v, and the start that they are compared with."""

    def __init__(self, arrays: Arrays, q0: np.ndarray, period: float) -> None:
        sim, robot = arrays.sim, arrays.sim.robot
        self.arrays, self.robot = arrays, robot
        self.period = period
        """Between two actions [s]."""
        self.dt = float(sim.parameters["dt"].ravel()[0])
        self.tiles = {name: arrays.tiles(name) for name in sim.state}
        self.impulse = self.tiles.get("impulse", self.tiles["q"][:, :0])
        self.floating = robot.joints[0].kind == "free"
        single = [j for j in robot.joints if j.kind in ("revolute", "prismatic")]
        turning = [j for j in robot.joints if j.kind == "continuous"]
        order = [j.iv for j in (*single, *turning)]
        self.single = columns(arrays, [j.iq for j in single])
        self.turning = [columns(arrays, [j.iq + k for j in turning]) for k in (0, 1)]
        """In q: joints with one number; cosines and sines of those with two."""
        self.moved = columns(arrays, order)
        """The joints in v, in the order of Seen.joints."""
        self.names = tuple(joint.name for joint in (*single, *turning))
        self.pose = arrays.each(positions(robot, q0)[order])
        self.height = float(q0[2]) if self.floating else 0.0
        self.bodies = tuple(robot.bodies[b].name for b in bodies_in(sim.scene.pairs))
        self.weight = robot.mass * float(np.linalg.norm(sim.scene.gravity)) or 1.0


@dataclass(frozen=True)
class Seen:
    """All worlds after an action, or after a reset. Made anew for each step; arrays are copies."""

    _layout: Layout
    action: Any
    """As it was taken, within -1 and 1; 0 after a reset."""
    _before: Any
    """Impulses at the last look, as tiles."""

    @property
    def xp(self) -> Any:
        """The module of these arrays, numpy or torch: s.xp.exp(...), s.xp.where(...)."""
        return self._layout.arrays.xp

    @cached_property
    def q(self) -> Any:
        """Coordinates, (worlds, nq)."""
        return self.joined("q")

    @cached_property
    def v(self) -> Any:
        """Velocities, (worlds, nv); the base's are linear, then angular, in its own frame."""
        return self.joined("v")

    @cached_property
    def height(self) -> Any:
        """Of the base [m], (worlds,)."""
        return self._layout.arrays.column(self._tiles("height"), 0)

    @cached_property
    def gravity(self) -> Any:
        """Its direction in the base's frame, (worlds, 3); (0, 0, -1) upright."""
        return self.joined("gravity")

    @cached_property
    def twist(self) -> Any:
        """Velocity of the base in its own frame, linear, then angular, (worlds, 6)."""
        return self.joined("twist")

    @cached_property
    def joints(self) -> Any:
        """Positions of the joints less those of the start [rad or m], (worlds, joints)."""
        return self.joined("joints")

    @cached_property
    def joint_velocities(self) -> Any:
        """[rad/s or m/s], (worlds, joints)."""
        return self.joined("joint_velocities")

    @cached_property
    def force(self) -> Any:
        """Mean contact force on each body that may touch, over the action [N, world axes],
        (worlds, bodies, 3).
        """
        return (self.joined("load") * self.weight).reshape(-1, len(self.bodies), 3)

    @cached_property
    def steps(self) -> Any:
        """Of the simulator since the reset, (worlds,)."""
        return self._layout.arrays.column(self._tiles("clock"), 0)

    @property
    def time(self) -> Any:
        """Since the reset [s], (worlds,)."""
        return self.steps * self._layout.dt

    @cached_property
    def failed(self) -> Any:
        """Whether a world diverged, (worlds,)."""
        return self._layout.arrays.column(self._tiles("failed"), 0) >= 0

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies of `force`."""
        return self._layout.bodies

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Of `joints`."""
        return self._layout.names

    @property
    def weight(self) -> float:
        """Of the robot [N]."""
        return self._layout.weight

    @property
    def start_height(self) -> float:
        """Of the base [m]."""
        return self._layout.height

    @property
    def floating(self) -> bool:
        """Whether the robot's base is free."""
        return self._layout.floating

    def joined(self, *names: str) -> Any:
        """Several of these side by side, (worlds, n), the quickest way to an observation: any state
        of the simulator, or height, gravity, twist, joints, joint_velocities, load (the forces over
        the weight).
        """
        return self._layout.arrays.rows(*map(self._tiles, names))

    def _tiles(self, name: str) -> Any:
        layout = self._layout
        if name in layout.tiles:
            return layout.tiles[name]
        check_choice("quantity", name, [*QUANTITIES, *layout.tiles])
        if name in ("height", "gravity", "twist") and not layout.floating:
            raise HeelstrikeError(f"{layout.robot.name} has no free base: it has no '{name}'")
        if name == "load" and not layout.bodies:
            raise HeelstrikeError("nothing of this scene can touch: there are no contact forces")
        return QUANTITIES[name](self, layout)

    @cached_property
    def _tilt(self) -> Any:
        turn = self._layout.tiles["q"][:, 3:7].swapaxes(0, 1).reshape(4, -1)  # in one piece: quick
        level = turn[:2]  # x, y
        z, w, square = turn[2] * level, turn[3] * level, level * level
        g = self.xp.concatenate([w[1] - z[0], -z[1] - w[0], square[0] + square[1] - 0.5])
        g *= 2
        return g.reshape(3, *self._layout.arrays.shape).swapaxes(0, 1)

    @property
    def _positions(self) -> Any:
        layout = self._layout
        q = layout.tiles["q"]
        single = q[:, layout.single]
        if len(layout.names) == single.shape[1]:
            return single
        cos, sin = (q[:, places] for places in layout.turning)
        return self.xp.concatenate([single, self.xp.arctan2(sin, cos)], 1)


QUANTITIES: dict[str, Callable[[Seen, Layout], Any]] = {
    "height": lambda s, layout: layout.tiles["q"][:, 2:3],
    "gravity": lambda s, layout: s._tilt,
    "twist": lambda s, layout: layout.tiles["v"][:, :6],
    "joints": lambda s, layout: s._positions - layout.pose,
    "joint_velocities": lambda s, layout: layout.tiles["v"][:, layout.moved],
    "load": lambda s, layout: (layout.impulse - s._before) / (layout.period * layout.weight),
}
"""By name, as tiles."""
