"""All chunks as one NetCDF file, chunk after chunk: no more than one is in memory.

The file is a recording of the end of many worlds (docs/recording.md), with what varied as
coordinates and `fell` beside. It says no time of day and no wall time: the same sweep gives the
same bytes, however often it was killed, and whoever computed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.files import whole_file

if TYPE_CHECKING:
    import xarray as xr

WORLD = "world"


def join(
    path: Path,
    template: xr.Dataset,
    worlds: int,
    chunks: Iterable[tuple[int, Mapping[str, np.ndarray]]],
) -> None:
    """Writes the file, whole or not at all.

    `template` is the dataset of one world; `chunks` are the variables of others, by first world.
    """
    import h5netcdf

    along = {name: x for name, x in template.variables.items() if WORLD in x.dims}
    still = template.drop_dims(WORLD)
    said = [str(name) for name in template.coords if name not in template.dims]
    with whole_file(path) as part:
        still.to_netcdf(part, engine="h5netcdf", format="NETCDF4")
        with h5netcdf.File(part, "a") as file:
            file.attrs["coordinates"] = " ".join(said)  # as xarray marks them
            file.dimensions[WORLD] = worlds
            for dim, size in template.sizes.items():
                if dim not in file.dimensions:
                    file.dimensions[str(dim)] = size
            for name, variable in along.items():
                _create(file, str(name), variable)
            for first, arrays in chunks:
                for name in along:
                    values = arrays[str(name)]
                    file.variables[name][first : first + len(values)] = _plain(values)


def _create(file: Any, name: str, variable: xr.Variable) -> None:
    plain = _plain(variable.values)
    made = file.create_variable(name, variable.dims, plain.dtype)
    for word, value in variable.attrs.items():
        made.attrs[word] = value
    if variable.dtype == bool:
        made.attrs["dtype"] = "bool"  # as xarray marks them


def _plain(values: np.ndarray) -> np.ndarray:
    """NetCDF has no truth values."""
    return values.astype(np.int8) if values.dtype == bool else values
