"""The robot of a hit and its target as one system, for the full simulation.

The target is a body on a slide along the direction of the hit, whose one open face meets the hand;
its spring and damper are those of its joint.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heelstrike.contact.laws.elastic import Elastic
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.hit import Hit
from heelstrike.impact.target import SKIN, Target
from heelstrike.robot.combine import combine
from heelstrike.robot.robot import WORLD, Body, Joint, Point, Robot
from heelstrike.scene.surfaces import Box

HEAVY = 1e9
"""Mass of a target that cannot be moved [kg]."""
SIZE = 0.3
"""Side of the target, a cube [m]; no foot meets it."""
WALL, ROBOT, THING = "target_face", "robot", "target"
HAND = "hand"


def combined(hit: Hit, target: Target) -> Robot:
    """Combine robot and target; the hand's point becomes a contact point beside the feet's."""
    point = Point(HAND, hit.body, hit.point)
    robot = replace(hit.robot, points=(*hit.robot.points, point), poses={})
    return combine({ROBOT: robot, THING: slide(hit, target)}, name=f"{hit.robot.name} and target")


def slide(hit: Hit, target: Target) -> Robot:
    """Return the target as a robot of one joint along the hit."""
    for name in ("mass", "k", "c"):
        if np.size(getattr(target, name)) > 1:
            raise HeelstrikeError(
                f"the full simulation takes one target {name} for all hits; run one hit after "
                "another"
            )
    mass = min(float(np.ravel(target.mass)[0]), HEAVY)
    joint = Joint("slide", "prismatic", WORLD, axes(hit.direction), np.zeros(3),
                  np.array([1.0, 0.0, 0.0]), 0, 0)  # fmt: skip
    one = np.ones(1)
    return Robot(
        name="target",
        joints=(joint,),
        bodies=(Body("block", mass, np.zeros(3), mass * SIZE**2 / 6 * np.eye(3)),),
        armature=0 * one,
        damping=0 * one,
        friction=0 * one,
        lower=-np.inf * one,
        upper=np.inf * one,
        velocity_limit=np.inf * one,
        torque_limit=np.inf * one,
        kp=float(np.ravel(target.k)[0]) * one,
        kd=float(np.ravel(target.c)[0]) * one,
        gravity=hit.robot.gravity,
    )


def face(hit: Hit, law: Elastic) -> Box:
    """Return the target's face towards the hand."""
    return Box(
        law, name=WALL, body=f"{THING}/block", size=(SIZE, SIZE, SIZE), faces="-x",
        touches=[combined_name(hit, hit.body)],
    )  # fmt: skip


def soles(hit: Hit) -> list[str]:
    """Return the names, in the combined robot, of bodies whose points may touch the floor."""
    return [combined_name(hit, body) for body in sorted({p.body for p in hit.robot.points})]


def combined_name(hit: Hit, body: int) -> str:
    """Return the name of a body of the robot in the combined robot."""
    return f"{ROBOT}/{hit.robot.bodies[body].name}"


def face_centre(hit: Hit, hand: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Return the centres of the box, one per hit, with its face `gap` in front of the hand."""
    local = hand @ axes(hit.direction)
    return local + np.outer(gap + SIZE / 2 - SKIN, [1.0, 0.0, 0.0])


def axes(direction: np.ndarray) -> np.ndarray:
    """Return a rotation whose x axis is the direction."""
    side = np.eye(3)[int(np.argmin(np.abs(direction)))]
    y = np.cross(side, direction)
    y = y / np.linalg.norm(y)
    return np.stack([direction, y, np.cross(direction, y)], axis=1)
