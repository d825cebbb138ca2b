"""Export of a kernel for C: a header, an object file and, with a C compiler, a shared library.

    export_c(compile_program(program), "build/")       # step.h, step.o, step.so

The interface is one function over plain arrays, whose layout the header describes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf, isnan
from pathlib import Path

import heelstrike
from heelstrike.codegen.layout import Layout
from heelstrike.errors import ProgramError
from heelstrike.files import cannot_write, whole_file
from heelstrike.runtime.arrays import ALIGNMENT
from heelstrike.runtime.container import this_machine
from heelstrike.runtime.kernel import Kernel

RESERVED = (
    " auto break case char const continue default do double else enum extern float for goto if "
    "inline int long main register restrict return short signed sizeof static struct switch "
    "typedef union unsigned void volatile while "
)
"""Words that are reserved in C."""


@dataclass(frozen=True)
class CFiles:
    """Files that were written."""

    header: Path
    object: Path
    library: Path | None
    """Shared library; None if no C compiler was found, or it failed."""
    note: str
    """Sentence for the user: whether there is a library, and what to do without."""


def export_c(kernel: Kernel, folder: str | Path) -> CFiles:
    """Write NAME.h, NAME.o and, with a C compiler, NAME.so of a kernel, for this kind of CPU."""
    name = kernel.layout.name
    if f" {name} " in RESERVED:
        raise ProgramError(
            f"a C function cannot be called '{name}'", remedy="give the program another name"
        )
    folder = Path(folder)
    declared, code, library = (folder / f"{name}{suffix}" for suffix in (".h", ".o", ".so"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    with whole_file(declared) as part:
        part.write_text(header(kernel.layout))
    with whole_file(code) as part:
        part.write_bytes(kernel.code)
    failure = _link(code, library)
    if failure is None:
        return CFiles(declared, code, library, f"{library} is ready to be linked or loaded")
    library.unlink(missing_ok=True)  # of an earlier export
    note = f"no {library.name}: {failure}; link {code.name} into your program, with -lm"
    return CFiles(declared, code, None, note)


def _link(code: Path, library: Path) -> str | None:
    """Link the shared library, and return None, or why it could not be linked."""
    compiler = shutil.which("cc")
    if compiler is None:
        return "no C compiler (cc) on the PATH"
    with tempfile.TemporaryDirectory() as place:
        made = Path(place, library.name)
        command = [compiler, "-shared", "-o", str(made), str(code), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"{compiler} reports {done.stderr.strip()[:300]!r}"
        with whole_file(library) as part:
            shutil.copyfile(made, part)
    return None


def header(layout: Layout) -> str:
    """Return the C header: the prototype, its documentation, and the layout as constants."""
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
        f"#define {prefix}_FRAME_BYTES {_frame_bytes(layout)} /* scratch memory per thread */",
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
 * The function makes `steps` steps in the tiles first .. last - 1. A tile is W = {prefix}_WIDTH
 * worlds side by side; values are of type {prefix}_REAL.
 *
 *   ports[p]    the array of port p (see {prefix}_PORT_...). Element i of tile t in record r is W
 *               values, one per world, at
 *               ports[p] + t * strides[p] + r * records[p] + i * W * sizeof(REAL);
 *               a matrix is stored row by row. A table is a plain array, shared by all worlds.
 *   strides[p]  bytes from tile to tile; 0 for tables and for inputs that all tiles share
 *   records[p]  bytes from record to record of an output; 0 for all other ports
 *   frames      scratch memory of {prefix}_FRAME_BYTES, not shared between threads
 *   steps       1 for a program without memory
 *   every       outputs are written in steps s with (phase + s) % every == 0, as records 0, 1, 2
 *   phase       number of earlier steps that `every` counts
 *
 * Memory is read and written: initialise it with {prefix}_INITIAL_... (one value per element, to
 * be repeated in all W worlds). Every array must be aligned to {prefix}_ALIGNMENT bytes. Fill
 * unused worlds of the last tile with copies of a used one. Several threads may call the function
 * at the same time, for different tiles.
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
    target = this_machine()
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
    """Return names as parts of C identifiers: capitals, digits and _, made unique by a number."""
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
