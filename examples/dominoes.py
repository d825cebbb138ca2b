"""Eight dominoes fall, one after another: the speed of the wave, and a film strip, dominoes.png."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import heelstrike as hs
from heelstrike.view.render.camera import Camera

SIZE = (0.03, 0.09, 0.18)  # [m]
DISTANCE = 0.09  # from one to the next [m]
START = 2.0  # of the first, about its lower front edge [rad/s]
FRICTION = 0.4
FALLEN = 0.2  # angle at which a domino counts as falling [rad]
DOMINO = """<body name="domino{k}" pos="{x} 0 {z}"><freejoint name="domino{k}"/>
<geom name="domino{k}" type="box" size="{size}" density="600" rgba="{colour}"/></body>"""
COLOURS = ("0.85 0.35 0.2 1", "0.95 0.9 0.8 1")


def bodies(count: int) -> str:
    """Dominoes in a row along x, as bodies of an MJCF."""
    look = {"size": " ".join(str(side / 2) for side in SIZE), "z": SIZE[2] / 2}
    places = [{"k": k, "x": DISTANCE * k, "colour": COLOURS[k % 2]} for k in range(count)]
    return "".join(DOMINO.format(**place, **look) for place in places)


def fall(count: int, seconds: float, dt: float = 1e-3) -> hs.Recording:
    """The fall of a row whose first domino turns about its edge."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "dominoes.xml"
        file.write_text(f"<mujoco><worldbody>{bodies(count)}</worldbody></mujoco>")
        robot = hs.load(file)
    floor = hs.Plane(hs.Rigid(friction=hs.Coulomb(mu_s=FRICTION, mu_k=FRICTION)))
    v0 = np.zeros(robot.nv)
    v0[:6] = START * np.array([SIZE[2] / 2, 0, SIZE[0] / 2, 0, 1, 0])
    return hs.Simulator(hs.Scene(robot, floor), dt=dt).run(seconds, q0=robot.pose("zero"), v0=v0)


def times(clock: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Times at which dominoes pass FALLEN [s], from their angles over time."""
    return np.array([np.interp(FALLEN, np.maximum.accumulate(a), clock) for a in angles.T])


def main() -> None:
    run = fall(8, 1.5)
    q = run.data["q"].values.reshape(-1, 8, 7)
    fallen = times(run.data.time.values, 2 * np.arctan2(q[..., 4], q[..., 6]))
    print(f"the wave runs at {DISTANCE / (fallen[-1] - fallen[-2]):.2f} m/s at its end")
    view = {"camera": Camera(azimuth=-60, elevation=15), "forces": False, "columns": 4}
    print(f"wrote {run.film_strip('dominoes.png', times=0.2 * np.arange(8), **view)}")


if __name__ == "__main__":
    main()
