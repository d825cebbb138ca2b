"""How the frame of the tossed cube lies on it: by quarter turns, which last for some tosses each.

A cube looks the same from each side, and its frame was put onto it anew from recording to
recording. That would not matter if the centre of mass were in the middle; but first impacts show it
`Block.offset` off, along y, z, -y or -z of the files' frame, and the same for some tosses in a row
(ids count them). So poses are turned about x until it lies along y.

A turn is never read off a toss that is judged. MISFITS holds, for every training toss, how far off
simulations of its first impact are under each turn; the turns that explain the tosses before and
after with few changes (Viterbi's algorithm) are taken. So about half of the judged tosses get the
right one. tools/cube_frames.py writes the file.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.validation.measured_set import Floats, Ints

MISFITS = Path(__file__).parent / "fits" / "cube-frames.json"
"""Ids of tosses, and their errors under each turn [deg]."""
TURNS = Rotation.from_euler("x", np.arange(4)[:, None] * np.pi / 2)
"""From the frame in which the centre of mass lies along y to that of the files."""
SPREAD, MOST, CHANGE = 0.5, 6.0, 1.0
"""Misfit that counts as one [deg], the most that a toss counts, and what a change of turn counts:
with these, turns of training tosses are found best from others' alone."""


def known() -> tuple[Ints, Floats]:
    """Return ids (toss,) and misfits (toss, turn) [deg] of the training tosses."""
    made = json.loads(MISFITS.read_text(encoding="utf-8"))
    return np.array(made["ids"]), np.array(made["misfits"])


def turns(ids: Ints, measured: Ints, misfits: Floats) -> Ints:
    """Return the turn of each toss by the misfits of those that were measured.

    Args:
        ids: tosses whose turns are wanted.
        measured: ids of tosses with misfits.
        misfits: (toss, turn) [deg].
    """
    every = np.unique(np.concatenate([ids, measured]))
    cost = np.zeros((len(every), len(TURNS)))
    own = np.minimum((misfits - misfits.min(axis=1, keepdims=True)) / SPREAD, MOST)
    cost[np.searchsorted(every, measured)] = own
    before = np.zeros(cost.shape, dtype=int)
    change = CHANGE * (1 - np.eye(len(TURNS)))
    for k in range(1, len(every)):
        ways = cost[k - 1][:, None] + change
        before[k] = ways.argmin(axis=0)
        cost[k] += ways.min(axis=0)
    found = np.empty(len(every), dtype=int)
    found[-1] = cost[-1].argmin()
    for k in range(len(every) - 1, 0, -1):
        found[k - 1] = before[k, found[k]]
    return np.asarray(found[np.searchsorted(every, ids)])
