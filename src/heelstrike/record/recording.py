"""What a run leaves: values with names, dimensions and units, and all that is needed to repeat it.

run = sim.run(2.0)
run.data["normal_force"].sum("point")       # an xarray.Dataset, see variables.py
run.info["dt"]                              # see attributes.py
run.save("drop.nc"); run = hs.Recording.load("drop.nc")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heelstrike.errors import HeelstrikeError
from heelstrike.files import whole_file
from heelstrike.record.attributes import FORMAT, VERSION, decoded
from heelstrike.record.file_names import with_file_names, with_paths
from heelstrike.record.summary import Summary

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from heelstrike.robot.robot import Robot

PathLike = str | os.PathLike[str]


class Recording:
    """A run's values over worlds and time, or at the end of many worlds."""

    def __init__(
        self, data: xr.Dataset | Callable[[], xr.Dataset], robot: Robot | None = None
    ) -> None:
        """Of a dataset, or of what makes one when it is first looked at."""
        self._data = data
        self._robot = robot

    @property
    def data(self) -> xr.Dataset:
        """Every recorded variable, with units, labels and the attributes of the run."""
        if callable(self._data):
            self._data = self._data()
        return self._data

    @property
    def info(self) -> dict[str, Any]:
        """What was run: robot, scene, laws, parameters, dt, integrator, versions, seed, ..."""
        return decoded(self.data)

    @property
    def robot(self) -> Robot:
        """The robot that was simulated; of a recording from a file it is loaded again."""
        if self._robot is None:
            from heelstrike.robot.load import reload

            source = self.info.get("robot_source")
            if source is None:
                raise HeelstrikeError(
                    f"this recording does not say where '{self.info['robot']}' was loaded from; "
                    "give the robot, as robot=hs.load(...)"
                )
            self._robot = reload(source)
        return self._robot

    def save(self, path: PathLike) -> Path:
        """Writes a NetCDF4 file, whole or not at all; returns its path."""
        plain = with_file_names(self.data.copy())
        for variable in plain.variables.values():
            # NaN stands for itself; what a former file decided is forgotten
            variable.encoding = {"_FillValue": None} if variable.dtype.kind == "f" else {}
        with whole_file(path) as part:
            try:
                plain.to_netcdf(part, engine="h5netcdf", format="NETCDF4")
            except (RuntimeError, TypeError, ValueError) as error:
                raise HeelstrikeError(f"cannot write '{path}': {error}") from error
        return Path(path)

    @classmethod
    def load(cls, path: PathLike) -> Recording:
        """A recording that `save` wrote, read into memory."""
        import xarray as xr

        place = Path(path)
        if os.path.isdir(place):
            raise HeelstrikeError(f"'{path}' is a folder; name a recording in it")
        if not os.path.exists(place):
            raise HeelstrikeError(f"there is no file '{path}'{_others(place.parent)}")
        try:
            data = xr.load_dataset(place, engine="h5netcdf")
        except PermissionError as error:
            raise HeelstrikeError(f"'{path}' may not be read by you") from error
        except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
            raise HeelstrikeError(
                f"'{path}' is no NetCDF4 file, or a damaged one; Recording.save writes them"
            ) from error
        _check(path, data)
        return cls(with_paths(data))

    def summary(self) -> Summary:
        """Speed, failures, peaks, energy balance and where it ended; prints itself."""
        return Summary(self.data)

    def plot(
        self,
        variables: str | Sequence[str] | None = None,
        world: int = 0,
        path: PathLike | None = None,
    ) -> Figure:
        """A figure: the usual panels, or one for each named variable.

        Over time it shows one world; a recording of the end alone shows all worlds. With `path` it
        is written there, whole or not at all, and needs no display.
        """
        from heelstrike.view.figures.recording import draw

        return draw(self.data, variables, world, path)

    def film_strip(self, path: PathLike, **options: Any) -> Path:
        """Writes pictures of the robot at several times, in a row; see `view.strip.film_strip`."""
        from heelstrike.view.render.film_strip import film_strip

        return film_strip(self, path, **options)

    def __repr__(self) -> str:
        info, sizes = self.info, self.data.sizes
        records = f", {sizes['time']} records" if "time" in sizes else ", the end only"
        worlds = f"{sizes['world']} world{'s' * (sizes['world'] != 1)}"
        return f"<Recording of {info['robot']}: {worlds}, {info['duration']:g} s{records}>"


def _check(path: PathLike, data: xr.Dataset) -> None:
    """That a file is a recording, and not one of the future."""
    version = data.attrs.get(FORMAT)
    if version is None:
        raise HeelstrikeError(
            f"'{path}' is a NetCDF file, but no Heelstrike recording: it lacks the attribute "
            f"'{FORMAT}' that Recording.save writes; read it by xarray.open_dataset"
        )
    if version > VERSION:
        raise HeelstrikeError(
            f"'{path}' has format {version}, this Heelstrike reads up to {VERSION}; "
            "install a newer one"
        )


def _others(folder: Path) -> str:
    """The recordings that are there instead."""
    names = sorted(path.name for path in folder.glob("*.nc"))[:8]
    return f"; recordings in that folder: {', '.join(names)}" if names else ""
