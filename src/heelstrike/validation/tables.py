"""Tables of a validation, from its numbers as `Validation.as_dict` returns them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WIDE = 78
"""Columns of a terminal that a table may use."""


def rows(values: Mapping[str, Any]) -> list[list[str]]:
    """Return a head, a row for each model, and the noise floor: mean +- error (median)."""
    measures = values["measures"]
    head = ["", *(f"{name} [{one['unit']}]" for name, one in measures.items())]
    found = [head]
    for name, model in values["models"].items():
        cells = [_score(model["scores"][measure]) for measure in measures]
        gone = f" ({model['diverged']} diverged)" if model["diverged"] else ""
        found.append([name + gone, *cells])
    floor = values["floor"]
    if floor:
        for part, words in (
            ("start_noise", "noise of the start"),
            ("repeatability", "not repeated"),
        ):
            if floor[part]:
                found.append([words, *(_score(floor[part].get(m)) for m in measures)])
    if any(one["aim"] for one in measures.values()):
        aims = [f"{one['aim']:g}" if one["aim"] else "" for one in measures.values()]
        found.append(["aim", *aims])
    return found


def _score(score: Mapping[str, float | None] | None) -> str:
    """Return a mean with its standard error, and the median."""
    if score is None or score["mean"] is None:
        return "-"
    error = "" if score["error"] is None else f" +- {score['error']:.2g}"
    return f"{score['mean']:.3g}{error} ({score['median']:.3g})"


def table(values: Mapping[str, Any]) -> str:
    """Return the table as text of 80 columns; measures that do not fit follow below."""
    found = rows(values)
    margin = max(len(row[0]) for row in found)
    widths = [max(len(row[k]) for row in found) for k in range(1, len(found[0]))]
    parts, at = [], 0
    while at < len(widths):
        end, used = at, margin
        while end < len(widths) and (end == at or used + 2 + widths[end] <= WIDE):
            used += 2 + widths[end]
            end += 1
        lines = [
            f"{row[0]:<{margin}}" + "".join(f"  {row[1 + k]:>{widths[k]}}" for k in range(at, end))
            for row in found
        ]
        parts.append("\n".join(line.rstrip() for line in lines))
        at = end
    return "\n\n".join(parts)


def markdown(values: Mapping[str, Any]) -> str:
    """Return the table for a page, with what was found of each model."""
    found = rows(values)
    models = list(values["models"].values())
    lines = []
    for k, row in enumerate(found):
        number = k - 1
        if k == 0:
            extra = "found (95 %)"
        else:
            extra = parameters(models[number]["fit"]) if number < len(models) else ""
        lines.append(f"| {' | '.join([*row, extra])} |")
    lines.insert(1, "| --- |" + " ---: |" * (len(found[0]) - 1) + " --- |")
    return "\n".join(lines)


def parameters(fit: Mapping[str, Any]) -> str:
    """Return the parameters of a fit with their intervals."""
    parts = []
    for path, value in fit["values"].items():
        low, high = fit["intervals"][path]
        end = ", at the end of its range" if path in fit["at_end"] else ""
        parts.append(f"{short(path)} {_three(value)} ({_three(low)} to {_three(high)}{end})")
    return ", ".join(parts)


def short(path: str) -> str:
    """Return the last word of a path: k of ground.normal.k."""
    return path.split(".")[-1].replace("mu_s", "mu").replace("restitution", "e")


def _three(value: float) -> str:
    """Return three digits, without a power of ten where there are few."""
    return f"{float(f'{value:.3g}'):g}"
