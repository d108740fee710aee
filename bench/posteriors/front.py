#!/usr/bin/env python3
"""The posterior of front.toml on a dense grid, by a solver of its own, beside that of `bilo sample`.

    bilo sample bench/posteriors/front.toml --draws 2000 --out FOLDER
    bench/posteriors/front.py FOLDER

Both unknowns on 96 x 63 places, 6,048 solutions at once by second differences on 200 cells and Runge-Kutta's method of fourth order:
the likelihood of the run's own data is summed over the grid. It needs NumPy, and takes minutes.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

SIGMA, CELLS, STEPS, TIMES = 0.03, 100, 2400, 10


def slope(u, diffusivity, growth, h):
    """u_t on half of the symmetric domain, zero at the end."""
    u_xx = np.zeros_like(u)
    u_xx[:, 1:-1] = (u[:, 2:] - 2 * u[:, 1:-1] + u[:, :-2]) / h**2
    u_xx[:, -1] = 2 * (u[:, -2] - u[:, -1]) / h**2
    found = 0.01 * diffusivity[:, None] * u_xx + growth[:, None] * u * (1 - u)
    found[:, 0] = 0.0
    return found


def heights(rows, diffusivity, growth):
    """The log-likelihood of all data at every place of the grid."""
    h, dt = 0.5 / CELLS, 1 / STEPS
    u = np.repeat(0.5 * np.sin(np.pi * np.linspace(0, 0.5, CELLS + 1))[None] ** 2, len(diffusivity), 0)
    f = lambda u: slope(u, diffusivity, growth, h)
    found = np.zeros(len(diffusivity))
    for step in range(STEPS + 1):
        if step % (STEPS // TIMES) == 0:
            for x, t, data in rows:
                if abs(t - step * dt) < 1e-9:
                    found -= 0.5 * ((u[:, round(min(x, 1 - x) / h)] - data) / SIGMA) ** 2
        k1 = f(u)
        k2 = f(u + dt / 2 * k1)
        k3 = f(u + dt / 2 * k2)
        u = u + dt / 6 * (k1 + 2 * k2 + 2 * k3 + f(u + dt * k3))
    return found


def main():
    folder = Path(sys.argv[1])
    with open(folder / "fit-profile.csv") as file:
        rows = [tuple(float(row[key]) for key in ("x", "t", "data")) for row in csv.DictReader(file)]
    axes = np.linspace(0.55, 3.4, 96), np.linspace(1.70, 2.32, 63)
    places = [axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")]
    log = heights(rows, *places)
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    edge = weights.reshape(96, 63)
    print(f"outermost rows of the grid: {max(edge[0].sum(), edge[-1].sum(), edge[:, 0].sum(), edge[:, -1].sum()):.1e}")
    print("      mean: grid   drawn (Monte Carlo errors off)   sd: grid   drawn (Monte Carlo errors off)")
    for unknown, place in zip(json.loads((folder / "posterior.json").read_text())["unknowns"], places):
        mean = (weights * place).sum()
        sd = np.sqrt((weights * (place - mean) ** 2).sum())
        off = (unknown["mean"] - mean) / unknown["mcse_mean"], (unknown["sd"] - sd) / unknown["mcse_sd"]
        print(
            f"{unknown['name']:5} {mean:.6f}   {unknown['mean']:.6f} ({off[0]:+.2f})   {sd:.6f}   {unknown['sd']:.6f} ({off[1]:+.2f})"
        )


if __name__ == "__main__":
    main()
