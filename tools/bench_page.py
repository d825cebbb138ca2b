"""Writes docs/bench-figures.md and docs/growth-figures.md from benchmarks/results.

    heelstrike bench --out benchmarks/results/bench.json
    heelstrike bench --growth --out benchmarks/results/growth.json
    python tools/bench_page.py

docs/bench.md tells what the figures mean; these pages are not edited by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

from heelstrike.view import plot
from heelstrike.view.figures.bench import growth
from heelstrike.view.pages.bench import page
from heelstrike.view.pages.growth import CAPTION, growth_page
from heelstrike.view.pages.markdown import write_markdown
from heelstrike.view.pages.page import Picture

ROOT = Path(__file__).parent.parent


def main() -> None:
    result = json.loads((ROOT / "benchmarks/results/bench.json").read_text())
    write_markdown(page(result), ROOT / "docs/bench-figures.md")
    grown = json.loads((ROOT / "benchmarks/results/growth.json").read_text())
    drawn = plot.save(growth(grown["growth"]), ROOT / "docs/images/growth.png", few_colours=True)
    write_markdown(growth_page(grown, (Picture(drawn, CAPTION),)), ROOT / "docs/growth-figures.md")


if __name__ == "__main__":
    main()
