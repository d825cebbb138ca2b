"""Simulated seconds per second at equal accuracy: steps of one size, dt="auto", and MuJoCo.

    python -m benchmarks.accuracy [--json FILE] [--quick]

Four motions: hoap1 falls 1 cm and stands, walks two steps, falls over its feet (only they touch);
a cube is tossed and tumbles. A simulator is accurate where its base stays within 1 mm, or 0.1 mm,
of its own converged path at every multiple of 20 ms (heelstrike/bench/accuracy.py). Of the steps of
one size, 20 ms / n, the largest that is accurate counts, of dt="auto" the largest accuracy=. MuJoCo
has the same file, on a plane, with its own contact, and the integrator of the two that bears the
larger step. Rates are CPU time of one thread, best of turns, one world and a batch, nothing
recorded.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from heelstrike.bench.accuracy import FINEST, GRID, Accuracy, largest_step
from heelstrike.bench.peer import add_floor, mujoco_model
from heelstrike.bench.standing import DEFAULT, case, first_pose
from heelstrike.bench.timing import Contender, timed
from heelstrike.measure.peer.model import positions_of
from heelstrike.motion import walk

WORLDS, TURNS = 64, 5
TOLERANCES = (1e-3, 1e-4)
"""Distances from the converged path [m]."""
ACCURACIES = (3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
LAWS = {"elastic": DEFAULT, "rigid": hs.Rigid()}


@dataclass(frozen=True)
class Load:
    """A motion: robot, start, reference and duration."""

    robot: hs.Robot
    source: str
    q0: np.ndarray
    v0: np.ndarray
    duration: float
    reference: Any = None

    @property
    def windows(self) -> int:
        return round(self.duration / GRID)

    @property
    def control(self) -> hs.Servo | None:
        return None if self.reference is None else hs.Servo(reference=self.reference)


def loads(quick: bool) -> dict[str, Load]:
    """Return the motions by name."""
    robot = case("hoap1").robot
    pose, still = first_pose(robot), np.zeros(robot.nv)
    high = first_pose(robot, 0.01)
    found = {"standing": Load(robot, "hoap1", high, still, 1.0, pose)}
    if quick:
        return found
    motion = walk(robot, steps=2).finer(1000.0)
    forward = still.copy()
    forward[0] = 0.8
    cube = hs.load("cube")
    toss = np.zeros(cube.nv)
    toss[:6] = [1.0, 0.0, 0.0, 1.0, 4.0, 2.0]
    return found | {
        "walking": Load(robot, "hoap1", motion.start, still, 2.4, motion),
        "falling": Load(robot, "hoap1", pose, forward, 0.6, pose),
        "tumbling": Load(cube, "cube", np.array([0, 0, 0.4, 0, 0, 0, 1.0]), toss, 0.8),
    }


class Ours:
    """A motion under one law, with steps of one size."""

    def __init__(self, load: Load, law: Any, worlds: int = 1) -> None:
        self.load = load
        scene = hs.Scene(load.robot, hs.Plane(law=law))
        self.sim = hs.Simulator(scene, 1e-3, load.control, worlds=worlds)

    def path(self, parts: int) -> np.ndarray:
        """Return the base at multiples of GRID, (times, 3)."""
        return base_path(self.sim, self.load, GRID / parts, parts)

    def contender(self, parts: int) -> Contender:
        return whole_run(self.sim, self.load, GRID / parts, parts)


class Auto:
    """The same with dt="auto"."""

    def __init__(self, load: Load, law: Any, worlds: int = 1, accuracy: float = 1e-4) -> None:
        self.load, self.law, self.worlds = load, law, worlds
        self.sim = self._made(accuracy)

    def _made(self, accuracy: float) -> hs.Simulator:
        scene = hs.Scene(self.load.robot, hs.Plane(law=self.law))
        return hs.Simulator(scene, "auto", self.load.control, worlds=self.worlds, accuracy=accuracy)

    def errors(self, reference: np.ndarray) -> dict[float, float]:
        """Return the distance from a path for each accuracy= [m]."""
        return {
            accuracy: apart(base_path(self._made(accuracy), self.load, GRID, 1), reference)
            for accuracy in ACCURACIES
        }

    def contender(self) -> Contender:
        return whole_run(self.sim, self.load, GRID, 1)


def base_path(sim: hs.Simulator, load: Load, dt: float, parts: int) -> np.ndarray:
    """Return the base at multiples of GRID; NaN after a failure."""
    sim.parameters["dt"] = dt
    sim.reset(q0=load.q0, v0=load.v0)
    found = np.full((load.windows, 3), np.nan)
    for k in range(load.windows):
        sim.step(parts)
        if sim.failed[0] >= 0:
            break
        found[k] = sim.state["q"][:3]
    return found


def whole_run(sim: hs.Simulator, load: Load, dt: float, parts: int) -> Contender:
    """Return the motion of all worlds from its start; its work is simulated seconds."""
    sim.parameters["dt"] = dt

    def run() -> None:
        sim.reset(q0=load.q0, v0=load.v0)
        sim.run(steps=parts * load.windows, record="final", threads=1, progress=False)

    return Contender(run, load.duration * sim.worlds)


class Peer:
    """MuJoCo with the same file; its actuators follow the same reference."""

    def __init__(self, load: Load) -> None:
        import mujoco

        self.load, self.mj = load, mujoco
        self.model, self.data = mujoco_model(load.source, add_floor, partial(named, load.robot))
        kinds = mujoco.mjtIntegrator
        own = (kinds(self.model.opt.integrator), kinds.mjINT_IMPLICITFAST)
        self.paths = {kind.name: cache(partial(self.path, kind=kind.name)) for kind in own}

    def best(self, tolerance: float) -> tuple[Accuracy, str]:
        """Return the largest accurate step of either integrator, and that integrator's name."""
        found = {kind: largest_step(path, tolerance) for kind, path in self.paths.items()}
        kind = max(found, key=lambda name: found[name].dt or 0.0)
        return found[kind], kind

    def start(self, parts: int) -> np.ndarray:
        """Set the start; return the controls of all steps, (steps, nu)."""
        load, model = self.load, self.model
        model.opt.timestep = GRID / parts
        self.mj.mj_resetData(model, self.data)
        self.data.qpos[:] = positions_of(model, load.robot, load.q0)
        self.data.qvel[:] = velocities_of(model, load)
        times = (np.arange(parts * load.windows) + 1) * GRID / parts
        if not model.nu:
            return np.zeros((len(times), 0))
        at = model.jnt_qposadr[model.actuator_trnid[:, 0]]
        own, poses = reference(load)
        rows = np.array([positions_of(model, load.robot, q)[at] for q in poses])
        return np.column_stack([np.interp(times, own, row) for row in rows.T])

    def path(self, parts: int, kind: str) -> np.ndarray:
        """Return the base at multiples of GRID, (times, 3); NaN where a number went bad."""
        states, _ = self._rollout(parts, kind)()
        found = states[0, parts - 1 :: parts, 1:4]  # after the time
        bad = any(warning.number for warning in self.data.warning)
        return np.full_like(found, np.nan) if bad else found

    def contender(self, parts: int, kind: str) -> Contender:
        """Return the motion by mujoco.rollout, without Python between steps."""

        def run() -> None:
            self.model.opt.timestep = GRID / parts  # which contenders share
            self.model.opt.integrator = getattr(self.mj.mjtIntegrator, kind)
            call()

        call = self._rollout(parts, kind)
        return Contender(run, self.load.duration)

    def _rollout(self, parts: int, integrator: str) -> partial[Any]:
        from mujoco.rollout import Rollout

        self.model.opt.integrator = getattr(self.mj.mjtIntegrator, integrator)
        controls = self.start(parts)
        kind = self.mj.mjtState.mjSTATE_FULLPHYSICS
        state = np.zeros(self.mj.mj_stateSize(self.model, kind))
        self.mj.mj_getState(self.model, self.data, state, kind)
        pool = Rollout(nthread=0)
        return partial(pool.rollout, self.model, self.data, state[None], controls[None])


