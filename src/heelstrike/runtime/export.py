"""Programs for use elsewhere: as a file that llvmlite and numpy run, in C, or in CasADi.

export(program, "flight.hs")                       # heelstrike.runtime.exported loads it
export_c(compile_program(program), "build/")       # flight.h, flight.o, flight.so
function = export_casadi(program, ["com"])         # for derivatives and optimisation
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.code import Place, Port
from heelstrike.ir.number import parted, value_of
from heelstrike.ir.program import SX, Block, Program
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.container import pack, write
from heelstrike.runtime.export_c import CFiles, export_c
from heelstrike.runtime.kernel import Kernel

__all__ = ["CFiles", "export", "export_c", "export_casadi"]


def export(
    program: Program | Kernel,
    path: str | Path,
    outputs: Sequence[str] | None = None,
    width: int | None = None,
    dtype: str = "float64",
    level: int = 2,
) -> Path:
    """Writes a program's machine code for this kind of CPU to a .hs file; `load_exported` loads it.

    The options are those of `compile_program`, for a program; a kernel has them already.
    """
    path = Path(path)
    if path.suffix != ".hs":
        raise ProgramError(
            f"an exported program is a .hs file, not '{path.name}'; for C there is export_c, "
            "for CasADi export_casadi"
        )
    if isinstance(program, Program):
        program = compile_program(program, outputs, width, dtype, level)
    elif (outputs, width, dtype, level) != (None, None, "float64", 2):
        raise ProgramError("a compiled kernel has its outputs, width, dtype and level already")
    try:
        write(path, pack(program.layout, program.code), mode=0o666 & ~_umask())
    except OSError as error:
        raise ProgramError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def export_casadi(program: Program, outputs: Sequence[str] | None = None) -> ca.Function:
    """The named outputs (default: all) as a CasADi function of the program's inputs.

    Arguments and results have the program's names, characters that CasADi does not take replaced by
    _. Its values differ from a kernel's in the last bits: a kernel fuses a*b + c.
    """
    _check_plain(program)
    wanted = _wanted(program, outputs)
    blocks = [item for item in program.items if isinstance(item, Block)]
    entries = {place: entry for block in blocks for place, entry in block.results}
    results = [_column(program.outputs[name], entries) for name in wanted]
    if lets := [pair for block in blocks for pair in block.lets]:
        symbols, meanings = (list(x) for x in zip(*lets, strict=True))
        results = ca.substitute_inplace(symbols, meanings, results)[1]
    symbols, numbers = parted(ca.symvar(ca.vertcat(*results)))
    for symbol in symbols:
        program.place_of(symbol, "outputs")  # an error if it is not of this program
    results = ca.substitute(results, numbers, [SX(value_of(x)) for x in numbers])
    sources = {place: symbol for place, symbol in program._places.values()}
    arguments = [_column(port, sources) for port in program.inputs.values()]
    ports = [program.outputs[name] for name in wanted]
    shaped = [_shaped(result, port) for result, port in zip(results, ports, strict=True)]
    name = _words([program.name])[0]
    return ca.Function(name, arguments, shaped, _words(program.inputs), _words(wanted))


def _column(port: Port, values: Mapping[Place, SX]) -> SX:
    return ca.vertcat(*(values[Place(port.array, i)] for i in range(port.size)))


def _shaped(column: SX, port: Port) -> SX:
    """A matrix from its elements row by row."""
    rows, columns = (*port.shape, 1)[:2]
    return ca.reshape(column, columns, rows).T


def _check_plain(program: Program) -> None:
    kinds = {
        "memory": program.memories,
        "tables": program.tables,
        "arrays": program.arrays,
        "loops": [item for item in program.items if not isinstance(item, Block)],
    }
    if found := [kind for kind, parts in kinds.items() if parts]:
        raise ProgramError(
            f"program '{program.name}' has {', '.join(found)}; only straight-line programs become "
            "a CasADi function: export it as .hs or C"
        )


def _wanted(program: Program, outputs: Sequence[str] | None) -> list[str]:
    wanted = [outputs] if isinstance(outputs, str) else list(outputs or program.outputs)
    if unknown := sorted(set(wanted) - set(program.outputs)):
        raise ProgramError(
            f"program '{program.name}' has no output {', '.join(unknown)}; "
            f"outputs: {', '.join(program.outputs)}"
        )
    return wanted


def _words(names: Iterable[str]) -> list[str]:
    """Names as CasADi takes them: letters, digits and single _, a letter first."""
    words = [re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") for name in names]
    words = [word if word[:1].isalpha() else f"x{word}" for word in words]
    if twice := sorted({word for word in words if words.count(word) > 1}):
        raise ProgramError(
            f"several names become {', '.join(twice)} in CasADi; export them one by one"
        )
    return words


def _umask() -> int:
    """Of this process; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
