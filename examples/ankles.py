"""Feedback of the ZMP at the ankles holds a humanoid under pushes that fell its servo alone.

The ankles' references move at a rate proportional to the distance of the ZMP from the capture point
c + v sqrt(h / g) (Pratt et al. 2006), which brings the centre of mass to rest, and leak back.
"""

from __future__ import annotations

import numpy as np

import heelstrike as hs

WORLDS, PUSHES, PERIOD = 64, 8, 0.01  # [-], [-], [s]
RATE, LEAK = 8.0, 0.3  # [rad/(s m)], [s]
SENSORS = ["com", "com_velocity", "zmp"]
SIGNS = np.array([[1, 0], [1, 0], [0, -1], [0, -1]])  # of pitch by x, and of roll by y

robot = hs.load("hoap1", collide="feet")
column = {joint.name: joint.iv for joint in robot.joints}
ANKLES = [column[name] for name in ("R_AFE", "L_AFE", "R_AAA", "L_AAA")]


def feedback(held):
    """Return a controller that moves the references of the ankles, (worlds, 4) [rad]."""
    lean = np.zeros((WORLDS, 2))

    def balance(s):
        com, speed, zmp = (s.sensors[name][:, :2] for name in SENSORS)
        capture = com + speed * np.sqrt(0.27 / 9.81)
        lean[:] += PERIOD * (RATE * (capture - zmp) - lean / LEAK)
        reference = np.tile(held, (WORLDS, 1))
        reference[:, ANKLES] += lean @ SIGNS.T
        return {"servo.q_ref": reference}

    return balance


def standing(force: float, feeds_back: bool) -> float:
    """Return the share of worlds that stand after pushes from random directions, 0.5 s apart."""
    sim = hs.Simulator(hs.Scene(robot, hs.Plane()), control=hs.Servo(), sensors=SENSORS)
    stance = sim.place()
    controller = feedback(sim.parameters["servo.q_ref"]) if feeds_back else None
    usual = {"controller": controller, "control_every": round(PERIOD / 1e-3), "record": "final"}
    sim.run(0.3, q0=stance, worlds=WORLDS, **usual)
    for angle in 2 * np.pi * np.random.default_rng(0).random((PUSHES, WORLDS)):
        push = force * np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
        sim.push("WAIST", push, duration=0.1)
        sim.run(0.5, **usual)
    return float(np.mean(sim.state["q"][:, 2] > 0.8 * stance[2]))


if __name__ == "__main__":
    for push in (8, 10, 12, 14):  # [N]
        open_loop, closed = standing(push, False), standing(push, True)
        print(f"{push:2} N: servo {open_loop:4.0%}, feedback {closed:4.0%}")
