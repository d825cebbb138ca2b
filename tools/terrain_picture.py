"""Draw the tiles of a terrain from above, and where robots begin: docs/images/terrain-tiles.png.

python tools/terrain_picture.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.colors import LightSource

import heelstrike as hs
from heelstrike.view.plot import figure, label, save

TARGET = Path(__file__).parents[1] / "docs" / "images" / "terrain-tiles.png"


def main() -> None:
    terrain = hs.Terrain()
    scene = hs.Scene(hs.load("hoap1", collide="feet"), terrain.surface())
    envs = hs.Environments(scene, 64, terrain=terrain)
    envs.reset(seed=0)
    places = envs.sim.state["q"][:, :2]
    made, (ax,) = figure()
    light = LightSource(azdeg=315, altdeg=35)
    shade = light.hillshade(terrain.heights, vert_exag=3, dx=terrain.cell, dy=terrain.cell)
    half = np.array(terrain.size) / 2
    extent = (-half[1], half[1], -half[0], half[0])
    ax.imshow(shade, origin="lower", extent=extent, cmap="gray", vmin=0, vmax=1)
    ax.plot(*places[:, ::-1].T, "o", ms=2.5, color="tab:blue")
    ax.set_xticks(terrain.origins[0, :, 1], terrain.kinds)
    ax.set_yticks(terrain.origins[:, 0, 0], [str(i + 1) for i in range(terrain.levels)])
    label(ax, "Terrain of 36 tiles", "kind", "level")
    ax.grid(False)
    save(made, TARGET)
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
