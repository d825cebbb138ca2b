"""Contacts that a compiled MJCF allows: geoms with the ground, and geoms with one another.

As in MuJoCo, two geoms touch if a <pair> names them, or if

    (contype1 & conaffinity2) | (contype2 & conaffinity1)  is not 0

and no <exclude> names their bodies, which must not be fixed to one another, nor be a parent and
its child (unless the parent is fixed to the world, or the flag filterparent is off).
"""

from __future__ import annotations

import mujoco
import numpy as np
from mujoco import mjtDisableBit, mjtGeom

from heelstrike.robot.mjcf_compile import Compiled
from heelstrike.robot.mjcf_model import has_no, placement

FLOORS = (mjtGeom.mjGEOM_PLANE, mjtGeom.mjGEOM_HFIELD)
"""Types of geoms that are ground on every body that is fixed to the world."""
FLAT = 1e-6
"""Height up to which geoms of the world are ground [m]."""


def meets_ground(compiled: Compiled) -> np.ndarray:
    """Return a mask of the geoms that touch the ground.

    The ground is every geom of the world, and planes and height fields that are fixed to it. If
    none of these touches anything, the file leaves the ground to a scene: geoms with any contact
    bit touch it.
    """
    mj = compiled.model
    fixed = mj.body_weldid[mj.geom_bodyid] == 0
    floor = np.array([mjtGeom(compiled.geoms[i].kind) in FLOORS for i in range(mj.ngeom)], bool)
    ground = (mj.geom_bodyid == 0) | (fixed & floor)
    pairs = np.column_stack([mj.pair_geom1, mj.pair_geom2])
    has_bits = (mj.geom_contype | mj.geom_conaffinity) != 0
    paired = pairs[ground[pairs].any(axis=1)]
    if not (has_bits & ground).any() and not len(paired):
        return has_bits & ~ground
    meets = _bits_match(mj)[ground].any(axis=0)
    meets[paired] = True
    return meets & ~ground


def paired_geoms(mj: mujoco.MjModel) -> list[tuple[int, int]]:
    """Return the geoms of the <pair> elements."""
    return [(int(i), int(j)) for i, j in zip(mj.pair_geom1, mj.pair_geom2, strict=True)]


def touching_geoms(mj: mujoco.MjModel) -> list[tuple[int, int]]:
    """Return the pairs of geoms that may touch, the ground's left out."""
    if has_no(mj, mjtDisableBit.mjDSBL_CONTACT):
        return []
    body = mj.geom_bodyid
    weld = mj.body_weldid[body]
    parent = mj.body_weldid[mj.body_parentid[weld]]
    allowed = _bits_match(mj) & (weld[:, None] != weld)
    if not mj.opt.disableflags & mjtDisableBit.mjDSBL_FILTERPARENT:
        child = (parent[:, None] == weld) & (weld != 0)
        allowed &= ~(child | child.T)
    first, second = mj.exclude_signature >> 16, mj.exclude_signature & 0xFFFF
    for one, other in zip(first, second, strict=True):
        excluded = (body == one)[:, None] & (body == other)
        allowed &= ~(excluded | excluded.T)
    for i, j in paired_geoms(mj):
        allowed[i, j] = allowed[j, i] = True
    ground = (body == 0) & is_ground(mj)
    allowed[ground] = allowed[:, ground] = False
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(allowed))]


def is_ground(mj: mujoco.MjModel) -> np.ndarray:
    """Return a mask of the geoms that a scene replaces by its ground, if they are of the world.

    These are planes, height fields, and what does not reach above z = 0.
    """
    floors = np.isin(mj.geom_type, FLOORS)
    turned = [placement(mj.geom_quat[i], mj.geom_pos[i]).rotation for i in range(mj.ngeom)]
    middle, half = mj.geom_aabb[:, :3], mj.geom_aabb[:, 3:]
    tops = [R[2] @ c + np.abs(R[2]) @ h for R, c, h in zip(turned, middle, half, strict=True)]
    return floors | (mj.geom_pos[:, 2] + np.array(tops) <= FLAT)


def _bits_match(mj: mujoco.MjModel) -> np.ndarray:
    """Return a mask (ngeom, ngeom) of the geoms whose contact bits match."""
    match = (mj.geom_contype[:, None] & mj.geom_conaffinity) != 0
    return match | match.T
