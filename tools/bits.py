"""Record or compare digests of simulated bits: did a change of the code change any number?

    python tools/bits.py record FILE      # before a change that must not change the physics
    python tools/bits.py compare FILE     # after it; lists the cases whose bits differ
    python tools/bits.py compare FILE --only "hoap1|option"      # only cases that match

Cases are the bundled robots (and, where HEELSTRIKE_DATA is set, G1 and ANYmal) under every law, on
the CPU's lanes in float64 and float32, alone and among others; the other surfaces, integrators,
controllers, pushes, varied masses and derivatives on one robot; and the PTX text of compiled steps.
Digests of values do not depend on the names of variables. Comments in
PTX text do not count: LLVM numbers calls there through the life of a process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path

os.environ["HEELSTRIKE_CACHE"] = "off"

import numpy as np

import heelstrike as hs

STEPS = 40
WORLDS = 11
"""More than a tile of eight lanes, and no multiple of it."""

LAWS: dict[str, Callable[[], object]] = {
    "linear-bristle": lambda: hs.Elastic(hs.LinearSpring(k=2e4, c=200), hs.Bristle()),
    "hunt-kinetic": lambda: hs.Elastic(hs.HuntCrossley(k=2e4, alpha=0.5), hs.Kinetic(mu=0.5)),
    "poisson-bristle": lambda: hs.Elastic(hs.PoissonSpring(), hs.Bristle()),
    "timestep-kinetic": lambda: hs.Elastic(hs.TimestepDamper(hs.LinearSpring()), hs.Kinetic()),
    "implicit": lambda: hs.Elastic(hs.LinearSpring(k=2e4, c=200), hs.Coulomb(), implicit=True),
    "rigid": lambda: hs.Rigid(restitution=0.2, friction=hs.Coulomb(mu_s=0.8, mu_k=0.6)),
    "rigid-paper": lambda: hs.Rigid(rule="paper"),
    "micro-macro": lambda: hs.MicroMacro(
        membrane=hs.Elastic(hs.TimestepDamper(hs.LinearSpring()), hs.Kinetic()), rigid=hs.Rigid()
    ),
    "signorini": lambda: hs.Signorini(),
    "feedback": lambda: hs.FeedbackLinearized(),
    "feedback-paper": lambda: hs.FeedbackLinearized(rule="paper"),
}
LARGE = ("hrp2", "g1", "anymal_c")
"""Robots that are run under fewer laws: their coupled problems take long to compile."""
LARGE_LAWS = ("linear-bristle", "hunt-kinetic", "rigid", "implicit")


def robots() -> dict[str, str]:
    found = {name: name for name in hs.bundled()}
    if folder := os.environ.get("HEELSTRIKE_DATA"):
        found |= {name: f"{folder}/robots/{name}.xml" for name in ("g1", "anymal_c")}
    return found


def digest(*arrays: object) -> str:
    """Of arrays, whatever their order or names."""
    parts = sorted(sha256(np.ascontiguousarray(a).tobytes()).digest() for a in arrays)
    return sha256(b"".join(parts)).hexdigest()[:16]


def simulator(robot: str, law: str, **options: object) -> hs.Simulator:
    made = hs.load(robots()[robot], collide="feet")
    servo = hs.Servo() if made.kp.any() else None
    floor = hs.Plane(LAWS[law](), name="ground")
    return hs.Simulator(hs.Scene(made, floor), control=servo, **options)


def start(sim: hs.Simulator) -> tuple[np.ndarray, np.ndarray]:
    """A pose a little above the ground, and scattered velocities."""
    robot = sim.robot
    q = np.array(next(iter(robot.poses.values()), robot.neutral), dtype=float)
    if robot.nq > robot.nv:  # a free base
        q[2] += 1e-3
    v = 0.1 * np.random.default_rng(3).standard_normal((WORLDS, robot.nv))
    return q, v


def ran(sim: hs.Simulator) -> str:
    """Digest of a batch's end and of one world's recording."""
    q, v = start(sim)
    sim.run(steps=STEPS, worlds=WORLDS, q0=np.tile(q, (WORLDS, 1)), v0=v, record="final")
    ends = digest(*sim.state.copy().values())
    alone = sim.run(steps=STEPS, worlds=1, q0=q, v0=v[0])
    return ends + digest(*(alone.data[name].values for name in alone.data))


def ptx(robot: str, law: str, dtype: str) -> str:
    from heelstrike.codegen.cuda.ptx import make_ptx

    text = make_ptx(simulator(robot, law).program, [], dtype).text
    return sha256(re.sub(r"//.*", "", text).encode()).hexdigest()[:16]


def surfaces(name: str) -> str:
    law = LAWS["linear-bristle"]() if name != "stairs" else LAWS["rigid"]()
    rng = np.random.default_rng(5)
    made = {
        "box": lambda: hs.Box(law, size=(1, 1, 0.2), point=(0, 0, -0.1)),
        "sphere": lambda: hs.Sphere(law, radius=3.0, point=(0, 0, -3.0)),
        "capsule": lambda: hs.Capsule(law, point=(0, 0, -0.1), radius=0.1),
        "height-field": lambda: hs.HeightField(
            law, heights=0.01 * rng.standard_normal((9, 9)), size=(2.0, 2.0)
        ),
        "stairs": lambda: hs.Stairs(law),
        "treadmill": lambda: hs.Treadmill(law, speed=0.5),
    }[name]()
    return ran(hs.Simulator(hs.Scene(hs.load("hoap1", collide="feet"), made), control=hs.Servo()))


def options(name: str) -> str:
    if name in ("euler", "rk4"):
        robot = hs.load("biped14", collide="feet")
        floor = hs.Plane(LAWS["linear-bristle"](), name="ground")
        return ran(hs.Simulator(hs.Scene(robot, floor), dt=1e-4, integrator=name))
    if name == "rk4-feedback":
        floor = hs.Plane(hs.FeedbackLinearized(form="acceleration"), name="ground")
        return ran(hs.Simulator(hs.Scene(hs.load("foot"), floor), dt=1e-4, integrator="rk4"))
    if name == "controller":

        @hs.controller
        def hold(s, kp=3.0):  # type: ignore[no-untyped-def]
            return -kp * s.q - 0.1 * s.v

        floor = hs.Plane(LAWS["hunt-kinetic"](), name="ground")
        return ran(hs.Simulator(hs.Scene(hs.load("hoap1", collide="feet"), floor), control=hold))
    sim = simulator("hoap1", "rigid" if name == "linearize-rigid" else "linear-bristle")
    if name == "push":
        sim.push(sim.robot.bodies[0].name, [30, 0, 0], 0.02)
        return ran(sim)
    if name == "mass":
        body = sim.robot.bodies[0].name
        sim.run(steps=STEPS, worlds=WORLDS, vary={f"{body}.mass": np.linspace(1, 3, WORLDS)})
        return digest(*sim.state.copy().values())
    sim.run(0.02, q0=start(sim)[0])
    slopes = sim.linearize("servo.q_ref")
    return digest(*(value for value in vars(slopes).values() if isinstance(value, np.ndarray)))


def cases() -> Iterator[tuple[str, ...]]:
    for robot in robots():
        for law in LARGE_LAWS if robot in LARGE else LAWS:
            yield "cpu", robot, law, "float64"
        yield "cpu", robot, "linear-bristle", "float32"
        yield "cpu", robot, "rigid", "float32"
        for law in ("linear-bristle", "rigid"):
            yield "ptx", robot, law, "float32"
        if robot == "hoap1":
            yield "ptx", robot, "linear-bristle", "float64"
            yield "ptx", robot, "signorini", "float32"
    for name in ("box", "sphere", "capsule", "height-field", "stairs", "treadmill"):
        yield "surface", name
    for name in ("euler", "rk4", "rk4-feedback", "controller", "push", "mass"):
        yield "option", name
    yield "option", "linearize"
    yield "option", "linearize-rigid"


def found(case: tuple[str, ...]) -> tuple[str, str]:
    warnings.simplefilter("ignore")
    kind, *rest = case
    try:
        if kind == "cpu":
            robot, law, dtype = rest
            value = ran(simulator(robot, law, dtype=dtype))
        else:
            value = {"ptx": ptx, "surface": surfaces, "option": options}[kind](*rest)
    except hs.HeelstrikeError as error:
        value = f"refused: {type(error).__name__}"
    return " ".join(case), value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="a regular expression that cases must match")
    chosen = parser.parse_args()
    wanted = [case for case in cases() if re.search(chosen.only, " ".join(case))]
    with ProcessPoolExecutor(2) as pool:
        digests = {}
        for name, value in pool.map(found, wanted):
            digests[name] = value
            print(f"{value:34} {name}", file=sys.stderr, flush=True)
    if chosen.action == "record":
        chosen.file.write_text(json.dumps(digests, indent=1) + "\n")
        return
    before = json.loads(chosen.file.read_text())
    other = [name for name in digests if before.get(name) != digests[name]]
    print(f"{len(digests)} cases, {len(other)} differ", *other, sep="\n  ")
    sys.exit(1 if other else 0)


if __name__ == "__main__":
    main()
