"""Every quantity of the traced dynamics against Pinocchio, on machine code for all lanes.

Error is relative in the norm. Solving with H loses digits with its condition number, so the bound
is max(1e-10, 100 eps cond(H)) there and 1e-10 elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from heelstrike.dynamics.quantities import ROBOT_QUANTITIES, quantities
from heelstrike.dynamics.tree import supports
from heelstrike.robot import bundled, load
from heelstrike.robot.convert import from_pinocchio
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.runtime.compiler import compile_program
from tests.flight import flight
from tests.models import data_file, example_file, random_states, random_tree

GRAVITY = 9.81
SOLVES = {"forward_dynamics", "mass_solve"}
WORLDS = 11  # a full tile and a rest for every lane width

URDFS = {  # file: whether the base is free
    "g1_29dof_rev_1_0.urdf": True,
    "talos_reduced.urdf": True,
    "talos_full_v2.urdf": True,
    "icub_reduced.urdf": True,
    "anymal.urdf": True,
    "solo12.urdf": True,
    "hyq_no_sensors.urdf": True,
    "panda.urdf": False,
    "ur5_robot.urdf": False,
    "double_pendulum_continuous.urdf": False,
    "double_pendulum.urdf": False,
    "tiago.urdf": False,
}
MJCFS = ["g1", "talos", "anymal_c", "mighty", "op3", "sr1", "hrp4c", "jvrc1", "hoap3_20dof", "t1"]
LARGE = {"g1_29dof_rev_1_0.urdf", "talos_reduced.urdf", "talos_full_v2.urdf", "icub_reduced.urdf"}
LARGE |= {"tiago.urdf", "talos", "hrp4c", "jvrc1", "t1", "sr1", "mighty", "op3", "hoap3_20dof"}


def each(names):
    """Robots; the large ones, which take long to compile, at night."""
    return [pytest.param(n, marks=pytest.mark.nightly if n in LARGE else ()) for n in names]


@pytest.mark.parametrize("name", bundled())
def test_bundled_robots(name):
    check_against_pinocchio(load(name))


@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
@pytest.mark.parametrize("name", each(URDFS))
def test_example_robots(name):
    base = "floating" if URDFS[name] else "fixed"
    check_against_pinocchio(load(example_file(name), base=base))


@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
@pytest.mark.parametrize("name", each(MJCFS))
def test_mjcf_robots(name):
    check_against_pinocchio(load(data_file(f"robots/{name}.xml")))


SEEDS = [*range(8), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(8, 50))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_trees(seed):
    """Every joint kind, unaligned axes, one or two roots, free and fixed bases."""
    check_against_pinocchio(from_pinocchio(random_tree(seed)), speed=10.0)


def test_continuous_joint_about_any_axis(tmp_path):
    """The one kind that Pinocchio's Python interface cannot build but by a file."""
    link = """<link name="{name}"><inertial><origin xyz="0.1 -0.2 0.3"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="-0.02"/></inertial></link>"""
    wheel = """<joint name="wheel" type="continuous"><origin xyz="0.3 0 0.1" rpy="0.1 0.2 0.3"/>
      <parent link="base"/><child link="rim"/><axis xyz="0.36 0.48 0.8"/></joint>"""
    text = f'<robot name="cart">{link.format(name="base")}{link.format(name="rim")}{wheel}</robot>'
    (tmp_path / "cart.urdf").write_text(text)
    robot = load(tmp_path / "cart.urdf")
    assert [joint.kind for joint in robot.joints] == ["free", "continuous"]
    check_against_pinocchio(robot)


@pytest.mark.parametrize(
    ("rpy", "axis"),
    [("0 1e-6 0", "0 1 0"), ("0 0 0", "1e-6 0 1"), ("3.14159265358979 0 0", "0 0 1")],
)
def test_small_tilts_are_not_rounded_away(tmp_path, rpy, axis):
    """CAD exports have them; 1 - cos of one is below any sensible threshold."""
    link = """<link name="{name}"><inertial><origin xyz="0.1 -0.2 0.3"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="-0.02"/></inertial></link>"""
    joint = f"""<joint name="turn" type="revolute"><origin xyz="0.3 0 0.1" rpy="{rpy}"/>
      <parent link="base"/><child link="rim"/><axis xyz="{axis}"/>
      <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>"""
    text = f'<robot name="arm">{link.format(name="base")}{link.format(name="rim")}{joint}</robot>'
    (tmp_path / "arm.urdf").write_text(text)
    check_against_pinocchio(load(tmp_path / "arm.urdf"))


def test_joints_in_any_order_that_puts_parents_first():
    """The same tree breadth first: every quantity in the same q and v."""
    tree = load("hoap1", collide="feet")
    depth = [len(supports(tree, i)) for i in range(len(tree.joints))]
    order = sorted(range(len(tree.joints)), key=lambda i: depth[i])
    assert order != sorted(order)
    new = {old: k for k, old in enumerate(order)} | {WORLD: WORLD}
    joints = [replace(tree.joints[i], parent=new[tree.joints[i].parent]) for i in order]
    mixed = replace(tree, joints=tuple(joints), bodies=tuple(tree.bodies[i] for i in order))
    q, v, a, tau = random_states(tree.model, WORLDS, 3.0)
    results = [
        compile_program(quantities(robot, list(ROBOT_QUANTITIES)))(
            q=q, v=v, a=a, tau=tau, gravity=[9.81]
        )
        for robot in (tree, mixed)
    ]
    ends = []
    for robot in (tree, mixed):
        batch = compile_program(flight(robot)).batch(WORLDS)
        batch.set(q=q, v=v, dt=[1e-3], gravity=[0.0, 0.0, -9.81])
        batch.set(**{"servo.kp": tree.kp, "servo.kd": tree.kd})
        batch.run(steps=10)
        ends.append(batch.state())
    assert np.allclose(ends[0]["q"], ends[1]["q"], atol=1e-9)
    assert np.allclose(ends[0]["v"], ends[1]["v"], atol=1e-7)
    for name in ROBOT_QUANTITIES:
        # the sums are taken in another order
        assert np.allclose(results[0][name], results[1][name], rtol=1e-9, atol=1e-9), name


