"""What pictures show is what results say."""

import matplotlib
import numpy as np
import pytest
from conftest import DECAY

import bilo

matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(autouse=True)
def closed() -> object:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def result() -> bilo.Result:
    return bilo.Problem(DECAY).run()


def test_a_solution_is_drawn_beside_the_reference(result: bilo.Result) -> None:
    found, reference = result.plot().get_lines()
    assert np.array_equal(found.get_ydata(), result.arrays["u_network"])
    assert np.array_equal(reference.get_ydata(), result.arrays["u_classical"])


def test_a_solution_of_two_coordinates_is_drawn_at_five_values_of_the_second(rod: bilo.Problem) -> None:
    result = rod.run()
    lines = result.plot("u").get_lines()
    assert len(lines) == 10 and np.array_equal(lines[4].get_ydata(), result.arrays["u_network"][:, -1])


def test_a_state_that_is_not_there_is_refused(result: bilo.Result) -> None:
    with pytest.raises(bilo.ProblemError, match="no solution of `v`"):
        result.plot("v")


def test_a_fit_is_drawn_with_its_data(result: bilo.Result) -> None:
    axes = result.plot_fit("samples")
    table = result.columns_of_fit("samples")
    data, found, reference = axes.get_lines()
    assert np.array_equal(data.get_ydata(), table["data"]) and np.array_equal(found.get_ydata(), table["network"])
    assert axes.get_xlabel() == "t" and np.array_equal(reference.get_xdata(), table["t"])


def test_a_profile_is_drawn_with_its_interval(result: bilo.Result) -> None:
    (profile,) = result.profile("k")
    curve, lower, upper = result.plot_profile("k").get_lines()
    assert np.array_equal(curve.get_ydata(), profile.rise)
    assert (lower.get_xdata()[0], upper.get_xdata()[0]) == profile.interval_95


def test_draws_are_drawn_against_each_other() -> None:
    text = DECAY.replace("[unknown.k]", "[unknown.u0]\nguess = 0.8\ntruth = 1.0\n\n[unknown.k]")
    posterior = bilo.Problem(text.replace('"u = 1"', '"u = u0"')).sample(chains=2, draws=100, tuning=100)
    grid = posterior.plot_corner()
    assert grid.shape == (2, 2)
    assert np.array_equal(grid[1, 0].get_lines()[0].get_xdata(), posterior.arrays_of_draws["u0"].ravel())
    assert sum(patch.get_height() for patch in grid[0, 0].patches) == 200


def test_axes_of_ones_own_are_taken(result: bilo.Result) -> None:
    axes = pyplot.subplots()[1]
    assert result.plot(axes=axes) is axes and result.plot_fit("samples", axes) is axes
