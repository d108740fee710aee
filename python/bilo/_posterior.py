"""Draws from a posterior: the files that `bilo sample` writes, and what they say as Python objects."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bilo import _plot
from bilo._optional import optional
from bilo._result import Reason, Result, Verdict, columns

if TYPE_CHECKING:
    import pandas

HOW = ("log_density", "log_likelihood", "diverging", "depth", "steps", "acceptance")
"""Columns that tell how a draw came about."""

ARVIZ = {"log_density": "lp", "diverging": "diverging", "depth": "tree_depth", "steps": "n_steps", "acceptance": "acceptance_rate"}
"""What ArviZ calls them."""


class Posterior(Result):
    """What a run came to, and draws from the posterior around it.

    `arrays_of_draws` needs nothing but NumPy; `summary` and `draws` give pandas DataFrames, `to_arviz` ArviZ's InferenceData.
    """

    @cached_property
    def posterior(self) -> dict[str, Any]:
        """What stands in `posterior.json`."""
        posterior: dict[str, Any] = json.loads(self.files["posterior.json"])
        return posterior

    @cached_property
    def _draws(self) -> dict[str, np.ndarray]:
        return columns(self.files["draws.csv"].decode())

    @property
    def arrays_of_draws(self) -> dict[str, np.ndarray]:
        """Every number that was drawn, and how: an array of chains and draws each."""
        shape = int(self._draws["chain"].max()) + 1, int(self._draws["draw"].max()) + 1
        return {name: column.reshape(shape) for name, column in self._draws.items() if name not in ("chain", "draw")}

    @property
    def draws(self) -> pandas.DataFrame:
        """A row for each draw (with pandas)."""
        table: pandas.DataFrame = optional("pandas", "a table").DataFrame(self._draws)
        return table

    @property
    def verdict(self) -> Verdict:
        """Whether the draws may be used, and why."""
        stated = self.posterior["verdict"]
        reasons = (Reason(each["colour"], each["sentence"], each["help"]) for each in stated["reasons"])
        return Verdict(stated["colour"], tuple(reasons))

    def summary(self) -> pandas.DataFrame:
        """A row for each number: mean, standard deviation, median, 95 % interval, effective draws, R-hat (with pandas)."""
        stated = self.posterior
        rows = {each["name"]: row(each) for each in stated["unknowns"] + stated["derived"] + stated["noise"]}
        table: pandas.DataFrame = optional("pandas", "a summary").DataFrame.from_dict(rows, orient="index")
        return table.rename_axis("unknown")

    def to_arviz(self) -> Any:
        """The draws as ArviZ's InferenceData (with arviz)."""
        arrays = self.arrays_of_draws
        posterior = {name: array for name, array in arrays.items() if name not in HOW}
        how = {theirs: arrays[ours] for ours, theirs in ARVIZ.items()}
        how["diverging"] = how["diverging"].astype(bool)
        return optional("arviz", "InferenceData").from_dict(posterior=posterior, sample_stats=how)

    def plot_corner(self, axes: np.ndarray | None = None) -> np.ndarray:
        """Draws the unknown numbers against each other (with matplotlib)."""
        return _plot.plot_corner(self, axes)

    def __repr__(self) -> str:
        return repr(self.summary())


def row(marginal: dict[str, Any]) -> dict[str, Any]:
    """What a summary says of a number."""
    lower, upper = marginal["interval_95"]
    plain = ("mean", "sd", "median", "ess_bulk", "ess_tail", "rhat", "prior", "truth")
    return {"lower_95": lower, "upper_95": upper, **{name: marginal[name] for name in plain}}
