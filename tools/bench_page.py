"""Writes docs/bench-figures.md from benchmarks/results/bench.json.

    heelstrike bench --out benchmarks/results/bench.json
    python tools/bench_page.py

docs/bench.md tells what the figures mean; this page is not edited by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

from heelstrike.view.pages.bench import page
from heelstrike.view.pages.markdown import write_markdown

ROOT = Path(__file__).parent.parent


def main() -> None:
    result = json.loads((ROOT / "benchmarks/results/bench.json").read_text())
    write_markdown(page(result), ROOT / "docs/bench-figures.md")


if __name__ == "__main__":
    main()
