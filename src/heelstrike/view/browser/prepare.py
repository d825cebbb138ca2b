"""Compiles the step of a live scene in a process of its own, into the cache of compiled programs.

    python -m heelstrike.view.browser.prepare < DOCUMENT

A scene that is shown goes on meanwhile: neither Python's lock nor CasADi's symbols are shared with
it. Afterwards the step is loaded from the cache, in 0.2 s.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    from heelstrike.scene.files.document import Document


def prepare(document: Document) -> None:
    """Compile the scene of a document in another process; raise its error, if any."""
    command = [sys.executable, "-m", "heelstrike.view.browser.prepare"]
    done = subprocess.run(command, input=pickle.dumps(document), capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise HeelstrikeError(lines[-1] if lines else "the scene could not be compiled")


def main() -> None:
    """Compile the scene of the document that standard input holds."""
    from heelstrike.simulate.scene_file import SceneFile
    from heelstrike.view.browser.live_simulation import LiveSimulation

    try:
        LiveSimulation(SceneFile(pickle.load(sys.stdin.buffer)))
    except HeelstrikeError as error:
        sys.exit(" ".join(str(error).split()))


if __name__ == "__main__":
    main()
