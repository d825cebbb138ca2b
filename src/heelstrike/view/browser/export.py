"""Recordings as one HTML file that plays without a server, and asks nothing of any.

The scene's messages are recorded by viser and put into its page, with the times at which they
hold; the page's own bar plays, pauses and seeks. Curves of a contact stand under it (beside.py).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.files import whole_file
from heelstrike.view.browser.contact_curves import most_loaded, titles
from heelstrike.view.browser.export_curves import beside
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.browser.scene_view import SceneView
from heelstrike.view.browser.server import serving

if TYPE_CHECKING:
    from viser import ViserServer

RATE = 30.0
"""Pictures a second of simulated time."""


def export(
    runs: Sequence[RunArrays],
    path: str | os.PathLike[str],
    marks: Sequence[str] | None = None,
    contact: str | None = None,
) -> Path:
    """Writes the page, whole or not at all, and returns its path; `marks` are those of
    `marks.KINDS` that are drawn, the usual if none are named; `contact` is the one whose curves
    are shown, that of the largest force if none is named.
    """
    if contact is not None and contact not in runs[0].points:
        known = ", ".join(runs[0].points) or "none"
        raise HeelstrikeError(f"no contact '{contact}' in this recording; contacts: {known}")
    with serving(port=0) as server:
        cast = SceneView(server, runs, max(run.strongest() for run in runs))
        for kind in cast.overlays[0].shown:
            if marks is not None:
                cast.switch(kind, kind in marks)
        text = _played(server, cast)
    if titles(runs[0]):
        text = beside(text, runs, contact or most_loaded(runs[0]))
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
    return Path(path)


def _played(server: ViserServer, cast: SceneView) -> str:
    begin = min(float(run.time[0]) for run in cast.runs)
    end = max(float(run.time[-1]) for run in cast.runs)
    serializer = server.get_scene_serializer()
    last = begin
    for moment in np.append(np.arange(begin, end, 1 / RATE), end):
        serializer.insert_sleep(max(float(moment) - last, 0.0))
        last = float(moment)
        cast.show([run.at(run.index(last)) for run in cast.runs])
    serializer.insert_sleep(1 / RATE)
    return serializer.as_html()
