"""Data in memory as the files that a problem could have named: they are read, and checked, by the same reader."""

from __future__ import annotations

import csv
import io
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bilo import _toml
from bilo.errors import ProblemError

Data: TypeAlias = Any
"""A pandas (or polars) DataFrame, a dictionary of arrays, an xarray Dataset or DataArray, a NumPy array or a path."""


def as_settings(data: Mapping[str, Data], text: str) -> tuple[list[str], list[tuple[str, bytes]]]:
    """The settings by which the observations of a problem file have these data, and the files that they name."""
    try:
        statement = tomllib.loads(text) if data else {}
    except tomllib.TOMLDecodeError:
        # Whoever reads the problem says what is wrong, and where.
        return [], []
    settings, files = [], {}
    for name, given in data.items():
        suffix, content = as_file(name, given, list(entry(statement, "coordinates")))
        file = f"memory/{name.replace('@', '-')}{suffix}"
        files[file] = content
        settings.append(setting(name, statement, file))
    return settings, list(files.items())


def as_file(name: str, data: Data, coordinates: Sequence[str]) -> tuple[str, bytes]:
    """The ending and the content of the file that says the same."""
    if isinstance(data, (str, os.PathLike)):
        return of_path(Path(data))
    if hasattr(data, "dims") and hasattr(data, "coords"):
        return of_xarray(name, data, coordinates)
    if hasattr(data, "to_csv"):
        has_names = any(level is not None for level in data.index.names)
        return ".csv", data.to_csv(index=has_names, lineterminator="\n").encode()
    if hasattr(data, "write_csv"):
        return ".csv", data.write_csv().encode()
    if isinstance(data, Mapping):
        return of_columns({str(column): np.asarray(values) for column, values in data.items()})
    if isinstance(data, np.ndarray):
        return npy(name, data)
    known = "a DataFrame, a dictionary of arrays, an xarray Dataset or DataArray, a NumPy array or a path"
    raise ProblemError(f"data of `{name}` are a {type(data).__name__}", f"give {known}")


def of_path(path: Path) -> tuple[str, bytes]:
    """A file as it is."""
    try:
        return path.suffix, path.read_bytes()
    except OSError as error:
        raise ProblemError(f"cannot read {path}: {error.strerror}") from error


def npy(name: str, array: np.ndarray) -> tuple[str, bytes]:
    """The columns of a file, in their order."""
    file = io.BytesIO()
    np.save(file, numbers(name, array), allow_pickle=False)
    return ".npy", file.getvalue()


def of_columns(columns: Mapping[str, np.ndarray]) -> tuple[str, bytes]:
    """Columns of one length are a table; anything else is values over axes."""
    if columns and len({array.shape for array in columns.values()}) == 1 and first(columns).ndim == 1:
        file = io.StringIO()
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(columns)
        rows.writerows(zip(*(cells(array) for array in columns.values()), strict=True))
        return ".csv", file.getvalue().encode()
    file_of_arrays = io.BytesIO()
    arrays: dict[str, Any] = {name: numbers(name, array) for name, array in columns.items()}
    np.savez(file_of_arrays, **arrays)
    return ".npz", file_of_arrays.getvalue()


def first(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """The first of some columns."""
    return next(iter(columns.values()))


def cells(column: np.ndarray) -> Iterable[object]:
    """What stands in a table: numbers in full precision, nothing where one is missing."""
    if column.dtype.kind != "f":
        return [*column.tolist()]
    return ["" if np.isnan(number) else repr(float(number)) for number in column]


def numbers(name: str, array: np.ndarray) -> np.ndarray:
    """An array in double precision."""
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"`{name}` is an array of {array.dtype}, not of numbers") from error


def of_xarray(name: str, data: Any, coordinates: Sequence[str]) -> tuple[str, bytes]:
    """Values over the axes of the problem, in its order."""
    arrays = data.to_dataset(name="value") if hasattr(data, "to_dataset") else data
    for dim in arrays.dims:
        if dim not in coordinates:
            help = "rename it, or give a table: `data.to_dataframe()`"
            raise ProblemError(f"the dimension `{dim}` of `{name}` is no coordinate of the problem", help)
        if dim not in arrays.coords:
            raise ProblemError(f"the dimension `{dim}` of `{name}` has no coordinates along it")
    order = [coordinate for coordinate in coordinates if coordinate in arrays.dims]
    axes = {axis: np.asarray(arrays[axis].values) for axis in order}
    values = {str(each): np.asarray(arrays[each].transpose(*order).values) for each in arrays.data_vars}
    return of_columns(axes | values)


def setting(name: str, statement: Mapping[str, Any], file: str) -> str:
    """The setting by which an observation, of an experiment if it is called `NAME@EXPERIMENT`, has its data from a file."""
    observation, _, experiment = name.partition("@")
    path = f"observation.{_toml.key(observation)}"
    stated: list[Mapping[str, Any]] = [statement]
    if experiment:
        path = f"experiment.{_toml.key(experiment)}.{path}"
        stated.append(entry(statement, "experiment", experiment))
    if any("file" in entry(part, "observation", observation, "data") for part in stated):
        return f"{path}.data.file={_toml.value(file)}"
    return f"{path}.data={_toml.value({'file': file})}"


def entry(table: Any, *path: str) -> Mapping[str, Any]:
    """The table at a path; an empty one if there is none."""
    for name in path:
        table = table.get(name) if isinstance(table, Mapping) else None
    return table if isinstance(table, Mapping) else {}