def named(robot: hs.Robot, mj: Any, spec: Any) -> None:
    """Name a free joint that has no name as our robot does."""
    for joint in spec.joints:
        joint.name = joint.name or robot.joints[0].name


def velocities_of(model: Any, load: Load) -> np.ndarray:
    """Return MuJoCo's velocities of v0 of a free base, whose turn is the neutral one."""
    found = np.zeros(model.nv)
    found[:6] = load.v0[:6]
    return found


def reference(load: Load) -> tuple[np.ndarray, np.ndarray]:
    """Return the times and poses that the servo follows, (times, nq); it holds the only one."""
    if isinstance(load.reference, np.ndarray):
        return np.zeros(1), load.reference[None]
    return np.asarray(load.reference.times), np.asarray(load.reference.q)


def apart(path: np.ndarray, reference: np.ndarray) -> float:
    return float(np.nan_to_num(np.abs(path - reference), nan=1e9).max())


def measured(load: Load, turns: int) -> dict[str, dict[str, Any]]:
    """Return steps and rates of a motion, by tolerance and simulator."""
    peer, found = Peer(load), {f"{tolerance:g}": {} for tolerance in TOLERANCES}
    contenders: dict[str, Contender] = {}
    paths = {name: Ours(load, law) for name, law in LAWS.items()}
    fixed = {name: cache(ours.path) for name, ours in paths.items()}
    errors = {name: Auto(load, law).errors(fixed[name](FINEST)) for name, law in LAWS.items()}
    for tolerance in TOLERANCES:
        rows = found[f"{tolerance:g}"]
        best, kind = peer.best(tolerance)
        rows["mujoco"] = summary(best) | {"integrator": kind}
        if best.parts is not None:
            contenders[f"{tolerance:g} mujoco 1"] = peer.contender(best.parts, kind)
        for name, law in LAWS.items():
            best = largest_step(fixed[name], tolerance)
            rows[f"{name}, fixed"] = summary(best)
            converged = best.reference_error < tolerance / 10
            accuracy = largest(errors[name], tolerance) if converged else None
            rows[f"{name}, auto"] = summary(best) | {
                "setting": accuracy,
                "error": errors[name].get(accuracy),
            }
            for n in (1, WORLDS):
                if best.parts is not None:
                    key = f"{tolerance:g} {name}, fixed {n}"
                    contenders[key] = Ours(load, law, n).contender(best.parts)
                if accuracy is not None:
                    key = f"{tolerance:g} {name}, auto {n}"
                    contenders[key] = Auto(load, law, n, accuracy).contender()
    times = timed(contenders, turns)
    for tolerance, rows in found.items():
        for name, row in rows.items():
            for n in (1, WORLDS):
                spent = times.get(f"{tolerance} {name} {n}")
                row[f"rate_{n}"] = spent and 1e6 / spent["us"]
    return found


