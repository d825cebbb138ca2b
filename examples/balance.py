"""A humanoid learns to keep its feet under pushes that fell its servo: evolution strategies, in
which every world tries another linear policy, from tilt and velocity of the base to the servo's
references. Needs heelstrike[gym]. A minute or two; `balance.py 10` is short. Prints how many of 256
worlds stand 4 s of pushes that were never trained on, and draws balance.png.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import heelstrike as hs
from heelstrike.view import plot

PAIRS, SPREAD, RATE = 256, 0.1, 0.03  # of policies; how far they are apart; how far to go
FORCES = (8, 12, 16, 20, 24)  # [N], for 0.1 s, again and again


def worlds(count: int, weakest: float, strongest: float, episode: float) -> hs.Environments:
    pushes = hs.Pushes(force=(weakest, strongest), wait=(0.3, 0.6))
    look = {"observation": lambda s: s.joined("gravity", "twist"), "scale": 0.5}
    return hs.Environments("stand", count, episode=episode, pushes=pushes, **look)


def play(envs: hs.Environments, policy: np.ndarray, seeds: list[int] | int) -> np.ndarray:
    """Reward until the fall, and whether there was none, of one episode in each world."""
    seen, _ = envs.reset(seed=seeds)
    total, stands, over = np.zeros(envs.num_envs), np.ones(envs.num_envs, bool), False
    while not over:  # one policy for all worlds, or one a world
        seen, reward, fell, late, _ = envs.step((seen[:, None] @ policy)[:, 0])
        stands &= ~fell
        total, over = total + np.where(stands, reward, 0), late.any() or not stands.any()
    return np.stack([total, stands])


def main(rounds: int = 100) -> None:
    envs, random, started = worlds(2 * PAIRS, 10, 20, 1.6), np.random.default_rng(0), time.time()
    policy = np.zeros((envs.observation_space.shape[1], envs.action_space.shape[1]))
    for k in range(rounds):
        off = SPREAD * random.standard_normal((PAIRS, *policy.shape))
        seeds = [PAIRS * k + i for i in range(PAIRS)]  # both of a pair are pushed alike
        total = play(envs, np.concatenate([policy + off, policy - off]), 2 * seeds)[0]
        gain = total[:PAIRS] - total[PAIRS:]
        policy += RATE / SPREAD / PAIRS**0.5 * np.tensordot(gain / gain.std(), off, 1)
    print(f"{rounds} rounds of {2 * PAIRS} episodes in {time.time() - started:.0f} s; who stands:")
    print("push [N]", *(f"{force:5}" for force in FORCES))
    figure, (ax,) = plot.figure()
    for name, tried in (("servo", 0 * policy), ("policy", policy)):
        share = [play(worlds(256, f, f, 4.0), tried, 10**6)[1].mean() for f in FORCES]
        print(f"{name:<8}", *(f"{each:5.0%}" for each in share))
        ax.plot(FORCES, 100 * np.array(share), label=name)
    plot.label(ax, "Standing after 4 s of pushes", "push [N]", "worlds [%]")
    plot.save(figure, "balance.png")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
