"""Real tosses of two hinged blocks, whose masses, inertias and hinge are unknown.

432 tosses of an elbow of two blocks of 100 x 50 x 50 mm onto a board, tracked at 148 Hz, 121 frames
each: [Bianchi2023], DAIRLab/dair_pll. A simulation begins three frames before a corner is near the
ground, with velocities of parabolas through the flight before, and is compared with every later
frame.

It falls with 9.603 m/s^2, so that lengths are 2.1 % short in these data, as the cube's are: blocks
and gravity are taken that much smaller. The ground lies 0.5 mm above z = 0 (lowest corners at
rest). Inertias, centres of mass and the hinge's damping and dry friction were found together with a
law on training tosses, by `calibrate`: factors of solid blocks of equal mass (inertia.py of
identification), kept in fits/elbow-body.json. The total mass is not observable, for stiffness and
damping of the ground grow with it; 0.37 kg of the first block is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.identification.inertia import assembled
from heelstrike.identification.motions import differences
from heelstrike.identification.space import Space
from heelstrike.validation import free_body, kept
from heelstrike.validation.candidates import DEFAULT, candidates
from heelstrike.validation.files import (
    check_finite,
    check_rate,
    check_shape,
    check_velocity,
    columns,
)
from heelstrike.validation.fit import Effort, fit
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

MOMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Order of the entries of an inertia."""
ROBOT = Path(__file__).parent / "robots" / "elbow.xml"
BODY = kept.FOLDER / "elbow-body.json"
RATE, SUBSTEPS = 148, 10
"""Frames a second, steps in a frame."""
SHORT, GRAVITY = 9.603 / 9.81, 9.603
"""A length in the data over the true one; [m/s^2] in the data's lengths."""
GROUND = 0.5e-3
"""Height of the ground [m]."""
LENGTH = 0.1
"""Of a block [m]."""
NEAR, BEFORE, LEAST, FLOWN = 18e-3, 3, 5, 9
"""Clearance that counts as near [m]: a frame's way; frames before it; frames of flight that give a
velocity, least and most."""
COMPARED = 25
"""Frames that the search compares, 0.17 s: what follows the second impact is mostly chance."""
HARDER = 10.0
"""Stiffest ground of the search over the cube's."""
NAMES = (
    *("x", "y", "z", "qw", "qx", "qy", "qz", "hinge"),
    *("vx", "vy", "vz", "wx", "wy", "wz", "hinge rate"),
)
SCALES = {"position": 8.0, "rotation": 16.0, "hinge": 16.0}
"""Errors that weigh alike in the loss [% of the length], [deg], [deg]."""
PEER = {"k": (300.0, 1e6), "b": (5.0, 1e4), "mu": (0.03, 0.8)}
"""Ranges of MuJoCo's solref = (-k, -b) [1/s^2], [1/s], and of friction."""
SPREAD = 1.5e-3, np.radians(1.6), 5e-3, 0.1
"""Noise of a start: position [m], angles [rad], velocity [m/s], rates [rad/s]. The first two are
the scatter of heights and tilts of blocks that lie flat at rest, which `calibration` measures; the
others follow from a scatter of 0.15 mm and 0.1 deg about parabolas of nine frames."""
PARTS: Mapping[Any, tuple[float, float]] = {
    **{tuple(f"elbow_{k}.inertia.size_{a}" for k in (1, 2)): (0.6, 2.5) for a in "xyz"},
    "hinge.damping": (1e-6, 3e-2),
    "hinge.friction": (1e-5, 5e-2),
}
"""What `calibrate` searches with a law: factors of the sizes of both blocks' inertias, alike, for
the blocks are; [N m s/rad], [N m]. The mass ratio, the centres and the sizes of each block, 13
numbers, were tried: on a fold that was left out they predict no better."""
CALIBRATED_WITH, CALIBRATION = "linear-both", Effort(sets=60, rounds=9, cases=150)
FLAT = 0.985
"""Cosine of the tilt below which a block lies on a face."""


