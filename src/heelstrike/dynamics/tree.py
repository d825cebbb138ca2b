"""Limbs of a robot's tree: chains of joints that are traced as one block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heelstrike.robot.robot import WORLD, Robot

MAX_JOINTS = 8
"""Largest number of joints in a limb; longer chains are cut, so that blocks stay small."""


@dataclass(frozen=True)
class Limb:
    """A name, and consecutive joints, each the only child of the one before."""

    name: str
    joints: tuple[int, ...]


def limbs(robot: Robot) -> list[Limb]:
    """Return the limbs, parents before children."""
    children: dict[int, list[int]] = {}
    for i, joint in enumerate(robot.joints):
        children.setdefault(joint.parent, []).append(i)
    chains: list[list[int]] = []
    chain_of: dict[int, list[int]] = {}
    for i, joint in enumerate(robot.joints):
        chain = chain_of.get(joint.parent)
        only_child = joint.parent != WORLD and len(children[joint.parent]) == 1
        if chain is None or not only_child or len(chain) >= MAX_JOINTS:
            chain = []
            chains.append(chain)
        chain.append(i)
        chain_of[i] = chain
    return [Limb(robot.joints[chain[0]].name, tuple(chain)) for chain in chains]


def parts(robot: Robot) -> list[tuple[str, list[int]]]:
    """Return the name and the velocity indices of each limb."""
    spans = [range(joint.iv, joint.iv + joint.nv) for joint in robot.joints]
    return [(limb.name, [i for j in limb.joints for i in spans[j]]) for limb in limbs(robot)]


def supports(robot: Robot, body: int) -> list[int]:
    """Return the supporting joints of a body, from the root outward."""
    path = []
    while body != WORLD:
        path.append(body)
        body = robot.joints[body].parent
    return path[::-1]


def is_overdetermined(robot: Robot, wanted: Mapping[int, int]) -> bool:
    """Return whether joints cannot give bodies any velocities that are wanted of them.

    `wanted` are numbers of independent velocities, at most 6, by body. If the joints cannot, then
    different forces on the bodies may have the same effect on all joints.
    """
    left = [wanted.get(i, 0) for i in range(len(robot.joints))]
    for i in reversed(range(len(robot.joints))):
        joint = robot.joints[i]
        left[i] = max(left[i] - joint.nv, 0)
        if left[i] > (0 if joint.parent == WORLD else 6):
            return True
        if joint.parent != WORLD:
            left[joint.parent] += left[i]
    return False
