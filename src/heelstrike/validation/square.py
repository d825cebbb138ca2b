"""Real planar drops of a square: rebound, spin, slide and rest.

400 drops of a 60 mm square, 200 frames each at 250 Hz: the MIT set of Fazeli et al. in
DAIRLab/ImpactModeling. It is released by a plate, hits once or several times, slides and rests. The
square is a body on two slides and a hinge, so that it cannot leave the plane, with a contact point
at each corner.

Measured on the training drops (`calibration`): between impacts it slows down along x, along z and
in rotation alike, by DRAG = 0.5 of its speed each second, and then falls with 9.81 m/s^2, so that
lengths and rate are right. At rest its centre is higher than 30 mm, on a ground that rises along x,
and its angle is 1.9 deg short of a right one: height, slope and angle of the ground are corrected
in what is read. The centre that was tracked is 0.4 mm off that of the square (heights at rest on
its four faces); this is left.

A simulation begins three frames before a corner can touch, with the velocity of the flight before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import heelstrike as hs
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.identification.space import Space
from heelstrike.validation import free_body
from heelstrike.validation.candidates import DEFAULT, candidates
from heelstrike.validation.files import check_finite, check_shape, check_velocity, columns
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

ROBOT = Path(__file__).parent / "robots" / "square.xml"
HALF = 0.03
"""Half of its width [m]."""
MASS, INERTIA = 0.1, 0.1 * (2 * HALF) ** 2 / 6
"""Mass [kg], ours, for only ratios matter; inertia of a solid square [kg m^2]."""
RATE, SUBSTEPS, GRAVITY = 250, 20, 9.81
"""Frames a second, steps in a frame, [m/s^2]."""
DRAG = 0.5
"""Loss of speed between impacts, along x and z and in rotation [1/s]."""
GROUND, SLOPE, TURN = 2.80e-3, 2.67e-3, np.radians(1.91)
"""Height of the ground at x = 0 [m], its rise along x [-], angle of the square to its marker."""
NEAR, BEFORE, LEAST = 5e-3, 3, 4
"""Clearance that counts as touching [m], frames before it, frames of flight for a velocity."""
BOUNCE = 100
"""Frames after the first touch in which the rebound's apex is sought."""
SPUN = 4, 10
"""Frames after the first touch between which the spin after the impact is measured."""
HARDER = 20.0
"""Stiffest ground of the search over the cube's: this impact lasts less than a frame."""
NAMES = ("x", "z", "theta", "vx", "vz", "omega")
SCALES = {"position": 20.0, "rotation": 30.0}
"""Errors that weigh alike in the loss [mm], [deg]."""
PEER = {"k": (300.0, 1e7), "b": (1.0, 1e4), "mu": (0.03, 0.8)}
"""Ranges of MuJoCo's solref = (-k, -b) [1/s^2], [1/s], and of friction."""
SPREAD = np.array([0.5e-3, 0.5e-3, np.radians(0.21)]), np.array([2e-3, 2e-3, 0.025])
"""Noise of a start: of x, z [m] and theta [rad], the scatter at rest that `calibration` measures;
and of their rates, from a scatter of 0.06 mm and 0.06 deg about the flights, over 11 frames."""
COMPARED = 75
"""Frames that the search compares, 0.3 s: what follows the second impact is mostly chance."""


