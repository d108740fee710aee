"""What is wrong gives one exception that says so, and where."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import xarray
from conftest import DECAY, table_of_rod

import bilo

TEXTS = {
    "no TOML": (DECAY + "[unknown", "not valid TOML", 22),
    "an unknown key": (DECAY.replace("guess", "gess"), "unknown key `gess`", 8),
    "an unknown name": (DECAY.replace("-k*u", "-kk*u"), "unknown name `kk`", 12),
    "an unknown function": (DECAY.replace("-k*u", "-k*sine(u)"), "sine", 12),
    "half a formula": (DECAY.replace("-k*u", "-k*("), "", 12),
    "two signs of equality": (DECAY.replace("-k*u", "-k*u = 0"), "", 12),
    "no equality": (DECAY.replace("u_t = -k*u", "u_t + k*u"), "", 12),
    "a guess that is no number": (DECAY.replace("guess = 1.0", 'guess = "one"'), "unknown name `one`", 8),
    "a guess that is not finite": (DECAY.replace("guess = 1.0", "guess = nan"), "", 8),
    "an empty range": (DECAY.replace("range = [0.0, 1.0]", "range = [0.0, 0.0]"), "", 5),
    "a place outside": (DECAY.replace("t = 0.0 }", "t = -3.0 }"), "", 15),
    "negative noise": (DECAY.replace("noise = 0.01", "noise = -1.0"), "noise", 21),
    "sigma of zero": (DECAY.replace("sigma = 0.01", "sigma = 0.0"), "sigma", 20),
    "a file that is not there": (DECAY.replace("{ synthetic = { grid = { t = 11 }, noise = 0.01 } }", '{ file = "no.csv" }'), "no.csv", 21),
    "a file outside": (DECAY.replace("{ synthetic = { grid = { t = 11 }, noise = 0.01 } }", '{ file = "/etc/hostname" }'), "", 21),
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_text(what: str) -> None:
    text, message, line = TEXTS[what]
    with pytest.raises(bilo.ProblemError) as refused:
        bilo.Problem(text)
    error = refused.value
    assert message in error.message and error.line == line and error.column is not None
    assert f"problem:{error.line}:{error.column}" in str(error) and text.splitlines()[line - 1] in str(error)


def changed(**values: Any) -> Callable[[bilo.Problem], object]:
    return lambda problem: problem.changed(**values)


def data(table: Any, observation: str = "probes") -> Callable[[bilo.Problem], object]:
    return lambda problem: problem.changed(data={observation: table})


def columns(**replaced: Any) -> dict[str, Any]:
    return {name: column for name, column in {**table_of_rod(), **replaced}.items() if column is not None}


def xarray_without_axes() -> xarray.DataArray:
    return xarray.DataArray(np.zeros((3, 4)), dims=("x", "t"))


CALLS: dict[str, tuple[Callable[[bilo.Problem], object], str]] = {
    "no such problem": (lambda _: bilo.Problem("fisher-kp"), "did you mean `fisher-kpp`"),
    "no such file": (lambda _: bilo.Problem(Path("no.toml")), "cannot read `no.toml`"),
    "a folder": (lambda _: bilo.Problem(Path(".")), "cannot read"),
    "nothing": (lambda _: bilo.Problem(""), "missing key `name`"),
    "an empty dictionary": (lambda _: bilo.Problem({}), ""),
    "None in a dictionary": (lambda _: bilo.Problem({"name": None}), "no value such as None"),
    "an unknown method": (lambda p: p.run(method="magic"), "there is no method `magic`"),
    "an unknown device": (lambda p: p.run(device="tpu"), "there is no device `tpu`"),
    "no threads": (lambda p: p.run(threads=0), "`threads` must be 1 or more"),
    "a negative seed": (lambda p: p.run(seed=-1), "`seed` must be a whole number"),
    "a negative time limit": (lambda p: p.run(time_limit=-1), "time-limit"),
    "an unknown setting": (changed(settings={"train.rte": 1}), "rte"),
    "a setting of the wrong kind": (changed(settings={"train.rate": "fast"}), "rate"),
    "a setting that is no value": (changed(settings={"train.rate": object()}), "no value such as"),
    "an unknown to fix that is not there": (changed(fix={"DD": 1.0}), "there is no unknown `DD`"),
    "a guess that is not there": (changed(guess={"k": 1.0}), "there is no unknown `k`"),
    "a guess that is no number": (changed(guess={"D": "x"}), ""),
    "a guess that is not finite": (changed(guess={"D": float("nan")}), ""),
    "data of no observation": (data(table_of_rod(), "probs"), "there is no observation `probs`"),
    "data of no kind": (data(7), "data of `probes` are a int"),
    "data in no file": (data("no.csv"), "cannot read no.csv"),
    "data in a file of no kind": (data(__file__), "no known format"),
    "no data": (data(pandas.DataFrame({"x": [], "t": [], "value": []})), "no rows"),
    "no columns": (data({}), ""),
    "a column that is missing": (data(columns(t=None)), "there is no column `t`"),
    "columns of several lengths": (data(columns(x=[0.5])), "shape"),
    "words for numbers": (data(columns(value=["a"] * 30)), "`a`"),
    "a number that is not finite": (data(columns(value=np.full(30, np.inf))), "`value` must be finite"),
    "a place outside of the domain": (data(columns(x=np.full(30, 7.0))), "7.0"),
    "a negative sigma": (data(columns(sigma=np.full(30, -1.0))), "`sigma` must be positive"),
    "an array of words": (data(np.array([["a"]])), "not of numbers"),
    "an array of three dimensions": (data(np.zeros((2, 2, 2))), "shape"),
    "a dimension that is no coordinate": (data(xarray.DataArray([1.0], dims=("y",))), "the dimension `y`"),
    "a dimension without coordinates": (data(xarray_without_axes()), "has no coordinates along it"),
}


@pytest.mark.parametrize("what", CALLS)
def test_a_call(what: str, rod: bilo.Problem) -> None:
    call, message = CALLS[what]
    with pytest.raises(bilo.ProblemError) as refused:
        call(rod)
    assert message in str(refused.value)


def test_a_device_that_is_not_there(decay: bilo.Problem) -> None:
    with pytest.raises(bilo.DeviceError, match="--device cpu"):
        decay.run(device="cuda:77")


def test_a_cell_of_data_is_pointed_at(rod: bilo.Problem) -> None:
    values = table_of_rod()["value"].tolist()
    values[3] = "x"
    with pytest.raises(bilo.ProblemError) as refused:
        rod.changed(data={"probes": columns(value=values)})
    assert refused.value.line == 5 and "memory/probes.csv:5" in str(refused.value)


def test_a_folder_of_no_run(tmp_path: Path) -> None:
    with pytest.raises(bilo.ProblemError, match="is not the folder of a run"):
        bilo.load_run(tmp_path)


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path, decay: bilo.Problem) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(bilo.ProblemError, match="is not the folder of a former run"):
        decay.run(out=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]
