"""Times one training step of the paper's size of this program, PyTorch and JAX, in turns; then a whole run.

Each is a worker process that stays: a number of steps goes in, a line of JSON with seconds per step comes out.
Machines are noisy, so what counts is the ratio of neighbours within a round, and the median over the rounds.
"""

import argparse
import csv
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = "bilo"
PEERS = {
    "PyTorch": ["fisher_kpp_torch.py"],
    "JAX": ["fisher_kpp_jax.py"],
    "JAX jacfwd": ["fisher_kpp_jax.py", "jacfwd"],
}
TARGETS = (0.01, 0.001)


class Worker:
    def __init__(self, command):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError((self.process.stderr.read().strip().splitlines() or ["it ended"])[-1])
        return json.loads(line)

    def run(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def take_cores(count):
    """Keeps this process and all that it starts to so many cores; returns how many there are."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count()
    cores = sorted(os.sched_getaffinity(0))[:count]
    os.sched_setaffinity(0, cores)
    return len(cores)


def start_workers(cores):
    cargo = ["cargo", "bench", "--quiet", "-p", "bilo", "--bench", "step", "--"]
    workers = {OURS: Worker([*cargo, "--serve", "--threads", str(cores)])}
    for name, (file, *arguments) in PEERS.items():
        try:
            workers[name] = Worker([sys.executable, f"bench/peers/{file}", str(cores), *arguments])
        except RuntimeError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return workers


def measure_steps(cores, rounds, steps):
    """By name: the answers of every round."""
    workers = start_workers(cores)
    for worker in workers.values():
        worker.run(steps)  # warms up, and compiles where something is compiled
    answers = {name: [] for name in workers}
    for number in range(rounds):
        for name, worker in workers.items():
            answers[name].append(worker.run(steps))
        figures = ", ".join(f"{name} {1e3 * found[-1]['sec_per_step']:.1f} ms" for name, found in answers.items())
        print(f"round {number + 1} of {rounds}: {figures}", file=sys.stderr)
    for worker in workers.values():
        worker.end()
    return {name: (worker.about, answers[name]) for name, worker in workers.items()}


def program():
    text = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return Path(json.loads(text)["target_directory"]) / "release" / "bilo"


def paper_steps():
    """What the recipe of the paper takes: steps of pre-training and of both levels."""
    text = (ROOT / "crates/bilo/src/problem/recipe.rs").read_text()
    counts = [re.search(rf"\b{name}: ([\d_]+)", text)[1] for name in ("pretrain_steps", "train_steps")]
    return sum(int(count.replace("_", "")) for count in counts)


def measure_run(cores):
    """A run of problems/fisher-kpp.toml as it is: when each target was reached for good, and what the whole took."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        start = time.perf_counter()
        command = [program(), "run", "problems/fisher-kpp.toml", "--json", "--out", out, "--threads", str(cores)]
        outcome = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
        wall = time.perf_counter() - start
        with open(out / "history.csv") as file:
            rows = list(csv.DictReader(file))
    truth = {name: unknown["truth"] for name, unknown in outcome["unknowns"].items()}
    reached = {}
    for target in TARGETS:
        inside = [all(abs(float(row[n]) / v - 1) <= target for n, v in truth.items()) for row in rows]
        outside = max((place for place, good in enumerate(inside) if not good), default=-1)
        reached[str(target)] = float(rows[outside + 1]["seconds"]) if outside + 1 < len(rows) else None
    errors = {name: unknown["relative_error"] for name, unknown in outcome["unknowns"].items()}
    return {"reached_s": reached, "wall_s": wall, "peak_bytes": outcome["peak_memory_bytes"], "errors": errors}


def summary(cores, steps, run):
    ours = [answer["sec_per_step"] for answer in steps[OURS][1]]
    result = {"cpu": cpu(), "cores": cores, "steps": {}, "run": run, "paper_steps": paper_steps()}
    for name, (about, answers) in steps.items():
        seconds = [answer["sec_per_step"] for answer in answers]
        result["steps"][name] = {
            "about": about["ready"],
            "weights": about["weights"],
            "ms_per_step": [1e3 * value for value in seconds],
            "ratio_to_ours": [value / own for value, own in zip(seconds, ours)],
            "peak_bytes": answers[-1]["peak_bytes"],
        }
    answers = steps[OURS][1]
    result["products"] = {"gflop": answers[0]["flops"] / 1e9}
    for way in ("alone", "library"):
        ceilings = [answer[f"{way}_gflops"] for answer in answers]
        shares = [answer["flops"] / answer["sec_per_step"] / ceiling / 1e9 for answer, ceiling in zip(answers, ceilings)]
        result["products"][way] = {"gflops": ceilings, "share": shares}
    return result


def busy():
    """Processes that ran before this began, on average over a minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def cpu():
    try:
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def table(result):
    steps, run, middle = result["steps"], result["run"], statistics.median
    names = list(steps)

    def line(title, cell):
        print(f"{title:<38}" + "".join(f"{cell(name):>16}" for name in names))

    def until(target):
        def cell(name):
            if name != OURS:
                return f"({middle(steps[name]['ms_per_step']) * result['paper_steps'] / 1e3:.0f})"
            seconds = run["reached_s"][str(target)]
            return "never" if seconds is None else f"{seconds:.2f}"

        return cell

    def ratio(name):
        values = sorted(steps[name]["ratio_to_ours"])
        return f"{middle(values):.2f}"

    def spread(name):
        values = steps[name]["ratio_to_ours"]
        return "" if name == OURS else f"{min(values):.2f}..{max(values):.2f}"

    print(f"\n{result['cpu']}, {result['cores']} core{'s' * (result['cores'] > 1)}\n")
    line("", lambda name: name)
    line("one step of the paper's size, ms", lambda name: f"{middle(steps[name]['ms_per_step']):.1f}")
    line("  times ours, median of rounds", ratio)
    line("  times ours, all rounds", spread)
    for target in TARGETS:
        line(f"until {100 * target:g} % in both unknowns, s *", until(target))
    line("whole run with its final checks, s", lambda name: f"{run['wall_s']:.2f}" if name == OURS else "")
    line("peak memory of stepping, MB", lambda name: f"{(steps[name]['peak_bytes'] or 0) / 1e6:.0f}")
    line("peak memory of the run, MB", lambda name: f"{run['peak_bytes'] / 1e6:.0f}" if name == OURS else "")
    products = result["products"]
    print(f"\nmatrix products of a step: {products['gflop']:.2f} GFLOP; the whole step's time is, in the median of rounds,")
    for way, words in (("library", "the library `gemm`"), ("alone", "the program's own kernels")):
        speed, share = (middle(products[way][key]) for key in ("gflops", "share"))
        print(f"  {1 / share:.2f} times what {words} would take for them alone ({speed:.0f} GFLOP/s in the same rounds)")
    print(
        f"* ours: measured, `bilo run problems/fisher-kpp.toml` as it is. In parentheses: not run, but extrapolated,\n"
        f"  the time of a step times the {result['paper_steps']} steps of the paper's recipe."
    )


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="bench/run")
    options.add_argument("--rounds", type=int, default=7, help="turns that everyone takes [7]")
    options.add_argument("--quick", action="store_true", help="2 short rounds: to see that it works")
    options.add_argument("--out", type=Path, default=ROOT / "bench/results.json", help="the same as JSON")
    options.add_argument("--cores", type=int, help="keep everyone to so many cores [all]")
    options = options.parse_args()
    cores = take_cores(options.cores)
    load = busy()
    if load > 0.5:
        print(
            f"the machine is busy (load {load:.1f}): threads that wait for each other, above all PyTorch's, suffer more "
            "than others; --cores 1 is fair even so",
            file=sys.stderr,
        )
    rounds, count = (2, 10) if options.quick else (max(options.rounds, 1), 40)
    result = summary(cores, measure_steps(cores, rounds, count), measure_run(cores))
    result["load_before"] = load
    table(result)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(f"\nwritten: {options.out}")


main()
