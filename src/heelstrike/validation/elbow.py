"""Real tosses of two hinged blocks, whose masses, inertias and hinge are unknown.

432 tosses of an elbow of two blocks of 100 x 50 x 50 mm onto a board, tracked at 148 Hz, 121 frames
each: [Bianchini2023], DAIRLab/dair_pll. A simulation begins three frames before a corner is near
the ground, with velocities fitted to the flight before, and is compared with every later frame.

Poses are put above a level board first (elbow_recording.py); what they say without a simulator
stands in elbow_physics.py and elbow_faults.py. The blocks are alike and hollow: the thickness of
their walls, the radius of their corners and the hinge's damping and dry friction were found
together with a law on training tosses, by `calibrate`, and are kept in fits/elbow-body.json. The
total mass is not observable, for stiffness and damping of the ground grow with it; 0.37 kg of the
first block is kept.
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
from heelstrike.identification.motions import differences
from heelstrike.identification.space import Space
from heelstrike.validation import elbow_faults, elbow_physics, free_body, kept
from heelstrike.validation import elbow_recording as recording
from heelstrike.validation.candidates import DEFAULT, candidates
from heelstrike.validation.elbow_recording import GRAVITY, LENGTH, NEAR, RATE, SHORT, lowest
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
SUBSTEPS = 10
"""Steps in a frame."""
COMPARED = 25
"""Frames that the search compares, 0.17 s: what follows the second impact is mostly chance."""
HARDER = 10.0
"""Stiffest ground of the search over the cube's."""
SCALES = {"position": 8.0, "rotation": 16.0, "hinge": 16.0}
"""Errors that weigh alike in the loss [% of the length], [deg], [deg]."""
PEER = {"k": (300.0, 1e6), "b": (5.0, 1e4), "mu": (0.03, 0.8)}
"""Ranges of MuJoCo's solref = (-k, -b) [1/s^2], [1/s], and of friction."""
SPREAD = 0.4e-3, np.radians(0.6), 10e-3, 0.15
"""Noise of a start: position [m], angles [rad], velocity [m/s], rates [rad/s]. The first two are
the scatter of heights and tilts of blocks that lie flat at rest, which `calibration` measures; the
others make the error of flights two frames ahead, which it measures as well."""
PARTS: Mapping[Any, tuple[float, float]] = {
    "hinge.damping": (1e-6, 3e-2),
    "hinge.friction": (1e-5, 5e-2),
}
"""What `calibrate` searches with a law [N m s/rad], [N m]. The mass ratio, the centres and the
sizes of each block, 13 numbers, were tried: on a fold that was left out they predict no better. Nor
do three factors of the sizes of both blocks' inertias, in place of the thickness of walls."""
RADII = 0.0, 3e-3, 5e-3, 7e-3
"""Radii of the corners that `calibrate` tries [m]."""
WALLS = 2e-3, 4e-3, 8e-3, elbow_physics.SOLID
"""Thickness of the walls that it tries [m]; the last is a solid block."""
TIP = 1e-5
"""Radius of a sharp corner in MuJoCo [m]."""
RADIUS, THICKNESS = "corners.radius", "walls.thickness"
"""Names of these among what is kept."""
CALIBRATED_WITH, CALIBRATION = "linear-both", Effort(sets=60, rounds=9, cases=150)


class Elbow(MeasuredSet):
    """The tossed elbow."""

    name, stem = "elbow", "elbow_toss"
    title = "432 real tosses of two hinged blocks, 148 Hz"
    columns = recording.COLUMNS
    measures = (
        Measure("position", "% of length"),
        Measure("rotation", "deg"),
        Measure("hinge", "deg"),
    )
    phases = free_body.PHASES
    laws = DEFAULT
    start_noise = "0.4 mm and 0.6 deg (scatter at rest), 10 mm/s, 0.15 rad/s"

    def __init__(self, body: Mapping[str, float] | None = None) -> None:
        """Take what was found of blocks and hinge by name; None for what is kept."""
        if body is None:
            body = json.loads(BODY.read_text(encoding="utf-8"))["values"] if BODY.exists() else {}
        self.robot = robot(body)

    def read(self, path: Path) -> Cases:
        """Return the tosses of a file."""
        return recording.read(path)

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
        """Return what the elbow's poses at rest, flights and first impacts say."""
        flown = self.errors(training, LawModel(None, self.simulator(None)).predict(training, {})[0])
        ahead = {name: round(float(np.nanmedian(e[:, 2])), 2) for name, e in flown.items()}
        return {
            **recording.at_rest(training),
            "flight two frames ahead, median error [% of length], [deg], [deg]": list(
                ahead.values()
            ),
            **elbow_physics.summary(training),
            **elbow_faults.summary(training),
        }


