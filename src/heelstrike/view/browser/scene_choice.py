"""Controls that choose another scene, robot or law for a live scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heelstrike.robot import bundled
from heelstrike.scene.files.document import Document, read_scene, scenes
from heelstrike.scene.files.overrides import law_names, with_law
from heelstrike.simulate.robot_scene import robot_scene

if TYPE_CHECKING:
    from viser import GuiApi, GuiDropdownHandle, GuiEvent

OWN_LAW = "as in the scene"
PLANE = "robot on a plane"
OWN_ROBOT = "of the scene"
FIRST_ROBOT = "hoap1"
"""The robot that is put on a plane before another is chosen."""


@dataclass(frozen=True)
class Choice:
    """A scene of a name or a robot on a plane, with its own law or another on every surface."""

    given: Document
    """The scene that the viewer was opened with."""
    scene: str
    robot: str = OWN_ROBOT
    law: str = OWN_LAW

    @property
    def words(self) -> str:
        """What is chosen, in words."""
        what = self.scene if self.robot == OWN_ROBOT else f"{self.robot} on a plane"
        return what if self.law == OWN_LAW else f"{what} with {self.law}"

    def document(self) -> Document:
        """Return the document of the scene."""
        law = None if self.law == OWN_LAW else self.law
        if self.robot != OWN_ROBOT:
            return robot_scene(self.robot, law).document
        own = self.scene == scene_name(self.given)
        found = self.given if own else read_scene(self.scene)
        return found if law is None else with_law(found, law)


def scene_name(document: Document) -> str:
    """Return the name of a scene: that of its file without the suffix."""
    return Path(document.name).stem


class SceneChoice:
    """The three controls; they show what is shown, or what is being compiled."""

    def __init__(self, gui: GuiApi, given: Document, choose: Callable[[Choice], None]) -> None:
        """Have `choose` called with what the user chooses; `given` is what is shown."""
        self._gui, self._choose = gui, choose
        self.now = Choice(given, scene_name(given))
        """What is shown."""

    def add(self) -> None:
        """Add the controls to the panel."""
        known = scenes()
        given = scene_name(self.now.given)
        own = [] if given in known else [given]
        with self._gui.add_folder("Scene"):
            self.scene = self._gui.add_dropdown(
                "scene", (*own, *known, PLANE), initial_value=self._scene
            )
            self.robot = self._gui.add_dropdown(
                "robot", (OWN_ROBOT, *bundled()), initial_value=self.now.robot
            )
            self.law = self._gui.add_dropdown(
                "law", (OWN_LAW, *law_names()), initial_value=self.now.law
            )
        self.scene.on_update(self._changed)
        self.robot.on_update(self._changed)
        self.law.on_update(self._changed)

    def show(self) -> None:
        """Set the controls back to what is shown."""
        shown = ((self.scene, self._scene), (self.robot, self.now.robot), (self.law, self.now.law))
        for handle, value in shown:
            if handle.value != value:
                handle.value = value

    @property
    def _scene(self) -> str:
        return self.now.scene if self.now.robot == OWN_ROBOT else PLANE

    def _changed(self, event: GuiEvent[GuiDropdownHandle[str]]) -> None:
        if event.client is None or event.target.value not in event.target.options:
            return  # set by the viewer itself, or not by its page
        choice = replace(self.now, law=self.law.value)
        if event.target is self.scene and self.scene.value != PLANE:
            choice = replace(choice, scene=self.scene.value, robot=OWN_ROBOT)
        elif event.target is self.scene:
            choice = replace(choice, robot=FIRST_ROBOT)
        elif event.target is self.robot:
            choice = replace(choice, robot=self.robot.value)
        if choice != self.now:
            self._choose(choice)
