"""Results are the program's, to the bit, for another number of threads."""

from pathlib import Path

import pytest
from conftest import DECAY, program, table_of_rod, without_effort

import bilo

QUICK = [
    "fisher-kpp",
    "bpn-toy",
    "bpn-toy-soft",
    "poisson-scalar",
    "poisson-variable",
    "burgers-initial",
    "reaction-coefficient",
    "reaction-coefficient-8",
    "point-process",
]
FROM_THE_GALLERY = [
    "gallery/arrhenius",
    "gallery/beam",
    "gallery/beam-ratio",
    "gallery/brinkman-slip",
    "gallery/fitzhugh-nagumo",
    "gallery/flip-flop",
    "gallery/gel-profile",
    "gallery/glucose",
]
NETWORK = {"operator.kind": "network", "network.width": 8, "train.pretrain-steps": 20, "train.train-steps": 20}


def assert_same(result: bilo.Result, folder: Path) -> None:
    """All files but for what tells of time and of where they lie."""
    there = bilo.load_run(folder)
    assert without_effort(result.outcome) == without_effort(there.outcome)
    assert set(result.files) == set(there.files)
    for name in result.files:
        if name.endswith(("npz", "svg")) or name.startswith(("fit-", "data/")):
            assert result.files[name] == there.files[name], name
    ours, theirs = (history.history.drop(columns="seconds", errors="ignore") for history in (result, there))
    assert ours.equals(theirs)


@pytest.mark.filterwarnings("ignore::bilo.ResultWarning")
@pytest.mark.parametrize("name", QUICK + FROM_THE_GALLERY)
def test_a_shipped_problem(name: str, tmp_path: Path) -> None:
    ended = program("run", name, "--out", tmp_path / "out", "--quiet", "--threads", 1)
    assert (tmp_path / "out" / "outcome.json").is_file(), ended.stderr
    assert_same(bilo.Problem(name).run(threads=2), tmp_path / "out")


@pytest.mark.filterwarnings("ignore::bilo.ResultWarning")
@pytest.mark.parametrize("method", bilo.methods())
def test_a_method(method: str, tmp_path: Path) -> None:
    problem = bilo.Problem("poisson-scalar")
    set_ = [word for key, value in NETWORK.items() for word in ("--set", f"{key}={value}")]
    folder = tmp_path / "out"
    ended = program("run", "poisson-scalar", "--method", method, "--seed", 3, "--out", folder, "--quiet", *set_)
    if not (folder / "outcome.json").is_file():
        with pytest.raises(bilo.BiloError) as refused:
            problem.run(method=method, seed=3, settings=NETWORK)
        assert str(refused.value).strip() == ended.stderr.strip()
    else:
        assert_same(problem.run(method=method, seed=3, settings=NETWORK, threads=1), folder)


def test_what_is_fixed_and_guessed(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    name = "gallery/glucose"
    program("run", name, "--fix", "p1=0.025", "--guess", "p2=0.03", "--out", folder, "--quiet", "--method", "adjoint")
    result = bilo.Problem(name).run(fix={"p1": 0.025}, guess={"p2": 0.03}, method="adjoint")
    assert result.estimate == bilo.load_run(folder).estimate and "p1" not in result.estimate
    assert "p1" not in bilo.Problem(name).changed(fix=["p1"]).unknowns


def test_a_check_is_what_the_program_prints(tmp_path: Path) -> None:
    (tmp_path / "decay.toml").write_text(DECAY)
    assert bilo.Problem(tmp_path / "decay.toml").check() == program("check", tmp_path / "decay.toml").stdout


def test_a_run_is_shown_as_the_program_shows_it(tmp_path: Path, decay: bilo.Problem) -> None:
    (tmp_path / "decay.toml").write_text(DECAY)
    printed = program("run", tmp_path / "decay.toml", "--out", tmp_path / "out").stdout
    assert printed.startswith(repr(decay.run()))


def test_an_error_is_what_the_program_prints(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(DECAY.replace("-k*u", "-kk*u"))
    with pytest.raises(bilo.ProblemError) as refused:
        bilo.Problem(tmp_path / "wrong.toml")
    assert program("check", tmp_path / "wrong.toml").stderr == f"{refused.value}\n"


def test_the_program_runs_a_saved_run_again(tmp_path: Path, rod: bilo.Problem) -> None:
    table = table_of_rod()
    table["value"] = table["value"] * 1.01
    result = rod.run(data={"probes": table}, method="adjoint", out=tmp_path / "saved")
    again = program("run", tmp_path / "saved" / "problem.toml", "--method", "adjoint", "--out", tmp_path / "again")
    assert bilo.load_run(tmp_path / "again").estimate == result.estimate, again.stderr
