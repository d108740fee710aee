"""Posteriors, profiles and studies are the program's, to the bit."""

import json
import os
import pickle
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import DECAY, program

import bilo

FEW = {"chains": 2, "draws": 150, "tuning": 150}


@pytest.fixture(scope="module")
def drawn() -> bilo.Posterior:
    return bilo.Problem(DECAY).sample(**FEW, seed=1)


def test_draws_are_the_programs(drawn: bilo.Posterior, tmp_path: Path) -> None:
    (tmp_path / "decay.toml").write_text(DECAY)
    few = [word for name, count in FEW.items() for word in (f"--{name}", count)]
    program("sample", tmp_path / "decay.toml", *few, "--seed", 1, "--threads", 1, "--out", tmp_path / "out", "--quiet")
    assert drawn.files["draws.csv"] == (tmp_path / "out" / "draws.csv").read_bytes()
    theirs = json.loads((tmp_path / "out" / "posterior.json").read_text())
    assert {**drawn.posterior, "seconds": 0} == {**theirs, "seconds": 0}


def test_a_summary_is_of_the_draws(drawn: bilo.Posterior) -> None:
    draws, summary = drawn.arrays_of_draws["k"], drawn.summary()
    assert draws.shape == (2, 150) and drawn.draws["k"].tolist() == draws.ravel().tolist()
    assert summary.loc["k", "mean"] == pytest.approx(draws.mean(), rel=1e-12)
    assert summary.loc["k", "sd"] == pytest.approx(drawn.sd["k"], rel=0.2)
    assert summary.loc["k", "truth"] == 2.0


def test_draws_have_a_verdict_and_a_report(drawn: bilo.Posterior, tmp_path: Path) -> None:
    assert drawn.verdict.colour == "orange" and "chains disagree about k" in drawn.verdict.reasons[0].sentence
    assert drawn.estimate["k"] == bilo.Problem(DECAY).run(seed=1).estimate["k"]
    drawn.report(tmp_path / "page.html")
    assert "osterior" in (tmp_path / "page.html").read_text()


def test_draws_are_saved_and_pickled(drawn: bilo.Posterior, tmp_path: Path) -> None:
    drawn.save(tmp_path / "out")
    assert (tmp_path / "out" / "posterior.zarr" / ".zgroup").is_file()
    assert pickle.loads(pickle.dumps(drawn)) == drawn == bilo.Posterior.in_folder(tmp_path / "out")


@pytest.mark.filterwarnings("ignore")
def test_arviz_has_the_draws(drawn: bilo.Posterior) -> None:
    arviz = pytest.importorskip("arviz")
    data = drawn.to_arviz()
    assert np.array_equal(data.posterior["k"].values, drawn.arrays_of_draws["k"])
    summary = arviz.summary(data, round_to="none")
    assert summary.loc["k", "r_hat"] == pytest.approx(drawn.summary().loc["k", "rhat"], rel=1e-6)


def test_what_cannot_be_sampled_says_why() -> None:
    with pytest.raises(bilo.ProblemError, match="unknown function"):
        bilo.Problem("poisson-variable").sample(draws=100)


@pytest.mark.filterwarnings("ignore::bilo.ResultWarning")
def test_a_search_without_an_estimate_is_not_sampled() -> None:
    with pytest.raises(bilo.SolverError, match="ended before its estimate"):
        bilo.Problem(DECAY).sample(**FEW, settings={"train.time-limit": 1e-6})


def test_ctrl_c_ends_chains_within_a_second() -> None:
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    problem = bilo.Problem(DECAY)
    timer = threading.Timer(2.0, send)
    with pytest.raises(KeyboardInterrupt) as ended:
        timer.start()
        problem.sample(draws=10**6)
    assert time.monotonic() - sent[0] < 1
    assert ended.value.partial.estimate  # type: ignore[attr-defined]


def test_profiles_are_the_programs(tmp_path: Path) -> None:
    (tmp_path / "decay.toml").write_text(DECAY)
    program("profile", tmp_path / "decay.toml", "--out", tmp_path / "out", "--quiet")
    (theirs,) = json.loads((tmp_path / "out" / "profile.json").read_text())
    (ours,) = bilo.Problem(DECAY).profile("k")
    assert (ours.name, ours.estimate, list(ours.interval_95)) == ("k", theirs["estimate"], theirs["interval_95"])
    assert ours.values.tolist() == [point["value"] for point in theirs["points"]]
    assert ours.rise.tolist() == [point["rise"] for point in theirs["points"]]


def test_a_result_has_profiles_after_it_was_loaded(tmp_path: Path, rod: bilo.Problem) -> None:
    rod.run(method="adjoint", out=tmp_path / "out")
    (profile,) = bilo.load_run(tmp_path / "out").profile()
    lower, upper = profile.interval_95
    assert lower is not None and upper is not None and lower < profile.estimate < upper


def test_a_profile_of_no_unknown_is_refused(decay: bilo.Problem) -> None:
    with pytest.raises(bilo.ProblemError, match="there is no unknown `kk`"):
        decay.profile("kk")


STUDY = {"problem": "decay.toml", "method": "adjoint", "seeds": [0, 1], "vary": {"unknown.k.guess": [0.5, 1.5]}}


def test_a_study_is_the_programs(tmp_path: Path) -> None:
    for folder in ("ours", "theirs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "decay.toml").write_text(DECAY)
    table = bilo.study(STUDY, tmp_path / "ours")
    file = tmp_path / "theirs" / "study.toml"
    file.write_bytes((tmp_path / "ours" / "study.toml").read_bytes())
    ended = program("study", file, "--out", tmp_path / "theirs" / "out", "--quiet")
    theirs = (tmp_path / "theirs" / "out" / "runs.csv").read_text().splitlines()
    assert len(table) == 4 == len(theirs) - 1, ended.stderr
    assert table["k error"].tolist() == [float(line.split(",")[theirs[0].split(",").index("k error")]) for line in theirs[1:]]


def test_runs_of_a_study_are_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "decay.toml").write_text(DECAY)
    first = bilo.study(STUDY, tmp_path)
    assert bilo.study(STUDY, tmp_path).equals(first)


def test_a_study_that_is_wrong_says_where(tmp_path: Path) -> None:
    (tmp_path / "decay.toml").write_text(DECAY)
    with pytest.raises(bilo.ProblemError, match="study.toml:"):
        bilo.study({**STUDY, "methods": "magic"}, tmp_path)
    with pytest.raises(bilo.ProblemError, match="must be 1 or more"):
        bilo.study(STUDY, tmp_path, jobs=0)
