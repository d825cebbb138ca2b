"""Drag of the fluid of a compiled MJCF: the options density, viscosity and wind."""

from __future__ import annotations

import mujoco
import numpy as np

from heelstrike.robot.fluid import Drag, inertia_box
from heelstrike.robot.mjcf_model import Carriers, name_of, rotation
from heelstrike.robot.xml import RobotFile


def read_drags(file: RobotFile, mj: mujoco.MjModel, carriers: Carriers) -> tuple[Drag, ...]:
    """Return what a fluid resists: every body of the file with a mass, by itself.

    Bodies with fluidshape="ellipsoid" have another model, which is left out with a warning.
    """
    density, viscosity = float(mj.opt.density), float(mj.opt.viscosity)
    if density <= 0 and viscosity <= 0:
        return ()
    found = []
    shaped = {int(mj.geom_bodyid[i]) for i in np.flatnonzero(mj.geom_fluid[:, 0])}
    for body in range(1, mj.nbody):
        (carrier, place), mass = carriers[body], float(mj.body_mass[body])
        if carrier == 0 or mass < mujoco.mjMINVAL:
            continue
        if body in shaped:
            name = f"body '{name_of(mj, body)}'"
            file.warn(f"no fluid resists {name}: fluidshape='ellipsoid' is not simulated", name)
            continue
        found.append(
            Drag(
                carrier - 1,
                place.rotation @ rotation(mj.body_iquat[body]),
                np.array(place.act(np.array(mj.body_ipos[body]))),
                inertia_box(mass, np.array(mj.body_inertia[body])),
                max(density, 0.0),
                max(viscosity, 0.0),
                np.array(mj.opt.wind),
            )
        )
    return tuple(found)
