"""Recordings as one self-contained HTML file that plays without a server.

viser records the messages of the scene with their times and puts them into its page, whose bar
plays, pauses and seeks. export_curves.py adds curves of a contact below it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.errors import UnknownNameError
from heelstrike.files import whole_file
from heelstrike.view.browser.export_curves import add_curves_below
from heelstrike.view.browser.overlays import KINDS
from heelstrike.view.browser.quantities import CONTACT, most_loaded, plots
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.browser.scene_view import SceneView
from heelstrike.view.browser.server import serving

if TYPE_CHECKING:
    from viser import ViserServer

RATE = 30.0
"""Frames per second of simulated time."""


def export(
    runs: Sequence[RunArrays],
    path: str | os.PathLike[str],
    overlays: Sequence[str] | None = None,
    contact: str | None = None,
) -> Path:
    """Write the page, completely or not at all, and return its path.

    Args:
        overlays: Names in `overlays.KINDS` that are shown; by default forces, CoM and support
            polygon.
        contact: The contact whose curves are shown; by default that of the largest force.
    """
    if contact is not None and contact not in runs[0].points:
        raise UnknownNameError("contact", contact, runs[0].points)
    unknown = [name for name in overlays or () if name not in KINDS]
    if unknown:
        raise UnknownNameError("overlay", unknown[0], KINDS)
    with serving(port=0) as server:
        view = SceneView(server, runs, max(run.typical_peak_force() for run in runs))
        for kind in KINDS:
            if overlays is not None:
                view.switch(kind, kind in overlays)
        text = _serialize(server, view)
    shown = contact or (most_loaded(runs[0]) if runs[0].points else "")
    if plots(runs[0], CONTACT, shown):
        text = add_curves_below(text, runs, shown)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
    return Path(path)


def _serialize(server: ViserServer, view: SceneView) -> str:
    """Return viser's page with all frames of the runs."""
    begin = min(float(run.time[0]) for run in view.runs)
    end = max(float(run.time[-1]) for run in view.runs)
    serializer = server.get_scene_serializer()
    last = begin
    for moment in np.append(np.arange(begin, end, 1 / RATE), end):
        serializer.insert_sleep(max(float(moment) - last, 0.0))
        last = float(moment)
        view.show([run.at(run.index(last)) for run in view.runs])
    serializer.insert_sleep(1 / RATE)
    return serializer.as_html()