class Elbow(MeasuredSet):
    """The tossed elbow."""

    name, stem = "elbow", "elbow_toss"
    title = "432 real tosses of two hinged blocks, 148 Hz"
    columns = ("x", "ids")
    measures = (
        Measure("position", "% of length"),
        Measure("rotation", "deg"),
        Measure("hinge", "deg"),
    )
    phases = free_body.PHASES
    laws = DEFAULT
    start_noise = "1.5 mm and 1.6 deg (scatter at rest), 5 mm/s, 0.1 rad/s"

    def __init__(self, body: Mapping[str, float] | None = None) -> None:
        """Take what was found of inertias and hinge by path; None for what is kept."""
        if body is None:
            body = json.loads(BODY.read_text(encoding="utf-8"))["values"] if BODY.exists() else {}
        self.robot = robot(body)

    def read(self, path: Path) -> Cases:
        """Return the tosses of a file."""
        data = columns(path, self.columns)
        check_shape(path, "x", data["x"], (None, None, len(NAMES)))
        check_shape(path, "ids", data["ids"], (len(data["x"]),))
        if "rate" in data:
            check_rate(path, float(data["rate"]), RATE)
        begun = []
        for number, rows in zip(data["ids"], data["x"], strict=True):
            case = f"toss {number}"
            check_finite(path, case, rows, NAMES)
            check_velocity(path, case, rows[:, :3], rows[:, 8:11], RATE)
            begun.append(self._begin(path, case, rows))
        poses = free_body.side_by_side([poses for _, poses in begun])
        v0 = np.array([v0 for v0, _ in begun])
        time = np.arange(poses.shape[1]) / RATE
        return Cases(path.name, np.asarray(data["ids"]), time, poses, {"v0": v0})

    def _begin(self, path: Path, case: str, states: Floats) -> tuple[Floats, Floats]:
        """Return v0 and the poses from the start on."""
        height = states[:, 2:3] - GROUND
        turned = np.unwrap(states[:, 7:8], axis=0)
        q = np.concatenate([states[:, :2], height, states[:, [4, 5, 6, 3]], turned], axis=1)
        near = free_body.first_near(path, case, lowest(q) - NEAR)
        start = max(0, near - BEFORE)
        v0 = np.concatenate([states[start, 8:11], states[start, 11:15]])
        if start + 1 >= LEAST:
            v0 = flight(q[max(0, start + 1 - FLOWN) : start + 1])
        inward = Rotation.from_quat(q[start, 3:7]).inv()
        return np.concatenate([inward.apply(v0[:3]), v0[3:]]), q[start:]

    def simulator(self, law: SurfaceLaw | None) -> hs.Simulator:
        """Return the elbow above a plane called ground; without a law there is no ground."""
        ground = () if law is None else (hs.Plane(name="ground", law=law),)
        scene = hs.Scene(self.robot, *ground, gravity=(0, 0, -GRAVITY))
        return hs.Simulator(scene, dt=1 / (RATE * SUBSTEPS))

    def models(self) -> dict[str, Callable[[], Model]]:
        """Return the laws, MuJoCo, and a flight through the board."""
        found: dict[str, Callable[[], Model]] = {
            name: partial(self.model, name) for name in candidates()
        }
        found[MUJOCO] = lambda: Trajectories(Space.of(PEER), self._mujoco)
        found[BASELINE] = lambda: LawModel(None, self.simulator(None))
        return found

    def model(self, name: str, parts: Mapping[Any, tuple[float, float]] | None = None) -> LawModel:
        """Return a law, with parts of the elbow that are searched as well."""
        chosen = candidates(harder=HARDER)[name]
        return LawModel(Space.of({**chosen.ranges, **(parts or {})}), self.simulator(chosen.law))

    def _mujoco(self, cases: Cases, values: Mapping[str, float]) -> Floats:
        """Return poses (toss, frame, 8) of MuJoCo, quaternions xyzw; elliptic cones."""
        import mujoco

        model = peer(self.robot)
        model.geom_solref[:] = (-values["k"], -values["b"])
        model.geom_friction[:] = (values["mu"], 0, 0)
        start, v0 = cases.measured[:, 0], cases.given["v0"]
        linear = Rotation.from_quat(start[:, 3:7]).apply(v0[:, :3])
        state = np.concatenate([start[:, :3], start[:, [6, 3, 4, 5, 7]], linear, v0[:, 3:]], axis=1)
        assert isinstance(model, mujoco.MjModel)
        made = mujoco_states(model, state, SUBSTEPS * (cases.frames - 1), SUBSTEPS)
        return made[..., [0, 1, 2, 4, 5, 6, 3, 7]]

    def errors(self, cases: Cases, predicted: Floats) -> dict[str, Floats]:
        """Return errors of the first block's centre and rotation, and of the hinge."""
        linear, angular = self._apart(predicted, cases.measured)
        return {
            "position": np.linalg.norm(linear, axis=-1),
            "rotation": np.linalg.norm(angular[..., :3], axis=-1),
            "hinge": np.abs(angular[..., 3]),
        }

    def _apart(self, one: Floats, other: Floats) -> tuple[Floats, Floats]:
        """Return differences of poses: position [% of length], rotation and hinge [deg]."""
        linear, angular = differences(self.robot, one, other)
        with np.errstate(invalid="ignore"):
            hinge = (angular[..., 3:] + np.pi) % (2 * np.pi) - np.pi
        hinge = np.where(np.isinf(angular[..., 3:]), np.inf, hinge)
        angular = np.concatenate([angular[..., :3], hinge], axis=-1)
        return 100 * linear / LENGTH, np.degrees(angular)

    def loss(self, cases: Cases, errors: Errors) -> Floats:
        """Return the root of the sum of the three errors, as the cube's: tipping is chance."""
        parts = [np.nanmean(errors[name], axis=-1) / scale for name, scale in SCALES.items()]
        return np.asarray(np.sqrt(sum(parts)))

    def searched(self, training: Cases) -> Cases:
        """Return the first frames of the training tosses."""
        return training.cut(COMPARED)

    def phase(self, cases: Cases) -> Ints:
        """Return flight until a corner is near the ground, impact, slide, and rest."""
        q = cases.measured
        known = np.isfinite(q[..., 0])
        touched = np.where(known, lowest(np.where(known[..., None], q, 1.0)) <= NEAR, False)
        linear, angular = self._apart(q[:, 1:], q[:, :-1])
        moved = np.linalg.norm(linear, axis=-1) / 100 * LENGTH
        turned = LENGTH / 2 * np.radians(np.linalg.norm(angular, axis=-1))
        speed = np.zeros(known.shape)
        speed[:, 1:] = RATE * (moved + turned)
        return free_body.phases(touched, speed, known, RATE)

    def disturbed(self, cases: Cases, random: np.random.Generator) -> Cases:
        """Return the tosses with starts disturbed by SPREAD."""
        place, turn, speed, spin = SPREAD
        q, v0, many = cases.measured.copy(), cases.given["v0"].copy(), len(cases)
        q[:, 0, :3] += random.normal(0, place, (many, 3))
        turned = Rotation.from_rotvec(random.normal(0, turn, (many, 3)))
        q[:, 0, 3:7] = (Rotation.from_quat(q[:, 0, 3:7]) * turned).as_quat()
        q[:, 0, 7] += random.normal(0, turn, many)
        v0[:, :3] += random.normal(0, speed, (many, 3))
        v0[:, 3:] += random.normal(0, spin, (many, 4))
        return replace(cases, measured=q, given={**cases.given, "v0": v0})

    def starts(self, cases: Cases) -> Floats:
        """Return height, velocity, spin and how the blocks lie, as they fly to larger x."""
        start, v0 = cases.measured[:, 0], cases.given["v0"]
        rotation = Rotation.from_quat(start[:, 3:7])
        velocity, spin = rotation.apply(v0[:, :3]), rotation.apply(v0[:, 3:6])
        turned = free_body.heading(velocity)
        axes = (turned * rotation).as_matrix()[:, :, :2].reshape(len(cases), 6)
        along = np.hypot(velocity[:, 0], velocity[:, 1])
        hinge = np.cos(start[:, 7]), np.sin(start[:, 7]), v0[:, 6]
        return np.column_stack(
            [start[:, 2], along, velocity[:, 2], turned.apply(spin), axes, *hinge]
        )

    def residuals(self, cases: Cases, predicted: Floats) -> dict[str, Floats]:
        """Return differences of position in the direction of flight, of rotation and hinge."""
        start, v0 = cases.measured[:, 0], cases.given["v0"]
        turned = free_body.heading(Rotation.from_quat(start[:, 3:7]).apply(v0[:, :3]))
        linear, angular = (-x for x in self._apart(predicted, cases.measured))
        return {
            "position": np.einsum("kij,kfj->kfi", turned.as_matrix(), linear),
            "rotation": angular[..., :3],
            "hinge": angular[..., 3:],
        }

    def curves(self, cases: Cases, channels: Floats, case: int) -> dict[str, Floats]:
        """Return height and way of the first block's centre, and the hinge's angle."""
        own, real = channels[case], cases.measured[case]
        return {
            "height of block 1 [mm]": 1e3 * own[:, 2],
            "way [mm]": 1e3 * np.hypot(*(own[:, :2] - real[0, :2]).T),
            "hinge [deg]": np.degrees(own[:, 7]),
        }

    def calibration(self, training: Cases) -> dict[str, Any]:
        """Return heights and tilts of first blocks that lie flat at rest, with their scatter."""
        ends = free_body.ends(training.measured)
        up = Rotation.from_quat(ends[:, 3:7]).as_matrix()[:, 2]
        flat = np.abs(up[:, 2]) > FLAT
        heights = 1e3 * ends[flat, 2]
        return {
            "lowest corner at rest [mm]": round(1e3 * float(np.median(lowest(ends))), 2),
            "height of a block that lies flat [mm]": round(float(np.median(heights)), 1),
            "its scatter [mm]": round(float(heights.std()), 1),
            "its tilt, each axis [deg]": round(float(np.degrees(up[flat, :2].std())), 1),
        }


