"""Unitree G1 as in mujoco_warp's benchmarks: collision geometry, motors and pose as numbers.

The numbers are those of benchmarks/unitree_g1/unitree_g1_mjlab.xml in google-deepmind/mujoco_warp,
commit 3ac052a (Apache-2.0), which derives from mjlab. Links, joints and masses are those of
MuJoCo Menagerie's G1 (HEELSTRIKE_DATA/robots/g1.xml), which that file shares; shapes, armatures,
gains and excluded pairs are replaced, dry friction of the joints is removed.

Not public, and different here: the recorded dance and the height field of those benchmarks.
"""

from __future__ import annotations

import os
from math import pi
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.measure.peer.model import module

DT, ITERATIONS, LINE_SEARCH = 5e-3, 10, 20
"""Time step [s], and limits of the solver's iterations and line search."""
FOOT, FOOT_FRICTION = "ankle_roll_link", 0.6
"""Link of a foot, whose friction prevails over the ground's."""

Numbers = tuple[float, ...]
SPHERES: dict[str, Numbers] = {"pelvis": (0, 0, -0.08, 0.07), "torso_link": (0, 0, 0.43, 0.06)}
"""Centre and radius of pelvis and head, in the frame of the link [m]."""
TORSO: Numbers = (0.01, 0, 0.08, 0.01, 0, 0.2, 0.09)
"""Ends and radius of the trunk's capsule [m]."""
CAPSULES: dict[str, tuple[Numbers, ...]] = {
    "hip_roll_link": ((0.02, 0, 0, 0.02, 0, -0.08, 0.06),),
    "hip_yaw_link": ((0, 0, -0.03, -0.06, 0, -0.17, 0.055),),
    "knee_link": ((0.01, 0, 0, 0.01, 0, -0.15, 0.045), (0.01, 0, -0.2, 0.01, 0, -0.28, 0.03)),
    "shoulder_yaw_link": ((0, 0, -0.08, 0, 0, 0.05, 0.035),),
    "elbow_link": ((-0.01, 0, -0.01, 0.08, 0, -0.01, 0.035),),
    "wrist_pitch_link": ((-0.01, 0, 0, 0.06, 0, 0, 0.035),),
    "wrist_yaw_link": ((0.07, 0, 0, 0.15, -0.02, 0, 0.035),),
}
"""Ends and radius of the capsules of the left links [m]; y of the right ones is mirrored."""
SOLE: tuple[Numbers, ...] = (
    (0.1, -0.026, 0.05, -0.027),
    (-0.044, -0.018, 0.123, -0.018),
    (-0.052, -0.01, 0.13, -0.01),
    (-0.054, 0, 0.132, 0),
    (-0.052, 0.01, 0.13, 0.01),
    (-0.044, 0.018, 0.123, 0.018),
    (0.1, 0.026, 0.05, 0.026),
)
"""x and y of the ends of the capsules of the left foot [m]."""
RIGHT_FIRST: Numbers = (0.1, -0.026, 0.05, -0.026)
"""The first capsule of the right foot; the others are those of the left foot."""
SOLE_HEIGHT, SOLE_RADIUS = -0.025, 0.01
"""Height of the capsules of a foot in its frame, and their radius [m]."""
EXCLUDED = (
    ("left_elbow_link", "left_wrist_pitch_link"),
    ("right_elbow_link", "right_wrist_pitch_link"),
    ("pelvis", "right_hip_roll_link"),
    ("pelvis", "left_hip_roll_link"),
)
"""Links that do not touch each other."""

MOTORS: dict[tuple[str, ...], tuple[float, float]] = {
    ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll"): (0.003609725, 25),
    ("hip_pitch", "hip_yaw", "waist_yaw"): (0.01017752004, 88),
    ("hip_roll", "knee"): (0.025101925, 139),
    ("wrist_pitch", "wrist_yaw"): (0.00425, 5),
    ("waist_roll", "waist_pitch", "ankle_pitch", "ankle_roll"): (0.00721945, 50),
}
"""Armature [kg m^2] and largest torque [N m] of the motors of some joints."""
FREQUENCY, DAMPING = 2 * pi * 10, 2.0
"""Natural frequency [rad/s] and damping ratio of a motor's armature on its own gains."""
POSE = {
    "hip_pitch": -0.312,
    "knee": 0.669,
    "ankle_pitch": -0.363,
    "elbow": 0.6,
    "shoulder_pitch": 0.2,
    "left_shoulder_roll": 0.2,
    "right_shoulder_roll": -0.2,
}
"""Bent knees, KNEES_BENT_KEYFRAME of mjlab's g1_constants.py [rad]."""
HEIGHT = 0.78
"""Height of the base in the keyframe [m]; a benchmark puts the feet on the ground."""


