"""Fig 5: size, mass and joints of the robot, of the stand-in that all items simulate.

The link table of HOAP-1 is not public; where ours comes from is told in docs/robots.md.
"""

from __future__ import annotations

import numpy as np

import heelstrike as hs
from heelstrike.papers.report import Result, near
from heelstrike.papers.sugihara2006.closed_form import MASS
from heelstrike.robot.outline import outline
from heelstrike.robot.placement import lowest_place, placements

ARMS, LEGS, HEIGHT = 8, 12, 480.0
"""Joints, and [mm]."""
PARTS = {"arms": ("_SFE", "_SAA", "_SHR", "_EB"), "legs": ("_LR", "_LAA", "_LFE", "_KN", "_A")}
"""What names of joints have in them."""
BUILT = "Set-up, not a result: the stand-in was built to the number that the paper prints."


def fig5() -> Result:
    """Reproduce fig 5 for the bundled hoap1."""
    robot = hs.load("hoap1", collide="feet")
    names = [joint.name for joint in robot.joints]
    count = {
        part: sum(any(end in name for end in ends) for name in names)
        for part, ends in PARTS.items()
    }
    return Result(
        "fig5",
        "size, mass and joints of the robot",
        "20 joints, 8 of the arms and 12 of the legs; 480 mm; 5 kg.",
        (
            near("joints of the arms", count["arms"], ARMS, 0, remark=BUILT),
            near("joints of the legs", count["legs"], LEGS, 0, remark=BUILT),
            near("height, joints straight [mm]", 1e3 * tall(robot), HEIGHT, 1.0, remark=BUILT),
            near("mass [kg]", robot.mass, MASS, 1e-3, remark=BUILT),
        ),
    )


def tall(robot: hs.Robot) -> float:
    """Return the height from the lowest to the highest shape, with joints at zero [m]."""
    place = placements(robot, robot.neutral)
    ends = []
    for shape in robot.shapes:
        R, p = place[shape.body]
        for point in outline(shape):
            low, centre = lowest_place(point, (R, p))[2], (R @ point.position + p)[2]
            ends += [low, 2 * centre - low]
    return float(np.ptp(ends))
