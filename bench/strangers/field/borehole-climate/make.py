"""Ground surface temperature history from two logs of one borehole (Shen & Beck 1991; Beltrami & Mareschal 1992)."""
import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.linalg import solve_banded
from scipy.optimize import minimize_scalar
from common import *

KAPPA = 33.0            # m^2/year
START, END, ZM = 1724.0, 300.0, 650.0      # END: years after START
T0, G = 7.4, 0.0215
s_true = lambda t: -0.8*(np.exp(-((t - 140.0)/50.0)**2) - np.exp(-(140.0/50.0)**2)) + 1.5/(1 + np.exp(-(t - 262.0)/14.0))
depth = np.arange(20.0, 601.0, 5.0)
logs = np.array([260.0, 300.0])         # 1984 and 2024
sigma = 0.01


def responses(hats, n=400, dt=1.0, grade=4.0):
    """Temperatures at the depths at the end, for each surface history (columns of hats at t = 0, dt, ..); zero start,
    zero flux below. Finite volumes, Alexander's SDIRK2 (histories are linear between the steps)."""
    s = np.linspace(0, 1, n + 1)
    f = ZM*np.expm1(grade*s)/np.expm1(grade)
    z = 0.5*(f[1:] + f[:-1])
    w = np.diff(f)
    k = KAPPA/np.diff(z)
    A = np.zeros((3, n))
    A[0, 1:] = k/w[:-1]
    A[2, :-1] = k/w[1:]
    A[1, :-1] -= k/w[:-1]
    A[1, 1:] -= k/w[1:]
    k0 = KAPPA/z[0]/w[0]
    A[1, 0] -= k0
    ga = 1 - np.sqrt(0.5)
    M = -ga*dt*A
    M[1] += 1
    h = np.zeros((n, hats.shape[1]))

    def mul(v):
        o = A[1][:, None]*v
        o[:-1] += A[0, 1:, None]*v[1:]
        o[1:] += A[2, :-1, None]*v[:-1]
        return o
    for i in range(hats.shape[0] - 1):
        b1 = (1 - ga)*hats[i] + ga*hats[i + 1]
        r = mul(h)
        r[0] += k0*b1
        k1 = solve_banded((1, 1), M, r)
        r = mul(h + (1 - ga)*dt*k1)
        r[0] += k0*hats[i + 1]
        k2 = solve_banded((1, 1), M, r)
        h += dt*((1 - ga)*k1 + ga*k2)
    out = np.empty((len(depth), h.shape[1]))
    for q, a in enumerate(depth):
        j = np.clip(np.searchsorted(z, a) - 2, 0, n - 4)
        xs = z[j:j + 4]
        c = np.array([np.prod([(a - xs[m])/(xs[p] - xs[m]) for m in range(4) if m != p]) for p in range(4)])
        out[q] = c @ h[j:j + 4]
    return out


t1 = np.arange(0, END + 0.5, 1.0)
both = lambda h, tt, **k: np.vstack([responses(h[:int(np.searchsorted(tt, e + 1e-9))], **k) for e in logs])
anom = both(s_true(t1)[:, None], t1)[:, 0]
tf = np.arange(0, END + 0.1, 0.25)
anom_f = both(s_true(tf)[:, None], tf, n=1200, dt=0.25)[:, 0]
print("discretisation error", abs(anom - anom_f).max(), "K; anomaly from", anom_f.min(), "to", anom_f.max())

rng = np.random.default_rng(1991)
dd = np.tile(depth, 2)
y = np.round(T0 + G*dd + anom_f + sigma*rng.standard_normal(len(dd)), 3)
write_csv("logs.csv", ["year", "depth_m", "temp_C"],
          [[f"{START + e:.0f}", f"{a:.0f}", f"{b:.3f}"] for e, a, b in zip(np.repeat(logs, len(depth)), dd, y)])

# regularised fit: s is linear between nodes every 5 years, second differences penalised, weight by evidence (noise known)
nodes = np.arange(0, END + 1, 5.0)
m = len(nodes)
hats = np.array([np.interp(t1, nodes, np.eye(m)[j]) for j in range(m)]).T
K = both(hats, t1)
X = np.c_[np.ones(len(dd)), dd, K]/sigma
d = y/sigma
P = np.diff(np.eye(m), 2, axis=0)/5.0**2          # second derivatives
P = P*np.sqrt(5.0)                                # integral of their squares
Pf = np.c_[np.zeros((m - 2, 2)), P]


def evidence(lw):
    lam = np.exp(lw)
    H = X.T @ X + lam*Pf.T @ Pf
    q = np.linalg.solve(H, X.T @ d)
    r = X @ q - d
    J = r @ r + lam*np.sum((Pf @ q)**2)
    return J - (m - 2)*lw + np.linalg.slogdet(H)[1]


o = minimize_scalar(evidence, bounds=(0, 40), method="bounded")
lam = np.exp(o.x)
H = X.T @ X + lam*Pf.T @ Pf
q = np.linalg.solve(H, X.T @ d)
C = np.linalg.inv(H)
sd = np.sqrt(np.diag(C))
s_hat = q[2:]
err = np.sqrt(np.mean((s_hat - s_true(nodes))**2)/np.mean(s_true(nodes)**2))
print("log weight", o.x, "chi2", np.sum((X @ q - d)**2), "of", len(d), "relative L2 error", err)
show(["T0", "G"], [T0, G], q[:2], sd[:2])
for l in (o.x - 3, o.x + 3):
    qq = np.linalg.solve(X.T @ X + np.exp(l)*Pf.T @ Pf, X.T @ d)
    print(l, np.sqrt(np.mean((qq[2:] - s_true(nodes))**2)/np.mean(s_true(nodes)**2)))
at = np.arange(0, 301, 15.0)
write_reference("reference.json", **{
    "class": "unknown function of time on the boundary, heat equation", "difficulty": "hard",
    "truth": {"T0": T0, "G": G}, "optimum": {"T0": q[0], "G": q[1]}, "sd": {"T0": sd[0], "G": sd[1]},
    "noise": "Gaussian, 0.01 K as the probe's data sheet says",
    "functions": {"s": {"of": "t", "error": err, "at": (START + at).tolist(), "truth": s_true(at).tolist(),
                        "optimum": np.interp(at, nodes, s_hat).tolist()}},
    "note": "a history of 300 years from profiles of 1984 and 2024: severely ill-posed, the anomaly is 1 K on a profile of 14 K; time is in calendar years; scalars and sd from a fit with second differences penalised by the evidence (posterior sd); the guess of the function is zero"})
