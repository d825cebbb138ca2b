"""Equalities of tendons against MuJoCo's rows: ours vanish where its do, and are a multiple.

At random states the row of our constraint over MuJoCo's `efc_pos` is one constant, 1 / arm of the
coupled joint, and so it is of the file that `to_mjcf` writes.
"""

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.robot.closing import residual

ARM = """<mujoco><worldbody><site name="w" pos=".2 .1 .3"/><body name="a">
    <joint name="j" axis="0 1 0" ref="10"/><geom size=".05" pos=".3 0 0"/>
    <site name="u" pos=".1 0 .05"/><body name="b" pos=".3 0 0"><joint name="k" axis="0 1 0"/>
    <geom size=".04" pos=".2 .02 0"/><site name="s" pos=".1 .05 0"/><body name="c" pos=".2 0 0">
    <joint name="l" axis="1 0 0" type="slide"/><geom size=".04" pos=".2 .02 0"/></body></body>
    </body><body name="f" pos="0 1 1" quat="1 .1 .2 .3"><freejoint/><geom size=".1"/>
    <site name="fs" pos=".1 0 0"/></body></worldbody><tendon>
    <fixed name="one"><joint joint="j" coef="2"/></fixed>
    <fixed name="two"><joint joint="j" coef="1"/><joint joint="k" coef="-.5"/></fixed>
    <fixed name="three"><joint joint="k" coef="1"/><joint joint="l" coef="3"/></fixed>
    <fixed name="slide"><joint joint="l" coef="-3"/></fixed>
    <spatial name="arm"><site site="s"/><site site="w"/></spatial>
    <spatial name="body"><site site="w"/><site site="fs"/></spatial>
    <spatial name="bent"><site site="u"/><site site="s"/><site site="w"/></spatial>
    </tendon><equality><tendon {}/></equality></mujoco>"""
SIMULATED = {
    "one joint": ('tendon1="one" polycoef=".1 0 0 0 0"', 2.0),
    "a sum": ('tendon1="two" polycoef=".1 0 0 0 0"', 1.0),
    "two sums": ('tendon1="two" tendon2="three" polycoef=".1 2 0 0 0"', 1.0),
    "sums that share a joint": ('tendon1="one" tendon2="two" polycoef=".1 .5 0 0 0"', 1.5),
    "a sum by a polynomial": ('tendon1="two" tendon2="slide" polycoef=".1 2 .3 -.4 .5"', 1.0),
    "a rod to the world": ('tendon1="arm" polycoef=".05 0 0 0 0"', 1.0),
    "a rod as drawn": ('tendon1="body"', 1.0),
}
LEFT_OUT = {
    "a polynomial of a sum": 'tendon1="two" tendon2="three" polycoef=".1 2 .1 0 0"',
    "a joint in both": 'tendon1="two" tendon2="one" polycoef=".1 2 .1 0 0"',
    "a rope by way of a site": 'tendon1="bent"',
    "two ropes": 'tendon1="arm" tendon2="body"',
}


@pytest.mark.parametrize("name", SIMULATED)
def test_row_of_an_equality(name, tmp_path):
    """At five states, in the file and in the written one."""
    equality, arm = SIMULATED[name]
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(equality))
    robot = hs.load(path)
    written = robot.to_mjcf(tmp_path / "written.xml")
    models = [mujoco.MjModel.from_xml_path(str(p)) for p in (path, written)]
    random = np.random.default_rng(0)
    for _ in range(5):
        qpos, rows = models[0].qpos0.copy(), []
        mujoco.mj_integratePos(models[0], qpos, random.uniform(-0.4, 0.4, models[0].nv), 1.0)
        for m in models:
            d = mujoco.MjData(m)
            d.qpos[:] = qpos
            mujoco.mj_forward(m, d)
            rows.append(float(d.efc_pos[0]))
        q = np.concatenate([qpos[:-4], np.roll(qpos[-4:], -1)])
        assert abs(rows[0]) > 1e-3
        # rounding of lengths of 1 m
        np.testing.assert_allclose(residual(robot, q) * arm, rows[0], rtol=0, atol=1e-14)
        np.testing.assert_allclose(rows[1] * arm, rows[0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", LEFT_OUT)
def test_equality_that_is_left_out(name, tmp_path):
    """It is named, and nothing else is lost."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(LEFT_OUT[name]))
    with pytest.warns(hs.HeelstrikeWarning, match="left out: its tendons cannot be coupled"):
        robot = hs.load(path)
    assert not robot.constraints
