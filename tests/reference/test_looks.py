"""The shapes of the bundled humanoids: weightless, mirrored, as tall as their robots.

Oracles: for the dynamics the same file without what is drawn, compiled by MuJoCo; for soles and
lengths the sources that docs/robots.md names, by their numbers; for left and right the mirror; for
heights the papers.
"""

from importlib.resources import files

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.robot.placement import placements
from heelstrike.view.render.robot_solids import place_solids, robot_solids

HUMANOIDS = ("hoap1", "hrp2", "biped14")
MASS = {"hoap1": 5.0, "hrp2": 58.0, "biped14": 40.8}
"""[kg]"""
HEIGHT = {"hoap1": 0.480, "hrp2": 1.540}
"""Of the robot that stands straight [m]."""
LEGS = {  # thigh, shin, ankle over sole; from the left ankle: heel, toe, inner and outer edge [m]
    "hoap1": (0.100, 0.100, 0.0355, (-0.0358, 0.0582), (-0.026, 0.036)),
    "hrp2": (0.300, 0.300, 0.105, (-0.100, 0.140), (-0.069, 0.069)),
    "biped14": (0.392, 0.392, 0.064, (-0.080, 0.140), (-0.065, 0.065)),
}
KNEE_AND_ANKLE = {
    "hoap1": ("L_LFE", "L_KN", "L_AAA"),
    "hrp2": ("LLEG2", "LLEG3", "LLEG5"),
    "biped14": ("l_hip_pitch", "l_knee", "l_ankle_yaw"),
}
ALL_POINTS = {"hoap1": 17 * 8 + 1, "hrp2": 15 * 8 + 3, "biped14": 7 * 8}
"""Corners of boxes; a ball for a head; one point for each ellipsoid."""


def compiled(name, bare):
    """MuJoCo's model and its inertia matrix in stance, with or without what is drawn."""
    spec = mujoco.MjSpec.from_file(str(files("heelstrike.robot") / "models" / f"{name}.xml"))
    if bare:
        for geom in [geom for geom in spec.geoms if geom.classname.name not in ("sole", "main")]:
            spec.delete(geom)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("stance").id)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return model, M


@pytest.mark.parametrize("name", HUMANOIDS)
def test_shapes_weigh_nothing(name):
    (drawn, M_drawn), (bare, M_bare) = compiled(name, bare=False), compiled(name, bare=True)
    assert bare.ngeom == 2 < drawn.ngeom
    assert drawn.body_mass.sum() == pytest.approx(MASS[name], abs=1e-6)  # eight digits a link
    np.testing.assert_array_equal(M_drawn, M_bare)


@pytest.mark.parametrize("name", HUMANOIDS)
def test_shells_touch_a_floor_that_asks_for_them(name):
    """Sunk into the ground up to its neck, MuJoCo's robot meets a plain floor with its soles only,
    one with a second contact bit with its shells.
    """
    bodies = []
    for bits in (1, 3):
        spec = mujoco.MjSpec.from_file(str(files("heelstrike.robot") / "models" / f"{name}.xml"))
        plane = mujoco.mjtGeom.mjGEOM_PLANE
        spec.worldbody.add_geom(type=plane, size=[5, 5, 0.1], conaffinity=bits)
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, model.key("stance").id)
        data.qpos[2] = 0
        mujoco.mj_forward(model, data)
        geoms = data.contact.geom
        assert (geoms == 0).any(axis=1).all()  # nothing but the floor is touched
        bodies.append({model.geom(g).name for g in geoms.max(axis=1)})
    assert bodies[0] == {"l_sole", "r_sole"}
    assert {"l_sole", "r_sole", "l_thigh", "r_thigh", "l_shin", "r_shin"} <= bodies[1]


@pytest.mark.parametrize("name", HUMANOIDS)
def test_soles_and_lengths(name):
    """The eight contact points are the corners that the sources give; so are thigh and shin."""
    robot = hs.load(name, collide="feet")
    thigh, shin, ankle, along, across = LEGS[name]
    hip, knee, foot = (robot.body(body) for body in KNEE_AND_ANKLE[name])
    places = placements(robot, robot.neutral)
    assert places[hip][1][2] - places[knee][1][2] == pytest.approx(thigh, abs=1e-12)
    assert places[knee][1][2] - places[foot][1][2] == pytest.approx(shin, abs=1e-12)
    corners = np.array([point.position for point in robot.points if point.body == foot])
    np.testing.assert_allclose(corners[:, 2], -ankle, atol=1e-12)
    for k, edges in enumerate((along, across)):
        np.testing.assert_allclose(np.unique(corners[:, k].round(9)), edges, atol=1e-9)
    assert len(robot.points) == 8
    assert len(hs.load(name, collide="all").points) == ALL_POINTS[name]


def described(robot):
    """Of every shape in stance: what stays the same in a mirror, its centre, its second moments."""
    poses = placements(robot, robot.pose("stance"))
    for shape in robot.shapes:
        R, p = poses[shape.body]
        axes = R @ shape.rotation
        half = np.resize(shape.size, 3)
        if shape.kind in ("cylinder", "capsule"):
            half = shape.size[[0, 0, 1]]
        kept = (shape.kind, *shape.size.round(9), shape.colour, shape.collides, shape.meets_floor)
        yield kept, R @ shape.translation + p, axes @ np.diag(half**2) @ axes.T


@pytest.mark.parametrize("name", HUMANOIDS)
def test_left_and_right_are_mirror_images(name):
    """Each shape, mirrored in y = 0, is one of the robot's shapes, and each only once."""
    mirror = np.diag([1.0, -1.0, 1.0])
    shapes = list(described(hs.load(name)))
    left = list(shapes)
    for kept, centre, moments in shapes:
        twins = [
            k
            for k, (other, place, spread) in enumerate(left)
            if other == kept
            and np.allclose(place, mirror @ centre, atol=1e-9)
            and np.allclose(spread, mirror @ moments @ mirror, atol=1e-9)
        ]
        assert twins, f"{kept} at {centre} has no twin"
        left.pop(twins[0])


@pytest.mark.parametrize("name", HUMANOIDS)
def test_what_is_drawn_is_as_tall_as_the_robot(name):
    """From the soles up, and nothing below them."""
    robot = hs.load(name)
    solids = robot_solids(robot)
    corners = np.vstack([s.vertices for s in place_solids(robot, solids, robot.pose("stance"))])
    assert corners[:, 2].min() == pytest.approx(0, abs=1e-9)
    upright = np.vstack([s.vertices for s in place_solids(robot, solids, robot.neutral)])
    if name in HEIGHT:
        # a ball of flat triangles lacks less than a millimetre
        assert np.ptp(upright[:, 2]) == pytest.approx(HEIGHT[name], abs=1e-3)
