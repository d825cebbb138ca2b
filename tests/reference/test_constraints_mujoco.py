"""Equality constraints of an MJCF against MuJoCo's own residuals and Jacobians.

MuJoCo's `efc_pos` and `efc_J` are computed from the file by its own code. A weld's rotation is
there sin(angle / 2) about the axis, in the frame of the second body, times the torque scale.
"""

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.robot.closing import jacobian, residual
from heelstrike.robot.constraints import Connect, Distance, JointCoupling, Weld
from heelstrike.robot.robot import WORLD

BALL = '<joint type="ball"/><geom size=".1" mass="1"/>'
FILE = f"""<mujoco><worldbody>
  <body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0" ref="20"/><geom size=".1" mass="1"/>
    <site name="s" pos=".1 .2 0" euler="10 20 30"/>
    <body name="b" pos=".3 .1 0" euler="30 0 0"><joint name="jb" axis="1 0 0"/>
      <geom size=".1" mass="1"/><body name="tip" pos="0 .2 0" euler="0 0 40"/></body></body>
  <body name="c" pos=".2 0 1">{BALL}
    <body name="d" pos="0 0 .3"><joint name="jd" type="slide" axis="0 0 1" ref=".2"/>
      <geom size=".1" mass="1"/><site name="t" pos="0 .1 0" euler="0 0 70"/></body></body>
</worldbody><equality>
  <connect name="one" body1="tip" body2="d" anchor=".1 .2 .3"/>
  <connect body1="a" anchor="0 .1 .2"/>
  <connect name="sites" site1="s" site2="t"/>
  <weld name="bodies" body1="b" body2="c" anchor=".1 .1 0" torquescale="2"/>
  <weld name="fixed" body1="tip" relpose=".1 .2 .3 1 .2 .3 .4"/>
  <weld name="at sites" site1="t" site2="s"/>
  <joint name="curve" joint1="ja" joint2="jd" polycoef=".1 2 -3 4 5"/>
  <joint name="stay" joint1="jb" polycoef=".3 9 0 0 0"/>
  <connect name="asleep" body1="b" body2="d" anchor="0 0 0" active="false"/>
</equality></mujoco>"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    path = tmp_path_factory.mktemp("equality") / "loops.xml"
    path.write_text(FILE, encoding="utf-8")
    return load_quietly(path), mujoco.MjModel.from_xml_path(str(path))


def load_quietly(path: Path) -> hs.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        return hs.load(path)


def posed(m, seed: int):
    """MuJoCo's data at a random pose, and our q: quaternions wxyz -> xyzw."""
    d = mujoco.MjData(m)
    rng = np.random.default_rng(seed)
    mujoco.mj_integratePos(m, d.qpos, rng.uniform(-1, 1, m.nv), 0.7)
    mujoco.mj_forward(m, d)
    q = np.array(d.qpos)
    for i in range(m.njnt):
        at = m.jnt_qposadr[i] + 3 * (m.jnt_type[i] == mujoco.mjtJoint.mjJNT_FREE)
        if m.jnt_type[i] in (int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)):
            q[at : at + 4] = q[[at + 1, at + 2, at + 3, at]]
    return d, q


def in_mujoco(robot, m, d, rows: np.ndarray) -> np.ndarray:
    """Our rows as MuJoCo's, which measures the turn of a weld in its own way."""
    found, first = [], 0
    for constraint in robot.constraints:
        own = rows[first : first + constraint.size].copy()
        first += constraint.size
        if isinstance(constraint, Weld):
            i = m.eq(constraint.name).id
            angle = np.linalg.norm(own[3:])
            own[3:] *= np.sin(angle / 2) / angle
            if constraint.name == "at sites":
                axes = d.site_xmat[m.eq_obj2id[i]].reshape(3, 3)
            else:
                axes = d.xmat[m.eq_obj2id[i]].reshape(3, 3)
            own[3:] = m.eq_data[i, 10] * axes.T @ own[3:]
        found.append(own)
    return np.concatenate(found)


@pytest.mark.parametrize("seed", [1, 2])
def test_residuals_are_those_of_mujoco(pair, seed):
    robot, m = pair
    d, q = posed(m, seed)
    names = [c.name for c in robot.constraints]
    assert names == [
        "one", "connect a", "sites", "bodies", "fixed", "at sites", "curve", "stay",
    ]  # fmt: skip
    theirs = d.efc_pos[: d.ne]
    np.testing.assert_allclose(in_mujoco(robot, m, d, residual(robot, q)), theirs, atol=1e-12)


def test_jacobians_are_those_of_mujoco(pair):
    """Rows of translation and of joints: MuJoCo's turn of a weld has a different measure."""
    robot, m = pair
    d, q = posed(m, 3)
    theirs = np.zeros((d.ne, m.nv))
    for i in range(d.ne):  # this small model has a dense or a sparse J
        if mujoco.mj_isSparse(m):
            at = slice(d.efc_J_rowadr[i], d.efc_J_rowadr[i] + d.efc_J_rownnz[i])
            theirs[i, d.efc_J_colind[at]] = d.efc_J[at]
        else:
            theirs[i] = d.efc_J.reshape(-1, m.nv)[i]
    ours, first = jacobian(robot, q), 0
    for constraint in robot.constraints:
        rows = slice(first, first + min(constraint.size, 3))
        np.testing.assert_allclose(ours[rows], theirs[rows], atol=1e-12)
        first += constraint.size


