"""Ray-traced pictures of robots: film strips of recordings and portraits of poses.

camera.py           the direction of view, and the projection of world points
solid.py            triangle meshes with normals
robot_solids.py     a robot as solids              surface_solids.py   surfaces as solids
raytrace.py         shaded images of solids        denoise.py          noise filter
snapshots.py        a recording at chosen times
film_strip.py, portrait.py    the figures
"""
