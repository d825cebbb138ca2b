"""Writes docs/images/drop.webp, the moving picture of the home page.

    python tools/moving_picture.py

The runs are those of examples/drop.py; each frame is ray traced.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))

import drop  # noqa: E402

from heelstrike.view.render.camera import Camera, fit_camera  # noqa: E402
from heelstrike.view.render.snapshots import take_snapshots  # noqa: E402

FILE = ROOT / "docs" / "images" / "drop.webp"
FRAMES, PERIOD = 36, 50  # frames; time between them [ms], a third of real speed
WIDTH, LABEL, TILE = 210, 22, 0.1  # pixels, pixels, [m]
PAUSE = 1200  # at the end [ms]


def main() -> None:
    rows = [take_snapshots(run, FRAMES, label=name) for name, run in drop.runs().items()]
    points = np.vstack([row.corners(frame) for row in rows for frame in row.frames[::4]])
    view = fit_camera(Camera(), points)
    pictures = []
    for k in range(FRAMES):
        parts = [row.image(row.frames[k], view, WIDTH, TILE) for row in rows]
        shown = np.concatenate(parts, axis=1)
        sheet = Image.new("RGB", (shown.shape[1], shown.shape[0] + LABEL), "white")
        sheet.paste(Image.fromarray((255 * shown).astype(np.uint8)), (0, LABEL))
        for i, row in enumerate(rows):
            text = f"{row.label}   {row.frames[k].time:.2f} s"
            ImageDraw.Draw(sheet).text((WIDTH * i + 12, 5), text, fill="#333333", font_size=13)
        pictures.append(sheet)
    times = [PERIOD] * (FRAMES - 1) + [PAUSE]
    pictures[0].save(
        FILE,
        save_all=True,
        append_images=pictures[1:],
        duration=times,
        loop=0,
        quality=60,
        method=6,
    )
    print(f"wrote {FILE}, {FILE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
