"""Recordings: labelled values of a run with units, and all that is needed to reproduce it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heelstrike.errors import HeelstrikeError
from heelstrike.files import PathLike
from heelstrike.netcdf import read_dataset, write_dataset
from heelstrike.record.dataset import with_file_names, with_paths
from heelstrike.record.provenance import decode_attributes
from heelstrike.record.schema import KIND, check_recording
from heelstrike.record.summary import Summary

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from heelstrike.robot.robot import Robot


class Recording:
    """Values of a run over worlds and time, or at the end of many worlds.

    `Simulator.run` returns one; `Recording.load` reads one from a file.

    Examples:
        >>> sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane()), dt=1e-3)
        >>> run = sim.run(0.2, q0=[0, 0, 0.06, 0, 0, 0, 1])
        >>> force = run.data["normal_force"].sum("point")       # an xarray.DataArray (world, time)
        >>> run.info["dt"]
        0.001
        >>> path = run.save("drop.nc")
        >>> run = hs.Recording.load("drop.nc")
    """

    def __init__(
        self, data: xr.Dataset | Callable[[], xr.Dataset], robot: Robot | None = None
    ) -> None:
        """Take a dataset, or a function that makes one when it is first needed.

        Args:
            data: the dataset, as `heelstrike.record.dataset` labels it.
            robot: the robot that was simulated; None loads it again when it is needed.
        """
        self._data = data
        self._robot = robot

    @property
    def data(self) -> xr.Dataset:
        """Every recorded variable, with units, labels and the attributes of the run.

        docs/recording.md lists the variables.
        """
        if callable(self._data):
            self._data = self._data()
        return self._data

    @property
    def info(self) -> dict[str, Any]:
        """Provenance of the run: robot, scene, laws, parameters, dt, integrator, versions, ..."""
        return decode_attributes(self.data)

    @property
    def robot(self) -> Robot:
        """The robot that was simulated; for a recording from a file it is loaded again."""
        if self._robot is None:
            from heelstrike.robot.load import reload

            source = self.info.get("robot_source")
            if source is None:
                raise HeelstrikeError(
                    f"this recording does not say where '{self.info['robot']}' was loaded from",
                    path="robot_source",
                    remedy="pass it: hs.Recording(run.data, robot=hs.load(...))",
                )
            self._robot = reload(source)
        return self._robot

    def save(self, path: PathLike) -> Path:
        """Write a NetCDF4 file, whole or not at all, and return its path."""
        plain = with_file_names(self.data.copy())
        for variable in plain.variables.values():
            # NaN is stored as it is; encodings of an earlier file are dropped
            variable.encoding = {"_FillValue": None} if variable.dtype.kind == "f" else {}
        write_dataset(path, plain)
        return Path(path)

    @classmethod
    def load(cls, path: PathLike) -> Recording:
        """Read a recording that `save` wrote into memory."""
        data = read_dataset(path, KIND, _others(Path(path).parent))
        check_recording(path, data)
        return cls(with_paths(data))

    def summary(self) -> Summary:
        """Return speed, failures, peaks, energy balance and final state; it prints as a table."""
        return Summary(self.data)

    def plot(
        self,
        variables: str | Sequence[str] | None = None,
        world: int = 0,
        path: PathLike | None = None,
    ) -> Figure:
        """Return a figure of the usual panels, or with one panel per variable.

        Args:
            variables: names of variables; None for the usual panels.
            world: world that is shown over time; a recording of the end alone shows all worlds.
            path: file to write the figure to, whole or not at all; no display is needed.
        """
        from heelstrike.view.figures.recording import draw

        return draw(self.data, variables, world, path)

    def film_strip(self, path: PathLike, **options: Any) -> Path:
        """Write pictures of the robot at several times, in a row, and return the path.

        The options are those of `heelstrike.view.render.film_strip.film_strip`.
        """
        from heelstrike.view.render.film_strip import film_strip

        return film_strip(self, path, **options)

    def film(self, path: PathLike, **options: Any) -> Path:
        """Write a film of the robot, .mp4 or .gif, and return the path.

        The options are those of `heelstrike.view.render.film.film`: speed, fps, width, world,
        camera, forces.
        """
        from heelstrike.view.render.film import film

        return film(self, path, **options)

    def __getstate__(self) -> dict[str, Any]:
        return {"_data": self.data, "_robot": self._robot}

    def __repr__(self) -> str:
        info, sizes = self.info, self.data.sizes
        records = f", {sizes['time']} records" if "time" in sizes else ", the end only"
        worlds = f"{sizes['world']} world{'s' * (sizes['world'] != 1)}"
        return f"<Recording of {info['robot']}: {worlds}, {info['duration']:g} s{records}>"


def _others(folder: Path) -> str:
    """Return the recordings that a folder holds, in words."""
    try:
        names = sorted(path.name for path in folder.glob("*.nc"))[:8]
    except (OSError, ValueError):
        names = []
    return f"recordings in that folder: {', '.join(names)}" if names else ""
