"""Which loads the joints of a tree leave undetermined."""

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.dynamics.tree import is_overdetermined

BODY = """<body name="{name}" pos="{x} 0.2 -0.3"><joint axis="{axis}"/><geom size="0.1"/>
  {inner}</body>"""


def legged(tmp_path, joints, toe):
    """Return a robot with two legs of so many joints, with a toe at the end of the first."""
    rng, legs = np.random.default_rng(0), []
    for side, x in (("l", 0.2), ("r", -0.2)):
        inner = ""
        for k in reversed(range(joints + (toe and side == "l"))):
            axis = " ".join(map(str, rng.normal(size=3)))
            inner = BODY.format(name=f"{side}{k}", x=x, axis=axis, inner=inner)
        legs.append(inner)
    text = f"<mujoco><worldbody><body name='base'><freejoint/><geom size='0.1'/>{''.join(legs)}"
    path = tmp_path / "legs.xml"
    path.write_text(text + "</body></worldbody></mujoco>")
    return hs.load(path, points=[("base", (0, 0, 0), 0.0)])


@pytest.mark.parametrize("joints", [3, 5, 6])
@pytest.mark.parametrize("toe", [False, True])
def test_bodies_that_joints_cannot_move_freely_are_counted(tmp_path, joints, toe):
    """The rank of the bodies' Jacobians at a random pose says the same."""
    pin = pytest.importorskip("pinocchio")
    robot = legged(tmp_path, joints, toe)
    feet = [f"l{joints - 1}", f"r{joints - 1}", *([f"l{joints}"] if toe else [])]
    model = pin.buildModelFromMJCF(str(tmp_path / "legs.xml"))
    data, q = model.createData(), pin.neutral(model)
    q[7:] = np.random.default_rng(1).normal(size=model.nq - 7)
    jacobians = []
    for foot in feet:
        frame = model.getFrameId(foot)
        jacobians.append(pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED))
    rank = np.linalg.matrix_rank(np.vstack(jacobians), tol=1e-9)
    wanted = {robot.body(foot): 6 for foot in feet}
    assert is_overdetermined(robot, wanted) == (rank < 6 * len(feet))
