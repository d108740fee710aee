"""How runs behave: callbacks, threads, time, memory, signals."""

import logging
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import bilo

NETWORK = {"operator.kind": "network", "network.width": 16}


def test_a_callback_hears_of_every_step(decay: bilo.Problem) -> None:
    steps: list[bilo.Step] = []
    result = decay.run(callback=steps.append)
    assert steps[0].unknowns == {"k": 1.0} and steps[0].phase == "train" and steps[0].step == 1
    assert steps[-1].unknowns["k"] == pytest.approx(result.estimate["k"], rel=1e-3)
    assert result.estimate == decay.run().estimate


@pytest.mark.filterwarnings("ignore::bilo.ResultWarning")
@pytest.mark.parametrize("last", [1, 5])
def test_a_callback_ends_a_run_at_the_very_step(last: int) -> None:
    steps: list[int] = []

    def listen(step: bilo.Step) -> bool:
        steps.append(step.step)
        return step.step < last

    result = bilo.Problem("poisson-scalar").run(settings=NETWORK, callback=listen)
    assert result.stop == "interrupted" and steps == list(range(1, last + 1))


def test_an_exception_of_a_callback_ends_the_run() -> None:
    def fail(step: bilo.Step) -> None:
        raise LookupError("mine")

    began = time.monotonic()
    with pytest.raises(LookupError, match="mine"):
        bilo.Problem("poisson-scalar").run(settings=NETWORK, callback=fail)
    assert time.monotonic() - began < 5


def interrupted(when: Callable[[bilo.Step], bool], name: str, **arguments: object) -> tuple[float, object]:
    """The seconds from Ctrl-C in a step to its exception, and what was reached."""
    sent: list[float] = []

    def listen(step: bilo.Step) -> None:
        if not sent and when(step):
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as ended:
        bilo.Problem(name).run(callback=listen, **arguments)  # type: ignore[arg-type]
    return time.monotonic() - sent[0], ended.value.partial  # type: ignore[attr-defined]


PHASES: dict[str, tuple[Callable[[bilo.Step], bool], str, dict[str, object]]] = {
    "solving": (lambda step: step.step == 2, "fisher-kpp", {}),
    "pre-training": (lambda step: step.phase == "pretrain" and step.step == 3, "poisson-scalar", {"settings": NETWORK}),
    "training": (lambda step: step.phase == "train" and step.step == 3, "poisson-scalar", {"settings": {**NETWORK, "train.pretrain-steps": 5}}),
    "descent": (lambda step: step.step == 2, "fisher-kpp", {"method": "adjoint"}),
}


@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_ends_a_phase_within_a_second_and_keeps_what_was_reached(phase: str) -> None:
    when, name, arguments = PHASES[phase]
    seconds, partial = interrupted(when, name, **arguments)
    assert seconds < 1
    assert isinstance(partial, bilo.Result) and partial.stop == "interrupted"


@pytest.mark.parametrize("delay", [0.05, 0.4, 1.5, 3.0])
def test_ctrl_c_at_any_time_ends_a_run_within_a_second(delay: float) -> None:
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    problem = bilo.Problem("darcy")
    timer = threading.Timer(delay, send)
    with pytest.raises(KeyboardInterrupt) as ended:
        timer.start()
        problem.run()
    assert time.monotonic() - sent[0] < 1 and hasattr(ended.value, "partial")


def test_runs_in_two_threads_are_as_by_themselves() -> None:
    names = ["poisson-scalar", "bpn-toy"]
    alone = [bilo.Problem(name).run(threads=1).estimate for name in names]
    together: dict[str, dict[str, float]] = {}

    def one(name: str) -> None:
        together[name] = bilo.Problem(name).run(threads=1).estimate

    threads = [threading.Thread(target=one, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[name] for name in names] == alone


def test_other_threads_go_on_meanwhile() -> None:
    counts: list[int] = []
    ended = threading.Event()

    def count() -> None:
        while not ended.is_set():
            counts.append(1)
            time.sleep(0.005)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    bilo.Problem("fisher-kpp").run(threads=1)
    seconds = time.monotonic() - began
    ended.set()
    thread.join()
    assert len(counts) > 20 * seconds


@pytest.mark.filterwarnings("ignore::bilo.ResultWarning")
def test_a_time_limit_ends_a_run() -> None:
    began = time.monotonic()
    result = bilo.Problem("poisson-scalar").run(settings={**NETWORK, "train.pretrain-steps": 10**6}, time_limit=0.5)
    assert result.stop == "time-limit" and time.monotonic() - began < 5


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str], decay: bilo.Problem) -> None:
    decay.run(progress=True)
    assert capfd.readouterr() == ("", "")


def test_notes_go_to_the_log(caplog: pytest.LogCaptureFixture, decay: bilo.Problem) -> None:
    with caplog.at_level(logging.INFO, logger="bilo"):
        decay.run()
    assert caplog.records


def test_memory_does_not_grow_over_runs(rod: bilo.Problem) -> None:
    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(50):
        rod.run(method="adjoint", threads=1)
    before = peak()
    for _ in range(200):
        rod.run(method="adjoint", threads=1)
    assert peak() - before < 8 * 1024, "kilobytes"


def test_nothing_stays_in_the_folder_for_the_moment(decay: bilo.Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    decay.run()
    assert not list(tmp_path.iterdir())
