"""Odd arguments of sensors, controllers, policies, environments, films, validation and searches."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np

import heelstrike as hs
from heelstrike.bench.history import read_entry
from heelstrike.environments.policy import PolicyDescription, read_description
from heelstrike.errors import HeelstrikeError
from heelstrike.validation import kept
from heelstrike.validation import validate as validation
from heelstrike.validation.fit import Effort
from tests import lines, toppler
from tests.fuzz.values import mutated_bytes, mutated_text, odd

DESCRIPTION = """observation = ["gravity", {term = "twist", scale = 0.5}, "trunk.gyro", "command"]
period = 0.02
action = "position"
scale = 0.25
clip = 1.0
joints = ["swing"]
command = [0.5, 0.0]
"""


def option(random: Random) -> str:
    """Make a call with one or two odd arguments."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        before = os.getcwd()
        os.chdir(folder)
        try:
            random.choice(CALLS)(random)
        except HeelstrikeError:
            return "refused"
        finally:
            os.chdir(before)
    return "taken"


def _odd(random: Random, **usual: Any) -> dict[str, Any]:
    """Return arguments of which one or two are odd."""
    for name in random.sample(list(usual), random.randint(1, 2)):
        usual[name] = odd(random)
    return usual


@cache
def simulator() -> hs.Simulator:
    return hs.Simulator(toppler.scene(), control=hs.Servo(), sensors=["com"], worlds=2)


@cache
def ball_on_plane() -> hs.Scene:
    return hs.Scene(hs.load("ball"), hs.Plane())


@cache
def recording() -> hs.Recording:
    return simulator().run(0.05, q0=simulator().robot.pose("stance"), progress=False)


@cache
def environments() -> hs.Environments:
    return hs.Environments(toppler.scene(), 2, autoreset="same_step")


def _sensor(random: Random) -> None:
    usual = {"label": "a", "history": 2, "every": 2, "latency": 0.01, "noise": 0.1, "bias": 0.1}
    made = hs.Sensor(**_odd(random, quantity="com", quantum=0.1, **usual))
    hs.Simulator(toppler.scene(), control=hs.Servo(), sensors=[made])


def _sensors(random: Random) -> None:
    hs.Simulator(toppler.scene(), control=hs.Servo(), sensors=odd(random))


def _controller(random: Random) -> None:
    """Whatever a controller is, or returns: the run is refused, or all its numbers are finite."""
    value = odd(random)
    value = None if callable(value) else value  # whose own errors are not ours
    returned = {"servo.q_ref": value} if random.random() < 0.3 else value
    options = {"controller": lambda s: returned, "control_every": 5}
    if random.random() < 0.3:
        options[random.choice(list(options))] = value
    sim = simulator()
    try:
        run = sim.run(0.02, q0=sim.robot.pose("stance"), progress=False, **options)
        assert np.isfinite(run.data["torque"].values).all()
    finally:
        sim.parameters["servo.q_ref"] = np.zeros(sim.robot.nv)


def _description(random: Random) -> None:
    terms = ["gravity", {"term": "twist", "scale": random.choice([0.5, odd(random)])}]
    usual = {"scale": 0.5, "clip": 1.0, "joints": ["swing"], "command": [1.0]}
    PolicyDescription(**_odd(random, observation=terms, period=0.02, action="torque", **usual))


def _description_file(random: Random) -> None:
    Path("policy.toml").write_text(mutated_text(DESCRIPTION, random), errors="surrogatepass")
    read_description("policy.toml")


def _policy(random: Random) -> None:
    Path("policy.toml").write_text(DESCRIPTION)
    Path("policy.onnx").write_bytes(bytes(random.randrange(256) for _ in range(50)))
    hs.Policy(**_odd(random, path="policy.onnx", description="policy.toml"))


def _environments(random: Random) -> None:
    usual: dict[str, Any] = {
        "scene": toppler.scene(), "worlds": 2, "hold": 5, "episode": 1.0, "action": "position",
        "scale": 0.3, "noise": (0.01, 0.05), "vary": {"ground.normal.k": (1e4, 2e4)},
        "autoreset": "same_step", "render_mode": "rgb_array", "width": 64, "threads": 1,
        "critic": None, "start": None, "pushes": None, "graph": None, "sensors": (),
        "commands": None, "changes": None, "terrain": None, "curriculum": None,
    }  # fmt: skip
    graded = random.choice([(0.0, 1.0), hs.Graded((0, 1), odd(random)), hs.Factor(0.5, 2.0)])
    if random.random() < 0.2:
        usual["changes"] = hs.Changes({"ground.normal.k": graded})
    if random.random() < 0.3:
        usual["vary"] = {"ground.normal.k": odd(random)}
    made = hs.Environments(**_odd(random, **usual))
    seen, _ = made.reset(seed=0)
    assert np.isfinite(seen).all()


def _episode(random: Random) -> None:
    envs, kind = environments(), random.randrange(3)
    if kind == 0:
        seen, *_ = envs.step(odd(random))
        assert np.isfinite(seen).all()
    elif kind == 1:
        envs.reset(seed=odd(random))
    else:
        envs.reset(options=odd(random) if random.random() < 0.5 else {"reset_mask": odd(random)})


