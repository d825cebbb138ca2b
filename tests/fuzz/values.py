"""Odd values, odd texts and mutations of text and bytes."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

NUMBERS = [
    0, -1, 1, 2**31, 2**53, 2**64, 10**400, 0.0, -0.0, 1e-320, 1e-9, 0.5, 1e9, 1e300, -1e308,
    float("nan"), float("inf"), -float("inf"), 1j, True,
]  # fmt: skip
OTHERS: list[Any] = [
    None, "", "x", "nan", "\0", "a" * 5000, b"x", [], [[]], {}, (), [None], [1, "x"], {"a": 1},
    [float("nan")] * 3, [1e300] * 7, [0.0] * 7, range(3), object(), int, len, np.zeros((2, 2)),
    np.array("x"), np.array([]), np.zeros(0, dtype=object), np.float32(1), [1] * 3,
]  # fmt: skip
WORDS = [
    "", " ", "0", "-1", "1e400", "nan", "inf", "-inf", "1_000", "0x10", "1,5", "1e-320", "1e308",
    "2\t", " 2 ", "2\n", "1 2 3", "1 2", "abc", "true", "\u0000", "\uff12", "a" * 3000, "../..",
    "/dev/zero", "/proc/self/mem", "%s%n", "{}", "$(x)", "<", "&amp;", "]]>", "'", '"', "\\",
    "10000000000000", "-0", "+3", "1e", ".", "1..2", "9" * 400,
]  # fmt: skip


def odd(random: Random) -> Any:
    """Return a value that few functions expect."""
    return random.choice(NUMBERS if random.random() < 0.5 else OTHERS)


def word(random: Random) -> str:
    """Return a text that few readers expect."""
    return random.choice(WORDS)


def mutated_text(text: str, random: Random) -> str:
    """Return a text of lines with some doubled, cut, moved, or with letters changed."""
    lines = text.split("\n")
    for _ in range(random.randint(1, 3)):
        k = random.randrange(len(lines))
        kind = random.randrange(7)
        if kind == 0:
            del lines[k]
        elif kind == 1:
            lines.insert(k, lines[random.randrange(len(lines))])
        elif kind == 2:
            lines[k] = lines[k][: random.randint(0, len(lines[k]))]
        elif kind == 3:
            lines[k] = replaced_number(lines[k], random)
        elif kind == 4:
            at = random.randint(0, len(lines[k]))
            lines[k] = lines[k][:at] + word(random) + lines[k][at:]
        elif kind == 5:
            other = random.randrange(len(lines))
            lines[k], lines[other] = lines[other], lines[k]
        elif len(lines[k]) > 0:
            at = random.randrange(len(lines[k]))
            lines[k] = lines[k][:at] + chr(random.randrange(1, 0x250)) + lines[k][at + 1 :]
        if not lines:
            lines = [""]
    return "\n".join(lines)


def replaced_number(line: str, random: Random) -> str:
    """Return a line in which a number is another word."""
    import re

    found = list(re.finditer(r"-?\d+(\.\d+)?(e-?\d+)?", line))
    if not found:
        return line
    match = random.choice(found)
    return line[: match.start()] + word(random) + line[match.end() :]


def mutated_bytes(data: bytes, random: Random) -> bytes:
    """Return bytes with some flipped, cut off, doubled, zeroed or replaced."""
    made = bytearray(data or b"\0")
    a, b = sorted(random.randrange(len(made)) for _ in range(2))
    kind = random.randrange(6)
    if kind == 0:
        for _ in range(random.randint(1, 6)):
            made[random.randrange(len(made))] ^= 1 << random.randrange(8)
    elif kind == 1:
        del made[a:]
    elif kind == 2:
        made[a:a] = made[a : min(b, a + 4096)]
    elif kind == 3:
        made[a : min(b, a + 64)] = bytes(min(b, a + 64) - a)
    elif kind == 4:
        made[a : a + 8] = random.choice([b"[[[[nan\n", b"\xff" * 8, b"\x7f\xf0" * 4, b"9" * 8])
    else:
        del made[a : min(b, a + 256)]
    return bytes(made)
