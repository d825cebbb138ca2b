"""Interpreter of the few instructions of hand-written PTX, for all threads of a launch at once.

Registers are arrays with an entry a thread that is still there; a branch goes to the end, and who
takes it leaves. Memory is the process's own.
"""

from __future__ import annotations

import ctypes
import re

import numpy as np

SPECIAL = {"%ctaid.x": lambda i, n: i // n, "%ntid.x": lambda i, n: 0 * i + n}
SPECIAL["%tid.x"] = lambda i, n: i % n
ARITHMETIC = {
    "add.u64": lambda a, b: a + b,
    "sub.u64": lambda a, b: a - b,
    "mul.lo.u64": lambda a, b: a * b,
    "mul.wide.u32": lambda a, b: a * b,
    "mad.lo.u64": lambda a, b, c: a * b + c,
    "div.u64": lambda a, b: a // b,
    "and.b64": lambda a, b: a & b,
    "shr.u64": lambda a, b: a >> b,
    "shl.b64": lambda a, b: a << b,
    "cvt.u64.u32": lambda a: a,
    "cvta.to.global.u64": lambda a: a,
    "setp.ge.u64": lambda a, b: a >= b,
    "setp.eq.u16": lambda a, b: a == b,
}


def run(text, grid, block, arguments):
    """Launch the only entry of a PTX text."""
    names = re.findall(r"\.param \.u64 (\w+)", text)
    given = dict(zip(names, arguments, strict=True))
    threads = np.arange(grid * block)
    registers: dict[str, np.ndarray] = {}
    body = text[text.index("{") + 1 : text.index("DONE:")]

    def value(word):
        if word in SPECIAL:
            return SPECIAL[word](threads, block)
        return registers[word] if word.startswith("%") else int(word)

    for statement in re.sub(r"\.reg[^;]*;", "", body).split(";")[:-1]:
        operation, _, rest = statement.strip().partition(" ")
        words = [word.strip(" []") for word in rest.split(",")]
        if operation.startswith("@"):
            assert rest == "bra DONE"
            stays = ~registers[operation[1:]]
            threads = threads[stays]
            registers = {name: x[stays] for name, x in registers.items()}
        elif operation == "ld.param.u64":
            registers[words[0]] = np.full(len(threads), given[words[1]])
        elif operation.startswith("ld.global."):
            registers[words[0]] = memory(value(words[1]), operation)[0]
        elif operation.startswith("st.global."):
            _, there, at = memory(value(words[0]), operation)
            there[at] = value(words[1])
        elif operation == "mov.u32":
            registers[words[0]] = value(words[1])
        else:
            registers[words[0]] = ARITHMETIC[operation](*map(value, words[1:]))


def memory(addresses, operation):
    """Return the values at addresses, the memory that holds them, and their places in it."""
    kind = np.dtype(f"u{int(operation.rpartition('.')[2][1:]) // 8}")
    if not len(addresses):
        return np.zeros(0, kind), np.zeros(0, kind), addresses
    first, size = int(addresses.min()), kind.itemsize
    count = (int(addresses.max()) - first) // size + 1
    there = np.frombuffer((ctypes.c_char * (count * size)).from_address(first), kind)
    at, rest = np.divmod(addresses - first, size)
    assert not rest.any()
    return there[at], there, at
