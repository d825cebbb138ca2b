"""Robot files that are loaded without loss, with a warning, refused, or wrong without a word.

    python -m benchmarks.loading [FOLDER ...] [--only REGEX] [--json FILE] [--markdown FILE]

Files are the MJCFs of HEELSTRIKE_DATA and of the packages gymnasium, mujoco, dm_control,
gymnasium_robotics and robosuite, the URDFs of HEELSTRIKE_DATA and of example-robot-data, and those
of further folders. Inertia, bias, passive forces and actuators are compared with MuJoCo's (MJCF) or
Pinocchio's (URDF) at random states, to 1e-8. Files that the peer cannot read, and those without a
moving joint, are no robots and do not count. benchmarks/loading.md explains the columns.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mujoco
from rich.console import Console

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.loading_peers import beside_mujoco, beside_pinocchio
from heelstrike.robot.fidelity import lost

PACKAGES = ("gymnasium", "mujoco", "dm_control", "gymnasium_robotics", "robosuite")
TOLERANCE = 1e-8
"""Largest difference from the peer, relative to the largest entry [-]."""
OUTCOMES = (
    "without loss",
    "as MuJoCo: hulls of concave meshes",
    "degraded with a warning",
    "refused with a reason",
    "wrong",
)
SHORT = dict(zip(OUTCOMES, ("", "as MuJoCo", "degraded", "refused", "**wrong**"), strict=True))


def models(folders: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Return the names and files of all models at hand."""
    roots = [(Path(folder).name, Path(folder)) for folder in folders]
    if data := os.environ.get("HEELSTRIKE_DATA"):
        roots.append(("data", Path(data, "robots")))
    for package in PACKAGES:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations if spec else None) or []:
            roots.append((package, Path(folder)))
    for name, root in roots:
        for path in sorted([*root.rglob("*.xml"), *root.rglob("*.urdf")]):
            if re.search("<(mujoco|robot)[ >]", path.read_text(errors="ignore")):
                yield f"{name}/{path.relative_to(root)}", path
    try:
        found = sorted(str(file.locate()) for file in files("example-robot-data") or [])
    except PackageNotFoundError:
        found = []
    for file in (name for name in found if name.endswith(".urdf")):
        yield "/".join(Path(file).parts[-3:]), Path(file)


def judged(path: Path) -> dict[str, Any] | None:
    """Return the outcome of a file; None if it is no robot to the peer either."""
    mjcf = path.suffix == ".xml"
    if mjcf:
        try:
            if not mujoco.MjModel.from_xml_path(str(path)).nv:
                return None
        except ValueError:
            return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            robot = hs.load(path)
        except hs.HeelstrikeError as error:
            return {"outcome": "refused with a reason", "reason": str(error).partition(": ")[2]}
    errors = (beside_mujoco if mjcf else beside_pinocchio)(robot, path)
    differs = {name: error for name, error in errors.items() if error > TOLERANCE}
    differences = lost(robot.fidelity)
    outcome = "degraded with a warning" if differences else "without loss"
    if differences and not lost(robot.fidelity, "motion", "contact"):
        outcome = OUTCOMES[1]
    if differs and not lost(robot.fidelity, "motion"):
        outcome = "wrong"
    return {
        "outcome": outcome,
        "in the air": not lost(robot.fidelity, "motion"),
        "differs": differs,
        "reason": "; ".join(str(difference) for difference in differences),
        "nv": robot.nv,
    }


def markdown(found: dict[str, dict[str, Any]]) -> str:
    """Return the table of counts, and that of the files with a loss."""
    lines = ["| files | MJCF | URDF |", "| --- | --- | --- |"]
    counts = Counter((own["outcome"], name.endswith(".urdf")) for name, own in found.items())
    air = Counter(name.endswith(".urdf") for name, own in found.items() if own.get("in the air"))
    for outcome in OUTCOMES:
        label = "**wrong without a word**" if outcome == "wrong" else outcome
        lines.append(f"| {label} | {counts[outcome, False]} | {counts[outcome, True]} |")
    lines.append(f"| without loss in the air | {air[False]} | {air[True]} |")
    whole = [sum(name.endswith(".urdf") == urdf for name in found) for urdf in (False, True)]
    lines += [f"| all | {whole[0]} | {whole[1]} |", "", _shares(found)]
    lines += ["", "| file | outcome | why |", "| --- | --- | --- |"]
    for name, own in found.items():
        if own["outcome"] != OUTCOMES[0]:
            why = _short(own["reason"] or str(own["differs"]))
            lines.append(f"| {name} | {SHORT[own['outcome']]} | {why} |")
    return "\n".join(lines) + "\n"


def _shares(found: dict[str, dict[str, Any]]) -> str:
    """Return a sentence with the shares of files without loss."""
    counts = Counter(own["outcome"] for own in found.values())
    strict, more = (counts[outcome] for outcome in OUTCOMES[:2])
    air = sum(bool(own.get("in the air")) for own in found.values())

    def share(count: int) -> str:
        return f"{count} ({100 * count / max(len(found), 1):.0f} %)"

    return (
        f"Of {len(found)} files {share(strict)} are without loss, {share(strict + more)} with "
        f"those of which only concave meshes collide as hulls, as in MuJoCo; {share(air)} are "
        f"without loss in the air. Versions: {_versions()}."
    )


def _versions() -> str:
    names = ("mujoco-core", "pin", "example-robot-data", *PACKAGES)
    found = {}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return ", ".join(f"{name} {number}" for name, number in found.items())


def write_tables(path: Path, text: str) -> None:
    """Write the tables in place of those that a page ends with."""
    prose = path.read_text().partition("| files |")[0] if path.exists() else ""
    path.write_text(prose + text)


def _short(text: str, most: int = 160) -> str:
    text = re.sub(r"/[^ ()]*/", "", text).replace("|", "/").replace("<", "`<").replace(">", ">`")
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} ..."


def main() -> None:
    made = parser(__doc__)
    made.add_argument("folders", nargs="*", help="further folders with robot files")
    made.add_argument("--only", default="", help="regular expression of names")
    made.add_argument("--markdown", metavar="FILE", help="write the tables at the end of FILE")
    options = made.parse_args()
    console, found = Console(), {}
    for name, path in models(options.folders):
        if re.search(options.only, name) and (own := judged(path)) is not None:
            found[name] = own
            console.print(f"{name}: {own['outcome']}", highlight=False)
    text = markdown(found)
    console.print(text, highlight=False, markup=False)
    if options.markdown:
        write_tables(Path(options.markdown), text)
    keep({"files": found}, options.json)


if __name__ == "__main__":
    main()
