"""The walking task: legs that follow velocity commands, by a clock, for any robot with feet.

Lengths, speeds and times are shares of h, sqrt(g h) and sqrt(h / g), with the height h of the base
at the start, so that the same numbers serve a small humanoid and a large one (Froude). The clock
has a cycle T; foot i swings while s_i = sin(2 pi t / T + offset_i) > 0, unless the command is 0.

    z_i* = lift max(s_i, 0)        wanted height of a foot above the ground below it

Terms of the reward, each a rate times the time of an action:

    track     exp(-((v - v*) / width)^2)       velocities along x and y, and rate of turn
    clock     mean exp(-((z_i - z_i*) / (lift / 2))^2)
    upright   exp(-10 |g_xy|^2)                direction of gravity in the base's frame
    swing     - load of feet that should be in the air, over the weight
    slide     - horizontal speed of loaded feet
    flat      - (1 - cos of a sole's tilt)
    rate      - mean squared change of the action
    effort    - mean squared action
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heelstrike.checks import number
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.environments import task
from heelstrike.environments.arrays import Array
from heelstrike.environments.commands import Commands
from heelstrike.environments.curriculum import by_survival
from heelstrike.environments.observation import Observation
from heelstrike.environments.pushes import Pushes
from heelstrike.environments.ranges import Factor, Graded
from heelstrike.errors import HeelstrikeError
from heelstrike.robot.load import load
from heelstrike.robot.placement import placements
from heelstrike.robot.points import on_feet
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.scene.placing import placed
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.scene.surfaces import Plane
from heelstrike.scene.terrain import Terrain
from heelstrike.simulate.simulator import Simulator

TERMS = ("gravity", "twist", "joints", "joint_velocities", "command")
"""Observed quantities, besides the last action and the clock."""
CYCLE, LIFT, SPEED = 3.5, 0.07, 0.05
"""Cycle of the clock, height of steps and width of the reward of speed, as shares."""
PACE = {2: 0.1, 4: 0.3}
"""Largest speed that is commanded, as a share, by the number of feet."""
WEIGHTS = {
    "track_x": 1.5,
    "track_y": 0.75,
    "track_turn": 0.75,
    "clock": 1.0,
    "upright": 0.5,
    "swing": -1.0,
    "slide": -1.0,
    "flat": -2.0,
    "rate": -0.3,
    "effort": -0.05,
}
"""Weights of the reward's terms [1/s]."""


