import pytest

from tools.chromium import FLAGS, PLACE


@pytest.fixture
def plain(monkeypatch, tmp_path):
    """80 columns, no colour, in an empty folder."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def browser():
    """A Chromium; tests that need one are skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if PLACE is None:
        pytest.skip("no Chromium found; name it by HEELSTRIKE_CHROMIUM")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=PLACE, args=FLAGS)
        yield opened
        opened.close()
