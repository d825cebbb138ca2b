"""Accelerations of mechanisms with closed loops against Pinocchio and MuJoCo.

Pinocchio factors the matrix of all joints and rows; ours eliminates rows along the tree. Their
proximal iterations leave what they are told to, 1e-12 of the rows' accelerations.
"""

from dataclasses import replace

import casadi as ca
import mujoco
import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.dynamics.aba import forward_dynamics
from heelstrike.dynamics.kinematics import kinematics
from heelstrike.dynamics.loop_mobility import SOFTNESS
from heelstrike.dynamics.loop_rows import constraint_rows
from heelstrike.dynamics.loop_sweep import ClosedLoop
from heelstrike.dynamics.loops import loops_of
from heelstrike.dynamics.tree import limbs
from heelstrike.ir.program import Program
from heelstrike.robot.constraints import Distance, JointCoupling, Weld
from heelstrike.runtime.compiler import compile_program
from tests import mechanisms
from tests.models import data_file

ANGLES = np.array([0.3, -1.0, -1.2])
CASES = {
    "four-bar": (mechanisms.four_bar, ANGLES),
    "slider-crank": (mechanisms.slider_crank, np.array([0.5, -0.8, 0.6])),
    "five-bar leg": (mechanisms.five_bar_leg, None),
    "stewart": (mechanisms.stewart, None),
    "parallelogram": (lambda: mechanisms.parallelogram(False), None),
}


def accelerations(robot):
    """Compile the accelerations under which all constraints stay as they are."""
    p = Program("constrained")
    q, v, tau = p.input("q", robot.nq), p.input("v", robot.nv), p.input("tau", robot.nv)
    gravity = ca.SX([0, 0, -9.81])
    kin, loops = kinematics(p, robot, q, v), []
    limb_of = {i: limb.name for limb in limbs(robot) for i in limb.joints}
    for loop in loops_of(robot):
        limb = limb_of.get(loop.meets, "world")
        rows = [
            constraint_rows(p, robot, kin, q, v, loop, k, limb, symplectic=False)
            for k in range(len(loop.constraints))
        ]
        target = ca.vertcat(*(-own.bias for own in rows))
        loops.append(ClosedLoop(loop, rows, target, ca.SX(SOFTNESS), limb))
    armature = ca.SX(robot.armature)
    found = forward_dynamics(p, robot, kin, v, tau, gravity, armature, loops=loops)
    order = {n: own for loop in loops for n, own in zip(loop.loop.numbers, loop.rows, strict=True)}
    with p.block("out"):
        p.output("a", found.a)
        p.output("y", ca.vertcat(*found.multipliers))
        p.output("rate", ca.vertcat(*(order[n].rate for n in sorted(order))))
    return compile_program(p)


def theirs(robot, q, v, tau):
    """Pinocchio's accelerations, with a contact of three rows for each point."""
    contacts = []
    for c in robot.constraints:
        ends = (
            (c.body + 1, pin.SE3(np.eye(3), c.point)),
            (c.other + 1, pin.SE3(np.eye(3), c.other_point)),
        )
        contacts.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, robot.model, *ends[0], *ends[1], pin.LOCAL
            )
        )
    data, model = robot.model.createData(), robot.model
    own = [contact.createData() for contact in contacts]
    pin.initConstraintDynamics(model, data, contacts, own)
    settings = pin.ProximalSettings(1e-12, 1e-8, 100)
    return pin.constraintDynamics(model, data, q, v, tau, contacts, own, settings).copy()


@pytest.mark.parametrize("name", CASES)
def test_accelerations_are_those_of_pinocchio(name):
    make, q = CASES[name]
    robot = make()
    q = next(iter(robot.poses.values())) if q is None else q
    program = accelerations(robot)
    for seed in range(5):
        q1, v, tau = mechanisms.moving(robot, q, seed, 0.1)
        ours = program(q=q1, v=v, tau=tau)["a"].ravel()
        wanted = theirs(robot, q1, v, tau)
        np.testing.assert_allclose(ours, wanted, atol=1e-8 * max(1.0, np.abs(wanted).max()))


def test_cassie_against_pinocchio():
    """Two loops in each leg, springs left out of both."""
    robot = mechanisms.load_quietly(data_file("robots/cassie.xml"))
    program = accelerations(robot)
    for seed in range(3):
        q, v, tau = mechanisms.moving(robot, robot.pose("home"), seed, 0.05)
        ours, wanted = program(q=q, v=v, tau=tau)["a"].ravel(), theirs(robot, q, v, tau)
        np.testing.assert_allclose(ours, wanted, atol=1e-8 * np.abs(wanted).max())


def test_gears_move_as_one_coordinate():
    """Couplings of constant ratio are exact: a = G a', G' H G a' = G' (tau - b), folded by hand.

    Two joints in series, and two on one body; the pose stays on the couplings to rounding.
    """
    base = replace(mechanisms.five_bar_leg(), constraints=())
    ratios = {"front shank": ("front thigh", -0.7), "back thigh": ("front thigh", 1.3)}
    robot = base.with_constraints(
        *(
            JointCoupling(name, base.body(name), base.body(leader), (0.1, ratio))
            for name, (leader, ratio) in ratios.items()
        )
    )
    G = np.eye(robot.nv)
    for name, (leader, ratio) in ratios.items():
        one, other = (robot.joints[robot.body(x)].iv for x in (name, leader))
        G[one, one], G[one, other] = 0.0, ratio
    G, program, model = G[:, G.any(axis=0)], accelerations(robot), robot.model
    for seed in range(3):
        q, v, tau = mechanisms.moving(robot, robot.pose("stand"), seed, 0.3)
        v = G @ v[: G.shape[1]]
        H = pin.crba(model, model.createData(), q)
        H = np.triu(H) + np.triu(H, 1).T
        rest = tau - pin.rnea(model, model.createData(), q, v, np.zeros(robot.nv))
        wanted = G @ np.linalg.solve(G.T @ H @ G, G.T @ rest)
        ours = program(q=q, v=v, tau=tau)["a"].ravel()
        np.testing.assert_allclose(ours, wanted, atol=1e-11 * np.abs(wanted).max())
    sim = hs.Simulator(hs.Scene(robot), dt=1e-3, stops=None)
    run = sim.run(2.0, q0=q, v0=v, record=["q", "constraint_error"])
    assert run.data.constraint_error.max() < 1e-14 * np.abs(run.data.q).max()


