"""Recordings and live scenes in the browser, by viser.

run_arrays.py       a world of a recording as plain arrays
world_node.py       light, ground and fixed surfaces        camera.py   the first viewpoint
robot_node.py       the nodes of a robot
overlays.py         forces, cones, CoM, CoP, ZMP, support polygon; instances.py, normals.py
scene_view.py       all runs at one time, and the panel of what is shown
quantities.py       what can be plotted over time           sampling.py samples, ends of axes
curves.py           the panel of curves
player.py           recordings: time slider, play and pause
live_simulation.py  a scene that is simulated
live_history.py     its last seconds                        live_pushes.py  pushes on its bodies
live_panel.py       its controls: law_sliders.py, rewind.py, push_controls.py, dragging.py
live_viewer.py      replaces it by another: scene_choice.py, prepare.py
picture_controls.py pictures and films for download, drawn by capture.py
phone.py            narrow windows
server.py, show.py  the server, and opening the viewer
guard.py            who may connect                         messages.py what clients may send
export.py           a page without a server; export_curves.py adds curves to it
"""

from heelstrike.view.browser.export import export
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.run_arrays import run_arrays
from heelstrike.view.browser.show import simulate, watch

__all__ = ["LiveSimulation", "export", "run_arrays", "simulate", "watch"]