def check_against_pinocchio(robot: Robot, speed: float = 3.0) -> None:
    model = robot.model
    link = max(
        (f for f in model.frames if f.type == pin.FrameType.BODY and f.parentJoint > 0),
        key=lambda f: f.parentJoint,
    ).name
    root = next(f.name for f in model.frames if f.type == pin.FrameType.BODY and f.parentJoint == 1)
    of_links = [f"{kind}:{link}" for kind in ("pose", "velocity", "jacobian", "jacobian_bias")]
    names = [*ROBOT_QUANTITIES, *of_links, f"inverse_inertia:{link},{root}"]
    kernel = compile_program(quantities(robot, names))
    q, v, a, tau = random_states(model, WORLDS, speed)
    ours = kernel(q=q, v=v, a=a, tau=tau, gravity=[GRAVITY])
    for i in range(WORLDS):
        theirs = pinocchio_quantities(model, q[i], v[i], a[i], tau[i], link, root)
        condition = np.linalg.cond(theirs["mass_matrix"])
        for name in names:
            expected = theirs[name]
            found = ours[name][i].reshape(expected.shape)
            scale = max(np.linalg.norm(expected), 1e-9)
            if name == "zmp":  # moment over force: the error of the moment, against the wrench
                scale = np.linalg.norm(theirs["contact_wrench"] / theirs["contact_wrench"][2])
            error = np.linalg.norm(found - expected) / scale
            inverted = name in SOLVES or name.startswith("inverse_inertia")
            bound = max(1e-10, 100 * np.finfo(float).eps * condition) if inverted else 1e-10
            assert error <= bound, f"{robot.name} {name}: {error:.1e} > {bound:.1e}"


def pinocchio_quantities(model, q, v, a, tau, link, root):
    data = model.createData()
    h = pin.crba(model, data, q)
    h = np.triu(h) + np.triu(h, 1).T
    pin.forwardKinematics(model, data, q, v, a)
    wrench = sum(
        (
            data.oMi[i].act(model.inertias[i] * (data.a[i] - data.oMi[i].actInv(model.gravity))
            + data.v[i].cross(model.inertias[i] * data.v[i]))
            for i in range(1, model.njoints)
        ),
        pin.Force.Zero(),
    )  # fmt: skip
    pin.centerOfMass(model, data, q, v)
    rotors = armature_bias(model, v)
    result = {
        "mass_matrix": h,
        "mass_solve": np.linalg.solve(h, tau),
        "bias": pin.nonLinearEffects(model, data, q, v) + rotors,
        "gravity_torque": pin.computeGeneralizedGravity(model, data, q).copy(),
        "forward_dynamics": pin.aba(model, data, q, v, tau - rotors).copy(),
        "inverse_dynamics": pin.rnea(model, data, q, v, a) + rotors,
        "com": data.com[0].copy(),
        "com_velocity": data.vcom[0].copy(),
        "momentum": pin.computeCentroidalMomentum(model, data, q, v).vector.copy(),
        # pin 4.1's computeKineticEnergy counts only a part of the armature on some robots (op3)
        "kinetic_energy": np.array([0.5 * v @ h @ v]),
        "potential_energy": np.array([pin.computePotentialEnergy(model, data, q)]),
        "contact_wrench": wrench.vector,
        "zmp": np.array([-wrench.angular[1], wrench.angular[0]]) / wrench.linear[2],
    }
    pin.forwardKinematics(model, data, q, v, 0 * a)
    frame = model.getFrameId(link, pin.FrameType.BODY)
    pose = pin.updateFramePlacement(model, data, frame)
    result[f"pose:{link}"] = np.r_[pose.translation, pose.rotation.ravel()]
    result[f"velocity:{link}"] = pin.getFrameVelocity(model, data, frame).vector
    result[f"jacobian_bias:{link}"] = pin.getFrameAcceleration(model, data, frame).vector
    jacobian = local_jacobian(model, q, link)
    result[f"jacobian:{link}"] = jacobian
    both = np.vstack([jacobian, local_jacobian(model, q, root)])
    result[f"inverse_inertia:{link},{root}"] = both @ np.linalg.solve(h, both.T)
    return result


def armature_bias(model, v):
    """m_a (w x v) of free joints, which Pinocchio leaves out; test_load_mujoco.py has MuJoCo's."""
    bias = np.zeros(model.nv)
    for first, count in zip(model.idx_vs[1:], model.nvs[1:], strict=True):
        if count == 6:
            linear, angular = v[first : first + 3], v[first + 3 : first + 6]
            bias[first : first + 3] = np.cross(angular, model.armature[first : first + 3] * linear)
    return bias


def local_jacobian(model, q, link):
    frame = model.getFrameId(link, pin.FrameType.BODY)
    jacobian = pin.computeFrameJacobian(model, model.createData(), q, frame, pin.LOCAL)
    return jacobian.reshape(6, model.nv)
