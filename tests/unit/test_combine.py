"""Robots combined, against Pinocchio's inertia matrix of the parts."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from heelstrike.errors import HeelstrikeError
from heelstrike.robot import combine, load
from tests.models import rebuilt
from tests.robot_files import LINK_MASS, joint, urdf


def test_combine_carries_everything():
    """A robot and two cubes: dynamics of each part alone, names, poses, points and gains."""
    hoap, cube = load("hoap1", collide="feet"), load("cube")
    both = combine({"hoap": hoap, "one": cube, "two": cube}, name="scene")
    assert both.name == "scene"
    assert both.nv == hoap.nv + 12
    assert both.mass == pytest.approx(hoap.mass + 2 * cube.mass)
    assert [j.name for j in both.joints] == list(both.model.names)[1:]
    assert both.joints[-1].name == "two/root"
    assert both.bodies[both.body("two/cube")].name == "two/cube"
    assert set(both.poses) == {"zero", "stance"}
    assert len(both.points) == len(hoap.points) + 2 * len(cube.points)
    assert len({p.name for p in both.points}) == len(both.points)

    rng = np.random.default_rng(1)
    q = pin.integrate(both.model, both.pose("stance"), rng.uniform(-1, 1, both.nv))
    whole = np.triu(pin.crba(both.model, both.model.createData(), q))
    chain = rebuilt(both)
    np.testing.assert_allclose(whole, np.triu(pin.crba(chain, chain.createData(), q)), atol=1e-12)
    iq = iv = 0
    for key, part in (("hoap", hoap), ("one", cube), ("two", cube)):
        own_q, own_v = slice(iq, iq + part.nq), slice(iv, iv + part.nv)
        assert both.joints[both.body(f"{key}/{part.bodies[-1].name}")].iv < iv + part.nv
        alone = np.triu(pin.crba(part.model, part.model.createData(), q[own_q]))
        np.testing.assert_allclose(whole[own_v, own_v], alone, atol=1e-12)
        np.testing.assert_array_equal(both.pose("stance")[own_q], part.pose("stance"))
        for vector in ("kp", "kd", "armature", "damping", "friction", "torque_limit"):
            np.testing.assert_array_equal(getattr(both, vector)[own_v], getattr(part, vector))
        np.testing.assert_array_equal(both.lower[own_q], part.lower)
        for point in part.points:
            [same] = [p for p in both.points if p.name == f"{key}/{point.name}"]
            assert both.bodies[same.body].name == f"{key}/{part.bodies[point.body].name}"
            np.testing.assert_array_equal(same.position, point.position)
        iq, iv = iq + part.nq, iv + part.nv


def test_combine_names_a_sequence_and_refuses_nonsense():
    cube, ball = load("cube"), load("ball")
    keys = [j.name for j in combine([cube, ball, cube]).joints]
    assert keys == ["cube1/root", "ball/root", "cube2/root"]
    with pytest.raises(HeelstrikeError, match="nothing to combine"):
        combine([])
    with pytest.raises(HeelstrikeError, match=r"not one robot \(cube\); pass combine\(\[robot"):
        combine(cube)
    with pytest.raises(HeelstrikeError, match="part 0 is 'cube', not a robot; load it first"):
        combine(["cube"])
    with pytest.raises(HeelstrikeError, match="not a generator"):
        combine(part for part in (cube, ball))
    with pytest.raises(HeelstrikeError, match="name of a part is 1"):
        combine({1: cube})


def test_combine_keeps_edits():
    """Bodies and joints that were edited, in the robot and in its Pinocchio model."""
    cube = load("cube")
    body = replace(
        cube.bodies[0], mass=7.0, com=np.array([0.1, 0.2, 0.3]), inertia=np.diag([1.0, 2.0, 2.5])
    )
    shift = np.array([0.0, 0.0, 5.0])
    joint_ = replace(cube.joints[0], translation=shift)
    both = combine({"plain": cube, "edited": replace(cube, bodies=(body,), joints=(joint_,))})
    assert both.mass == pytest.approx(cube.mass + 7.0)
    np.testing.assert_array_equal(both.joints[1].translation, shift)
    np.testing.assert_array_equal(both.model.jointPlacements[2].translation, shift)
    inertia = both.model.inertias[2]
    for ours, edited in ((both.bodies[1].com, body.com), (both.bodies[1].inertia, body.inertia)):
        np.testing.assert_array_equal(ours, edited)
    assert inertia.mass == 7.0
    np.testing.assert_array_equal(inertia.lever, body.com)
    np.testing.assert_allclose(inertia.inertia, body.inertia, atol=1e-15)


def test_combine_keeps_every_kind_of_joint(tmp_path):
    """Continuous about a slanting axis, planar, and a link fixed to the world."""
    path = tmp_path / "robot.urdf"
    links = "".join(f"<link name='{name}'>{LINK_MASS}</link>" for name in "cd")
    path.write_text(
        urdf(joint("j", "a", "b", more="<axis xyz='1 2 3'/><origin xyz='1 0 0'/>")
             + joint("k", "b", "c", "planar", "<axis xyz='0 0 1'/>")
             + joint("l", "c", "d", "continuous", "<axis xyz='0 1 0'/>"), links)
    )  # fmt: skip
    arm = load(path, base="fixed", collide="feet")
    both = combine([arm, arm])
    assert [j.kind for j in both.joints] == 2 * ["continuous", "planar", "continuous"]
    assert both.frames["r2/a"].body == -1
    assert both.frames["r2/d"].body == both.body("r2/l") == 5
    q = pin.integrate(arm.model, arm.neutral, np.linspace(-1, 1, arm.nv))
    alone = np.triu(pin.crba(arm.model, arm.model.createData(), q))
    whole = np.triu(pin.crba(both.model, both.model.createData(), np.tile(q, 2)))
    np.testing.assert_allclose(whole, np.kron(np.eye(2), alone), atol=1e-12)


def test_combined_once_more():
    """A combined system can be a part of another."""
    cube = load("cube")
    nested = combine({"pile": combine([cube, cube]), "third": cube})
    assert [j.name for j in nested.joints] == ["pile/cube1/root", "pile/cube2/root", "third/root"]


def test_shapes_of_parts_touch_if_they_were_loaded():
    """All shapes touch those of other parts, combined parts' as well; of a list, those it names."""
    cube, feet = load("cube"), load("cube", collide="feet")
    two = combine({"a": cube, "b": cube})
    assert combine({"two": two, "c": cube}).self_pairs == ((0, 1), (0, 2), (1, 2))
    assert combine({"two": two, "c": feet}).self_pairs == ((0, 1),)
    named = combine({"robot": load("hoap1", collide=["L_AAA", "r_sole"]), "cube": cube})
    pairs = {tuple(named.shapes[i].name for i in pair) for pair in named.self_pairs}
    soles = ("robot/r_sole", "robot/l_sole")
    assert pairs == {soles, *((sole, "cube/cube") for sole in soles)}
