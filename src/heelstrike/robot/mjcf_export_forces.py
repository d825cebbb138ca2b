"""Springs, tendons, actuators and constraints of a robot for an MJCF (mjcf_export.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.actuators import Actuator, Arms, Path
from heelstrike.robot.closing import residual
from heelstrike.robot.constraints import Connect, Distance, JointCoupling, Weld
from heelstrike.robot.fluid import inertia_box
from heelstrike.robot.robot import Body, Joint, Robot

Put = Callable[..., Element]
"""mjcf_export.put."""
Holders = Sequence[Element | None]
"""<worldbody>, then the <body> of each body."""


def spring_of(robot: Robot, joint: Joint) -> dict[str, Any]:
    """Return the attributes of a joint's spring."""
    own = [spring for spring in robot.springs if robot.joints[spring.joint] is joint]
    if not own:
        return {}
    if len(own) > 1:
        raise HeelstrikeError(f"joint '{joint.name}' has several springs, which MJCF has not")
    options: dict[str, Any] = {"stiffness": own[0].stiffness}
    if joint.nq == 1:
        return options | {"springref": own[0].rest}
    drawn = robot.poses.get("zero", robot.neutral)[joint.q_slice]
    if np.abs(own[0].rest - drawn).max() > 1e-12:
        raise HeelstrikeError(
            f"the spring of joint '{joint.name}' is relaxed elsewhere than in the pose zero, which "
            "MJCF cannot express"
        )
    return options


def fluid_of(robot: Robot) -> dict[str, Any]:
    """Return the options of the fluid; MuJoCo takes each body with all that is fixed to it."""
    if not robot.drags:
        return {}
    first, massive = robot.drags[0], [i for i, body in enumerate(robot.bodies) if body.mass > 0]
    media = {(own.density, own.viscosity, *own.wind) for own in robot.drags}
    whole = [own.body for own in robot.drags] == massive and all(
        np.allclose(np.sort(own.box), np.sort(_box(robot.bodies[own.body])), rtol=1e-9)
        for own in robot.drags
    )
    if len(media) > 1 or not whole:
        raise HeelstrikeError(
            "a fluid resists parts of a body apart from one another, or only some bodies, which "
            "MJCF cannot express"
        )
    return {"density": first.density, "viscosity": first.viscosity, "wind": first.wind}


def _box(body: Body) -> np.ndarray:
    return inertia_box(body.mass, np.linalg.eigvalsh(body.inertia))


def add_forces(root: Element, robot: Robot, holders: Holders, put: Put) -> None:
    """Add tendons, actuators and constraints."""
    tendons = put(root, "tendon")
    for tendon in robot.tendons:
        options: dict[str, Any] = {"stiffness": tendon.stiffness, "damping": tendon.damping}
        options["springlength"] = tendon.rest
        if tendon.limit is not None:
            options |= {"limited": True, "range": tendon.limit}
        _add_tendon(tendons, robot, tendon.name, tendon.arms, put, **options)
    for cord in robot.spatial_tendons:
        options = {"stiffness": cord.stiffness, "damping": cord.damping}
        options["springlength"] = cord.rest
        if cord.limit is not None:
            options |= {"limited": True, "range": cord.limit}
        _add_cord(tendons, robot, holders, cord.name, cord.path, put, **options)
    actuators = put(root, "actuator")
    for actuator in robot.actuators:
        _add_actuator(actuators, tendons, robot, holders, actuator, put)
    equality = put(root, "equality")
    for constraint in robot.constraints:
        if isinstance(constraint, JointCoupling):
            _add_coupling(equality, tendons, robot, constraint, put)
        elif isinstance(constraint, Distance):
            _add_rod(equality, tendons, robot, holders, constraint, put)
        else:
            _add_constraint(equality, robot, holders, constraint, put)


def _add_tendon(
    tendons: Element, robot: Robot, name: str, arms: Arms, put: Put, **options: Any
) -> None:
    made, joints = put(tendons, "fixed", name=name, **options), _joints(robot)
    for at, arm in arms:
        put(made, "joint", joint=joints[at], coef=arm)


def _add_cord(
    tendons: Element,
    robot: Robot,
    holders: Holders,
    name: str,
    path: Path,
    put: Put,
    **options: Any,
) -> None:
    """Add a spatial tendon with sites of its own."""
    made = put(tendons, "spatial", name=name, **options)
    for k, (body, place) in enumerate(path):
        holder, site = holders[body + 1], _unused(robot, f"{name}.{k}")
        assert holder is not None
        put(holder, "site", name=site, pos=place)
        put(made, "site", site=site)


def _unused(robot: Robot, site: str) -> str:
    """Return a name that no link or site of the robot has."""
    while site in robot.frames:
        site += "_"
    return site


