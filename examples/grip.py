"""Two fingers lift a can and hold it: how far it creeps, and a film strip, grip.png."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import heelstrike as hs
from heelstrike.view.render.camera import Camera

FINGER = """<body name="{name}" pos="{x} 0 -0.06"><joint name="{name}" type="slide" axis="1 0 0"/>
<geom name="{name}" type="box" size="0.008 0.02 0.05" mass="0.1" rgba="0.2 0.2 0.25 1"/></body>"""
MODEL = f"""<mujoco model="gripper"><worldbody>
<body name="palm" pos="0 0 0.18"><joint name="lift" type="slide" axis="0 0 1"/>
<geom name="palm" type="box" size="0.07 0.02 0.01" mass="0.5"/>
{FINGER.format(name="left", x=-0.05)}{FINGER.format(name="right", x=0.05)}</body>
<body name="can" pos="0 0 0.06"><freejoint name="can"/>
<geom name="can" type="cylinder" size="0.03 0.06" mass="0.3" rgba="0.85 0.35 0.2 1"/></body>
</worldbody><actuator><position joint="lift" kp="4000" kv="120"/>
<position joint="left" kp="500" kv="10"/><position joint="right" kp="500" kv="10"/></actuator>
</mujoco>"""
TOUCH, SQUEEZE = 0.012, 0.01  # ways of a finger to the can, and of its servo beyond: 5 N [m]


def scene(law: hs.Rigid | hs.Signorini) -> hs.Scene:
    """The gripper about the can, which stands on the ground; all touch by one law."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "gripper.xml"
        file.write_text(MODEL)
        robot = hs.load(file)
    return hs.Scene(robot, hs.Plane(law, "ground"))


def pose(lift: float, way: float, height: float = 0.06) -> list[float]:
    """Coordinates: ways of the palm up and of the fingers inwards, and the can's height [m]."""
    return [lift, way, -way, 0, 0, height, 0, 0, 0, 1]


def main() -> None:
    times = np.linspace(0, 5, 501)
    close, lift = np.clip(times / 0.3, 0, 1), np.clip((times - 0.5) / 0.7, 0, 1)
    lift = 0.1 * lift**2 * (3 - 2 * lift)
    q = [pose(z, s * (TOUCH + SQUEEZE)) for z, s in zip(lift, close, strict=True)]
    law, servo = hs.Rigid(friction=hs.Coulomb(mu_s=0.5, mu_k=0.5)), hs.Trajectory(times, q)
    run = hs.Simulator(scene(law), dt=1e-3, control=hs.Servo(reference=servo)).run(5.0, q0=q[0])
    can = run.data["q"].sel(coordinate="can.z").values[0]
    print(f"lifted by {1e3 * (can[-1] - can[0]):.1f} mm; ", end="")
    print(f"in the last 3 s it creeps by {abs(can[-1] - can[2000]) / 3 * 1e3:.1e} mm/s")
    view = {"camera": Camera(azimuth=-60, elevation=10), "labels": [""]}
    print(f"wrote {run.film_strip('grip.png', times=(0, 0.3, 0.7, 0.9, 1.2, 5), **view)}")


if __name__ == "__main__":
    main()
