import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from common import fit, reference, grid_error, read

F, Rg, T = 96485.33, 8.314463, 298.15
A, cb, Ei, v, ts, L = 0.0707, 1.0e-6, -0.1, 0.5, 1.4, 0.04       # cm^2, mol/cm^3, V, V/s, s, cm
names = ["k0", "alpha", "D", "E0"]
truth = np.array([0.0062, 0.43, 6.7e-6, 0.238])


def E(t):
    return np.where(t < ts, Ei + v * t, Ei + 2 * v * ts - v * t)


def model(th, td, n=160, rtol=1e-8):
    k0, al, D, E0 = th
    s = np.linspace(0, 1, n + 1)
    x = L * np.expm1(5 * s) / np.expm1(5.0)
    vol = np.zeros(n + 1)
    vol[:-1] += np.diff(x) / 2
    vol[1:] += np.diff(x) / 2
    g = D / np.diff(x)

    def rate(t, c):                                              # c in units of cb
        e = F / (Rg * T) * (E(t) - E0)
        return k0 * (c * np.exp((1 - al) * e) - (1 - c) * np.exp(-al * e))

    def rhs(t, c):
        q = g * np.diff(c)
        o = np.zeros_like(c)
        o[:-1] += q
        o[1:] -= q
        o[0] -= rate(t, c[0])
        o /= vol
        o[-1] = 0
        return o

    res, c = [], np.ones(n + 1)
    for a, b in ((0, ts), (ts, 2 * ts)):
        m = (td > a) & (td <= b)
        y = solve_ivp(rhs, (a, b), c, method="LSODA", rtol=rtol, atol=1e-10, lband=1, uband=1, t_eval=np.append(td[m], b if td[m][-1] < b - 1e-12 else b + 0.0) if td[m][-1] < b - 1e-12 else td[m], max_step=0.02)
        res.append(rate(td[m], y.y[0, :m.sum()]))
        c = y.y[:, -1]
    return [1e6 * F * A * cb * np.concatenate(res)]


rng = np.random.default_rng(101)
td = np.round(np.arange(1, 281) * 0.01, 3)
f = model(truth, td, 500, 1e-9)[0]
i = f + 0.3 * rng.standard_normal(td.size)
print("peaks", f.max(), f.min(), np.abs(f - model(truth, td)[0]).max())
with open("cv.csv", "w") as h:
    h.write("time_s,E_V,i_uA\n" + "".join("%.3f,%.4f,%.2f\n" % a for a in zip(td, E(td), i)))
_, raw = read("cv.csv")
i = raw[:, 2]
opt, sd, chi2, noise = fit(lambda th: model(th, td), [i], truth, [None], names)
grid_error(model(opt, td), model(opt, td, 400, 1e-9), sd, truth, names)
reference(names, truth, opt, sd, **{"class": "electrochemistry: cyclic voltammetry, quasi-reversible Butler-Volmer kinetics as boundary condition", "difficulty": "hard",
          "noise": "Gaussian, 0.3 uA; sigma not stated", "chi2": chi2, "estimated_noise": list(map(float, noise)),
          "note": "sweep switches at 1.4 s; rate constants at the electrode range over many decades with the potential; the current is a flux at x = 0; equal diffusivities"})
