"""Models of mujoco_warp's benchmarks, for both simulators: files, starts, ground and laws.

    humanoid   mujoco_warp's own file (test_data), from its first keyframe, without controls
    g1         Unitree G1 (warp_g1.py) holds bent knees under the file's gains, which are too weak
               to balance: it falls within 1.5 s and lies
    g1-stiff   the same with STIFFER gains, so that it stands: 28 contacts of its feet
    g1-field   the first on a height field

Friction is MuJoCo's of each pair: with the ground the larger of both geoms', but the feet's own
where they have priority; none between limbs (condim 1). Contacts of feet with limbs, which have
the feet's friction there, have none here.

The field's heights are a random number for each row plus one for each column, so that all cells
are plane: bilinear cells, which are ours, and MuJoCo's two triangles are the same ground.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.warp_g1 import DT, FOOT, FOOT_FRICTION, g1_spec
from heelstrike.errors import HeelstrikeError
from heelstrike.measure.peer.model import module, positions_of
from heelstrike.robot.placement import lowest_height

SECONDS = 1000 * DT
"""Simulated time [s]."""
STIFFER = 8.0
"""Factor of G1's kp, of g1-stiff; 4 falls, 16 starts to swing."""
STARTS, OFF = 1024, 0.01
"""Number of different starts, and standard deviation of their joints [rad]."""
SPACING, CELLS, ROUGH, PLACES = 0.1, 80, 0.02, 2.5
"""Of the field: cell [m], cells along an edge, largest |height| of a row or column [m], and largest
distance of a robot from the middle along an axis [m]."""
GROUND_FRICTION = 1.0
"""MuJoCo's default, which the floor has."""
EXPLICIT_DT = 5e-4
"""Time step of explicit springs [s]; at 1 ms light wrists diverge."""
SINK = 2e-3
"""Depth at which four explicit springs carry the robot [m]."""

Law = Callable[[float], hs.SurfaceLaw]
"""Law of a coefficient of friction."""


@dataclass(frozen=True)
class Model:
    """A model in both simulators."""

    name: str
    robot: hs.Robot
    mujoco: Any
    """MuJoCo's model, with the ground."""
    pose: np.ndarray
    """Coordinates of the keyframe."""
    nconmax: int
    njmax: int
    """mujoco_warp's room for contacts and constraints of a world.

    That of its own benchmarks, 48 and 192 for G1; for the humanoid 32 contacts, since its broad
    phase exceeds 24 from these starts; on our field, where plain MuJoCo had up to 68 and 272 in 16
    worlds of such a field, 112 and 448.
    """
    heights: np.ndarray | None = None
    """Heights of the ground [m]; None: a plane."""

    def starts(self, worlds: int) -> np.ndarray:
        """Return the first coordinates of all worlds, (worlds, nq), which repeat after STARTS.

        The lowest point touches the plane, or the height of the highest place of the field.
        """
        rng = np.random.default_rng(0)
        q = np.tile(self.pose, (min(worlds, STARTS), 1))
        q[:, 7:] += OFF * rng.normal(size=(len(q), self.robot.nq - 7))
        top = 0.0
        if self.heights is not None:
            top = float(self.heights.max())
            q[:, :2] += rng.uniform(-PLACES, PLACES, (len(q), 2))
        for one in q:
            one[2] += top - lowest_height(self.robot, one)
        return np.resize(q, (worlds, self.robot.nq))

    def qpos(self, worlds: int) -> np.ndarray:
        """Return the same starts as MuJoCo's coordinates."""
        own = [positions_of(self.mujoco, self.robot, q) for q in self.starts(min(worlds, STARTS))]
        return np.resize(own, (worlds, self.mujoco.nq))

    def scene(self, law: Law) -> hs.Scene:
        """Return our scene of a law."""
        ground = law(GROUND_FRICTION)
        floor: hs.Surface = hs.Plane(ground)
        if self.heights is not None:
            edge = CELLS * SPACING
            floor = hs.HeightField(ground, heights=self.heights, size=(edge, edge))
        feet = [body.name for body in self.robot.bodies if body.name.endswith(FOOT)]
        materials = {foot: law(FOOT_FRICTION) for foot in feet}
        return hs.Scene(self.robot, floor, materials=materials, self_contact=law(0.0))

    @property
    def control(self) -> hs.Servo | None:
        """Servo with the file's gains, which holds the keyframe; None: the file has motors."""
        return hs.Servo(reference=self.pose) if np.any(self.robot.kp) else None

    def explicit_law(self, mu: float) -> hs.SurfaceLaw:
        """Return explicit springs that carry the robot at SINK."""
        stiffness = self.robot.mass * self.robot.gravity / (4 * SINK)
        return hs.Elastic(hs.HuntCrossley(k=stiffness, alpha=1.0), hs.Kinetic(mu=mu))

    def laws(self) -> dict[str, tuple[Law, float]]:
        """Return our laws by name, and the time step of each [s]."""
        return {
            "rigid": (lambda mu: hs.Rigid(friction=hs.Coulomb(mu, mu)), DT),
            "implicit": (_implicit, DT),
            "springs": (self.explicit_law, EXPLICIT_DT),
        }


