"""Writes docs/papers/NAME-rows.md: every row of every item of a paper, from one run of all.

    python tools/paper_pages.py [--jobs N]

The pages beside them tell what the rows mean; these are made by the reproduction and are not edited
by hand. Pictures are left out: `heelstrike paper NAME --report DIR` draws them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from heelstrike.papers import papers
from heelstrike.papers.document import document
from heelstrike.papers.making import Task, make
from heelstrike.view.pages.markdown import write_markdown

PAGES = Path(__file__).parent.parent / "docs" / "papers"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tasks = [
            Task(paper.name, item, Path(folder) / paper.name / f"{item}.png")
            for paper in papers()
            for item in paper.items
        ]
        for task in tasks:
            task.picture.parent.mkdir(exist_ok=True)
        made = {(one.task.paper, one.task.item): one for one in make(tasks, jobs)}
    seconds = time.perf_counter() - started
    for paper in papers():
        results = [replace(made[paper.name, item], picture=None) for item in paper.items]
        write_markdown(document(results, seconds, jobs), PAGES / f"{paper.name}-rows.md")
    rows = sum(len(one.rows) for one in made.values())
    print(f"{len(made)} items, {rows} rows, in {seconds:.0f} s")


if __name__ == "__main__":
    main()
