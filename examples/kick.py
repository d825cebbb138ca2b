"""A humanoid kicks a cube, and momentum is accounted for; kick.png shows it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.interpolate import PchipInterpolator

import heelstrike as hs
from heelstrike.motion import Humanoid
from heelstrike.motion.demand import feasible
from heelstrike.motion.reach import Reach
from heelstrike.view.render.camera import Camera

CUBE = [0.13, -0.045, 0.0524, 0, 0, 0, 1]  # on the floor, in front of the right foot
TIMES = [0.0, 0.2, 0.9, 1.2, 1.35, 1.8, 2.0]  # of the kick [s], with what holds at each:
LEFT = [0.5, 0.5, 1, 1, 1, 1, 1]  # share of the left foot
FOOT_X = [0, 0, 0, -0.05, 0.09, 0, 0]  # way of the right foot [m]
FOOT_Z = [0, 0, 0, 0.035, 0.035, 0.03, 0]


def kick(robot: hs.Robot) -> hs.motion.Motion:
    """The motion: the robot stands on its left foot and swings the right one."""
    human = Humanoid.of(robot)
    soles, com, reach = human.placed(human.pose), human.com(human.pose), Reach(human)
    times = np.arange(201) / 100
    left, x, z = (PchipInterpolator(TIMES, way)(times) for way in (LEFT, FOOT_X, FOOT_Z))
    q = []
    for share, *way in zip(left, x, 0 * x, z, strict=True):
        place = share * soles[0].translation + (1 - share) * soles[1].translation
        foot = pin.SE3(soles[1].rotation, soles[1].translation + way)
        q.append(reach.pose((soles[0], foot), np.array([*place[:2], com[2]])))
    return feasible(human, "kick", {}, times, np.array(q), np.column_stack([left, 1 - left]))


def simulate(collide: str | list[str] = "all") -> hs.Recording:
    """The robot kicks the cube, which stands in front of its right foot."""
    robot = hs.load("hoap1", collide=collide)
    motion = kick(robot).finer(1000)
    both = hs.combine({"robot": robot, "cube": hs.load("cube")})
    q = np.hstack([motion.q, np.tile(CUBE, (len(motion.q), 1))])
    torque = np.hstack([motion.torque, np.zeros((len(q), 6))])
    floor = hs.Plane(hs.Rigid(friction=hs.Coulomb(mu_s=0.8, mu_k=0.6)))
    servo = hs.Servo(reference=hs.Trajectory(motion.times, q, torque))
    return hs.Simulator(hs.Scene(both, floor), control=servo).run(2.0, q0=q[0])


def main() -> None:
    run = simulate()
    data = run.data.isel(world=0)
    given = -1e-3 * data["self_force"].sum(("time", "slot")).values  # to the cube, in steps of 1 ms
    x, v = data["q"].sel(coordinate="cube/root.x").values, data["v"].sel(joint="cube/root.vx")
    print(f"the foot gives {given[0]:.3f} N s and {v.max():.2f} m/s, {x[-1] - x[0]:.3f} m far")
    view = {"camera": Camera(azimuth=-75, elevation=8), "labels": [""]}
    print(f"wrote {run.film_strip('kick.png', times=(0, 0.9, 1.2, 1.29, 1.35, 1.6), **view)}")


if __name__ == "__main__":
    main()
