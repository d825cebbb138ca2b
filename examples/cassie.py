"""Cassie, whose legs have two closed loops and two springs each, jumps by its ten motors."""

import os
import warnings
from pathlib import Path

import numpy as np

import heelstrike as hs
from heelstrike.robot.placement import lowest_height, placements
from heelstrike.view.render.camera import Camera

FILE = Path(os.environ.get("HEELSTRIKE_DATA", ""), "robots/cassie.xml")  # of MuJoCo Menagerie
TIMES = [0.0, 0.4, 0.9, 1.02, 1.17, 1.8, 2.6]  # stand, crouch, push off, land, rise [s]
HEIGHTS = [0.0, 0.0, -0.12, 0.03, -0.03, -0.03, 0.0]  # of the pelvis, from its stance [m]
SHIFTS = [0.0, 0.0, -0.01, 0.0, -0.03, -0.03, 0.015]  # forward, likewise [m]; tuned by hand
KP = {"hip-roll": 3000, "hip-yaw": 3000, "hip-pitch": 3000, "knee": 3000, "foot": 1000}
RIGID = hs.Rigid(friction=hs.Coulomb(mu_s=0.8, mu_k=0.6))
ELASTIC = hs.Elastic(hs.LinearSpring(k=1e5, c=1.5e3), hs.Coulomb(0.8, 0.6), implicit=True)


def stance(robot: hs.Robot, spread: float = 0.05) -> np.ndarray:
    """The file's pose on the ground, with the hips turned outward [rad] and the loops closed."""
    q, hips = robot.pose("home").copy(), ("left-hip-roll", "right-hip-roll")
    q[[joint.iq for joint in robot.joints if joint.name in hips]] += spread, -spread
    q = robot.close(q, hold=(robot.joints[0].name, *hips))
    return q - lowest_height(robot, q) * np.eye(robot.nq)[2]


def moved(robot: hs.Robot, q: np.ndarray, shift: float, height: float) -> np.ndarray:
    """The pose with the pelvis moved [m] and the feet pinned where they were."""
    at = [(p, *placements(robot, q)[p.body]) for p in robot.points]
    pins = [hs.Connect(p.name, p.body, p.position, -1, R @ p.position + o) for p, R, o in at]
    springs = (joint.name for joint in robot.joints if joint.name.endswith(("shin", "spring")))
    q = q + np.pad([shift, 0, height], (0, robot.nq - 3))
    return robot.with_constraints(*pins).close(q, hold=(robot.joints[0].name, *springs))


def simulate(robot: hs.Robot, law: hs.SurfaceLaw, **options: object) -> hs.Recording:
    """Servos at the motors follow the poses."""
    q = stance(robot)
    poses = np.array([moved(robot, q, *way) for way in zip(SHIFTS, HEIGHTS, strict=True)])
    poses[:, [joint.iq for joint in robot.joints if joint.name.endswith("-foot")]] -= 0.02
    kp = {f"{side}-{name}": k for side in ("left", "right") for name, k in KP.items()}
    kd = {name: 40.0 if name.endswith("foot") else 230.0 for name in kp}
    servo = hs.Servo(kp=kp, kd=kd, reference=hs.Trajectory(TIMES, poses))
    return hs.Simulator(hs.Scene(robot, hs.Plane(law)), 5e-4, servo).run(5.0, q0=q, **options)


if __name__ == "__main__" and not FILE.is_file():
    print("skipped: robots/cassie.xml is not in the folder that HEELSTRIKE_DATA names")
elif __name__ == "__main__":
    warnings.simplefilter("ignore", hs.HeelstrikeWarning)
    for law in (RIGID, ELASTIC):
        run = simulate(hs.load(FILE, collide="feet"), law, every=4)
        high = -run.data["depth"].max("point").min().item()
        print(f"{type(law).__name__}: feet {1e3 * high:.0f} mm high")
    view = {"camera": Camera(azimuth=-60, elevation=8), "labels": [""]}
    print(f"wrote {run.film_strip('cassie.png', times=(0.4, 0.9, 1.02, 1.17, 1.3, 5), **view)}")
