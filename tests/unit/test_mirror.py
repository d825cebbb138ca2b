"""Mirrored limbs are traced alike.

Oracles: Pinocchio; the same robot with its signs folded into the code; the same program with 8
lanes, or its blocks left apart. Bits are equal; against folded signs sums are rounded elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.codegen.cuda.planner import schedule
from heelstrike.dynamics.quantities import quantities
from heelstrike.robot.mirror import with_mirrored
from heelstrike.runtime.compiler import compile_program
from heelstrike.spatial.rotation import constant_rotation
from tests.flight import flight
from tests.models import data_file, random_states
from tests.reference.test_pinocchio import check_against_pinocchio
from tests.unit.test_packing import assert_same_bits, widths

LEGS = [("left front", 1, 1), ("right front", 1, -1), ("left hind", -1, 1), ("right hind", -1, -1)]
HALF = np.diag([-1.0, -1.0, 1.0])
"""Half a turn about z."""


def quadruped(folder):
    """Legs whose frames are turned and mirrored: a hip about x, a knee about y, a sliding foot."""
    legs = "".join(leg(*each) for each in LEGS)
    mass = '<inertial pos="0.01 0 0.02" mass="9" diaginertia="0.2 0.5 0.6"/>'
    trunk = f'<body name="trunk"><freejoint/>{mass}{legs}</body>'
    path = folder / "quadruped.xml"
    path.write_text(f"<mujoco><worldbody>{trunk}</worldbody></mujoco>")
    return hs.load(path, collide="feet")


def leg(name, x, y):
    """`x` is 1 in front, `y` 1 on the left."""
    hip = Rotation.from_euler("x", 0.5 * y).as_matrix() @ (np.eye(3) if x > 0 else HALF)
    knee = np.diag([1.0, x * y, x * y])[[2, 0, 1]]
    inertia = f"0.02 0.03 0.025 {0.001 * y} {0.0015 * x * y} {0.003 * x}"
    mass = f'<inertial pos="0.01 {0.02 * x * y} -0.1" mass="2" fullinertia="{inertia}"/>'
    return f"""
      <body name="{name} hip" pos="{0.3 * x} {0.1 * y} 0" quat="{quaternion(hip)}">
        <joint name="{name} hip" axis="{x} 0 0"/>{mass}
        <body name="{name} knee" pos="0.06 {-0.07 * x * y} -0.2" quat="{quaternion(knee)}">
          <joint name="{name} knee" axis="0 {x * y} 0"/>{mass}
          <body name="{name} foot" pos="0.1 0 -0.2">
            <joint name="{name} foot" type="slide" axis="0 0 {y}"/>{mass}
          </body></body></body>"""


def quaternion(matrix):
    """Return the quaternion of a rotation in MJCF's order."""
    x, y, z, w = Rotation.from_matrix(matrix).as_quat()
    return f"{w:.17g} {x:.17g} {y:.17g} {z:.17g}"


def folded(robot):
    """Return the robot without the masks of mirrored entries."""
    return replace(robot, joints=tuple(replace(joint, mirrored={}) for joint in robot.joints))


def warp_groups(program):
    """Return the sizes of groups with more than one limb."""
    plan = schedule(program.trace([]))
    assert plan is not None
    return [size for size in plan.sizes if size > 1]


def test_signs_that_differ_are_noted(tmp_path):
    robot = quadruped(tmp_path)
    assert robot.joints[0].mirrored == {}
    for hip, knee, foot in zip(*(robot.joints[k::3] for k in (1, 2, 3)), strict=True):
        assert list(hip.mirrored) == ["rotation", "axis"]
        assert np.argwhere(hip.mirrored["rotation"]).tolist() == [[0, 0]]
        assert np.argwhere(hip.mirrored["axis"]).tolist() == [[0]]
        assert np.argwhere(knee.mirrored["rotation"]).tolist() == [[0, 2], [2, 1]]
        assert np.argwhere(knee.mirrored["axis"]).tolist() == [[1]]
        assert np.argwhere(foot.mirrored["axis"]).tolist() == [[2]]