def largest(errors: dict[float, float], tolerance: float) -> float | None:
    """Return the largest accuracy= that is accurate, as are all smaller ones."""
    found = None
    for accuracy, error in errors.items():
        if not error < tolerance:
            break
        found = accuracy
    return found


def summary(best: Accuracy) -> dict[str, Any]:
    return {"setting": best.dt, "error": best.error, "reference_error": best.reference_error}


def show(console: Console, motion: str, results: dict[str, Any]) -> None:
    for tolerance, rows in results.items():
        title = f"{motion}, within {1e3 * float(tolerance):g} mm"
        table = Table(title=title, title_justify="left")
        for name in (
            "simulator",
            "step or accuracy",
            "error, mm",
            "one world, s/s",
            f"{WORLDS} worlds, s/s",
        ):
            table.add_column(name, justify="left" if name == "simulator" else "right")
        for name, row in rows.items():
            if row["setting"] is None:
                off = 1e3 * row["reference_error"]
                table.add_row(name, f"none (reference {off:.2g} mm)", "", "", "")
                continue
            auto = name.endswith("auto")
            setting = f"{row['setting']:g}" if auto else f"{1e3 * row['setting']:.3g} ms"
            rates = [row[f"rate_{n}"] for n in (1, WORLDS)]
            cells = ["" if rate is None else f"{rate:.0f}" for rate in rates]
            table.add_row(name, setting, f"{1e3 * row['error']:.2g}", *cells)
        console.print(table)


def main() -> None:
    """Measure all motions, and print a table of each."""
    options = parser(__doc__, "standing only, with few turns").parse_args()
    warnings.simplefilter("ignore", hs.HeelstrikeWarning)
    results = {}
    for name, load in loads(options.quick).items():
        results[name] = measured(load, 3 if options.quick else TURNS)
        show(Console(), name, results[name])
    keep({"worlds": WORLDS, "motions": results}, options.json)


if __name__ == "__main__":
    main()
