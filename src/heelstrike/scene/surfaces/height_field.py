"""Height field: ground whose height is given on a grid.

    h(x, y)  bilinear between the grid's heights
    nu       = (-h_x, -h_y, 1) / |.|
    d        = (h - z) nu_z + r           for a sphere of radius r about the place

d is the distance to the tangent plane of the ground below the place: exact on flat parts, and
accurate to first order where r and the depth are small against the cells. Value and slopes come
from a table that the compiled step reads at run time; its code depends on the grid's size only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Self

import casadi as ca
import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.ir.table import Table
from heelstrike.npz import read_arrays
from heelstrike.parameters import (
    check_choice,
    check_numbers,
    static,
    structure_of_fields,
)
from heelstrike.scene.surfaces.base import Surface, ends_at
from heelstrike.spatial.vector import SX, cross


@dataclass(frozen=True)
class HeightTable:
    """Heights in a compiled step."""

    table: Table
    bounds: SX
    """`HeightField.bounds`."""


CLOSE = 1e-7
"""Height above the ground at which a ray has arrived [m]."""
MAX_ROUNDS = 200
"""Largest number of advances of a ray."""
Heights = Sequence[Sequence[float]] | np.ndarray | str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class HeightField(Surface):
    """Uneven ground from a grid of heights; `point` is the middle of the grid at height 0.

    Args:
        law: contact law, such as hs.Elastic(...) or hs.Rigid(...).
        name: name of the surface; paths of its parameters begin with it: "ground.normal.k".
        point: position of the shape's reference point [m].
        velocity: velocity of the material, as of a conveyor belt [m/s]; the shape does not
            move.
        body: body that the surface rides on; None: it is fixed in the world.
        touches: bodies whose contact points may touch it; "world" for points fixed in the
            world. None: all but its own body and those that a joint connects to that body.
        heights: heights, rows along x and columns along y; or a .png file, x to the right and y
            up, black 0 and white 1; or a .npy file.
        size: full lengths along x and y, from the first height to the last [m].
        scale: height per unit of `heights` [m].
        outside: beyond the edges: "hold" continues the height of the edge, "none" has no
            ground.

    Examples:
        >>> bumps = 0.01 * np.random.default_rng(0).random((20, 20))
        >>> ground = hs.HeightField(hs.Rigid(), name="ground", heights=bumps, size=(2.0, 2.0))
    """

    heights: Heights | HeightTable = ((0.0, 0.0), (0.0, 0.0))
    size: Sequence[float] = (1.0, 1.0)
    scale: float = 1.0
    outside: str = static("hold")

    parameter_names: ClassVar[tuple[str, ...]] = ("point", "velocity", "size", "scale")
    has_ridges: ClassVar[bool] = True
    by_number: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.heights, HeightTable):
            grid = self.table  # raises for anything but a grid
            if not isinstance(self.heights, str | os.PathLike):
                object.__setattr__(self, "heights", grid)
        super().__post_init__()
        check_numbers(self, size=(1e-6, 1e6), scale=(-1e6, 1e6))
        self._check_size(2, "size")
        check_choice(self, outside=("hold", "none"))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of heights along x and along y."""
        if isinstance(self.heights, HeightTable):
            return self.heights.table.port.shape  # type: ignore[return-value]
        return self.table.shape  # type: ignore[return-value]

    def tables(self) -> dict[str, np.ndarray]:
        return {"heights": self.table, "bounds": np.array([self.bounds, self.bounds])}

    def from_tables(self, tables: Mapping[str, Table]) -> Self:
        bounds, _ = tables["bounds"].at(SX(0))
        return replace(self, heights=HeightTable(tables["heights"], bounds))

    def structure(self) -> object:
        """Return what decides the compiled code: the size of the grid, not its heights."""
        return structure_of_fields(self, heights=list(self.shape))

    def tangents_vary(self, radius: float, part: int = 0) -> bool:
        return True

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        offset, size = place - SX(self.point), SX(self.size)
        per = (SX(self.shape) - 1) / size  # cells per metre
        u = offset[:2] * per + (SX(self.shape) - 1) / 2
        value, slopes = self._at(u[0], u[1])
        rise = self.scale * slopes * per
        nu_z = 1 / ca.sqrt(1 + ca.dot(rise, rise))
        nu = ca.vertcat(-rise * nu_z, nu_z)
        depth = (self.scale * value - offset[2]) * nu_z + radius
        if self.outside == "none":
            depth = ends_at(depth, ca.vertsplit(size / 2 - ca.fabs(offset[:2])))
        by_x, by_y = ca.vertsplit(rise)
        flat = ca.sqrt(1 + by_y * by_y)
        first = nu_z * ca.vertcat(flat, -by_x * by_y / flat, by_x / flat)  # x less its normal part
        return depth, ca.horzcat(first, cross(nu, first), nu).T

    def gap(self, place: SX, radius: float = 0.0) -> SX:
        offset, size = place - SX(self.point), SX(self.size)
        known = self.heights.bounds if isinstance(self.heights, HeightTable) else SX(self.bounds)
        above = offset[2] - ca.mmax(self.scale * known[:2])
        if radius:  # which is within d of tangent planes, not of the ground itself
            rise = self.scale * known[2:] * (SX(self.shape) - 1) / size
            above = above / ca.sqrt(1 + ca.dot(rise, rise))
        if self.outside == "hold":
            return above
        return ca.mmax(ca.vertcat(above, ca.fabs(offset[:2]) - size / 2))

    def rays(self, p: Program, origins: SX, directions: SX, reach: float) -> SX:
        """Return the distances along rays, columns of (3, n), to the ground [m]; outside blocks.

        All advance together, each by what the largest slopes allow, until none is above the ground
        by more than CLOSE within its reach.
        """
        assert isinstance(self.heights, HeightTable)
        per = (SX(self.shape) - 1) / SX(self.size)
        rises = ca.fabs(SX(self.scale)) * self.heights.bounds[2:] * per
        with p.block("slopes of a field"):
            falls = ca.mtimes(rises.T, ca.fabs(directions[:2, :])) - directions[2, :]
            rates = p.let("rate", falls.T)
        with repeated(p, "rays on a field", limit=MAX_ROUNDS) as loop:
            t = loop.carry("t", SX.zeros(rates.numel()))
            heights = []
            for k in range(rates.numel()):
                with p.block("ray on a field", member=k):
                    place = p.let("place", origins[:, k] + t[k] * directions[:, k])
                heights.append(self._above(place))
            with p.block("rays on a field"):
                above = p.let("above", ca.vertcat(*heights))
                rising, close = rates <= 0, above < CLOSE
                new = t + ca.fmax(above, 0) / ca.if_else(rising, 1, rates)
                new = ca.if_else(ca.logic_and(rising, above > 0), reach, new)
                new = p.let("t", ca.fmin(new, reach))
                loop.next(t, new)
                loop.until(ca.mmin(ca.fmax(close, new >= reach)) > 0)
        return t

    def _above(self, place: SX) -> SX:
        """Return the height of a place above the ground [m]; outside blocks."""
        offset, size = place - SX(self.point), SX(self.size)
        u = offset[:2] * (SX(self.shape) - 1) / size + (SX(self.shape) - 1) / 2
        height = offset[2] - self.scale * self._at(u[0], u[1])[0]
        if self.outside == "hold":
            return height
        return ca.fmax(height, ca.mmax(ca.fabs(offset[:2]) - size / 2))

    @property
    def bounds(self) -> np.ndarray:
        """The highest and the lowest height, and the largest steps along x and y, (4,)."""
        grid = self.table
        steps = [np.abs(np.diff(grid, axis=axis)).max() for axis in (0, 1)]
        return np.array([grid.max(), grid.min(), *steps])

    def _at(self, u: SX, v: SX) -> tuple[SX, SX]:
        """Return the height and its slopes at a row and a column, both fractional."""
        if isinstance(self.heights, HeightTable):
            return self.heights.table.at2(u, v)
        grid = self.table
        cells, parts, inside = [], [], []
        for x, count in zip((float(u), float(v)), grid.shape, strict=True):
            held = min(max(x, 0.0), count - 1.0)
            cells.append(min(int(held), count - 2))
            parts.append(held - cells[-1])
            inside.append(0 <= x <= count - 1)
        (i, j), (a, b) = cells, parts
        corners = grid[i : i + 2, j : j + 2]
        along, across = np.array([1 - a, a]), np.array([1 - b, b])
        rises = [inside[0] * (np.diff(corners, axis=0)[0] @ across)]
        rises.append(inside[1] * (along @ np.diff(corners, axis=1)[:, 0]))
        return SX(along @ corners @ across), SX(rises)

    @property
    def table(self) -> np.ndarray:
        """Heights as an array, (along x, along y)."""
        given = self.heights
        if isinstance(given, str | os.PathLike):
            path = Path(given).expanduser()
            grid = _read(path, path.stat().st_mtime_ns if os.path.isfile(path) else 0)
        else:
            try:
                grid = np.asarray(given, dtype=float)
            except (TypeError, ValueError, OverflowError):
                grid = np.zeros(0)
        if grid.ndim != 2 or min(grid.shape) < 2 or not np.isfinite(grid).all():
            raise self._invalid("heights", "finite numbers in at least two rows and two columns")
        return grid


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> np.ndarray:
    """Read heights from a file; `changed` is its time of modification [ns]."""
    if not os.path.isfile(path):
        raise HeelstrikeError(
            f"{path}: no such file",
            path="heights",
            value=path,
            remedy="pass an array, or a path to a .png or .npy file",
        )
    try:
        if path.suffix.lower() == ".npy":
            return np.asarray(read_arrays(path)[""], dtype=float)
        if path.suffix.lower() == ".png":
            from matplotlib.image import imread

            pixels = np.asarray(imread(path), dtype=float)
            if pixels.ndim == 3:  # without an alpha channel
                pixels = pixels[..., : 3 if pixels.shape[-1] > 2 else 1].mean(axis=-1)
            return pixels[::-1].T
    except Exception as error:  # each reader has its own
        raise HeelstrikeError(
            f"{path}: cannot read heights ({error})", path="heights", value=path
        ) from error
    raise HeelstrikeError(
        f"{path}: this file type holds no heights",
        path="heights",
        value=path,
        allowed=".png or .npy",
        remedy="sample the heights of a mesh over x and y into an array, and pass that",
    )