def test_a_jacobian_is_the_slope_of_the_rows(pair):
    """Central differences, for a distance and for the turn of a weld at a pose that it closes."""
    base = pair[0]
    rng = np.random.default_rng(5)
    q = pin.integrate(base.model, base.neutral, rng.uniform(-1, 1, base.nv))
    data = base.model.createData()
    pin.forwardKinematics(base.model, data, q)
    between = data.oMi[2].actInv(data.oMi[4])  # of body 3 in body 1
    robot = hs.Robot.with_constraints(
        type(base)(**{**vars(base), "constraints": ()}),
        Distance("rod", 1, np.array([0.1, 0, 0]), 3, np.array([0, 0.2, 0]), 0.4),
        Distance("string", 2, np.array([0.1, 0, 0]), WORLD, np.array([0, 0.2, 0]), 0.4),
        Weld("both", 1, between.rotation, between.translation, 3, np.eye(3), np.zeros(3)),
        JointCoupling("joints", 0, 1, (0.1, 0.2, 0.3), 0.4, 0.5),
    )
    step = 1e-6
    slopes = np.column_stack(
        [
            (
                residual(robot, pin.integrate(base.model, q, step * e))
                - residual(robot, pin.integrate(base.model, q, -step * e))
            )
            / (2 * step)
            for e in np.eye(base.nv)
        ]
    )
    np.testing.assert_allclose(jacobian(robot, q), slopes, atol=1e-8)


def test_closing_a_pose(pair):
    """The closed pose meets every row, and joints that are held stay where they were."""
    base = pair[0]
    robot = type(base)(**{**vars(base), "constraints": ()}).with_constraints(
        Connect("loop", 1, np.array([0, 0.2, 0]), 3, np.array([0, 0, 0.1]))
    )
    start = pin.integrate(base.model, base.neutral, np.full(base.nv, 0.2))
    closed = robot.close(start, hold=("jb",))
    assert np.abs(residual(robot, closed)).max() < 1e-10
    assert closed[1] == start[1]
    assert np.abs(closed - start).max() > 1e-3
    far = robot.with_constraints(Distance("far", 0, np.zeros(3), WORLD, np.zeros(3), 50.0))
    with pytest.raises(HeelstrikeError, match=r"closes the constraints of .* 'far' by 49"):
        far.close(start)


def test_faults_are_named(pair):
    robot = pair[0]
    one, three = np.zeros(3), np.eye(3)
    cases = [
        (Connect("one", 0, one, 1, one), "two constraints of .* are called 'one'"),
        (Connect("x", 9, one, 1, one), "joins the bodies 9 and 1"),
        (Connect("x", 1, one, 1, one), "joins body 'b' with itself"),
        (Weld("x", 0, three * np.nan, one, 1, three, one), "not finite"),
        (Distance("x", 0, one, 1, one, 0.0), "must be above 0"),
        (JointCoupling("x", 2, 0, (0.0, 1.0)), "which is spherical"),
        (JointCoupling("x", 0, 1, (0.0,) * 6), "5 at most"),
        (JointCoupling("x", 0, 0, (0.0, 1.0)), "with itself"),
    ]
    for constraint, message in cases:
        with pytest.raises(HeelstrikeError, match=message):
            robot.with_constraints(constraint)


def test_constraints_of_two_tendons_over_several_joints_are_named(tmp_path):
    """By a polynomial; others are couplings of joints: test_tendon_equality_mujoco.py."""
    path = tmp_path / "cord.xml"
    bodies = "".join(
        f"<body pos='{k} 0 0'><joint name='{name}'/><geom size='.1'/></body>"
        for k, name in enumerate("jkl")
    )
    joints = "".join(f"<joint joint='{name}' coef='1'/>" for name in "jkl")
    path.write_text(
        f"""<mujoco><worldbody>{bodies}</worldbody>
        <tendon><fixed name="cord">{joints}</fixed><fixed name="other">{joints}</fixed></tendon>
        <equality><tendon name="taut" tendon1="cord" tendon2="other" polycoef="0 1 1 0 0"/>
        <joint joint1="j"/></equality>
        </mujoco>""",
        encoding="utf-8",
    )
    message = "equality constraint taut left out: its tendons cannot be coupled"
    with pytest.warns(HeelstrikeWarning, match=message):
        robot = hs.load(path)
    assert [c.name for c in robot.constraints] == ["joint j"]


def test_joined_bodies_do_not_touch():
    """A pin or a weld takes the pairs of its two bodies; a rod without mass leaves them."""
    pair = hs.combine({"one": hs.load("cube"), "two": hs.load("cube")})
    assert pair.self_pairs
    assert not pair.with_constraints(Connect("pin", 0, np.ones(3), 1, np.ones(3))).self_pairs
    rod = Distance("rod", 0, np.ones(3), 1, np.ones(3), 1.0)
    assert pair.with_constraints(rod).self_pairs == pair.self_pairs


def test_parts_keep_their_constraints(pair):
    """Constraints of combined robots have the same rows as those of the parts."""
    robot, m = pair
    whole = hs.combine({"x": robot, "y": robot})
    (_, q), (_, r) = posed(m, 6), posed(m, 7)
    rows = np.concatenate([residual(robot, q), residual(robot, r)])
    np.testing.assert_allclose(residual(whole, np.concatenate([q, r])), rows, atol=1e-12)
    assert [c.name for c in whole.constraints][8] == "y/one"
