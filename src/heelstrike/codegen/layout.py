"""Layout of compiled code: its ports, lanes and scratch memory, for callers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heelstrike.codegen.real import REALS, Real
from heelstrike.ir.code import Output, Port, TracedProgram


@dataclass(frozen=True)
class Layout:
    """Ports in the order of the code's arguments, lanes, scratch memory."""

    name: str
    inputs: tuple[Port, ...]
    tables: tuple[Port, ...]
    memory: tuple[Port, ...]
    outputs: tuple[Output, ...]
    initial: Mapping[str, np.ndarray]
    """Initial values of the memory."""
    width: int
    real: Real
    frame_size: int

    @classmethod
    def of(cls, program: TracedProgram, width: int, real: Real, frame_size: int) -> Layout:
        """Return the layout of a program that was compiled for tiles of `width` worlds."""
        ports = program.inputs, program.tables, program.memory, program.outputs
        return cls(program.name, *ports, program.initial, width, real, frame_size)

    @property
    def ports(self) -> tuple[Port, ...]:
        return (*self.inputs, *self.tables, *self.memory, *self.outputs)

    def as_dict(self) -> dict[str, Any]:
        """Return the layout in types of JSON."""
        kinds: dict[str, tuple[Port, ...]] = {
            "inputs": self.inputs,
            "tables": self.tables,
            "memory": self.memory,
            "outputs": self.outputs,
        }
        ports = {kind: {p.name: list(p.shape) for p in own} for kind, own in kinds.items()}
        initial = {name: values.tolist() for name, values in self.initial.items()}
        dtype = next(name for name, real in REALS.items() if real == self.real)
        sizes = {"width": self.width, "frame_size": self.frame_size}
        return {"name": self.name, **ports, "initial": initial, "dtype": dtype, **sizes}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Layout:
        """Return the layout from the result of `as_dict`."""

        def ports(kind: str) -> tuple[Port, ...]:
            return tuple(Port(name, tuple(shape)) for name, shape in values[kind].items())

        return cls(
            name=values["name"],
            inputs=ports("inputs"),
            tables=ports("tables"),
            memory=ports("memory"),
            outputs=tuple(Output(name, tuple(x)) for name, x in values["outputs"].items()),
            initial={name: np.array(x, dtype=float) for name, x in values["initial"].items()},
            width=values["width"],
            real=REALS[values["dtype"]],
            frame_size=values["frame_size"],
        )
