import os, sys
HERE = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(HERE))
from common import *
from scipy.integrate import solve_ivp
XS, TS = np.array([.05, .1, .2, .3, .4, .5, .6, .8]), np.array([.5, 1, 2, 4, 6, 8, 10])

def solve(kf, D, n=48, rtol=1e-8):
    x, d = cheb(n, 0, 1)
    L = (d @ d)[1:-1]
    def rhs(t, y):
        a, b = np.r_[1, y[:n - 1], 0], np.r_[1, y[n - 1:], 0]
        r = kf * a[1:-1] * b[1:-1] ** 2
        return np.r_[D * (L @ a) - r, D * (L @ b) - 2 * r]
    I = np.eye(n - 1)
    def jac(t, y):
        a, b = y[:n - 1], y[n - 1:]
        A = D * L[:, 1:-1]
        return np.block([[A - np.diag(kf * b**2), -np.diag(2 * kf * a * b)], [-np.diag(2 * kf * b**2), A - np.diag(4 * kf * a * b)]])
    s = np.exp(-20 * x[1:-1])
    sol = solve_ivp(rhs, (0, 10), np.r_[s, s], method="BDF", jac=jac, t_eval=TS, rtol=rtol, atol=rtol / 100)
    M = bary(x, XS)
    full = lambda Y: np.vstack([np.ones(len(TS)), Y, np.zeros(len(TS))])
    return (M @ full(sol.y[:n - 1])).ravel(), (M @ full(sol.y[n - 1:])).ravel()   # x outer, t inner

truth = [0.1, 2e-3]
rng = np.random.default_rng(101)
a, b = solve(*truth)
g = [(x, t) for x in XS for t in TS]
with open(HERE + "/data.csv", "w") as f:
    f.write("x,t,ca,cb\n")
    for (x, t), u, v in zip(g, a + .02 * rng.normal(size=len(a)), b + .02 * rng.normal(size=len(b))):
        f.write(f"{x:g},{t:g},{u:.4f},{v:.4f}\n")
d = np.loadtxt(HERE + "/data.csv", delimiter=",", skiprows=1)
def blocks(n, rtol):
    return lambda p: [u - w for u, w in zip(solve(*p, n=n, rtol=rtol), (d[:, 2], d[:, 3]))]
p, sd, cov, s, dev = fit(blocks(40, 1e-9), truth, [.02, .02], step=1e-4)
q = fit(blocks(40, 1e-9), [.05, 1e-3], [.02, .02], step=1e-4)[0]
fine = fit(blocks(64, 1e-10), p, [.02, .02], step=1e-4)[0]
write(HERE, ["kf", "D"], truth, p, sd, deviance=dev, second_start_sd=compare(p, sd, q), finer_sd=compare(p, sd, fine), difficulty="easy", **{"class": "reaction-diffusion, 1D"}, note="two species, guess from DeepXDE's example (factor 2 off each)")
