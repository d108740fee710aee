import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.linalg import solve_banded
from common import fit, reference, shift, table, read

q, eps, um2, VT, ni, L = 1.602177e-19, 11.7 * 8.854188e-14, 1e-8, 0.025852, 1.0e10, 5.0
names = ["Ns", "Ld", "NB", "offset"]
truth = np.array([2.0e18, 0.62, 1.1e16, 0.085])


def solve(theta, n=10000):
    Ns, Ld, NB, off = theta
    x = np.linspace(0, L, n + 1)
    h = x[1]
    N = Ns * np.exp(-(x / Ld) ** 2) - NB
    psi = VT * np.arcsinh(N / (2 * ni))
    end = -VT * np.log(NB / ni)
    psi[-1] = end
    a = um2 * q / eps * h * h
    for it in range(200):
        p, m = ni * np.exp(-psi / VT), ni * np.exp(psi / VT)
        r = np.empty(n + 1)
        r[1:-1] = psi[2:] - 2 * psi[1:-1] + psi[:-2]
        r[0] = 2 * (psi[1] - psi[0])                       # psi_x = 0, a ghost node
        r[:-1] += a * (N + p - m)[:-1]
        r[-1] = psi[-1] - end
        ab = np.zeros((3, n + 1))
        ab[1] = -2 - a * (p + m) / VT
        ab[0, 1:] = 1
        ab[2, :-1] = 1
        ab[0, 1] = 2
        ab[1, -1] = 1
        ab[2, -2] = 0
        d = solve_banded((1, 1), ab, -r)
        big = np.max(np.abs(d))
        psi = psi + d * min(1, 0.1 / big)
        if big < 1e-12:
            break
    return x, psi


def model(theta, xd, n=10000):
    x, psi = solve(theta, n)
    from scipy.interpolate import CubicSpline
    return [1000 * (CubicSpline(x, psi)(xd) + theta[3])]


rng = np.random.default_rng(11)
xd = np.round(np.arange(0.04, 4.99, 0.06), 3)
v = model(truth, xd, 40000)[0] + 5.0 * rng.standard_normal(xd.size)
table("kpfm_line.csv", "depth_um,CPD_mV,phase_deg", zip(xd, v, 90 + rng.standard_normal(xd.size)), ["%.3f", "%.1f", "%.2f"])
_, raw = read("kpfm_line.csv")
xd, v = raw[:, 0], raw[:, 1]
opt, sd, chi2, noise = fit(lambda th: model(th, xd), [v], truth, [None], names)
fine, _, _, _ = fit(lambda th: model(th, xd, 20000), [v], truth, [None], names, verbose=False)
shift(opt, fine, sd, names)
reference(names, truth, fine, sd, **{"class": "semiconductor: nonlinear steady boundary-value problem with a space-charge layer", "difficulty": "hard",
          "noise": "Gaussian, 5 mV on every value; sigma not stated", "chi2": chi2, "estimated_noise": noise,
          "note": "Poisson-Boltzmann: exp(psi/VT) spans 13 decades, the layer is 0.4 um of 5 um, Debye length at the surface 3 nm; doping moves over decades"})
