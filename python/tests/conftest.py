"""Problems that take a moment, and the program to hold results against."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bilo

DECAY = """\
name = "decay"
about = "A rate, from samples of what decays"

[coordinates]
t = { range = [0.0, 1.0], time = true }

[unknown.k]
guess = 1.0
truth = 2.0

[equation.decay]
holds = "u_t = -k*u"

[condition.start]
at = { t = 0.0 }
holds = "u = 1"

[observation.samples]
value = "u"
sigma = 0.01
data = { synthetic = { grid = { t = 11 }, noise = 0.01 } }
"""

ROD = """\
name = "rod"

[coordinates]
x = [0.0, 1.0]
t = { range = [0.0, 0.5], time = true }

[unknown.D]
guess = 0.5
prior = "lognormal(0, 1)"

[equation.heat]
holds = "u_t = D*u_xx"

[condition.start]
at = { t = 0.0 }
holds = "u = sin(pi*x)"

[condition.ends]
at = { x = [0.0, 1.0] }
holds = "u = 0"

[observation.probes]
value = "u"
sigma = 0.01
data = { file = "probes.csv" }

[classical]
cells = 40
steps = 40
"""


@pytest.fixture
def decay() -> bilo.Problem:
    return bilo.Problem(DECAY)


def grid_of_rod(x: int = 5, t: int = 6) -> dict[str, np.ndarray]:
    """The solution at D = 1 with noise, over axes."""
    axes = np.linspace(0, 1, x), np.linspace(0, 0.5, t)
    solution = np.exp(-np.pi**2 * axes[1]) * np.sin(np.pi * axes[0][:, None])
    noise = np.random.default_rng(1).normal(0, 0.01, solution.shape)
    return {"x": axes[0], "t": axes[1], "value": solution + noise}


def table_of_rod() -> dict[str, np.ndarray]:
    """The same in columns."""
    grid = grid_of_rod()
    x, t = np.meshgrid(grid["x"], grid["t"], indexing="ij")
    return {"x": x.ravel(), "t": t.ravel(), "value": grid["value"].ravel()}


@pytest.fixture
def rod(tmp_path: Path) -> bilo.Problem:
    """A problem with its data in a file."""
    columns = table_of_rod()
    rows = zip(*(column.tolist() for column in columns.values()))
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in rows)]
    (tmp_path / "probes.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "rod.toml").write_text(ROD)
    return bilo.Problem(tmp_path / "rod.toml")


def program(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The program `bilo`: that of `BILO_PROGRAM`, or the one in the package."""
    named = os.environ.get("BILO_PROGRAM")
    command = [named] if named else [sys.executable, "-P", "-m", "bilo"]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def without_effort(outcome: dict[str, object]) -> dict[str, object]:
    """All of an outcome but for time and memory."""
    effort = ("seconds", "peak_memory_bytes")
    kept = json.loads(json.dumps({key: entry for key, entry in outcome.items() if key not in effort}))
    (kept.get("learned") or {}).pop("seconds", None)
    return kept
