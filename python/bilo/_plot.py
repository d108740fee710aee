"""Pictures of results, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bilo._optional import optional
from bilo.errors import ProblemError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bilo._posterior import Posterior
    from bilo._result import Profile, Result


def pyplot() -> Any:
    """matplotlib's way to make figures."""
    return optional("matplotlib.pyplot", "a picture")


def solutions(result: Result, state: str) -> dict[str, np.ndarray]:
    """What was found for a state and what the reference solver says, as far as both are there."""
    named = {"found": f"{state}_network", "reference": f"{state}_classical"}
    shown = {label: result.arrays[name] for label, name in named.items() if name in result.arrays}
    if not shown:
        raise ProblemError(f"there is no solution of `{state}`", f"the states are {', '.join(result.outcome['states'])}")
    return shown


def plot(result: Result, state: str | None = None, axes: Axes | None = None) -> Axes:
    """A state over its first two coordinates: lines along the first, at five values of the second."""
    name = state or next(iter(result.outcome["states"]))
    shown = solutions(result, name)
    coordinates = [axis for axis in result.coordinates if axis in result.arrays]
    if len(coordinates) > 2:
        raise ProblemError("pictures are of one or two coordinates", "take a part of `result.fields`")
    along = result.arrays[coordinates[0]]
    axes = axes or pyplot().subplots()[1]
    for label, values in shown.items():
        style = "-" if label == "found" else "k:"
        lines = values[:, None] if values.ndim == 1 else values[:, np.linspace(0, values.shape[1] - 1, 5).astype(int)]
        for number, line in enumerate(lines.T):
            axes.plot(along, line, style, label="" if number else label)
    axes.set(xlabel=coordinates[0], ylabel=name)
    axes.legend()
    return axes


def plot_fit(result: Result, observation: str, axes: Axes | None = None) -> Axes:
    """The data of an observation, and what the solutions say instead, along its first coordinate that varies."""
    table = result.columns_of_fit(observation)
    coordinates = list(table)[: list(table).index("data")]
    along = next((name for name in coordinates if np.ptp(table[name]) > 0), coordinates[0])
    axes = axes or pyplot().subplots()[1]
    axes.errorbar(table[along], table["data"], table.get("sigma"), fmt="o", label="data")
    for name, label, sign in (("network", "found", "x"), ("classical", "reference", "k+")):
        if name in table:
            axes.plot(table[along], table[name], sign, label=label)
    axes.set(xlabel=along, ylabel=observation)
    axes.legend()
    return axes


def plot_profile(profile: Profile, axes: Axes | None = None) -> Axes:
    """A profile likelihood with the ends of its 95 % interval."""
    axes = axes or pyplot().subplots()[1]
    axes.plot(profile.values, profile.rise, "o-")
    for end in profile.interval_95:
        if end is not None:
            axes.axvline(end, linestyle=":", color="k")
    axes.set(xlabel=profile.name, ylabel="2 (max log L - log L)")
    return axes


def plot_corner(posterior: Posterior, axes: np.ndarray | None = None) -> np.ndarray:
    """Histograms of the unknown numbers, and their draws against each other."""
    drawn: Mapping[str, np.ndarray] = {name: posterior.arrays_of_draws[name].ravel() for name in posterior.estimate}
    count = len(drawn)
    grid = axes if axes is not None else pyplot().subplots(count, count, squeeze=False)[1]
    for row, (name, values) in enumerate(drawn.items()):
        for column, (other, across) in enumerate(drawn.items()):
            own: Axes = grid[row, column]
            if column > row:
                own.set_visible(False)
            elif column == row:
                own.hist(values, bins=30)
            else:
                own.plot(across, values, ".", markersize=1)
            own.set(xlabel=other, ylabel=name if column < row else "")
    return grid
