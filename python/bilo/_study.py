"""Studies: many runs, with other seeds, methods and settings, and one table of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilo import _bilo, _toml
from bilo._optional import optional
from bilo._result import columns
from bilo.errors import ProblemError

if TYPE_CHECKING:
    import pandas


def study(
    source: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    threads: int = 1,
    device: str = "cpu",
    progress: bool = False,
    allow_outside: bool = False,
) -> pandas.DataFrame:
    """A row for each run of a study: what is varied, the seed, why it ended, errors, seconds (with pandas).

    `source` is a study file, or a dictionary of what would stand in one, which is written to `study.toml` in `out`. Runs that
    are in the folder `out` already are not repeated, so that a study that was interrupted goes on.
    """
    frames = optional("pandas", "a study")
    if threads < 1 or (jobs is not None and jobs < 1):
        raise ProblemError("`threads` and `jobs` must be 1 or more")
    folder = Path(out)
    if isinstance(source, Mapping):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "study.toml").write_text(_toml.document(source), encoding="utf-8")
        source = folder / "study.toml"
    _bilo.study(Path(source), folder, (jobs, threads, device), progress, allow_outside)
    table: pandas.DataFrame = frames.DataFrame(columns((folder / "runs.csv").read_text(encoding="utf-8")))
    return table
