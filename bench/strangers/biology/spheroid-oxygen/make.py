import os, sys
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_banded
names = ["Q", "surface", "zero"]; truth = np.array([17.0, 96.0, 2.6])
D, Km, R = 1800.0, 1.0, 300.0
r1, r2 = np.arange(20, 300, 10.), np.arange(55, 300, 15.)
def profile(th, N=6000):
    """Finite volumes on spherical shells (cell nodes at i*h), Newton's method."""
    Q, cs, _ = th
    h = R/N; r = np.arange(N+1)*h; rp = (r[:-1] + h/2)**2        # faces i+1/2
    vol = np.empty(N+1); vol[0] = (h/2)**3/3; vol[1:] = ((r[1:] + h/2)**3 - (r[1:] - h/2)**3)/3
    p = cs*np.clip((r/R), 0, 1)**8
    for k in range(60):
        F = np.zeros(N+1); lo = np.zeros(N+1); up = np.zeros(N+1); di = np.zeros(N+1)
        g = D*rp*(p[1:] - p[:-1])/h
        F[:-1] += g; F[1:] -= g
        di[:-1] -= D*rp/h; up[1:] += D*rp/h; di[1:] -= D*rp/h; lo[:-1] += D*rp/h
        F -= vol*Q*p/(Km + p); di -= vol*Q*Km/(Km + p)**2
        F[-1] = p[-1] - cs; di[-1] = 1; lo[-2] = 0
        s = solve_banded((1, 1), np.array([up, di, lo]), -F)
        p = np.maximum(p + s, p*0.1)
        if np.max(np.abs(s)) < 1e-11*cs: break
    return r, p
def model(th, N=6000):
    r, p = profile(th, N); f = CubicSpline(r, p)
    return [f(r1) + th[2], f(r2) + th[2]]
rng = np.random.default_rng(505)
m = model(truth)
data = [np.round(m[0] + rng.normal(0, 1.2, len(r1)), 1), np.round(m[1] + rng.normal(0, 1.9, len(r2)), 1)]
for f, r, d in (("track1.csv", r1, data[0]), ("track2.csv", r2, data[1])):
    with open(os.path.join(here, f), "w") as o: o.write("radius_um,pO2_mmHg\n"); o.writelines("%g,%g\n" % q for q in zip(r, d))
th, sd, noise, crit = fit(model, data, [None, None], truth, [True]*3)
fit(model, data, [None, None], truth*[1.6, 1.3, .5], [True]*3)
fit(lambda q: model(q, 3000), data, [None, None], truth, [True]*3)
# against scipy's solve_bvp
from scipy.integrate import solve_bvp
r, p = profile(th)
S = np.array([[0., 0.], [0., -2.]])
x = np.linspace(0, R, 400)
b = solve_bvp(lambda r, y: np.array([y[1], th[0]*y[0]/(Km + y[0])/D]), lambda a, b: np.array([a[1], b[0] - th[1]]), x, np.array([np.interp(x, r, p), np.gradient(np.interp(x, r, p), x)]), S=S, tol=1e-8, max_nodes=50000)
print("solve_bvp", b.status, np.max(np.abs(b.sol(r1)[0] - model(th)[0] + th[2])), "centre", p[0], "r=100", p[2000])
write(here, "spheroid", names, truth, th, sd, cls="boundary-value problem, radial", difficulty="easy", noise=noise, note="Michaelis-Menten consumption with a nearly anoxic core, 2/r at the centre, unknown zero of the electrode")
