"""Real tosses of a cube: how they are read, begun, simulated and compared.

440 tosses of a 104.8 mm cube onto a board, tracked at 148 Hz: [Pfrommer2020] ContactNets, its
public data. A simulation begins three frames before a corner can touch (z <= sqrt(3) h) and is
compared with every later frame, after [Acosta2022]:

    position: mean |dp| / width      rotation: mean theta

Where four frames or more precede the start, its velocity comes from all of them: a parabola with g,
the way between the ends, and one rotation about one axis, for the cube's inertia is the same about
every axis.

The cube and its world are as the training tosses measure them, MEASURED: at rest its centre is
51.24 mm high, not 52.4, and in flight it falls with 9.604 m/s^2, so the data's lengths are 2.2 %
short; and its spin changes in impacts as if its inertia were 1.1e-3 kg m^2, not 8.1e-4, a shell's
rather than a solid's (5/18 m width^2 = 1.13e-3). NOMINAL is what [Pfrommer2020] states.

21 of the 440 training tosses are copies of others, turned about the vertical: their heights agree
in every bit. A copy of a toss that was trained on is not judged (`identity`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.identification.motions import differences, pose_errors
from heelstrike.identification.space import Space
from heelstrike.validation import free_body
from heelstrike.validation.candidates import DEFAULT, MASS, candidates
from heelstrike.validation.cube_frames import TURNS, known, turns
from heelstrike.validation.files import (
    check_finite,
    check_quaternions,
    check_rate,
    check_shape,
    check_velocity,
    columns,
)
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
from heelstrike.validation.models import LawModel, Trajectories, mujoco_states

HALF = 0.0524
"""Half of the cube's width [m], by which errors are told."""
RATE = 148
"""Frames a second."""
SUBSTEPS = 10
"""Steps of the simulation in a frame."""
BEFORE = 3
"""Frames between the start and the first that can touch."""
LEAST = 4
"""Frames of flight from which a velocity is fitted."""
SCALES = {"position": 13.0, "rotation": 16.0}
"""Errors that weigh alike in the loss [% of the width], [deg]."""
NAMES = (
    *("x", "y", "z", "qw", "qx", "qy", "qz"),
    *("vx", "vy", "vz", "wx", "wy", "wz"),
)
PEER = {"k": (300.0, 1e5), "b": (5.0, 1e3), "mu": (0.03, 0.8)}
"""Ranges of MuJoCo's solref = (-k, -b) [1/s^2], [1/s], as [Acosta2022] set it, and of friction."""
SPREAD = 0.33e-3, np.radians(0.44), 2e-3, 0.02
"""Noise of a start: position [m], rotation about each axis [rad], velocity [m/s], angular velocity
[rad/s]. The first two are the scatter of heights and tilts at rest, which `calibration` measures;
the others follow from the scatter of 0.06 mm and 0.055 deg about the flights, over 13 frames."""


@dataclass(frozen=True)
class Block:
    """The cube and its world in the lengths of the data."""

    half: float
    """Half of its width [m]."""
    inertia: float
    """About any axis, in the data's lengths [kg m^2]."""
    gravity: float
    """[m/s^2]"""
    offset: float = 0.0
    """From its middle to its centre of mass, along y of the turned frame (cube_frames.py) [m]."""

    @property
    def com(self) -> Floats:
        """Centre of mass in the turned frame [m]."""
        return np.array([0.0, self.offset, 0.0])

    def robot(self) -> hs.Robot:
        """Return the bundled cube of this size and inertia."""
        own, scale = hs.load("cube"), self.half / HALF
        return replace(
            own,
            bodies=tuple(
                replace(body, inertia=self.inertia * np.eye(3), com=self.com) for body in own.bodies
            ),
            points=tuple(replace(point, position=scale * point.position) for point in own.points),
            shapes=tuple(replace(shape, size=scale * shape.size) for shape in own.shapes),
            model=None,
            source=None,
        )


