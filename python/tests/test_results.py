"""What a result says, held against its files."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import xarray

import bilo


@pytest.fixture(scope="module")
def front() -> bilo.Result:
    return bilo.Problem("fisher-kpp").run(settings={"observation.profile.data.synthetic.noise": 0.01})


def test_numbers_are_those_of_the_outcome(front: bilo.Result) -> None:
    stated = json.loads(front.files["outcome.json"])["unknowns"]
    for name in ("D", "rho"):
        assert front.estimate[name] == stated[name]["estimate"]
        assert front.sd[name] == stated[name]["sd"]
        assert front.interval[name] == tuple(stated[name]["interval_95"])


def test_a_covariance_has_the_standard_deviations_and_correlations(front: bilo.Result) -> None:
    covariance = front.covariance
    assert covariance is not None
    assert np.sqrt(np.diag(covariance)) == pytest.approx(list(front.sd.values()), rel=1e-12)
    correlation = covariance[0, 1] / np.prod(np.sqrt(np.diag(covariance)))
    assert correlation == pytest.approx(front.outcome["correlations"][0][1], rel=1e-12)


def test_a_summary_has_a_row_for_each_unknown(front: bilo.Result) -> None:
    summary = front.summary()
    assert list(summary.index) == ["D", "rho"]
    assert summary.loc["D", "estimate"] == front.estimate["D"] and summary.loc["rho", "truth"] == 2.0
    assert (summary["lower_95"] < summary["estimate"]).all() and (summary["estimate"] < summary["upper_95"]).all()


def test_a_summary_tells_of_priors(decay: bilo.Problem) -> None:
    result = decay.run(settings={"unknown.k.prior": "lognormal(0, 1)"})
    assert result.summary().loc["k", "prior"] == "lognormal(0, 1)"
    assert decay.run().summary().loc["k", "prior"] is None


def test_a_verdict_has_its_reasons(front: bilo.Result) -> None:
    stated = front.outcome["verdict"]
    assert front.verdict.colour == stated["colour"] == "green"
    assert [reason.sentence for reason in front.verdict.reasons] == [each["sentence"] for each in stated["reasons"]]


def test_fields_are_the_arrays_over_their_axes(front: bilo.Result) -> None:
    fields = front.fields
    assert isinstance(fields, xarray.Dataset) and fields["u_network"].dims == ("x", "t")
    for name, array in front.arrays.items():
        assert np.array_equal(fields[name].values, array), name
    start = 0.5 * np.sin(np.pi * fields["x"]) ** 2
    assert float(abs(fields["u_classical"].sel(t=0.0) - start).max()) < 1e-12


def test_an_unknown_function_has_its_own_axes() -> None:
    result = bilo.Problem("poisson-variable").run()
    (name,) = result.outcome["unknowns"]
    assert list(result.fields[name].dims) == result.outcome["unknowns"][name]["of"]
    assert result.estimate == {} and result.covariance is None


def test_residuals_are_data_minus_solution(front: bilo.Result) -> None:
    table = front.residuals("profile")
    assert (table["residual_classical"] == table["data"] - table["classical"]).all()
    assert table["residual_classical"].std() == pytest.approx(0.01, rel=0.1)
    with pytest.raises(KeyError, match="no observation `prfile`"):
        front.residuals("prfile")


def test_a_history_ends_at_the_estimate(front: bilo.Result) -> None:
    history = front.history
    assert {"phase", "step", "seconds", "D", "rho"} <= set(history.columns)
    assert history["D"].iloc[0] == 1.0 and history["D"].iloc[-1] == pytest.approx(front.estimate["D"], rel=1e-3)


def test_a_report_is_a_page(front: bilo.Result, tmp_path: Path) -> None:
    front.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.lower().startswith("<!doctype html") and "fisher-kpp" in page


def test_what_is_saved_is_loaded(front: bilo.Result, tmp_path: Path) -> None:
    front.save(tmp_path / "run")
    assert bilo.load_run(tmp_path / "run") == front


def test_a_result_is_pickled_whole(front: bilo.Result) -> None:
    again = pickle.loads(pickle.dumps(front))
    assert again == front and again.arrays.keys() == front.arrays.keys()


def test_a_run_in_a_folder_is_there(tmp_path: Path, decay: bilo.Problem) -> None:
    result = decay.run(out=tmp_path / "out")
    assert bilo.load_run(tmp_path / "out") == result


def test_a_notebook_shows_verdict_and_table(front: bilo.Result) -> None:
    page = front._repr_html_()
    assert "green" in page and "fisher-kpp" in page and "95 % interval" in page


def test_what_deserves_attention_is_a_warning() -> None:
    with pytest.warns(bilo.ResultWarning, match="interrupted"):
        bilo.Problem("fisher-kpp").run(callback=lambda step: step.step < 2)
