"""Mechanisms with closed loops: four-bar, slider-crank, five-bar leg, Stewart platform."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin

import heelstrike as hs
from heelstrike.robot.closing import jacobian
from heelstrike.robot.constraints import Connect, JointCoupling

CRANK, ROD, ROCKER, BASE = 0.2, 0.5, 0.4, 0.5
"""Lengths of the four-bar and of the slider-crank [m]."""


def robot_of(text: str, **options) -> hs.Robot:
    """Return the robot of an MJCF's text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mechanism.xml"
        path.write_text(f"<mujoco>{text}</mujoco>", encoding="utf-8")
        return hs.load(path, **options)


def link(name: str, pos: str, joint: str, end: str, mass: float, inside: str = "") -> str:
    """A rod from its joint to `end`, as an MJCF body."""
    return f"""<body name="{name}" pos="{pos}"><joint name="{name}" {joint}/>
      <geom type="capsule" size=".01" fromto="0 0 0 {end}" mass="{mass}"/>{inside}</body>"""


def four_bar(tilt: float = 0.0) -> hs.Robot:
    """A four-bar in a vertical plane, driven by gravity alone; its rod's axis may be tilted."""
    y = 'axis="0 1 0"'
    rod = link("rod", f"{CRANK} 0 0", f'axis="{tilt} 1 0"', f"{ROD} 0 0", 0.5)
    text = link("crank", "0 0 1", y, f"{CRANK} 0 0", 0.3, rod)
    text += link("rocker", f"{BASE} 0 1", y, f"{ROCKER} 0 0", 0.4)
    robot = robot_of(f"<worldbody>{text}</worldbody>", points=[])
    ends = np.array([ROD, 0, 0]), np.array([ROCKER, 0, 0])
    return robot.with_constraints(
        Connect("coupler", robot.body("rod"), ends[0], robot.body("rocker"), ends[1])
    )


def slider_crank() -> hs.Robot:
    """A crank, a rod, and a slider along x that the rod's end pushes."""
    y = 'axis="0 1 0"'
    rod = link("rod", f"{CRANK} 0 0", y, f"{ROD} 0 0", 0.5)
    text = link("crank", "0 0 0", y, f"{CRANK} 0 0", 0.3, rod)
    text += """<body name="slider"><joint name="slider" type="slide" axis="1 0 0"/>
      <geom size=".02" mass=".7"/></body>"""
    robot = robot_of(f"<worldbody>{text}</worldbody>", points=[])
    return robot.with_constraints(
        Connect("pin", robot.body("rod"), np.array([ROD, 0, 0]), robot.body("slider"), np.zeros(3))
    )


def five_bar_leg() -> hs.Robot:
    """A floating body on a five-bar leg with a point foot; both hips turn."""
    y, shank = 'axis="0 1 0"', "-.15 0 -.25"
    front = link("front shank", ".15 0 -.2", y, shank, 0.2)
    foot = '<geom name="foot" size=".02" pos=".15 0 -.25" mass=".05"/>'
    back = link("back shank", "-.15 0 -.2", y, ".15 0 -.25", 0.2, foot)
    text = f"""<body name="trunk" pos="0 0 .6"><freejoint name="root"/>
      <geom type="box" size=".2 .1 .05" mass="3"/>
      {link("front thigh", ".05 0 0", y, ".15 0 -.2", 0.3, front)}
      {link("back thigh", "-.05 0 0", y, "-.15 0 -.2", 0.3, back)}</body>"""
    robot = robot_of(f"<worldbody>{text}</worldbody>", collide=["foot"])
    ends = np.array([-0.15, 0, -0.25]), np.array([0.15, 0, -0.25])
    closed = robot.with_constraints(
        Connect("knees", robot.body("front shank"), ends[0], robot.body("back shank"), ends[1])
    )
    q = closed.close(closed.pose("zero"), hold=("root", "front thigh", "back thigh"))
    return type(closed)(**{**vars(closed), "poses": {"stand": q}})


