"""Sensors: quantities that the compiled step computes, and how they are measured.

reading = round((x + bias + noise) / quantum) quantum        of `latency` ago
noise ~ N(0, sigma^2) in every sample,   bias ~ N(0, sigma_b^2) once for each episode
"""

from __future__ import annotations

from dataclasses import dataclass

from heelstrike.checks import count, number
from heelstrike.errors import ParameterError

MAX_SAMPLES = 10_000
"""Largest number of samples that a sensor remembers."""
SEED = "sensors.seed"
"""Path of the parameter from which noise is drawn, an integer below MAX_SEED for each world."""
MAX_SEED = 2**24


@dataclass(frozen=True)
class Sensor:
    """A quantity that is measured in every step, with options of its measurement."""

    quantity: str
    """Name of the quantity, such as "com" or "WAIST.accelerometer": docs/control.md."""
    label: str = ""
    """Part of the name that tells sensors of the same quantity apart: "com:noisy"."""
    history: int = 1
    """Number of samples that are kept, the newest first."""
    every: int = 1
    """Steps from one sample to the next."""
    latency: float = 0.0
    """Age of the newest sample [s], rounded to whole samples."""
    noise: float | None = None
    """Standard deviation of Gaussian noise, in the unit of the quantity."""
    bias: float | None = None
    """Standard deviation of an offset that is drawn once per episode, in the same unit."""
    quantum: float | None = None
    """Step of quantisation, in the same unit."""

    def __post_init__(self) -> None:
        if not isinstance(self.quantity, str):
            raise ParameterError("quantity", self.quantity, "the name of a quantity")
        label = self.label
        if not isinstance(label, str) or (label and not label.isidentifier()):
            raise ParameterError("label", self.label, "letters, digits and _", owner=self.quantity)
        count("history", self.history, most=MAX_SAMPLES)
        count("every", self.every)
        number("latency", self.latency, "a time of at least 0 s", least=0.0)
        for name in ("noise", "bias", "quantum"):
            if (value := getattr(self, name)) is not None:
                number(name, value, "a number of at least 0, or None", least=0.0)

    def structure(self) -> list[object]:
        """Return what the compiled code depends on besides the quantity and its samples."""
        return []

    @property
    def name(self) -> str:
        """Name under which the sensor is read and recorded."""
        return f"{self.quantity}:{self.label}" if self.label else self.quantity


@dataclass(frozen=True)
class SensorPlan:
    """A sensor of a compiled step."""

    sensor: Sensor
    value: str
    """Name of the value of the step that it measures."""
    index: int | None
    """Entry of that value; None: all of it."""
    shape: tuple[int, ...]
    """Shape of a sample."""
    delay: int
    """Number of samples by which the newest one is late."""
    counts: str | None = None
    """"contact" or "air": the value is a time since which a body touches, or does not."""

    @property
    def name(self) -> str:
        return self.sensor.name

    @property
    def size(self) -> int:
        """Number of entries of a sample."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def reading_shape(self) -> tuple[int, ...]:
        """Shape of what is read: a sample, or the history of flat samples."""
        history = self.sensor.history
        return self.shape if history == 1 else (history, self.size)

    @property
    def samples(self) -> int:
        """Number of samples that are remembered: those on their way, and the history."""
        return self.delay + self.sensor.history

    @property
    def plain(self) -> bool:
        """True if a sample is the quantity itself, in every step."""
        own = self.sensor
        return self.delay == 0 and own.every == 1 and own.noise is own.bias is own.quantum is None

    @property
    def draws(self) -> bool:
        """True if the sensor draws random numbers."""
        return self.sensor.noise is not None or self.sensor.bias is not None

    def parameters(self) -> dict[str, float]:
        """Return the values of its run-time parameters by path."""
        own = {name: getattr(self.sensor, name) for name in ("noise", "bias", "quantum")}
        return {f"{self.name}.{name}": x for name, x in own.items() if x is not None}

    def structure(self) -> list[object]:
        """Return what the compiled code depends on."""
        own = sorted(path.rpartition(".")[2] for path in self.parameters())
        sensor = [self.name, self.sensor.history, self.sensor.every]
        sensor += self.sensor.structure()
        return [*sensor, self.value, self.index, list(self.shape), self.delay, self.counts, own]
