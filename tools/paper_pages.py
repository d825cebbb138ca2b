"""Writes the pages of the papers from one run of all items.

    python tools/paper_pages.py [--jobs N]     # run all items, write rows, pictures and numbers
    python tools/paper_pages.py rengifo2009    # items of one paper, or of several
    python tools/paper_pages.py --fill         # no run: numbers of the pages from the rows' pages

docs/papers/NAME-rows.md holds every row of every item and is not edited by hand. In the other pages
(docs/papers/NAME.md, docs/report.md, README.md) this command writes

- a number that is followed by the name of its row: 0.82<!-- fig12: slide of a sole [mm] -->
- what stands between <!-- generated: KIND NAME --> and <!-- end -->; KINDS has them.

tests/papers/test_paper_pages.py holds that the pages fit together, and the nightly test of
tests/papers/test_inventory.py runs the items again and compares.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heelstrike.papers import NAMES, paper
from heelstrike.papers.document import document, failures, in_words, tally
from heelstrike.papers.making import Task, make
from heelstrike.papers.report import FAULT, Row, Status, written
from heelstrike.view.pages.markdown import plain, write_markdown

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "papers"
FILLED = (
    *(PAGES / f"{name}.md" for name in NAMES),
    ROOT / "docs" / "report.md",
    ROOT / "README.md",
)
PICTURES = {
    ("marhefka1996", "fig3"),
    ("rengifo2009", "fig13"),
    ("sugihara2006", "fig7"),
    ("sugihara2006", "vertices"),
    ("tsujita2009", "fig6"),
    ("tsujita2009", "fig7"),
}
"""Items whose pictures docs/images holds, as NAME_ITEM.png."""
COLOURS = 128
"""Of those pictures."""
NUMBER = re.compile(r"(?P<number>[-+.\de]+)<!-- (?P<item>[\w-]+): (?P<quantity>.*?) -->")
BLOCK = re.compile(
    r"(?P<head><!-- generated: (?P<kind>\w+) (?P<name>\w+) -->\n).*?(?P<tail><!-- end -->)",
    re.DOTALL,
)
FORM = "; closed form"
"""Ends the name of a row whose closed form is meant, not our number."""
CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Told:
    """An item as the page of rows tells it."""

    title: str
    claim: str
    rows: tuple[Row, ...]


Paper = Mapping[str, Told]
"""By item."""


def read(name: str) -> Paper:
    """Return the items of a paper as its page of rows tells them."""
    text = (PAGES / f"{name}-rows.md").read_text(encoding="utf-8")
    found = {}
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        item, _, title = _bare(head).partition(": ")
        if title:
            claim = _bare(body.strip().partition("\n")[0])
            found[item] = Told(title, claim, tuple(_rows(body)))
    return found


def _rows(body: str) -> list[Row]:
    rows: list[Row] = []
    why = ""
    for line in body.splitlines():
        cells = [_bare(cell.strip()) for cell in CELL.split(line)[1:-1]]
        if len(cells) != 7 or cells[5] not in set(Status):
            continue
        why = why if cells[6] == "as above" else cells[6]
        holds = {Status.differs: False, Status.unknown: None}.get(Status(cells[5]), True)
        theirs, form, ours = (None if cell == "-" else cell for cell in cells[1:4])
        rows.append(
            Row(
                cells[0],
                None if ours is None else float(ours),
                holds,
                theirs,
                None if form is None else float(form),
                remark=why,
                fault=why.startswith(FAULT),
            )
        )
    return rows


def _bare(text: str) -> str:
    """Return text without the escapes of Markdown."""
    return re.sub(r"\\(.)", r"\1", text)


def fill(text: str, told: Mapping[str, Paper], name: str) -> str:
    """Return a page with its numbers and blocks; items are those of the paper `name`."""

    def number(match: re.Match[str]) -> str:
        item, asked = match["item"], match["quantity"]
        quantity = asked.removesuffix(FORM)
        rows = told[name][item].rows if item in told[name] else ()
        row = next((row for row in rows if row.quantity == quantity), None)
        found = row and (row.ours if quantity == asked else row.closed_form)
        if found is None:
            raise SystemExit(f"{name} has no row '{item}: {asked}'")
        return f"{found:.3g}<!-- {item}: {asked} -->"

    def block(match: re.Match[str]) -> str:
        of = NAMES if match["name"] == "all" else (match["name"],)
        made = KINDS[match["kind"]]({one: told[one] for one in of})
        return f"{match['head']}{made}\n{match['tail']}"

    return BLOCK.sub(block, NUMBER.sub(number, text))


def _counts(told: Mapping[str, Paper]) -> str:
    """All counts, as sentences."""
    return in_words([row for items in told.values() for one in items.values() for row in one.rows])


def _short(told: Mapping[str, Paper]) -> str:
    """The counts in one sentence, for README.md."""
    rows = [row for items in told.values() for one in items.values() for row in one.rows]
    said = [row for row in rows if row.theirs is not None]
    count = tally(rows)
    return (
        f"Of {len(said)} printed numbers and statements of the four papers "
        f"{count[Status.reproduced]} are reproduced ({failures(said)} of them failures of a law "
        f"that the paper reports). Beside them, {count[Status.agrees]} numbers agree with closed "
        f"forms or with the set-up, and {count[Status.meets]} meet criteria of ours "
        "([report](docs/report.md))."
    )


def _papers(told: Mapping[str, Paper]) -> str:
    """One line for each paper."""
    lines = []
    for name, items in told.items():
        rows = [row for one in items.values() for row in one.rows]
        lines.append((name, str(len(items)), str(len(rows)), *_by_status(rows)))
    everything = [row for items in told.values() for one in items.values() for row in one.rows]
    total = sum(len(items) for items in told.values())
    lines.append(("all", str(total), str(len(everything)), *_by_status(everything)))
    return _table(("paper", "items", "rows", *(status.name for status in Status)), lines, 1)


def _items(told: Mapping[str, Paper]) -> str:
    """One line for each item: what the paper says, and the number of rows by status."""
    lines = [
        (item, plain(one.claim), *_by_status(one.rows))
        for items in told.values()
        for item, one in items.items()
    ]
    return _table(("item", "the paper says", *(status.name for status in Status)), lines, 2)


def _differing(told: Mapping[str, Paper]) -> str:
    """One line for each row that differs."""
    lines = [
        (item, plain(row.quantity), plain(written(row.theirs)), written(row.closed_form),
         written(row.ours))
        for items in told.values()
        for item, one in items.items()
        for row in one.rows
        if row.status is Status.differs
    ]  # fmt: skip
    return _table(("item", "quantity", "theirs", "closed form", "ours"), lines, 3)


KINDS: dict[str, Callable[[Mapping[str, Paper]], str]] = {
    "counts": _counts,
    "short": _short,
    "papers": _papers,
    "items": _items,
    "differing": _differing,
}


def _by_status(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(str(count) for count in tally(rows).values())


def _table(columns: Sequence[str], lines: Sequence[Sequence[str]], words: int) -> str:
    """Return a table; columns after the first `words` hold numbers."""
    rules = ["---" if i < words else "---:" for i in range(len(columns))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rules, *lines))


def fill_pages() -> None:
    """Write numbers and blocks of all pages anew."""
    told = {name: read(name) for name in NAMES}
    for page in FILLED:
        name = page.stem if page.stem in NAMES else NAMES[0]
        text = page.read_text(encoding="utf-8")
        page.write_text(fill(text, told, name), encoding="utf-8")


def run(names: Sequence[str], jobs: int) -> None:
    """Reproduce all items of these papers; write their pages of rows, and pictures of the docs."""
    started, chosen = time.perf_counter(), [paper(name) for name in names]
    with tempfile.TemporaryDirectory() as folder:
        tasks = [
            Task(one.name, item, Path(folder) / one.name / f"{item}.png")
            for one in chosen
            for item in one.items
        ]
        for task in tasks:
            task.picture.parent.mkdir(exist_ok=True)
        made = {(one.task.paper, one.task.item): one for one in make(tasks, jobs)}
        for (name, item), one in made.items():
            if one.error:
                print(f"{name} {item} could not be made: {one.error}")
            elif (name, item) in PICTURES:
                assert one.picture is not None, f"{name} {item} draws nothing"
                _copy(one.picture, ROOT / "docs" / "images" / f"{name}_{item}.png")
    seconds = time.perf_counter() - started
    for each in chosen:
        results = [replace(made[each.name, item], picture=None) for item in each.items]
        write_markdown(document(results, seconds, jobs), PAGES / f"{each.name}-rows.md")
    rows = sum(len(one.rows) for one in made.values())
    print(f"{len(made)} items, {rows} rows, in {seconds:.0f} s")


def _copy(picture: Path, to: Path) -> None:
    """Copy a picture with fewer colours, which takes a third of the room."""
    from PIL import Image

    with Image.open(picture) as image:
        image.convert("RGB").quantize(COLOURS).save(to, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("papers", nargs="*", default=NAMES, help="default: all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fill", action="store_true", help="numbers of the pages only, no run")
    chosen = parser.parse_args()
    if not chosen.fill:
        run(chosen.papers, chosen.jobs)
    fill_pages()


if __name__ == "__main__":
    main()
