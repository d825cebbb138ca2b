"""Pictures and films of a page, drawn by the browser that asks for them, for download."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    from viser import ClientHandle

HEIGHT, FILM_HEIGHT = 1080, 400
"""Height of a picture and of a film [pixels]."""
RATE = 10
"""Frames of a film per second."""
PATIENCE = 20.0
"""Longest time to wait for the browser to draw a picture [s]."""
COLOURS = 128
"""Number of colours of a film."""


def send_picture(client: ClientHandle, name: str) -> None:
    """Have a browser draw its view, and download it as NAME.png."""
    written = io.BytesIO()
    draw(client, HEIGHT).save(written, "PNG")
    client.send_file_download(f"{name}.png", written.getvalue(), save_immediately=True)


def send_film(client: ClientHandle, name: str, frames: Iterable[None]) -> None:
    """Have a browser draw its view at each frame, and download them as NAME.gif.

    Args:
        frames: Shows one frame after the other as it is iterated.
    """
    pictures = [draw(client, FILM_HEIGHT) for _ in frames]
    client.send_file_download(f"{name}.gif", gif(pictures), save_immediately=True)


def draw(client: ClientHandle, height: int) -> Image.Image:
    """Return the view of a page at its own aspect, on white."""
    aspect = float(np.clip(client.camera.aspect, 0.3, 3.0))
    try:
        drawn = client.get_render(height, round(height * aspect), timeout=PATIENCE)
    except Exception as error:  # viser raises errors of several kinds when a page is closed
        raise HeelstrikeError(f"the browser drew no picture: {error}") from error
    return Image.fromarray(drawn[..., :3])


def gif(pictures: Sequence[Image.Image]) -> bytes:
    """Return pictures of one size as a film in GIF that repeats.

    All have the colours of some of them, so that they do not flicker.
    """
    some = pictures[:: max(1, len(pictures) // 8)]
    wide, high = some[0].size
    joined = Image.new("RGB", (wide, high * len(some)))
    for k, picture in enumerate(some):
        joined.paste(picture, (0, k * high))
    palette = joined.quantize(COLOURS, dither=Image.Dither.NONE)
    first, *others = (x.quantize(palette=palette, dither=Image.Dither.NONE) for x in pictures)
    written = io.BytesIO()
    duration = round(1000 / RATE / 10) * 10  # GIF counts hundredths of a second
    first.save(written, "GIF", save_all=True, append_images=others, duration=duration, loop=0)
    return written.getvalue()
