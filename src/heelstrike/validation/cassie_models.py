"""Models of Cassie's landings: laws in a simulator, MuJoCo, and a robot that falls on.

Each foot has a ground of its own, of one law, at the height that the landing says plus the depth
that is searched. Motors have the measured torques; loops are rigid, in MuJoCo as soft as the file
has them.
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
from heelstrike.validation.cassie_landing import JUDGED, RATE, REST, SIDES, places, rates, robot
from heelstrike.validation.files import robot_file
from heelstrike.validation.measured_set import Cases, Floats, Model

if TYPE_CHECKING:
    from heelstrike.simulate.simulator import Simulator

SUBSTEPS = 2
"""Steps in a frame."""
DT = 1 / (RATE * SUBSTEPS)
NO_GAIN = 1e-9
"""kd of the servo that only has the measured torques [N m s/rad]."""
DEPTH = {"depth": (1e-4, 1.5e-2)}
"""Range of the depth of a foot in the ground where it first stops [m]: the estimated height of the
base drifts by as much as this in a landing."""
PEER = {"k": (30.0, 1e6), "b": (5.0, 3e3), "mu": (0.03, 3.0)}
"""Ranges of MuJoCo's solref = (-k, -b) [1/s^2], [1/s], and of friction."""


@dataclass(frozen=True)
class Lander(Model):
    """A law under both feet; without a law there is no ground."""

    law: SurfaceLaw | None
    _sims: dict[bytes, Simulator] = field(default_factory=dict)

    def simulator(self, cases: Cases) -> Simulator:
        """Return the simulator whose motors have the torques of the cases' file."""
        table = np.asarray(cases.given["torque"])[0]
        key = table.tobytes()
        if key not in self._sims:
            law = self.law
            grounds = () if law is None else tuple(
                hs.Plane(law, name=side, touches=(f"{side}-foot",)) for side in SIDES
            )  # fmt: skip
            times = np.arange(len(table)) / RATE
            still = np.tile(robot().pose("home"), (len(table), 1))
            servo = hs.Servo(0.0, NO_GAIN, np.inf, hs.Trajectory(times, still, table))
            scene = hs.Scene(robot(), *grounds)
            self._sims[key] = hs.Simulator(scene, dt=DT, control=servo, stops=None)
        return self._sims[key]

    def predict(self, cases: Cases, values: Mapping[str, Floats]) -> Floats:
        """Return rates, (set, case, frame, joint)."""
        sets, many = (len(next(iter(values.values()))) if values else 1), len(cases)
        vary: dict[str, Floats] = {"servo.start": np.tile(-cases.given["row"] / RATE, sets)}
        for path, value in values.items():
            for side in SIDES if path not in DEPTH else ():
                vary[path.replace("ground.", f"{side}.", 1)] = np.repeat(value, many)
        for k, side in enumerate(SIDES if self.law is not None else ()):
            heights = cases.given["ground"][:, k] + values["depth"][:, None]
            vary[f"{side}.point"] = heights.reshape(-1, 1) * [0.0, 0.0, 1.0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HeelstrikeWarning)  # of sets that diverge
            data = (
                self.simulator(cases)
                .run(
                    steps=SUBSTEPS * (cases.frames - 1),
                    q0=np.tile(cases.given["q0"], (sets, 1)),
                    v0=np.tile(cases.given["v0"], (sets, 1)),
                    worlds=sets * many,
                    vary=vary,
                    record=("q",),
                    every=SUBSTEPS,
                    progress=False,
                    check=False,
                )
                .data
            )
        found = rates(data.q.values[..., places(JUDGED)])
        found[data.failed.values >= 0] = np.inf
        return found.reshape(sets, many, cases.frames, len(JUDGED))


class MujocoLander:
    """The same landings in MuJoCo: the file itself, its loops as soft as it has them."""

    def __init__(self) -> None:
        import mujoco

        spec = mujoco.MjSpec.from_file(str(robot_file("cassie.xml")))
        spec.option.timestep = DT
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        for geom in spec.geoms:
            geom.contype = geom.conaffinity = 0
        for side in SIDES:
            foot = next(g for g in spec.geoms if g.parent.name == f"{side}-foot")
            foot.name = f"{side} sole"
            spec.worldbody.add_geom(
                name=side,
                type=mujoco.mjtGeom.mjGEOM_PLANE,
                size=[0, 0, 1],
                pos=[0, 0, -1],  # at 0 MuJoCo would share the world's frame and ignore later values
                contype=0,
                conaffinity=0,
            )
            spec.add_pair(geomname1=side, geomname2=foot.name, condim=3)
        self.model: Any = spec.compile()
        self.model.jnt_limited[:] = 0
        for name, angle in REST.items():
            self.model.qpos_spring[self.model.joint(name).qposadr] = angle

    def one(self, cases: Cases, values: Mapping[str, float]) -> Floats:
        """Return rates (case, frame, joint) of one set of parameters."""
        model = self.model
        model.pair_solref[:] = (-values["k"], -values["b"])
        model.pair_friction[:, :2] = values["mu"]
        return np.stack([self._landing(cases, k, values["depth"]) for k in range(len(cases))])

    def _landing(self, cases: Cases, case: int, depth: float) -> Floats:
        import mujoco

        model, own = self.model, robot()
        data = mujoco.MjData(model)
        q, v = cases.given["q0"][case], cases.given["v0"][case]
        dofs = np.zeros(own.nv, dtype=int)
        for joint, carried in zip(own.joints, own.bodies, strict=True):
            body = model.body(carried.name)
            at, dof = int(model.jnt_qposadr[body.jntadr[0]]), int(body.dofadr[0])
            dofs[joint.v_slice] = dof + np.arange(joint.nv)
            mine = q[joint.q_slice]
            turn = [mine[-1], *mine[-4:-1]] if joint.kind in ("free", "spherical") else [mine[0]]
            data.qpos[at : at + joint.nq] = [*mine[: joint.nq - len(turn)], *turn]
        data.qvel[dofs] = v
        turned = np.zeros(9)
        mujoco.mju_quat2Mat(turned, data.qpos[3:7])
        data.qvel[:3] = turned.reshape(3, 3) @ v[:3]
        for k, side in enumerate(SIDES):
            model.geom(side).pos[2] = cases.given["ground"][case, k] + depth
        torque, first = np.asarray(cases.given["torque"])[case], int(cases.given["row"][case])
        angles = np.empty((cases.frames, len(JUDGED)))
        where = [int(model.joint(name).qposadr[0]) for name in JUDGED]
        for frame in range(cases.frames):
            angles[frame] = data.qpos[where]
            now, late = (torque[min(first + k, len(torque) - 1)] for k in (frame, frame + 1))
            for step in range(SUBSTEPS):  # torques of the step's end, as in a servo
                data.qfrc_applied[dofs] = now + (step + 1) / SUBSTEPS * (late - now)
                mujoco.mj_step(model, data)
        return rates(angles)
