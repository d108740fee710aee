import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from common import fit, reference, grid_error, read

ymax = 12.0                                                    # mm
names = ["beta", "delta", "U"]
truth = np.array([-0.117, 1.27, 9.64])


def model(th, yd, rtol=1e-9):
    """Shooting for f''(0) of f''' + f f'' + beta (1 - f'^2) = 0, f(0) = f'(0) = 0, f'(ymax/delta) = 1: the attached branch."""
    b, de, U = th
    rhs = lambda t, y: [y[1], y[2], -y[0] * y[2] - b * (1 - y[1] ** 2)]
    end = ymax / de
    up = lambda t, y: y[1] - 3
    dn = lambda t, y: y[1] + 1
    up.terminal = dn.terminal = True
    go = lambda s, **k: solve_ivp(rhs, (0, end), [0, 0, s], method="DOP853", rtol=rtol, atol=1e-12, **k)
    g = lambda s: go(s, events=(up, dn)).y[1, -1] - 1
    s0 = 0.4696 + 1.25 * b - 2.0 * b * b if b < 0 else 0.4696 + 0.9 * b   # near the attached branch
    lo, hi = max(s0 - 0.08, 1e-3), s0 + 0.08
    while g(lo) > 0:
        lo -= 0.02
    while g(hi) < 0:
        hi += 0.02
    s = brentq(g, lo, hi, xtol=1e-13, rtol=1e-13)
    return [U * go(s, t_eval=np.asarray(yd) / de).y[1]]


rng = np.random.default_rng(1010)
yd = np.concatenate([np.arange(0.3, 4.01, 0.2), np.arange(4.4, 9.01, 0.4)])
f = model(truth, yd)[0]
print("u", f.round(2))
u = f + 0.05 * rng.standard_normal(yd.size)
with open("hotwire.csv", "w") as h:
    h.write("y_mm,u_m_s\n" + "".join("%.2f,%.3f\n" % a for a in zip(yd, u)))
raw = read("hotwire.csv")[1]
yd, u = raw.T
opt, sd, chi2, noise = fit(lambda th: model(th, yd), [u], truth, [0.05], names)
grid_error(model(opt, yd), model(opt, yd, 1e-12), sd, truth, names)
reference(names, truth, opt, sd, **{"class": "fluid mechanics: Falkner-Skan boundary layer, third-order boundary value problem, hot-wire profile", "difficulty": "medium",
          "noise": "Gaussian, 0.05 m/s, stated", "chi2": chi2, "note": "an adverse gradient: beta is negative, its guess 0 (flat plate); a second, separated solution exists for beta < 0"})
