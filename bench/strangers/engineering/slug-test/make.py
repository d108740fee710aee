"""Slug test in a screened well (Cooper, Bredehoeft, Papadopulos 1967) with a fixed head at r = R; exact by Laplace transform.
S h_t = T (h_rr + h_r/r), rs < r < R; h(R) = 0; pi rc^2 dh(rs)/dt = 2 pi rs T h_r(rs); h = 0 at the start, h(rs) = H0."""
import os, sys
import numpy as np
from scipy.special import ive, kve
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
rc, rs, R, H0, sigma = 0.052, 0.1, 100.0, 0.71, 0.004
names, truth, guess = ["T", "S"], [2.6e-5, 1.5e-4], [2e-4, 1e-5]
t = np.array([2, 4, 6, 8, 10, 13, 16, 20, 25, 30, 36, 43, 50, 60, 70, 85, 100, 120, 140, 170, 200, 240, 290, 350, 420, 500, 600, 720, 860], float)
def head(par, M=28):
    T, S = par
    def F(p):
        q = np.sqrt(S * p / T); a, b = q * rs, q * R
        e = np.exp(2 * (a - b))  # of I0(a)K0(b)/(K0(a)I0(b)) with scaled functions; b has large real part or not
        c = ive(0, b) * np.exp(np.abs(b.real) - b)          # I0(b) exp(-b)
        i0 = ive(0, a) * np.exp(np.abs(a.real) - a); i1 = ive(1, a) * np.exp(np.abs(a.real) - a)
        # h = K0(qr) I0(b) - I0(qr) K0(b), divided by exp(b - a)
        h = kve(0, a) * c - i0 * kve(0, b) * e
        dh = -q * (kve(1, a) * c + i1 * kve(0, b) * e)
        return H0 * rc**2 * h / (p * rc**2 * h - 2 * rs * T * dh)
    return talbot(F, t, M)
if __name__ == "__main__":
    # check by finite volumes on a logarithmic grid
    from scipy.integrate import solve_ivp
    from scipy.sparse import diags
    def fv(par, n):
        T, S = par; r = rs * np.exp(np.linspace(0, np.log(R / rs), n + 1)); rm = np.sqrt(r[1:] * r[:-1])
        edges = np.concatenate([[rs], rm]); area = (edges[1:]**2 - edges[:-1]**2) / 2
        g = T / np.log(r[1:] / r[:-1]); cap = S * area; cap[0] += rc**2 / 2
        main = -g.copy(); main[1:] -= g[:-1]
        A = diags([main / cap, g[:-1] / cap[:-1], g[:-1] / cap[1:]], [0, 1, -1]).tocsc()
        y = np.zeros(n); y[0] = H0
        return solve_ivp(lambda s, y: A @ y, (0, t[-1]), y, method="BDF", t_eval=t, jac=A, rtol=1e-8, atol=1e-10).y[0]
    print("FV 400, 800 against Laplace:", [abs(fv(truth, n) - head(truth)).max() for n in (400, 800)], "Talbot 20/28", abs(head(truth, 20) - head(truth)).max())
    rng = np.random.default_rng(11)
    d = np.round(head(truth) + sigma * rng.standard_normal(len(t)), 3)
    with open(here + "/transducer.csv", "w") as f:
        f.write("t_s,head_m\n"); [f.write(f"{a:g},{b:.3f}\n") for a, b in zip(t, d)]
    res = lambda p: (head(p) - d) / sigma
    o, cov, r = lsq(res, truth); o2, _, _ = lsq(res, [1e-5, 1e-3])
    report(here, names, truth, o, cov, "groundwater, radial, slug test", "hard", o2, deviance=float((r**2).sum()))
