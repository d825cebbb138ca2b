"""Films in GIF, by Pillow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

COLOURS = 128
"""Number of colours of a film."""
SHORTEST = 20
"""Shortest time of a frame that browsers show as it is [ms]."""


def gif(pictures: Sequence[Image], fps: float) -> bytes:
    """Return pictures of one size as a film that repeats.

    All have the colours of some of them, so that they do not flicker. A frame lasts whole
    hundredths of a second.
    """
    from PIL import Image

    some = pictures[:: max(1, len(pictures) // 8)]
    wide, high = some[0].size
    joined = Image.new("RGB", (wide, high * len(some)))
    for k, picture in enumerate(some):
        joined.paste(picture, (0, k * high))
    palette = joined.quantize(COLOURS, dither=Image.Dither.NONE)
    first, *others = (x.quantize(palette=palette, dither=Image.Dither.NONE) for x in pictures)
    written = io.BytesIO()
    duration = max(SHORTEST, round(100 / fps) * 10)
    first.save(written, "GIF", save_all=True, append_images=others, duration=duration, loop=0)
    return written.getvalue()
