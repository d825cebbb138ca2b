"""Landings of a real Cassie: what is read of a file, and where a simulation begins.

States and motor torques at 2 kHz for 50 ms around the touch of a jump's landing [Acosta2022]. Names
of the makers' URDF and of the MJCF differ; JOINTS has the map. With it, and signs and zeros as they
are, the loop of each leg (heel spring to rod) closes to 1 mm in every landing.

- Rates in a file lag behind the angles by some 5 ms, the filter of the robot's own estimator, and
  those of the heel springs are missing. Rates are therefore differences of angles, fitted in
  frames of 2.5 ms, here as in what is predicted.
- Base positions are estimates, of which the height drifts by up to 15 mm in a landing. The ground
  below each foot is placed at the lowest point that its lower end has when it first stops, plus a
  depth that is searched with the law. All models are given the same.
- The springs of a leg in the air, whose knee motor has little torque, are not at 0 but at REST.
- A simulation begins BEFORE the first touch with the pose there, its loops closed, and with rates
  by a parabola through what precedes the touch.

[Acosta2022] B. Acosta, W. Yang, M. Posa: Validating robotics simulators on real-world impacts,
IEEE Robotics and Automation Letters 7, 2022.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.signal import savgol_filter

import heelstrike as hs
from heelstrike.errors import FileError, HeelstrikeError
from heelstrike.robot.convert import to_pinocchio
from heelstrike.validation.files import check_finite, check_shape, robot_file
from heelstrike.validation.measured_set import Floats

RATE = 2000
"""Frames a second."""
SIDES = ("left", "right")
PAIRED = ("hip-roll", "hip-yaw", "hip-pitch", "knee", "shin", "tarsus")
JOINTS = (
    *(f"{side}-{name}" for name in PAIRED for side in SIDES),
    *(f"{side}-{name}" for side in SIDES for name in ("heel-spring", "foot")),
)
"""Joints of the MJCF in the order of a file, which calls shin knee joint, tarsus ankle joint,
heel-spring ankle spring, and foot toe."""
MOTORS = tuple(
    f"{side}-{name}"
    for name in ("hip-roll", "hip-yaw", "hip-pitch", "knee", "foot")
    for side in SIDES
)
"""Joints of the ten motors in the order of a file."""
TOE_DRIVE = ("foot", "foot-crank", "plantar-rod")
"""Joints of a loop whose angles follow from that of the foot."""
JUDGED = tuple(name for name in JOINTS if "spring" not in name)
"""Joints whose rates are predicted."""
REST = {
    "left-shin": -0.0166,
    "right-shin": -0.0096,
    "left-heel-spring": -0.0016,
    "right-heel-spring": -0.0012,
}
"""Angles at which the springs are at rest [rad]: what `rests` measures on the training landings, of
which the fold that is judged is no part."""
UNLOADED = 15.0
"""Torque of a knee motor up to which a leg's springs count as unloaded before the touch [N m]."""
BEFORE, AFTER = 10, 80
"""Frames before the first touch with which a simulation begins, and after it that are judged."""
WINDOW, STOPS, FALLS = 5, 4, 5e-3
"""Frames that a rate is fitted in; frames in which a foot that has touched gets no lower, and the
way that it must have come down [m]."""
GENERIC = ("quaternion w", "quaternion x", "quaternion y", "quaternion z", "x", "y", "z")
NAMES = (
    *GENERIC,
    *JOINTS,
    *(f"base rate {k}" for k in range(6)),
    *(f"rate of {name}" for name in JOINTS),
)


@cache
def robot() -> hs.Robot:
    """Return Cassie, of which the feet touch the ground, with its springs at rest as measured."""
    own = hs.load(robot_file("cassie.xml"), collide=["left-foot", "right-foot"])
    names = [joint.name for joint in own.joints]
    springs = [replace(one, rest=np.array([REST[names[one.joint]]])) for one in own.springs]
    return replace(own, springs=tuple(springs))


@cache
def _pinocchio() -> Any:
    return to_pinocchio(robot())


@cache
def _places() -> dict[str, tuple[int, int]]:
    """Where each joint is in q and in v."""
    return {joint.name: (joint.iq, joint.iv) for joint in robot().joints}


def places(names: tuple[str, ...], velocity: bool = False) -> list[int]:
    """Return indices of joints in q, or in v."""
    return [_places()[name][int(velocity)] for name in names]


@dataclass(frozen=True)
class Landing:
    """A landing from its start on, in equal steps."""

    q0: Floats
    v0: Floats
    touch: int
    """Frame of the first touch."""
    ground: Floats
    """Height of the ground below the left and the right foot [m]."""
    angles: Floats
    """Angles of JUDGED, (frame, joint) [rad]."""
    torque: Floats
    """Torques, (frame, nv) [N m]."""


