"""Export of a program as a CasADi function, for derivatives and optimisation.

function = export_casadi(program, ["com"])
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.block import SX, Block, BlockCopy, GuardBlock, LoopBlock, Statement
from heelstrike.ir.code import Place, Port
from heelstrike.ir.number import split_numbers, value_of
from heelstrike.ir.program import Program


def export_casadi(program: Program, outputs: Sequence[str] | None = None) -> ca.Function:
    """Return the named outputs (default: all) as a CasADi function of the program's inputs.

    Arguments and results have the program's names, with _ in place of characters that CasADi does
    not accept. Values differ from a kernel's in the last bits, because a kernel fuses a*b + c. Only
    programs without memory, tables, arrays and loops can be exported. What a guard holds is always
    computed.
    """
    _check_plain(program)
    wanted = _wanted(program, outputs)
    ports = [program.outputs[name] for name in wanted]
    values: dict[Place, SX] = {}
    for block in _blocks(program, program.statements):
        _compute(program, block, {port.array for port in ports}, values)
    results = [_column(port, values) for port in ports]
    _, numbers = split_numbers(ca.symvar(ca.vertcat(*results)))
    results = ca.substitute(results, numbers, [SX(value_of(x)) for x in numbers])
    arguments = [program.input_symbols(name) for name in program.inputs]
    shaped = [_shaped(result, port) for result, port in zip(results, ports, strict=True)]
    name = _words([program.name])[0]
    return ca.Function(name, arguments, shaped, _words(program.inputs), _words(wanted))


def _blocks(program: Program, statements: Sequence[Statement]) -> Iterator[Block]:
    """Yield the blocks of a straight-line program, with those of its guards."""
    for statement in statements:
        if isinstance(statement, GuardBlock):
            yield from _blocks(program, statement.statements)
        elif isinstance(statement, BlockCopy):
            yield statement.expanded(program)
        elif isinstance(statement, Block):
            yield statement


def _compute(program: Program, block: Block, outputs: set[str], values: dict[Place, SX]) -> None:
    """Add a block's lets and wanted outputs, as expressions of the inputs, to the values."""
    wanted = [(p, e) for p, e in block.results if p.array is None or p.array in outputs]
    if not wanted:
        return
    places, entries = zip(*wanted, strict=True)
    results = block.resolve(ca.vertcat(*entries))
    symbols, _ = split_numbers(ca.symvar(results))
    read = [(symbol, program.place_of(symbol, block.tag)) for symbol in symbols]
    known = [(symbol, values[place]) for symbol, place in read if place in values]
    if known:
        old, new = (ca.vertcat(*x) for x in zip(*known, strict=True))
        results = ca.substitute(results, old, new)
    values.update(zip(places, ca.densify(results).nonzeros(), strict=True))


def _column(port: Port, values: Mapping[Place, SX]) -> SX:
    return ca.vertcat(*(values[Place(port.array, i)] for i in range(port.size)))


def _shaped(column: SX, port: Port) -> SX:
    """Return a matrix from its elements, which are stored row by row."""
    rows, columns = (*port.shape, 1)[:2]
    return ca.reshape(column, columns, rows).T


def _check_plain(program: Program) -> None:
    """Raise an error for a program that is more than straight-line code."""
    kinds = {
        "memory": program.memories,
        "tables": program.tables,
        "arrays": program.arrays,
        "loops": _loops(program.statements),
    }
    if found := [kind for kind, parts in kinds.items() if parts]:
        raise ProgramError(
            f"program '{program.name}' has {', '.join(found)}",
            allowed="straight-line programs",
            remedy="export it as .hs or C",
        )


def _loops(statements: Sequence[Statement]) -> list[LoopBlock]:
    found: list[LoopBlock] = []
    for statement in statements:
        if isinstance(statement, GuardBlock):
            found += _loops(statement.statements)
        elif isinstance(statement, LoopBlock):
            found.append(statement)
    return found


def _wanted(program: Program, outputs: Sequence[str] | None) -> list[str]:
    wanted = [outputs] if isinstance(outputs, str) else list(outputs or program.outputs)
    if unknown := sorted(set(wanted) - set(program.outputs)):
        raise ProgramError(
            f"program '{program.name}' has no output {', '.join(unknown)}",
            remedy=f"outputs: {', '.join(program.outputs)}",
        )
    return wanted


def _words(names: Iterable[str]) -> list[str]:
    """Return names that CasADi accepts: letters, digits and single _, a letter first."""
    words = [re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") for name in names]
    words = [word if word[:1].isalpha() else f"x{word}" for word in words]
    if twice := sorted({word for word in words if words.count(word) > 1}):
        raise ProgramError(
            f"several names become {', '.join(twice)} in CasADi", remedy="export them one by one"
        )
    return words
