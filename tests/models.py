"""The robots that tests are run on: where third-party models are, and random trees."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from heelstrike.robot import Robot
from heelstrike.robot.convert import joint_model


def data_file(name: str) -> Path:
    """A file below HEELSTRIKE_DATA; skips where that is not set."""
    folder = os.environ.get("HEELSTRIKE_DATA")
    if not folder:
        pytest.skip("HEELSTRIKE_DATA is not set: no third-party models")
    return Path(folder) / name


def example_file(name: str) -> Path:
    """A file of the package example-robot-data, by the end of its path."""
    try:
        found = [f for f in files("example-robot-data") or [] if str(f).endswith("/" + name)]
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    assert found, f"example-robot-data has no {name}"
    return Path(str(found[0].locate()))


JOINTS = [
    pin.JointModelRX,
    pin.JointModelRY,
    pin.JointModelRZ,
    lambda: pin.JointModelRevoluteUnaligned(*unit_vector()),
    pin.JointModelPX,
    pin.JointModelPZ,
    lambda: pin.JointModelPrismaticUnaligned(*unit_vector()),
    pin.JointModelRUBX,
    pin.JointModelRUBZ,
    pin.JointModelSpherical,
    pin.JointModelPlanar,
    pin.JointModelFreeFlyer,
    lambda: composite(),
]


def unit_vector() -> np.ndarray:
    x = np.random.default_rng(7).normal(size=3)
    return x / np.linalg.norm(x)


def composite() -> pin.JointModelComposite:
    joint = pin.JointModelComposite()
    joint.addJoint(pin.JointModelRY(), pin.SE3.Random())
    joint.addJoint(pin.JointModelPX(), pin.SE3.Random())
    joint.addJoint(pin.JointModelRevoluteUnaligned(*unit_vector()), pin.SE3.Random())
    return joint


def random_tree(seed: int) -> pin.Model:
    """A tree of 3 to 9 joints of every kind: one or two roots, a free or a fixed base."""
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    model = pin.Model()
    model.name = f"tree{seed}"
    n = int(rng.integers(3, 10))
    second_root = n // 2 if seed % 3 == 0 else 0
    for i in range(n):
        kind = (
            pin.JointModelFreeFlyer if i == 0 and seed % 2 else JOINTS[(seed + 3 * i) % len(JOINTS)]
        )
        # Pinocchio wants depth-first order: the parent carries the joint added last
        carriers = list(model.supports[model.njoints - 1])[1:]
        parent = 0 if i in (0, second_root) else carriers[int(rng.integers(len(carriers)))]
        placement = pin.SE3.Random() if rng.random() < 0.5 else pin.SE3.Identity()
        placement.translation = rng.normal(size=3) * 0.3
        joint = model.addJoint(parent, kind(), placement, f"joint{i}")
        model.appendBodyToJoint(joint, random_inertia(rng), pin.SE3.Identity())
        model.addBodyFrame(f"link{i}", joint, pin.SE3.Random(), 0)
    model.armature = rng.uniform(0, 0.1, size=model.nv)
    return model


def random_inertia(rng: np.random.Generator) -> pin.Inertia:
    """Of a handful of point masses: always a body that could exist."""
    masses, places = rng.uniform(0.1, 1, size=6), rng.normal(size=(6, 3)) * 0.2
    com = masses @ places / masses.sum()
    offsets = places - com
    second = sum(
        m * (d @ d * np.eye(3) - np.outer(d, d)) for m, d in zip(masses, offsets, strict=True)
    )
    return pin.Inertia(float(masses.sum()), com, second)


def random_states(model: pin.Model, n: int, speed: float, seed: int = 0) -> tuple[np.ndarray, ...]:
    """q, v, a, tau of n worlds; angles up to a full turn, joints up to 3 m or rad out."""
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    bound = np.full(model.nq, 3.0)
    q = np.array([pin.randomConfiguration(model, -bound, bound) for _ in range(n)])
    v, a, tau = (rng.normal(size=(3, n, model.nv)).T * [speed, 1.0, 10.0]).T
    return q, v, a, tau


def rebuilt(robot: Robot) -> pin.Model:
    """A Pinocchio model from nothing but a Robot's joints and bodies."""
    model = pin.Model()
    for joint_, body in zip(robot.joints, robot.bodies, strict=True):
        placement = pin.SE3(joint_.rotation, joint_.translation)
        kind = joint_model(joint_.kind, joint_.axis)
        new = model.addJoint(joint_.parent + 1, kind, placement, joint_.name)
        inertia = pin.Inertia(body.mass, body.com, body.inertia)
        model.appendBodyToJoint(new, inertia, pin.SE3.Identity())
    model.armature[:] = robot.armature
    return model
