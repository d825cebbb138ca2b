"""Comparison with experiment, future work of [Marhefka1996]: real tosses of a cube.

Every law with friction, its parameters found on training tosses (heelstrike validate cube), judged
on 110 others, beside no ground at all. A toss that tips over an edge in one and not in the other is
off by 90 degrees: so medians and quartiles are told. The mean is a matter of the few that tip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.identification.space import Space
from heelstrike.papers.data import left_out
from heelstrike.papers.marhefka1996 import closed_form
from heelstrike.papers.marhefka1996.closed_form import Floats
from heelstrike.papers.report import Result, Row, meets, near
from heelstrike.validation import kept
from heelstrike.validation.candidates import candidates
from heelstrike.validation.cube import HALF, RATE, SUBSTEPS, Cube
from heelstrike.validation.files import TRAINING, data_file
from heelstrike.validation.fit import predict, predict_fitted
from heelstrike.validation.measured_set import Cases
from heelstrike.validation.models import LawModel
from heelstrike.validation.validate import FOLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


OURS, LINEAR, NONE = "hunt-crossley", "linear-both", "no ground"
FILE = Cube.stem + TRAINING
SAME = {"signorini": "rigid"}
"""Laws with the parameters of another one, whose problem they solve; a search takes too long."""
NOMINAL_MU, NOMINAL_E = 0.18, 0.125
"""[Pfrommer2020]"""
TIPPED = 45.0
"""Angle at the end above which a simulated cube lies on another face [deg]."""
MOST, SINCE = 0.75, "time since the start [s]"
"""Share of the tosses that still run at a time that is drawn; the axis."""


def cubes() -> Result:
    """Held-out tosses under every law; nothing where there are no data."""
    path = data_file(FILE)
    if path is None:
        return Result("cubes", "real tosses of a cube", left_out(FILE), ())
    cube = Cube()
    tosses = cube.read(path)
    new = kept.not_trained_on(cube, tosses)
    others = tosses.chosen(new)
    training = tosses.chosen(tosses.ids % cube.parts != FOLD)  # without copies that were held out
    poses = {name: simulate(cube, others, name) for name in candidates()}
    poses[NONE] = predict(LawModel(None, cube.simulator(None)), others, {})[0]
    found = {name: Errors(**cube.errors(others, one)) for name, one in poses.items()}
    rows = [
        *_laws(found),
        *_none(found[NONE], Errors(**cube.errors(others, free(cube, others)))),
        *_further(cube, training, others, found),
        *_neighbours(cube, training),
    ]
    return Result(
        "cubes",
        "real tosses of a cube",
        f"Future work: comparison with experiment. {len(others)} tosses that were not used to find "
        "the parameters.",
        tuple(rows),
        lambda: _draw(others, poses, found),
    )


@dataclass(frozen=True)
class Errors:
    """Errors of a simulation, (toss, frame); NaN after a toss has ended."""

    position: Floats
    """Distance of the centres [% of the width]."""
    rotation: Floats
    """Angle between the two [deg]."""

    @property
    def width(self) -> Floats:
        """Mean over a toss [% of the width]."""
        return np.asarray(np.nanmean(self.position, axis=-1))

    @property
    def degrees(self) -> Floats:
        """Mean over a toss [deg]."""
        return np.asarray(np.nanmean(self.rotation, axis=-1))

    @property
    def e_q(self) -> Floats:
        """mean |dp|^2 / h + mean theta^2 of [Acosta2022], in m and rad, one number a toss."""
        metres, angle = self.position * 2 * HALF / 100, np.radians(self.rotation)
        return np.asarray(np.nanmean(metres**2, axis=-1) / HALF + np.nanmean(angle**2, axis=-1))


def parameters_of(law: str) -> Mapping[str, float]:
    """Return the parameters of a law that were found on the training tosses."""
    return kept.fits(Cube.name)[SAME.get(law, law)].values


def simulate(cube: Cube, tosses: Cases, law: str, substeps: int = SUBSTEPS) -> Floats:
    """Return poses (toss, frame, 7) under a law with the parameters that were found."""
    chosen = candidates()[law]
    model = LawModel(Space.of(chosen.ranges), cube.simulator(chosen.law, substeps))
    return predict_fitted(model, tosses, parameters_of(law))


def free(cube: Cube, tosses: Cases) -> Floats:
    """Return poses (toss, frame, 7) without ground, by hand: a rotation about one axis, and a fall
    of g t (t + dt) / 2, the sum of symplectic steps.
    """
    t = tosses.time[:, None]
    found = np.empty_like(tosses.measured)
    for made, start, v0 in zip(found, tosses.measured[:, 0], tosses.given["v0"], strict=True):
        turned = Rotation.from_quat(start[3:])
        fall = np.array([0, 0, -cube.block.gravity / 2]) * t * (t + 1 / (RATE * SUBSTEPS))
        poses = turned * Rotation.from_rotvec(v0[3:] * t)
        com = cube.block.com
        speed = turned.apply(v0[:3] + np.cross(v0[3:], com))
        made[:, :3] = start[:3] + turned.apply(com) + speed * t + fall - poses.apply(com)
        made[:, 3:] = poses.as_quat()
    return found


def _laws(found: Mapping[str, Errors]) -> list[Row]:
    """Position and rotation of each law, judged against no ground at all."""
    rows, none = [], found[NONE]
    for name, made in found.items():
        if name == NONE:
            continue
        width, angle, e_q = made.width, made.degrees, made.e_q
        low, high = (np.percentile(x, [25, 75]) for x in (width, angle))
        remark = (
            f"Median of the tosses; quartiles {low[0]:.1f} to {low[1]:.1f} % and "
            f"{high[0]:.1f} to {high[1]:.1f} deg, "
            f"means {width.mean():.1f} % and {angle.mean():.1f} deg; "
            f"e_q {np.median(e_q):.3f}, mean {e_q.mean():.3f}."
        )
        place, turn = np.median(none.width) / 10, np.median(none.degrees) / 3
        rows += [
            meets(f"position, {name} [% of width]", np.median(width), most=place, remark=remark),
            meets(f"rotation, {name} [deg]", np.median(angle), most=turn, remark=remark),
        ]
    return rows


def _none(made: Errors, exact: Errors) -> list[Row]:
    """No ground at all, beside free flight by hand."""
    position, rotation = (float(np.median(x)) for x in (exact.width, exact.degrees))
    remark = "What the laws are judged against. Closed form: a sum of steps, one steady rotation."
    return [
        near(f"position, {NONE} [% of width]", np.median(made.width), position, 1e-6, None, remark),
        near(f"rotation, {NONE} [deg]", np.median(made.degrees), rotation, 1e-6, None, remark),
    ]


def _further(cube: Cube, training: Cases, others: Cases, found: Mapping[str, Errors]) -> list[Row]:
    """Check held-out tosses, other laws and a finer step."""
    own, numbers = found[OURS], parameters_of(OURS)
    width = np.median(own.width)
    best = min(np.median(made.width) for name, made in found.items() if name != OURS)
    trained = np.median(Errors(**cube.errors(training, simulate(cube, training, OURS))).width)
    fine = simulate(cube, others, OURS, 4 * SUBSTEPS)
    finer = np.median(Errors(**cube.errors(others, fine)).width)
    ends = [row[np.isfinite(row)][-1] for row in own.rotation]
    tipped = 100 * np.mean(np.array(ends) > TIPPED)
    mu = [
        value for law in candidates() for path, value in parameters_of(law).items() if ".mu" in path
    ]
    e = closed_form.restitution(numbers["ground.normal.alpha"], 1.0)
    return [
        near(
            "position, hunt-crossley over the best",
            width / best,
            1.0,
            0.15,
            remark="Of the other laws: these tosses hardly tell the laws apart.",
        ),
        near("position, held out over trained on", width / trained, 1.0, 0.2),
        near("position, a quarter of the step over it", finer / width, 1.0, 0.05),
        meets("end on another face [%]", float(tipped), most=25),
        near(
            "mu found, median of all laws",
            float(np.median(mu)),
            NOMINAL_MU,
            0.01,
            remark=f"Nominal, [Pfrommer2020]; {min(mu):.3f} to {max(mu):.3f}.",
        ),
        meets(
            "e at 1 m/s of alpha found",
            float(e),
            most=2 * NOMINAL_E,
            remark=f"A nearly dead impact; nominal {NOMINAL_E:g}, [Pfrommer2020].",
        ),
    ]


def _neighbours(cube: Cube, training: Cases) -> list[Row]:
    """Return the loss with one parameter halved or doubled, over that of the set found."""
    chosen, numbers = candidates()[OURS], parameters_of(OURS)
    paths = list(numbers)
    table = np.tile(list(numbers.values()), (1 + 2 * len(paths), 1))
    for i in range(len(paths)):
        table[1 + 2 * i : 3 + 2 * i, i] *= (0.5, 2.0)
    model = LawModel(Space.of(chosen.ranges), cube.simulator(chosen.law))
    poses = predict(model, training, dict(zip(paths, table.T, strict=True)))
    score = cube.loss(training, cube.errors(training, poses)).mean(axis=1)
    rows = []
    for i, path in enumerate(paths):
        ratio = float(score[1 + 2 * i : 3 + 2 * i].min() / score[0])
        quantity = f"loss, {path.split('.')[-1]} halved or doubled"
        remark = "Mean over the training tosses, the lesser, over that of the set found."
        rows.append(meets(quantity, ratio, least=1, remark=remark))
    return rows


def _draw(tosses: Cases, poses: Mapping[str, Floats], found: Mapping[str, Errors]) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(3, 2, size=(9.6, 8.6))
    t = tosses.time
    colours = dict(zip((OURS, LINEAR), plot.COLOURS, strict=False)) | {NONE: plot.GREY}
    use = np.isfinite(tosses.measured[..., 0]).mean(axis=0) >= MOST
    for name, colour in colours.items():
        made = found[name]
        for ax, values in (
            (axes[0], 20 * HALF * made.position[:, use]),
            (axes[1], made.rotation[:, use]),
        ):
            low, middle, high = np.nanpercentile(values, [25, 50, 75], axis=0)
            ax.plot(t[use], middle, color=colour, label=name)
            if name == OURS:
                ax.fill_between(t[use], low, high, color=colour, alpha=0.2, label="its quartiles")
            ax.set_ylim(0, 60)
    plot.label(axes[0], f"Position, {len(tosses)} tosses: median error", SINCE, "distance [mm]")
    plot.label(axes[1], "Rotation: median error", SINCE, "angle [deg]")
    order = np.argsort(found[OURS].e_q)
    for k, (rank, title) in enumerate(
        ((0.25, "A toss at the lower quartile"), (0.5, "The median"))
    ):
        one = int(order[int(rank * len(order))])
        drawn = {name: poses[name][one] for name in (OURS, LINEAR)}
        _draw_one(axes[2 + 2 * k], axes[3 + 2 * k], tosses, one, drawn)
        plot.label(axes[2 + 2 * k], f"{title}: its centre", SINCE, "height [mm]")
        plot.label(axes[3 + 2 * k], "Tilt of the face it rests on", SINCE, "angle [deg]")
    return figure


def _draw_one(
    height: Axes, tilt: Axes, tosses: Cases, one: int, poses: Mapping[str, Floats]
) -> None:
    """Measured and simulated height, and the tilt of the face that it comes to rest on."""
    from heelstrike.view import plot

    measured = tosses.measured[one]
    seen = np.isfinite(measured[:, 0])
    t = np.flatnonzero(seen) / RATE
    end = _up(measured[seen])[-1]
    face = np.rint(end / np.abs(end).max())
    for k, (name, pose) in enumerate((("measured", measured), *poses.items())):
        look = plot.dots(0) | {"color": plot.INK} if k == 0 else plot.line(k - 1)
        angle = np.degrees(np.arccos(np.clip(_up(pose[seen]) @ face, -1, 1)))
        for ax, values in ((height, 1e3 * pose[seen, 2]), (tilt, angle)):
            ax.plot(t, values, markersize=2.5, label=name, **look)


def _up(poses: Floats) -> Floats:
    """Return the vertical in the cube's frame."""
    return np.asarray(Rotation.from_quat(poses[:, 3:]).inv().apply([0, 0, 1]))