def test_limbs_of_another_form_are_left_alone(tmp_path):
    """A hip that sits in the middle, or a foot more, and the other legs still have their signs."""
    robot = quadruped(tmp_path)
    joints = list(robot.joints)
    joints[1] = replace(joints[1], translation=np.array([0.3, 0.0, 0.0]))
    found = with_mirrored(replace(robot, joints=tuple(joints))).joints
    assert all(joint.mirrored == {} for joint in found[1:4])
    assert all("axis" in joint.mirrored for joint in found[5:])


def test_masks_of_combined_robots_are_recomputed(tmp_path):
    """Masks of the parts are recomputed for the whole."""
    robot = quadruped(tmp_path)
    both = hs.combine([folded(robot), folded(robot)])
    assert "axis" in both.joints[-1].mirrored


def test_mirrored_limbs_against_pinocchio(tmp_path):
    check_against_pinocchio(quadruped(tmp_path))


def test_mirrored_legs_are_one_warp_group(tmp_path):
    robot = quadruped(tmp_path)
    assert warp_groups(flight(robot)) == [4]
    assert warp_groups(flight(folded(robot))) == []


def test_mirrored_legs_have_the_bits_they_have_alone(tmp_path, monkeypatch):
    robot = quadruped(tmp_path)
    program = quantities(robot, ["forward_dynamics", "mass_matrix", "pose:left hind foot"])
    assert widths(program).count(4) > widths(quantities(folded(robot), ["mass_matrix"])).count(4)
    q, v, a, tau = random_states(robot.model, 1, 3.0)
    inputs = {"q": q[0], "v": v[0], "a": a[0], "tau": tau[0], "gravity": [9.81]}
    assert_same_bits(program, monkeypatch, **inputs)


def test_signs_as_factors_change_nothing_but_rounding(tmp_path):
    robot = quadruped(tmp_path)
    q, v, a, tau = random_states(robot.model, 8, 3.0)
    mine, plain = (
        compile_program(quantities(r, ["forward_dynamics"]))(q=q, v=v, a=a, tau=tau, gravity=[9.81])
        for r in (robot, folded(robot))
    )
    scale = np.abs(plain["forward_dynamics"]).max()
    # 18 velocities, a few hundred roundings of 1e-16 each, condition of H about 1e3
    assert np.abs(mine["forward_dynamics"] - plain["forward_dynamics"]).max() < 1e-12 * scale


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_turn_whose_sign_is_kept(axis, sign):
    """A turn about an axis and half a turn, one after the other, are the matrix."""
    half = np.eye(3)
    half[axis, axis] = half[axis - 1, axis - 1] = sign
    matrix = Rotation.from_rotvec(0.7 * np.eye(3)[axis]).as_matrix() @ half
    kept = np.zeros((3, 3), bool)
    kept[axis, axis] = True
    turn, rest = constant_rotation(matrix, kept)
    product = values_of(turn.apply(rest.matrix))
    np.testing.assert_allclose(product, matrix, atol=1e-16)


def values_of(matrix):
    """The numbers of an expression without inputs."""
    p = hs.Program("numbers")
    with p.block("all"):
        p.output("matrix", matrix)
    return compile_program(p)()["matrix"]


def standing(robot):
    return hs.Simulator(hs.Scene(robot, hs.Plane()), control=hs.Servo(kp=50, kd=1)).program


def test_ranges_that_end_at_zero_on_one_side():
    """hoap1's arms open to -90 degrees on the right, to 90 degrees on the left."""
    robot = hs.load("hoap1", collide="feet")
    ends = {tuple(np.isin([robot.lower[k], robot.upper[k]], 0.0)) for k in range(7, robot.nq)}
    assert {(True, False), (False, True)} <= ends
    assert warp_groups(standing(robot)) == [2, 2]


@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
@pytest.mark.parametrize(
    ("name", "expected"),
    [("anymal_c", [4]), ("mighty", [2, 2]), ("op3", [2, 2]), ("t1", [2, 2])],
)
def test_warp_groups_of_robots(name, expected):
    """The last has legs that read the trunk's values past the waist, and entries of 1e-22 in the
    inertia of one arm.
    """
    assert (
        warp_groups(standing(hs.load(data_file(f"robots/{name}.xml"), collide="feet"))) == expected
    )
