"""A real humanoid that walks and sways: the force of the ground on each foot, base path and IMU.

iCub 2.5, 33 kg, 26 joints at 100 Hz [Ramadoss2022]. Its joints are driven along the measured
angles, its base is free (icub_models.py); what is read of a file is in icub_recording.py.

A replay of measured angles has no balance control: errors of the tilt grow as those of an inverted
pendulum, by e in 0.25 s. A recording is therefore cut into windows. Each begins SPIN_UP before with
the measured pose and velocity, the lowest corner of the soles on the ground; what follows is
judged: 0.7 s of walking, two thirds of a step, so that folds hold touch-downs alike, and 1 s in
every 2 s of swaying. What precedes the first step and follows the last is left out, for standing is
easy.

[Ramadoss2022] P. Ramadoss et al., ami-iit/paper_ramadoss-2022-iros-humanoid-base-estimation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from heelstrike.errors import FileError
from heelstrike.identification.space import Space
from heelstrike.robot.convert import to_pinocchio
from heelstrike.validation.candidates import DEFAULT, candidates
from heelstrike.validation.icub_models import (
    BODY,
    PEER,
    SPIN_UP,
    TABLE,
    MujocoWalker,
    Walker,
    rotations,
)
from heelstrike.validation.icub_recording import Recording, read
from heelstrike.validation.icub_robot import RATE, corners, robot, weight
from heelstrike.validation.measured_set import (
    BASELINE,
    MUJOCO,
    Cases,
    Errors,
    Floats,
    Ints,
    Measure,
    MeasuredSet,
    Model,
)
from heelstrike.validation.models import Trajectories

POINTS = 8
"""Corners of both soles, which share the mass that ranges of stiffness are made for."""
STEPPED, TOUCHED, TOUCHING = 0.2, 0.1, 0.1
"""Shares of the weight that move in a window with a step, and that a foot carries once it has
touched; time that counts as touch-down [s]."""
SPREAD = np.radians(0.3), 0.02, 0.02
"""Noise of a start: tilt of the base [rad], its velocity [m/s] and angular velocity [rad/s]."""
ENCODER = 2 * np.pi / 4096 / np.sqrt(12)
"""Standard deviation of a joint's angle by an encoder of 12 bits, whose steps the files show
[rad]."""


class Walking(MeasuredSet):
    """The iCub that walks."""

    name, stem = "icub-walking", "icub_walking"
    title = "a real iCub of 33 kg walks 1 m in 12 s, 100 Hz"
    columns = ("time", "joints", "q", "left_foot_force", "right_foot_force", "acceleration",
               "angular_velocity", "base_position", "base_rotation")  # fmt: skip
    measures: tuple[Measure, ...] = (
        Measure("left foot", "% of weight", "rms", aim=10.0),
        Measure("right foot", "% of weight", "rms", aim=10.0),
        Measure("path", "mm"),
        Measure("tilt", "deg"),
        Measure("gyroscope", "rad/s", "rms"),
        Measure("accelerometer", "m/s2", "rms"),
    )
    phases: tuple[str, ...] = ("double support", "touch-down", "single support")
    laws = DEFAULT
    parts = 2
    start_noise = (
        "0.3 deg of tilt (that of both soles in double support scatters by 0.2 to 0.4), 20 mm/s "
        "(by so much the base's velocity differs by left and right sole) and 0.02 rad/s"
    )
    window, every = 0.7, 0.7
    """Length of a window, and time from one to the next [s]."""
    stepped = STEPPED
    """Least share of the weight that moves in a window."""

    def read(self, path: Path) -> Cases:
        """Return the windows of a recording."""
        made = read(path, self.columns)
        frames, first = round(self.window * RATE), round(SPIN_UP * RATE) + 1
        starts = np.arange(first, len(made) - frames - 1, round(self.every * RATE))
        moved = [np.ptp(made.force[at : at + frames, 0]) / weight() for at in starts]
        stepped = np.flatnonzero(np.array(moved) >= self.stepped)
        if not len(stepped):
            raise FileError(
                f"'{path}' has no window of {self.window} s in which {self.stepped:.0%} of the "
                "weight moves from foot to foot",
                path=str(path),
                remedy="give a longer recording; what a standing robot does is not judged",
            )
        ids = np.arange(stepped[0], stepped[-1] + 1)
        return self._cut(made, ids, starts[ids], frames)

    def _cut(self, made: Recording, ids: Ints, starts: Ints, frames: int) -> Cases:
        own = np.concatenate([made.force, made.q[:, :7], made.gyro, made.acceleration], axis=1)
        states = [made.state(at / RATE - SPIN_UP) for at in starts]
        table = made.spline(np.arange(0, (len(made) - 1) / RATE, TABLE))
        given = {
            "time": starts / RATE,
            "q0": np.array([q for q, _ in states]),
            "v0": np.array([v for _, v in states]),
            "reference": np.broadcast_to(table, (len(ids), *table.shape)),
            "zero": np.broadcast_to(made.zero, (len(ids), 2)),
            "tilt": np.broadcast_to(made.tilt, (len(ids), 2, 2)),
            "offset": np.zeros((len(ids), robot().nv)),
        }
        measured = np.stack([own[at : at + frames] for at in starts])
        return Cases(made.path.name, ids, np.arange(frames) / RATE, measured, given)

    def models(self) -> dict[str, Callable[[], Model]]:
        """Return the laws, MuJoCo, and a robot that falls."""

        def law(name: str) -> Model:
            chosen = candidates(robot().mass / POINTS)[name]
            return Walker(Space.of({**BODY, **chosen.ranges}), chosen.law)

        found: dict[str, Callable[[], Model]] = {name: partial(law, name) for name in candidates()}
        found[MUJOCO] = lambda: Trajectories(Space.of({**BODY, **PEER}), MujocoWalker().one)
        found[BASELINE] = lambda: Walker(None, None)
        return found

    def errors(self, cases: Cases, predicted: Floats) -> dict[str, Floats]:
        """Return the errors of forces, path, tilt and IMU."""
        with np.errstate(invalid="ignore"):
            apart = predicted - cases.measured
            up, wanted = (rotations(x[..., 5:9])[..., 2, :] for x in (predicted, cases.measured))
            tilt = np.degrees(np.arccos(np.clip(np.sum(up * wanted, axis=-1), -1, 1)))
            found = {
                "left foot": 100 * np.abs(apart[..., 0]) / weight(),
                "right foot": 100 * np.abs(apart[..., 1]) / weight(),
                "path": 1e3 * np.linalg.norm(apart[..., 2:5], axis=-1),
                "tilt": tilt,
                "gyroscope": np.linalg.norm(apart[..., 9:12], axis=-1),
                "accelerometer": np.linalg.norm(apart[..., 12:15], axis=-1),
            }
        return {name: np.where(np.isnan(x), np.inf, x) for name, x in found.items()}

    def loss(self, cases: Cases, errors: Errors) -> Floats:
        """Return the RMS error of both feet's forces [% of weight], plus the mean tilt [deg].

        Forces alone would not tell a robot that falls slowly from one that stands.
        """
        squares = errors["left foot"] ** 2 + errors["right foot"] ** 2
        return np.asarray(np.sqrt(squares.mean(axis=-1) / 2) + errors["tilt"].mean(axis=-1))

    def phase(self, cases: Cases) -> Ints:
        """Return double support, touch-down and single support, by the measured forces."""
        loaded = cases.measured[..., :2] > TOUCHED * weight()
        found: Ints = np.where(loaded.all(axis=-1), 0, 2)
        for case, frame in np.argwhere((loaded[:, 1:] & ~loaded[:, :-1]).any(axis=-1)):
            found[case, frame + 1 : frame + 1 + round(TOUCHING * RATE)] = 1
        return found

    def disturbed(self, cases: Cases, random: np.random.Generator) -> Cases:
        """Return the windows with starts disturbed by SPREAD, and angles of joints by ENCODER."""
        q0, v0 = cases.given["q0"].copy(), cases.given["v0"].copy()
        offset = random.normal(0, ENCODER, (len(cases), robot().nv))
        offset[:, :6] = 0
        for q, own in zip(q0, offset, strict=True):
            turn = pin.exp3(random.normal(0, SPREAD[0], 3) * [1, 1, 0])
            q[3:7] = pin.Quaternion(turn @ rotations(q[3:7])).coeffs()
            for joint in robot().joints[1:]:
                q[joint.iq] += own[joint.iv]
            q[2] -= corners(q).min()
        v0[:, :3] += random.normal(0, SPREAD[1], (len(cases), 3))
        v0[:, 3:6] += random.normal(0, SPREAD[2], (len(cases), 3))
        return cases.with_given(q0=q0, v0=v0, offset=offset)

    def curves(self, cases: Cases, channels: Floats, case: int) -> dict[str, Floats]:
        """Return both forces and the sideways path."""
        own = channels[case]
        return {
            "left foot [N]": own[:, 0],
            "right foot [N]": own[:, 1],
            "base, forwards [mm]": 1e3 * (own[:, 2] - cases.measured[case, 0, 2]),
            "base, sideways [mm]": 1e3 * (own[:, 3] - cases.measured[case, 0, 3]),
        }

    def calibration(self, training: Cases) -> dict[str, Any]:
        """Return the sensors' zeros, the soles' tilt, and what statics says of the forces."""
        zero, tilt = training.given["zero"][0], training.given["tilt"][0]
        return {
            "zero of the left force sensor [N]": round(float(zero[0]), 1),
            "zero of the right force sensor [N]": round(float(zero[1]), 1),
            "pitch and roll of the left sole [deg]": [round(float(x), 2) for x in tilt[0]],
            "pitch and roll of the right sole [deg]": [round(float(x), 2) for x in tilt[1]],
            "forces by statics of the measured pose, RMS error [% of weight]": round(
                statics(training), 1
            ),
        }


class Swaying(Walking):
    """The iCub that sways on both feet."""

    name, stem = "icub-sway", "icub_sway"
    title = "the same iCub sways for 20 s on both feet, 100 Hz"
    measures = tuple(
        Measure(one.name, one.unit, one.average, 5.0 if one.aim else None)
        for one in Walking.measures
    )
    phases = ("double support",)
    window, every, stepped = 1.0, 2.0, 0.0

    def phase(self, cases: Cases) -> Ints:
        """Return double support throughout."""
        return np.zeros(cases.measured.shape[:2], dtype=int)


def statics(cases: Cases) -> float:
    """Return the RMS error of forces by which both ankles' soles balance the centre of mass.

    The weight is divided as its centre lies between the two soles' centres; no law is in it.
    """
    model = to_pinocchio(robot())
    data = model.createData()
    soles = [robot().frames[f"{foot}_sole"] for foot in ("l", "r")]
    squares = []
    table = np.asarray(cases.given["reference"])[0]
    for case, start in enumerate(cases.given["time"]):
        for frame in range(0, cases.frames, 5):
            q = table[min(round((start + frame / RATE) / TABLE), len(table) - 1)]
            com = pin.centerOfMass(model, data, q)
            left, right = (data.oMi[s.body + 1].act(s.translation) for s in soles)
            along = (left - right)[:2]
            share = np.clip((com - right)[:2] @ along / (along @ along), 0, 1)
            wanted = cases.measured[case, frame, 0] / weight()
            squares.append((share - wanted) ** 2)
    return float(100 * np.sqrt(np.mean(squares)))