class Square(MeasuredSet):
    """The dropped square."""

    name, stem = "square", "square_drop"
    title = "400 real planar drops of a 60 mm square, 250 Hz"
    columns = ("x", "ids")
    measures = (
        Measure("position", "mm"),
        Measure("rotation", "deg"),
        Measure("rebound", "mm"),
        Measure("spin", "rad/s"),
        Measure("slide", "mm"),
        Measure("face", "% wrong"),
    )
    phases = free_body.PHASES
    laws = DEFAULT
    start_noise = "0.5 mm and 0.21 deg (scatter at rest), 2 mm/s and 0.025 rad/s"

    def read(self, path: Path) -> Cases:
        """Return the drops of a file, with height, slope and angle of the ground corrected."""
        data = columns(path, self.columns, text=("columns",))
        check_shape(path, "x", data["x"], (None, None, len(NAMES)))
        check_shape(path, "ids", data["ids"], (len(data["x"]),))
        begun = []
        for number, rows in zip(data["ids"], data["x"], strict=True):
            case = f"drop {number}"
            check_finite(path, case, rows, NAMES)
            check_velocity(path, case, rows[:, :2], rows[:, 3:5], RATE)
            begun.append(self._begin(path, case, level(rows[:, :3])))
        # angles of all drops at once: the tracker loses a square in some impacts
        check_velocity(path, "theta", data["x"][..., 2].T, data["x"][..., 5].T, RATE, "rad")
        poses = free_body.side_by_side([poses for _, poses in begun])
        v0 = np.array([v0 for v0, _ in begun])
        time = np.arange(poses.shape[1]) / RATE
        return Cases(path.name, np.asarray(data["ids"]), time, poses, {"v0": v0})

    def _begin(self, path: Path, case: str, q: Floats) -> tuple[Floats, Floats]:
        """Return v0 and the poses from the start on."""
        near = free_body.first_near(path, case, clearance(q) - NEAR)
        start = max(0, near - BEFORE)
        first = 1 if start > LEAST else 0  # the plate may still hold it in frame 0
        return flight(q[first : start + 2]), q[start:]

    def simulator(self, law: SurfaceLaw | None) -> hs.Simulator:
        """Return the square above a plane called ground; without a law there is no ground."""
        ground = () if law is None else (hs.Plane(name="ground", law=law),)
        scene = hs.Scene(robot(), *ground, gravity=(0, 0, -GRAVITY))
        return hs.Simulator(scene, dt=1 / (RATE * SUBSTEPS))

    def models(self) -> dict[str, Callable[[], Model]]:
        """Return the laws, MuJoCo, and a flight through the ground."""

        def law(name: str) -> Model:
            chosen = candidates(MASS, HARDER)[name]
            return LawModel(Space.of(chosen.ranges), self.simulator(chosen.law))

        found: dict[str, Callable[[], Model]] = {name: partial(law, name) for name in candidates()}
        found[MUJOCO] = lambda: Trajectories(Space.of(PEER), self._mujoco)
        found[BASELINE] = lambda: LawModel(None, self.simulator(None))
        return found

    def _mujoco(self, cases: Cases, values: Mapping[str, float]) -> Floats:
        """Return poses (drop, frame, 3) of MuJoCo; elliptic cones."""
        import mujoco

        spec = mujoco.MjSpec.from_file(str(ROBOT))
        spec.option.timestep = 1 / (RATE * SUBSTEPS)
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.gravity = [0, 0, -GRAVITY]
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05])
        model = spec.compile()
        model.dof_damping[:] = damping()
        model.geom_solref[:] = (-values["k"], -values["b"])
        model.geom_friction[:] = (values["mu"], 0, 0)
        state = np.concatenate([cases.measured[:, 0], cases.given["v0"]], axis=1)
        return mujoco_states(model, state, SUBSTEPS * (cases.frames - 1), SUBSTEPS)

    def errors(self, cases: Cases, predicted: Floats) -> dict[str, Floats]:
        """Return errors of the course, and of what became of the drop."""
        real = cases.measured
        with np.errstate(invalid="ignore"):
            turn = np.degrees(np.abs(_wrapped(predicted[..., 2] - real[..., 2])))
            found = {
                "position": 1e3 * np.linalg.norm((predicted - real)[..., :2], axis=-1),
                "rotation": np.where(np.isnan(turn) & np.isfinite(real[..., 2]), np.inf, turn),
            }
        ours, theirs = outcome(cases, predicted), outcome(cases, real)
        for name, scale in (("rebound", 1e3), ("spin", 1.0), ("slide", 1e3)):
            found[name] = scale * np.abs(ours[name] - theirs[name])
        found["face"] = 100.0 * (np.abs(_wrapped(ours["face"] - theirs["face"])) > np.pi / 4)
        return found

    def loss(self, cases: Cases, errors: Errors) -> Floats:
        """Return the root of the sum of both errors, as the cube's: tipping over is chance."""
        parts = [np.nanmean(errors[name], axis=-1) / scale for name, scale in SCALES.items()]
        return np.asarray(np.sqrt(sum(parts)))

    def searched(self, training: Cases) -> Cases:
        """Return the first frames of the training drops."""
        return training.cut(COMPARED)

    def phase(self, cases: Cases) -> Ints:
        """Return flight until a corner touches, impact, slide (and further bounces), and rest."""
        known = np.isfinite(cases.measured[..., 0])
        touched = np.where(known, clearance(cases.measured) <= NEAR, False)
        moved = np.abs(np.diff(cases.measured, axis=1)) * [1, 1, HALF]
        speed = np.zeros(known.shape)
        speed[:, 1:] = RATE * moved.sum(axis=-1)
        return free_body.phases(touched, speed, known, RATE)

    def disturbed(self, cases: Cases, random: np.random.Generator) -> Cases:
        """Return the drops with starts disturbed by SPREAD."""
        poses, v0 = cases.measured.copy(), cases.given["v0"]
        poses[:, 0] += random.normal(0, SPREAD[0], (len(cases), 3))
        moved = v0 + random.normal(0, SPREAD[1], v0.shape)
        return replace(cases, measured=poses, given={**cases.given, "v0": moved})

    def starts(self, cases: Cases) -> Floats:
        """Return height, velocity and spin, and the angle to a face, as it flies to larger x."""
        start, v0 = cases.measured[:, 0], cases.given["v0"]
        side = np.sign(v0[:, 0])
        angle = 4 * start[:, 2] * side
        return np.column_stack(
            [start[:, 1], side * v0[:, 0], v0[:, 1], side * v0[:, 2], np.cos(angle), np.sin(angle)]
        )

    def residuals(self, cases: Cases, predicted: Floats) -> dict[str, Floats]:
        """Return differences of position and angle, as it flies to larger x."""
        side = np.sign(cases.given["v0"][:, 0])[:, None, None]
        apart = cases.measured - predicted
        turn = np.degrees(_wrapped(apart[..., 2:]))
        return {"position": 1e3 * apart[..., :2] * _mirror(side), "rotation": turn * side}

    def curves(self, cases: Cases, channels: Floats, case: int) -> dict[str, Floats]:
        """Return height, place and angle."""
        own = channels[case]
        return {
            "height of the centre [mm]": 1e3 * own[:, 1],
            "place [mm]": 1e3 * (own[:, 0] - cases.measured[case, 0, 0]),
            "angle [deg]": np.degrees(own[:, 2]),
        }

    def calibration(self, training: Cases) -> dict[str, Any]:
        """Return what is left of height, slope and angle of the ground after the correction."""
        ends = free_body.ends(training.measured)
        angle = np.degrees((ends[:, 2] + np.pi / 4) % (np.pi / 2) - np.pi / 4)
        flat = np.abs(angle) < 5
        rise, height = np.polyfit(ends[flat, 0], ends[flat, 1] - HALF, 1)
        return {
            "height of the ground, left [mm]": round(1e3 * float(height), 2),
            "its slope, left [mm/m]": round(1e3 * float(rise), 2),
            "angle at rest, left [deg]": round(float(np.median(angle[flat])), 2),
            "scatter of heights at rest [mm]": round(
                1e3 * float(np.std(ends[flat, 1] - HALF - height - rise * ends[flat, 0])), 2
            ),
            "scatter of angles at rest [deg]": round(float(angle[flat].std()), 2),
        }