def _joints(robot: Robot) -> dict[int, str]:
    return {joint.iv: joint.name for joint in robot.joints}


def _add_actuator(
    actuators: Element,
    tendons: Element,
    robot: Robot,
    holders: Holders,
    actuator: Actuator,
    put: Put,
) -> None:
    options: dict[str, Any]
    if actuator.wrench is not None:
        holder = holders[actuator.wrench.body + 1]
        name = _unused(robot, f"{actuator.name}.site")
        assert holder is not None
        put(holder, "site", name=name)
        options = {"site": name, "gear": [*actuator.wrench.force, *actuator.wrench.moment]}
    elif actuator.path:
        name = f"{actuator.name}.cord"
        _add_cord(tendons, robot, holders, name, actuator.path, put)
        options = {"tendon": name, "gear": actuator.gear}
    elif len(actuator.arms) == 1:
        ((at, arm),) = actuator.arms
        options = {"joint": _joints(robot)[at], "gear": arm}
    else:
        name = f"{actuator.name}.tendon"
        _add_tendon(tendons, robot, name, actuator.arms, put)
        options = {"tendon": name}
    for what, ends in (
        ("ctrl", actuator.control_range),
        ("force", actuator.force_range),
        ("act", actuator.activation_range),
    ):
        if ends is not None:
            options |= {f"{what}limited": True, f"{what}range": ends}
    if actuator.has_activation:
        options |= {"dyntype": actuator.dynamics, "actearly": actuator.acts_early}
        options["dynprm"] = actuator.time_constant
    put(
        actuators,
        "general",
        name=actuator.name,
        gaintype="affine" if any(actuator.gain[1:]) else "fixed",
        gainprm=actuator.gain,
        biastype="affine" if any(actuator.bias) else "none",
        biasprm=actuator.bias,
        **options,
    )


def _add_coupling(
    equality: Element, tendons: Element, robot: Robot, own: JointCoupling, put: Put
) -> None:
    """Add a coupling of joints; of more than two as one of fixed tendons, the first over the joint
    and those that are linear, the second over the other joint.
    """
    shifted = np.polynomial.Polynomial([-own.other_reference, 1.0])
    poly = np.polynomial.Polynomial(own.coefficients)(shifted) + own.reference
    ends: dict[int, Joint] = {} if own.other is None else {2: robot.joints[own.other]}
    coefficients, kind = np.pad(poly.coef, (0, 5 - len(poly.coef))), "joint"
    named = {f"joint{k}": joint.name for k, joint in (ends | {1: robot.joints[own.joint]}).items()}
    if own.more:
        kind, named = "tendon", {}
        more = [(robot.joints[joint].iv, -factor) for joint, factor in own.more]
        arms: dict[int, Arms] = {1: ((robot.joints[own.joint].iv, 1.0), *more)}
        for k, each in (arms | {k: ((joint.iv, 1.0),) for k, joint in ends.items()}).items():
            named[f"tendon{k}"] = name = f"{own.name}.{k}"
            _add_tendon(tendons, robot, name, each, put)
    put(equality, kind, name=own.name, polycoef=coefficients, **named)


def _add_rod(
    equality: Element,
    tendons: Element,
    robot: Robot,
    holders: Holders,
    own: Distance,
    put: Put,
) -> None:
    """Add a distance as a tendon of two sites, whose length differs by a constant from as drawn."""
    name = f"{own.name}.cord"
    ends = ((own.body, own.point), (own.other, own.other_point))
    _add_cord(tendons, robot, holders, name, ends, put)
    q, zero = robot.neutral, robot.poses.get("zero", robot.neutral)
    for joint in robot.joints:
        if joint.kind == "free":
            q[joint.q_slice] = zero[joint.q_slice]
    beyond = float(residual(replace(robot, constraints=(own,)), q)[0])
    put(equality, "tendon", name=own.name, tendon1=name, polycoef=[-beyond, 0, 0, 0, 0])


def _add_constraint(
    equality: Element, robot: Robot, holders: Holders, own: Connect | Weld, put: Put
) -> None:
    ends = [(own.body, own.point), (own.other, own.other_point)]
    turns = [own.rotation, own.other_rotation] if isinstance(own, Weld) else [np.eye(3)] * 2
    sites = {}
    for k, ((body, point), turn) in enumerate(zip(ends, turns, strict=True), start=1):
        holder, q = holders[body + 1], pin.Quaternion(np.asarray(turn, dtype=float))
        assert holder is not None
        sites[f"site{k}"] = name = _unused(robot, f"{own.name}.{k}")
        put(holder, "site", name=name, pos=point, quat=[q.w, q.x, q.y, q.z])
    put(equality, "weld" if isinstance(own, Weld) else "connect", name=own.name, **sites)
