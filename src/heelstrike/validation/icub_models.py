"""Models of the iCub's windows: laws in a simulator, MuJoCo, and a robot without ground.

Joints follow the measured angles by springs and dampers, tau = kp (q_ref - q) + kd (v_ref - v),
implicit in the step; the base is free. Joints of the legs have two stiffnesses that are searched
together with the law: that of hip rolls, and that of all others. They stand for what bends behind
the encoders. Under load they sink, and the soles' measured tilt has this in it, so that one more
number is searched: the lean, added to both ankle pitches.

A force sensor has the mean force of a frame of 10 ms. MuJoCo gets the same scene, and the same
servo: its terms of the step's end are added to armature and damping (measure/peer/motion.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import heelstrike as hs
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeWarning
from heelstrike.measure.peer.model import handed_over, pair_geoms, positions_of
from heelstrike.measure.peer.motion import CoordinateMap
from heelstrike.validation.candidates import ROUGH
from heelstrike.validation.icub_robot import FEET, GRAVITY, IMU, RATE, robot
from heelstrike.validation.measured_set import Cases, Floats, Model

if TYPE_CHECKING:
    from heelstrike.simulate.simulator import Simulator

DT, TABLE = 1e-3, 4e-3
"""Step of the simulation, and of the table of references [s]."""
SPIN_UP = 0.15
"""Time before a window that is simulated and not judged [s]."""
STIFF, RELAXING = 2e4, 0.01
"""kp of all joints but the legs' [N m/rad]; kd / kp of all joints [s]."""
LEG = ("hip_pitch", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
STIFFNESS, HIP, LEAN = "leg.stiffness", "hip_roll.stiffness", "lean"
BODY = {STIFFNESS: (500.0, 1e4), HIP: (500.0, 1e4), LEAN: (0.1, 4.0)}
"""Ranges of the robot's own numbers [N m/rad], [N m/rad], [deg]."""
SUBSTEPS = round(1 / (RATE * DT))
"""Steps in a frame."""
CHANNELS = 15
"""Two forces [N], position [m], quaternion xyzw, gyroscope [rad/s], accelerometer [m/s^2]."""


def gains(values: Mapping[str, Floats], sets: int) -> tuple[Floats, Floats, Floats]:
    """Return kp, kd and the torque of the lean, (set, nv) each."""
    joints = {joint.name: joint.iv for joint in robot().joints}
    kp = np.full((sets, robot().nv), STIFF)
    kp[:, :6] = 0
    torque = np.zeros_like(kp)
    for foot in FEET:
        for name in LEG:
            kp[:, joints[f"{foot}_{name}"]] = values.get(STIFFNESS, STIFF)
        kp[:, joints[f"{foot}_hip_roll"]] = values.get(HIP, STIFF)
        ankle = joints[f"{foot}_ankle_pitch"]
        torque[:, ankle] = kp[:, ankle] * np.radians(values.get(LEAN, 0.0))
    return kp, RELAXING * kp, torque


def channels(cases: Cases, force: Floats, q: Floats, v: Floats) -> Floats:
    """Return the channels, (..., case, frame, channel).

    The path begins where the measured one does.

    Args:
        cases: the windows.
        force: forces on the two feet in all steps, those of the spin-up among them.
        q: coordinates in all frames, and in one more than is judged.
        v: velocities in the same frames.
    """
    first, frames = round(SPIN_UP * RATE), cases.frames
    steps = force[..., first * SUBSTEPS : (first + frames) * SUBSTEPS, :]
    mean = steps.reshape(*steps.shape[:-2], frames, SUBSTEPS, 2).mean(axis=-2)
    own = q[..., first : first + frames, :7]
    gyro, acceleration = imu(q[..., first - 1 : first + frames + 1, :], v[..., first - 1 :, :6])
    moved = own[..., :3] - own[..., :1, :3] + cases.measured[:, :1, 2:5]
    return np.concatenate([mean, moved, own[..., 3:7], gyro, acceleration], axis=-1)


def imu(q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Return gyroscope and accelerometer of all frames but the first and the last, IMU's frame."""
    turn, place = IMU
    turned = rotations(q[..., 3:7])
    v = v[..., : q.shape[-2], :]
    local = v[..., :3] + np.cross(v[..., 3:6], place)
    speed = np.einsum("...ij,...j->...i", turned, local)
    rate = (speed[..., 2:, :] - speed[..., :-2, :]) * RATE / 2 + [0, 0, GRAVITY]
    inward = np.einsum("...ji,...j->...i", turned[..., 1:-1, :, :], rate)
    return v[..., 1:-1, 3:6] @ turn, inward @ turn


def rotations(quaternion: Floats) -> Floats:
    """Return rotation matrices (..., 3, 3) of quaternions xyzw."""
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def steps_of(cases: Cases) -> int:
    """Return the number of steps of a window with its spin-up, one frame more than is judged."""
    return (round(SPIN_UP * RATE) + cases.frames + 1) * SUBSTEPS


@dataclass(frozen=True)
class Walker(Model):
    """A law under the robot; without a law there is no ground."""

    law: SurfaceLaw | None
    _sims: dict[bytes, Simulator] = field(default_factory=dict)

    def simulator(self, cases: Cases) -> Simulator:
        """Return the simulator whose servo follows the recording of the cases."""
        table = np.asarray(cases.given["reference"])[0]
        key = table.tobytes()
        if key not in self._sims:
            ground = () if self.law is None else (hs.Plane(self.law, name="ground"),)
            times = np.arange(len(table)) * TABLE
            kp, kd, _ = gains({}, 1)
            servo = hs.Servo(kp[0], kd[0], np.inf, hs.Trajectory(times, table))
            self._sims[key] = hs.Simulator(
                hs.Scene(robot(), *ground), dt=DT, control=servo, stops=None
            )
        return self._sims[key]

    def predict(self, cases: Cases, values: Mapping[str, Floats]) -> Floats:
        """Return channels, (set, case, frame, channel)."""
        sets, many = (len(next(iter(values.values()))) if values else 1), len(cases)
        kp, kd, torque = gains(values, sets)
        vary = {path: value for path, value in values.items() if path not in BODY}
        vary |= {"servo.kp": kp, "servo.kd": kd, "servo.torque": torque}
        vary = {path: np.repeat(value, many, axis=0) for path, value in vary.items()}
        vary["servo.torque"] += vary["servo.kp"] * np.tile(cases.given["offset"], (sets, 1))
        vary["servo.start"] = np.tile(SPIN_UP - np.asarray(cases.given["time"]), sets)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HeelstrikeWarning)  # of sets that diverge
            data = (
                self.simulator(cases)
                .run(
                    steps=steps_of(cases),
                    q0=np.tile(cases.given["q0"], (sets, 1)),
                    v0=np.tile(cases.given["v0"], (sets, 1)),
                    worlds=sets * many,
                    vary=vary,
                    record=("q", "v", "normal_force") if self.law is not None else ("q", "v"),
                    progress=False,
                    check=False,
                )
                .data
            )
        force = np.zeros((sets * many, steps_of(cases), 2))
        if self.law is not None:
            for side, foot in enumerate(FEET):
                own = [str(name).startswith(f"{foot}_sole") for name in data.point.values]
                force[..., side] = data.normal_force.values[:, :-1, own].sum(axis=-1)
        q, v = data.q.values[:, ::SUBSTEPS], data.v.values[:, ::SUBSTEPS]
        parts = [part.reshape(sets, many, *part.shape[1:]) for part in (force, q, v)]
        found = channels(cases, *parts)
        found[(data.failed.values >= 0).reshape(sets, many)] = np.inf
        return found


PEER = {"k": (300.0, 1e5), "b": (5.0, 1e3), "mu": ROUGH}
"""Ranges of MuJoCo's solref = (-k, -b) [1/s^2], [1/s], and of friction."""


class MujocoWalker:
    """The same robot, points, servo and windows in MuJoCo."""

    def __init__(self) -> None:
        law = hs.Elastic(hs.LinearSpring(), hs.Kinetic())
        self.scene = hs.Scene(robot(), hs.Plane(law, name="ground"))

    def one(self, cases: Cases, values: Mapping[str, float]) -> Floats:
        """Return channels (case, frame, channel) of one set of parameters."""
        import mujoco

        own = robot()
        kp, kd, torque = (x[0] for x in gains({k: np.array([x]) for k, x in values.items()}, 1))
        model = handed_over(self.scene, DT, cases.given["q0"][0])
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
        model.jnt_limited[:] = 0
        layout = CoordinateMap(model, own)
        model.dof_armature[layout.dofs] += DT * (kd + DT * kp + own.damping)
        model.dof_damping[layout.dofs] += kd + DT * kp
        for joint in own.joints[1:]:
            place = model.joint(joint.name)
            place.stiffness[:], model.qpos_spring[place.qposadr] = kp[joint.iv], 0.0
        model.pair_solref[:] = (-values["k"], -values["b"])
        model.pair_friction[:, :2] = values["mu"]
        table = np.asarray(cases.given["reference"])[0]
        goal = {"kp": kp, "kd": kd, "torque": torque, "table": joint_table(table)}
        return np.stack(
            [self._window(model, layout, cases, case, goal) for case in range(len(cases))]
        )

    def _window(
        self, model: Any, layout: CoordinateMap, cases: Cases, case: int, goal: Mapping[str, Floats]
    ) -> Floats:
        import mujoco

        data, own, steps = mujoco.MjData(model), robot(), steps_of(cases)
        q0, v0 = cases.given["q0"][case], cases.given["v0"][case]
        layout.write(data, positions_of(model, own, q0), v0)
        pairs = zip(pair_geoms(model, self.scene), self.scene.pairs, strict=True)
        left = {geoms[1] for geoms, pair in pairs if pair.point.name.startswith("l_")}
        begin, offset = float(cases.given["time"][case]) - SPIN_UP, cases.given["offset"][case]
        q, v, force = [], [], np.zeros((steps, 2))
        for step in range(steps):
            if step % SUBSTEPS == 0:
                now, speed = layout.read(data)
                q.append(now)
                v.append(speed)
            at = (begin + (step + 1) * DT) / TABLE
            low = min(max(int(at), 0), len(goal["table"]) - 2)
            ahead = goal["table"][low + 1] - goal["table"][low]
            wanted = goal["table"][low] + (at - low) * ahead
            data.qfrc_applied[layout.dofs] = (
                goal["kp"] * (wanted + offset) + goal["kd"] * ahead / TABLE + goal["torque"]
            )
            mujoco.mj_step(model, data)
            touching = data.contact
            for k in range(data.ncon):
                side = 0 if int(touching.geom[k].max()) in left else 1
                force[step, side] += data.efc_force[touching.efc_address[k]]
        return channels(
            cases.chosen(slice(case, case + 1)), force[None], np.array([q]), np.array([v])
        )[0]


def joint_table(table: Floats) -> Floats:
    """Return positions by velocity index, (row, nv), of coordinates (row, nq); 0 for the base."""
    found = np.zeros((len(table), robot().nv))
    for joint in robot().joints[1:]:
        found[:, joint.iv] = table[:, joint.iq]
    return found
