"""The problems of gallery/, run as they stand, against independent reference answers: one Markdown table.

    bench/gallery [--bilo PATH] [--gallery DIR] [--only TEXT] [--limit SECONDS] [--threads N] [--jobs N] [--guesses N] [--out DIR] [--json FILE]

With `--guesses N` every problem runs N times, from guesses drawn at random within a factor 3 of the truth, or within 30 % of the range for
a number with bounds; those of functions stay as they are.

An answer is right if every unknown number is within max(0.3 sd, 0.1 %) of the independent optimum, and every unknown function has at most
1.2 times the independent fit's relative error against the truth. Outcomes:

    right             and the verdict is green; or the data are flawed on purpose and the verdict says so
    false alarm       the answer is right, the verdict is orange or red
    wrong, said so    the answer is wrong, the verdict is orange or red
    wrong and silent  the answer is wrong, the verdict is green; or a flaw went unnoticed
    no answer         an error, or nothing within the limit

Needs Python's standard library only.
"""

import argparse
import ast
import json
import os
import random
import resource
import struct
import subprocess
import tempfile
import time
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SD_TOLERANCE, RELATIVE_TOLERANCE, FUNCTION_FACTOR = 0.3, 1e-3, 1.2


def arrays(path):
    """The arrays of an .npz as (shape, flat list)."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            raw = archive.read(name)
            length, start = (struct.unpack("<H", raw[8:10])[0], 10) if raw[6] == 1 else (struct.unpack("<I", raw[8:12])[0], 12)
            header = ast.literal_eval(raw[start : start + length].decode("latin1"))
            code = {"f8": "d", "f4": "f", "i8": "q", "i4": "i"}.get(header["descr"][1:])
            if code is None:
                continue
            body = raw[start + length :]
            order = ">" if header["descr"][0] == ">" else "<"
            found[name.removesuffix(".npy")] = header["shape"], struct.unpack(f"{order}{len(body) // struct.calcsize(code)}{code}", body)
    return found


def interpolate(xs, ys, x):
    for a, b, p, q in zip(xs, xs[1:], ys, ys[1:]):
        if x <= b:
            return p + (q - p) * (x - a) / (b - a)
    return ys[-1]


def function_error(folder, name, reference):
    """Relative L2 error of an unknown function of one argument against the truth, on the nodes of the reference."""
    fields = arrays(folder / "fields.npz")
    xs, ys = fields[reference["of"]][1], fields[name][1]
    if len(xs) != len(ys):
        return None
    found = [interpolate(xs, ys, x) for x in reference["at"]]
    square = sum((f - t) ** 2 for f, t in zip(found, reference["truth"]))
    return (square / sum(t**2 for t in reference["truth"])) ** 0.5


def judge(reference, outcome, folder):
    """Whether the answer is right, and what is worst."""
    right, worst = True, (0.0, "")
    numbers = {name: u["estimate"] for name, u in outcome["unknowns"].items() if u["kind"] == "scalar"}
    for name, optimum in reference["optimum"].items():
        sd = reference["sd"].get(name) or 0.0
        if name not in numbers:
            return False, f"{name} is missing"
        off = abs(numbers[name] - optimum)
        if not off <= max(SD_TOLERANCE * sd, RELATIVE_TOLERANCE * abs(optimum)):
            right = False
        size = off / sd if sd else float("inf")
        if not size <= worst[0]:
            worst = size, f"{name}: {numbers[name]:.5g}, optimum {optimum:.5g}, {size:.2g} sd"
    text = worst[1]
    for name, function in reference.get("functions", {}).items():
        error = function_error(folder, name, function)
        text += ("; " if text else "") + (f"{name}: error {error:.3g}, independent {function['error']:.3g}" if error is not None else f"{name} not compared")
        right = right and (error is None or error <= FUNCTION_FACTOR * function["error"])
    return right, text


def random_guesses(folder, draw):
    """Values to begin with for every unknown number, the same in every run."""
    truth = json.loads((folder / "reference.json").read_text())["truth"]
    unknowns = tomllib.loads((folder / "problem.toml").read_text())["unknown"]
    numbers = random.Random(f"{folder.name} {draw}")
    guesses = {}
    for name, value in truth.items():
        if "bounds" in unknowns.get(name, {}):
            low, high = unknowns[name]["bounds"]
            guesses[name] = min(max(value + numbers.uniform(-0.3, 0.3) * (high - low), low), high)
        else:
            guesses[name] = value * 3.0 ** numbers.uniform(-1.0, 1.0)
    return guesses


def one(bilo, folder, limit, threads, keep, draw):
    reference = json.loads((folder / "reference.json").read_text())
    label = folder.name if draw is None else f"{folder.name}-{draw}"
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(keep or scratch) / label
        command = [bilo, "run", folder / "problem.toml", "--out", out, "--threads", str(threads), "--quiet"]
        if draw is not None:
            for unknown, value in random_guesses(folder, draw).items():
                command += ["--guess", f"{unknown}={value:.4g}"]
        started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=ROOT)
            log = done.stdout + done.stderr
        except subprocess.TimeoutExpired as stopped:
            log, done = f"no end within {limit:g} s", None
        seconds, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if keep:
            (Path(keep) / f"{label}.log").write_text(log)
        result = {"problem": label, "class": reference["class"], "difficulty": reference["difficulty"], "seconds": seconds, "cpu": cpu}
        file = out / "outcome.json"
        if done is None or not file.exists():
            words = [line for line in log.splitlines() if line.startswith(("error", "no end"))] or log.strip().splitlines()[-1:] or ["nothing said"]
            return {**result, "outcome": "no answer", "colour": "", "reasons": [], "worst": words[0][:110]}
        outcome = json.loads(file.read_text())
        colour = outcome["verdict"]["colour"]
        reasons = [r["kind"] for r in outcome["verdict"]["reasons"]]
        right, worst = judge(reference, outcome, out)
        if "expected_verdict" in reference:
            name = "right" if colour in reference["expected_verdict"] else "wrong and silent"
        elif right:
            name = "right" if colour == "green" else "false alarm"
        else:
            name = "wrong and silent" if colour == "green" else "wrong, said so"
        return {**result, "outcome": name, "colour": colour, "reasons": reasons, "worst": worst}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bilo", default=str(ROOT / "target/release/bilo"), help="the program")
    parser.add_argument("--gallery", type=Path, default=ROOT / "gallery", help="folder of problems, laid out as gallery/ is")
    parser.add_argument("--only", default="", help="problems whose name or class has this text")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each problem")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1, help="problems at a time; their CPU seconds are counted together")
    parser.add_argument("--guesses", type=int, help="random guesses for each problem, in place of the stated one")
    parser.add_argument("--out", help="keep the runs in this folder")
    parser.add_argument("--json", help="write the results to this file, too")
    options = parser.parse_args()
    if options.out:
        os.makedirs(options.out, exist_ok=True)
    chosen = []
    for file in sorted(options.gallery.resolve().glob("*/reference.json")):
        if options.only in file.parent.name or options.only in json.loads(file.read_text())["class"]:
            chosen += [(file.parent, draw) for draw in (range(options.guesses) if options.guesses else [None])]
    keep = options.out and os.path.abspath(options.out)
    results = []
    print("| problem | class | seconds | of CPU | outcome | verdict | worst |\n|---|---|---|---|---|---|---|", flush=True)
    with ThreadPoolExecutor(options.jobs) as jobs:
        for r in jobs.map(lambda c: one(options.bilo, c[0], options.limit, options.threads, keep, c[1]), chosen):
            results.append(r)
            verdict = " ".join([r["colour"], *(f"`{k}`" for k in dict.fromkeys(r["reasons"]))])
            print(f"| {r['problem']} | {r['class']} | {r['seconds']:.1f} | {r['cpu']:.1f} | {r['outcome']} | {verdict} | {r['worst']} |", flush=True)
    counts = {}
    for r in results:
        counts[r["outcome"]] = counts.get(r["outcome"], 0) + 1
    print(f"\n{len(results)} problems: " + ", ".join(f"{n} {k}" for k, n in sorted(counts.items(), key=lambda c: -c[1])) + ".")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
