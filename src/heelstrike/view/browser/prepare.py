"""Compiles the step of a chosen scene in a process of its own, into the cache of programs.

    python -m heelstrike.view.browser.prepare < CHOICE > DOCUMENT

A scene that is shown goes on meanwhile: neither Python's lock nor CasADi's symbols are shared with
it. Afterwards the step is loaded from the cache, in 0.2 s.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

from heelstrike.errors import HeelstrikeError
from heelstrike.machine import module_command

if TYPE_CHECKING:
    from heelstrike.scene.files.document import Document
    from heelstrike.view.browser.scene_choice import Choice


def prepare(choice: Choice) -> Document:
    """Compile a chosen scene in another process; return its document, or raise its error."""
    command = module_command("heelstrike.view.browser.prepare")
    done = subprocess.run(command, input=pickle.dumps(choice), capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise HeelstrikeError(lines[-1] if lines else "the scene could not be compiled")
    document: Document = pickle.loads(done.stdout)
    return document


def main() -> None:
    """Compile the choice that standard input holds; write its document to standard output."""
    from heelstrike.simulate.scene_file import SceneFile
    from heelstrike.view.browser.live_simulation import LiveSimulation

    with open(os.dup(1), "wb") as output:
        os.dup2(2, 1)  # what libraries print is no part of the document
        try:
            document = pickle.load(sys.stdin.buffer).document()
            LiveSimulation(SceneFile(document))
        except HeelstrikeError as error:
            sys.exit(" ".join(str(error).split()))
        pickle.dump(document, output)


if __name__ == "__main__":
    main()
