"""A step of a robot that stands: the ways of making it, the laws, and MuJoCo's.

All contenders of a robot take turns in one run. What works on one thread is judged by the CPU time
of that thread, what works on all cores by wall time. MuJoCo: mj_step in one world, mujoco.rollout
for a batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from heelstrike.bench.peer import Peer
from heelstrike.bench.standing import Case, check_stands, first_pose, simulator
from heelstrike.bench.timing import Contender, Times, timed
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.scene.surfaces import Plane
from heelstrike.simulate.simulator import Simulator

WORLDS = 256
"""Of a batch; above 64 a run keeps the end, peaks, impulses and works by default."""
FEW, SLOW = 32, 15e-6
"""Worlds of a batch whose step takes longer than that [s]: a batch waits for its last world."""
CALL, STEPS, BATCH_STEPS, PEER_STEPS = 200, 5000, 500, 50
"""Steps in one call: of one world, of a run of one world, of a run of a batch, of mujoco.rollout. A
run has a cost of its own, a millisecond or more, which short runs would measure.
"""

HOLD = 20
"""Steps of an action in environments."""

Way = Callable[[Case, int], tuple[Contender, Simulator]]
"""From a robot and the number of cores to what is timed, and what must still stand at the end."""


def _run(case: Case, cores: int, worlds: int = 1, **options: Any) -> tuple[Contender, Simulator]:
    """`run` with its default recording; that of one world is labelled."""
    sim = simulator(case.robot, case.dt, worlds=worlds, dtype=options.pop("dtype", "float64"))
    run = partial(sim.run, progress=False, **({"threads": cores} | options))
    if worlds == 1:
        return Contender(lambda: run(steps=STEPS).data, STEPS), sim
    return Contender(partial(run, steps=BATCH_STEPS), worlds * BATCH_STEPS, time.perf_counter), sim


def _step(case: Case, cores: int) -> tuple[Contender, Simulator]:
    sim = simulator(case.robot, case.dt)
    return Contender(sim.step, 1), sim


def _environments(case: Case, cores: int) -> tuple[Contender, Simulator]:
    """`hs.Environments` under its default observation and reward, in float32."""
    from heelstrike.environments import Environments

    sim = simulator(case.robot, case.dt, worlds=WORLDS, dtype="float32")
    made = Environments(sim, hold=HOLD, threads=cores, noise=(0.0, 0.0))
    made.reset(seed=0)
    still = np.zeros((WORLDS, len(made.action_names)), np.float32)
    return Contender(partial(made.step, still), WORLDS * HOLD, time.perf_counter), sim


WAYS: dict[str, Way] = {
    "one world, run": _run,
    "one world, run, the end alone": partial(_run, record="final"),
    "one world, sim.step()": _step,
    "batch, run, one thread": partial(_run, worlds=WORLDS, threads=1),
    "batch, run": partial(_run, worlds=WORLDS),
    "batch, run, float32": partial(_run, worlds=WORLDS, dtype="float32"),
}
"""By name: a world or many worlds under the default law. What else makes steps is put here."""
if find_spec("gymnasium"):
    WAYS["environments, float32"] = _environments
ONE_THREAD, ALL_CORES = "batch, run, one thread", "batch, run"
PEER_ONE, PEER_BATCH = "one world, MuJoCo", "batch, MuJoCo"


def ways(case: Case, cores: int, turns: int) -> Times:
    """Return the times of every way to step, and of MuJoCo's two."""
    made = {name: way(case, cores) for name, way in WAYS.items()}
    theirs = peers(case, cores)
    found = timed(theirs | {name: contender for name, (contender, _) in made.items()}, turns)
    for name, (_, sim) in made.items():
        check_stands(f"{case.name}, {name},", sim, least=0)
    return found


def peers(case: Case, cores: int) -> dict[str, Contender]:
    """Return MuJoCo's contenders: one world, and a batch on all cores."""
    peer = Peer(case.source, case.robot)
    peer.check_stands(case.name)
    rollout = peer.rollout(WORLDS, PEER_STEPS, cores)
    return {
        PEER_ONE: Contender(partial(peer.step, CALL), CALL),
        PEER_BATCH: Contender(rollout, WORLDS * PEER_STEPS, time.perf_counter),
    }


def under_laws(
    case: Case, laws: Mapping[str, SurfaceLaw], cores: int, turns: int
) -> dict[str, dict[str, Any]]:
    """One world, a batch on all cores and seconds to compile, by law; a law under which the robot
    does not stand has a sentence instead.
    """
    found: dict[str, dict[str, Any]] = {}
    sims: dict[str, tuple[Simulator, Simulator]] = {}
    contenders: dict[str, Contender] = {}
    for name, law in laws.items():
        found[name] = {"said": "", "one": None, "batch": None} | compile_seconds(case, law)
        one, many = (simulator(case.robot, case.dt, law, worlds=n) for n in (1, FEW))
        worlds = batch_size(partial(many.step, 20), 20 * FEW)
        if worlds > FEW:
            many = simulator(case.robot, case.dt, law, worlds=worlds)
        try:
            for sim in (one, many):
                check_stands(case.name, sim, least=0)
        except HeelstrikeError as error:
            found[name]["said"] = str(error)
            continue
        sims[name] = one, many
        run = partial(many.run, steps=BATCH_STEPS // 5, threads=cores, progress=False)
        work = worlds * BATCH_STEPS // 5
        contenders[f"{name} one"] = Contender(partial(one.step, CALL), CALL)
        contenders[f"{name} batch"] = Contender(run, work, time.perf_counter)
    times = timed(contenders, turns)
    for name in sims:
        found[name] |= {"worlds": sims[name][1].worlds}
        found[name] |= {kind: times[f"{name} {kind}"] for kind in ("one", "batch")}
    return found


def batch_size(call: Callable[[], object], steps: int) -> int:
    """Worlds of a batch; few where the steps that this call makes are slow."""
    started = time.thread_time()
    call()
    return WORLDS if time.thread_time() - started < SLOW * steps else FEW


def compile_seconds(case: Case, law: SurfaceLaw) -> dict[str, float]:
    """Return the wall time from a scene to its first step [s], compiled and from the cache. The
    cache must not have it before.
    """

    def first_step() -> float:
        started = time.perf_counter()
        control = Servo(reference=first_pose(case.robot))
        Simulator(Scene(case.robot, Plane(law=law)), case.dt, control).step()
        return time.perf_counter() - started

    return {"cold_s": first_step(), "cached_s": first_step()}
