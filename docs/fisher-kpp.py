"""Draws docs/fisher-kpp.png from a run's folder (needs numpy and matplotlib):

    cargo run --release -- run problems/fisher-kpp.toml
    python docs/fisher-kpp.py runs/fisher-kpp-0 docs/fisher-kpp.png
"""

import csv
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

run, picture = pathlib.Path(sys.argv[1]), sys.argv[2]
fields = np.load(run / "fields.npz")
outcome = json.loads((run / "outcome.json").read_text())
with open(run / "history.csv") as file:
    rows = [row for row in csv.DictReader(file) if row["phase"] == "train"]

plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.7), layout="constrained")

times = [0.0, 0.25, 0.5, 0.75, 1.0]
colours = plt.cm.viridis(np.linspace(0.3, 0.88, len(times)))
for time, colour in zip(times, colours):
    at = np.argmin(np.abs(fields["t"] - time))
    found, classical = fields["u_network"][:, at], fields["u_classical"][:, at]
    left.plot(fields["x"], found, color=colour, lw=3.2)
    left.plot(fields["x"], classical, color="black", lw=1.1, ls=(0, (4, 3)))
    left.text(0.5, found.max() + 0.012, f"t = {time:g}", color=colour, ha="center", fontsize=9)
left.plot([], [], color=colours[2], lw=3.2, label="dictionary")
left.plot([], [], color="black", lw=1.1, ls=(0, (4, 3)), label="classical solve at the estimate")
left.set(xlabel="x", ylabel="u", xlim=(0, 1), title="The solution at the inferred unknowns")
left.legend(frameon=False, loc="upper left", fontsize=9)
left.set_ylim(0, 1.28 * fields["u_network"].max())

steps = [int(row["step"]) for row in rows]
labels = {"D": ("D, diffusion", "tab:blue"), "rho": ("rho, growth", "tab:orange")}
for name, (label, colour) in labels.items():
    unknown = outcome["unknowns"][name]
    right.plot(steps, [float(row[name]) for row in rows], "o-", color=colour, lw=2, ms=4, label=label)
    right.plot(steps[-1], unknown["estimate"], "o", color=colour, ms=5, clip_on=False)
right.axhline(unknown["truth"], color="black", lw=1.1, ls=(0, (4, 3)), label="truth of both")
right.set(xlabel="iteration", xlim=(1, steps[-1]), title="The unknowns on their way to the truth")
right.legend(frameon=False, loc="lower right", fontsize=9)

figure.savefig(picture, dpi=130)
