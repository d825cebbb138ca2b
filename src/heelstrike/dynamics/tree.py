"""The robot's tree cut into limbs: chains of joints that are traced as one block."""

from __future__ import annotations

from dataclasses import dataclass

from heelstrike.robot.robot import WORLD, Robot

LONGEST = 8
"""Joints in a limb; longer chains are cut, so that no block grows with the robot."""


@dataclass(frozen=True)
class Limb:
    """Consecutive joints, each the only child of the one before."""

    name: str
    joints: tuple[int, ...]


def limbs(robot: Robot) -> list[Limb]:
    """The limbs, parents before children."""
    children: dict[int, list[int]] = {}
    for i, joint in enumerate(robot.joints):
        children.setdefault(joint.parent, []).append(i)
    chains: list[list[int]] = []
    chain_of: dict[int, list[int]] = {}
    for i, joint in enumerate(robot.joints):
        chain = chain_of.get(joint.parent)
        only_child = joint.parent != WORLD and len(children[joint.parent]) == 1
        if chain is None or not only_child or len(chain) >= LONGEST:
            chain = []
            chains.append(chain)
        chain.append(i)
        chain_of[i] = chain
    return [Limb(robot.joints[chain[0]].name, tuple(chain)) for chain in chains]


def parts(robot: Robot) -> list[tuple[str, list[int]]]:
    """Each limb's name and velocity indices."""
    spans = [range(joint.iv, joint.iv + joint.nv) for joint in robot.joints]
    return [(limb.name, [i for j in limb.joints for i in spans[j]]) for limb in limbs(robot)]


def supports(robot: Robot, body: int) -> list[int]:
    """The joints that move a body, from the root outward."""
    path = []
    while body != WORLD:
        path.append(body)
        body = robot.joints[body].parent
    return path[::-1]
