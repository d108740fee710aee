"""Who hears of a run: a callback, a bar in a notebook, the log."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

log = logging.getLogger("bilo")

BETWEEN_UPDATES = 0.1
"""Seconds between two updates of a bar: steps are far shorter than anyone reads."""


@dataclass(frozen=True)
class Step:
    """A step of a run, with losses and unknowns before it."""

    phase: str
    """`examples`, `pretrain` or `train`."""
    step: int
    """Its number within the phase, from 1."""
    steps: int
    """Steps planned for the phase."""
    seconds: float
    """Since the run began."""
    losses: dict[str, float]
    unknowns: dict[str, float]


Callback = Callable[[Step], object]
"""Hears of each step; a run ends when it returns `False`."""


class Listener:
    """Tells a callback and a notebook of a run, and the log of its notes."""

    def __init__(self, callback: Callback | None, progress: bool) -> None:
        self.callback = callback
        self.bar = Bar() if progress and in_notebook() else None

    @property
    def wants_steps(self) -> bool:
        """Whether the run waits for an answer after each step."""
        return self.callback is not None or self.bar is not None

    def note(self, line: str) -> None:
        """A line for people."""
        log.info(line)

    def step(
        self,
        phase: str,
        step: int,
        steps: int,
        seconds: float,
        losses: dict[str, float],
        unknowns: dict[str, float],
    ) -> bool:
        """Whether the run goes on after this step."""
        if self.bar:
            self.bar.show(phase, step, steps, unknowns)
        return self.callback is None or self.callback(
            Step(phase, step, steps, seconds, losses, unknowns)
        ) is not False

    def done(self, count: int, of: int) -> None:
        """So much of some work is done."""
        if self.bar:
            self.bar.show("sample", count, of, {})


def in_notebook() -> bool:
    """Whether somebody looks at this in a notebook."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """A bar below the cell of a notebook."""

    def __init__(self) -> None:
        shown: Any = importlib.import_module("IPython.display")
        self.html = shown.HTML
        self.handle = shown.display(shown.HTML(""), display_id=True)
        self.shown = 0.0

    def show(self, phase: str, step: int, steps: int, unknowns: dict[str, float]) -> None:
        """Moves the bar, unless that was a moment ago."""
        if step < steps and monotonic() - self.shown < BETWEEN_UPDATES:
            return
        self.shown = monotonic()
        values = "  ".join(f"{name} {value:.6g}" for name, value in unknowns.items())
        text = f'{phase} <progress value="{step}" max="{steps}"></progress> {step}/{steps}  {values}'
        self.handle.update(self.html(text))
