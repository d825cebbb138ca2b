"""Placements and inertia matrix at a pose against Pinocchio, and memory of a long chain."""

import subprocess
import sys

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.robot.pose_kinematics import inertia_matrix, placements_of
from tests.robot_files import LINK_MASS, joint

CHAIN = "".join(
    f'<link name="l{i}">{LINK_MASS}</link>' + joint(f"j{i}", f"l{i - 1}", f"l{i}")
    for i in range(1, 301)
)
MEASURED = """
import resource, sys, heelstrike as hs
hs.load("cube")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
hs.load(sys.argv[1])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.parametrize("name", ["hoap1", "foot", "cube"])
def test_inertia_and_placements(name):
    """At a random pose, to rounding."""
    model = hs.load(name).model
    step = np.random.default_rng(2).uniform(-1, 1, model.nv)
    q, data = pin.integrate(model, pin.neutral(model), step), model.createData()
    H = np.triu(pin.crba(model, data, q))
    H = H + np.triu(H, 1).T
    np.testing.assert_allclose(inertia_matrix(model, q), H, atol=1e-14 * np.abs(H).max())
    pin.forwardKinematics(model, data, q)
    for ours, theirs in zip(placements_of(model, q), data.oMi, strict=True):
        np.testing.assert_allclose(ours.homogeneous, theirs.homogeneous, atol=1e-14)


def test_memory_of_a_long_chain(tmp_path):
    """300 joints take 12 MB; each `Data` of Pinocchio would take 900."""
    path = tmp_path / "chain.urdf"
    path.write_text(f'<robot name="r"><link name="l0">{LINK_MASS}</link>{CHAIN}</robot>')
    command = [sys.executable, "-c", MEASURED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 100
