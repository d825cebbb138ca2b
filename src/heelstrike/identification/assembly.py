"""Parameters of a simulator from the numbers of a search.

ground.normal.k, R_KN.armature      a number
servo.kp.R_KN, torso.com.x          an entry of a vector
servo.kp_scale                      a factor on all entries, as they were before the search
torso.inertia.com_x                 one of ten factors of an inertia: inertia.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from heelstrike.contact.restitution import Floats
from heelstrike.identification.inertia import END, assembled
from heelstrike.simulate.parameter_paths import fill_rows, parameter_targets
from heelstrike.simulate.simulator import Simulator


class Assembly:
    """Assembles values of parameters from numbers by path."""

    def __init__(self, sim: Simulator, paths: Iterable[str]) -> None:
        """Make parameters of the numbers of the robot that paths name."""
        self.sim = sim
        inertias = {path: np.ones(1) for path in paths if f"{END}." in path}
        sim.compiled.add_parameters(assembled(sim.robot, inertias))
        plain = [path for path in paths if path not in inertias]
        self.targets = {path: parameter_targets(sim, path) for path in plain}
        ports = {target.port for own in self.targets.values() for target in own}
        self.base = {port: np.atleast_2d(sim.parameters[port])[0] for port in ports}

    def __call__(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return parameters by path, (sets, size), for one value per set by path."""
        plain = {path: value for path, value in values.items() if path in self.targets}
        whole = {path: value for path, value in values.items() if path not in self.targets}
        found = assembled(self.sim.robot, whole)
        return found | fill_rows(self.base, {path: self.targets[path] for path in plain}, plain)