@dataclass(frozen=True)
class Walk:
    """The functions of the task, for a robot in its standing pose."""

    robot: Robot
    q0: np.ndarray
    """Standing pose on the ground, (nq,)."""
    period: float = 0.02
    """Time of an action [s]."""
    weights: dict[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    """Weights of the reward's terms [1/s]."""

    def __post_init__(self) -> None:
        bodies = list(dict.fromkeys(point.body for point in on_feet(self.robot).points))
        if self.robot.joints[0].kind != "free" or len(bodies) < 2:
            raise HeelstrikeError(
                f"{self.robot.name} cannot walk: it has no free base, or fewer than two feet"
            )
        placed_at = placements(self.robot, self.q0)
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "feet", [self.robot.bodies[b].name for b in bodies])
        object.__setattr__(self, "rest", [float(placed_at[b][1][2]) for b in bodies])
        object.__setattr__(self, "up", [placed_at[b][0][2] for b in bodies])
        away = [placed_at[b][1][:2] - self.q0[:2] for b in bodies]
        second = [i % 2 if len(away) == 2 else x * y > 0 for i, (x, y) in enumerate(away)]
        object.__setattr__(self, "signs", [-1.0 if each else 1.0 for each in second])

    bodies: list[int] = field(init=False)
    feet: list[str] = field(init=False)
    """Names of the feet."""
    rest: list[float] = field(init=False)
    """Heights of their frames in the standing pose [m]."""
    up: list[np.ndarray] = field(init=False)
    """Upward direction of each sole in its own frame."""
    signs: list[float] = field(init=False)
    """Sign of the clock of each foot: legs of a biped, and diagonals of a quadruped, alternate."""

    @property
    def height(self) -> float:
        """Height of the base at the start [m]."""
        return float(self.q0[2])

    @property
    def speed(self) -> float:
        """Unit of speed, sqrt(g h) [m/s]."""
        return math.sqrt(9.81 * self.height)

    @property
    def cycle(self) -> float:
        """Cycle of the clock, in whole actions [s]."""
        return self.period * round(CYCLE * math.sqrt(self.height / 9.81) / self.period)

    @property
    def sensors(self) -> list[str]:
        """Sensors that the reward needs."""
        return [
            f"{foot}.{kind}" for foot in self.feet for kind in ("position", "velocity", "rotation")
        ]

    @property
    def scale(self) -> np.ndarray:
        """Position of the action 1 [rad]: 0.4 for pitch joints of legs, 0.25, and 0.1 for arms."""
        robot, legs = self.robot, set()
        for body in self.bodies:
            while body != WORLD:
                legs.add(body)
                body = robot.joints[body].parent
        turned = [rotation for rotation, _ in placements(robot, self.q0)]
        driven = [
            (i, turned[i] @ j.axis)
            for i, j in enumerate(robot.joints)
            if j.kind in ("revolute", "continuous")
        ]
        pitch = [0.4 if abs(axis[1]) > 0.5 else 0.25 for _, axis in driven]
        return np.array([x if i in legs else 0.1 for x, (i, _) in zip(pitch, driven, strict=True)])

    @property
    def commands(self) -> Commands:
        """Velocities along x and y [m/s], and rate of turn [rad/s]."""
        fast = PACE.get(len(self.feet), 0.1) * self.speed
        turn = 0.1 * math.sqrt(9.81 / self.height)
        ranges = {"vx": (-0.4 * fast, fast), "vy": (-0.3 * fast, 0.3 * fast), "turn": (-turn, turn)}
        return Commands(ranges, wait=(3.0, 6.0), zero=0.1)

    def observation(self, s: Observation) -> Array:
        """Return what the policy sees: TERMS, the last action and the clock."""
        return s.xp.concatenate([s.joined(*TERMS), s.action, s.phase(self.cycle)], 1)

    def critic(self, s: Observation) -> Array:
        """Return what the policy sees, height, contact forces and parameters that were drawn."""
        more = s.joined("height", "foot_load", *s.parameters)
        return s.xp.concatenate([self.observation(s), more], 1)

    def reward(self, s: Observation) -> dict[str, Array]:
        """Return the terms of the reward."""
        xp, exp, wide = s.xp, s.xp.exp, SPEED * self.speed
        command = s.commands
        moving = (s.command**2).sum(1)[:, None] > 0
        clock = xp.stack([sign * s.phase(self.cycle)[:, 0] for sign in self.signs], 1) * moving
        position = [s.sensors[f"{foot}.position"] for foot in self.feet]
        heights = (p[:, 2] - s.ground(p[:, 0], p[:, 1]) for p in position)
        above = xp.stack([z - rest for z, rest in zip(heights, self.rest, strict=True)], 1)
        speed = xp.stack(
            [(s.sensors[f"{foot}.velocity"][:, :2] ** 2).sum(1) for foot in self.feet], 1
        )
        load = s.joined("foot_load").reshape(-1, len(self.feet), 3)[..., 2]
        lift = LIFT * self.height
        wanted = lift * clock.clip(0.0, 1.0)
        turn = wide / self.height
        change, size = s.action - s.last_action, s.action.shape[1]
        terms = {
            "track_x": exp(-(((s.twist[:, 0] - command["vx"]) / wide) ** 2)),
            "track_y": exp(-(((s.twist[:, 1] - command["vy"]) / wide) ** 2)),
            "track_turn": exp(-(((s.twist[:, 5] - command["turn"]) / (2 * turn)) ** 2)),
            "clock": exp(-(((above - wanted) / (lift / 2)) ** 2)).mean(1),
            "upright": exp(-10 * (s.gravity[:, :2] ** 2).sum(1)),
            "swing": (load * (clock > 0.2)).sum(1),
            "slide": ((speed**0.5) * (load > 0.1)).sum(1) / (0.3 * self.speed),
            "flat": sum(self._tilt(s, i) for i in range(len(self.feet))),
            "rate": (change**2).sum(1) / size,
            "effort": (s.action**2).sum(1) / size,
        }
        return {name: self.period * self.weights[name] * term for name, term in terms.items()}

    def _tilt(self, s: Observation, foot: int) -> Array:
        """Return 1 - cos of the tilt of a sole."""
        third = s.sensors[f"{self.feet[foot]}.rotation"][:, 2]
        return 1 - sum(third[:, k] * float(self.up[foot][k]) for k in range(3))


