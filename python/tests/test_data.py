"""Data in any form say the same as a file, and go through the same checks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import xarray
from conftest import DECAY, ROD, grid_of_rod, table_of_rod

import bilo


def array_of_rod() -> xarray.DataArray:
    grid = grid_of_rod()
    return xarray.DataArray(grid["value"], dims=("x", "t"), coords={"x": grid["x"], "t": grid["t"]})


def npz(folder: Path) -> Path:
    np.savez(folder / "mine.npz", **grid_of_rod())
    return folder / "mine.npz"


def npy(folder: Path) -> str:
    np.save(folder / "mine.npy", np.stack(list(table_of_rod().values()), axis=1))
    return str(folder / "mine.npy")


FORMS: dict[str, Callable[[Path], Any]] = {
    "a DataFrame": lambda _: pandas.DataFrame(table_of_rod()),
    "a DataFrame with an index": lambda _: pandas.DataFrame(table_of_rod()).set_index(["x", "t"]),
    "a DataFrame with other columns": lambda _: pandas.DataFrame(table_of_rod()).assign(note="seen"),
    "columns": lambda _: table_of_rod(),
    "lists": lambda _: {name: column.tolist() for name, column in table_of_rod().items()},
    "values over axes": lambda _: grid_of_rod(),
    "a DataArray": lambda _: array_of_rod(),
    "a DataArray the other way round": lambda _: array_of_rod().transpose("t", "x"),
    "a Dataset": lambda _: xarray.Dataset({"value": array_of_rod()}),
    "an array": lambda _: np.stack(list(table_of_rod().values()), axis=1),
    "a CSV file": lambda folder: folder / "probes.csv",
    "an NPZ file": npz,
    "an NPY file by name": npy,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_of_data(form: str, rod: bilo.Problem, tmp_path: Path) -> None:
    from_file = rod.run(method="adjoint")
    result = rod.run(data={"probes": FORMS[form](tmp_path)}, method="adjoint")
    assert result.estimate == from_file.estimate
    assert result.residuals("probes").equals(from_file.residuals("probes"))


def test_data_take_the_place_of_synthetic_ones(decay: bilo.Problem) -> None:
    t = np.linspace(0, 1, 6)
    result = decay.run(data={"samples": {"t": t, "value": np.exp(-1.5 * t)}})
    assert result.estimate["k"] == pytest.approx(1.5, abs=1e-6)
    assert result.residuals("samples")["data"].tolist() == np.exp(-1.5 * t).tolist()


def test_a_column_of_errors_counts() -> None:
    text = ROD.replace("sigma = 0.01\n", "").replace('{ file = "probes.csv" }', "{ synthetic = { grid = { x = 3, t = 3 } } }")
    problem = bilo.Problem(text.replace("guess = 0.5", "guess = 0.5\ntruth = 1.0"))
    table = table_of_rod()
    sd = []
    for sigma in (0.01, 0.02):
        data = {**table, "sigma": np.full(len(table["x"]), sigma)}
        sd.append(problem.run(data={"probes": data}, method="adjoint").sd["D"])
    assert sd[1] == pytest.approx(2 * sd[0], rel=0.05)


def test_missing_numbers_are_left_out_where_the_problem_says_so(tmp_path: Path, rod: bilo.Problem) -> None:
    table = pandas.DataFrame(table_of_rod())
    holes = table.copy()
    holes.loc[[2, 7], "value"] = np.nan
    skipping = rod.changed(settings={"observation.probes.data": {"file": "probes.csv", "missing": "skip"}})
    left = skipping.run(data={"probes": holes}, method="adjoint")
    assert left.estimate == rod.run(data={"probes": table.drop([2, 7])}, method="adjoint").estimate
    with pytest.raises(bilo.ProblemError, match="probes.csv:4"):
        rod.run(data={"probes": holes}, method="adjoint")


def test_columns_have_the_names_of_the_problem(tmp_path: Path, rod: bilo.Problem) -> None:
    table = pandas.DataFrame(table_of_rod()).rename(columns={"value": "T_degC"})
    table.to_csv(tmp_path / "probes.csv", index=False)
    (tmp_path / "rod.toml").write_text(ROD.replace('csv" }', 'csv", columns = { value = "T_degC" } }'))
    renamed = bilo.Problem(tmp_path / "rod.toml").run(data={"probes": table}, method="adjoint")
    assert renamed.estimate == rod.run(data={"probes": table_of_rod()}, method="adjoint").estimate


EXPERIMENTS = DECAY.replace(
    "[observation.samples]",
    """[experiment.first]
observation = { samples = { data = { synthetic = { grid = { t = 5 }, noise = 0.01 } } } }

[experiment.second]
observation = { samples = { data = { synthetic = { grid = { t = 7 }, noise = 0.01 } } } }

[observation.samples]""",
)


def test_data_of_several_experiments() -> None:
    problem = bilo.Problem(EXPERIMENTS)
    assert problem.observations == ["samples@first", "samples@second"]
    t = np.linspace(0, 1, 4)
    data = {name: {"t": t, "value": np.exp(-1.2 * t)} for name in problem.observations}
    result = problem.run(data=data)
    assert result.estimate["k"] == pytest.approx(1.2, abs=1e-6)
    assert len(result.residuals("samples@first")) == 4


def test_numbers_arrive_to_the_last_bit(decay: bilo.Problem) -> None:
    values = np.nextafter(np.linspace(0.1, 1, 8), 2)
    for column in (values, values.astype(np.float32), np.arange(1, 9)):
        result = decay.run(data={"samples": {"t": np.linspace(0, 1, 8), "value": column}})
        assert result.residuals("samples")["data"].tolist() == [float(number) for number in column]


def test_data_are_taken_when_they_are_given(rod: bilo.Problem) -> None:
    table = table_of_rod()
    problem = rod.changed(data={"probes": table})
    before = problem.run(method="adjoint").estimate
    table["value"] += 1.0
    assert problem.run(method="adjoint").estimate == before


def test_data_are_given_with_the_statement(rod: bilo.Problem, tmp_path: Path) -> None:
    data = {"probes": table_of_rod()}
    estimate = rod.run(method="adjoint").estimate
    (tmp_path / "probes.csv").unlink()
    assert bilo.Problem(ROD, data=data).run(method="adjoint").estimate == estimate
    assert bilo.Problem(tmp_path / "rod.toml", data={"probes": array_of_rod()}).run(method="adjoint").estimate == estimate


def test_a_text_that_is_wrong_is_told_of_before_its_data() -> None:
    with pytest.raises(bilo.ProblemError, match="not valid TOML"):
        bilo.Problem("name = ", data={"probes": {}})
