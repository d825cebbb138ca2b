"""Terrain of many tiles: kinds of ground side by side, harder from row to row, from one seed.

Tiles form one height field, rows (levels) along x and columns (kinds) along y. Each begins and ends
at height 0: a flat platform in its middle, where robots start, and a flat border. Between them,
with the distance r = max(|x|, |y|) from the middle and the difficulty d of the row, from 0 to 1,

    rise   = min(r - r_platform, r_border - r), at least 0        goes up, then down again
    slope  h = d slope rise
    stairs h = d height floor(rise / tread + 1/2)
    rough  h = d height u(x, y)          u uniform in [0, 1) at points one grain apart, bilinear
    stones h = -depth between stones that are d gap apart, and up to d height / 2 higher or lower
    gaps   h = -depth in square rings that are d gap wide

A height field has one height for each place, so risers and walls are as wide as a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from heelstrike.checks import count, names, number
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import ParameterError, UnknownNameError
from heelstrike.scene.surfaces.height_field import HeightField

KINDS = ("flat", "slope", "stairs", "rough", "stones", "gaps")
"""Kinds of ground."""
MAX_PLACES = 5e7
"""Largest number of cells, grains or stones, which would take 400 MB."""


@dataclass(frozen=True)
class Terrain:
    """A grid of tiles of ground for many robots, from a seed.

    Examples:
        >>> terrain = hs.Terrain(("flat", "rough", "stairs"), levels=5, height=0.01)
        >>> scene = hs.Scene(hs.load("hoap1", collide="feet"), terrain.surface())
        >>> envs = hs.Environments(scene, 64, terrain=terrain)
    """

    kinds: Sequence[str] = KINDS
    """Kinds of ground, one column each; a kind may occur several times."""
    levels: int = 6
    """Number of rows, from the easiest to the hardest."""
    height: float = 0.02
    """Height of steps, of roughness and of stones in the hardest row [m]."""
    slope: float = 0.3
    """Slope of the hardest row [-]."""
    gap: float = 0.06
    """Width of gaps in the hardest row [m]."""
    tile: float = 2.0
    """Length of a tile's side [m]."""
    platform: float = 0.4
    """Length of the side of the flat middle of a tile [m]."""
    tread: float = 0.16
    """Depth of a stair, and size of a stone with its gap [m]."""
    grain: float = 0.08
    """Distance of the points of rough ground [m]."""
    depth: float = 0.1
    """Depth of gaps [m]."""
    cell: float = 0.02
    """Length of a cell of the height field [m]."""
    seed: int = 0
    """Seed of rough ground and stones."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", names("kinds", self.kinds))
        for kind in self.kinds:
            if kind not in KINDS:
                raise UnknownNameError("kind", kind, KINDS, path="kinds", owner="Terrain")
        count("levels", self.levels, most=100)
        for name in ("height", "slope", "gap", "depth"):
            number(name, getattr(self, name), "numbers of at least 0", least=0.0)
        for name in ("tile", "platform", "tread", "grain", "cell"):
            number(name, getattr(self, name), "lengths above 0 m", above=0.0)
        count("seed", self.seed, least=0)
        if not (self.kinds and self.platform + 4 * self.cell < self.tile):
            raise ParameterError("tile", self.tile, "tiles larger than their platform [m]")
        finest = min("cell", "grain", "tread", key=lambda name: getattr(self, name))
        most = (MAX_PLACES / self.levels / len(self.kinds)) ** 0.5
        if self.tile / getattr(self, finest) > most:
            allowed = f"a length with at most {MAX_PLACES:g} places of the whole ground"
            raise ParameterError(finest, getattr(self, finest), allowed)

    @property
    def origins(self) -> np.ndarray:
        """Middle of each tile [m], (levels, kinds, 3)."""
        found = np.zeros((self.levels, len(self.kinds), 3))
        found[..., 0] = self.tile * (np.arange(self.levels) - (self.levels - 1) / 2)[:, None]
        found[..., 1] = self.tile * (np.arange(len(self.kinds)) - (len(self.kinds) - 1) / 2)
        return found

    @property
    def size(self) -> tuple[float, float]:
        """Lengths of the whole ground along x and y [m]."""
        return self.tile * self.levels, self.tile * len(self.kinds)

    @cached_property
    def heights(self) -> np.ndarray:
        """Heights of the whole ground [m], rows along x and columns along y."""
        cells = round(self.tile / self.cell)
        found = np.zeros((cells * self.levels + 1, cells * len(self.kinds) + 1))
        along = self.tile * (np.arange(cells + 1) / cells - 0.5)
        x, y = np.meshgrid(along, along, indexing="ij")
        make: dict[str, Callable[..., np.ndarray]] = {
            "flat": lambda x, y, d, rng: 0 * x,
            "slope": self._slope,
            "stairs": self._stairs,
            "rough": self._rough,
            "stones": self._stones,
            "gaps": self._gaps,
        }
        for row in range(self.levels):
            difficulty = (row + 1) / self.levels
            for column, kind in enumerate(self.kinds):
                rng = np.random.default_rng([self.seed, row, column])
                own = make[kind](x, y, difficulty, rng) * (self._rise(x, y) > 0)
                first, second = cells * row, cells * column
                found[first : first + cells + 1, second : second + cells + 1] = own
        return found

    def surface(self, law: SurfaceLaw | None = None, name: str = "ground") -> HeightField:
        """Return the ground as a surface; by default with the default law of a plane."""
        ground = HeightField(name=name, heights=self.heights, size=self.size)
        return ground if law is None else replace(ground, law=law)

    def _rise(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        r = np.maximum(np.abs(x), np.abs(y))
        rise = np.minimum(r - self.platform / 2, self.tile / 2 - 2 * self.cell - r)
        return np.clip(rise, 0, None)

    def _slope(self, x: np.ndarray, y: np.ndarray, d: float, rng: object) -> np.ndarray:
        return d * self.slope * self._rise(x, y)

    def _stairs(self, x: np.ndarray, y: np.ndarray, d: float, rng: object) -> np.ndarray:
        return d * self.height * np.floor(self._rise(x, y) / self.tread + 0.5)

    def _rough(
        self, x: np.ndarray, y: np.ndarray, d: float, rng: np.random.Generator
    ) -> np.ndarray:
        n = int(np.ceil(self.tile / self.grain)) + 2
        coarse = rng.random((n, n))
        u, v = ((a + self.tile / 2) / self.grain for a in (x, y))
        i, j = u.astype(int), v.astype(int)
        a, b = u - i, v - j
        low = (1 - b) * coarse[i, j] + b * coarse[i, j + 1]
        high = (1 - b) * coarse[i + 1, j] + b * coarse[i + 1, j + 1]
        return d * self.height * ((1 - a) * low + a * high)

    def _stones(
        self, x: np.ndarray, y: np.ndarray, d: float, rng: np.random.Generator
    ) -> np.ndarray:
        n = int(np.ceil(self.tile / self.tread)) + 1
        tops = d * self.height * (rng.random((n, n)) - 0.5)
        u, v = ((a + self.tile / 2) / self.tread for a in (x, y))
        i, j = u.astype(int), v.astype(int)
        edge = d * self.gap / 2 / self.tread
        inside = [np.minimum(a - k, 1 - (a - k)) >= edge for a, k in ((u, i), (v, j))]
        return np.where(inside[0] & inside[1], tops[i, j], -self.depth)

    def _gaps(self, x: np.ndarray, y: np.ndarray, d: float, rng: object) -> np.ndarray:
        part = np.mod(self._rise(x, y), 2 * self.tread)
        return np.where(np.abs(part - self.tread) < d * self.gap / 2, -self.depth, 0.0)
