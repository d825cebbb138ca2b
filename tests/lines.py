"""A data set that is invented: points on lines of one slope, each times its own speed."""

from __future__ import annotations

from functools import partial

import numpy as np

from heelstrike.identification.space import Space
from heelstrike.validation.files import columns
from heelstrike.validation.measured_set import BASELINE, MUJOCO, Cases, Measure, MeasuredSet
from heelstrike.validation.models import Trajectories

SLOPE, NOISE, FRAMES = 2.0, 0.05, 11


def straight(power, cases, values):
    return cases.given["v0"][:, None, None] * values["slope"] * cases.time[None, :, None] ** power


class Lines(MeasuredSet):
    """Points on lines of one slope, each times its own speed."""

    name, stem, title = "lines", "line", "invented lines"
    columns = ("x", "v0", "ids")
    measures = (Measure("place", "m", aim=0.1), Measure("end", "m"))
    phases = ("early", "late")
    laws = ("line", "parabola")

    def read(self, path):
        data = columns(path, self.columns)
        time = np.linspace(0, 1, FRAMES)
        return Cases(path.name, data["ids"], time, data["x"][..., None], {"v0": data["v0"]})

    def models(self):
        space = Space.of({"slope": (0.2, 20.0)})
        laws = {"line": 1, "parabola": 2, MUJOCO: 3}
        made = {n: partial(Trajectories, space, partial(straight, p)) for n, p in laws.items()}
        still = partial(Trajectories, None, lambda cases, values: 0 * cases.measured)
        return {**made, BASELINE: still}

    def errors(self, cases, predicted):
        off = np.abs(predicted - cases.measured)[..., 0]
        return {"place": off, "end": off[..., -1]}

    def loss(self, cases, errors):
        return np.nanmean(errors["place"], axis=-1)

    def phase(self, cases):
        return np.tile(np.arange(FRAMES) >= FRAMES // 2, (len(cases), 1)).astype(int)

    def disturbed(self, cases, random):
        v0 = cases.given["v0"]
        return cases.with_given(v0=v0 + random.normal(0, NOISE, v0.shape))

    def starts(self, cases):
        return cases.given["v0"][:, None]

    def residuals(self, cases, predicted):
        return {"place": cases.measured - predicted}

    def curves(self, cases, channels, case):
        return {"place [m]": channels[case, :, 0]}


def write(path, ids, seed=0):
    random = np.random.default_rng(seed)
    v0 = random.uniform(1, 2, len(ids))
    x = SLOPE * v0[:, None] * np.linspace(0, 1, FRAMES)
    np.savez(path, x=x + random.normal(0, NOISE, x.shape), v0=v0, ids=np.array(ids))
