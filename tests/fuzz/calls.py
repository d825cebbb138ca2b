"""Odd arguments of public constructors and of calls of a simulator."""

from __future__ import annotations

import inspect
import warnings
from functools import cache
from random import Random
from typing import Any

import numpy as np

import heelstrike as hs
from heelstrike.errors import HeelstrikeError
from tests.fuzz.values import odd

CONSTRUCTED = (
    "Box", "Bristle", "Capsule", "Coulomb", "Cylinder", "Elastic", "FeedbackLinearized",
    "HeightField", "HuntCrossley", "Kinetic", "LinearSpring", "Mesh", "MicroMacro", "Plane",
    "PoissonSpring", "Rigid", "Scene", "Servo", "Signorini", "Simulator", "Sphere", "Stairs",
    "Stops", "Target", "TimestepDamper", "Treadmill", "load", "load_scene", "controller",
    "normal_law", "yardsticks",
)  # fmt: skip
Q0 = [0, 0, 0.06, 0, 0, 0, 1.0]


@cache
def simulator() -> Any:
    return hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(name="ground")))


def call(random: Random) -> str:
    """Make a call with one or two odd arguments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _construct(random) if random.random() < 0.6 else _simulate(random)
        except HeelstrikeError as error:
            text = str(error)
        else:
            return "taken"
    assert len(text) < 20_000
    assert "casadi" not in text.lower()
    return "refused"


def _construct(random: Random) -> None:
    made = getattr(hs, random.choice(CONSTRUCTED))
    parameters = [
        p
        for p in inspect.signature(made).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    usual = {"robot": hs.load("ball"), "source": "ball", "scene": simulator().scene}
    arguments = {p.name: usual.get(p.name, 1.0) for p in parameters if p.default is p.empty}
    for _ in range(random.randint(1, 2)):
        arguments[random.choice(parameters).name] = odd(random)
    made(**arguments)


def _simulate(random: Random) -> None:
    sim = simulator()
    kind = random.randrange(5)
    if kind == 0:
        options: dict[str, Any] = {"duration": 0.002, "q0": Q0, "progress": False, "worlds": 1}
        name = random.choice(["duration", "q0", "v0", "every", "record", "vary", "threads"])
        value = odd(random)
        if name == "vary" and random.random() < 0.7:
            value = {random.choice(["gravity", "ground.normal.k", "dt", "ball.mas"]): value}
        options[name] = value
        if name == "duration" and _seconds(value) > 0.1:
            options["duration"] = 0.1  # a long run is not wrong
        run = sim.run(**options)
        assert np.isfinite(run.data["q0"].values).all()
        fresh = {"gravity": [0, 0, -9.81], "ground.normal.k": 5e4, "dt": 1e-3}
        for path, usual in fresh.items():
            sim.parameters[path] = usual
    elif kind == 1:
        options = {"body": "ball", "force": [1.0, 0.0, 0.0], "duration": 0.1}
        options[random.choice(["force", "duration", "at", "point", "worlds", "body"])] = odd(random)
        if len(sim.plan.pushes) < 1 or random.random() < 0.9:
            before = sim.plan.pushes
            try:
                sim.push(**options)
            finally:
                if sim.plan.pushes != before:
                    simulator.cache_clear()  # a step with another push would be compiled
    elif kind == 2:
        sim.state[random.choice(["q", "v", "work", "nothing"])] = odd(random)
    elif kind == 3:
        sim.parameters[random.choice(["gravity", "dt", "ground.friction.mu_k"])] = odd(random)
    else:
        getattr(sim, random.choice(["begin_at", "check_start", "reset"]))(odd(random))


def _seconds(value: Any) -> float:
    return value if isinstance(value, int | float) else 0.0
