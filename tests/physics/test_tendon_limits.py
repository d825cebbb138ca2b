"""Limits and equalities of tendons, and mimic joints, against closed forms.

A tendon over two hanging masses of equal weight stretches its stop by m g / k.
"""

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from tests.robot_files import LINK_MASS, joint, urdf

HANGING = """<mujoco><worldbody>
  <body name="a"><joint name="x" type="slide" axis="0 0 1"/><geom size=".1" mass="2"/></body>
  <body name="b" pos="1 0 0"><joint name="y" type="slide" axis="0 0 1"/><geom size=".1" mass="2"/>
  </body></worldbody><tendon><fixed name="t" {options}><joint joint="x" coef="{one}"/>{more}</fixed>
  <fixed name="u"><joint joint="y" coef="3"/></fixed></tendon>
  <equality>{equality}</equality></mujoco>"""
BOTH = '<joint joint="y" coef="1"/>'


def hanging(tmp_path, options: str = "", more: str = "", one: float = 1, equality: str = ""):
    path = tmp_path / "hanging.xml"
    path.write_text(HANGING.format(options=options, more=more, one=one, equality=equality))
    return path


def test_limit_over_two_joints(tmp_path):
    """Two masses of 2 kg hang on a limit of the sum of their heights, -0.1 m, and come to rest."""
    robot = hs.load(hanging(tmp_path, 'range="-.1 1"', BOTH))
    stops = hs.Stops(k=4000.0, c=100.0)
    sim = hs.Simulator(hs.Scene(robot, self_contact=False), dt=1e-3, stops=stops)
    run = sim.run(3.0)
    q = run.data["q"].values.reshape(-1, 2)[-1]
    assert q.sum() == pytest.approx(-0.1 - 2 * 9.81 / 4000, abs=1e-6)  # f = m g at each
    assert q[0] == pytest.approx(q[1], abs=1e-9)


def test_what_a_tendon_of_one_joint_does(tmp_path):
    """Its limit, dry friction and armature are those of the joint, by the arm."""
    options = 'range="-.2 .4" frictionloss="3" armature=".5"'
    robot = hs.load(hanging(tmp_path, options, one=-2))
    assert robot.tendons == ()
    assert (robot.lower[0], robot.upper[0]) == (-0.2, 0.1)
    assert (robot.friction[0], robot.armature[0]) == (6.0, 2.0)
    assert robot.fidelity == ()


@pytest.mark.parametrize(
    ("more", "equality"),
    [
        (BOTH, '<tendon tendon1="t" polycoef=".1 1 0 0 0"/>'),
        ("", '<tendon tendon1="t" polycoef=".1 1 0 0 0"/>'),
        ("", '<tendon tendon1="t" tendon2="u" polycoef=".1 2 .3 0 0"/>'),
    ],
    ids=["one over two joints", "one over one joint", "two tendons"],
)
def test_equality_of_tendons(more, equality, tmp_path):
    """The coupling vanishes where MuJoCo's constraint does, and has its slopes."""
    path = hanging(tmp_path, more=more, one=2, equality=equality)
    robot, m = hs.load(path), mujoco.MjModel.from_xml_path(str(path))
    (coupling,) = robot.constraints
    d = mujoco.MjData(m)
    for q in np.random.default_rng(4).uniform(-1, 1, (3, 2)):
        d.qpos[:] = q
        mujoco.mj_forward(m, d)
        other = 0.0 if coupling.other is None else q[coupling.other] - coupling.other_reference
        row = q[coupling.joint] - coupling.reference
        row -= np.polynomial.Polynomial(coupling.coefficients)(other)
        assert 2 * row == pytest.approx(d.efc_pos[0], rel=1e-12)  # 2: the arm of the first joint


def test_mimic_joint_follows(tmp_path):
    """q_b = -2 q_a + 0.3, a continuous; and a mimic of a fixed joint stays at its offset."""
    limit = "<limit lower='-3' upper='3' effort='9' velocity='9'/><axis xyz='0 1 0'/>"
    place = "<origin xyz='0.3 0 0'/>"
    path = tmp_path / "robot.urdf"
    path.write_text(
        urdf(
            joint("j", "a", "b", "continuous", place + "<axis xyz='0 1 0'/>")
            + joint("k", "b", "c", "revolute", limit + place
                    + "<mimic joint='j' multiplier='-2' offset='.3'/>")
            + joint("f", "b", "d", "fixed")
            + joint("s", "d", "e", "revolute", limit + "<mimic joint='f' offset='.5'/>"),
            "".join(f"<link name='{n}'>{LINK_MASS}</link>" for n in "cde"),
        )
    )  # fmt: skip
    robot = hs.load(path, base="fixed")
    assert robot.fidelity == ()
    zero = dict(zip([j.name for j in robot.joints], robot.pose("zero"), strict=True))
    assert zero == pytest.approx({"j": 0.0, "k": 0.3, "s": 0.5})
    sim = hs.Simulator(hs.Scene(robot, self_contact=False), dt=1e-3)
    run = sim.run(1.0, q0=robot.pose("zero"))
    q = run.data["q"].sel(coordinate=["j", "k", "s"]).values.reshape(-1, 3)
    assert np.ptp(q[:, 0]) > 0.1
    assert np.isinf(robot.upper[0])
    np.testing.assert_allclose(q[:, 1], 0.3 - 2 * q[:, 0], atol=1e-6)
    np.testing.assert_allclose(q[:, 2], 0.5, atol=1e-6)


