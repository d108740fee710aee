"""Two-step nitrification in a batch reactor; only nitrite and nitrate are measured."""
import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from common import *

YA, YN, b, KA = 0.24, 0.08, 0.05, 1.4
NAMES = ["muA", "muN", "KN", "XA0", "XN0"]
TRUTH = np.array([0.95, 0.72, 1.1, 6.0, 1.3])
# an autosampler every 2 h; it jammed for the night after the first day
hours = np.array([h for h in range(2, 90, 2) if not 26 < h < 42], float)
times = np.round(hours/24, 4)


def solve(p, rtol=1e-10):
    muA, muN, KN, XA0, XN0 = p

    def f(t, y):
        A, I, O, XA, XN = y
        ga = muA*A/(KA + A)*XA
        gn = muN*I/(KN + I)*XN
        return [-ga/YA, ga/YA - gn/YN, gn/YN, ga - b*XA, gn - b*XN]
    s = solve_ivp(f, (0, 5), [70.0, 0.4, 1.5, XA0, XN0], method="LSODA", rtol=rtol, atol=1e-10, t_eval=times)
    return s.y[1], s.y[2]


rng = np.random.default_rng(20261)
I, O = solve(TRUTH)
sI, sO = 0.3, 0.6
dI = np.round(I + sI*rng.standard_normal(len(times)), 2)
dO = np.round(O + sO*rng.standard_normal(len(times)), 1)
lostI = [9]          # vial broken
rows = [[f"{t:.4f}", "" if i in lostI else f"{a:.2f}", f"{c:.1f}"] for i, (t, a, c) in enumerate(zip(times, dI, dO))]
write_csv("ic.csv", ["day", "NO2N_mg_L", "NO3N_mg_L"], rows)
ok = np.array([i not in lostI for i in range(len(times))])
sig = np.array([sI, sO])


def res(p):
    I, O = solve(p)
    return np.concatenate([(I - dI)[ok]/sig[0], (O - dO)/sig[1]])


for _ in range(6):      # noise of each series estimated
    p, r, J = fit_log(res, TRUTH)
    n1 = ok.sum()
    sig = sig*np.array([np.sqrt(np.mean(r[:n1]**2)), np.sqrt(np.mean(r[n1:]**2))])
p, r, J = fit_log(res, TRUTH)
sd = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
show(NAMES, TRUTH, p, sd)
print("sigmas", sig, "n", len(r), "max NO2", dI.max())
write_reference("reference.json", **{
    "class": "ODE system, partly observed", "difficulty": "hard",
    "truth": dict(zip(NAMES, TRUTH.tolist())), "optimum": dict(zip(NAMES, p.tolist())), "sd": dict(zip(NAMES, sd.tolist())),
    "noise": f"Gaussian, sd unknown to the user (0.3 NO2-N, 0.6 NO3-N mg/L), maximum likelihood {sig[0]:.3f} and {sig[1]:.3f}",
    "note": "five Monod states of which two are measured; initial biomasses unknown; autosampler jammed for 14 h; nitrite runs out at the end"})
