"""Reader of MJCF: MuJoCo compiles the file, and the robot is built from the compiled model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element

import mujoco
import numpy as np
import pinocchio as pin
from mujoco import mjtJoint

from heelstrike.robot.actuators import Actuator
from heelstrike.robot.constraints import Constraint, apart_pairs
from heelstrike.robot.convert import from_pinocchio
from heelstrike.robot.mjcf_actuators import read_actuators, with_actuator_inertia
from heelstrike.robot.mjcf_checks import refuse_impossible, warn_unmodelled
from heelstrike.robot.mjcf_compile import compile_mjcf
from heelstrike.robot.mjcf_equality import read_equalities
from heelstrike.robot.mjcf_fluid import read_drags
from heelstrike.robot.mjcf_model import ADDED, ModelJoint, build_model, joints_of, placement
from heelstrike.robot.mjcf_servo import with_servo
from heelstrike.robot.mjcf_shapes import read_shapes
from heelstrike.robot.mjcf_springs import read_cones, read_springs, with_lift
from heelstrike.robot.mjcf_tendon_equality import tendon_equalities
from heelstrike.robot.mjcf_tendons import with_tendons, with_tendons_of_one_joint
from heelstrike.robot.robot import Robot, first_duplicate
from heelstrike.robot.xml import RobotFile


def read_mjcf(file: RobotFile, root: Element, base: str) -> Robot:
    """Return the robot of a parsed MJCF, with its shapes and without contact points."""
    compiled = compile_mjcf(file, root)
    spec, mj = compiled.spec, compiled.model
    refuse_impossible(file, spec, mj)
    warn_unmodelled(file, spec, mj)
    _check_base(file, mj, base)
    joints = joints_of(mj, base)
    model, carriers = build_model(mj, joints, root.get("model", file.path.stem))
    robot = with_actuator_inertia(file, from_pinocchio(model), mj, joints)
    robot = with_tendons_of_one_joint(robot, mj, joints)
    shapes, self_pairs = read_shapes(file, compiled, carriers)
    loops = read_equalities(file, mj, joints, carriers)
    more = tendon_equalities(file, robot, mj, joints, carriers)
    robot = replace(robot, constraints=loops + more)
    robot = with_lift(replace(robot, shapes=shapes, self_pairs=self_pairs), mj, carriers)
    robot = _without_joined(file, robot, loops)
    rest = _q_of(robot, mj, joints, mj.qpos_spring)
    springs = read_springs(file, robot, mj, joints, rest)
    robot = replace(robot, springs=springs, cones=read_cones(mj, joints))
    robot = replace(robot, drags=read_drags(file, mj, carriers))
    q0 = _q_of(robot, mj, joints, mj.qpos0)
    robot = with_tendons(file, robot, mj, joints, carriers, q0)
    actuators = read_actuators(file, spec, mj, robot, joints, carriers, q0)
    robot = replace(robot, actuators=tuple(actuators.values()), controls=_controls(mj, actuators))
    robot = with_servo(file, robot, mj, joints)
    return replace(robot, poses=_poses(file, robot, mj, joints))


def _without_joined(file: RobotFile, robot: Robot, loops: tuple[Constraint, ...]) -> Robot:
    """Return the robot without contact of bodies that a constraint joins, with a warning."""
    kept = apart_pairs(robot, loops)
    joined = {*robot.self_pairs} - {*kept}
    if joined:
        bodies = dict.fromkeys(tuple(robot.shapes[i].body for i in pair) for pair in sorted(joined))
        named = [" and ".join(robot.bodies[i].name for i in pair) for pair in bodies]
        file.warn(
            f"bodies that an equality joins do not touch one another: {'; '.join(named)}",
            concerns="contact",
        )
    return replace(robot, self_pairs=kept)


def _check_base(file: RobotFile, mj: mujoco.MjModel, base: str) -> None:
    """Raise a LoadError if base="floating" cannot be applied."""
    free = (mj.jnt_type == mjtJoint.mjJNT_FREE).any()
    roots = np.flatnonzero(mj.body_parentid[1:] == 0) + 1
    if base == "floating" and not free and (len(roots) > 1 or mj.body_jntnum[roots[0]]):
        file.fail(
            "cannot float: its root must be one body without joints of its own",
            remedy="wrap it in a <body> with a <freejoint/>, or use base='auto'",
        )


def _q_of(
    robot: Robot, mj: mujoco.MjModel, joints: list[ModelJoint], qpos: np.ndarray
) -> np.ndarray:
    """Return our q of MuJoCo's qpos; a free joint that was added is where the file draws it."""
    q = robot.neutral
    for theirs, joint in zip(joints, robot.joints, strict=True):
        if theirs.index == ADDED:
            drawn = placement(mj.body_quat[theirs.body], mj.body_pos[theirs.body])
            q[joint.q_slice] = pin.SE3ToXYZQUAT(drawn)
            continue
        part = qpos[mj.jnt_qposadr[theirs.index] :][: joint.nq]
        if joint.kind in ("free", "spherical"):
            part = np.concatenate([part[:-4], _quaternion(part[-4:])])
        q[joint.q_slice] = part
    return q


def _quaternion(wxyz: np.ndarray) -> np.ndarray:
    """Return MuJoCo's quaternion as xyzw of length one; a zero one becomes the identity."""
    length = np.linalg.norm(wxyz)
    return wxyz[[1, 2, 3, 0]] / length if length > 1e-12 else np.array([0.0, 0.0, 0.0, 1.0])


def _poses(
    file: RobotFile, robot: Robot, mj: mujoco.MjModel, joints: list[ModelJoint]
) -> dict[str, np.ndarray]:
    """Return the keyframes by name, and "zero": joints at zero, a free base as drawn.

    Without keyframes, a robot with constraints whose joints are not drawn at zero has "drawn" too.
    """
    names = _key_names(mj)
    if (twice := first_duplicate(names)) is not None:
        file.fail(f"two keyframes are called '{twice}'", value=twice, remedy="name each of them")
    poses = {name: _q_of(robot, mj, joints, mj.key_qpos[k]) for k, name in enumerate(names)}
    zero, drawn = robot.neutral, _q_of(robot, mj, joints, mj.qpos0)
    for joint in robot.joints:
        if joint.kind == "free":
            zero[joint.q_slice] = drawn[joint.q_slice]
    if not poses and robot.constraints and not np.array_equal(zero, drawn):
        poses["drawn"] = drawn  # constraints are given as the file draws the bodies
    return {**poses, "zero": poses.get("zero", zero)}


def _key_names(mj: mujoco.MjModel) -> list[str]:
    return [mj.key(k).name or f"key{k}" for k in range(mj.nkey)]


def _controls(mj: mujoco.MjModel, actuators: Mapping[int, Actuator]) -> dict[str, dict[str, float]]:
    """Return the controls of the keyframes in which one is not 0, by name of the actuator."""
    controls = {
        name: {own.name: float(ctrl[mj.actuator_ctrladr[i]]) for i, own in actuators.items()}
        for name, ctrl in zip(_key_names(mj), mj.key_ctrl, strict=True)
    }
    return {name: own for name, own in controls.items() if any(own.values())}
