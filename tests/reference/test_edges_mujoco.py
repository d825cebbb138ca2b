"""Bodies that come to rest on the noses of stairs, against MuJoCo's run of the same bodies."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import heelstrike as hs

SHIN = '<geom name="shin" type="capsule" fromto="-0.25 0 0 0.25 0 0" size="0.04" mass="2"/>'
BRICK = '<geom name="shin" type="box" size="0.25 0.06 0.03" mass="2"/>'
RISE, RUN, COUNT, WIDTH = 0.12, 0.2, 5, 1.0
# stiff contact that does not slip where friction holds
MODEL = """<mujoco><option timestep="5e-4" cone="elliptic" impratio="10" integrator="implicitfast"/>
<default><geom friction="0.9 0 0" solref="0.002 1" solimp="0.99 0.999 1e-4"/></default>
<worldbody>{ground}<body name="shin"><freejoint/>{geom}</body></worldbody></mujoco>"""


def start(yaw: float, height: float) -> np.ndarray:
    """Return q of a body above the slope of the noses, turned by a yaw [rad] [m]."""
    slope = np.arctan2(RISE, RUN)
    up = np.array([-np.sin(slope), 0, np.cos(slope)])
    place = np.array([2.4 * RUN, 0, 3.4 * RISE]) + height * up
    tilt = np.array([0, -np.sin(slope / 2), 0, np.cos(slope / 2)])
    turn = np.array([0, 0, np.sin(yaw / 2), np.cos(yaw / 2)])
    a, b = tilt, turn  # first about z, then about y
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.array([*place, *vector, a[3] * b[3] - a[:3] @ b[:3]])


def mujoco_end(geom: str, q: np.ndarray, seconds: float) -> np.ndarray:
    """Return q after MuJoCo's run; its stairs are boxes."""
    boxes = [
        f'<geom type="box" pos="{(k * RUN + COUNT * RUN) / 2} 0 {(k + 0.5) * RISE}" '
        f'size="{(COUNT - k) * RUN / 2} {WIDTH / 2} {RISE / 2}"/>'
        for k in range(COUNT)
    ]
    model = mujoco.MjModel.from_xml_string(MODEL.format(ground="".join(boxes), geom=geom))
    data = mujoco.MjData(model)
    data.qpos[:] = [*q[:3], q[6], *q[3:6]]
    while data.time < seconds:
        mujoco.mj_step(model, data)
    w, *vector = data.qpos[3:]
    return np.array([*data.qpos[:3], *vector, w])


def own_run(folder: Path, geom: str, q: np.ndarray, seconds: float) -> tuple[np.ndarray, ...]:
    """Return q and v after a run of the same body on hs.Stairs."""
    path = folder / "shin.xml"
    path.write_text(MODEL.format(ground="", geom=geom))
    law = hs.Rigid(friction=hs.Coulomb(mu_s=0.9, mu_k=0.9))
    stairs = hs.Stairs(law, "stairs", rise=RISE, run=RUN, count=COUNT, width=WIDTH)
    run = hs.Simulator(hs.Scene(hs.load(path), stairs)).run(seconds, q0=q, every=50)
    return run.data["q"].values[0, -1], run.data["v"].values[0, -1]


@pytest.mark.parametrize(
    ("geom", "yaw", "height"),
    [(SHIN, 0.0, 0.045), pytest.param(BRICK, 0.3, 0.035, marks=pytest.mark.nightly)],
)
def test_a_body_rests_on_noses_where_mujoco_has_it(tmp_path, geom, yaw, height):
    """A shin along the stairs, and a box askew, stay on the noses that they fell onto, 5 mm."""
    q = start(yaw, height)
    (own, v), theirs = own_run(tmp_path, geom, q, 1.0), mujoco_end(geom, q, 1.0)
    assert np.abs(v).max() < 1e-3
    # MuJoCo's contacts give way: its box creeps down by 1.3 mm in 1 s
    assert own[:3] == pytest.approx(theirs[:3], abs=2e-3)
    assert own[3:] == pytest.approx(theirs[3:], abs=2e-3)


def test_a_shin_askew_rolls_off_as_in_mujoco(tmp_path):
    """A capsule across the noses rolls down them."""
    q = start(0.5, 0.045)
    (own, v), theirs = own_run(tmp_path, SHIN, q, 0.3), mujoco_end(SHIN, q, 0.3)
    assert np.abs(v[3]) > 1
    assert np.linalg.norm(own[:3] - q[:3]) > 0.03
    assert own[:3] == pytest.approx(theirs[:3], abs=3e-3)
