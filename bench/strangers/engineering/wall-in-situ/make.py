"""In-situ test of a brick wall: surface temperatures from a logger (hourly, cubic not-a-knot splines between), a thermocouple inside with a gap,
a calibrated heat flux plate inside (hourly means) and an uncalibrated one outside (gain, zero, outliers).
rhoc T_t = lam T_xx; Chebyshev in x, exact exponentials in time. Time in hours; rhoc in Wh/(m3 K)."""
import os, sys
import numpy as np
from scipy.linalg import expm
from scipy.interpolate import CubicSpline
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
Lw, H, xp, nu = 0.365, 120, 0.12, 4.0
sT, sq, sv = 0.15, 0.8, 0.07
names, truth, guess = ["lam", "rhoc", "gain", "zero"], [0.78, 420.0, 0.0615, 0.32], [0.5, 600.0, 0.05, 0.0]
def cheb(n):
    x = np.cos(np.pi * np.arange(n + 1) / n); c = np.r_[2, np.ones(n - 1), 2] * (-1)**np.arange(n + 1)
    X = np.tile(x, (n + 1, 1)).T; M = np.outer(c, 1 / c) / (X - X.T + np.eye(n + 1)); return M - np.diag(M.sum(1)), x
def model(par, bc, n=32):
    """Temperature at xp at each hour; means over each hour of -lam T_x at 0 and Lw."""
    lam, rhoc = par[:2]; Ti, Te = bc
    M, x = cheb(n); D = -2 / Lw * M; z = Lw * (1 - x) / 2; A = lam / rhoc * (D @ D); k = n - 1; i = slice(1, n)
    # states: y, its integral, u and its three derivatives, the integral of u; y' = A y + B u, u (both ends) a cubic in each hour
    m = 2 * k; Z = np.zeros((m + 10, m + 10)); Z[:k, :k] = A[i, i]; Z[:k, m:m + 2] = A[i][:, [0, n]]; Z[k:m, :k] = np.eye(k)
    for j in range(6): Z[m + j, m + j + 2] = 1
    Z[m + 8, m] = Z[m + 9, m + 1] = 1; C = CubicSpline(np.arange(H + 1.0), np.c_[Ti, Te]).c
    P = expm(Z); y = (Ti[0] + (Te[0] - Ti[0]) * z / Lw)[i]
    # interpolation to xp
    wts = (-1.0)**np.arange(n + 1); wts[[0, n]] *= 0.5; b = wts / (xp - z); b /= b.sum()
    T, q0, q1 = [], [], []
    for h in range(H):
        w = P @ np.r_[y, np.zeros(k), C[3, h], C[2, h], 2 * C[1, h], 6 * C[0, h], 0, 0]; y = w[:k]
        full = np.r_[Ti[h + 1], y, Te[h + 1]]; mean = np.r_[w[m + 8], w[k:m], w[m + 9]]
        T.append(b @ full); g = -lam * (D @ mean); q0.append(g[0]); q1.append(g[n])
    return np.array(T), np.array(q0), np.array(q1)
if __name__ == "__main__":
    rng = np.random.default_rng(18); h = np.arange(H + 1.0)
    walk = np.convolve(rng.standard_normal(H + 30).cumsum() * 0.35, np.ones(6) / 6, "same")[15:15 + H + 1]
    Te = np.round(2.5 + 4.2 * np.sin(2 * np.pi * (h - 9) / 24) + walk - walk[0] * 0.5, 1)
    Ti = np.round(18.6 + 0.4 * np.sin(2 * np.pi * (h - 14) / 24) - 1.4 * ((h % 24) < 6) * np.sin(np.pi * (h % 24) / 6) + 0.1 * rng.standard_normal(H + 1), 1)
    np.savez(here + "/surfaces.npz", Tsi=Ti, Tse=Te, t=h)
    with open(here + "/surfaces.csv", "w") as f:
        f.write("t_h,Tsi,Tse\n"); [f.write(f"{a:g},{b:.1f},{c:.1f}\n") for a, b, c in zip(h, Ti, Te)]
    bc = Ti, Te; T, q0, q1 = model(truth, bc)
    print("Chebyshev 32/48 in sigma:", [abs(a - b).max() / s for a, b, s in zip(model(truth, bc, 48), (T, q0, q1), (sT, sq, sv / truth[2]))], "Te", Te.min(), Te.max(), "q", q0.mean(), q1.min(), q1.max())
    # finite differences, Crank-Nicolson with small steps
    n = 300; dx = Lw / n; m = 60; a = truth[0] / truth[1] / dx**2; y = Ti[0] + (Te[0] - Ti[0]) * np.linspace(0, 1, n + 1)
    from scipy.linalg import solve_banded
    ab = np.zeros((3, n + 1)); r = a / m / 2; ab[1] = 1 + 2 * r; ab[0, 2:] = -r; ab[2, :-2] = -r; ab[1, [0, n]] = 1
    Tf, qf = [], []; Bc = CubicSpline(h, np.c_[Ti, Te])
    for k in range(H):
        acc = 0; g = lambda y: -truth[0] * (-3 * y[0] + 4 * y[1] - y[2]) / (2 * dx)
        for j in range(m):
            rhs = y.copy(); rhs[1:-1] += r * (y[2:] - 2 * y[1:-1] + y[:-2]); f = (j + 1) / m
            rhs[[0, n]] = Bc(k + f); yn = solve_banded((1, 1), ab, rhs); acc += (g(y) + g(yn)) / 2 / m; y = yn
        Tf.append(np.interp(xp, np.linspace(0, Lw, n + 1), y)); qf.append(acc)
    print("FD in sigma:", abs(np.array(Tf) - T).max() / sT, abs(np.array(qf) - q0).max() / sq)
    dT = np.round(T + sT * rng.standard_normal(H), 2); dq = np.round(q0 + sq * rng.standard_normal(H), 1)
    dv = truth[2] * q1 + truth[3] + sv * rng.standard_t(nu, H); bad = rng.choice(H, 6, replace=False); dv[bad] += rng.uniform(0.6, 1.8, 6) * rng.choice([-1, 1], 6); dv = np.round(dv, 3)
    gapT = (h[1:] >= 41) & (h[1:] <= 63); gapq = (h[1:] >= 88) & (h[1:] <= 92)
    with open(here + "/log.csv", "w") as f:
        f.write("t_h,T12_degC,q_in_W_m2,plate2_mV\n")
        for j in range(H):
            f.write(f"{h[j+1]:g},{'NA' if gapT[j] else format(dT[j], '.2f')},{'' if gapq[j] else format(dq[j], '.1f')},{dv[j]:.3f}\n")
    def nll(p):
        if p[0] <= 0 or p[1] <= 0: return 1e12
        T, a, b = model(p, bc)
        return 0.5 * (((T - dT) / sT)[~gapT]**2).sum() + 0.5 * (((a - dq) / sq)[~gapq]**2).sum() + 0.5 * (nu + 1) * np.log1p(((p[2] * b + p[3] - dv) / sv)**2 / nu).sum()
    o, cov, f1 = mle(nll, truth); o2, _, f2 = mle(nll, [0.6, 520.0, 0.05, 0.2]); print("nll", f1, f2, nll(np.array(truth)))
    report(here, names, truth, o, cov, "diffusion, several sensors", "awkward", o2, deviance=2 * f1)
