import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares
from common import reference, read

R, F, S, cmax, c0 = 5.0e-6, 96485.33, 1.42e-3, 49000.0, 17150.0
lo, hi = 17000.0, 46000.0
switch = [0.0, 300.0]
amps = [0.0]
for j in range(10):
    switch += [300.0 + 3000 * j + 600, 300.0 + 3000 * (j + 1)]
    amps += [1e-3, 0.0]
switch, amps = np.array(switch), np.array(amps)            # amps[i] holds on [switch[i], switch[i+1])
Rs_true = 13.0


def D_true(c):
    return 1e-14 * (0.32 + 1.5 / (1 + np.exp((c / cmax - 0.56) / 0.06)))


def ocv(c):
    y = c / cmax
    return 4.42 - 0.95 * y - 0.2 * y ** 2 + 0.05 * np.tanh((0.52 - y) / 0.09)


def surface(D, td, n, rtol=1e-8):
    """Concentration at the surface. r in um, D in um^2/s, c in units of cmax."""
    s = np.linspace(0, 1, n + 1)
    r = 5.0 * (1 - (1 - s) ** 1.7)                         # finer at the surface
    rf = (r[1:] + r[:-1]) / 2
    e = np.concatenate([[0], rf, [5.0]])
    vol = (e[1:] ** 3 - e[:-1] ** 3) / 3
    dr = np.diff(r)

    def rhs(j):
        def f(t, u):
            q = rf ** 2 * D((u[1:] + u[:-1]) / 2 * cmax) * 1e12 * np.diff(u) / dr
            out = np.empty(n + 1)
            out[:-1] = q
            out[-1] = 25.0 * j
            out[1:] -= q
            return out / vol
        return f

    u = np.full(n + 1, c0 / cmax)
    res = np.empty(td.size)
    for i, I in enumerate(amps):
        a, b = switch[i], switch[i + 1]
        m = (td >= a) & (td < b)
        j = I / (F * S) * 1e6 / cmax                       # um/s
        te = np.append(td[m], b)
        if I == 0 and i == 0:
            res[m] = u[-1]
            continue
        y = solve_ivp(rhs(j), (a, b), u, method="LSODA", rtol=rtol, atol=1e-9, lband=1, uband=1, t_eval=te)
        assert y.y.shape[1] == te.size
        res[m] = y.y[-1, :-1]
        u = y.y[:, -1]
    return res * cmax


def rich(D, td, n):
    return (4 * surface(D, td, 2 * n) - surface(D, td, n)) / 3


rng = np.random.default_rng(811)
rel = np.array([10, 30, 60, 120, 240, 400, 590, 610, 640, 700, 800, 1000, 1400, 2000, 2900.0])
td = np.concatenate([[60.0, 200.0]] + [300 + 3000 * j + rel for j in range(10)])
amp = amps[np.searchsorted(switch, td, side="right") - 1]
import time
t0 = time.time()
cs = rich(D_true, td, 160)
b = rich(D_true, td, 60)
print("surface", cs.min(), cs.max(), "grid error in mV, Richardson with 60:", 1e3 * np.abs(ocv(cs) - ocv(b)).max(), "plain 60", 1e3 * np.abs(ocv(cs) - ocv(surface(D_true, td, 60))).max(), time.time() - t0)
v = ocv(cs) - Rs_true * amp + 0.7e-3 * rng.standard_normal(td.size)
with open("current.csv", "w") as f:
    f.write("time_s,I_A\n" + "".join("%g,%g\n" % (a, I) for a, I in zip(switch, np.append(amps, 0.0))))
with open("voltage.csv", "w") as f:
    f.write("time_s,Ewe_V,T_chamber\n" + "".join("%g,%.4f,%.1f\n" % (a, q, 25 + 0.1 * rng.standard_normal()) for a, q in zip(td, v)))
_, raw = read("voltage.csv")
td, v = raw[:, 0], raw[:, 1]

knots = np.linspace(lo, hi, 10)
P = np.diff(np.eye(10), 2, axis=0)


def curve(th):
    s = CubicSpline(knots, th[:10] - 32, bc_type="natural")
    return lambda c: np.exp(s(np.clip(c, lo, hi)))


def model(th, n=60):
    return ocv(surface(curve(th), td, n)) - th[10] * amp


corr = ocv(rich(D_true, td, 160)) - ocv(surface(D_true, td, 60))   # deferred correction of the grid: from fine to coarse
sigma, weight = 0.7e-3, 0.5
start = np.append(np.log(D_true(knots)) + 32, Rs_true)
fun = lambda th: np.concatenate([(model(th) + corr - v) / sigma, weight * (P @ th[:10])])
sol = least_squares(fun, start, method="lm", diff_step=1e-3, x_scale=np.append(np.ones(10), 10.0), xtol=1e-6, ftol=1e-8)
th = sol.x
r = fun(th)[:td.size] * sigma
sig = float(np.sqrt(np.mean(r ** 2)))
J = np.empty((r.size + 8, 11))
for j in range(11):
    h = 0.02 if j < 10 else 0.1
    a, b = th.copy(), th.copy()
    a[j] += h
    b[j] -= h
    J[:, j] = (fun(a) - fun(b)) / (2 * h)
cov = np.linalg.inv(J.T @ J) * (sig / sigma) ** 2
sd = np.sqrt(np.diag(cov))
# the corrected coarse model against the fine one at the optimum
d = ocv(rich(curve(th), td, 100)) - th[10] * amp - model(th) - corr
print("model error at the optimum %.4f mV" % (1e3 * np.abs(d).max()))
shift = np.linalg.lstsq(J[:td.size], -d / sigma, rcond=None)[0]
print("grid error in sd", np.round(shift / sd, 4))
fine = np.linspace(lo, hi, 201)
e = curve(th)(fine) - D_true(fine)
err = float(np.sqrt(np.sum(e ** 2) / np.sum(D_true(fine) ** 2)))
at = np.linspace(lo + 1000, hi - 1000, 12)
print("noise", sig, "Rs", th[10], sd[10], "error of D", err, "sd of log D", np.round(sd[:10], 3), time.time() - t0)
print(np.round((th - start) / sd, 2))
reference(["Rs"], [Rs_true], [th[10]], [sd[10]], **{"class": "electrochemistry: diffusivity as a function of concentration, pulses of current, voltage at the surface", "difficulty": "hard",
          "functions": {"D": {"of": "c", "error": err, "at": at.tolist(), "truth": D_true(at).tolist(), "optimum": curve(th)(at).tolist(), "relative_sd_at_knots": sd[:10].tolist(), "knots": knots.tolist()}},
          "noise": "Gaussian, 0.7 mV; sigma not stated", "estimated_noise": [sig],
          "note": "D of 1e-14 m^2/s falls by a factor 5 over concentrations of 2e4 to 5e4 mol/m^3; spherical particle, flux switches 20 times, the reading is a nonlinear function of c at the surface less an unknown ohmic drop"})
