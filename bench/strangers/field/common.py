"""Shared by the generators: least squares in log parameters, files."""
import csv
import json
import numpy as np
from scipy.optimize import least_squares


def write_csv(path, header, rows):
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(header)
        w.writerows(rows)


def jac_central(fun, p, h=1e-4):
    """Derivatives of fun by p, relative central steps (p > 0)."""
    p = np.asarray(p, float)
    cols = []
    for i in range(len(p)):
        a, b = p.copy(), p.copy()
        d = h*abs(p[i])
        a[i] += d
        b[i] -= d
        cols.append((fun(a) - fun(b))/(2*d))
    return np.array(cols).T


def fit_log(fun, truth, h=1e-4):
    """Least squares of residuals fun(p), p = exp(q), from the truth; returns p, residuals, J by p."""
    truth = np.asarray(truth, float)
    g = lambda q: fun(np.exp(q))

    def jac(q):
        p = np.exp(q)
        return jac_central(fun, p, h)*p
    s = least_squares(g, np.log(truth), jac=jac, xtol=1e-12, ftol=1e-13, gtol=1e-12, x_scale="jac")
    p = np.exp(s.x)
    return p, s.fun, jac(s.x)/p


def write_reference(path, **k):
    with open(path, "w") as f:
        json.dump(k, f, indent=2)
        f.write("\n")


def show(names, truth, opt, sd):
    for n, t, o, s in zip(names, truth, opt, sd):
        print(f"{n:12s} truth {t:<12.6g} optimum {o:<12.6g} sd {s:.3g} ({100*s/abs(t):.2f} %)  pull {(o-t)/s:+.2f}")
