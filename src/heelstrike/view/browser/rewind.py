"""Going back in a live scene: a slider over the last seconds, and Run to go on from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from heelstrike.view.browser.live_history import LENGTH
from heelstrike.view.browser.live_simulation import LiveSimulation

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent, GuiSliderHandle

PRESENT = 1e-3
"""Time before the present that is still the present [s]."""


class Rewind:
    """A slider that shows an earlier time while the simulation is paused."""

    def __init__(self, gui: GuiApi, live: LiveSimulation, pause: Callable[[], None]) -> None:
        self._live, self._pause = live, pause
        self.shown_time: float | None = None
        """The time that is shown [s]; None for the present."""
        self.slider = gui.add_slider(
            "rewind [s]",
            min=-LENGTH,
            max=0.0,
            step=0.05,
            initial_value=0.0,
            hint="pauses and shows an earlier time; Run goes on from there",
        )
        self.slider.on_update(self._moved)

    def back(self, seconds: float) -> None:
        """Pause, and show the time that was some seconds ago."""
        self._pause()
        history = self._live.history
        self.shown_time = max(history.begin, history.end - seconds)
        if seconds < PRESENT:
            self.shown_time = None

    def accept(self) -> None:
        """Make the time that is shown the present."""
        if self.shown_time is not None:
            self._live.rewind(self.shown_time)
        self.forget()

    def forget(self) -> None:
        """Show the present again."""
        self.shown_time = None
        if self.slider.value != 0.0:
            self.slider.value = 0.0

    def update(self) -> None:
        """Move the slider back to the earliest time, if it was moved beyond."""
        if self.shown_time is not None:
            earliest = self._live.history.begin - self._live.history.end
            if self.slider.value < earliest - 0.05:
                self.slider.value = earliest

    def _moved(self, event: GuiEvent[GuiSliderHandle[float]]) -> None:
        if event.client is not None:  # else moved by the viewer itself
            seconds = -float(self.slider.value)
            self._live.request(lambda: self.back(seconds))
