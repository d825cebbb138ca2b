"""List the benchmarks: what each measures, and where its figures are kept.

python -m benchmarks
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from rich.console import Console
from rich.table import Table

FOLDER = Path(__file__).parent


def commands() -> dict[str, tuple[str, str]]:
    """Return the first line and the file of results of each benchmark, by its module."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        doc = ast.get_docstring(ast.parse(path.read_text())) or ""
        if path.stem.startswith("__") or not re.search(r"^ +python -m benchmarks\.", doc, re.M):
            continue
        kept = FOLDER / "results" / f"{path.stem.replace('_', '-')}.json"
        h200 = kept.with_stem(f"{kept.stem}-h200")
        files = [file.name for file in (kept, h200) if file.exists()]
        found[path.stem] = doc.splitlines()[0], ", ".join(files) or "-"
    return found


def main() -> None:
    table = Table("python -m benchmarks.NAME", "measures", "benchmarks/results")
    table.add_row("heelstrike bench", "This machine beside MuJoCo, in one run.", "bench.json")
    for name, (what, kept) in commands().items():
        table.add_row(name, what, kept)
    Console().print(table)


if __name__ == "__main__":
    main()
