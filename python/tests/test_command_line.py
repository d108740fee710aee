"""The program in the package: `bilo` and `python -m bilo`."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import DECAY

import bilo

MODULE = [sys.executable, "-P", "-m", "bilo"]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*MODULE, *map(str, arguments)], capture_output=True, text=True, timeout=100)


def test_it_lists_the_problems() -> None:
    listed = run("list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == bilo.problems()


def test_it_has_a_version_and_help() -> None:
    assert run("--version").stdout == f"bilo {bilo.__version__}\n"
    assert "Usage: bilo" in run("--help").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["run", "fisher-kp"], 1, "did you mean `fisher-kpp`?"),
        (["run"], 2, "Usage: bilo run"),
        (["rn"], 2, "unrecognized subcommand"),
        (["run", "fisher-kpp", "--threads", "0"], 2, "invalid value"),
    ],
)
def test_it_says_what_is_wrong(arguments: list[str], code: int, text: str) -> None:
    ended = run(*arguments)
    assert ended.returncode == code and text in ended.stderr


def test_its_runs_are_those_of_the_package(tmp_path: Path, decay: bilo.Problem) -> None:
    (tmp_path / "decay.toml").write_text(DECAY)
    assert run("run", tmp_path / "decay.toml", "--out", tmp_path / "out", "--quiet").returncode == 0
    assert bilo.load_run(tmp_path / "out").estimate == decay.run().estimate


def test_the_script_is_the_program() -> None:
    script = Path(sys.executable).with_name("bilo")
    assert subprocess.run([script, "--version"], capture_output=True, text=True).stdout == f"bilo {bilo.__version__}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_ctrl_c_ends_it_with_what_it_has(tmp_path: Path) -> None:
    command = ["run", "poisson-scalar", "--set", "operator.kind=network", "--set", "train.pretrain-steps=1000000"]
    child = subprocess.Popen([*MODULE, *command, "--out", str(tmp_path / "out")], stderr=subprocess.DEVNULL)
    while not (tmp_path / "out" / "history.csv").is_file():
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    child.wait(timeout=4)
    assert bilo.load_run(tmp_path / "out").stop == "interrupted"
