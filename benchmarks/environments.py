"""hs.Environments beside the bare steps of the same worlds, and what a GPU copies meanwhile.

    python -m benchmarks.environments [--json FILE] [--quick]
    python -m benchmarks.environments --device cuda [--json FILE]      needs torch and a GPU

Robots stand as in benchmarks.step, float32, 20 steps an action, default observation and reward, and
pushes of 0 N, which are drawn and made like others and leave the load as it is. The bare contender
makes the steps of an action in the same worlds, and nothing else; the two take turns, each one's
best turn counts: in CPU time of its thread, or, with two threads and on a GPU, by the clock. No
world may fall. On a GPU an action comes from a linear policy there; 1,000 actions are watched by
torch.profiler, which must see no copy to the host, and must see one that is made on purpose. 256
worlds are compared with the CPU's own. An action is replayed as a CUDA graph; "without_graph" are
million steps a second of the same without.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.command import CONDITIONS, keep, parser
from heelstrike.bench.timing import Contender
from heelstrike.bench.timing import timed as take_turns
from heelstrike.runtime.cuda.driver import current_device

HOLD, TURNS, WATCHED, CHECKED = 20, 40, 1000, 256
SIZES = {"cpu": (256, 1024, 4096), "cuda": (4096, 65_536)}
BURST = {"cpu": 1, "cuda": 20}
"""Actions before the clock waits for the device."""
COPY = "Memcpy DtoH"
FLOOR = hs.Plane(law=hs.Elastic(hs.LinearSpring(), hs.Bristle()))
PUSHES = hs.Pushes(force=(0.0, 0.0))


def main() -> None:
    asked = parser(__doc__, "hoap1 alone, few worlds and turns")
    asked.add_argument("--device", choices=SIZES, default="cpu")
    options = asked.parse_args()
    measure = on_cpu if options.device == "cpu" else on_gpu
    rows = []
    for name in robots(options.quick):
        rows += measure(name, SIZES[options.device][: 1 if options.quick else None], options.quick)
    result: dict[str, Any] = {"hold": HOLD, "rows": rows}
    if options.device == "cpu":
        show(rows)
    else:
        result["machine"] = CONDITIONS.machine | {"gpu": current_device().name}
        result["copies"] = copies()
        print(json.dumps(result, indent=1))
    keep(result, options.json)
    if result.get("copies", {}).get("to_host"):
        raise SystemExit("a thousand actions copied from the GPU")


def robots(quick: bool) -> list[str]:
    """hoap1, and G1 where HEELSTRIKE_DATA is."""
    data = os.environ.get("HEELSTRIKE_DATA")
    return ["hoap1", *([f"{data}/robots/g1.xml"] if data and not quick else [])]


def made(source: str, worlds: int, device: str, threads: int = 1, **more: Any) -> hs.Environments:
    scene = hs.Scene(hs.load(source, collide="feet"), FLOOR)
    usual = {"hold": HOLD, "pushes": PUSHES, "episode": 1e4, "device": device, "threads": threads}
    return hs.Environments(scene, worlds, **(usual | more))


def on_cpu(source: str, sizes: tuple[int, ...], quick: bool) -> list[dict[str, Any]]:
    """One and two threads."""
    rows = []
    for worlds in sizes:
        for threads in (1, 2):
            envs = made(source, worlds, "cpu", threads)
            still = np.zeros(envs.action_space.shape, np.float32)
            rows.append(timed(envs, partial(envs.step, still), quick))
    return rows


def on_gpu(source: str, sizes: tuple[int, ...], quick: bool) -> list[dict[str, Any]]:
    import torch

    rows = []
    for worlds in sizes:
        envs = made(source, worlds, "cuda")
        rows.append(timed(envs, policy(envs), quick, torch.cuda.synchronize))
        plain = made(source, worlds, "cuda", graph=False)
        without = timed(plain, policy(plain), quick, torch.cuda.synchronize)
        rows[-1] |= {"graph": envs.graph, "without_graph": without["million_steps_per_s"]}
        rows[-1] |= agreement(source) if worlds == sizes[0] else {}
    return rows


def policy(envs: hs.Environments) -> Callable[[], Any]:
    """An action of a linear policy, and what came of the last one."""
    seen, _ = envs.reset(seed=0)
    shape = seen.shape[1], envs.action_space.shape[1]
    weights = 0.01 * np.random.default_rng(0).standard_normal(shape)
    weights = seen.new_tensor(weights)

    def step() -> Any:
        nonlocal seen
        seen, *rest = envs.step(seen @ weights)
        return seen, *rest

    return step


def timed(
    envs: hs.Environments,
    step: Callable[[], Any],
    quick: bool,
    wait: Callable[[], Any] = lambda: None,
) -> dict[str, Any]:
    """Best seconds of an action, and of its steps alone, once all stand."""
    envs.reset(seed=0)
    for _ in range(round(1.0 / (HOLD * 1e-3))):
        step()

    burst = BURST[envs.sim.device]

    def alone() -> None:
        for _ in range(burst):
            envs.sim.step(HOLD, envs.threads)
        wait()

    def action() -> None:
        for _ in range(burst):
            step()
        wait()

    alone_on_cpu = envs.sim.device == "cpu" and envs.threads == 1
    clock = time.thread_time if alone_on_cpu else time.perf_counter
    work = burst * envs.num_envs * HOLD
    contenders = {"bare": Contender(alone, work, clock), "action": Contender(action, work, clock)}
    found = take_turns(contenders, 3 if quick else TURNS)
    bare, acted = found["bare"]["us"], found["action"]["us"]
    if bool(step()[2].any()):
        raise SystemExit(f"{envs.sim.robot.name} does not stand")
    return {
        "robot": envs.sim.robot.name,
        "worlds": envs.num_envs,
        "threads": envs.threads,
        "million_steps_per_s": 1 / acted,
        "bare_million_steps_per_s": 1 / bare,
        "actions_per_s": 1e6 / (HOLD * acted),
        "overhead": acted / bare - 1,
    }


def agreement(source: str) -> dict[str, Any]:
    """Worlds whose every observation of 50 actions has the CPU's bits; without pushes, whose sines
    may differ in a last bit.
    """
    rng, same, off = np.random.default_rng(0), np.ones(CHECKED, bool), 0.0
    ours, theirs = (made(source, CHECKED, d, pushes=None) for d in ("cpu", "cuda"))
    for envs in (ours, theirs):
        envs.reset(seed=0)
    for _ in range(50):
        action = rng.uniform(-0.3, 0.3, ours.action_space.shape).astype(np.float32)
        one, two = ours.step(action)[0], theirs.step(action)[0].cpu().numpy()
        same &= (one == two).all(axis=1)
        off = max(off, float(np.abs(one - two).max()))
    return {"same_bits": f"{same.sum()} of {CHECKED}", "largest_difference": off}


def copies() -> dict[str, Any]:
    """What torch.profiler counts in 1,000 actions, and in a copy that is made on purpose."""
    import torch

    pushed = hs.Pushes(force=(0.0, 20.0))  # so that worlds fall and begin anew
    step = policy(made("hoap1", SIZES["cuda"][0], "cuda", episode=2.0, pushes=pushed))
    seen, *_ = step()

    def count(work: Callable[[], Any]) -> dict[str, int]:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
            work()
            torch.cuda.synchronize()
        return {each.key: int(each.count) for each in seen.key_averages()}

    on_purpose = count(seen.cpu)
    if not any(COPY in name for name in on_purpose):
        raise SystemExit(f"the profiler does not see a copy to the host: {on_purpose}")
    found = count(lambda: [step() for _ in range(WATCHED)])
    names = {name: n for name, n in found.items() if "Memcpy" in name or "step" in name}
    return {
        "actions": WATCHED,
        "to_host": sum(n for name, n in found.items() if COPY in name),
        "kernels": sum(n for name, n in found.items() if "Mem" not in name),
        "events": dict(sorted(names.items())),
    }


def show(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"hs.Environments, float32, {HOLD} steps an action")
    for column in ("robot", "worlds", "threads", "bare", "environment", "overhead"):
        table.add_column(column, justify="left" if column == "robot" else "right")
    for row in rows:
        rates = (f"{row[k]:.3g}" for k in ("bare_million_steps_per_s", "million_steps_per_s"))
        sizes = row["robot"], f"{row['worlds']:,}", str(row["threads"])
        table.add_row(*sizes, *rates, f"{row['overhead']:.1%}")
    table.caption = "million world-steps a second"
    Console().print(table)


if __name__ == "__main__":
    main()