MADE: dict[str, dict[str, Any]] = {
    "Pushes": {"force": (0, 5), "duration": 0.1, "wait": (0.5, 1.0), "body": "trunk"},
    "Commands": {"ranges": {"speed": (0.0, 1.0)}, "wait": (4.0, 8.0), "zero": 0.1},
    "Changes": {"ranges": {"ground.normal.k": (1e4, 2e4)}, "wait": (1.0, 3.0)},
    "Factor": {"low": 0.5, "high": 2.0, "each": True},
    "Graded": {"easy": (0.0, 1.0), "hard": (0.0, 2.0)},
    "Rays": {
        "quantity": "trunk",
        "starts": (0, 0, 0),
        "align": "yaw",
        "reach": 2.0,
        "shapes": True,
    },
    "Rays.heights": {"name": "trunk", "size": (1.0, 0.5), "spacing": 0.1, "above": 0.2},
    "Rays.depth": {"name": "trunk", "pixels": (4, 3), "field": 1.0, "at": (0, 0, 1), "pitch": 0.1},
    "SpringDamper": {"body": "trunk", "other": "world", "stiffness": 10.0, "point": (0, 0, 0.1)},
    "Patch": {"rolling": 0.01, "spinning": 0.01, "k": 2e4, "c": 100.0},
    "Trajectory": {"times": [0.0, 1.0], "q": np.zeros((2, 8)), "torque": None},
    "VirtualBase": {"links": None, "mass": 1e5, "inertia": 1e5},
    "combine": {"robots": {"a": toppler.robot()}, "name": "both"},
    "virtual_mass": {"q": toppler.robot().neutral, "link": "arm", "direction": "x", "base": None},
}
"""Usual arguments of what is made."""


def _made(random: Random) -> None:
    name = random.choice(list(MADE))
    more = {"robot": toppler.robot()} if name == "virtual_mass" else {}
    attrgetter(name)(hs)(**more, **_odd(random, **MADE[name]))


def _terrain(random: Random) -> None:
    usual: dict[str, Any] = {"kinds": ("rough", "stairs"), "levels": 2, "tile": 2.0, "seed": 3}
    lengths = {"platform": 0.4, "tread": 0.16, "grain": 0.08, "cell": 0.02, "depth": 0.1}
    heights = {"height": 0.02, "slope": 0.3, "gap": 0.06}
    made = hs.Terrain(**_odd(random, **usual, **lengths, **heights)).surface()
    assert np.isfinite(made.heights).all()


def _motors(random: Random) -> None:
    curve = {"stall_torque": 5.0, "no_load_speed": {"swing": 20.0}}
    rest = {"delay": 0.002, "time_constant": 0.01, "friction": 0.1, "max_delay": 0.004}
    usual = _odd(random, **curve, **rest)
    if random.random() < 0.3:
        usual[random.choice(list(curve))] = {"swing": odd(random)}
    hs.Simulator(toppler.scene(), control=hs.Servo(), motors=hs.Motors(**usual))


def _springs(random: Random) -> None:
    spring = hs.SpringDamper("trunk", stiffness=100.0, other_point=(0, 0, 1))
    springs = odd(random) if random.random() < 0.5 else [spring, odd(random)]
    hs.Scene(toppler.robot(), hs.Plane(), springs=springs)


def _variable_steps(random: Random) -> None:
    sim = hs.Simulator(ball_on_plane(), **_odd(random, dt="auto", accuracy=1e-4))
    if random.random() < 0.1:
        run = sim.run(0.1, q0=[0, 0, 0.06, 0, 0, 0, 1], every=2, progress=False)
        assert run.data.sizes["time"] == run.data.step_size.sizes["time"]


def _history(random: Random) -> None:
    """A history or a result of bench, damaged: refused, or with ratios above 0."""
    line = {"commit": "a", "date": "b", "cpu": "c", "quick": True, "figures": {"x": [2.0, 1.1]}}
    suffix = random.choice([".jsonl", ".json"])
    Path(f"h{suffix}").write_bytes(mutated_bytes(json.dumps(line).encode(), random))
    read = read_entry(Path(f"h{suffix}"))
    assert all(x > 0 and noise > 0 for x, noise in read["figures"].values())


def _adapters(random: Random) -> None:
    random.choice([hs.adapters.sb3, hs.adapters.rsl_rl])(odd(random))


def _film(random: Random) -> None:
    usual = {"speed": 1.0, "fps": 25, "width": 32, "world": 0, "camera": None, "forces": True}
    recording().film(**_odd(random, path="film.gif", robot=toppler.robot(), **usual))


@cache
def _lines() -> Path:
    """Return a folder with a training file of an invented set, and a fit that is kept."""
    folder = Path(tempfile.mkdtemp())
    lines.write(folder / "line_train.npz", [k for k in range(40) if k % 5])
    (folder / "fits").mkdir()
    with _invented(folder):
        found = hs.validate("lines", effort=Effort(sets=4, rounds=1), mujoco=False)
    values = found.as_dict() | {"trained": list(found.trained)}
    (folder / "fits" / "lines.json").write_text(json.dumps(values))
    return folder


@contextmanager
def _invented(folder: Path) -> Iterator[None]:
    """Make the invented set the only one."""
    with (
        mock.patch.object(validation, "measured_set", return_value=lines.Lines()),
        mock.patch.dict(os.environ, {"HEELSTRIKE_DATA": str(folder)}),
        mock.patch.object(kept, "FOLDER", folder / "fits"),
    ):
        yield


def _validate(random: Random) -> None:
    usual = {"laws": ["line"], "data": None, "mujoco": False, "refit": True, "quick": True}
    options = _odd(random, fold=1, effort=Effort(sets=4, rounds=1), progress=False, **usual)
    folder = _lines()
    if random.random() < 0.2:
        hs.validate(odd(random), **options)
    with _invented(folder):
        found = hs.validate("lines", **options)
    errors = [one.score("place").mean for one in found.models.values()]
    assert np.isfinite(errors).all()


CALLS: tuple[Callable[[Random], None], ...] = (
    _sensor, _sensors, _controller, _description, _description_file, _policy, _environments,
    _episode, _made, _made, _adapters, _film, _validate, _terrain, _motors, _springs,
    _variable_steps, _history,
)  # fmt: skip
