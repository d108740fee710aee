"""Ways to state a problem."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import DECAY, ROD, table_of_rod

import bilo

AS_DICTIONARY = {
    "name": "decay",
    "about": "A rate, from samples of what decays",
    "coordinates": {"t": {"range": [0.0, 1.0], "time": True}},
    "unknown": {"k": {"guess": np.float64(1.0), "truth": 2}},
    "equation": {"decay": {"holds": "u_t = -k*u"}},
    "condition": {"start": {"at": {"t": 0.0}, "holds": "u = 1"}},
    "observation": {
        "samples": {"value": "u", "sigma": 0.01, "data": {"synthetic": {"grid": {"t": 11}, "noise": 0.01}}}
    },
}


def test_a_text_a_file_and_a_dictionary_say_the_same(tmp_path: Path, decay: bilo.Problem) -> None:
    (tmp_path / "decay.toml").write_text(DECAY)
    estimate = decay.run().estimate
    assert bilo.Problem(AS_DICTIONARY).run().estimate == estimate
    for file in (tmp_path / "decay.toml", str(tmp_path / "decay.toml")):
        assert bilo.Problem(file).run().estimate == estimate


def test_coordinates_keep_their_order() -> None:
    coordinates = {"t": {"range": [0.0, 0.5], "time": True}, "x": [0.0, 1.0]}
    from bilo import _toml

    text = ROD.split("[coordinates]")[0] + _toml.document({"coordinates": coordinates}) + "\n\n"
    rest = ROD.split("time = true }\n")[1].replace("{ file = \"probes.csv\" }", "{ synthetic = { grid = { x = 3, t = 3 } } }")
    assert bilo.Problem(text + rest.replace("guess = 0.5", "guess = 0.5\ntruth = 1.0")).coordinates == ["t", "x"]


def test_a_problem_says_what_it_is(decay: bilo.Problem) -> None:
    assert (decay.name, decay.unknowns, decay.guess, decay.truth) == ("decay", ["k"], {"k": 1.0}, {"k": 2.0})
    assert decay.about.startswith("A rate") and decay.coordinates == ["t"] and decay.observations == ["samples"]
    assert repr(decay) == "<bilo.Problem decay: k>" and decay.text == DECAY


def test_every_shipped_problem_is_read() -> None:
    for name in bilo.problems() + bilo.gallery():
        assert bilo.Problem(name).about


def test_data_are_relative_to_the_working_directory_of_a_text(tmp_path: Path, rod: bilo.Problem) -> None:
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert bilo.Problem(ROD).run(method="adjoint").estimate == rod.run(method="adjoint").estimate
    finally:
        os.chdir(before)


def test_files_outside_are_read_where_that_is_allowed(tmp_path: Path, rod: bilo.Problem) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "rod.toml").write_text(ROD.replace("probes.csv", "../probes.csv"))
    with pytest.raises(bilo.ProblemError, match="outside the folder"):
        bilo.Problem(tmp_path / "inner" / "rod.toml")
    assert bilo.Problem(tmp_path / "inner" / "rod.toml", allow_outside=True).run(method="adjoint").estimate


def test_a_pickled_problem_has_its_data_and_settings(rod: bilo.Problem, tmp_path: Path) -> None:
    problem = rod.changed(guess={"D": 0.7}, settings={"classical.cells": 30})
    text = pickle.dumps(problem)
    estimate = problem.run(method="adjoint").estimate
    (tmp_path / "probes.csv").unlink()
    again = pickle.loads(text)
    assert again.text == problem.text and again.guess == {"D": 0.7} and again.run(method="adjoint").estimate == estimate


def test_changes_add_up_and_leave_the_problem_alone(rod: bilo.Problem) -> None:
    changed = rod.changed(data={"probes": table_of_rod()}).changed(guess={"D": 2.0}).changed(guess={"D": 3.0})
    assert changed.guess == {"D": 3.0} and rod.guess == {"D": 0.5}


def test_a_result_is_a_guess(rod: bilo.Problem) -> None:
    result = rod.run(method="adjoint")
    assert rod.changed(guess=result).guess == result.estimate
