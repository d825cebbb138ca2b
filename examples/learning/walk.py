"""A robot learns to walk as it is told: PPO on heelstrike/Walk-v0, exported as ONNX.

    python examples/learning/walk.py --minutes 20                        hoap1, on a CPU
    python examples/learning/walk.py --device cuda --worlds 16384 --minutes 3
    python examples/learning/walk.py --export walk.pt                    ONNX of saved weights

Writes NAME.onnx and NAME.toml for `heelstrike play`, NAME.pt, and the learning curve NAME.csv.
Needs heelstrike[gym], torch and onnx.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch
from ppo import Learner, Settings, perceptron

import heelstrike as hs
from heelstrike.environments.policy import PolicyDescription
from heelstrike.environments.policy_file import write_policy
from heelstrike.environments.walk import TERMS, Walk, walking

LAWS = {
    "elastic": hs.Elastic(hs.HuntCrossley(k=2e4, alpha=1.0), hs.Bristle(mu_s=0.8, mu_k=0.6)),
    "soft": hs.Elastic(hs.HuntCrossley(k=2e3, alpha=1.0), hs.Bristle(mu_s=0.8, mu_k=0.6)),
    "rigid": hs.Rigid(friction=hs.Coulomb(mu_s=0.8, mu_k=0.6)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--robot", default="hoap1", help="bundled name, or a .urdf or .xml file")
    parser.add_argument("--law", choices=LAWS, default="elastic", help="law of the ground")
    parser.add_argument("--rough", type=float, default=1.0, help="size of the terrain; 0: flat")
    parser.add_argument("--push", type=float, default=0.05, help="size of pushes; 0: none")
    parser.add_argument("--worlds", type=int, default=512)
    parser.add_argument("--device", default="cpu", help="cpu, cuda, or a GPU by number: cuda:1")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("walk"), help="name of the files")
    parser.add_argument("--export", type=Path, metavar="FILE", help="write the ONNX of a .pt file")
    given = parser.parse_args()
    if given.export:
        kept = torch.load(given.export, weights_only=False)
        export(given.export.with_suffix(".onnx"), kept)
        return
    torch.set_num_threads(given.threads)
    torch.backends.cuda.matmul.allow_tf32 = True
    started = time.perf_counter()
    options = walking(
        given.robot,
        given.worlds,
        law=LAWS[given.law],
        rough=given.rough,
        push=given.push,
        device=given.device,
        autoreset="same_step",
        threads=given.threads,
        graph=given.device != "cpu" or None,
        episode=8.0,
    )
    envs = hs.Environments(**options)
    walk: Walk = options["observation"].__self__
    big = given.device != "cpu"
    learner = Learner(envs, Settings(hidden=(256, 128) if big else (128, 128)), given.seed)
    print(f"ready after {time.perf_counter() - started:.0f} s: {envs.sim}")
    started, rows, shown, busy = time.perf_counter(), [], -1e9, time.process_time()
    while (spent := time.perf_counter() - started) < 60 * given.minutes:
        found = learner.iterate()
        rows.append({"seconds": spent, "million_actions": learner.samples / 1e6, **found})
        if spent - shown > 20 or not rows[1:]:
            shown = spent
            report(rows[-1], walk, given.worlds)
    report(rows[-1], walk, given.worlds)
    acting, learning = learner.seconds
    print(
        f"{learner.samples / 1e6:.1f} M actions, {learner.samples / (acting + learning):,.0f} per "
        f"second with the learner; acting {acting:.0f} s, learning {learning:.0f} s; "
        f"{time.process_time() - busy:.0f} s of CPU"
    )
    write_curve(given.out.with_suffix(".csv"), rows)
    kept = {"actor": learner.net.actor.cpu().state_dict(), "robot": given.robot}
    kept |= {"joints": envs.action_names, "scale": walk.scale.tolist()}
    kept |= {"period": walk.period, "cycle": walk.cycle}
    torch.save(kept, given.out.with_suffix(".pt"))
    export(given.out.with_suffix(".onnx"), kept)


def report(row: dict[str, float], walk: Walk, worlds: int) -> None:
    total = sum(x for name, x in row.items() if name in walk.weights) / walk.period
    falls = 60 * row["falls"] / walk.period
    print(
        f"{row['seconds']:5.0f} s {row['million_actions']:7.2f} M actions: reward {total:5.2f}/s, "
        f"{falls:6.2f} falls per minute, level {row['level']:.2f}",
        flush=True,
    )


def write_curve(path: Path, rows: list[dict[str, float]]) -> None:
    lines = [",".join(rows[0]), *(",".join(f"{x:.6g}" for x in row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def export(path: Path, kept: dict[str, object]) -> None:
    """Write the policy's mean as ONNX, and its description."""
    weights = kept["actor"]
    sizes = [x.shape[0] for name, x in weights.items() if name.endswith("bias")]
    net = perceptron(len(weights["0.mean"]), *sizes)
    net.load_state_dict(weights)
    layers = [(x.weight.detach().numpy(), x.bias.detach().numpy()) for x in net[1::2]]
    first = net[0]
    told = PolicyDescription(
        observation=[*TERMS, "action", "phase"],
        period=kept["period"],
        scale=kept["scale"],
        clip=1.0,
        joints=list(kept["joints"]),
        command=[0.0, 0.0, 0.0],
        cycle=kept["cycle"],
    )
    spread = (first.var + 1e-4).sqrt().numpy()
    write_policy(path, layers, first.mean.numpy(), spread, told)
    print(f"wrote {path} and {path.with_suffix('.toml')}")


if __name__ == "__main__":
    main()
