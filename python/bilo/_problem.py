"""Problems: stated once, then checked, run and solved."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from bilo import _bilo, _data, _toml
from bilo._posterior import Posterior
from bilo._progress import Callback, Listener
from bilo._result import OUTCOME, Profile, Result, dataset
from bilo.errors import ProblemError, ResultWarning

if TYPE_CHECKING:
    import xarray

Fixed = Mapping[str, float | None] | Sequence[str]
"""Unknowns taken for known: their values, or their names where the guesses are meant."""

Thetas: TypeAlias = Mapping[str, float] | Sequence[float] | np.ndarray
"""Values of the unknown numbers."""

Job = tuple[str, int, int | None, str]
"""Method, seed, threads and device."""


def problems() -> list[str]:
    """The names of the problems that come with bilo.

    >>> import bilo
    >>> bilo.problems()[0]
    'fisher-kpp'
    """
    return _bilo.shipped()[0]


def gallery() -> list[str]:
    """The names of the problems of the gallery: as people bring them, with their data."""
    return _bilo.shipped()[1]


def methods() -> dict[str, str]:
    """The methods that solve an inverse problem, and what they do."""
    return dict(_bilo.methods())


class Problem:
    """An inverse problem: what a problem file states, checked to the last name.

    `source` is a path, the name of a problem that comes with bilo, the text of a problem file, or a dictionary of what would
    stand in one. Data files are relative to the file, or else to the working directory; whether they may lie outside that
    folder is `allow_outside`. `data` are as in `changed`.

    >>> import bilo
    >>> problem = bilo.Problem("fisher-kpp")
    >>> problem.name, problem.unknowns
    ('fisher-kpp', ['D', 'rho'])
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        data: Mapping[str, _data.Data] | None = None,
        allow_outside: bool = False,
    ) -> None:
        self._stated = stated(source, data or {}, allow_outside)
        self._density: tuple[int, _bilo.Density] | None = None

    @classmethod
    def _of(cls, stated: _bilo.Stated) -> Problem:
        problem = cls.__new__(cls)
        problem._stated = stated
        problem._density = None
        return problem

    @property
    def name(self) -> str:
        """Its name."""
        return self._stated.name

    @property
    def about(self) -> str:
        """What it is about."""
        return self._stated.about

    @property
    def text(self) -> str:
        """The text of its file."""
        return self._stated.text

    @property
    def coordinates(self) -> list[str]:
        """The names of the coordinates."""
        return self._stated.coordinates

    @property
    def unknowns(self) -> list[str]:
        """The names of the unknown numbers, then of the unknown functions."""
        return [name for name, _, _ in self._stated.numbers] + self._stated.functions

    @property
    def guess(self) -> dict[str, float]:
        """Where searches for the unknown numbers begin."""
        return {name: guess for name, guess, _ in self._stated.numbers}

    @property
    def truth(self) -> dict[str, float]:
        """The true values of the unknown numbers, as far as they are stated."""
        return {name: truth for name, _, truth in self._stated.numbers if truth is not None}

    @property
    def observations(self) -> list[str]:
        """The names of the observations."""
        return self._stated.observations

    def check(self) -> str:
        """The problem as understood, as `bilo check` prints it, warnings last.

        >>> import bilo
        >>> print(bilo.Problem("fisher-kpp").check().splitlines()[0])
        Coordinates
        """
        return self._stated.check()

    def changed(
        self,
        *,
        data: Mapping[str, _data.Data] | None = None,
        fix: Fixed | None = None,
        guess: Mapping[str, float] | Result | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Problem:
        """The same problem with other data, unknowns that are known, other guesses, other settings.

        `data` are by observation, `probes@warm` for that of an experiment: a DataFrame or a dictionary of arrays with the
        columns that the file would have (the coordinates, `value`, `sigma`), an xarray Dataset or DataArray, a NumPy array of
        columns, or a path. `settings` are those of the file, such as `{"train.rate": 0.01}`.

        >>> import bilo
        >>> bilo.Problem("fisher-kpp").changed(guess={"D": 1.5}).guess
        {'D': 1.5, 'rho': 1.0}
        """
        put = [f"{key}={_toml.value(value)}" for key, value in (settings or {}).items()]
        of_data, files = _data.as_settings(data or {}, self.text)
        begin = guess.estimate if isinstance(guess, Result) else (guess or {})
        guesses = [f"{name}={_toml.value(value)}" for name, value in begin.items()]
        return Problem._of(self._stated.changed(guesses, fixed(fix or {}), put + of_data, files))

    def run(
        self,
        *,
        data: Mapping[str, _data.Data] | None = None,
        fix: Fixed | None = None,
        guess: Mapping[str, float] | Result | None = None,
        settings: Mapping[str, Any] | None = None,
        method: str = "automatic",
        seed: int = 0,
        threads: int | None = None,
        device: str = "cpu",
        time_limit: float | None = None,
        progress: bool = False,
        callback: Callback | None = None,
        out: str | os.PathLike[str] | None = None,
    ) -> Result:
        """Infers the unknowns, to the same bits as `bilo run` with the same seed, for any number of threads.

        `data`, `fix`, `guess` and `settings` are as in `changed`. `callback` hears of each step and ends the run by returning
        `False`; Ctrl-C ends it, too, and the `KeyboardInterrupt` has what was reached as `partial`, None if nothing was.
        `out` is a folder for the files of the run; without one they are in memory only.

        >>> import bilo
        >>> result = bilo.Problem("gallery/glucose").run(seed=0, threads=1)
        >>> result.verdict.colour
        'green'
        """
        if time_limit is not None:
            settings = {**(settings or {}), "train.time-limit": time_limit}
        with folder(out) as path, reaching(path):
            problem = self.changed(data=data, fix=fix, guess=guess, settings=settings)
            problem._run(path, job(method, seed, threads, device), progress, Listener(callback, progress))
            result = Result.in_folder(path)
        result.warn()
        return result

    def solve(
        self,
        at: Mapping[str, float] | None = None,
        /,
        *,
        grid: Mapping[str, int] | None = None,
        gradient: bool = False,
        **values: float,
    ) -> xarray.Dataset:
        """The solution of the equations at values of the unknown numbers (with xarray): those given, by name, else the truth,
        else the guess.

        `grid` has the nodes of coordinates. With `gradient` the derivatives of each state by each unknown number are there, too,
        as `du_dD`.

        >>> import bilo
        >>> fields = bilo.Problem("fisher-kpp").solve(D=2.0, rho=1.0, grid={"x": 5, "t": 3})
        >>> fields["u"].dims
        ('x', 't')
        """
        arrays = self.solve_arrays(at, grid=grid, gradient=gradient, **values)
        return dataset(arrays, self.coordinates, {})

    def solve_arrays(
        self,
        at: Mapping[str, float] | None = None,
        /,
        *,
        grid: Mapping[str, int] | None = None,
        gradient: bool = False,
        **values: float,
    ) -> dict[str, np.ndarray]:
        """The same as `solve`, as NumPy arrays: the axes by their coordinates' names, and the states."""
        at_values = assignments({**(at or {}), **values})
        axes, arrays = self._stated.solve(at_values, assignments(grid or {}), gradient)
        shape = [len(nodes) for _, nodes in axes]
        fields = {name: array.reshape([shape[axis] for axis in of]) for name, of, array in arrays}
        return dict(axes) | fields

    @overload
    def log_density(self, theta: Thetas) -> float: ...
    @overload
    def log_density(self, theta: Thetas, *, gradient: Literal[True]) -> tuple[float, np.ndarray]: ...
    def log_density(self, theta: Thetas, *, gradient: bool = False) -> float | tuple[float, np.ndarray]:
        """The logarithm of the posterior density of the unknown numbers up to a constant, by the reference solver, and its
        gradient: what samplers and optimisers of others take.

        `theta` has the values in the order of `unknowns`, or by name. Outside of their ranges, and where the equations have no
        solution, the density is 0.

        >>> import bilo
        >>> problem = bilo.Problem("gallery/glucose")
        >>> value, slopes = problem.log_density(problem.guess, gradient=True)
        >>> slopes.shape
        (4,)
        """
        names = list(self.guess)
        if isinstance(theta, Mapping) and set(theta) != set(names):
            raise ProblemError(f"values of {', '.join(theta)} are given", f"the unknowns are {', '.join(names)}")
        thetas = [float(theta[name]) for name in names] if isinstance(theta, Mapping) else [*map(float, theta)]
        if len(thetas) != len(names):
            raise ProblemError(f"{len(thetas)} values are given", f"the unknowns are {', '.join(names)}")
        value, slopes = self._density_at(thetas)
        return (value, np.array(slopes)) if gradient else value

    def _density_at(self, thetas: list[float]) -> tuple[float, list[float]]:
        # A thread answers, which a process that was forked has not.
        if self._density is None or self._density[0] != os.getpid():
            self._density = os.getpid(), _bilo.Density(self._stated, job("automatic", 0, None, "cpu"))
        try:
            return self._density[1].at(thetas)
        except BaseException:
            self._density = None
            raise

    def sample(
        self,
        *,
        chains: int | None = None,
        draws: int | None = None,
        tuning: int | None = None,
        data: Mapping[str, _data.Data] | None = None,
        fix: Fixed | None = None,
        guess: Mapping[str, float] | Result | None = None,
        settings: Mapping[str, Any] | None = None,
        seed: int = 0,
        threads: int | None = None,
        progress: bool = False,
        out: str | os.PathLike[str] | None = None,
    ) -> Posterior:
        """Draws from the posterior of the unknown numbers around what a run finds, to the same bits as `bilo sample`.

        The arguments are those of `run`; `chains`, `draws` and `tuning` are those of the problem unless they are given.
        """
        asked = {"chains": chains, "draws": draws, "tuning": tuning}
        stated = {f"sample.{key}": count for key, count in asked.items() if count is not None}
        with folder(out) as path, reaching(path):
            problem = self.changed(data=data, fix=fix, guess=guess, settings={**(settings or {}), **stated})
            run, listener = job("automatic", seed, threads, "cpu"), Listener(None, progress)
            problem._run(path, run, progress, listener)
            problem._stated.sample(path, (path / OUTCOME).read_text(encoding="utf-8"), run, listener)
            posterior = Posterior.in_folder(path)
        posterior.warn()
        return posterior

    def _run(self, path: Path, run: Job, progress: bool, listener: Listener) -> None:
        if not_kept := self._stated.run(path, run, progress, listener):
            warnings.warn(not_kept, ResultWarning, stacklevel=3)

    def profile(self, *names: str, **arguments: Any) -> list[Profile]:
        """How far each of these unknown numbers, all if none is named, may be from its best fit by the reference solver, as
        `bilo profile` does. The arguments are those of `run`.
        """
        return self.run(method="adjoint", **arguments).profile(*names)

    def __reduce__(self) -> tuple[Any, ...]:
        return of_parts, self._stated.parts()

    def __repr__(self) -> str:
        return f"<bilo.Problem {self.name}: {', '.join(self.unknowns)}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self._stated.parts()[1:] == other._stated.parts()[1:]

    __hash__ = None  # type: ignore[assignment]


def of_parts(name: str, text: str, files: list[tuple[str, bytes]], settings: list[str]) -> Problem:
    """A problem from what it is pickled as."""
    return Problem._of(_bilo.Stated.of_parts(name, text, files, settings))


def stated(
    source: str | os.PathLike[str] | Mapping[str, Any], data: Mapping[str, _data.Data], allow_outside: bool
) -> _bilo.Stated:
    """The problem that a file, a name, a text or a dictionary states."""
    if isinstance(source, Mapping):
        source = _toml.document(source)
    if isinstance(source, str) and (not source or "\n" in source or "=" in source):
        return _bilo.Stated.of_text(source, allow_outside, *_data.as_settings(data, source))
    text = _bilo.text_of(Path(source)) if data else ""
    return _bilo.Stated.of_file(Path(source), allow_outside, *_data.as_settings(data, text))


def assignments(values: Mapping[str, float]) -> str:
    """As the command line says it: `D=2,rho=1`."""
    return ",".join(f"{name}={_toml.value(value)}" for name, value in values.items())


def fixed(unknowns: Fixed) -> list[str]:
    """As the command line says it: `D=2`, or `D` for the guess."""
    if not isinstance(unknowns, Mapping):
        return [unknowns] if isinstance(unknowns, str) else list(unknowns)
    return [name if value is None else f"{name}={_toml.value(value)}" for name, value in unknowns.items()]


def job(method: str, seed: int, threads: int | None, device: str) -> Job:
    """What a run needs beside its problem."""
    if not 0 <= seed < 2**64:
        raise ProblemError(f"`seed` must be a whole number from 0 to 2^64 - 1, found {seed}")
    if threads is not None and threads < 1:
        raise ProblemError(f"`threads` must be 1 or more, found {threads}")
    return method, seed, threads, device


@contextmanager
def folder(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Where a run writes: a folder that is kept, or one for the moment."""
    if out is not None:
        yield Path(out)
        return
    # A run that was left to end by itself may still write.
    with tempfile.TemporaryDirectory(prefix="bilo-", ignore_cleanup_errors=True) as made:
        yield Path(made) / "run"


@contextmanager
def reaching(path: Path) -> Iterator[None]:
    """Gives what a run had reached to the exception that ends it."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        partial = Result.in_folder(path) if (path / "outcome.json").is_file() else None
        interrupt.partial = partial  # type: ignore[attr-defined]
        raise
