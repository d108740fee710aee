"""Draws book/src/unknown-functions.png (needs numpy and matplotlib) from three runs of the program:

    bilo run problems/poisson-variable.toml --out runs/poisson-variable-pointwise
    bilo run problems/poisson-variable.toml --set train.gradient=exact --out runs/poisson-variable-exact
    bilo run problems/poisson-variable.toml --method adjoint --out runs/poisson-variable-adjoint
    python docs/unknown-functions.py runs book/src/unknown-functions.png
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

runs, picture = sys.argv[1:]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
styles = {"pointwise": ("C0", "-"), "exact": ("C3", "-"), "adjoint": ("k", ":")}
for mode, (colour, line) in styles.items():
    fields = np.load(f"{runs}/poisson-variable-{mode}/fields.npz")
    left.plot(fields["x"], fields["D"], line, color=colour, lw=2, label=mode)
left.plot(fields["x"], fields["D_truth"], "--", color="0.5", lw=1.5, label="truth")
left.plot(fields["x"], fields["D_guess"], color="0.8", lw=1, label="guess")
left.set(xlabel="x", ylabel="D(x)", title="noise 0.01, weight 1e-3, seed 0")
left.legend(frameon=False, fontsize=8)

# Means and standard deviations over seeds 0 to 4, the table of the chapter.
weights = [1e-4, 1e-3, 1e-2]
errors = {
    "pointwise": ([0.0272, 0.0186, 0.0428], [0.0184, 0.0106, 0.0014]),
    "exact": ([0.0313, 0.0452, 0.0732], [0.0103, 0.0027, 0.0008]),
    "adjoint": ([0.0308, 0.0454, 0.0733], [0.0105, 0.0026, 0.0007]),
}
for shift, (mode, (mean, sd)) in zip([0.93, 1.0, 1.07], errors.items()):
    colour, line = styles[mode]
    right.errorbar(np.multiply(weights, shift), mean, sd, fmt="o" + line, color=colour, capsize=3, label=mode)
right.set(xscale="log", xlabel="weight of the regulariser", ylabel="relative L2 error of D", ylim=(0, None))
right.set_title("noise 0.01, five seeds")
right.legend(frameon=False, fontsize=8)
figure.tight_layout()
figure.savefig(picture, dpi=130)
