import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from common import fit, reference, grid_error, read

L, u, eps, rhob, D, end = 10.0, 5.0, 0.42, 450.0, 1.2, 2400.0    # cm, cm/min, -, g/L, cm^2/min, min
feeds = [50.0, 200.0]
names = ["qm", "b", "k"]
truth = np.array([128.0, 0.034, 0.0062])


def breakthrough(th, cin, td, n, rtol):
    qm, b, k = th
    dz = L / n
    lim = u * cin

    def rhs(t, y):
        c, q = y[::2], y[1::2]
        f = np.empty(n + 1)                                      # flux through faces of cells
        f[0] = lim
        f[1:-1] = u * (c[1:] + c[:-1]) / 2 - eps * D * np.diff(c) / dz
        f[-1] = u * (1.5 * c[-1] - 0.5 * c[-2]) if False else u * c[-1]
        g = k * (qm * b * c / (1 + b * c) - q)
        o = np.empty(2 * n)
        o[::2] = ((f[:-1] - f[1:]) / dz - rhob * g) / eps
        o[1::2] = g
        return o
    y = solve_ivp(rhs, (0, end), np.zeros(2 * n), method="LSODA", rtol=rtol, atol=1e-5, lband=2, uband=2, t_eval=td)
    return y.y[-2]                                               # c_z = 0: the last cell's value, error of second order


def model(th, tds, n=100, rtol=1e-6):
    return [(4 * breakthrough(th, c, t, n, rtol) - breakthrough(th, c, t, n // 2, rtol)) / 3 for c, t in zip(feeds, tds)]


rng = np.random.default_rng(404)
tds = [np.arange(100.0, 2401, 100.0), np.arange(40.0, 1001, 40.0)]
fine = [breakthrough(truth, c, t, 800, 1e-8) for c, t in zip(feeds, tds)]
co = model(truth, tds)
print("c", fine[0].round(1), fine[1].round(1), "error", [np.abs(a - b).max() for a, b in zip(fine, co)])
data, sig = [], []
for c0, t, f in zip(feeds, tds, fine):
    s = 0.02 * f + 0.5
    y = f + s * rng.standard_normal(t.size)
    with open("feed%d.csv" % c0, "w") as h:
        h.write("time_min,c_mg_L,sigma\n" + "".join("%g,%.2f,%.2f\n" % a for a in zip(t, y, s)))
    raw = read("feed%d.csv" % c0)[1]
    data.append(raw[:, 1])
    sig.append(raw[:, 2])
opt, sd, chi2, noise = fit(lambda th: model(th, tds), data, truth, sig, names)
grid_error(model(opt, tds), [breakthrough(opt, c, t, 800, 1e-8) for c, t in zip(feeds, tds)], sd, truth, names)
reference(names, truth, opt, sd, **{"class": "adsorption: fixed bed, Langmuir isotherm, linear driving force, two feeds", "difficulty": "hard",
          "noise": "Gaussian, 2 % + 0.5 mg/L, stated per datum", "chi2": chi2,
          "note": "the fluid passes in 0.8 min, the breakthrough takes a thousand: time scales differ by 1e3; Danckwerts inlet"})
