"""Paths of parameters as names in a NetCDF file, where a slash would make a group and a space end
the name of a coordinate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

PATH = "path"
"""Attribute of a variable that a file holds under another name."""
ENTRY = ".entry"
"""Ends the dimension of a vector that was varied, after its path."""


def file_name(path: str) -> str:
    """A path as a name in a file."""
    return path.replace("/", ":").replace(" ", "_")


def with_file_names(data: xr.Dataset) -> xr.Dataset:
    """A copy whose names a file may hold."""
    taken = {str(name) for name in (*data.variables, *data.dims)}
    renamed = {}
    for path in (str(name) for name in data.coords):
        name = file_name(path)
        if name == path:
            continue
        while name in taken:  # another's, or that of a path that looks the same
            name += "_"
        taken.add(name)
        renamed[path] = name
    made = data.rename(renamed | _entries(data, renamed))
    for path, name in renamed.items():
        made[name].attrs[PATH] = path
    return made


def with_paths(data: xr.Dataset) -> xr.Dataset:
    """What `with_file_names` changed, as it was."""
    found = {str(name): x.attrs.pop(PATH) for name, x in data.coords.items() if PATH in x.attrs}
    return data.rename(found | _entries(data, found)) if found else data


def _entries(data: xr.Dataset, renamed: dict[str, str]) -> dict[str, str]:
    """Dimensions that are named after what is renamed."""
    dims = {old + ENTRY: new + ENTRY for old, new in renamed.items()}
    return {old: new for old, new in dims.items() if old in data.dims}
