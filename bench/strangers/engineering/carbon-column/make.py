"""Breakthrough of a dye from a carbon column at two feeds: dispersion, linear driving force, Langmuir isotherm.
Chebyshev collocation along z, Radau in time."""
import os, sys
import numpy as np
from scipy.integrate import solve_ivp
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
Lc, v, D, F = 25.0, 600.0, 180.0, 450.0 / 0.4
names, truth, guess = ["qm", "K", "kl"], [58.0, 0.047, 0.21], [100.0, 0.02, 1.0]
runs = {"high": (100.0, 1.0), "low": (20.0, 0.3)}
t = {"high": np.arange(2.0, 72.1, 2.0), "low": np.arange(4.0, 144.1, 4.0)}
def cheb(n):
    x = np.cos(np.pi * np.arange(n + 1) / n); c = np.r_[2, np.ones(n - 1), 2] * (-1)**np.arange(n + 1)
    X = np.tile(x, (n + 1, 1)).T; dX = X - X.T
    M = np.outer(c, 1 / c) / (dX + np.eye(n + 1)); return M - np.diag(M.sum(1)), x
def outlet(par, run, n=64, rtol=1e-7):
    qm, K, kl = par; c0 = runs[run][0]
    M, x = cheb(n); Dz = -M * 2 / Lc; Dz = Dz  # z = Lc (1 - x)/2, node 0 is the inlet
    D2 = Dz @ Dz
    # inlet: v c - D c_z = v c0; outlet: c_z = 0; solve both for c[0], c[n] in terms of the inner ones
    B = np.array([[v - D * Dz[0, 0], -D * Dz[0, n]], [Dz[n, 0], Dz[n, n]]]); inner = slice(1, n)
    E = np.linalg.solve(B, np.vstack([D * Dz[0, inner], -Dz[n, inner]])); e0 = np.linalg.solve(B, [v * c0, 0.0])
    P = D * D2 - v * Dz; A = P[inner, inner] + P[inner][:, [0, n]] @ E; b = P[inner][:, [0, n]] @ e0
    G = np.zeros((n + 1, n - 1)); G[1:n] = np.eye(n - 1); G[[0, n]] = E; g0 = np.zeros(n + 1); g0[[0, n]] = e0
    k = n - 1
    def f(s, y):
        c, q = y[:k], y[k:]; r = kl * (qm * K * c / (1 + K * c) - q)
        return np.r_[A @ c + b - F * r, r]
    def jac(s, y):
        c = y[:k]; dr = kl * qm * K / (1 + K * c)**2; J = np.zeros((2 * k, 2 * k))
        J[:k, :k] = A - F * np.diag(dr); J[:k, k:] = F * kl * np.eye(k); J[k:, :k] = np.diag(dr); J[k:, k:] = -kl * np.eye(k); return J
    s = solve_ivp(f, (0, t[run][-1]), np.zeros(2 * k), method="Radau", t_eval=t[run], jac=jac, rtol=rtol, atol=1e-7 * c0)
    assert s.success
    return E[1] @ s.y[:k] + e0[1]
def fd(par, run, N):
    """Cross-check: central finite volumes."""
    from scipy.sparse import bmat, diags, identity
    qm, K, kl = par; c0 = runs[run][0]; h = Lc / N
    lo = np.full(N - 1, D / h**2 + v / (2 * h)); up = np.full(N - 1, D / h**2 - v / (2 * h)); main = np.full(N, -2 * D / h**2)
    main[0] = -D / h**2 - v / (2 * h); main[-1] = -D / h**2 - v / h + v / (2 * h)
    A = diags([main, lo, up], [0, -1, 1]).tocsc(); b = np.zeros(N); b[0] = v * c0 / h
    rate = lambda y: kl * (qm * K * y[:N] / (1 + K * y[:N]) - y[N:])
    def jac(s, y):
        dr = diags([kl * qm * K / (1 + K * y[:N])**2], [0]); return bmat([[A - F * dr, F * kl * identity(N)], [dr, -kl * identity(N)]]).tocsc()
    def f(s, y): r = rate(y); return np.r_[A @ y[:N] + b - F * r, r]
    return solve_ivp(f, (0, t[run][-1]), np.zeros(2 * N), method="BDF", t_eval=t[run], jac=jac, rtol=1e-6, atol=1e-6 * c0).y[N - 1]
if __name__ == "__main__":
    rng = np.random.default_rng(15); data = {}
    for r, (c0, s) in runs.items():
        y = outlet(truth, r)
        print(r, "Chebyshev 64/96:", abs(outlet(truth, r, 96, 1e-8) - y).max() / s, "sigma; FD 200, 400:", [round(abs(fd(truth, r, N) - y).max() / s, 4) for N in (200, 400)], y[::6].round(2))
        data[r] = np.round(y + s * rng.standard_normal(len(y)), 2)
        with open(f"{here}/feed-{r}.csv", "w") as f:
            f.write("t_h,c_mg_L\n"); [f.write(f"{a:g},{b:.2f}\n") for a, b in zip(t[r], data[r])]
    res = lambda p: np.concatenate([(outlet(p, r) - data[r]) / runs[r][1] for r in runs])
    o, cov, r = lsq(res, truth); o2, _, _ = lsq(res, [70.0, 0.03, 0.3])
    report(here, names, truth, o, cov, "reaction-advection, adsorption", "easy", o2, deviance=float((r**2).sum()))
