"""All chunks as one NetCDF file; only one chunk at a time is in memory.

The file is a recording of the final states of many worlds (docs/recording.md), with the varied
parameters as coordinates and, in addition, `fell`. It holds no time of creation and no wall time,
so that the same sweep gives the same bytes, however often it was resumed and on any machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.netcdf import dump, new_file

if TYPE_CHECKING:
    import h5netcdf
    import xarray as xr

WORLD = "world"


def join(
    path: Path,
    template: xr.Dataset,
    worlds: int,
    chunks: Iterable[tuple[int, Mapping[str, np.ndarray]]],
) -> None:
    """Write the file, completely or not at all.

    Args:
        template: The dataset of one world.
        worlds: Number of worlds.
        chunks: The variables of chunks, by first world.
    """
    along = {str(name): x for name, x in template.variables.items() if WORLD in x.dims}
    constant = template.drop_dims(WORLD)
    coordinates = [str(name) for name in template.coords if name not in template.dims]
    with new_file(path) as file:
        dump(file, constant)
        file.attrs["coordinates"] = " ".join(coordinates)  # as xarray marks them
        file.dimensions[WORLD] = worlds
        for dim, size in template.sizes.items():
            if dim not in file.dimensions:
                file.dimensions[str(dim)] = size
        for name, variable in along.items():
            _create(file, name, variable)
        for first, arrays in chunks:
            for name, variable in along.items():
                values = arrays[name].astype(variable.dtype, copy=False)
                file.variables[name][first : first + len(values)] = _plain(values)


def _create(file: h5netcdf.File, name: str, variable: xr.Variable) -> None:
    """Create an empty variable with the attributes of another."""
    plain = _plain(variable.values)
    created = file.create_variable(name, variable.dims, plain.dtype)
    for word, value in variable.attrs.items():
        created.attrs[word] = value
    if variable.dtype == bool:
        created.attrs["dtype"] = "bool"  # as xarray marks them


def _plain(values: np.ndarray) -> np.ndarray:
    """Return booleans as integers, since NetCDF has no booleans."""
    return values.astype(np.int8) if values.dtype == bool else values
