import os, sys
HERE = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(HERE))
from common import *
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline, PPoly
TS = np.arange(5., 300.1, 5)
PIECES = [(0, 60, .9), (60, 140, .2), (140, 200, 1.), (200, 300, .1)]
true = lambda h: (-4 + np.sqrt(16 + 800 * np.maximum(h, 0))) / 400       # h = 200 q^2 + 4 q

def solve(q, c2, rtol=1e-8):
    s, out = np.array([.05, .2]), []
    for a, b, p in PIECES:
        def rhs(t, y):
            f = q(min(max(y[0], 0.), 1.))
            return [.08 * .7 * p - f, .08 * .3 * p + f - c2 * np.sqrt(max(y[1], 0.))]
        at = TS[(TS > a) & (TS <= b)]
        sol = solve_ivp(rhs, (a, b), s, method="LSODA", t_eval=at, rtol=rtol, atol=rtol / 100)
        out.append(sol.y)
        s = sol.y[:, -1]
    return np.hstack(out)

c2 = .09
rng = np.random.default_rng(707)
y = solve(true, c2)
with open(HERE + "/levels.csv", "w") as f:
    f.write("t,h1,h2\n")
    for t, a, b in zip(TS, y[0] + .01 * rng.normal(size=len(TS)), y[1] + .01 * rng.normal(size=len(TS))):
        f.write(f"{t:g},{a:.4f},{b:.4f}\n")
d = np.loadtxt(HERE + "/levels.csv", delimiter=",", skiprows=1).T
print("range of h1", y[0].min(), y[0].max(), "h2", y[1].min(), y[1].max())

def setup(cells):
    k = np.r_[[0] * 3, np.linspace(0, 1, cells + 1), [1] * 3]
    nb = len(k) - 4
    def fun(c):
        pp = PPoly.from_spline(BSpline(k, c, 3)).c[:, 3:3 + cells]
        def q(h):
            i = min(int(h * cells), cells - 1); u = h - i / cells
            return ((pp[0, i] * u + pp[1, i]) * u + pp[2, i]) * u + pp[3, i]
        return q
    h = (np.arange(1000) + .5) / 1000
    R = np.stack([BSpline(k, np.eye(nb)[i], 3).derivative(2)(h) for i in range(nb)], 1)
    P = R.T @ R / 1000
    w, V = np.linalg.eigh(P)
    root = (V * np.sqrt(np.maximum(w, 0))).T[2:]
    greville = np.array([k[i + 1:i + 4].mean() for i in range(nb)])
    return nb, fun, root, greville, k

def estimate(cells, l, start, rtol=1e-8):
    """sd of the data alternately with the penalised fit; l multiplies the integral of q''^2."""
    nb, fun, root, gr, k = setup(cells)
    x, s = start, np.array([.01, .01])
    for _ in range(4):
        f = lambda x: np.r_[((solve(fun(x[:nb]), x[nb], rtol) - d[1:]) / s[:, None]).ravel(), np.sqrt(l) * (root @ x[:nb])]
        sol = least_squares(f, x, x_scale=.03, diff_step=1e-5, xtol=1e-10, ftol=1e-12, max_nfev=25)
        x = sol.x
        new = np.sqrt(np.mean((solve(fun(x[:nb]), x[nb], rtol) - d[1:])**2, 1))
        if np.allclose(new, s, rtol=1e-4):
            break
        s = new
    J = sol.jac
    H = J.T @ J
    n = len(TS)
    r = (solve(fun(x[:nb]), x[nb], rtol) - d[1:]) / s[:, None]
    ev = np.sum(r**2) + 2 * n * np.log(s).sum() + l * np.sum((root @ x[:nb])**2) + np.linalg.slogdet(H)[1] - (nb - 2) * np.log(l)
    return x, s, ev, np.linalg.inv(H)

at = np.linspace(.05, .8, 31)
cells = 8
nb, fun, root, gr, k = setup(cells)
x = np.r_[.06 * gr, .085]
best = None
for l in 10.**np.arange(4, -.6, -.5):
    x, s, ev, cov = estimate(cells, l, x)
    err = np.linalg.norm(BSpline(k, x[:nb], 3)(at) - true(at)) / np.linalg.norm(true(at))
    print(f"lambda {l:.3g} evidence {ev:.3f} error {err:.4f} c2 {x[nb]:.5f} +- {np.sqrt(cov[nb, nb]):.5f} sigma {s}", flush=True)
    if best is None or ev < best[0]:
        best = ev, l, x, s, cov, err
ev, l, x, s, cov, err = best
nb2, fun2, root2, gr2, k2 = setup(12)
y2, s2, ev2, cov2 = estimate(12, l, np.r_[BSpline(k, x[:nb], 3)(gr2), x[nb]], 1e-9)
err2 = np.linalg.norm(BSpline(k2, y2[:nb2], 3)(at) - true(at)) / np.linalg.norm(true(at))
sd = np.sqrt(cov[nb, nb])
write(HERE, ["c2"], [c2], [x[nb]], [sd], sigma=s.tolist(), finer_sd=[abs(y2[nb2] - x[nb]) / sd], finer_error=float(err2), weight=float(l),
      functions={"q": {"of": "h1", "at": at.tolist(), "truth": true(at).tolist(), "fit": BSpline(k, x[:nb], 3)(at).tolist(), "error": float(err)}},
      difficulty="easy", **{"class": "unknown function"}, note="grey-box two-tank model of NeuroMANCER: law of a valve of the level; splines, weight of the second derivative by evidence")
