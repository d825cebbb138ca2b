"""Loading of exported programs, which needs neither CasADi nor Pinocchio.

kernel = load_exported("step.hs")
batch = kernel.batch(1000)
"""

from __future__ import annotations

from pathlib import Path

from heelstrike.errors import ProgramError
from heelstrike.runtime.container import CodeTarget, this_machine, unpack
from heelstrike.runtime.kernel import Kernel


def load_exported(path: str | Path) -> Kernel:
    """Load the kernel of a .hs file; its results equal those of the exported kernel bit by bit.

    A .hs file is machine code: load it only from sources whose programs you would run.
    """
    try:
        packed = unpack(Path(path).read_bytes())
    except OSError as error:
        raise ProgramError(
            f"cannot read {path}: {error.strerror or error}", path=str(path)
        ) from error
    except ProgramError as error:
        raise ProgramError(
            f"cannot use {path}: {error}", path=str(path), remedy="export it again"
        ) from error
    if (obstacle := _obstacle(packed.target, this_machine())) is not None:
        raise ProgramError(
            f"{path} cannot run on this machine: {obstacle}",
            path=str(path),
            remedy="export it on a machine of this kind",
        )
    return Kernel(packed.layout, packed.code)


def _obstacle(made_for: CodeTarget, this: CodeTarget) -> str | None:
    """Return why code for one machine cannot run on another, or None if it can."""
    if made_for.platform != this.platform:
        return f"it was made for {made_for.platform}, this is {this.platform}"
    if missing := sorted(made_for.required - this.required):
        return f"it was made for {made_for.cpu}, and this CPU lacks {', '.join(missing)}"
    return None
