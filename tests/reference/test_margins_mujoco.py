"""Margins of ranges against MuJoCo: a stop with a margin is at rest that far before its end.

MuJoCo accelerates the row of a limit by aref = -k r (distance - margin) at rest. It changes sign
where our range ends.
"""

import mujoco
import numpy as np
import pytest

import heelstrike as hs

FILES = {
    "hinge": """<mujoco><worldbody><body><joint name="j" range="-40 60" margin=".1"/>
        <geom size=".1"/></body></worldbody></mujoco>""",
    "slide": """<mujoco><worldbody><body><joint name="j" type="slide" range="-.3 .2" margin=".05"/>
        <geom size=".1"/></body></worldbody></mujoco>""",
    "tendon of one joint": """<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body>
        </worldbody><tendon><fixed range="-1 2" margin=".2"><joint joint="j" coef="-2"/></fixed>
        </tendon></mujoco>""",
}
TWO = """<mujoco><worldbody><site name="w" pos="0 0 1"/><body><joint name="j" type="slide"/>
    <geom size=".1"/><site name="s"/><body><joint name="k" axis="0 1 0"/><geom size=".1"/></body>
    </body></worldbody><tendon><fixed name="f" range="-1 2" margin=".2"><joint joint="j" coef="1"/>
    <joint joint="k" coef=".5"/></fixed><spatial name="c" range=".5 1.5" margin=".1">
    <site site="s"/><site site="w"/></spatial></tendon></mujoco>"""


def push(m, at: float) -> float:
    """Return what MuJoCo's limits do to the first coordinate, at rest."""
    d = mujoco.MjData(m)
    d.qpos[0] = at
    mujoco.mj_forward(m, d)
    sides = d.efc_J.reshape(-1, m.nv)[:, 0]
    return float(np.sign(sides) @ d.efc_aref) if d.nefc else 0.0


@pytest.mark.parametrize("name", FILES)
def test_end_of_a_range(name, tmp_path):
    """Nothing pushes at our ends; beyond them MuJoCo pushes back."""
    path = tmp_path / "one.xml"
    path.write_text(FILES[name])
    m, robot = mujoco.MjModel.from_xml_path(str(path)), hs.load(path)
    m.opt.gravity[:] = 0
    for end, out in ((robot.lower[0], -1), (robot.upper[0], 1)):
        assert np.isfinite(end)
        assert abs(push(m, end)) < 1e-9  # rounding of 1e-16 times MuJoCo's rate of 2.8e3 1/s^2
        assert push(m, end - out * 1e-3) * out >= 0
        assert push(m, end + out * 1e-3) * out < -1e-3


def test_ranges_of_tendons(tmp_path):
    """A fixed tendon over two joints and a spatial one, by the lengths of their ends."""
    path = tmp_path / "two.xml"
    path.write_text(TWO)
    robot = hs.load(path)
    np.testing.assert_allclose(robot.tendons[0].limit, (-0.8, 1.8), atol=1e-15)
    np.testing.assert_allclose(robot.spatial_tendons[0].limit, (0.6, 1.4), atol=1e-15)
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.gravity[:] = 0
    m.tendon_limited[1] = 0
    assert abs(push(m, 1.8)) < 1e-9
    m.tendon_limited[:] = [0, 1]
    for end in (0.4, -0.4):  # the cord is 0.6 m and 1.4 m long
        assert abs(push(m, end)) < 1e-9


def test_range_of_a_ball_joint(tmp_path):
    """Its cone is narrower by the margin."""
    path = tmp_path / "ball.xml"
    path.write_text("""<mujoco><worldbody><body><joint type="ball" range="0 50" margin=".2"/>
        <geom size=".1"/></body></worldbody></mujoco>""")
    m, cone = mujoco.MjModel.from_xml_path(str(path)), hs.load(path).cones[0].angle
    d, pushes = mujoco.MjData(m), []
    for angle in (cone - 1e-3, cone, cone + 1e-3):
        d.qpos[:] = [np.cos(angle / 2), np.sin(angle / 2), 0, 0]
        mujoco.mj_forward(m, d)
        pushes.append(float(d.efc_aref.sum()))  # without a row 0
    assert pushes[0] == 0
    assert abs(pushes[1]) < 1e-9
    assert pushes[2] > 1e-3


def test_margin_of_a_narrow_range(tmp_path):
    """Margins that overlap leave the middle, which a written file keeps."""
    path = tmp_path / "narrow.xml"
    path.write_text(FILES["slide"].replace('margin=".05"', 'margin="1"'))
    robot = hs.load(path)
    assert robot.lower[0] == robot.upper[0] == pytest.approx(-0.05, abs=1e-15)
    again = hs.load(robot.to_mjcf(tmp_path / "written.xml"))
    np.testing.assert_allclose([again.lower[0], again.upper[0]], -0.05, atol=1e-15)
