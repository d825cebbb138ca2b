"""The Python of the README and the docs runs as it stands, and every public name resolves.

Blocks marked `py`, not `python`, need a GPU and are left out.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

import heelstrike as hs

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/programs.md",
    "docs/derivatives.md",
    "docs/gpu.md",
    "docs/simulating.md",
    "docs/surfaces.md",
    "docs/contact-points.md",
    "docs/motions.md",
    "docs/servo.md",
    "docs/recording.md",
    "docs/scenes.md",
    "docs/pictures.md",
    "docs/viewer.md",
    "docs/identify.md",
    "docs/impact.md",
    "docs/measure.md",
    "docs/compare.md",
    "docs/choosing.md",
    "docs/laws/index.md",
    "docs/laws/elastic.md",
    "docs/laws/rigid.md",
    "docs/laws/micro-macro.md",
    "docs/laws/signorini.md",
    "docs/laws/feedback-linearized.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_python_of_the_docs_runs(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    scope: dict[str, object] = {"hs": hs}
    for block in blocks:
        exec(block, scope)


def test_links_of_the_docs_lead_somewhere():
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]:
        for target, part in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", page.read_text()):
            found = page.parent / target if target else page
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
    """Heavy packages are imported where they are used: `import heelstrike` takes under 0.3 s."""
    code = """
import sys, time
started = time.perf_counter()
import heelstrike
spent = time.perf_counter() - started
large = {"casadi", "llvmlite", "matplotlib", "numpy", "pinocchio", "rich", "scipy", "xarray"}
sys.exit(bool(large & set(sys.modules)) or spent > 0.3)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.nightly  # half a minute of pictures
def test_drop_of_the_readme_is_drawn(tmp_path):
    """As the README shows it: as large, and not another picture."""
    command = [sys.executable, str(ROOT / "examples/drop.py")]
    subprocess.run(command, cwd=tmp_path, check=True)
    shown, made = (imread(folder / "drop.png") for folder in (ROOT / "docs/images", tmp_path))
    assert shown.shape == made.shape
    assert abs(shown - made).mean() < 0.01  # fonts and last bits may differ


def test_demo_runs(tmp_path):
    demo = subprocess.run(
        [sys.executable, str(ROOT / "examples/stand.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert demo.returncode == 0, demo.stderr
    assert "the weakest push that fells it" in demo.stdout
    assert hs.Recording.load(tmp_path / "stand.nc").data["failed"].item() == -1
    assert (tmp_path / "stand.png").stat().st_size > 10_000