def stewart() -> hs.Robot:
    """A platform on six legs: the first carries it, the others are joined to it by points."""
    legs, angles = "", np.deg2rad([10, 110, 130, 230, 250, 350])
    tops = np.deg2rad([50, 70, 170, 190, 290, 310])
    for k, (low, high) in enumerate(zip(angles, tops, strict=True)):
        foot = np.array([0.5 * np.cos(low), 0.5 * np.sin(low), 0.0])
        tip = np.array([0.3 * np.cos(high), 0.3 * np.sin(high), 0.6])
        along = (tip - foot) / np.linalg.norm(tip - foot)
        half = 0.4 * along
        plate = ""
        if k == 0:
            arm = tip - foot
            centre = np.array([0, 0, 0.6]) - tip
            plate = f"""<body name="plate" pos="{text(arm)}"><joint name="ball" type="ball"/>
              <geom type="cylinder" size=".3 .02" pos="{text(centre)}" mass="5"/></body>"""
        legs += f"""<body name="leg{k}" pos="{text(foot)}"><joint name="hip{k}" type="ball"/>
          <geom type="capsule" size=".02" fromto="0 0 0 {text(half)}" mass="1"/>
          <body name="rod{k}" pos="0 0 0"><joint name="slide{k}" type="slide"
            axis="{text(along)}" damping="0"/>
          <geom type="capsule" size=".01" fromto="{text(half)} {text(tip - foot)}" mass=".5"/>
          {plate}</body></body>"""
    robot = robot_of(f"<worldbody>{legs}</worldbody>", points=[])
    constraints = []
    first = 0.3 * np.array([np.cos(tops[0]), np.sin(tops[0]), 2.0])
    for k in range(1, 6):
        tip = np.array([0.3 * np.cos(tops[k]), 0.3 * np.sin(tops[k]), 0.6])
        foot = np.array([0.5 * np.cos(angles[k]), 0.5 * np.sin(angles[k]), 0.0])
        ends = robot.body("plate"), tip - first, robot.body(f"rod{k}"), tip - foot
        constraints.append(Connect(f"joint{k}", *ends))
    return robot.with_constraints(*constraints)


def parallelogram(coupled: bool) -> hs.Robot:
    """A hopping leg of parallel links, closed by a point, or by two couplings of its joints.

    Both are the same mechanism, q of the foot is -q of the front link, q of the back link the same.
    """
    y = 'axis="0 1 0"'
    foot = """<body name="foot" pos="0 0 -.3"><joint name="foot" axis="0 1 0"/>
      <geom name="sole" type="box" size=".12 .05 .02" pos="0 0 -.05" mass=".6"/></body>"""
    front = f"""<body name="front" pos=".05 0 0"><joint name="front" {y}/>
      <geom type="capsule" size=".01" fromto="0 0 0 0 0 -.3" mass=".4"/>{foot}</body>"""
    trunk = f"""<body name="trunk" pos="0 0 .6"><freejoint name="root"/>
      <geom type="box" size=".1 .1 .05" mass="2"/>{front}
      {link("back", "-.05 0 0", y, "0 0 -.3", 0.4)}</body>"""
    robot = robot_of(f"<worldbody>{trunk}</worldbody>", collide=["sole"])
    if coupled:
        ends = [robot.body(name) for name in ("front", "foot", "back")]
        return robot.with_constraints(
            JointCoupling("level", ends[1], ends[0], (0.0, -1.0)),
            JointCoupling("parallel", ends[2], ends[0], (0.0, 1.0)),
        )
    points = np.array([-0.1, 0, 0]), np.array([0, 0, -0.3])
    return robot.with_constraints(
        Connect("pin", robot.body("foot"), points[0], robot.body("back"), points[1])
    )


def text(x: np.ndarray) -> str:
    return " ".join(f"{float(value)!r}" for value in x)


def moving(robot: hs.Robot, q: np.ndarray, seed: int, spread: float = 0.3):
    """A closed pose near q, a velocity that keeps it closed, and torques."""
    rng = np.random.default_rng(seed)
    q = robot.close(pin.integrate(robot.model, q, spread * rng.uniform(-1, 1, robot.nv)))
    J = jacobian(robot, q)
    v = rng.normal(size=robot.nv)
    v -= np.linalg.pinv(J, rcond=1e-9) @ (J @ v)
    return q, v, rng.normal(size=robot.nv)


def load_quietly(path: Path, **options) -> hs.Robot:
    """Load a robot without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)
        return hs.load(path, **options)
