"""Overlays on a robot: contact forces, friction cones, CoM, CoP, ZMP, support polygon.

An arrow of 1 m is a force of `scale` newtons. A cone has its tip at the contact, the surface's
normal as its axis, the slope mu_s and the height of the normal force: the arrow's tip lies inside
the disc of its upper rim while friction holds, and outside it where the contact must slide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.impact.support import hull
from heelstrike.measure.friction import coefficients
from heelstrike.view.browser.instances import Arrows, Colour, Instances, cone, pin, rod
from heelstrike.view.browser.normals import Normals
from heelstrike.view.browser.run_arrays import RunArrays, Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from viser import SceneApi, SceneNodeHandle

KINDS = {
    "forces": ("contact forces", ("contact_position", "force", "touching")),
    "cones": (
        "friction cones",
        ("contact_position", "force", "touching", "normal_force", "depth"),
    ),
    "com": ("CoM", ("com",)),
    "cop": ("CoP", ("cop",)),
    "zmp": ("ZMP", ("zmp",)),
    "support": ("support polygon", ("contact_position", "touching", "depth")),
}
"""Label of each overlay, and the variables that it needs."""
COLOURS: dict[str, Colour] = {
    "forces": (213, 94, 0),
    "cones": (230, 159, 0),
    "com": (0, 114, 178),
    "cop": (0, 158, 115),
    "zmp": (190, 80, 150),
    "support": (120, 190, 235),
}
INITIAL = ("forces", "com", "support")
"""Overlays that are shown at the start."""
MIN_FORCE = 1e-6
"""Largest normal force that has no cone [N]."""
UP = np.array([0.0, 0.0, 1.0])


class Overlays:
    """The overlays of one run under a node; those of a ghost have its colour."""

    def __init__(
        self, scene: SceneApi, name: str, run: RunArrays, size: float, ghost: Colour | None = None
    ) -> None:
        self.run, self.size = run, size
        self.shown = {kind: kind in INITIAL and self.has(kind) for kind in KINDS}
        self._normals = Normals(run)
        self.root = scene.add_frame(name, show_axes=False)
        colours = COLOURS if ghost is None else dict.fromkeys(COLOURS, ghost)
        contacts = max(len(run.points), 1)
        bodies = max(run.arrays["cop"].shape[1] if self.has("cop") else 0, 1)
        slots = 2 * run.arrays["self_pair"].shape[1] if "self_pair" in run.arrays else 0
        self.forces = Arrows(scene, f"{name}/forces", contacts + slots, colours["forces"])
        self.cones = Instances(scene, f"{name}/cones", cone(), contacts, colours["cones"], 0.2)
        self.cop = Instances(scene, f"{name}/cop", pin(), bodies, colours["cop"])
        self.zmp = Instances(scene, f"{name}/zmp", pin(), 1, colours["zmp"])
        self.com = scene.add_frame(f"{name}/com", show_axes=False)
        scene.add_icosphere(f"{name}/com/ball", 0.03 * size, color=colours["com"])
        self._plumb = Instances(scene, f"{name}/com/plumb line", rod(), 1, colours["com"])
        corners = max(contacts, 3)
        self.support = scene.add_mesh_simple(
            f"{name}/support",
            np.zeros((corners, 3)),
            np.array([[0, k, k + 1] for k in range(1, corners - 1)]),
            color=colours["support"],
            side="double",
            cast_shadow=False,
            receive_shadow=False,
        )
        self._kinds: dict[str, tuple[SceneNodeHandle, Callable[[Sample, float], None]]] = {
            "forces": (self.forces.node, self._show_forces),
            "cones": (self.cones.node, self._show_cones),
            "com": (self.com, self._show_com),
            "cop": (self.cop.node, self._show_cop),
            "zmp": (self.zmp.node, self._show_zmp),
            "support": (self.support, self._show_support),
        }
        for kind, on in self.shown.items():
            self.switch(kind, on)

    def has(self, kind: str) -> bool:
        """Return whether the run holds the variables that an overlay needs."""
        return set(KINDS[kind][1]) <= set(self.run.arrays)

    def switch(self, kind: str, on: bool) -> None:
        """Show or hide an overlay from now on."""
        self.shown[kind] = on and self.has(kind)
        node, _ = self._kinds[kind]
        node.visible = self.shown[kind]

    def show(self, now: Sample, scale: float) -> None:
        """Show all overlays that are switched on at one time; `scale` is the force of 1 m [N/m]."""
        for kind, on in self.shown.items():
            if on:
                _, show = self._kinds[kind]
                show(now, scale)

    def _show_forces(self, now: Sample, scale: float) -> None:
        vectors = np.where(now["touching"][:, None], now["force"], 0.0) / scale
        places = now["contact_position"]
        if "self_pair" in now:  # on both bodies; 0 where a slot is free
            given, at = now["self_force"] / scale, now["self_position"]
            vectors, places = np.vstack([vectors, given, -given]), np.vstack([places, at, at])
        self.forces.show(places, vectors, 0.02 * self.size)

    def _show_cones(self, now: Sample, scale: float) -> None:
        loaded = now["touching"] & (now["normal_force"] > MIN_FORCE)
        height = np.where(loaded, now["normal_force"], np.nan) / scale
        normals = self._normals.at(now["q"], loaded)
        self.cones.show(now["contact_position"], normals, self._mu(now) * height, height)

    def _show_com(self, now: Sample, scale: float) -> None:
        """Show the CoM with a plumb line to the height of the lowest contact."""
        self.com.position = now["com"]
        places = now.get("contact_position", np.zeros((0, 3)))
        drop = now["com"][2] - places[:, 2].min(initial=now["com"][2])
        self._plumb.show(
            np.zeros((1, 3)), -UP[None], np.array([0.004 * self.size]), np.array([drop])
        )

    def _show_cop(self, now: Sample, scale: float) -> None:
        self._pins(self.cop, now["cop"])

    def _show_zmp(self, now: Sample, scale: float) -> None:
        self._pins(self.zmp, now["zmp"][None])

    def _show_support(self, now: Sample, scale: float) -> None:
        """Show the support polygon on the surface; contact points are below it by their depth."""
        on = now["touching"]
        places = now["contact_position"][on]
        corners = hull(places[:, :2]) if len(places) > 2 else np.zeros((0, 2))
        vertices = np.zeros((len(self.support.vertices), 3))
        if len(corners) > 2:
            height = (places[:, 2] + now["depth"][on]).mean() + 2e-3 * self.size
            vertices[: len(corners), :2] = corners
            vertices[len(corners) :, :2] = corners[-1]
            vertices[:, 2] = height
        self.support.vertices = vertices.astype(np.float32)

    def _pins(self, pins: Instances, places: np.ndarray) -> None:
        up = np.tile(UP, (len(places), 1))
        one = np.ones(len(places))
        pins.show(places, up, 0.02 * self.size * one, 0.16 * self.size * one)

    def _mu(self, now: Sample) -> np.ndarray:
        """Return the coefficient of friction at each contact; NaN if the law has none."""
        depth = now["depth"]
        found = [
            coefficients(self.run.info, law, self.run.world, depth[k])[0]
            for k, law in enumerate(self.run.laws)
        ]
        return np.array(found, dtype=float).reshape(len(depth))
