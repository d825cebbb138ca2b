import pytest


@pytest.fixture
def plain(monkeypatch, tmp_path):
    """80 columns, no colour, in an empty folder."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)
