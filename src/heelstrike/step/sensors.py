"""Box 10, added to those of [Sugihara2006], Fig. 4: sensors, which measure values of every step.

A sensor is a memory of the world, named like it: its samples, the newest first, row by row. The
first step after a reset fills it with its first sample. A quantity that is not defined, such as
the CoP of a foot in the air, leaves the last sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca

from heelstrike.ir.program import Program
from heelstrike.scene.controller import Readings
from heelstrike.scene.rays import Rays
from heelstrike.scene.sensor import SEED, SensorPlan
from heelstrike.spatial.vector import SX
from heelstrike.step.noise import WorldGenerator
from heelstrike.step.rays import RayCaster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heelstrike.step.outputs import StepValues


UNDEFINED = ("cop", "zmp")
"""Quantities that are NaN where nothing carries a load."""
LARGE = 1e30
"""Larger than any length [m]."""


class SensorMemory:
    """The sensors of a step as memories of its program."""

    def __init__(
        self, p: Program, sensors: Sequence[SensorPlan], values: Mapping[str, SX], dt: SX
    ) -> None:
        self.p, self.sensors, self.values, self.dt = p, sensors, values, dt
        self._samples = {x.name: p.memory(x.name, x.samples * x.size) for x in sensors}
        self._since = {x.name: p.memory(f"{x.name}, since", 1) for x in sensors if x.counts}
        biased = [x for x in sensors if x.sensor.bias is not None]
        self._biases = {x.name: p.memory(f"{x.name}, bias", x.size) for x in biased}

    def readings(self) -> Readings:
        """Return what the last step left: (history, ...) each, or (...) for a single sample."""
        return Readings({x.name: reading(x, self._samples[x.name]) for x in self.sensors})

    def update(self, values: StepValues) -> dict[str, SX]:
        """Measure, and update the memories; return samples to record by name of the sensor.

        A plain sensor is recorded as the quantity itself, which may be undefined (NaN).
        """
        drawn = any(sensor.draws for sensor in self.sensors)
        generator = WorldGenerator(self.p, self.values[SEED]) if drawn else None
        found = {}
        for k, sensor in enumerate(self.sensors):
            if isinstance(sensor.sensor, Rays):
                exact = RayCaster(values.state, sensor.sensor).distances()
            else:
                exact = values[sensor.value]
                exact = exact if sensor.index is None else exact[sensor.index]
            with self.p.block("sensor", limb="sensors", member=k):
                exact = self._counted(sensor, exact) if sensor.counts else exact
                samples = self._measured(sensor, ca.vec(exact.T), generator)
                self.p.update(sensor.name, samples)
                late = samples[sensor.delay * sensor.size : (sensor.delay + 1) * sensor.size]
            found[sensor.name] = exact if sensor.plain else _shaped(sensor, late)
        if generator is not None:
            generator.remember()
        return found

    def _counted(self, sensor: SensorPlan, touches: SX) -> SX:
        """Return the time for which a body touches, or does not [s]."""
        name = f"{sensor.name}, since"
        counts = touches if sensor.counts == "contact" else ca.logic_not(touches)
        first = self.p.clock < 0.5
        time = ca.if_else(first, 0, self._since[sensor.name] + self.dt)
        time = self.p.let("since", ca.if_else(counts, time, 0))
        self.p.update(name, time)
        return time

    def _measured(self, sensor: SensorPlan, exact: SX, generator: WorldGenerator | None) -> SX:
        """Return the samples after this step, as a column."""
        p, own, before = self.p, sensor.sensor, self._samples[sensor.name]
        first, size = p.clock < 0.5, sensor.size
        x = exact
        if sensor.value.rpartition(".")[2] in UNDEFINED:  # fmax(NaN, y) is y
            x = ca.if_else(ca.fmax(exact, -LARGE) > -LARGE, exact, before[:size])
        if own.bias is not None:
            assert generator is not None
            drawn = self._value(sensor, "bias") * generator.normal(size)
            bias = p.let("bias", ca.if_else(first, drawn, self._biases[sensor.name]))
            p.update(f"{sensor.name}, bias", bias)
            x = x + bias
        if own.noise is not None:
            assert generator is not None
            x = x + self._value(sensor, "noise") * generator.normal(size)
        if own.quantum is not None:
            quantum = self._value(sensor, "quantum")
            whole = quantum * ca.floor(x / ca.if_else(quantum > 0, quantum, 1) + 0.5)
            x = ca.if_else(quantum > 0, whole, x)
        x = p.let("sample", x)
        if sensor.samples == own.every == 1:
            return x
        moved = ca.vertcat(x, before[:-size] if sensor.samples > 1 else SX(0, 1))
        due = p.clock - own.every * ca.floor((p.clock + 0.5) / own.every) < 0.5
        samples = ca.if_else(first, ca.repmat(x, sensor.samples, 1), moved)
        return p.let("samples", ca.if_else(ca.logic_or(first, due), samples, before))

    def _value(self, sensor: SensorPlan, name: str) -> SX:
        return self.values[f"{sensor.name}.{name}"]


def reading(sensor: SensorPlan, samples: SX) -> SX:
    """Return what a sensor shows: the history after the delay, of a single sample its shape."""
    shown = samples[sensor.delay * sensor.size :]
    if sensor.sensor.history == 1:
        return _shaped(sensor, shown)
    return ca.reshape(shown, sensor.size, sensor.sensor.history).T


def _shaped(sensor: SensorPlan, sample: SX) -> SX:
    """Return a sample of a matrix as a matrix."""
    if len(sensor.shape) < 2:
        return sample
    rows, columns = sensor.shape
    return ca.reshape(sample, columns, rows).T
