"""Box 1 of [Sugihara2006], Fig. 4: kinematics, inertia, bias.

Placements, velocities and inertias of all bodies. H and b never appear as matrices: the
articulated-body algorithm of box 8 (dynamics/aba.py) works on what is found here.
"""

from __future__ import annotations

from heelstrike.dynamics import kinematics as dynamics
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.vector import SX
from heelstrike.step.inputs import StepInputs
from heelstrike.step.state import StepState


def kinematics(inputs: StepInputs, q: SX, v: SX, stage: float = 0.0) -> StepState:
    """Return the state of an evaluation, `stage` of a step after the start of the step."""
    p, plan = inputs.program, inputs.plan
    found = dynamics.kinematics(p, plan.robot, q, v, inputs.inertias)
    poses = dynamics.poses(p, plan.robot, found)
    surfaces = inputs.surfaces.after(stage * inputs.dt)
    motions: dict[int, MotionVector] = {}
    for body in plan.scene.bodies:
        with p.block("motion", limb=inputs.limb_of[body]):
            pose, own = poses[body], found.velocities[body]
            motions[body] = MotionVector(
                p.let("motion", pose.rotate(own.linear)), p.let("motion", pose.rotate(own.angular))
            )
    return StepState(inputs, q, v, stage, found, poses, motions, surfaces)
