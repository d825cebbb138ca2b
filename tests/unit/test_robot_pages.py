"""The pages of the bundled robots tell what the files say.

Oracle: the loaded robot. Where a table differs, the message is the table to put there.
"""

from pathlib import Path

import pytest

import heelstrike as hs

DOCS = Path(__file__).parents[2] / "docs"
HUMANOIDS = ("hoap1", "hrp2", "biped14")
AXES = {(1, 0, 0): "x", (0, 1, 0): "y", (0, 0, 1): "z"}
TITLE = (
    "| joint | turns about | its link [kg] | range [rad] | rotor [kg m^2] | torque [N m] "
    "| kp [N m/rad] | kv [N m s/rad] |"
)


def numbers(robot: hs.Robot, k: int) -> list[str]:
    """Of joint k: what its row says."""
    joint, body = robot.joints[k], robot.bodies[k]
    axis = AXES[tuple(int(part) for part in joint.axis)]
    span = f"{robot.lower[joint.iq]:.4g} to {robot.upper[joint.iq]:.4g}"
    motor = (robot.armature, robot.torque_limit, robot.kp, robot.kd)
    return [axis, f"{body.mass:.4g}", span, *(f"{of[joint.iv]:g}" for of in motor)]


def twin(robot: hs.Robot, k: int) -> int | None:
    """The left joint of a right one."""
    name = robot.joints[k].name
    left = {"R": "L", "r": "l"}.get(name[0], "") + name[1:]
    names = [joint.name for joint in robot.joints]
    return names.index(left) if left in names else None


def joints(robot: hs.Robot) -> str:
    """A row each joint of the middle and the left, the link that it moves beside it."""
    lines = [TITLE, "| --- " * 8 + "|", f"| (base) | | {robot.bodies[0].mass:.4g} | | | | | |"]
    for k, joint in enumerate(robot.joints[1:], 1):
        if twin(robot, k) is None:
            lines.append("| " + " | ".join([joint.name, *numbers(robot, k)]) + " |")
    return "\n".join(lines)


@pytest.mark.parametrize("name", HUMANOIDS)
def test_table_of_joints(name):
    robot = hs.load(name)
    page = (DOCS / "robots" / f"{name}.md").read_text()
    table = joints(robot)
    assert table in page, f"put this into {name}.md:\n{table}"
    assert f"**{robot.mass:.4g} kg**" in page
    assert f"**{len(robot.joints) - 1} joints**" in page
    assert f"By default {name} has {len(robot.points)} contact points" in page
    count = len(hs.load(name, collide="feet").points)
    assert f'`collide="feet"` keeps {count}' in page


@pytest.mark.parametrize("name", HUMANOIDS)
def test_right_is_left_mirrored(name):
    """As the pages say under their tables: about x and z the range changes sign, about y not."""
    robot = hs.load(name)
    pairs = [(k, twin(robot, k)) for k in range(1, len(robot.joints)) if twin(robot, k) is not None]
    assert len(pairs) == {"hoap1": 10, "hrp2": 12, "biped14": 7}[name]
    for right, left in pairs:
        axis, mass, _, *motor = numbers(robot, right)
        assert [axis, mass, *motor] == [x for i, x in enumerate(numbers(robot, left)) if i != 2]
        (r_low, r_high), (l_low, l_high) = (
            (robot.lower[robot.joints[k].iq], robot.upper[robot.joints[k].iq])
            for k in (right, left)
        )
        assert (r_low, r_high) == ((l_low, l_high) if axis == "y" else (-l_high, -l_low))


@pytest.mark.parametrize("name", HUMANOIDS)
def test_every_pose_is_named(name):
    page = (DOCS / "robots" / f"{name}.md").read_text()
    for pose, q in hs.load(name).poses.items():
        assert f"| `{pose}` | {q[2]:.4f} |" in page, f"{name}.md: `{pose}`, base at {q[2]:.4f} m"


def test_overview_links_to_every_robot():
    page = (DOCS / "robots.md").read_text()
    for name in HUMANOIDS:
        robot = hs.load(name)
        row = f"| [{name}](robots/{name}.md) | {robot.mass:.4g} | {len(robot.joints) - 1} |"
        assert row in page, row