def robot(body: Mapping[str, float]) -> hs.Robot:
    """Return the elbow in the data's lengths, with blocks and hinge that were found."""
    own, inertia = hs.load(ROBOT), elbow_physics.hollow(body.get(THICKNESS, elbow_physics.SOLID))
    own = replace(
        own,
        bodies=tuple(
            replace(b, mass=elbow_physics.MASS, com=SHORT * b.com, inertia=np.diag(inertia))
            for b in own.bodies
        ),
        joints=tuple(replace(j, translation=SHORT * j.translation) for j in own.joints),
        points=tuple(replace(p, position=SHORT * p.position) for p in own.points),
        shapes=tuple(
            replace(s, size=SHORT * s.size, translation=SHORT * s.translation) for s in own.shapes
        ),
        model=None,
        source=None,
    )
    hinge = own.joints[1].iv
    drag, dry = own.damping.copy(), own.friction.copy()
    radius = SHORT * body.get(RADIUS, 0.0)
    points = tuple(
        replace(
            p, position=p.position - radius * np.sign(p.position - s.translation), radius=radius
        )
        for p in own.points
        for s in own.shapes
        if s.body == p.body
    )
    drag[hinge] = body.get("hinge.damping", drag[hinge])
    dry[hinge] = body.get("hinge.friction", dry[hinge])
    return replace(own, points=points, damping=drag, friction=dry)


def peer(own: hs.Robot) -> Any:
    """Return MuJoCo's model of the elbow above a plane."""
    import mujoco

    spec = mujoco.MjSpec.from_file(str(ROBOT))
    spec.option.timestep = 1 / (RATE * SUBSTEPS)
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.gravity = [0, 0, -GRAVITY]
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05])
    for k, ours in enumerate(own.bodies):
        body = spec.body(ours.name)
        body.pos = own.joints[k].translation
        body.mass, body.ipos, body.iquat = ours.mass, ours.com, [1, 0, 0, 0]
        body.inertia = [0, 0, 0]  # the file's, which excludes a full one
        body.fullinertia = [ours.inertia[i, j] for i, j in MOMENTS]
        spec.delete(spec.geom(own.shapes[k].name))
        for point in own.points:
            if point.body == k:  # a plane touches round corners, and of a sharp one its tip
                geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=point.position)
                geom.size[0] = max(point.radius, TIP)
    model = spec.compile()
    model.dof_damping[:], model.dof_frictionloss[:] = own.damping, own.friction
    return model


def calibrate(training: Cases) -> dict[str, Any]:
    """Return walls, corners and hinge that were found together with a law on training tosses."""
    tried = {(r, w): _calibrated(training, r, w) for r in RADII for w in WALLS}
    best = min(tried.values(), key=lambda one: one["loss"])
    losses = {
        f"{1e3 * r:g} mm": {f"{1e3 * w:g} mm": tried[r, w]["loss"] for w in WALLS} for r in RADII
    }
    return {**best, "losses": losses}


def _calibrated(training: Cases, radius: float, walls: float) -> dict[str, Any]:
    """Return a hinge that was found with a radius of the corners and a thickness of walls [m]."""
    own = {RADIUS: radius, THICKNESS: walls}
    about = Elbow(own)
    model = about.model(CALIBRATED_WITH, PARTS)
    found = fit(about, model, training, CALIBRATION)
    assert model.space is not None
    x = np.log([[found.values[name] for name in model.space.names]])
    values = {path: float(value[0]) for path, value in model.space.values(x).items()}
    hinge = {path: x for path, x in values.items() if not path.startswith("ground.")}
    rest = {key: value for key, value in found.as_dict().items() if key != "values"}
    return {"law": CALIBRATED_WITH, "values": {**own, **hinge}, **rest}