def motor(joint: str) -> tuple[float, float, float, float]:
    """Return armature, kp, kd and largest torque of a joint's motor."""
    for names, (armature, torque) in MOTORS.items():
        if any(name in joint for name in names):
            return armature, armature * FREQUENCY**2, 2 * DAMPING * armature * FREQUENCY, torque
    raise HeelstrikeError(f"no motor for joint '{joint}'", value=joint)


def g1_spec(stiffer: float = 1.0) -> Any:
    """Return the MjSpec of G1; `stiffer` multiplies kp, and its root the damping ratio's kd."""
    folder = os.environ.get("HEELSTRIKE_DATA")
    if not folder:
        raise HeelstrikeError("set HEELSTRIKE_DATA to the folder that has robots/g1.xml")
    mj = module()
    spec = mj.MjSpec.from_file(str(Path(folder, "robots", "g1.xml")))
    for old in (*spec.geoms, *spec.actuators, *spec.sensors, *spec.keys):
        spec.delete(old)
    _set_options(mj, spec)
    _add_shapes(mj, spec)
    for one, other in EXCLUDED:
        spec.add_exclude(bodyname1=one, bodyname2=other)
    held = _add_motors(mj, spec, stiffer)
    qpos = [0, 0, HEIGHT, 1, 0, 0, 0, *held]
    spec.add_key(name="bent knees", qpos=qpos, ctrl=held)
    return spec


def _set_options(mj: Any, spec: Any) -> None:
    option = spec.option
    option.timestep, option.iterations, option.ls_iterations = DT, ITERATIONS, LINE_SEARCH
    option.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
    option.disableflags |= int(mj.mjtDisableBit.mjDSBL_EULERDAMP)


def _add_shapes(mj: Any, spec: Any) -> None:
    def capsule(link: str, name: str, numbers: Numbers, **more: Any) -> None:
        *ends, radius = numbers
        spec.body(link).add_geom(
            name=f"{name}_collision",
            type=mj.mjtGeom.mjGEOM_CAPSULE,
            fromto=ends,
            size=[radius, 0, 0],
            **{"condim": 1, **more},
        )

    for link, (*centre, radius) in SPHERES.items():
        spec.body(link).add_geom(
            name=f"{'pelvis' if link == 'pelvis' else 'head'}_collision",
            type=mj.mjtGeom.mjGEOM_SPHERE,
            pos=centre,
            size=[radius, 0, 0],
            condim=1,
        )
    capsule("torso_link", "torso", TORSO)
    for side, sign in (("left", 1), ("right", -1)):
        for link, shapes in CAPSULES.items():
            for k, (*ends, radius) in enumerate(shapes):
                mirrored = [*(np.array(ends) * np.tile([1, sign, 1], 2)), radius]
                capsule(f"{side}_{link}", f"{side}_{link}{k}", tuple(mirrored))
        for k, (x, y, other_x, other_y) in enumerate(
            SOLE if side == "left" else (RIGHT_FIRST, *SOLE[1:]), 1
        ):
            ends = [x, y, SOLE_HEIGHT, other_x, other_y, SOLE_HEIGHT, SOLE_RADIUS]
            rubber = {"condim": 3, "friction": [FOOT_FRICTION, 0.005, 1e-4], "priority": 1}
            capsule(f"{side}_{FOOT}", f"{side}_foot{k}", tuple(ends), **rubber)


def _add_motors(mj: Any, spec: Any, stiffer: float) -> list[float]:
    """Add a position actuator for each joint, and return the angles that they hold [rad]."""
    held = []
    for joint in spec.joints:
        if joint.type != mj.mjtJoint.mjJNT_HINGE:
            continue
        armature, kp, kd, torque = motor(joint.name)
        kp, kd = stiffer * kp, stiffer**0.5 * kd
        joint.armature, joint.frictionloss = armature, 0.0
        joint.actfrclimited = mj.mjtLimited.mjLIMITED_FALSE
        actuator = spec.add_actuator(
            name=joint.name,
            target=joint.name,
            trntype=mj.mjtTrn.mjTRN_JOINT,
            forcelimited=True,
            forcerange=[-torque, torque],
        )
        actuator.set_to_position(kp=kp, kv=kd)
        actuator.ctrllimited = True
        actuator.ctrlrange = [joint.range[0] - torque / kp, joint.range[1] + torque / kp]
        held.append(next((x for name, x in POSE.items() if name in joint.name), 0.0))
    return held
