"""Scenes as files: TOML that names robots, objects, surfaces, laws, control and what is recorded.

    document.py   text to data, with the line of every key
    content.py    what a file may say, as dataclasses; part.py, motion.py
    build.py      data to dataclasses, by their fields; values.py, what is plain in them
    find.py       where a file is
    text.py       a scene, written down whole
    change.py     what a command line changes

The scenes that come with Heelstrike are in heelstrike/scenes.
"""

from heelstrike.scene.files.find import scenes

__all__ = ["scenes"]
