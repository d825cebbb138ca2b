"""Recordings: labelled values of a run with units, and all that is needed to reproduce it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heelstrike.errors import HeelstrikeError
from heelstrike.files import whole_file
from heelstrike.record.dataset import with_file_names, with_paths
from heelstrike.record.provenance import FORMAT, VERSION, decode_attributes
from heelstrike.record.summary import Summary

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from heelstrike.robot.robot import Robot

PathLike = str | os.PathLike[str]


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
        with whole_file(path) as part:
            try:
                plain.to_netcdf(part, engine="h5netcdf", format="NETCDF4")
            except (RuntimeError, TypeError, ValueError) as error:
                raise HeelstrikeError(f"cannot write '{path}': {error}") from error
        return Path(path)

    @classmethod
    def load(cls, path: PathLike) -> Recording:
        """Read a recording that `save` wrote into memory."""
        import xarray as xr

        place = Path(path)
        if os.path.isdir(place):
            raise HeelstrikeError(
                f"'{path}' is a folder", path=os.fspath(path), remedy="name a recording in it"
            )
        if not os.path.exists(place):
            raise HeelstrikeError(
                f"there is no file '{path}'", path=os.fspath(path), remedy=_others(place.parent)
            )
        try:
            data = xr.load_dataset(place, engine="h5netcdf")
        except PermissionError as error:
            raise HeelstrikeError(
                f"cannot read '{path}': permission denied", path=os.fspath(path)
            ) from error
        except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
            raise HeelstrikeError(
                f"'{path}' is not a NetCDF4 file, or is damaged",
                path=os.fspath(path),
                allowed="a file that Recording.save wrote",
            ) from error
        _check(path, data)
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

    def __repr__(self) -> str:
        info, sizes = self.info, self.data.sizes
        records = f", {sizes['time']} records" if "time" in sizes else ", the end only"
        worlds = f"{sizes['world']} world{'s' * (sizes['world'] != 1)}"
        return f"<Recording of {info['robot']}: {worlds}, {info['duration']:g} s{records}>"


def _check(path: PathLike, data: xr.Dataset) -> None:
    """Raise if a file is no recording, or has a later format."""
    version = data.attrs.get(FORMAT)
    if version is None:
        raise HeelstrikeError(
            f"'{path}' is a NetCDF file but not a Heelstrike recording: it lacks the attribute "
            f"'{FORMAT}' that Recording.save writes",
            path=os.fspath(path),
            remedy="read it with xarray.open_dataset",
        )
    if version > VERSION:
        raise HeelstrikeError(
            f"'{path}' has format {version}, but this version of Heelstrike reads formats up to "
            f"{VERSION}",
            path=os.fspath(path),
            remedy="install a newer version",
        )


def _others(folder: Path) -> str:
    """Return the recordings that a folder holds, in words."""
    names = sorted(path.name for path in folder.glob("*.nc"))[:8]
    return f"recordings in that folder: {', '.join(names)}" if names else ""