def test_all_kinds_satisfy_the_equations_of_motion():
    """Weld, distance and couplings: H a + b = tau + J^T y and J a + J' v = 0, J by differences.

    In a pose that is open by any amount; J' v is the difference of J v along v.
    """
    base = mechanisms.five_bar_leg()
    body, point = base.body, np.array([0.1, 0.05, -0.1])
    turned = pin.exp3(np.array([0.2, 0.1, 0.3]))
    shanks = body("front shank"), body("back shank")
    for constraints in (
        (Distance("rod", shanks[0], point, shanks[1], -point, 0.4),),
        (Distance("string", shanks[0], point, -1, np.ones(3), 0.4),),
        (Weld("held", shanks[1], turned, point, -1, np.eye(3), np.zeros(3)),),
        (
            JointCoupling("gear", shanks[0], body("front thigh"), (0.1, 0.3, -0.4, 0.2, 0.5)),
            JointCoupling("stiff", body("back thigh"), None, (0.1,)),
        ),
    ):
        robot = type(base)(**{**vars(base), "constraints": constraints})
        check_equations(robot, accelerations(robot))


def check_equations(robot, program) -> None:
    rng = np.random.default_rng(4)
    model = robot.model
    q = pin.integrate(model, robot.pose("stand"), 0.3 * rng.uniform(-1, 1, robot.nv))
    v, tau = rng.normal(size=robot.nv), rng.normal(size=robot.nv)

    def rate(q, v):
        return program(q=q, v=v, tau=tau)["rate"].ravel()

    J = np.column_stack([rate(q, e) for e in np.eye(robot.nv)])
    step = 1e-6
    bias = (
        rate(pin.integrate(model, q, step * v), v) - rate(pin.integrate(model, q, -step * v), v)
    ) / (2 * step)
    found = program(q=q, v=v, tau=tau)
    a, y = found["a"].ravel(), found["y"].ravel()
    data = model.createData()
    b = pin.rnea(model, data, q, v, np.zeros(robot.nv))
    H = pin.crba(model, data, q)
    H = np.triu(H) + np.triu(H, 1).T
    np.testing.assert_allclose(H @ a + b, tau + J.T @ y, atol=1e-10)
    np.testing.assert_allclose(J @ a, -bias, atol=1e-7)  # of the differences


def test_cassie_against_mujoco():
    """At rest: MuJoCo leaves J' v out of its rows, and softens them by R ~ (1 - d) / d.

    Accelerations are a polynomial of that softness, whose value at 0 is extrapolated from four
    impedances d; what they leave is 1e-9 of the largest. Springs, motors and gravity act.
    """
    path = data_file("robots/cassie.xml")
    robot, m = mechanisms.load_quietly(path), mujoco.MjModel.from_xml_path(str(path))
    off = mujoco.mjtDisableBit.mjDSBL_CONTACT, mujoco.mjtDisableBit.mjDSBL_LIMIT
    m.opt.disableflags |= int(off[0]) | int(off[1])
    m.opt.timestep, m.opt.tolerance = 1e-4, 0
    q, _, _ = mechanisms.moving(robot, robot.pose("home"), 0, 0.05)
    softnesses, found = [], []
    for impedance in (0.998, 0.999, 0.9995, 0.9999):
        m.eq_solimp[:] = [impedance, impedance, 0.001, 0.5, 2]
        m.eq_solref[:] = [-1e5, -1e2]
        d = mujoco.MjData(m)
        d.qpos[:] = qpos_of(m, q)
        d.ctrl[:] = 0.5
        mujoco.mj_forward(m, d)
        softnesses.append((1 - impedance) / impedance)
        found.append(np.array(d.qacc))
    turn = np.eye(m.nv)  # MuJoCo's linear velocity of the base is in the world's axes
    turn[:3, :3] = d.xmat[1].reshape(3, 3).T
    tau = turn @ (d.qfrc_passive + d.qfrc_actuator)
    assert np.abs(d.qfrc_passive).max() > 1  # springs pull
    ours = accelerations(robot)(q=q, v=np.zeros(robot.nv), tau=tau)["a"].ravel()
    powers = np.vander(softnesses, increasing=True)
    hard = turn @ np.linalg.solve(powers, np.array(found))[0]
    assert np.abs(ours - turn @ found[-1]).max() > 1e-4 * np.abs(ours).max()  # it is soft
    np.testing.assert_allclose(ours, hard, atol=1e-6 * np.abs(ours).max())


def qpos_of(m, q: np.ndarray) -> np.ndarray:
    """MuJoCo's qpos of our q: quaternions xyzw -> wxyz."""
    qpos = np.array(q)
    for kind, at in zip(m.jnt_type, m.jnt_qposadr, strict=True):
        if kind in (int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)):
            at = at + 3 * (kind == int(mujoco.mjtJoint.mjJNT_FREE))
            qpos[at : at + 4] = qpos[[at + 3, at, at + 1, at + 2]]
    return qpos