def _implicit(mu: float) -> hs.SurfaceLaw:
    return hs.Elastic(hs.LinearSpring(k=1e5, c=1e3), hs.Coulomb(mu, mu), implicit=True)


def humanoid() -> Model | None:
    """Return mujoco_warp's humanoid; None where mujoco_warp is not installed."""
    found = importlib.util.find_spec("mujoco_warp")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "test_data" / "humanoid" / "humanoid.xml"
    robot = hs.load(path)
    mujoco = module().MjModel.from_xml_path(str(path))
    return Model("humanoid", robot, mujoco, robot.pose("squat"), nconmax=32, njmax=72)


def g1(name: str = "g1", stiffer: float = 1.0, field: bool = False) -> Model:
    """Return G1 on a plane or on a height field; both simulators read one file."""
    mj, spec = module(), g1_spec(stiffer)
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.xml")
        path.write_text(spec.to_xml())
        robot = hs.load(path)
        spec = mj.MjSpec.from_file(str(path))
    heights = field_heights() if field else None
    if heights is None:
        spec.worldbody.add_geom(name="floor", type=mj.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05])
    else:
        add_field(mj, spec, heights)
    room = {"nconmax": 112, "njmax": 448} if field else {"nconmax": 48, "njmax": 192}
    pose = robot.pose("bent knees")
    return Model(name, robot, spec.compile(), pose, heights=heights, **room)


def field_heights() -> np.ndarray:
    """Return the heights of the field, rows along x [m]."""
    rng = np.random.default_rng(1)
    rows, columns = rng.uniform(-ROUGH, ROUGH, (2, CELLS + 1))
    return np.asarray(rows[:, None] + columns)


def add_field(mj: Any, spec: Any, heights: np.ndarray) -> None:
    """Add the field as MuJoCo's, whose rows are along y and whose data lie within 0 and 1."""
    half, low, high = CELLS * SPACING / 2, heights.min(), heights.max()
    spec.add_hfield(
        name="field",
        nrow=heights.shape[1],
        ncol=heights.shape[0],
        size=[half, half, high - low, 0.1],
        userdata=((heights.T - low) / (high - low)).ravel(),
    )
    spec.worldbody.add_geom(
        name="floor", type=mj.mjtGeom.mjGEOM_HFIELD, hfieldname="field", pos=[0, 0, low]
    )


MODELS: dict[str, Callable[[], Model | None]] = {
    "humanoid": humanoid,
    "g1": g1,
    "g1-stiff": partial(g1, "g1-stiff", STIFFER),
    "g1-field": partial(g1, "g1-field", field=True),
}


def model(name: str) -> Model | None:
    """Return a model by name; None where its file is not installed."""
    if name not in MODELS:
        raise HeelstrikeError(f"no model '{name}'; models: {', '.join(MODELS)}", value=name)
    return MODELS[name]()
