"""Sensors of a simulator: what they measure, checked, and their readings after every step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.record.dataset import FIXED
from heelstrike.record.labels import dimension_labels
from heelstrike.record.variables import check_variables, variable
from heelstrike.runtime.worlds import Worlds
from heelstrike.scene.controller import Readings
from heelstrike.scene.rays import END, Rays
from heelstrike.scene.sensor import MAX_SAMPLES, MAX_SEED, Sensor, SensorPlan
from heelstrike.step.elements import element_of
from heelstrike.step.plan import StepPlan
from heelstrike.step.rays import check_rays

STATES = ("q", "v", "work", "impulse", "peak_force", "peak_depth", "lost_contacts", "activation")
"""Names of memories of a step, which a sensor cannot have."""


def with_sensors(plan: StepPlan, sensors: Sequence[str | Sensor], dt: float) -> StepPlan:
    """Return a plan whose step measures these quantities.

    Args:
        plan: plan without sensors.
        sensors: names of quantities, or sensors with options.
        dt: time step, which turns latencies into samples [s].
    """
    given = [sensors] if isinstance(sensors, str | Sensor) else sensors
    if not isinstance(given, Sequence) or not all(isinstance(x, str | Sensor) for x in given):
        allowed = "names of quantities, or hs.Sensor(...), in a list"
        raise ParameterError("sensors", sensors, allowed)
    found = [x if isinstance(x, Sensor) else Sensor(x) for x in given]
    for k, sensor in enumerate(found):
        if sensor.name in [other.name for other in found[:k]]:
            raise HeelstrikeError(
                f"two sensors are called '{sensor.name}'",
                path="sensors",
                value=sensor.name,
                remedy="give one a label: hs.Sensor(..., label='noisy')",
            )
    return replace(plan, sensors=tuple(_planned(plan, sensor, dt) for sensor in found))


def _planned(plan: StepPlan, sensor: Sensor, dt: float) -> SensorPlan:
    """Return a sensor with the shape of its quantity and its delay."""
    check_variables(plan.scene, [sensor.quantity], (), path="sensors")
    is_rays = sensor.quantity.endswith(END)
    if isinstance(sensor, Rays):
        check_rays(plan.scene, sensor)
    elif is_rays:
        raise HeelstrikeError(
            f"'{sensor.quantity}' needs rays",
            path="sensors",
            value=sensor.quantity,
            remedy=f"pass hs.Rays('{sensor.quantity.removesuffix(END)}', ...) in sensors",
        )
    own = variable(sensor.quantity)
    source, element = own.source, element_of(sensor.quantity)
    if source is None or not source.sensed:
        raise HeelstrikeError(
            f"no sensor measures '{sensor.quantity}'",
            path="sensors",
            value=sensor.quantity,
            remedy=f"record it: sim.run(..., record=['{sensor.quantity}'])",
        )
    if sensor.name in STATES:
        raise HeelstrikeError(
            f"a sensor cannot be called '{sensor.name}', the name of a state",
            path="sensors",
            value=sensor.name,
            remedy=f"give it a label: hs.Sensor('{sensor.name}', label='measured')",
        )
    sizes = {dim: len(labels) for dim, labels in {**FIXED, **dimension_labels(plan)}.items()}
    shape = tuple(sizes.get(dim, 0) for dim in own.dims)
    if isinstance(sensor, Rays):
        shape = (len(sensor.table),)
    delay = round(sensor.latency / (dt * sensor.every))
    counts = None if element is None else element.counts
    found = SensorPlan(sensor, source.sensed, source.index, shape, delay, counts)
    if found.samples > MAX_SAMPLES:
        allowed = f"times of at most {MAX_SAMPLES - sensor.history} samples"
        raise ParameterError("latency", sensor.latency, allowed, owner=sensor.name)
    return found


def world_seeds(worlds: int) -> np.ndarray:
    """Return a seed of sensor noise for each world, (worlds, 1); worlds draw different numbers.

    These are the bits of SplitMix64 (Steele, Lea and Flood 2014) after the index of the world.
    """
    with np.errstate(over="ignore"):
        x = np.arange(1, worlds + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) % np.uint64(MAX_SEED)).astype(float)[:, None]


class Sensors(Mapping[str, np.ndarray]):
    """Readings of the sensors after the last step, by name.

    With one world on a CPU a reading is a view, which the next step changes; else it is a copy,
    (worlds, ...). A reading has the shape of its quantity; with a history, of flat samples, the
    newest first.
    """

    def __init__(self, batch: Worlds, sensors: Sequence[SensorPlan]) -> None:
        self._batch = batch
        self._plans = {sensor.name: sensor for sensor in sensors}
        self._views: dict[str, np.ndarray] = {}
        for name, sensor in self._plans.items():
            view = batch.view(name)
            if view is not None:
                own = view[sensor.delay * sensor.size :]
                self._views[name] = own.reshape(sensor.reading_shape)

    def __getitem__(self, name: str) -> np.ndarray:
        found = self._views.get(name)
        if found is not None:
            return found
        if name not in self._plans:
            raise UnknownNameError("sensor", name, self._plans, path="sensors")
        sensor = self._plans[name]
        rows = self._batch.get(name)[:, sensor.delay * sensor.size :]
        return rows.reshape(-1, *sensor.reading_shape)

    def rows(self) -> dict[str, np.ndarray]:
        """Return copies of all readings with a row per world, (worlds, ...)."""
        if self._batch.worlds > 1 or not self._views:
            return Readings(self)
        return Readings({name: view[None].copy() for name, view in self._views.items()})

    def __iter__(self) -> Iterator[str]:
        return iter(self._plans)

    def __len__(self) -> int:
        return len(self._plans)

    def __repr__(self) -> str:
        return f"Sensors({', '.join(self)})"
