"""All that README and docs tell a reader to run does run, and every public name resolves.

A page's blocks and commands run in order, in a folder of their own, with one namespace. Blocks
marked `py`, not `python`, need a GPU; what else is left out stands in tests/pages.py, with reasons.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import heelstrike as hs
from heelstrike.cli import main
from heelstrike.cli.app import app
from tests.pages import PAGES, Step, named, steps

ROOT = Path(__file__).parents[2]
ROBOT = """
<robot name="mine">
  <link name="base">
    <inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
  </link>
  <link name="wrist">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    <collision><geometry><box size="0.2 0.1 0.05"/></geometry></collision>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="wrist"/><origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="20" velocity="5"/>
  </joint>
</robot>
"""
MJCF = (ROOT / "src/heelstrike/robot/models/cube.xml").read_text()
THEIRS = {"my.urdf": ROBOT, "arm.urdf": ROBOT, "talos.urdf": ROBOT, "g1.xml": MJCF}
"""A reader's own files, by the names that the pages give them."""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Where a reader sits: a folder with files of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("MPLBACKEND", "agg")
    for name, text in THEIRS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def call(command: str) -> None:
    if command.startswith("python -c"):
        subprocess.run([sys.executable, *shlex.split(command)[1:]], check=True)
        return
    with pytest.raises(SystemExit) as left:
        main(shlex.split(command)[1:])
    assert not left.value.code, command


def follow(page: str, desk: Path) -> None:
    """All steps of a page but the long ones. A scene in TOML gets the name that is run next."""
    scope: dict[str, object] = {"hs": hs}
    scene = ""
    for step in steps(page):
        if step.kind == "python":
            exec(compile(step.text, page, "exec"), scope)
        elif step.kind == "toml":
            scene = step.text
        elif step.now:
            for name in re.findall(r"\b\w+\.toml\b", step.text):
                if not (desk / name).exists():
                    (desk / name).write_text(scene)
            call(step.text.replace("python -m heelstrike", "heelstrike"))


SLOW = tuple(
    f"docs/{name}.md" for name in ("motions", "viewer", "impact", "derivatives", "environments")
)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.nightly if page in SLOW else ())
        for page in PAGES
        if any(step.now for step in steps(page))
    ],
)
def test_page_runs(page, desk):
    follow(page, desk)


def every(chosen: str) -> list[Step]:
    found = {step for page in PAGES for step in steps(page) if step.kind == "command"}
    return sorted((step for step in found if getattr(step, chosen)), key=lambda step: step.text)


def test_commands_that_are_not_run_name_what_is_there():
    """Files, verbs, papers and their items."""
    for step in every("elsewhere"):
        for path in named(step.text):
            assert path.exists(), step.text
    verbs = {command.name for command in app.registered_commands}
    for step in [*every("syntax"), *every("long")]:
        words = step.text.split()
        assert words[0] != "heelstrike" or words[1] in verbs, step.text


@pytest.mark.nightly
@pytest.mark.parametrize("step", every("long"), ids=lambda step: step.text)
def test_long_command_runs(step, desk):
    if not step.syntax:
        call(step.text)


def test_links_of_the_docs_lead_somewhere():
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]:
        for target, part in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", page.read_text()):
            found = page.parent / target.strip("<>") if target else page
            assert found.exists(), f"{page.name}: {target}"
            assert not part or part in headings(found), f"{page.name}: {target}#{part}"


def headings(page):
    """As links name them: small letters, spaces as hyphens, the rest without punctuation."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_public_names_resolve():
    for name in hs.__all__:
        assert getattr(hs, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hs.nothing  # noqa: B018


def test_import_is_light():
    """Heavy packages are imported where they are used: `import heelstrike` takes under 0.3 s
    of CPU time."""
    code = """
import sys, time
started = time.process_time()
import heelstrike
spent = time.process_time() - started
large = {"casadi", "llvmlite", "matplotlib", "numpy", "pinocchio", "rich", "scipy", "xarray"}
sys.exit(bool(large & set(sys.modules)) or spent > 0.3)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