def landing(path: Path, number: int, data: dict[str, np.ndarray]) -> Landing:
    """Return a landing of a file."""
    case, keys = f"landing {number}", [f"{name}_{number:02d}" for name in "txu"]
    missing = [key for key in keys if key not in data]
    if missing:
        raise FileError(
            f"'{path}' has the id {number} and lacks the array {missing[0]}",
            path=str(path),
            remedy="write t_NN, x_NN and u_NN for each NN of ids, or leave the id out",
        )
    time, x, u = (np.asarray(data[key], dtype=float) for key in keys)
    check_shape(path, keys[1], x, (len(time), len(NAMES)))
    check_shape(path, keys[2], u, (len(time), len(MOTORS)))
    check_finite(path, case, x, NAMES)
    check_finite(path, case, u, [f"torque of {name}" for name in MOTORS])
    step = np.median(np.diff(time)) if len(time) > 1 else 0.0
    if not 0.8 < step * RATE < 1.25:
        raise FileError(
            f"'{path}': {case} has frames {step:.3g} s apart, not {1 / RATE:g}",
            path=str(path),
            remedy=f"resample the data to {RATE} Hz; times are in s",
        )
    even = np.arange(0.0, time[-1] - time[0], 1 / RATE) + time[0]
    x, u = (np.stack([np.interp(even, time, y) for y in a.T], axis=1) for a in (x, u))
    return _begun(path, case, x, u)


def _begun(path: Path, case: str, x: Floats, u: Floats) -> Landing:
    q = np.tile(robot().pose("home"), (len(x), 1))
    q[:, :3], q[:, 3:6], q[:, 6] = x[:, 4:7], x[:, 1:4], x[:, 0]
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    q[:, places(JOINTS)] = x[:, 7:23]
    for side in SIDES:  # foot, rod and crank are a parallelogram, nearly
        foot, crank, rod = places(tuple(f"{side}-{name}" for name in TOE_DRIVE))
        turned = q[:, foot] - robot().pose("home")[foot]
        q[:, crank] += turned
        q[:, rod] -= turned
    heights = np.array([_heights(row) for row in q])
    stops = [first_stop(heights[:, side]) for side in range(2)]
    known = [stop for stop in stops if stop is not None]
    if not known:
        raise FileError(
            f"'{path}': {case} never lands: no foot comes down by {1e3 * FALLS:g} mm and stops",
            path=str(path),
            remedy="leave it out of ids",
        )
    touch = max(0, min(known) - 2)
    start = max(0, touch - BEFORE)
    ground = [heights[len(x) - 1 if s is None else s, k] for k, s in enumerate(stops)]
    torque = np.zeros((len(x), robot().nv))
    torque[:, places(MOTORS, velocity=True)] = u
    q0, v0 = _state(path, case, q[: max(touch, start + 6) + 1], start)
    end = min(len(x), touch + AFTER + 1)
    return Landing(q0, v0, touch - start, np.array(ground), q[start:end, places(JUDGED)],
                   torque[start:end])  # fmt: skip


def _heights(q: Floats) -> Floats:
    """Return the heights of the lower end of the left and the right foot [m]."""
    model = _pinocchio()
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    ends = [
        data.oMi[p.body + 1].act(np.array(p.position, dtype=float))[2] - p.radius
        for p in robot().points
    ]
    return np.array([min(ends[:2]), min(ends[2:])])


def first_stop(height: Floats) -> int | None:
    """Return the frame in which a height that has fallen first gets no lower; None if none does."""
    for frame in range(1, len(height) - STOPS):
        if height[frame] < height[:frame].max() - FALLS and np.all(
            height[frame + 1 : frame + 1 + STOPS] >= height[frame]
        ):
            return frame
    return None


def _state(path: Path, case: str, q: Floats, start: int) -> tuple[Floats, Floats]:
    """Return q and v at the start, with loops closed, from frames before the touch."""
    model = _pinocchio()
    apart = np.array([pin.difference(model, q[start], row) for row in q])
    t = (np.arange(len(q)) - start) / RATE
    level, rate, _ = np.polynomial.polynomial.polyfit(t, apart, 2)
    try:
        first = robot().close(pin.integrate(model, q[start], level), hold=JUDGED)
        moved = np.zeros(robot().nv)
        moved[_measured()] = rate[_measured()]
        before, after = (
            robot().close(pin.integrate(model, first, moved * dt), hold=JUDGED)
            for dt in (-1e-3, 1e-3)
        )
    except HeelstrikeError as error:
        raise FileError(
            f"'{path}': {case}: {error}", path=str(path), remedy="leave it out of ids"
        ) from error
    return first, pin.difference(model, before, after) / 2e-3


def _measured() -> list[int]:
    """Return indices in v of the base and of the joints that are held while loops are closed."""
    return [*range(6), *places(JUDGED, velocity=True)]


def rates(angles: Floats) -> Floats:
    """Return rates (..., frame, joint) of angles, by parabolas through WINDOW frames [rad/s]."""
    return np.asarray(savgol_filter(angles, WINDOW, 2, deriv=1, delta=1 / RATE, axis=-2))


def rests(q0: Floats, torque: Floats) -> dict[str, float]:
    """Return the median angles of the springs of unloaded legs at the starts, (landing, nq) and
    (landing, nv) [rad].
    """
    found = {}
    for name in REST:
        side, _, _ = name.partition("-")
        knee = torque[:, places((f"{side}-knee",), velocity=True)[0]]
        angles = q0[np.abs(knee) < UNLOADED][:, places((name,))]
        found[name] = float(np.median(angles)) if len(angles) else float("nan")
    return found
