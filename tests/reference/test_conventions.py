"""What docs/conventions.md says of MuJoCo, Pinocchio and coal, asked of them.

Oracle: the libraries themselves. A body turned by 90 degrees about z tells world from body axes; a
ball 10 mm deep in a floor tells signs, normals, order and how friction is combined. Exact up to
rounding and, where a quaternion is stepped, up to the step's square.
"""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

HALF = np.sqrt(0.5)
BALL = """<mujoco><worldbody>
  <geom type="plane" size="1 1 .1" friction="0.3 0.01 0.0001" priority="{priority}"/>
  <body pos="0 0 0.09"><freejoint/><geom size="0.1" friction="0.9 0.005 0.0002"/></body>
</worldbody></mujoco>"""


def ball(priority=0):
    model = mujoco.MjModel.from_xml_string(BALL.format(priority=priority))
    return mujoco, model, mujoco.MjData(model)


def test_pinocchio_has_xyzw_and_velocities_in_the_body():
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    turned = pin.integrate(model, pin.neutral(model), np.array([0, 0, 0, 0, 0, np.pi / 2]))
    np.testing.assert_allclose(turned, [0, 0, 0, 0, 0, HALF, HALF], atol=1e-12)
    moved = pin.integrate(model, turned, np.array([1.0, 0, 0, 0, 0, 0]))
    np.testing.assert_allclose(moved[:3], [0, 1, 0], atol=1e-12)


def test_mujoco_has_wxyz_linear_in_the_world_angular_in_the_body():
    mujoco, model, data = ball()
    turned = np.array([0, 0, 1, HALF, 0, 0, HALF])
    data.qpos[:], data.qvel[:] = turned, [1, 0, 0, 1, 0, 0]
    step = 1e-4
    mujoco.mj_integratePos(model, data.qpos, data.qvel, step)
    np.testing.assert_allclose(data.qpos[:3] - turned[:3], [step, 0, 0], atol=1e-12)
    # q times half the body's rate (0, 1, 0, 0)
    rate = (data.qpos[3:] - turned[3:]) / step
    np.testing.assert_allclose(rate, [0, HALF / 2, HALF / 2, 0], atol=step)


def test_contacts_of_mujoco():
    mujoco, model, data = ball()
    data.qvel[0] = 1.0
    mujoco.mj_forward(model, data)
    contact = data.contact[0]
    assert contact.dist == pytest.approx(-0.01)
    assert contact.geom.tolist() == [0, 1]  # the floor, the ball: the normal goes up
    np.testing.assert_allclose(contact.frame[:3], [0, 0, 1])
    np.testing.assert_allclose(contact.friction, [0.9, 0.9, 0.01, 0.0002, 0.0002])
    force = np.zeros(6)
    mujoco.mj_contactForce(model, data, 0, force)
    assert force[0] > 0
    # its default cone is a pyramid: no more than mu along each of two tangents
    assert 0 < np.linalg.norm(force[1:3]) <= np.sqrt(2) * 0.9 * force[0]
    mujoco, model, data = ball(priority=1)
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.contact[0].friction[:3], [0.3, 0.3, 0.01])


def test_distances_of_coal():
    coal = pytest.importorskip("coal", reason="it comes with Pinocchio")
    there = coal.Transform3s()
    there.setTranslation(np.array([1.5, 0, 0]))
    found, asked = coal.DistanceResult(), coal.DistanceRequest()
    coal.distance(coal.Sphere(1.0), coal.Transform3s(), coal.Sphere(1.0), there, asked, found)
    assert found.min_distance == pytest.approx(-0.5)
    np.testing.assert_allclose(found.normal, [1, 0, 0], atol=1e-9)
