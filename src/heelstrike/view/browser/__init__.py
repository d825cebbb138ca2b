"""Recordings and live scenes in the browser, by viser.

values.py     a world of a recording as plain arrays
stage.py      light, ground, the first look      actor.py   a robot's nodes
marks.py      forces, cones, CoM, CoP, ZMP, support polygon; instances.py, normals.py
cast.py       all runs at one time, and what is shown of them
curves.py     a contact over time
player.py     recordings: time slider, play      live.py, desk.py   a scene that is simulated
server.py     the server                         page.py    a page without one
"""

from heelstrike.view.browser.live import Live
from heelstrike.view.browser.page import export
from heelstrike.view.browser.show import simulate, watch
from heelstrike.view.browser.values import values

__all__ = ["Live", "export", "simulate", "values", "watch"]
