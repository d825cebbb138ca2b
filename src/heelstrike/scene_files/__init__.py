"""Scenes as files: TOML that names robots, objects, surfaces, laws, control and what is recorded.

    document.py   text to data, with the line of every key
    content.py    what a file may say, as dataclasses; part.py, motion.py
    build.py      data to dataclasses, by their fields; values.py, what is plain in them
    find.py       where a file is
    scene_file.py the scene, its start and its simulator
    text.py       a scene, written down whole
    change.py     what a command line changes

The scenes that come with Heelstrike are in heelstrike/scenes.
"""

from heelstrike.scene_files.find import scenes
from heelstrike.scene_files.scene_file import SceneFile, load_scene

__all__ = ["SceneFile", "load_scene", "scenes"]
