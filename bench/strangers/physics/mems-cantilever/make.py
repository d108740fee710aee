"""Electrostatically pulled microcantilever with a compliant anchor; three interferometer scans, each with its own height."""
import sys; sys.path.insert(0, "..")
from common import *
from scipy.integrate import solve_bvp
L, eps = 220.0, 8.8541878e-12            # um, F/m
V = dict(low=10.0, mid=13.5, high=18.0)
truth = dict(D=1.1e5, g=2.85, kappa=4.0, z0_low=14.0, z0_mid=-9.0, z0_high=22.0)    # uN um, um, um, nm
rng = np.random.default_rng(73)
xs = {k: np.setdiff1d(np.arange(4.0, 218, 4.0), cut) for k, cut in zip(V, [[], np.arange(120, 141, 4.0), np.arange(200, 218, 4.0)])}
prev = {}
def solve(p, tol=1e-8):
    out = []
    for k in V:
        # 1 Pa = 1e-6 uN/um^2; eps V^2/(2 g^2) with g in um: 1e12
        def f(x, y): return np.array([y[1], y[2], y[3], L**4*eps*V[k]**2*1e6/(2*(p["g"]-y[0])**2)/p["D"]])
        bc = lambda a, b: np.array([a[0], a[1]-p["kappa"]/L*a[2], b[2], b[3]])
        x = np.linspace(0, 1, 23) if k not in prev else prev[k][0]
        y = np.zeros((4, x.size)) if k not in prev else prev[k][1]
        s = solve_bvp(f, bc, x, y, tol=tol, max_nodes=20000); assert s.success, (k, p)
        if k not in prev: prev[k] = (s.x, s.y)
        out.append(1e3*s.sol(xs[k]/L)[0]+p["z0_"+k])
    return out
t0 = time.time(); a = solve(truth); b = solve(truth, 1e-10)
prev.clear()
print("error", [np.abs(u-v).max() for u, v in zip(a, b)], "tips nm", [u.max() for u in b])
data = [np.round(u+rng.normal(0, 3.0, u.size), 1) for u in b]
for k, d in zip(V, data): csv(f"scan_{k}.csv", "x_um,z_nm", [(f"{x:g}", f"{y:.1f}") for x, y in zip(xs[k], d)], f"white-light scan, {V[k]:g} V, towards the substrate positive; height of the stage not referenced")
est, sd, s, m = fit(solve, data, truth, [3.0]*3)
R = lambda d: {k.replace("z0_", "z0@"): v for k, v in d.items()}
write_json("reference.json", {"class": "nonlinear boundary value problem of fourth order, several experiments", "difficulty": "medium", "truth": R(truth), "optimum": R(est), "sd": R(sd), "noise": s, "note": "pull-in near 19 V at the truth; sigma known (3 nm); height of each scan unknown"})
print(time.time()-t0)
