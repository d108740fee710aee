import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from common import fit, reference, grid_error, read

visc, A, V, pup, patm, L = 1.78e-5, 1.134e-3, 0.8e-6, 4.2, 0.1013, 0.03       # pressures in MPa here
names = ["k", "b", "phi"]
truth = np.array([1.7e-19, 8.5e5, 0.052])
places = [0.008, 0.02, 0.03]


def solve(theta, td, n):
    k, b, phi = theta
    b = b * 1e-6
    s = np.linspace(0, 1, n + 1)
    x = L * s ** 1.5                                       # finer where the gas comes in
    dx = np.diff(x)
    vol = np.empty(n)                                      # of nodes 1..n
    vol[:-1] = phi * A * (dx[:-1] + dx[1:]) / 2
    vol[-1] = phi * A * dx[-1] / 2 + V
    kk = k / visc * A * 1e6

    def f(t, u):
        p = np.concatenate([[pup], u])
        th = p * p / 2 + b * p
        F = -kk * np.diff(th) / dx                         # through the n faces
        return (F - np.append(F[1:], 0.0)) / vol

    r = solve_ivp(f, (0, td[-1]), np.full(n, patm), method="LSODA", rtol=1e-9, atol=1e-10, lband=1, uband=1, t_eval=td)
    y = np.vstack([np.full(td.size, pup), r.y])
    return [1e3 * (np.full(td.size, patm) if td.size == 0 else np.array([CubicSpline(x, y[:, j])(pl) for j in range(td.size)])) for pl in places]


def rich(theta, td, n=150):
    a, b = solve(theta, td, n), solve(theta, td, 2 * n)
    return [(4 * q - p) / 3 for p, q in zip(a, b)]


rng = np.random.default_rng(38)
td = np.concatenate([np.arange(60, 1200, 60), np.arange(1200, 7201, 200)]).astype(float)
m = rich(truth, td, 300)
print([np.abs(a - b).max() for a, b in zip(m, rich(truth, td, 150))], [np.abs(a - b).max() for a, b in zip(m, solve(truth, td, 300))])
cols = [v + 5.0 * rng.standard_normal(td.size) for v in m]
cols[0][rng.choice(td.size, 4, replace=False)] = np.nan    # lost by the logger
cols[1][20:23] = np.nan
with open("log.csv", "w") as f:
    f.write("time_s,tap8mm_kPa,tap20mm_kPa,downstream_kPa,room_degC\n")
    for j in range(td.size):
        f.write("%g," % td[j] + ",".join("" if np.isnan(c[j]) else "%.1f" % c[j] for c in cols) + ",%.1f\n" % (22.4 + 0.1 * rng.standard_normal()))
_, raw = read("log.csv")
td, cols = raw[:, 0], [raw[:, 1], raw[:, 2], raw[:, 3]]
ok = [np.isfinite(c) for c in cols]
mod = lambda th, n=150: [v[o] for v, o in zip(rich(th, td, n), ok)]
opt, sd, chi2, noise = fit(mod, [c[o] for c, o in zip(cols, ok)], truth, [5.0] * 3, names, rel_step=1e-3)
grid_error(mod(opt), mod(opt, 300), sd, truth, names)
reference(names, truth, opt, sd, **{"class": "porous flow: gas into a tight core, nonlinear diffusivity, moving front, closed volume behind", "difficulty": "hard",
          "noise": "Gaussian, 5 kPa, stated (transducers of 0.1 % of 5 MPa); 7 values lost", "chi2": chi2,
          "note": "SI units: permeability 1e-19 m^2, pressures of 1e6 Pa; start and upstream pressure disagree by a factor 40; the condition downstream has p_t"})
