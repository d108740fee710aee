import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from common import fit, reference, shift, table, read

rho, p0, sig, freq, kap = 998.0, 101325.0, 0.056, 1.5e6, 1.07
names = ["R0", "pA", "mu"]
truth = np.array([2.15e-6, 5.2e4, 4.5e-3])


def model(theta, td, rtol=1e-9):
    R0, pA, mu = theta
    w = 2 * np.pi * freq

    def f(t, y):                                           # y = (R in um, dR/dt in m/s), t in us
        R, V = y[0] * 1e-6, y[1]
        gas = (p0 + 2 * sig / R0) * (R0 / R) ** (3 * kap)
        p = gas - p0 - pA * np.sin(w * t * 1e-6) - 4 * mu * V / R - 2 * sig / R
        return [V, (p / rho - 1.5 * V * V) / R * 1e-6]     # um/us = m/s; m/s^2 to m/s per us

    s = solve_ivp(f, (0, 5.0), [R0 * 1e6, 0.0], method="DOP853", rtol=rtol, atol=1e-11, t_eval=td * 1e6)
    return [s.y[0]]


rng = np.random.default_rng(77)
td = np.arange(0, 125) * 4e-8                              # 25 million frames a second
v = model(truth, td)[0]
print("radius between", v.min(), v.max())
v = v + 0.06 * rng.standard_normal(td.size)
table("frames.csv", "frame,time_s,radius_um", zip(range(125), td, v), ["%d", "%.3e", "%.3f"])
_, raw = read("frames.csv")
td, v = raw[:, 1], raw[:, 2]
opt, sd, chi2, noise = fit(lambda th: model(th, td), [v], truth, [None], names)
fine, _, _, _ = fit(lambda th: model(th, td, 1e-12), [v], truth, [None], names, verbose=False)
shift(opt, fine, sd, names)
reference(names, truth, fine, sd, **{"class": "acoustics: stiff oscillating ordinary differential equation of second order", "difficulty": "hard",
          "noise": "Gaussian, 0.06 um on every radius; sigma not stated", "chi2": chi2, "estimated_noise": noise,
          "note": "everything in SI: radii of 1e-6 m, times of 1e-8 s, pressures of 1e5 Pa; the guess resonates elsewhere and is out of step"})
