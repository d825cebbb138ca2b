"""Friction against rolling and spinning between two moving bodies, of explicit and coupled laws.

Oracles, with r the radius of rolling friction, s that of spinning friction and I = k2 m R^2: a ball
on a body that cannot move stops after v^2 R (1 + k2) / (2 r g), its spin falls at s m g / I; on a
free body both turn until they have one spin, and momentum is conserved.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import heelstrike as hs

G, R, K2, K = 9.81, 0.05, 0.4, 2e4
INERTIA = K2 * R**2
"""Of a ball of 1 kg [kg m^2]."""
TABLE = """<mujoco><worldbody>
<body name="table" pos="0 0 -0.05"><joint name="lift" type="slide" axis="0 0 1" {held}/>
 <geom name="table" type="{kind}" size="{size}" mass="1000"/></body>
<body name="ball" pos="0 0 {R}"><freejoint/><inertial pos="0 0 0" mass="1"
 diaginertia="{I} {I} {I}"/><geom name="ball" type="sphere" size="{R}"/></body>
</worldbody></mujoco>"""


def law(kind: str, rolling: float = 0.0, spinning: float = 0.0) -> hs.SurfaceLaw:
    patch = hs.Patch(rolling=rolling, spinning=spinning)
    if kind == "rigid":
        return hs.Rigid(friction=hs.Coulomb(0.8, 0.8), patch=patch)
    spring = hs.LinearSpring(k=K, c=100, damping="both")
    return hs.Elastic(spring, hs.Bristle(0.8, 0.6), patch=patch)


def scene(folder: Path, own: hs.SurfaceLaw, kind: str = "box", size: str = "2 2 0.05") -> hs.Scene:
    """Return a ball on a table that a stiff spring and its mass hold still."""
    path = folder / "table.xml"
    held = 'stiffness="1e9" damping="1e6"'
    path.write_text(TABLE.format(kind=kind, size=size, held=held, R=R, I=INERTIA))
    robot = hs.load(path)
    return hs.Scene(robot, hs.Plane(own, point=(0, 0, -5)))


def start(
    kind: str, spin: tuple[float, float, float], speed: float = 0.0
) -> tuple[list[float], list[float]]:
    """Return q and v of a ball on the table, as deep as a spring lets it be."""
    height = R - (G / K if kind == "elastic" else 0.0)
    return [0, 0, 0, height, 0, 0, 0, 1], [0, speed, 0, 0, *spin]


@pytest.mark.parametrize("kind", ["elastic", "rigid"])
def test_a_ball_stops_on_a_body_at_its_distance(tmp_path, kind):
    """And rests there."""
    v, rolling = 0.3, 5e-3
    middle = R - (G / K / 2 if kind == "elastic" else 0.0)  # contact is halfway between surfaces
    stop = v**2 * middle * (1 + K2 * (R / middle) ** 2) / (2 * rolling * G)
    sim = hs.Simulator(scene(tmp_path, law(kind, rolling)))
    q, own = start(kind, (0, v / middle, 0), v)
    data = sim.run(2 * stop / v + 0.3, q0=q, v0=own, every=20).data.isel(world=0)
    x = data.q.values[:, 1]
    assert not data["touching"].any()
    # first order in the step: 3.3e-3 and 1.0e-3 at 1 ms, 1.6e-3 and 0.3e-3 at a quarter of it
    assert x[-1] == pytest.approx(stop, rel=4e-3 if kind == "elastic" else 2e-3)
    assert np.ptp(x[-5:]) < (2e-6 if kind == "elastic" else 1e-12)  # its spring swings out


@pytest.mark.parametrize("kind", ["rigid", pytest.param("elastic", marks=pytest.mark.nightly)])
def test_a_ball_spins_down_on_a_body(tmp_path, kind):
    """At s m g / I; without a patch it goes on spinning."""
    spinning, spin, time = 1e-3, 20.0, 0.5
    q, own = start(kind, (0, 0, spin))
    ends = [
        hs.Simulator(scene(tmp_path, law(kind, spinning=s))).run(time, q0=q, v0=own, every=100)
        for s in (spinning, 0.0)
    ]
    slow, free = (run.data.v.values[0, -1, 6] for run in ends)
    assert slow == pytest.approx(spin - spinning * G / INERTIA * time, rel=5e-3)
    assert free == pytest.approx(spin, rel=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["elastic", "rigid"])
def test_two_balls_share_their_spin(tmp_path, kind):
    """Pressed together in the air, angular momentum about their line is conserved."""
    two = hs.combine({"a": hs.load("ball"), "b": hs.load("ball")})
    own = law(kind, spinning=5e-3)
    sim = hs.Simulator(hs.Scene(two, hs.Plane(own, point=(0, 0, -9)), gravity=0.0))
    for body, sign in (("a/ball", 1), ("b/ball", -1)):
        sim.push(body, [0, 0, 5.0 * sign], 1.0)
    q = [0, 0, 0, 0, 0, 0, 1, 0, 0, 2 * R, 0, 0, 0, 1]
    data = sim.run(1.0, q0=q, v0=[0, 0, 0, 0, 0, 8, *[0] * 6], every=50).data.isel(world=0)
    spins = data.v.values[:, [5, 11]]
    assert spins.sum(axis=1) == pytest.approx(8, abs=1e-9)
    assert spins[-1] == pytest.approx([4, 4], rel=1e-3)