@cache
def robot() -> hs.Robot:
    """Return the square with a contact point at each of four corners, and its drag."""
    own = hs.load(ROBOT)
    corners = [point for point in own.points if point.position[1] > 0]
    return replace(
        own,
        points=tuple(replace(p, position=p.position * [1, 0, 1]) for p in corners),
        damping=damping(),
        model=None,
        source=None,
    )


def damping() -> Floats:
    """Return the drag as joint damping: [N s/m], [N s/m], [N m s/rad]."""
    return DRAG * np.array([MASS, MASS, INERTIA])


def level(q: Floats) -> Floats:
    """Return x, z, theta above a level ground at z = 0, with theta = 0 on a face."""
    rise = GROUND + SLOPE * q[..., 0]
    return np.stack([q[..., 0], q[..., 1] - rise, q[..., 2] + TURN], axis=-1)


def clearance(q: Floats) -> Floats:
    """Return the height of the lowest corner [m]."""
    turned = np.abs(np.cos(q[..., 2])) + np.abs(np.sin(q[..., 2]))
    return np.asarray(q[..., 1] - HALF * turned)


def flight(q: Floats) -> Floats:
    """Return the velocity at the last frame but one of a free flight with drag."""
    t = (np.arange(len(q)) - len(q) + 2) / RATE
    along = (1 - np.exp(-DRAG * t)) / DRAG
    fallen = np.stack([0 * t, (along - t) * GRAVITY / DRAG, 0 * t], axis=1)
    return np.asarray(np.polynomial.polynomial.polyfit(along, q - fallen, 1)[1])


def outcome(cases: Cases, q: Floats) -> dict[str, Floats]:
    """Return what became of drops (..., drop): apex of the rebound [m], spin after the first
    impact [rad/s], way [m] and angle at the end [rad].
    """
    touch = np.argmax(clearance(cases.measured) <= NEAR, axis=1)
    last = np.isfinite(cases.measured[..., 0]).sum(axis=1) - 1
    drops, frame = np.arange(len(cases)), np.arange(cases.frames)
    rising = (frame > touch[:, None] + SPUN[0]) & (frame < touch[:, None] + BOUNCE)
    a, b = (np.minimum(touch + n, last) for n in SPUN)
    end = q[..., drops, last, :]
    apex = np.where(rising & np.isfinite(cases.measured[..., 1]), q[..., 1], -np.inf).max(axis=-1)
    with np.errstate(invalid="ignore"):  # of what diverged
        spin = (q[..., drops, b, 2] - q[..., drops, a, 2]) * RATE / np.maximum(b - a, 1)
        way = np.abs(end[..., 0] - cases.measured[:, 0, 0])
    return {"rebound": apex, "spin": spin, "slide": way, "face": end[..., 2]}


def _mirror(side: Floats) -> Floats:
    """Return the signs of (x, z) by which a drop is mirrored."""
    return np.concatenate([side, np.ones_like(side)], axis=-1)


def _wrapped(angle: Floats) -> Floats:
    """Return angles from -pi to pi; NaN of one that diverged."""
    with np.errstate(invalid="ignore"):
        return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)
