"""hoap1 stands up from a crouch sooner by iLQR through the derivatives of the simulator's step.

References of the legs' servos change every 10 ms over 0.6 s. An iteration linearises the step along
the motion (docs/derivatives.md), solves the quadratic problem backwards and tries it forwards.
"""

import time

import numpy as np
from scipy.spatial.transform import Rotation

import heelstrike as hs

EVERY, PERIODS, ITERATIONS = 10, 60, 15  # steps of 1 ms in a period of the references
END = 20.0  # weight of the last state
robot = hs.load("hoap1", collide="feet")
scene = hs.Scene(robot, hs.Plane(name="ground"))
sim, nv, ref = hs.Simulator(scene, control=hs.Servo()), robot.nv, "servo.q_ref"
legs = [j.iv for j in robot.joints if j.name[2:] in ("LR", "LAA", "LFE", "KN", "AFE", "AAA")]
sim.run(1.0, q0=robot.pose("stance"), record="final")
rest, goal = np.array(sim.state["q"]), sim.parameters[ref][legs]
sim.run(1.0, q0=robot.pose("crouch"), record="final")
start, low = {k: np.array(x) for k, x in sim.state.items()}, sim.parameters[ref][legs]
Q = np.diag(np.concatenate([np.full(6, 50.0), np.ones(nv - 6), np.full(nv, 0.05)]))
R = 0.5 * np.eye(len(legs))


def error():  # the motion from rest to the present pose, and its velocities
    q, turn = sim.state["q"], Rotation.from_quat(rest[3:7]).inv()
    about = (turn * Rotation.from_quat(q[3:7])).as_rotvec()
    return np.concatenate([turn.apply(q[:3] - rest[:3]), about, q[7:] - rest[7:], sim.state["v"]])


def roll(U, X=(), gains=()):  # errors, references, A and B of periods, and the cost
    for name, value in start.items():
        sim.state[name] = value
    found, chosen, model, refs = [error()], [], [], sim.parameters[ref]
    for k in range(PERIODS):
        refs[legs] = U[k] - (gains[k][1] + gains[k][0] @ (found[k] - X[k]) if gains else 0.0)
        sim.parameters[ref] = refs
        one, A, B = sim.linearize(ref), np.eye(2 * nv), np.zeros((2 * nv, len(legs)))
        for _ in range(EVERY):
            A, B = one.state @ A, one.state @ B + one.inputs[ref][:, legs]
        sim.step(EVERY)
        found, chosen, model = [*found, error()], [*chosen, refs[legs].copy()], [*model, (A, B)]
    far, spent = [x @ Q @ x for x in found], [(u - goal) @ R @ (u - goal) for u in chosen]
    return found, chosen, model, sum(far) + END * far[-1] + sum(spent)


way = (1 - np.cos(np.pi * np.minimum(1, np.arange(PERIODS) / 40))) / 2
best, times, mu = roll([low + w * (goal - low) for w in way]), [], 100.0
first = best
for _ in range(ITERATIONS):
    started, (X, U, model, cost) = time.process_time(), best
    P, p, gains = (1 + END) * Q, (1 + END) * Q @ X[-1], []
    for (A, B), x, u in zip(model[::-1], X[-2::-1], U[::-1], strict=True):
        H, r = R + B.T @ P @ B + mu * np.eye(len(legs)), B.T @ p + R @ (u - goal)
        K, d = np.linalg.solve(H, B.T @ P @ A), np.linalg.solve(H, r)
        gains, p = [(K, d), *gains], Q @ x + A.T @ (p - P @ B @ d)
        P = Q + A.T @ P @ (A - B @ K)
    tried = roll(U, X, gains)
    best, mu = (tried, mu / 3) if tried[-1] < cost else (best, 5 * mu)
    times.append(time.process_time() - started)
for name, (X, *_, cost) in (("cosine", first), ("iLQR", best)):
    late = EVERY * max(k for k, x in enumerate(X) if np.linalg.norm(x[:3]) > 0.01)
    print(f"{name}: cost {cost:.1f}, within 10 mm of standing after {late} ms")
print(f"{1 / np.median(times):.0f} iterations per CPU second")
