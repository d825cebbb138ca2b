"""A Chromium without a screen that draws by software: HEELSTRIKE_CHROMIUM, or the shell's."""

from __future__ import annotations

import os
import shutil

PLACE = os.environ.get("HEELSTRIKE_CHROMIUM") or shutil.which("chromium")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip
