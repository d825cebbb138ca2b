"""What rays see: a depth camera and a height scan of hoap1 before stairs and a ball."""

import sys

import matplotlib as mpl
import numpy as np

import heelstrike as hs

mpl.use("Agg")
import matplotlib.pyplot as plt

ACROSS, DOWN = 40, 30
LENGTH, WIDTH, SPACING = 1.6, 0.8, 0.08  # m

robot = hs.load("hoap1", collide="feet")
scene = hs.Scene(
    robot,
    hs.Plane(name="ground"),
    hs.Stairs(name="stairs", point=(0.3, 0.0, 0.0), rise=0.03, run=0.12, count=4, width=0.5),
    hs.Sphere(name="ball", point=(0.25, 0.32, 0.05), radius=0.05),
)
camera = hs.Rays.depth(
    "WAIST",
    pixels=(ACROSS, DOWN),
    field=1.4,  # rad
    pitch=0.5,
    reach=1.5,  # m
    shapes=True,  # the robot's own legs
    label="camera",
)
scan = hs.Rays.heights("WAIST", size=(LENGTH, WIDTH), spacing=SPACING, label="scan")
sim = hs.Simulator(scene, control=hs.Servo(), sensors=[camera, scan, "WAIST.position"])
sim.reset(q0=robot.pose("stance"))
sim.step()

image = sim.sensors["WAIST.rays:camera"].reshape(DOWN, ACROSS)
below = sim.sensors["WAIST.rays:scan"].reshape(round(LENGTH / SPACING) + 1, -1)
heights = sim.sensors["WAIST.position"][2] - below
print(f"nearest {image.min():.3f} m; the stairs rise to {heights.max():.3f} m")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
shown = left.imshow(image, cmap="viridis_r")
left.set(title="depth camera at the waist", xticks=[], yticks=[])
figure.colorbar(shown, ax=left, label="distance [m]")
ends = (-LENGTH / 2, LENGTH / 2, -WIDTH / 2, WIDTH / 2)
shown = right.imshow(np.transpose(heights), origin="lower", extent=ends, cmap="magma")
right.set(title="height scan", xlabel="x ahead of the waist [m]", ylabel="y [m]")
figure.colorbar(shown, ax=right, label="height [m]", shrink=0.8)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "rays.png", dpi=130)
