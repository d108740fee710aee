"""Solutions of the equations alone, and the density of the unknowns."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import DECAY, program

import bilo


def test_a_solution_is_the_programs(tmp_path: Path) -> None:
    program("solve", "fisher-kpp", "--at", "D=1.5,rho=0.3", "--grid", "x=31,t=7", "--out", tmp_path / "out")
    ours = bilo.Problem("fisher-kpp").solve_arrays(D=1.5, rho=0.3, grid={"x": 31, "t": 7})
    with np.load(tmp_path / "out" / "fields.npz") as theirs:
        assert set(theirs) == set(ours)
        assert all(np.array_equal(theirs[name], ours[name]) for name in ours)


def test_values_that_are_not_given_are_the_truth_else_the_guess(decay: bilo.Problem, rod: bilo.Problem) -> None:
    assert np.array_equal(decay.solve_arrays()["u"], decay.solve_arrays(k=2.0)["u"])
    assert np.array_equal(rod.solve_arrays()["u"], rod.solve_arrays({"D": 0.5})["u"])


def test_a_solution_has_its_axes(rod: bilo.Problem) -> None:
    fields = rod.solve(D=1.0, grid={"x": 9, "t": 5})
    exact = np.exp(-np.pi**2 * fields["t"]) * np.sin(np.pi * fields["x"])
    assert fields["u"].dims == ("x", "t")
    assert float(abs(fields["u"] - exact).max()) < 5e-3


def test_gradients_are_those_of_the_solution(decay: bilo.Problem) -> None:
    fields = decay.solve(k=2.0, grid={"t": 21}, gradient=True)
    exact = -fields["t"] * np.exp(-2.0 * fields["t"])
    assert float(abs(fields["du_dk"] - exact).max()) < 1e-7


def test_gradients_of_two_coordinates_are_differences_in_the_limit() -> None:
    problem = bilo.Problem("fisher-kpp").changed(settings={"classical.cells": 100, "classical.steps": 100})
    grid, step = {"x": 11, "t": 5}, 1e-4
    slope = problem.solve_arrays(D=2.0, rho=1.0, grid=grid, gradient=True)["du_dD"]
    ends = [problem.solve_arrays(D=2.0 + side * step, rho=1.0, grid=grid)["u"] for side in (-1, 1)]
    assert slope == pytest.approx((ends[1] - ends[0]) / (2 * step), abs=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kk": 1.0}, "unknown name `kk`"),
        ({"k": float("nan")}, "a finite number"),
        ({"grid": {"x": 3}}, "unknown name `x`"),
        ({"grid": {"t": 1}}, "at least 2"),
        ({"grid": {"t": 10**9}}, "at most"),
    ],
)
def test_what_cannot_be_solved_is_said(arguments: dict[str, object], message: str, decay: bilo.Problem) -> None:
    with pytest.raises(bilo.ProblemError, match=message):
        decay.solve(**arguments)  # type: ignore[arg-type]


def by_hand(problem: bilo.Problem, k: float) -> float:
    """Up to a constant: errors of 0.01 about exp(-k t), no prior."""
    table = problem.run(method="adjoint", threads=1).residuals("samples")
    return float(-0.5 * (((table["data"] - np.exp(-k * table["t"])) / 0.01) ** 2).sum())


def test_a_density_is_that_by_hand(decay: bilo.Problem) -> None:
    constant = decay.log_density([2.0]) - by_hand(decay, 2.0)
    for k in (1.5, 1.9, 2.4):
        assert decay.log_density({"k": k}) - constant == pytest.approx(by_hand(decay, k), abs=1e-4)


def test_a_prior_is_in_the_density(decay: bilo.Problem) -> None:
    with_prior = decay.changed(settings={"unknown.k.prior": "lognormal(0, 1)"})
    prior = lambda k: -np.log(k) - 0.5 * np.log(k) ** 2  # noqa: E731
    more = [with_prior.log_density([k]) - decay.log_density([k]) - prior(k) for k in (1.0, 2.0, 3.0)]
    assert more == pytest.approx([more[0]] * 3, abs=1e-6)


@pytest.mark.parametrize("name", ["gallery/glucose", "gallery/brinkman-slip"])
def test_slopes_of_a_density_are_differences_in_the_limit(name: str) -> None:
    problem = bilo.Problem(name)
    at = np.array(list(problem.guess.values())) * 1.01
    _, slopes = problem.log_density(at, gradient=True)
    for number, value in enumerate(at):
        step = np.zeros_like(at)
        step[number] = 1e-5 * abs(value)
        slope = (problem.log_density(at + step) - problem.log_density(at - step)) / (2 * step[number])
        assert slopes[number] == pytest.approx(slope, rel=1e-4)


def test_there_is_no_density_outside_of_a_range(decay: bilo.Problem) -> None:
    bounded = decay.changed(settings={"unknown.k.bounds": [0.5, 3.0]})
    for k in (0.4, 3.5, float("nan")):
        value, slopes = bounded.log_density([k], gradient=True)
        assert value == -np.inf and slopes.tolist() == [0.0]


@pytest.mark.parametrize("theta", [[], [1.0, 2.0], {"kk": 1.0}, {}])
def test_values_of_other_unknowns_have_no_density(theta: object, decay: bilo.Problem) -> None:
    with pytest.raises(bilo.ProblemError, match="are given"):
        decay.log_density(theta)  # type: ignore[call-overload]


def test_what_has_no_density_says_why() -> None:
    with pytest.raises(bilo.ProblemError, match="have no errors"):
        bilo.Problem("fisher-kpp").log_density([1.0, 1.0])
    with pytest.raises(bilo.ProblemError, match="unknown function"):
        bilo.Problem("poisson-variable").log_density([])


def test_threads_may_share_a_density(decay: bilo.Problem) -> None:
    at = [1.0 + 0.1 * number for number in range(8)]
    alone, together = [decay.log_density([k]) for k in at], dict[float, float]()
    threads = [threading.Thread(target=lambda k=k: together.update({k: decay.log_density([k])})) for k in at]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[k] for k in at] == alone


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_process_has_a_density_of_its_own(decay: bilo.Problem) -> None:
    value = decay.log_density([2.0])
    child = os.fork()
    if not child:
        os._exit(0 if decay.log_density([2.0]) == value else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_optimiser_of_others_finds_the_estimate(decay: bilo.Problem) -> None:
    k = 1.5
    for _ in range(30):
        _, slope = decay.log_density([k], gradient=True)
        curvature = (decay.log_density([k + 1e-3], gradient=True)[1] - slope) / 1e-3
        k -= float(slope[0] / curvature[0])
    assert k == pytest.approx(decay.run(method="adjoint").estimate["k"], rel=1e-6)


def test_a_text_stays_what_it_was(decay: bilo.Problem) -> None:
    decay.solve_arrays(k=3.0)
    assert decay.text == DECAY
