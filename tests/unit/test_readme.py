"""The Python of the README and the docs runs as it stands, and every public name resolves.

Blocks marked `py`, not `python`, need a GPU and are left out.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import heelstrike as hs

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/programs.md", "docs/derivatives.md", "docs/gpu.md"]


@pytest.mark.parametrize("page", PAGES)
def test_python_of_the_docs_runs(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    scope: dict[str, object] = {}
    for block in blocks:
        exec(block, scope)


def test_links_of_the_docs_lead_somewhere():
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


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
sys.exit("casadi" in sys.modules or "pinocchio" in sys.modules or spent > 0.3)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_demo_runs():
    demo = subprocess.run(
        [sys.executable, str(ROOT / "examples/free_fall.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert demo.returncode == 0, demo.stderr
    assert "centre of mass against" in demo.stdout
