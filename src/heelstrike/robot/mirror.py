"""Limbs that are mirror images of one another, such as a left and a right leg.

Limbs are of one form if their joints, from the inside out, are of the same kinds, and if in where
these sit and turn about the same numbers are 0, or 1 but for the sign. A sign that they do not have
in common is noted in the joint: it is traced as a factor instead of being folded into the code, so
that such limbs do the same operations to other numbers (codegen/passes/packing.py). Factors of
1 and -1 are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heelstrike.robot.robot import WORLD, Joint, Robot

FIELDS = ("rotation", "translation", "axis")
ROUND_OFF = 1e-12
"""An entry this close to 0 or +-1 is taken to be it."""


def with_mirrored(robot: Robot) -> Robot:
    """The robot with `Joint.mirrored` of every joint."""
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
    """Entries that are 1 in some and -1 in others."""
    stack = np.stack(arrays)
    return (np.abs(stack - 1) < ROUND_OFF).any(axis=0) & (np.abs(stack + 1) < ROUND_OFF).any(axis=0)


def _forms(robot: Robot) -> list[object]:
    """Of each joint with the limb that it belongs to: all outside it, and all inside up to where
    the tree branches.
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
    """The joint's kind, and where its numbers are 0 and +-1."""
    size = np.abs(np.concatenate([np.ravel(getattr(joint, name)) for name in FIELDS]))
    return joint.kind, (size < ROUND_OFF).tobytes(), (np.abs(size - 1) < ROUND_OFF).tobytes()
