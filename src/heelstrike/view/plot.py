"""The house style of every figure: colours that the colour-blind can tell apart, dashes that remain
without colours, a light grid, no box, units in the labels.

    figure, (left, right) = plot.figure(1, 2)
    left.plot(t, height, label="ball"); plot.label(left, "Height", "time [s]", "height [m]")
    plot.save(figure, "drop.png")
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import HeelstrikeError
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
"""In order of use: Okabe and Ito's, yellow and black replaced by brown and grey."""
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (2.5, 1.2)),
    (0, (8, 1.5, 1.2, 1.5, 1.2, 1.5)),
    (0, (5, 1.2, 5, 4)),
    (0, (1, 2.5)),
)
"""With the colours: lines differ in black and white, too."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Of dots, for the same reason."""
GREY = "#9a9a9a"
"""Of what is only context."""
INK = "#333333"
PANEL = (4.6, 2.9)
"""Width and height of a panel [inch]."""
DPI = 150
BESIDE = 4
"""Most entries of a legend inside its axes."""


def figure(
    rows: int = 1,
    columns: int = 1,
    size: tuple[float, float] | None = None,
    window: bool = False,
) -> tuple[Figure, np.ndarray]:
    """A figure and its axes, one after another in reading order; size in inches, of the whole.

    `window=True` makes it known to pyplot, so that `plt.show()` shows it; else no display is used.
    """
    size = size or (PANEL[0] * columns, PANEL[1] * rows)
    drawn = _new(size, window)
    axes = drawn.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        style(ax)
    return drawn, axes


def line(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th line, for those that do not come in their order."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)]}


def dots(k: int) -> dict[str, Any]:
    """Colour and mark of the k-th set of dots."""
    return {"color": COLOURS[k % 8], "marker": MARKS[k % 8], "linestyle": "none"}


def style(ax: Axes) -> None:
    """Gives axes the house style; `figure` has done so for its own."""
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
    """Title and axis labels, and a legend if anything has one: a long one stands beside."""
    ax.set_title(title, loc="left", fontsize=10, fontweight="bold", color=INK)
    ax.set_xlabel(x, fontsize=9, color=INK)
    ax.set_ylabel(y, fontsize=9, color=INK)
    handles, _ = ax.get_legend_handles_labels()
    if len(handles) > BESIDE:
        ax.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.02))
    elif handles:
        ax.legend(fontsize=7, frameon=True, framealpha=0.85, edgecolor="none")


def unit(written: str) -> str:
    """A unit as people read it: m s-1 becomes m/s."""
    return written.replace(" s-1", "/s").replace(" s-2", "/s\u00b2")


def of_world(data: xr.Dataset, world: int) -> xr.Dataset:
    """One world, with its own clock as `time`."""
    worlds = data.sizes["world"]
    if not -worlds <= world < worlds:
        raise HeelstrikeError(f"there is no world {world}; worlds: 0 to {worlds - 1}")
    shown = data.isel(world=world)
    if "world_time" in shown.coords:
        shown = shown.assign_coords(time=shown["world_time"].values)
    return shown


def save(drawn: Figure, path: str | os.PathLike[str], few_colours: bool = False) -> Path:
    """Writes the figure, whole or not at all; the ending of the name decides over the format.
    A .png of few colours, 256, is less than half as large: for shaded pictures.
    """
    ending = check_ending(path)
    with whole_file(path) as part:
        drawn.savefig(part, dpi=DPI, format=ending)
        if few_colours and ending == "png":
            _in_few_colours(part)
    return Path(path)


def _in_few_colours(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as picture:  # kmeans: so that colours of few pixels stay, as of arrows
        few = picture.convert("RGB").quantize(256, kmeans=2, dither=Image.Dither.NONE)
    few.save(path, format="PNG", optimize=True)


def check_ending(path: str | os.PathLike[str]) -> str:
    """The ending of a picture's name, if there is such a format."""
    from matplotlib.backend_bases import FigureCanvasBase

    ending, known = Path(path).suffix[1:].lower(), FigureCanvasBase.get_supported_filetypes()
    if ending not in known:
        raise HeelstrikeError(
            f"cannot draw '{path}': no format '{ending}'; endings: {', '.join(sorted(known))}"
        )
    return ending


def _new(size: tuple[float, float], window: bool) -> Figure:
    if window:
        import matplotlib
        import matplotlib.pyplot as plt

        # a notebook shows the figure that a cell returns: known to pyplot it would come twice
        if "inline" not in matplotlib.get_backend():
            return plt.figure(figsize=size, layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")
