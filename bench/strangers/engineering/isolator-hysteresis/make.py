"""Base-isolated floor with Bouc-Wen hysteresis on a shaking table; solve_ivp (DOP853)."""
import os, sys
import numpy as np
from scipy.integrate import solve_ivp
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
m, A, f0, f1, dur, sigma = 1200.0, 3.2, 0.6, 0.25, 8.0, 0.4e-3
names, truth, guess = ["k", "c", "alpha", "beta", "gam"], [9.4e5, 6200.0, 0.11, 95.0, 38.0], [4e5, 15000.0, 0.25, 50.0, 50.0]
t = np.arange(0.02, 8.0001, 0.02)
def disp(par, rtol=1e-9):
    k, c, al, be, ga = par
    def f(s, y):
        x, v, z = y
        return [v, -A * np.sin(2 * np.pi * (f0 + f1 * s) * s) - (c * v + al * k * x + (1 - al) * k * z) / m, v - be * abs(v) * z - ga * v * abs(z)]
    return solve_ivp(f, (0, dur), [0, 0, 0], method="DOP853", t_eval=t, rtol=rtol, atol=1e-12, max_step=0.01).y[0]
def rk4(P, n=8000):
    """Many parameter sets (rows of P) at once by fixed steps; x at t."""
    k, c, al, be, ga = np.asarray(P, float).T; dt = dur / n; x = np.zeros(len(k)); v = x.copy(); z = x.copy(); out = []
    def f(s, x, v, z):
        return v, -A * np.sin(2 * np.pi * (f0 + f1 * s) * s) - (c * v + al * k * x + (1 - al) * k * z) / m, v - (be * abs(v) * z + ga * v * abs(z))
    for j in range(n):
        s = j * dt
        a = f(s, x, v, z); b = f(s + dt / 2, x + dt / 2 * a[0], v + dt / 2 * a[1], z + dt / 2 * a[2])
        d = f(s + dt / 2, x + dt / 2 * b[0], v + dt / 2 * b[1], z + dt / 2 * b[2]); e = f(s + dt, x + dt * d[0], v + dt * d[1], z + dt * d[2])
        x, v, z = (u + dt / 6 * (p + 2 * q + 2 * r + w) for u, p, q, r, w in zip((x, v, z), a, b, d, e))
        if (j + 1) % (n // 400) == 0: out.append(x)
    return np.array(out).T
def fit(v, start):
    """Levenberg-Marquardt over logarithms, central differences."""
    p = np.array(start, float); mu = 1e-3; h = 1e-4
    best = None
    for it in range(60):
        E = np.vstack([np.zeros(5), h * np.eye(5), -h * np.eye(5)]); X = (rk4(p * np.exp(E)) * 1e3 - v) / (sigma * 1e3)
        r = X[0]; J = ((X[1:6] - X[6:]) / (2 * h)).T; H = J.T @ J; g = J.T @ r; F = r @ r
        tries = [mu * 10.0**i for i in (-1, 0, 1, 2, 3, 4)]
        S = np.array([-np.linalg.solve(H + u * np.diag(np.diag(H)), g) for u in tries] + [-np.linalg.solve(H, g)])
        Y = (rk4(p * np.exp(S.clip(-1, 1))) * 1e3 - v) / (sigma * 1e3); Fs = np.where(np.isfinite((Y**2).sum(1)), (Y**2).sum(1), np.inf); i = Fs.argmin()
        if Fs[i] >= F: break
        p = p * np.exp(S[i].clip(-1, 1)); mu = (tries + [mu])[i]
        if abs(S[i]).max() < 1e-8: break
    return p, np.linalg.inv(H) * np.outer(p, p), r
if __name__ == "__main__":
    y = disp(truth); print("range", y.min(), y.max(), "tolerance", abs(disp(truth, 1e-11) - y).max() / sigma)
    rng = np.random.default_rng(14)
    v = np.round((y + sigma * rng.standard_normal(len(t))) * 1e3, 2)
    with open(here + "/lvdt.csv", "w") as f:
        f.write("t_s,x_mm\n"); [f.write(f"{a:.2f},{b:.2f}\n") for a, b in zip(t, v)]
    q = rk4([truth])[0]; print("RK4 against DOP853, in sigma:", abs(q - y).max() / sigma, "half step", abs(rk4([truth], 16000)[0] - y).max() / sigma)
    o, cov, r = fit(v, truth); o2, _, r2 = fit(v, [6.5e5, 9500.0, 0.17, 70.0, 55.0]); print("chi2", r @ r, r2 @ r2)
    o3, _, r3 = fit(v, guess); print("from the stated guess:", o3, r3 @ r3)
    report(here, names, truth, o, cov, "ODE, hysteresis", "hard", o2, deviance=float(r @ r))