def robot(body: Mapping[str, float]) -> hs.Robot:
    """Return the elbow in the data's lengths, with inertias and hinge that were found."""
    own = hs.load(ROBOT)
    own = replace(
        own,
        bodies=tuple(
            replace(b, com=SHORT * b.com, inertia=SHORT**2 * b.inertia) for b in own.bodies
        ),
        joints=tuple(replace(j, translation=SHORT * j.translation) for j in own.joints),
        points=tuple(replace(p, position=SHORT * p.position) for p in own.points),
        shapes=tuple(
            replace(s, size=SHORT * s.size, translation=SHORT * s.translation) for s in own.shapes
        ),
        model=None,
        source=None,
    )
    values = assembled(own, {path: np.array([value]) for path, value in body.items()})
    bodies, hinge = list(own.bodies), own.joints[1].iv
    for path, value in values.items():
        name, _, what = path.partition(".")
        if what == "inertia":
            k, inertia = own.body(name), np.empty((3, 3))
            for (i, j), moment in zip(MOMENTS, value[0, 4:], strict=True):
                inertia[i, j] = inertia[j, i] = moment
            bodies[k] = replace(bodies[k], mass=value[0, 0], com=value[0, 1:4], inertia=inertia)
    drag, dry = own.damping.copy(), own.friction.copy()
    drag[hinge] = body.get("hinge.damping", drag[hinge])
    dry[hinge] = body.get("hinge.friction", dry[hinge])
    return replace(own, bodies=tuple(bodies), damping=drag, friction=dry)


