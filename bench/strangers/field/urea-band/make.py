"""Urea applied to the top of a soil column: hydrolysis, sorbing ammonium that volatilises, nitrate."""
import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from scipy.sparse import lil_matrix
from common import *

Z, KM = 14.0, 25.0
NAMES = ["D", "Vm", "R", "kn", "kv"]
TRUTH = np.array([0.42, 32.0, 4.2, 0.31, 1.6])
days = np.array([1.0, 2.0, 4.0, 7.0, 11.0, 16.0, 22.0])
mids = np.arange(8) + 0.5
per = 10                                  # cells of a centimetre


def solve(p, per=per, rtol=1e-8):
    """Finite volumes of 1/per cm; slice means are means of cells; three species interleaved."""
    D, Vm, R, kn, kv = p
    n = int(Z*per)
    w = 1.0/per
    z = (np.arange(n) + 0.5)*w
    kA = 1.0/(1.0/kv + 0.5*w/D)          # surface and half a cell in series

    # mean of the initial Gaussian over each cell
    from scipy.special import erf
    f = np.arange(n + 1)*w
    U0 = 180.0*1.2*np.sqrt(np.pi)/2*np.diff(erf(f/1.2))/w

    def lap(c):
        q = np.zeros(n + 1)
        q[1:-1] = D*np.diff(c)/w
        return np.diff(q)/w

    def rhs(t, y):
        U, A, N = y[0::3], y[1::3], y[2::3]
        h = Vm*U/(KM + U)
        o = np.empty_like(y)
        o[0::3] = lap(U) - h
        a = lap(A) + h - kn*A
        a[0] -= kA*A[0]/w
        o[1::3] = a/R
        o[2::3] = lap(N) + kn*A
        return o
    y0 = np.empty(3*n)
    y0[0::3], y0[1::3], y0[2::3] = U0, 1.0, 2.0
    s = solve_ivp(rhs, (0, days[-1]), y0, method="LSODA", lband=3, uband=3, rtol=rtol, atol=1e-9, t_eval=days)
    def slices(c):                        # (n, times) -> (slices, times)
        return c[:8*per].reshape(8, per, -1).mean(axis=1)
    return np.array([slices(s.y[0::3]), R*slices(s.y[1::3]), slices(s.y[2::3])])


rng = np.random.default_rng(1993)
clean = solve(TRUTH)
d = clean + np.sqrt(0.5**2 + (0.05*clean)**2)*rng.standard_normal(clean.shape)
d = np.round(d, 2)
u = np.round(np.sqrt(0.5**2 + (0.05*np.maximum(d, 0))**2), 2)      # what the lab states
rows = []
for j, t in enumerate(days):
    for i, z in enumerate(mids):
        r = [f"{z:.1f}", f"{t:g}"]
        for k in range(3):
            r += [f"{d[k, i, j]:.2f}", f"{u[k, i, j]:.2f}"]
        rows.append(r)
write_csv("slices.csv", ["mid_cm", "day", "urea_N", "urea_u", "exNH4_N", "exNH4_u", "NO3_N", "NO3_u"], rows)

res = lambda p: ((solve(p) - d)/u).ravel()
p, r, J = fit_log(res, TRUTH, h=1e-3)
sd = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
show(NAMES, TRUTH, p, sd)
print("chi2/n", np.mean(r**2), len(r), "max", clean.max(axis=(1, 2)))
fine = solve(p, per=30, rtol=1e-9)
e = ((solve(p) - fine)/u).ravel()
print("shift by discretisation, in sd:", np.linalg.lstsq(J, e, rcond=None)[0]/sd)
write_reference("reference.json", **{
    "class": "coupled transient PDEs, 1D", "difficulty": "hard",
    "truth": dict(zip(NAMES, TRUTH.tolist())), "optimum": dict(zip(NAMES, p.tolist())), "sd": dict(zip(NAMES, sd.tolist())),
    "noise": "Gaussian, 0.5 mmol/L and 5 % together, as the laboratory states for each value (from the measured value)",
    "note": "three states, saturating hydrolysis, loss through the surface in proportion to the concentration, data are means over slices of 1 cm; retardation is also a factor of what is measured"})
