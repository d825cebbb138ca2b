"""Limbs that are mirror images of one another, such as a left and a right leg.

Two limbs have the same form if their joints, from the inside out, are of the same kinds, and if the
same entries of their placements and axes are 0, or are 1 up to the sign. A sign in which they
differ is stored in the joint: it is traced as a factor in place of being folded into the code, so
that such limbs perform the same operations on different numbers (codegen/passes/packing.py).
Factors of 1 and -1 are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heelstrike.robot.robot import WORLD, Joint, Robot

FIELDS = ("rotation", "translation", "axis")
ROUND_OFF = 1e-12
"""Distance from 0, 1 or -1 up to which an entry counts as that number."""


def with_mirrored(robot: Robot) -> Robot:
    """Return the robot with `Joint.mirrored` set for every joint."""
    groups: dict[object, list[int]] = {}
    for i, form in enumerate(_forms(robot)):
        groups.setdefault(form, []).append(i)
    joints = list(robot.joints)
    for group in groups.values():
        own = [robot.joints[i] for i in group]
        signs = {name: _signs([getattr(joint, name) for joint in own]) for name in FIELDS}
        mirrored = {name: found for name, found in signs.items() if found.any()}
        for i in group:
            joints[i] = replace(joints[i], mirrored=mirrored)
    return replace(robot, joints=tuple(joints))


def _signs(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return a mask of the entries that are 1 in some arrays and -1 in others."""
    stack = np.stack(arrays)
    return (np.abs(stack - 1) < ROUND_OFF).any(axis=0) & (np.abs(stack + 1) < ROUND_OFF).any(axis=0)


def _forms(robot: Robot) -> list[object]:
    """Return the form of each joint with its limb.

    A limb is everything outside the joint, and everything inside it up to where the tree branches.
    """
    children = [robot.children(i) for i in range(len(robot.joints))]
    own = [_form(joint) for joint in robot.joints]
    outward: list[object] = list(own)
    for i in reversed(range(len(own))):
        outward[i] = (own[i], *(outward[child] for child in children[i]))
    inward: list[object] = list(own)
    for i, joint in enumerate(robot.joints):
        if joint.parent != WORLD and len(children[joint.parent]) == 1:
            inward[i] = (inward[joint.parent], own[i])
    return list(zip(inward, outward, strict=True))


def _form(joint: Joint) -> object:
    """Return the joint's kind, and masks of its entries that are 0 and that are 1 or -1."""
    size = np.abs(np.concatenate([np.ravel(getattr(joint, name)) for name in FIELDS]))
    return joint.kind, (size < ROUND_OFF).tobytes(), (np.abs(size - 1) < ROUND_OFF).tobytes()
