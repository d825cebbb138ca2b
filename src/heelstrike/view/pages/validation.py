"""A report of validations: a Markdown page with pictures, and the numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from heelstrike.files import whole_file
from heelstrike.validation.tables import markdown
from heelstrike.validation.validate import Validation
from heelstrike.view.figures.validation import write_figures

PAGE, NUMBERS = "report.md", "report.json"


def write_report(found: Sequence[Validation], folder: Path) -> Path:
    """Write page, pictures and numbers to a folder, and return the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = ["# Contact laws against measurements\n"]
    for one in found:
        values = one.as_dict()
        pictures = write_figures(one, folder)
        parts += [
            f"## {one.name}: {one.title}\n",
            " ".join(one.notes) + "\n",
            "Mean over cases with its standard error; in brackets the median.\n",
            markdown(values) + "\n",
            *(f"- {sentence}" for sentence in one.verdict),
            "",
            *(f"![{path.stem}]({path.name})\n" for path in pictures),
        ]
    numbers = json.dumps([one.as_dict() for one in found], indent=1, allow_nan=False)
    for name, text in ((PAGE, "\n".join(parts)), (NUMBERS, numbers + "\n")):
        with whole_file(folder / name) as part:
            part.write_text(text, encoding="utf-8")
    return folder / PAGE
