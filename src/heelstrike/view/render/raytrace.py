"""Images of solids, ray traced by Embree on the CPU: no display, OpenGL or GPU is needed.

    light = SUN * max(n . s, 0) * (share of rays that reach the sun) + SKY * (share that escape)

Each pixel has SUPER^2 samples. Each sample has one ray from the camera, RAYS towards points of the
sun's disc and as many over the hemisphere about the normal; denoise.py filters their light.
Random numbers start from a fixed seed, so that equal scenes give equal pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.view.render.camera import Viewpoint
from heelstrike.view.render.denoise import denoise
from heelstrike.view.render.solid import Solid

if TYPE_CHECKING:
    from embreex.rtcore_scene import EmbreeScene

SUPER = 2
"""Samples along each side of a pixel."""
RAYS = 3
"""Rays of a sample to the sun, and to the sky."""
SKY, SUN = 0.62, 0.55
"""Brightness of the sky and of the sun."""
DISC = 0.06
"""Radius of the sun over its distance; it makes shadows soft."""
GAMMA = 2.2
TILES = (0.90, 0.97)
"""Lightness of dark and light tiles, relative to their surface."""


def render(solids: Sequence[Solid], view: Viewpoint, width: int, tile: float = 0.1) -> np.ndarray:
    """Return an image on white: red, green and blue, 0 to 1, (height, width, 3).

    `width` is in pixels; `tile` is the side of a floor's tiles [m].
    """
    across, down = SUPER * width, SUPER * round(width * view.ratio)
    rays = view.rays(across, down)
    scene, normals, colours, floor = _scene(solids)
    start = np.broadcast_to(view.position.astype(np.float32), rays.shape)
    hit = scene.run(np.ascontiguousarray(start), rays, output=True)
    image = np.ones_like(rays)
    met = np.flatnonzero(hit["primID"] >= 0)
    if len(met):
        which, u, v, rays = hit["primID"][met], hit["u"][met, None], hit["v"][met, None], rays[met]
        corner = normals[which]
        normal = _unit((1 - u - v) * corner[:, 0] + u * corner[:, 1] + v * corner[:, 2])
        flat = _unit(hit["Ng"][met])
        flat *= -np.sign(_dot(flat, rays))[:, None]  # towards the camera
        normal *= np.sign(_dot(normal, flat))[:, None]
        place = start[met] + hit["tfar"][met, None] * rays
        size = view.half_width
        sun = _sun_direction(view)
        start = place + flat * np.float32(3e-4 * size)
        free = _visible_light(scene, sun, 1.2 * size, start, normal, _strata(across, down)[met])
        free = denoise(free, met, (down, across), place, normal, 0.01 * size)
        light = SKY * free[:, 1] + SUN * free[:, 0] * np.maximum(np.einsum("ij,j", normal, sun), 0)
        colour, on_floor = colours[which], np.flatnonzero(floor[which])
        colour[on_floor] *= _tiled(place[on_floor], normal[on_floor], tile)[:, None]
        shade = np.minimum(colour * light[:, None] ** (1 / GAMMA), 1)
        fog = _fog(place[on_floor], view)[:, None]
        shade[on_floor] = (1 - fog) * shade[on_floor] + fog
        image[met] = shade
    return image.reshape(down // SUPER, SUPER, across // SUPER, SUPER, 3).mean(axis=(1, 3))


def _fog(place: np.ndarray, view: Viewpoint) -> np.ndarray:
    """Return how far a floor has faded: 0 near the centre of the picture, 1 in the distance."""
    far = np.linalg.norm(place - view.centre, axis=1) / view.half_width
    fog = np.clip((far - 1.5) / 2.5, 0, 1).astype(np.float32)
    return fog * fog * (3 - 2 * fog)


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.sqrt(np.maximum(_dot(rows, rows), 1e-30))[:, None]


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", a, b)


def _scene(
    solids: Sequence[Solid],
) -> tuple[EmbreeScene, np.ndarray, np.ndarray, np.ndarray]:
    """Return Embree's scene, and per triangle its normals, its colour and whether it is floor."""
    try:
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene
    except ImportError as error:
        raise HeelstrikeError(
            "pictures of robots need embreex, which is not installed; run pip install embreex "
            "(it has no wheel for Linux on ARM; Recording.plot works without it)"
        ) from error
    first = np.cumsum([0, *(len(s.vertices) for s in solids)])
    vertices = np.vstack([s.vertices for s in solids]).astype(np.float32)
    triangles = np.vstack([s.triangles + f for s, f in zip(solids, first, strict=False)])
    count = [len(s.triangles) for s in solids]
    scene = EmbreeScene()
    TriangleMesh(scene, vertices, triangles.astype(np.int32))
    return (
        scene,
        np.vstack([s.normals for s in solids]).astype(np.float32),
        np.repeat([s.colour for s in solids], count, axis=0).astype(np.float32),
        np.repeat([s.floor for s in solids], count),
    )


