"""Shared by the generators: a least-squares fit with standard errors, and files."""
import json
import numpy as np
from scipy.optimize import least_squares


def fit(models, datas, truth, sigmas, names=None, verbose=True, rel_step=1e-4):
    """models(theta) -> list of arrays; datas: list of arrays; sigmas: list of a number, or None where it is estimated.
    Maximum likelihood with a noise level of its own for every observation whose sigma is None. Moves theta/truth."""
    truth = np.asarray(truth, float)
    s = [x if x is not None else None for x in sigmas]
    p = len(truth)
    z = np.ones(p)
    cur = [x if x is not None else 1.0 for x in s]
    rounds = 1
    if any(x is None for x in s):
        rounds = 4 if len(datas) > 1 else 2
        m = models(truth)
        cur = [x if x is not None else float(np.sqrt(np.mean((a - d) ** 2))) for x, a, d in zip(s, m, datas)]
    if len(datas) == 1:
        rounds = 1
    for _ in range(rounds):
        f = lambda z: np.concatenate([np.ravel((a - d) / w) for a, d, w in zip(models(z * truth), datas, cur)])
        sol = least_squares(f, z, method="lm", diff_step=rel_step, x_scale="jac", xtol=1e-7, ftol=1e-10, gtol=1e-10)
        z = sol.x
        m = models(z * truth)
        n_all = sum(d.size for d in datas)
        cur = [x if x is not None else float(np.sqrt(np.sum((a - d) ** 2) / d.size)) for x, a, d in zip(s, m, datas)]
    cur_used = list(cur)                                   # what `f` divides by from here on
    # central differences for the standard errors
    J = np.empty((sol.fun.size, p))
    for j in range(p):
        h = 1e-3
        a, b = z.copy(), z.copy()
        a[j] += h
        b[j] -= h
        J[:, j] = (f(a) - f(b)) / (2 * h)
    z = z - np.linalg.lstsq(J, f(z), rcond=None)[0]        # a last step with central differences, for tolerances of integrators
    m = models(z * truth)
    cov = np.linalg.inv(J.T @ J)
    sd = np.sqrt(np.diag(cov)) * np.abs(truth)
    if len(s) == 1 and s[0] is None:                       # one noise level: it moves no optimum, only the bars
        w = float(np.sqrt(np.sum((m[0] - datas[0]) ** 2) / (datas[0].size - p)))
        sd, cov = sd * w / cur_used[0], cov * (w / cur_used[0]) ** 2
        cur = [w]
    fit.J, fit.z, fit.s = J, z, cur_used
    print("step of Gauss-Newton left at the optimum, in sd:", np.round(np.linalg.lstsq(J, -f(z), rcond=None)[0] * np.abs(truth) / sd, 4))
    chi2 = float(sum(np.sum(((m_ - d) / c) ** 2) for m_, d, c in zip(m, datas, cur)))
    if verbose:
        print("chi2", chi2, "n", sol.fun.size, "noise", cur)
        for j in range(p):
            print(names[j] if names else j, "truth", truth[j], "opt", z[j] * truth[j], "sd", sd[j], "rel sd %.2f%%" % (100 * sd[j] / abs(truth[j])),
                  "pull %.2f" % ((z[j] - 1) * truth[j] / sd[j]))
        c = cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
        print("correlations\n", np.round(c, 3))
    return z * truth, sd, chi2, cur


def shift(a, b, sd, names):
    """By how many standard errors two optima (of two grids) differ."""
    for n, x, y, s in zip(names, a, b, sd):
        print("grid shift", n, "%.4f sd" % (abs(x - y) / s))


def table(path, header, rows, fmt):
    with open(path, "w") as f:
        f.write(header + "\n")
        for r in rows:
            f.write(",".join((k % v) if not (isinstance(v, float) and np.isnan(v)) else "" for k, v in zip(fmt, r)) + "\n")


def read(path, missing=np.nan):
    with open(path) as f:
        lines = [l for l in f if not l.startswith("#")]
    head = lines[0].strip().split(",")
    return head, np.array([[float(c) if c else missing for c in l.rstrip("\n").split(",")] for l in lines[1:]])


def reference(names, truth, optimum, sd, **more):
    out = {"truth": dict(zip(names, map(float, truth))), "optimum": dict(zip(names, map(float, optimum))), "sd": dict(zip(names, map(float, sd)))}
    out.update(more)
    with open("reference.json", "w") as f:
        json.dump(out, f, indent=2)


def grid_error(coarse, fine, sd, truth, names):
    """Gauss-Newton: by how many standard errors the optimum of the last fit moves with a finer grid. Lists of arrays at the optimum."""
    r = np.concatenate([np.ravel((b - a) / w) for a, b, w in zip(coarse, fine, fit.s)])
    d = np.linalg.lstsq(fit.J, -r, rcond=None)[0] * np.asarray(truth)
    for n, x, s in zip(names, d, sd):
        print("grid error", n, "%.5f sd" % (abs(x) / s))
