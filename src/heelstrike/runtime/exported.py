"""Loads an exported program: no CasADi, no Pinocchio, nothing is traced or compiled.

kernel = load_exported("flight.hs")
batch = kernel.batch(1000)
"""

from __future__ import annotations

from pathlib import Path

from heelstrike.errors import ProgramError
from heelstrike.runtime.container import Target, here, unpack
from heelstrike.runtime.kernel import Kernel


def load_exported(path: str | Path) -> Kernel:
    """The kernel of a .hs file, with the bits of the one that was exported.

    A .hs file is machine code: load it only from where you would run a program.
    """
    try:
        packed = unpack(Path(path).read_bytes())
    except OSError as error:
        raise ProgramError(f"{path} cannot be read: {error.strerror or error}") from error
    except ProgramError as error:
        raise ProgramError(f"{path} cannot be used: {error}; export it again") from error
    if (obstacle := _obstacle(packed.target, here())) is not None:
        raise ProgramError(f"{path} cannot run here: {obstacle}; export it on this kind of machine")
    return Kernel(packed.layout, packed.code)


def _obstacle(made_for: Target, this: Target) -> str | None:
    """Why code for one machine cannot run on another, or None."""
    if made_for.platform != this.platform:
        return f"it was made for {made_for.platform}, this is {this.platform}"
    if missing := sorted(made_for.required - this.required):
        return f"it was made for {made_for.cpu}, and this CPU has no {', '.join(missing)}"
    return None
