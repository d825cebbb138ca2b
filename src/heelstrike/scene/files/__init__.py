"""Scene files: TOML that describes robots, objects, surfaces, laws, control and recording.

    document.py        text to data, with the line of every key; finds bundled scenes
    content.py         the tables of a scene file as dataclasses; part.py, motion_table.py
    schema.py          types, units and meanings of their fields; laws and surfaces by name
    build.py           data to dataclasses, by their fields; values.py, numbers, texts and lists
    overrides.py       values that the command line sets
    robot_on_plane.py  the scene of `heelstrike run --robot`
    write.py           a complete scene as TOML

The bundled scenes are in heelstrike/scenes.
"""

from heelstrike.scene.files.document import scenes

__all__ = ["scenes"]