def peer(own: hs.Robot) -> Any:
    """Return MuJoCo's model of the elbow above a plane."""
    import mujoco

    spec = mujoco.MjSpec.from_file(str(ROBOT))
    spec.option.timestep = 1 / (RATE * SUBSTEPS)
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.gravity = [0, 0, -GRAVITY]
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05])
    for k, ours in enumerate(own.bodies):
        body, geom = spec.body(ours.name), spec.geom(own.shapes[k].name)
        body.pos = own.joints[k].translation
        body.mass, body.ipos, body.iquat = ours.mass, ours.com, [1, 0, 0, 0]
        body.inertia = [0, 0, 0]  # the file's, which excludes a full one
        body.fullinertia = [ours.inertia[i, j] for i, j in MOMENTS]
        geom.size, geom.pos = own.shapes[k].size, own.shapes[k].translation
    model = spec.compile()
    model.dof_damping[:], model.dof_frictionloss[:] = own.damping, own.friction
    return model


def lowest(q: Floats) -> Floats:
    """Return the height of the lowest corner [m] of poses (..., 8)."""
    flat = q.reshape(-1, 8)
    first = Rotation.from_quat(flat[:, 3:7])
    second = first * Rotation.from_euler("y", flat[:, 7:8])
    signs = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
    corners = SHORT * signs * [LENGTH / 2, LENGTH / 4, LENGTH / 4]
    up = first.as_matrix()[:, 2], second.as_matrix()[:, 2]
    hinge = up[0] @ (SHORT * np.array([-0.035, 0.06, 0.0]))
    centre = up[1] @ (SHORT * np.array([0.035, 0.0, 0.0]))
    low = np.minimum(
        (up[0] @ corners.T).min(axis=1), hinge + centre + (up[1] @ corners.T).min(axis=1)
    )
    return np.asarray(flat[:, 2] + low).reshape(q.shape[:-1])


def flight(q: Floats) -> Floats:
    """Return velocity (world), angular velocity (body) and hinge rate at the last frame.

    Parabolas through positions, rotation vectors from the last frame and hinge angles.
    """
    t = (np.arange(len(q)) - len(q) + 1) / RATE
    rotations = Rotation.from_quat(q[:, 3:7])
    turned = (rotations[-1].inv() * rotations).as_rotvec()
    rows = np.concatenate([q[:, :3], turned, q[:, 7:]], axis=1)
    return np.asarray(np.polynomial.polynomial.polyfit(t, rows, 2)[1])


def calibrate(training: Cases) -> dict[str, Any]:
    """Return inertias and hinge that were found together with a law on training tosses."""
    about = Elbow({})
    model = about.model(CALIBRATED_WITH, PARTS)
    found = fit(about, model, training, CALIBRATION)
    assert model.space is not None
    x = np.log([[found.values[name] for name in model.space.names]])
    values = {path: float(value[0]) for path, value in model.space.values(x).items()}
    return {
        "law": CALIBRATED_WITH,
        "values": {path: x for path, x in values.items() if not path.startswith("ground.")},
        **{key: value for key, value in found.as_dict().items() if key != "values"},
    }
