"""A program for C: a header, an object file and, where a C compiler is found, a shared library.

The interface is one function over plain arrays; the header says how they are laid out.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf, isnan
from pathlib import Path

import heelstrike
from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError
from heelstrike.runtime.container import here
from heelstrike.runtime.kernel import Kernel
from heelstrike.runtime.tiles import ALIGNMENT

TAKEN = (
    " auto break case char const continue default do double else enum extern float for goto if "
    "inline int long main register restrict return short signed sizeof static struct switch "
    "typedef union unsigned void volatile while "
)
"""Words that mean something else to C."""


@dataclass(frozen=True)
class CFiles:
    """What was written, and what to know about it."""

    header: Path
    object: Path
    library: Path | None
    """None where no C compiler was found, or it failed."""
    note: str


def export_c(kernel: Kernel, folder: str | Path) -> CFiles:
    """NAME.h, NAME.o and NAME.so of a kernel, for this kind of CPU."""
    name = kernel.layout.name
    if f" {name} " in TAKEN:
        raise ProgramError(f"a C function cannot be called '{name}'; give the program another name")
    folder = Path(folder)
    declared, code, library = (folder / f"{name}{suffix}" for suffix in (".h", ".o", ".so"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        declared.write_text(header(kernel.layout))
        code.write_bytes(kernel.code)
    except OSError as error:
        raise ProgramError(f"{folder} cannot be written: {error.strerror or error}") from error
    trouble = _link(code, library)
    if trouble is None:
        return CFiles(declared, code, library, f"{library} is ready to be linked or loaded")
    library.unlink(missing_ok=True)  # of an earlier export
    note = f"no {library.name}: {trouble}; link {code.name} into your program, with -lm"
    return CFiles(declared, code, None, note)


def _link(code: Path, library: Path) -> str | None:
    """Makes the shared library; returns why it could not, or None."""
    compiler = shutil.which("cc")
    if compiler is None:
        return "no C compiler (cc) on the PATH"
    command = [compiler, "-shared", "-o", str(library), str(code), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"{compiler} says {done.stderr.strip()[:300]!r}"


def header(layout: Layout) -> str:
    """The C header: the prototype, what it means, and the layout as constants."""
    prefix = layout.name.upper()
    taken = {port.name for port in (*layout.inputs, *layout.tables, *layout.memory)}
    recorded = [port.array if port.name in taken else port.name for port in layout.outputs]
    others = layout.ports[: len(layout.ports) - len(recorded)]
    words = _words([*(port.name for port in others), *recorded])
    kinds = {"input": layout.inputs, "table": layout.tables, "memory": layout.memory}
    kinds["output"] = layout.outputs
    lines = [_INTRODUCTION.format(**_facts(layout))]
    lines += [
        f"#define {prefix}_WIDTH {layout.width} /* worlds in a tile */",
        f"#define {prefix}_REAL {layout.real.name}",
        f"#define {prefix}_ALIGNMENT {ALIGNMENT} /* of every array [bytes] */",
        f"#define {prefix}_FRAME_BYTES {_frame_bytes(layout)} /* scratch memory of a thread */",
        f"#define {prefix}_PORTS {len(layout.ports)}",
        "",
    ]
    number = 0
    for kind, ports in kinds.items():
        for port in ports:
            shape = " x ".join(map(str, port.shape))
            word = words[number]
            lines.append(f"/* {kind} {_comment(port.name)}, {shape} */")
            lines.append(f"#define {prefix}_PORT_{word} {number}")
            lines.append(f"#define {prefix}_SIZE_{word} {port.size}")
            if kind == "memory":
                values = ", ".join(_number(x) for x in layout.initial[port.name])
                lines.append(f"#define {prefix}_INITIAL_{word} {{{values}}}")
            number += 1
    return "\n".join([*lines, _PROTOTYPE.format(**_facts(layout))])


_INTRODUCTION = """\
/* {name}: written by Heelstrike {version} for {cpu} ({platform}).
 *
 * The function works through the tiles first .. last - 1, each for `steps` steps. A tile is W =
 * {prefix}_WIDTH worlds side by side; values are of type {prefix}_REAL.
 *
 *   ports[p]    the array of port p (see {prefix}_PORT_...). Element i of tile t is W values, one a
 *               world, at ports[p] + t * strides[p] + r * records[p] + i * W * sizeof(REAL); a
 *               matrix is stored row by row. A table is a plain array, the same for all worlds.
 *   strides[p]  bytes from tile to tile; of an input that all tiles share, and of tables, 0
 *   records[p]  of outputs: bytes from record to record; of all other ports 0
 *   frames      scratch memory of {prefix}_FRAME_BYTES, not shared between threads
 *   steps       1 for a program without memory
 *   every       outputs are written in steps s with (phase + s) % every == 0, as records 0, 1, 2
 *   phase       steps made before, if `every` is to count them
 *
 * Memory is read and written: start it with {prefix}_INITIAL_... (one value an element: repeat it
 * in all W worlds). Every array is aligned to {prefix}_ALIGNMENT bytes. Fill unused worlds of the
 * last tile with copies of a used one. Several threads may call it, for different tiles.
 */
#ifndef HEELSTRIKE_{prefix}_H
#define HEELSTRIKE_{prefix}_H

#include <math.h>
#include <stdint.h>
"""

_PROTOTYPE = """
#ifdef __cplusplus
extern "C" {{
#endif
void {name}(void *const *ports, const int64_t *strides, const int64_t *records, void *frames,
    int64_t first, int64_t last, int64_t steps, int64_t every, int64_t phase);
#ifdef __cplusplus
}}
#endif

#endif
"""


def _facts(layout: Layout) -> dict[str, str]:
    target = here()
    return {
        "name": layout.name,
        "prefix": layout.name.upper(),
        "version": heelstrike.__version__,
        "cpu": target.cpu,
        "platform": target.platform,
    }


def _frame_bytes(layout: Layout) -> int:
    return max(layout.frame_size, 1) * layout.width * layout.real.bytes


def _words(names: Sequence[str]) -> list[str]:
    """Names as parts of C's: capitals, digits and _; a number after those that would be equal."""
    words: list[str] = []
    for name in names:
        word = re.sub(r"[^A-Z0-9]", "_", name.upper())
        while word in words:
            word += f"_{len(words)}"
        words.append(word)
    return words


def _comment(name: str) -> str:
    return name.replace("*/", "* /")


def _number(x: float) -> str:
    if isnan(x):
        return "NAN"
    return ("-" if x < 0 else "") + "INFINITY" if isinf(x) else float(x).hex()
