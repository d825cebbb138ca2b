"""A real Cassie lands: rates of its joints in the 40 ms after the touch.

23 landings at 2 kHz (cassie_landing.py). From the state 5 ms before the touch, with the measured
motor torques, four closed loops and four springs, each law predicts the rates of 14 joints. The
published finding to be tested: rigid impacts, all at once, fit worse than soft ones near the impact
[Acosta2022].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.identification.space import Space
from heelstrike.validation.candidates import DEFAULT, candidates
from heelstrike.validation.cassie_landing import (
    AFTER,
    BEFORE,
    JUDGED,
    RATE,
    landing,
    places,
    rates,
    rests,
    robot,
)
from heelstrike.validation.cassie_models import DEPTH, PEER, Lander, MujocoLander
from heelstrike.validation.files import columns
from heelstrike.validation.measured_set import (
    BASELINE,
    MUJOCO,
    Cases,
    Errors,
    Floats,
    Ints,
    Measure,
    MeasuredSet,
    Model,
)
from heelstrike.validation.models import Trajectories

MASS = 4.0
"""Mass for which ranges of stiffness are made [kg]: of four points, with a leg of 12 kg each."""
SOFTER, ROUGH = 10.0, (0.03, 3.0)
"""Softest ground of the search below the cube's; range of mu: rubber on a mat."""
IMPACT = 20
"""Frames after the touch that count as impact."""
GROUPS = {
    "all joints": JUDGED,
    "motors": tuple(name for name in JUDGED if "hip" in name or "knee" in name),
    "springs": tuple(name for name in JUDGED if "shin" in name or "tarsus" in name),
    "toes": tuple(name for name in JUDGED if "foot" in name),
}
SPREAD = 2e-4, 0.05, 1e-3
"""Noise of a start: angles [rad], rates [rad/s], heights of the ground [m]."""


class Cassie(MeasuredSet):
    """The landing Cassie."""

    name, stem = "cassie", "cassie_landing"
    title = "23 real landings of Cassie's jumps, 2 kHz"
    columns = ("ids",)
    measures = tuple(Measure(name, "rad/s", "rms") for name in GROUPS)
    phases = ("before the touch", "impact", "after it")
    laws = DEFAULT
    parts = 3
    start_noise = (
        "0.2 mrad of angles and 0.05 rad/s of rates (scatter about the parabolas), 1 mm of the "
        "ground's height"
    )

    def read(self, path: Path) -> Cases:
        """Return the landings of a file."""
        data = columns(path, self.columns)
        ids = np.atleast_1d(data["ids"]).astype(int)
        made = [landing(path, int(number), data) for number in ids]
        frames = BEFORE + AFTER + 1
        angles = np.full((len(made), frames, len(JUDGED)), np.nan)
        torque = np.zeros((len(made) * frames, robot().nv))
        for k, one in enumerate(made):
            angles[k, : len(one.angles)] = rates(one.angles)
            torque[k * frames : k * frames + len(one.torque)] = one.torque
        given = {
            "q0": np.array([one.q0 for one in made]),
            "v0": np.array([one.v0 for one in made]),
            "touch": np.array([one.touch for one in made]),
            "ground": np.array([one.ground for one in made]),
            "torque": np.broadcast_to(torque, (len(made), *torque.shape)),
            "row": frames * np.arange(len(made)),
        }
        return Cases(path.name, ids, np.arange(frames) / RATE, angles, given)

    def models(self) -> dict[str, Callable[[], Model]]:
        """Return the laws, MuJoCo, and a robot that falls on."""

        def law(name: str) -> Model:
            chosen = candidates(MASS, softer=SOFTER, rough=ROUGH)[name]
            return Lander(Space.of({**chosen.ranges, **DEPTH}), chosen.law)

        found: dict[str, Callable[[], Model]] = {name: partial(law, name) for name in candidates()}
        found[MUJOCO] = lambda: Trajectories(Space.of({**PEER, **DEPTH}), MujocoLander().one)
        found[BASELINE] = lambda: Lander(None, None)
        return found

    def errors(self, cases: Cases, predicted: Floats) -> dict[str, Floats]:
        """Return the RMS error over the joints of each group."""
        with np.errstate(over="ignore"):
            squares = (predicted - cases.measured) ** 2
        return {
            name: np.sqrt(squares[..., [JUDGED.index(one) for one in group]].mean(axis=-1))
            for name, group in GROUPS.items()
        }

    def loss(self, cases: Cases, errors: Errors) -> Floats:
        """Return the RMS error of all joints [rad/s]."""
        return np.asarray(np.sqrt(np.nanmean(errors["all joints"] ** 2, axis=-1)))

    def phase(self, cases: Cases) -> Ints:
        """Return what precedes the touch, the impact, and what follows it."""
        late = np.arange(cases.frames) - np.asarray(cases.given["touch"])[:, None]
        found = np.where(late < 0, 0, np.where(late < IMPACT, 1, 2))
        return np.where(np.isfinite(cases.measured[..., 0]), found, -1)

    def disturbed(self, cases: Cases, random: np.random.Generator) -> Cases:
        """Return the landings with starts disturbed by SPREAD."""
        q0, v0 = cases.given["q0"].copy(), cases.given["v0"].copy()
        own, moving = places(JUDGED), places(JUDGED, velocity=True)
        q0[:, own] += random.normal(0, SPREAD[0], (len(cases), len(own)))
        v0[:, moving] += random.normal(0, SPREAD[1], (len(cases), len(own)))
        ground = cases.given["ground"] + random.normal(0, SPREAD[2], (len(cases), 2))
        return cases.with_given(q0=q0, v0=v0, ground=ground)

    def curves(self, cases: Cases, channels: Floats, case: int) -> dict[str, Floats]:
        """Return rates of the left leg's knee, shin, tarsus and toe."""
        shown = ("left-knee", "left-shin", "left-tarsus", "left-foot")
        return {f"{name} [rad/s]": channels[case, :, JUDGED.index(name)] for name in shown}

    def calibration(self, training: Cases) -> dict[str, Any]:
        """Return the springs' angles at rest, and how far the grounds of the feet are apart."""
        given = training.given
        apart = np.abs(np.diff(given["ground"], axis=1))
        resting = rests(given["q0"], np.asarray(given["torque"])[0, given["row"]])
        return {
            **{f"{name} at rest [mrad]": round(1e3 * x, 1) for name, x in resting.items()},
            "ground below left and right foot, apart by [mm], median": round(
                1e3 * float(np.median(apart)), 1
            ),
        }