STRING = """<mujoco><option gravity="0 0 {g}"/><worldbody><site name="top"/>
  <body name="ball" pos="{x} 0 0"><joint type="slide" axis="1 0 0"/>
    <joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
    <geom size=".02" mass=".3"/><site name="end"/></body></worldbody>
  <tendon><spatial name="s" range="{low} .5"><site site="top"/><site site="end"/></spatial>
  </tendon></mujoco>"""


def test_a_ball_hangs_on_a_string(tmp_path):
    """The limit of a spatial tendon carries m g, by which its stop of 1e4 m/s^2 stretches;
    in steps of more than 5 ms by (dt / 5 ms)^2 as much.
    """
    path = tmp_path / "string.xml"
    path.write_text(STRING.format(g=-9.81, x=0.3, low=0))
    robot = hs.load(path)
    assert robot.fidelity == ()
    assert robot.spatial_tendons[0].stop == pytest.approx(0.3e4)
    for dt, softer in ((1e-3, 1), (1e-2, 4)):
        sim = hs.Simulator(hs.Scene(robot, self_contact=False), dt=dt)
        run = sim.run(10.0, q0=[-0.3, 0.0, -0.2])  # it falls 0.3 m first
        rest = run.data["q"].values.reshape(-1, 3)[-1]
        np.testing.assert_allclose(rest, [-0.3, 0, -0.5 - 9.81e-4 * softer], atol=1e-9)
    free = hs.Simulator(hs.Scene(robot, self_contact=False), dt=1e-2, stops=None).run(1.0)
    assert free.data["q"].values.reshape(-1, 3)[-1, 2] < -4  # without stops it falls


def test_a_ball_circles_on_a_string(tmp_path):
    """Without gravity a ball on a string circles where m v^2 / r = k (r - 0.5 m)."""
    path = tmp_path / "string.xml"
    path.write_text(STRING.format(g=0, x=0.3, low=0))
    r, v = 0.505, 0.505 * np.sqrt(1e4 * 0.005 / 0.505)
    sim = hs.Simulator(hs.Scene(hs.load(path), self_contact=False), dt=5e-4, integrator="rk4")
    run = sim.run(2.0, q0=[r - 0.3, 0, 0], v0=[0, v, 0])
    q = run.data["q"].values.reshape(-1, 3) + np.array([0.3, 0, 0])
    t = run.data["time"].values
    exact = r * np.stack([np.cos(v / r * t), np.sin(v / r * t), 0 * t], axis=1)
    # of the fourth order in dt times the stop's 100/s: 3.6e-6 at 1 ms, 2e-7 m here
    np.testing.assert_allclose(q, exact, atol=1e-6)


def test_lower_end_of_a_spatial_tendon(tmp_path):
    """A ball that comes nearer than the lower end is pushed back, and loses energy on the way."""
    path = tmp_path / "string.xml"
    path.write_text(STRING.format(g=0, x=0.3, low=0.1))
    sim = hs.Simulator(hs.Scene(hs.load(path), self_contact=False), dt=1e-3)
    run = sim.run(1.0, q0=[0, 0, 0], v0=[-1.0, 0, 0])
    x = run.data["q"].values.reshape(-1, 3)[:, 0] + 0.3
    assert 0.1 - 1.0 / 100 < x.min() < 0.1  # v / rate without damping
    assert 0.2 < run.data["v"].values.reshape(-1, 3)[-1, 0] < 0.9


def test_friction_of_a_tendon_that_is_held(tmp_path):
    """Dry friction of a tendon whose length an equality keeps does nothing, and is no loss."""
    held = '<tendon tendon1="t" polycoef=".1 1 0 0 0"/>'
    assert hs.load(hanging(tmp_path, 'frictionloss="3"', BOTH, 2, held)).fidelity == ()
    with pytest.warns(hs.HeelstrikeWarning, match="dry friction"):
        hs.load(hanging(tmp_path, 'frictionloss="3"', BOTH, 2))
