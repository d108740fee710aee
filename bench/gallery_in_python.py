"""The problems of the gallery by the Python package, each held against the program: one Markdown table.

    python bench/gallery_in_python.py [--bilo PATH] [--only TEXT] [--limit SECONDS] [--threads N]

Run it where the package is installed. Without `--bilo` nothing is compared.
"""

import argparse
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import bilo


def same(result, program, name, options):
    """Whether the program finds the same, to the bit."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "out"
        limit = f"train.time-limit={options.limit}"
        subprocess.run([program, "run", name, "--out", out, "--quiet", "--set", limit], capture_output=True)
        there = bilo.load_run(out)
    timed_out = "time-limit" in (there.stop, result.stop)
    return "no answer" if timed_out else "yes" if there.estimate == result.estimate else "NO"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bilo")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    warnings.simplefilter("ignore", bilo.ResultWarning)
    print("| problem | stop | verdict | seconds | as the program |\n|---|---|---|---|---|")
    for name in bilo.gallery():
        if options.only not in name:
            continue
        began = time.monotonic()
        result = bilo.Problem(name).run(time_limit=options.limit, threads=options.threads)
        seconds = time.monotonic() - began
        agrees = same(result, options.bilo, name, options) if options.bilo else ""
        print(f"| {name} | {result.stop} | {result.verdict.colour} | {seconds:.1f} | {agrees} |", flush=True)


if __name__ == "__main__":
    main()
