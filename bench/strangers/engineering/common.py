"""Shared by the make.py files: fits, Laplace inversion, output. NumPy and SciPy only."""
import json, os
import numpy as np
from scipy.optimize import least_squares, minimize

def talbot(F, t, M=28):
    """Fixed Talbot inversion (Abate, Valko 2004) of F(p) at each t; F takes an array of p and returns (..., len(p))."""
    out = []
    for ti in np.atleast_1d(t):
        r = 2.0 * M / (5.0 * ti)
        th = np.arange(1, M) * np.pi / M
        cot = 1 / np.tan(th)
        p = np.concatenate([[r + 0j], r * th * (cot + 1j)])
        w = np.concatenate([[0.5 * np.exp(r * ti)], np.exp(ti * p[1:]) * (1 + 1j * (th + (th * cot - 1) * cot))])
        out.append(r / M * np.real(F(p) * w).sum(-1))
    return np.array(out)

def lsq(resid, start, name=""):
    """Least squares over the logarithms; gives optimum, covariance of the numbers as stated (unit sigma), the residuals."""
    start = np.asarray(start, float)
    f = lambda e: resid(start * np.exp(e))
    s = least_squares(f, np.zeros(len(start)), jac="3-point", x_scale="jac", xtol=1e-13, ftol=1e-13, gtol=1e-12, diff_step=1e-4)
    p = start * np.exp(s.x)
    cov = np.linalg.inv(s.jac.T @ s.jac) * np.outer(p, p)
    return p, cov, s.fun

def mle(nll, start, h=None):
    """Minimum of a negative log-likelihood over signed numbers scaled by their start; covariance by a numerical Hessian."""
    start = np.asarray(start, float)
    g = lambda e: nll(start * e)
    e = np.ones(len(start))
    for _ in range(3):
        s = minimize(g, e, method="Nelder-Mead", options=dict(xatol=1e-9, fatol=1e-10, maxiter=6000, maxfev=6000))
        e = s.x
    n = len(e); h = np.full(n, 1e-3) if h is None else np.asarray(h)
    H = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            a = np.zeros(n); b = np.zeros(n); a[i] = h[i]; b[j] = h[j]
            H[i, j] = H[j, i] = (g(e + a + b) - g(e + a - b) - g(e - a + b) + g(e - a - b)) / (4 * h[i] * h[j])
    return start * e, np.linalg.inv(H) * np.outer(start, start), s.fun

def report(folder, names, truth, opt, cov, cls, difficulty, second=None, **more):
    sd = np.sqrt(np.diag(cov))
    for i, n in enumerate(names):
        print(f"  {n}: truth {truth[i]:.6g} optimum {opt[i]:.8g} sd {sd[i]:.3g} ({(opt[i]-truth[i])/sd[i]:+.2f} sd)", end="")
        print(f" second start off by {abs(second[i]-opt[i])/sd[i]:.1e} sd" if second is not None else "")
    ref = {"class": cls, "difficulty": difficulty, "truth": dict(zip(names, map(float, truth))),
           "optimum": dict(zip(names, map(float, opt))), "sd": dict(zip(names, map(float, sd))), **more}
    if second is not None:
        ref["second_start"] = float(max(abs(second[i] - opt[i]) / sd[i] for i in range(len(names))))
    json.dump(ref, open(os.path.join(folder, "reference.json"), "w"), indent=1)
