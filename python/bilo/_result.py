"""What a run came to: the files of its folder, in memory, and what they say as Python objects."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bilo import _bilo, _plot
from bilo._data import entry
from bilo._optional import optional
from bilo.errors import ProblemError, ResultWarning

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes

OUTCOME = "outcome.json"


@dataclass(frozen=True)
class Reason:
    """A reason of a verdict: its colour, a sentence, and what helps."""

    colour: str
    sentence: str
    help: str


@dataclass(frozen=True)
class Verdict:
    """Whether the answer may be used: `green`, `orange` or `red`, and why."""

    colour: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Profile:
    """The profile likelihood of an unknown number; an end is None on a side that has none."""

    name: str
    estimate: float
    interval_68: tuple[float | None, float | None]
    interval_95: tuple[float | None, float | None]
    values: np.ndarray
    """Values of the unknown, from low to high."""
    rise: np.ndarray
    """Twice what the log-likelihood is there below its largest value, all others at their best."""


class Result:
    """What a run came to. Everything is read from the files that `bilo run` writes, held in memory.

    `estimate`, `sd`, `interval`, `covariance`, `verdict` and `arrays` need nothing but NumPy; `summary`, `residuals` and
    `history` give pandas DataFrames, `fields` an xarray Dataset.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        """The files of the run's folder, by their names."""

    @classmethod
    def in_folder(cls, folder: str | os.PathLike[str]) -> Self:
        """The result in the folder of a run."""
        path = Path(folder)
        if not (path / OUTCOME).is_file():
            help = "name the folder of a run that has ended: `outcome.json` is in it"
            raise ProblemError(f"`{path}` is not the folder of a run", help)
        return cls({file.relative_to(path).as_posix(): file.read_bytes() for file in files_of_run(path)})

    @cached_property
    def outcome(self) -> dict[str, Any]:
        """What stands in `outcome.json`."""
        outcome: dict[str, Any] = json.loads(self.files[OUTCOME])
        return outcome

    @cached_property
    def _numbers(self) -> dict[str, dict[str, Any]]:
        unknowns: dict[str, dict[str, Any]] = self.outcome["unknowns"]
        return {name: unknown for name, unknown in unknowns.items() if unknown["kind"] == "scalar"}

    @property
    def estimate(self) -> dict[str, float]:
        """The unknown numbers as found; unknown functions are among the fields."""
        return {name: number(unknown["estimate"]) for name, unknown in self._numbers.items()}

    @property
    def sd(self) -> dict[str, float | None]:
        """Standard deviations by the reference solver, or else by what found the estimate."""
        return {name: standard_deviation(unknown) for name, unknown in self._numbers.items()}

    @property
    def interval(self) -> dict[str, tuple[float, float] | None]:
        """The 95 % intervals."""
        return {name: pair(unknown["interval_95"]) for name, unknown in self._numbers.items()}

    @property
    def covariance(self) -> np.ndarray | None:
        """Covariances of the unknown numbers, in the order of `estimate`; None if they are not known."""
        correlations = self.outcome["correlations"]
        sd = [number(deviation) for deviation in self.sd.values()]
        if not correlations or not np.isfinite(sd).all():
            return None
        covariance: np.ndarray = np.array(correlations, dtype=float) * np.outer(sd, sd)
        return covariance

    @property
    def verdict(self) -> Verdict:
        """Whether the answer may be used, and why."""
        stated = self.outcome["verdict"]
        reasons = (Reason(each["colour"], each["sentence"], each.get("help", "")) for each in stated["reasons"])
        return Verdict(stated["colour"], tuple(reasons))

    @property
    def stop(self) -> str:
        """Why the run ended: `converged`, `steps`, `time-limit`, `interrupted` or `diverged`."""
        return str(self.outcome["stop"])

    def summary(self) -> pandas.DataFrame:
        """A row for each unknown number: guess, estimate, standard deviation, 95 % interval, prior, truth (with pandas)."""
        rows = {name: self._row(name, unknown) for name, unknown in self._numbers.items()}
        table: pandas.DataFrame = optional("pandas", "a summary").DataFrame.from_dict(rows, orient="index")
        return table.rename_axis("unknown")

    def _row(self, name: str, unknown: dict[str, Any]) -> dict[str, Any]:
        lower, upper = pair(unknown["interval_95"]) or (None, None)
        return {
            "unit": unknown.get("unit"),
            "guess": unknown["guess"],
            "estimate": number(unknown["estimate"]),
            "sd": standard_deviation(unknown),
            "lower_95": lower,
            "upper_95": upper,
            "prior": entry(self._statement, "unknown", name).get("prior"),
            "truth": unknown["truth"],
            "relative_error": unknown["relative_error"],
        }

    @cached_property
    def _statement(self) -> dict[str, Any]:
        return tomllib.loads(self.files.get("problem.toml", b"").decode())

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Solutions and unknown functions on a grid, and its axes, as NumPy arrays."""
        if "fields.npz" not in self.files:
            return {}
        with np.load(io.BytesIO(self.files["fields.npz"])) as archive:
            return dict(archive)

    @property
    def coordinates(self) -> list[str]:
        """The names of the coordinates."""
        return list(self._statement["coordinates"])

    @property
    def fields(self) -> xarray.Dataset:
        """Solutions and unknown functions on a grid (with xarray)."""
        unknowns = self.outcome["unknowns"].items()
        functions = {name: unknown["of"] for name, unknown in unknowns if unknown["kind"] == "function"}
        return dataset(self.arrays, self.coordinates, functions)

    def residuals(self, observation: str) -> pandas.DataFrame:
        """The data of an observation, what both solutions say instead, and data minus solution (with pandas)."""
        table: pandas.DataFrame = optional("pandas", "residuals").DataFrame(self.columns_of_fit(observation))
        said = [column for column in ("network", "classical") if column in table]
        return table.assign(**{f"residual_{column}": table["data"] - table[column] for column in said})

    def profile(self, *names: str, threads: int | None = None) -> list[Profile]:
        """How far each of these unknown numbers, all if none is named, may be from its best fit."""
        record = json.loads(self.files["run.json"])
        job = (record["method"], record["seed"], threads, "cpu")
        return profiles(self._stated.profile(self.files[OUTCOME].decode(), list(names), job))

    @cached_property
    def _stated(self) -> _bilo.Stated:
        data = [(name, content) for name, content in self.files.items() if name.startswith("data/")]
        return _bilo.Stated.of_parts("problem.toml", self.files["problem.toml"].decode(), data, [])

    @property
    def history(self) -> pandas.DataFrame:
        """Losses and unknowns at each step that was kept (with pandas)."""
        text = self.files.get("history.csv", b"").decode()
        table: pandas.DataFrame = optional("pandas", "a history").DataFrame(columns(text))
        return table

    def columns_of_fit(self, observation: str) -> dict[str, np.ndarray]:
        """Coordinates and data of an observation, and what both solutions say instead, as NumPy arrays."""
        file = f"fit-{observation}.csv"
        if file not in self.files:
            raise KeyError(f"this run has no observation `{observation}`")
        return columns(self.files[file].decode())

    def plot(self, state: str | None = None, axes: Axes | None = None) -> Axes:
        """Draws the solution of a state, the first one unless it is named, beside that of the reference solver (with
        matplotlib)."""
        return _plot.plot(self, state, axes)

    def plot_fit(self, observation: str, axes: Axes | None = None) -> Axes:
        """Draws the data of an observation and what both solutions say instead (with matplotlib)."""
        return _plot.plot_fit(self, observation, axes)

    def plot_profile(self, name: str, axes: Axes | None = None) -> Axes:
        """Draws the profile likelihood of an unknown number, which is found first (with matplotlib)."""
        return _plot.plot_profile(self.profile(name)[0], axes)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to read and to show, which needs nothing but a browser."""
        Path(path).write_bytes(self.files["report.html"])

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the files of the run into a folder, as `bilo run` does; `bilo.load_run` reads it."""
        for name, content in self.files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def warn(self) -> None:
        """Says by warnings what deserves attention."""
        for sentence in self.outcome["warnings"]:
            warnings.warn(sentence, ResultWarning, stacklevel=3)
        if diverged := self.outcome["diverged"]:
            warnings.warn(f"the run diverged: {diverged['reason']}", ResultWarning, stacklevel=3)

    def __repr__(self) -> str:
        return _bilo.findings(self.files[OUTCOME].decode())

    def _repr_html_(self) -> str:
        verdict = self.verdict
        reasons = "".join(f"<li>{html.escape(reason.sentence)}</li>" for reason in verdict.reasons)
        heading = f'<b style="color:{verdict.colour}">&#9679;</b> {html.escape(str(self.outcome["problem"]))}'
        return f"<p>{heading}: {verdict.colour}</p><ul>{reasons}</ul><pre>{html.escape(repr(self))}</pre>"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Result) and self.files == other.files

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Result], tuple[dict[str, bytes]]]:
        return type(self), (self.files,)


def load_run(folder: str | os.PathLike[str]) -> Result:
    """The result in the folder of a run, whether the program or Python wrote it."""
    return Result.in_folder(folder)


def profiles(text: str) -> list[Profile]:
    """Profiles by the text of `profile.json`."""

    def one(stated: dict[str, Any]) -> Profile:
        values, rise = (np.array([number(point[key]) for point in stated["points"]]) for key in ("value", "rise"))
        (lower_68, upper_68), (lower_95, upper_95) = stated["interval_68"], stated["interval_95"]
        ends = (lower_68, upper_68), (lower_95, upper_95)
        return Profile(stated["name"], stated["estimate"], *ends, values, rise)

    return [one(stated) for stated in json.loads(text)]


def files_of_run(folder: Path) -> list[Path]:
    """The files of a run: those of its folder but for checkpoints, its data, and what was drawn."""
    own = [file for file in folder.iterdir() if not file.name.startswith("checkpoint")]
    inner = [file for name in ("data", "posterior.zarr") for file in (folder / name).rglob("*")]
    return sorted(file for file in own + inner if file.is_file())


def columns(text: str) -> dict[str, np.ndarray]:
    """The columns of a table; of numbers, to the last bit, where they are."""
    names, *rows = list(csv.reader(text.splitlines())) or [[]]
    return {name: numbers_or_words(list(column)) for name, column in zip(names, zip(*rows), strict=False)}


def numbers_or_words(cells: list[str]) -> np.ndarray:
    """A column by what stands in it."""
    try:
        return np.array([float(cell) for cell in cells])
    except ValueError:
        return np.array(cells, dtype=object)


def number(value: float | None) -> float:
    """A number that is null where it is not finite."""
    return float("nan") if value is None else value


def pair(ends: list[float | None] | None) -> tuple[float, float] | None:
    """An interval, if there is one."""
    return (number(ends[0]), number(ends[1])) if ends else None


def standard_deviation(unknown: dict[str, Any]) -> float | None:
    """By the reference solver, or else by what found the estimate."""
    sd: float | None = unknown["sd"] if unknown["sd"] is not None else unknown["sd_network"]
    return sd


def dataset(
    arrays: Mapping[str, np.ndarray], coordinates: Sequence[str], functions: Mapping[str, Sequence[str]]
) -> xarray.Dataset:
    """Arrays over the coordinates; those of unknown functions, `k` and `k_sd` say, over what these depend on."""

    def dims(name: str) -> Sequence[str]:
        own = (of for function, of in functions.items() if name in of_function(function))
        return next(own, coordinates)

    axes = {name for of in [coordinates, *functions.values()] for name in of if name in arrays}
    values = {name: (dims(name), array) for name, array in arrays.items() if name not in axes}
    made: xarray.Dataset = optional("xarray", "a dataset").Dataset(values, {axis: arrays[axis] for axis in axes})
    return made


def of_function(name: str) -> tuple[str, ...]:
    """The names of an unknown function's arrays."""
    return (name, f"{name}_guess", f"{name}_truth", f"{name}_sd")