def standing(robot: Robot, scene: Scene) -> np.ndarray:
    """Return the robot's standing pose, on the ground."""
    named = next((n for n in ("stance", "stand", "home") if n in robot.poses), None)
    pose = robot.pose(named) if named else next(iter(robot.poses.values()))
    return placed(scene, pose)


def walking(
    robot: str | os.PathLike[str] | Robot = "hoap1",
    worlds: int = 1,
    *,
    law: SurfaceLaw | None = None,
    rough: float = 1.0,
    push: float = 0.05,
    device: str = "cpu",
    dtype: str = "float32",
    dt: float = 1e-3,
    hold: int = 20,
    **options: Any,
) -> dict[str, Any]:
    """Return the arguments of `hs.Environments` for the walking task.

    Args:
        robot: name of a bundled robot, a path of a .urdf or .xml file, or a robot.
        worlds: number of worlds.
        law: law of the ground.
        rough: size of the terrain's steps and slopes in the hardest row, 0 for a plane; 1 are
            4 % of the height of the base and a slope of 0.1.
        push: change of speed by the strongest pushes, which last 0.1 s, as a share of sqrt(g h).
        device: "cpu", or a GPU: "cuda", or by number "cuda:1".
        dtype: "float32" or "float64".
        dt: time step [s].
        hold: steps per action.
        options: other arguments of `hs.Environments`, which replace those of the task.
    """
    rough = number("rough", rough, "a number of at least 0", least=0)
    push = number("push", push, "a number of at least 0", least=0)
    made = robot if isinstance(robot, Robot) else load(robot, collide="feet")
    flat = Scene(made, Plane(name="ground") if law is None else Plane(law, name="ground"))
    q0 = standing(made, flat)
    walk = Walk(made, q0, dt * hold)
    terrain, scene = None, flat
    if rough:
        terrain = _terrain(walk.height, rough)
        scene = Scene(made, terrain.surface(flat.surfaces[0].law))
    sim = Simulator(
        scene, dt, Servo(), worlds=worlds, dtype=dtype, device=device, sensors=walk.sensors
    )
    sim.begin_at(q0)
    strongest = push * made.mass * walk.speed / 0.1
    usual = {
        "scene": sim,
        "hold": hold,
        "scale": walk.scale,
        "observation": walk.observation,
        "critic": walk.critic,
        "reward": walk.reward,
        "terminated": task.fell,
        "commands": walk.commands,
        "terrain": terrain,
        "curriculum": by_survival,
        "pushes": Pushes(Graded((0.0, 0.0), (0.0, strongest)), wait=(1.0, 3.0)) if push else None,
        "vary": {"servo.kp": Factor(0.9, 1.1, each=True)},
        "noise": (0.03, 0.1),
    }
    return usual | options


def _terrain(height: float, rough: float) -> Terrain:
    """Return the ground of the task for a robot of some height of the base [m]."""
    return Terrain(
        ("flat", "rough", "slope", "stairs"),
        levels=5,
        height=0.04 * height * rough,
        slope=0.1 * rough,
        tile=10 * height,
        platform=2 * height,
        tread=0.6 * height,
        grain=0.3 * height,
        cell=0.1 * height,
    )