def _sun_direction(view: Viewpoint) -> np.ndarray:
    """Return the unit direction to the sun: high, behind the viewer's left shoulder."""
    right, _, back = view.axes
    sun = -0.45 * right + 0.75 * back + np.array([0, 0, 1.0])
    return (sun / np.linalg.norm(sun)).astype(np.float32)


def _visible_light(
    scene: EmbreeScene,
    sun: np.ndarray,
    far: float,
    start: np.ndarray,
    normal: np.ndarray,
    strata: np.ndarray,
) -> np.ndarray:
    """Return the shares of the sun and of the sky that each point sees, 0 to 1, (n, 2).

    Solids further away than `far` [m] do not hide the sky.
    """
    near = np.full(len(start), far, dtype=np.float32)
    free = np.zeros((len(start), 2), dtype=np.float32)
    for k in range(RAYS):
        ball = _unit_sphere(strata, k)
        free[:, 0] += scene.run(start, sun + DISC * ball, query="OCCLUDED") < 0
        sky = normal * np.float32(1.001) + ball  # distributed by the cosine
        free[:, 1] += scene.run(start, sky, dists=near, query="OCCLUDED") < 0
    return free / RAYS


def _strata(across: int, down: int) -> np.ndarray:
    """Return each sample's number in its pixel, and two random numbers of the pixel, (n, 3)."""
    rng = np.random.default_rng(0)
    shift = rng.random((down // SUPER, across // SUPER, 2), dtype=np.float32)
    shift = shift.repeat(SUPER, axis=0).repeat(SUPER, axis=1)
    cell = np.arange(SUPER * SUPER, dtype=np.float32).reshape(SUPER, SUPER)
    number = np.tile(cell, (down // SUPER, across // SUPER))[..., None]
    return np.concatenate([number, shift], axis=-1).reshape(-1, 3)


def _unit_sphere(strata: np.ndarray, k: int) -> np.ndarray:
    """Return unit directions; those of a pixel's samples and rays lie evenly on a spiral."""
    i = strata[:, 0] * RAYS + k
    z = 2 * np.modf((i + 0.5) / (SUPER * SUPER * RAYS) + strata[:, 1])[0] - 1
    angle = 2 * np.pi * (np.modf(i * np.float32(0.618034))[0] + strata[:, 2])
    across = np.sqrt(np.maximum(1 - z * z, 0))
    return np.stack([across * np.cos(angle), across * np.sin(angle), z], 1).astype(np.float32)


def _tiled(place: np.ndarray, normal: np.ndarray, tile: float) -> np.ndarray:
    """Return the lightness of a chequered floor at points on it."""
    if not len(place):
        return np.ones(0)
    along = np.cross(normal, [0.0, 1.0, 0.0])
    steep = np.linalg.norm(along, axis=1) < 0.1
    along[steep] = np.cross(normal[steep], [1.0, 0.0, 0.0])
    along = _unit(along)
    other = np.cross(normal, along)
    sides = [np.floor(_dot(place, axis) / tile) for axis in (along, other)]
    return np.where((sides[0] + sides[1]) % 2 > 0, *TILES)