SHORT = 0.05124 / HALF
"""Of a length in the data over the true one."""
NOMINAL = Block(HALF, 8.1e-4, 9.81)
MEASURED = Block(SHORT * HALF, SHORT**2 * 1.1e-3, 9.604, SHORT * 5e-3)


class Cube(MeasuredSet):
    """The tossed cube, as measured or as its makers state it."""

    name, stem = "cube", "cube_toss"
    title = "440 real tosses of a 104.8 mm cube onto a board, 148 Hz"
    columns = ("x", "offset", "ids")
    measures = (
        Measure("position", "% of width", aim=12.0),
        Measure("rotation", "deg", aim=15.0),
    )
    phases = free_body.PHASES
    laws = DEFAULT
    start_noise = "0.33 mm and 0.44 deg about each axis (scatter at rest), 2 mm/s, 0.02 rad/s"

    def __init__(self, block: Block = MEASURED) -> None:
        self.block = block
        self.robot = block.robot()

    def read(self, path: Path) -> Cases:
        """Return the tosses of a file, begun as this cube flies."""
        data = columns(path, self.columns)
        check_shape(path, "x", data["x"], (None, len(NAMES)))
        check_shape(path, "ids", data["ids"], (len(data["offset"]) - 1,))
        if "dt" in data:
            check_rate(path, 1 / float(data["dt"]), RATE)
        begun = []
        turned = TURNS[self._turns(np.asarray(data["ids"]))]
        for number, (a, b), turn in zip(data["ids"], pairwise(data["offset"]), turned, strict=True):
            rows, case = data["x"][a:b], f"toss {number}"
            check_finite(path, case, rows, NAMES)
            check_quaternions(path, case, rows[:, 3:7])
            check_velocity(path, case, rows[:, :3], rows[:, 7:10], RATE)
            begun.append(self._begin(path, case, rows, turn))
        poses = free_body.side_by_side([poses for _, poses in begun])
        time = np.arange(poses.shape[1]) / RATE
        v0 = np.array([v0 for v0, _ in begun])
        return Cases(path.name, np.asarray(data["ids"]), time, poses, {"v0": v0})

    def _turns(self, ids: Ints) -> Ints:
        """Return the quarter turns of tosses, by training tosses of folds that are not held out.

        What is held out has no say; tosses of no training fold get their turn from all of these.
        """
        if not self.block.offset:
            return np.zeros(len(ids), dtype=int)
        measured, misfits = known()
        folds = measured % self.parts
        trained = ~np.isin(folds, self.held)
        return np.where(
            np.isin(ids % self.parts, folds),
            turns(ids, measured[trained], misfits[trained]),
            turns(ids, measured, misfits),
        )

    def _begin(
        self, path: Path, case: str, states: Floats, turn: Rotation
    ) -> tuple[Floats, Floats]:
        """Return v0 and the poses from the start on, of one toss."""
        near = free_body.first_near(path, case, states[:, 2] - np.sqrt(3) * HALF)
        start = max(0, near - BEFORE)
        rotations = Rotation.from_quat(states[:, [4, 5, 6, 3]]) * turn
        velocity, spin = states[start, 7:10], turn.inv().apply(states[start, 10:13])
        if start >= LEAST:
            centre = states[: start + 1, :3] + rotations[: start + 1].apply(self.block.com)
            velocity, spin = free_body.flight(
                centre, rotations[: start + 1], self.block.gravity, RATE
            )
            velocity -= rotations[start].apply(np.cross(spin, self.block.com))
        inward = rotations[start].inv()
        poses = np.concatenate([states[:, :3], rotations.as_quat()], axis=1)[start:]
        return np.concatenate([inward.apply(velocity), spin]), poses

    def simulator(self, law: SurfaceLaw | None, substeps: int = SUBSTEPS) -> hs.Simulator:
        """Return the cube above a plane called ground; without a law there is no ground."""
        ground = () if law is None else (hs.Plane(name="ground", law=law),)
        scene = hs.Scene(self.robot, *ground, gravity=(0, 0, -self.block.gravity))
        return hs.Simulator(scene, dt=1 / (RATE * substeps))

    def models(self) -> dict[str, Callable[[], Model]]:
        """Return the laws, MuJoCo, and a flight through the board."""

        def law(name: str) -> Model:
            chosen = candidates()[name]
            return LawModel(Space.of(chosen.ranges), self.simulator(chosen.law))

        found: dict[str, Callable[[], Model]] = {name: partial(law, name) for name in candidates()}
        found[MUJOCO] = lambda: Trajectories(Space.of(PEER), self._mujoco)
        found[BASELINE] = lambda: LawModel(None, self.simulator(None))
        return found

    def _mujoco(self, cases: Cases, values: Mapping[str, float]) -> Floats:
        """Return poses (toss, frame, 7) of MuJoCo, quaternions xyzw; elliptic cones."""
        import mujoco

        inertia, size = (" ".join([repr(x)] * 3) for x in (self.block.inertia, self.block.half))
        model = mujoco.MjModel.from_xml_string(
            f"""<mujoco><option timestep="{1 / (RATE * SUBSTEPS)}" cone="elliptic"
            gravity="0 0 -{self.block.gravity}"/><worldbody>
            <geom type="plane" size="0 0 0.05" condim="3"/>
            <body><freejoint/>
              <inertial pos="0 {self.block.offset!r} 0" mass="{MASS}" diaginertia="{inertia}"/>
              <geom type="box" size="{size}" condim="3"/></body>
            </worldbody></mujoco>"""
        )
        model.geom_solref[:] = (-values["k"], -values["b"])
        model.geom_friction[:] = (values["mu"], 0, 0)
        start, v0 = cases.measured[:, 0], cases.given["v0"]
        linear = Rotation.from_quat(start[:, 3:]).apply(v0[:, :3])
        state = np.concatenate([start[:, :3], start[:, [6, 3, 4, 5]], linear, v0[:, 3:]], axis=1)
        made = mujoco_states(model, state, SUBSTEPS * (cases.frames - 1), SUBSTEPS)
        return made[..., [0, 1, 2, 4, 5, 6, 3]]

    def errors(self, cases: Cases, predicted: Floats) -> dict[str, Floats]:
        """Return the distance of the centres [% of the width] and the angle [deg]."""
        found = pose_errors(self.robot, predicted, cases.measured)
        return {
            "position": 100 * found.position / (2 * HALF),
            "rotation": np.degrees(found.angle),
        }

    def loss(self, cases: Cases, errors: Errors) -> Floats:
        """Return the loss of a search, one number per toss: the root of the sum of both errors.

        Errors are relative to SCALES. The root reduces the weight of a toss that tips over in one
        and not in the other, which is chance. It was chosen on the training tosses: fitted on two
        thirds, judged on the last third.
        """
        parts = [np.nanmean(errors[name], axis=-1) / scale for name, scale in SCALES.items()]
        return np.asarray(np.sqrt(sum(parts)))

    def phase(self, cases: Cases) -> Ints:
        """Return flight until a corner can touch, impact, slide, and rest."""
        poses = cases.measured
        known = np.isfinite(poses[..., 0])
        touched = np.where(known, poses[..., 2] <= np.sqrt(3) * HALF, False)
        speed = np.zeros(known.shape)
        moved = differences(self.robot, poses[:, 1:], poses[:, :-1])
        speed[:, 1:] = RATE * (
            np.linalg.norm(moved[0], axis=-1) + HALF * np.linalg.norm(moved[1], axis=-1)
        )
        return free_body.phases(touched, speed, known, RATE)

    def disturbed(self, cases: Cases, random: np.random.Generator) -> Cases:
        """Return the tosses with starts disturbed by SPREAD."""
        place, turn, speed, spin = SPREAD
        poses, v0 = cases.measured.copy(), cases.given["v0"].copy()
        many = len(cases)
        poses[:, 0, :3] += random.normal(0, place, (many, 3))
        turned = Rotation.from_rotvec(random.normal(0, turn, (many, 3)))
        poses[:, 0, 3:] = (Rotation.from_quat(poses[:, 0, 3:]) * turned).as_quat()
        v0[:, :3] += random.normal(0, speed, (many, 3))
        v0[:, 3:] += random.normal(0, spin, (many, 3))
        return replace(cases, measured=poses, given={**cases.given, "v0": v0})

    def identity(self, cases: Cases) -> Floats:
        """Return the heights: the data set holds tosses twice, turned about the vertical."""
        return cases.measured[..., 2]

    def starts(self, cases: Cases) -> Floats:
        """Return what tells two starts apart: height, velocity, spin and the highest corners.

        The horizontal direction of flight is taken as x; how the cube stands is told by the sorted
        sizes of the vertical's components in its axes, which its symmetries do not change.
        """
        start, v0 = cases.measured[:, 0], cases.given["v0"]
        rotation = Rotation.from_quat(start[:, 3:])
        velocity, spin = rotation.apply(v0[:, :3]), rotation.apply(v0[:, 3:])
        turned = free_body.heading(velocity)
        up = np.sort(np.abs(rotation.inv().apply([0, 0, 1])), axis=1)
        along = np.hypot(velocity[:, 0], velocity[:, 1])
        return np.column_stack([start[:, 2], along, velocity[:, 2], turned.apply(spin), up])

    def residuals(self, cases: Cases, predicted: Floats) -> dict[str, Floats]:
        """Return differences of position and rotation, in the direction of flight."""
        start, v0 = cases.measured[:, 0], cases.given["v0"]
        turned = free_body.heading(Rotation.from_quat(start[:, 3:]).apply(v0[:, :3]))
        linear, angular = (-x for x in differences(self.robot, predicted, cases.measured))
        frames = cases.frames
        found = {}
        for name, own, scale in (
            ("position", linear, 100 / (2 * HALF)),
            ("rotation", angular, np.degrees(1)),
        ):
            if name == "rotation":  # from the measured cube's frame to the world's
                quat = np.where(np.isfinite(cases.measured[..., 3:]), cases.measured[..., 3:], 0.5)
                own = Rotation.from_quat(quat.reshape(-1, 4)).apply(own.reshape(-1, 3))
                own = own.reshape(len(cases), frames, 3)
            matrices = turned.as_matrix()
            found[name] = scale * np.einsum("kij,kfj->kfi", matrices, own)
        return found

    def curves(self, cases: Cases, channels: Floats, case: int) -> dict[str, Floats]:
        """Return height, way, and the tilt of the face that it comes to rest on."""
        own, real = channels[case], cases.measured[case]
        end = real[np.isfinite(real[:, 0])][-1]
        face = Rotation.from_quat(end[3:]).inv().apply([0, 0, 1])
        face = np.rint(face / np.abs(face).max())
        quat = np.where(np.isfinite(own[:, 3:]), own[:, 3:], 0.5)
        up = Rotation.from_quat(quat).inv().apply([0, 0, 1])
        tilt = np.degrees(np.arccos(np.clip(up @ face / np.linalg.norm(face), -1, 1)))
        return {
            "height of the centre [mm]": 1e3 * own[:, 2],
            "way [mm]": 1e3 * np.hypot(*(own[:, :2] - real[0, :2]).T),
            "tilt of the face it rests on [deg]": np.where(np.isfinite(own[:, 0]), tilt, np.nan),
        }

    def calibration(self, training: Cases) -> dict[str, Any]:
        """Return height and tilt at rest: half of MEASURED's width, and the scatter of poses."""
        ends = free_body.ends(training.measured)
        up = np.sort(np.abs(Rotation.from_quat(ends[:, 3:]).inv().apply([0, 0, 1])), axis=1)
        return {
            "height at rest [mm]": round(1e3 * float(np.median(ends[:, 2])), 2),
            "its scatter [mm]": round(1e3 * float(ends[:, 2].std()), 2),
            "tilt at rest, each axis [deg]": round(
                float(np.degrees(np.sqrt(np.mean(up[:, :2] ** 2)))), 2
            ),
        }
