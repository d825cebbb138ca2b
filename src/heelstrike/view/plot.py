"""The style of every figure: colours that colour-blind readers can distinguish, dashes that differ
in black and white, a light grid, no frame, units in the labels.

    figure, (left, right) = plot.figure(1, 2)
    left.plot(t, height, label="ball"); plot.label(left, "Height", "time [s]", "height [m]")
    plot.save(figure, "drop.png")
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.files import whole_file

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#7a4b1f",
    "#4d4d4d",
)
"""Colours in order of use: those of Okabe and Ito, yellow and black replaced by brown and grey."""
DASHES: tuple[str | tuple[float, tuple[float, ...]], ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (2.5, 1.2)),
    (0, (8, 1.5, 1.2, 1.5, 1.2, 1.5)),
    (0, (5, 1.2, 5, 4)),
    (0, (1, 2.5)),
)
"""Dashes that go with the colours, so that lines differ in black and white, too."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Markers that go with the colours."""
GREY = "#9a9a9a"
"""Colour of context."""
INK = "#333333"
"""Colour of text."""
PANEL = (4.6, 2.9)
"""Width and height of a panel [inch]."""
DPI = 150
MAX_LEGEND = 4
"""Largest number of legend entries inside the axes; longer legends stand beside them."""


def figure(
    rows: int = 1,
    columns: int = 1,
    size: tuple[float, float] | None = None,
    window: bool = False,
) -> tuple[Figure, np.ndarray]:
    """Return a figure and its axes in reading order.

    Args:
        size: Width and height of the figure [inch].
        window: Whether pyplot knows the figure, so that `plt.show()` shows it; otherwise no
            display is used.
    """
    size = size or (PANEL[0] * columns, PANEL[1] * rows)
    drawn = _new(size, window)
    axes = drawn.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        style(ax)
    return drawn, axes


def line(k: int) -> dict[str, Any]:
    """Return colour and dashes of the k-th line as keywords, for lines drawn out of order."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)]}


def dots(k: int) -> dict[str, Any]:
    """Return colour and marker of the k-th set of dots as keywords."""
    return {"color": COLOURS[k % 8], "marker": MARKS[k % 8], "linestyle": "none"}


def style(ax: Axes) -> None:
    """Apply the style to axes; `figure` does so for its own."""
    from cycler import cycler

    thin_first = cycler(linewidth=[1.2, 2.4])
    ax.set_prop_cycle(thin_first * (cycler(color=COLOURS) + cycler(linestyle=DASHES)))
    ax.grid(True, color="#e3e3e3", linewidth=0.7)
    ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GREY)
    ax.tick_params(which="both", labelsize=8, color=GREY, labelcolor=INK)
    ax.ticklabel_format(axis="both", style="sci", scilimits=(-3, 5), useMathText=True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_offset_text().set_fontsize(8)


def label(ax: Axes, title: str = "", x: str = "", y: str = "") -> None:
    """Set title and axis labels, and add a legend if any artist has a label."""
    ax.set_title(title, loc="left", fontsize=10, fontweight="bold", color=INK)
    ax.set_xlabel(x, fontsize=9, color=INK)
    ax.set_ylabel(y, fontsize=9, color=INK)
    handles, _ = ax.get_legend_handles_labels()
    if len(handles) > MAX_LEGEND:
        ax.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.02))
    elif handles:
        ax.legend(fontsize=7, frameon=True, framealpha=0.85, edgecolor="none")


def legend_below(drawn: Figure, ax: Axes) -> None:
    """Show the labels of one of the axes below the figure, and no legend in any of the axes."""
    handles, labels = ax.get_legend_handles_labels()
    for one in drawn.axes:
        if (own := one.get_legend()) is not None:
            own.remove()
    drawn.legend(handles, labels, fontsize=8, frameon=False, loc="outside lower center", ncols=5)


def widen(ax: Axes, span: float) -> None:
    """Have the vertical axis span at least so much, so that rounding at rest looks like rest."""
    low, high = ax.get_ylim()
    if high - low < span:
        middle = (low + high) / 2
        ax.set_ylim(middle - span / 2, middle + span / 2)


def unit(written: str) -> str:
    """Return a unit as people write it: m s-1 becomes m/s."""
    return written.replace(" s-1", "/s").replace(" s-2", "/s\u00b2")


def of_world(data: xr.Dataset, world: int) -> xr.Dataset:
    """Return one world of a recording, with its own time as `time`."""
    worlds = data.sizes["world"]
    whole = isinstance(world, int | np.integer) and not isinstance(world, bool)
    if not whole or not -worlds <= world < worlds:
        raise ParameterError("world", world, f"0 to {worlds - 1}")
    shown = data.isel(world=world)
    if "world_time" in shown.coords:
        shown = shown.assign_coords(time=shown["world_time"].values)
    return shown


def save(drawn: Figure, path: str | os.PathLike[str], few_colours: bool = False) -> Path:
    """Write a figure, completely or not at all, and return its path.

    The extension of the name decides the format. With `few_colours` a .png has 256 colours and
    less than half the size; use it for shaded pictures.
    """
    extension = check_format(path)
    with whole_file(path) as part:
        drawn.savefig(part, dpi=DPI, format=extension)
        if few_colours and extension == "png":
            _reduce_colours(part)
    return Path(path)


def round_down(value: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten up to a positive value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(step for step in (1, 2, 5) if step * power <= value * (1 + 1e-9)))


def _reduce_colours(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as picture:  # kmeans keeps colours of few pixels, such as arrows
        few = picture.convert("RGB").quantize(256, kmeans=2, dither=Image.Dither.NONE)
    few.save(path, format="PNG", optimize=True)


def check_format(path: str | os.PathLike[str]) -> str:
    """Return the extension of a picture's name; raise if matplotlib has no such format."""
    from matplotlib.backend_bases import FigureCanvasBase

    extension, known = Path(path).suffix[1:].lower(), FigureCanvasBase.get_supported_filetypes()
    if extension not in known:
        raise HeelstrikeError(
            f"cannot write '{path}': unknown picture format '{extension}'",
            allowed=f"extensions {', '.join(sorted(known))}",
        )
    return extension


def _new(size: tuple[float, float], window: bool) -> Figure:
    if window:
        import matplotlib
        import matplotlib.pyplot as plt

        # a notebook shows the figure that a cell returns; if pyplot knew it, it would show twice
        if "inline" not in matplotlib.get_backend():
            return plt.figure(figsize=size, layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")
