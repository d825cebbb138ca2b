"""Curves of one contact below an exported page.

viser writes its scene into a page, but not its panels. So its page becomes a frame of ours, with
pictures of the curves below it. A line in each curve follows the time of the frame's player.
"""

from __future__ import annotations

import base64
import html
import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from heelstrike.view import plot
from heelstrike.view.browser.curves import curves
from heelstrike.view.browser.quantities import CONTACT, Plot, plots
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.browser.scene_view import colour, rgb

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (3.4, 1.9)
"""Width and height of a plot [inch]."""
AXES = (0.17, 0.25, 0.79, 0.6)
"""Axes of a plot: left, bottom, width and height, as shares of the plot."""
PERIOD = 50
"""Time between two readings of the player's clock [ms]."""
STYLE = """
html, body { margin: 0; height: 100%; }
body { display: flex; flex-direction: column; font: 14px system-ui, sans-serif; color: #333; }
iframe { border: 0; width: 100%; flex: 1 0 24rem; }
section { border-top: 1px solid #ddd; padding: 0.4rem 0.8rem 0.6rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 0.4rem; }
.plot { position: relative; }
.plot img { display: block; width: 100%; }
.plot i { position: absolute; width: 2px; background: #d55e00; opacity: 0.7; }
b { margin-left: 1em; }
"""
SCRIPT = """
const at = %s, frame = document.querySelector("iframe");
const lines = document.querySelectorAll(".plot i");
setInterval(() => {
  const clock = frame.contentDocument && frame.contentDocument.querySelector("input");
  const time = clock ? parseFloat(clock.value) : NaN;
  if (!isFinite(time)) return;
  const share = Math.min(Math.max((at.offset + time - at.begin) / (at.end - at.begin), 0), 1);
  lines.forEach(line => { line.style.left = 100 * (at.left + at.width * share) + "%%"; });
}, at.every);
"""


def add_curves_below(player: str, runs: Sequence[RunArrays], contact: str) -> str:
    """Return a page with viser's page in a frame above curves of a contact."""
    shown = plots(runs[0], CONTACT, contact)
    drawn = [_svg(curve_figure(runs, one)) for one in shown]
    time = runs[0].time
    at = {
        "offset": min(float(run.time[0]) for run in runs),
        "begin": float(time[0]),
        "end": max(float(time[-1]), float(time[0]) + 1e-9),
        "left": AXES[0],
        "width": AXES[2],
        "every": PERIOD,
    }
    low, high = 100 * (1 - AXES[1] - AXES[3]), 100 * AXES[1]
    edge = f"left: {100 * AXES[0]}%; top: {low:.1f}%; bottom: {high:.1f}%"
    boxes = "".join(f'<div class="plot">{one}<i style="{edge}"></i></div>' for one in drawn)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(runs[0].label or 'Heelstrike')}</title><style>{STYLE}</style></head>"
        f'<body><iframe title="player" srcdoc="{html.escape(player)}"></iframe>'
        f"<section>Contact {html.escape(contact)}{_names(runs)}"
        f'<div class="plots">{boxes}</div></section>'
        f"<script>{SCRIPT % json.dumps(at)}</script></body></html>"
    )


def _names(runs: Sequence[RunArrays]) -> str:
    """Return the names of several runs in their colours as HTML."""
    if len(runs) < 2:
        return ""
    return "".join(
        f'<b style="color: rgb{rgb(colour(k))}">{html.escape(run.label)}</b>'
        for k, run in enumerate(runs)
    )


def curve_figure(runs: Sequence[RunArrays], shown: Plot) -> Figure:
    """Return a plot of one line over time, of all runs."""
    figure, (ax,) = plot.figure(size=SIZE)
    for k, run in enumerate(runs):
        ax.plot(*curves(run, shown), color=colour(k), linewidth=1.0)
    plot.label(ax, shown.title, "time [s]", "")
    ax.set_xlim(runs[0].time[0], runs[0].time[-1])
    ax.set_position(AXES)
    return figure


def _svg(figure: Figure) -> str:
    """Return a figure as an SVG image inside the page."""
    import matplotlib

    written = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "heelstrike"}):
        figure.savefig(written, format="svg", metadata={"Date": None})
    text = base64.b64encode(written.getvalue()).decode()
    return f'<img alt="curve" src="data:image/svg+xml;base64,{text}">'
