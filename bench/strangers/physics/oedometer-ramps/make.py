"""Oedometer with two loading ramps: stress-dependent stiffness and permeability, base pore pressure behind a slow transducer."""
import sys; sys.path.insert(0, "..")
from common import *
from scipy.integrate import odeint
H, s0, gw = 19.0, 50.0, 9.81e-3          # mm, kPa, kPa/mm
truth = dict(lam=0.085, k100=1.1e-9, n=0.65, tau=3.5, d0=0.035)
rng = np.random.default_rng(71)
# load log (kPa) as the load cell wrote it: about every 2 min on the ramps, else every 15 min
tl = np.unique(np.concatenate([np.arange(0, 600.1, 15), np.arange(4, 17, 2), np.arange(238, 264, 2)]))
ql = np.interp(tl, [0, 4, 14, 240, 260, 600], [50, 50, 100, 100, 200, 200])
ql = np.round(ql+np.where((tl > 4), rng.normal(0, .25, tl.size), 0), 1); ql[tl <= 4] = 50.0
q = lambda t: np.interp(t, tl, ql)
tn = np.array([1, 4.5, 5, 6, 8, 10, 14, 19, 30, 45, 64, 90, 124, 180, 238, 241, 242, 244, 248, 256, 262, 272, 290, 320, 360, 420, 480, 590.])
tp = np.setdiff1d(np.arange(2.5, 600, 5), np.arange(132.5, 190, 5))     # the logger was off for an hour
def solve(p, N=60, tol=1e-8):
    # cell edges crowd at the drained face
    e = H*(np.linspace(0, 1, N+1)**1.6); c = .5*(e[1:]+e[:-1]); h = np.diff(e)
    dist = np.diff(c); K0 = p["k100"]*60e3/gw
    kk = lambda s: K0*(s/100)**(-p["n"])
    def G(a, b, d):     # flux between values a and b: the integral of K is exact
        m = 1-p["n"]; return K0*100**p["n"]*(b**m-a**m)/m/d
    def rhs(y, t):
        s = y[:N]; ds = np.empty(N+1)
        ds[0] = G(q(t), s[0], c[0]); ds[1:N] = G(s[:-1], s[1:], dist); ds[N] = 0
        return np.append(s/p["lam"]*np.diff(ds)/h, (q(t)-sb(s)-y[N])/p["tau"])
    x1, x2 = (H-c[-1])**2, (H-c[-2])**2
    sb = lambda s: (s[-1]*x2-s[-2]*x1)/(x2-x1)     # value at the base, zero slope there
    t = np.unique(np.concatenate([[0], tn, tp])); y = np.append(np.full(N, s0), 0.0)
    Y = odeint(rhs, y, t, rtol=tol, atol=tol*10, ml=2, mu=1, tcrit=None, hmax=2.0, mxstep=100000)
    d = p["d0"]+p["lam"]*(np.log(Y[:, :N]/s0)@h)
    return [d[np.searchsorted(t, tn)], Y[np.searchsorted(t, tp), N]]
t0 = time.time(); a = solve(truth); print("a solve", time.time()-t0)
b = solve(truth, 120, 1e-10); print("error of 60 cells", [np.abs(u-v).max() for u, v in zip(a, b)], "ranges", [np.ptp(u) for u in a])
data = [np.round(b[0]+rng.normal(0, .004, tn.size), 3), np.round(b[1]+rng.normal(0, .5, tp.size), 2)]
csv("load.csv", "time_min,sigma_v_kPa", [(f"{x:g}", f"{y:.1f}") for x, y in zip(tl, ql)])
csv("dial.csv", "time_min,settlement_mm", [(f"{x:g}", f"{y:.3f}") for x, y in zip(tn, data[0])], "dial gauge, read by hand; zero taken before the cap was seated")
csv("pore.csv", "time_min,u_base_kPa", [(f"{x:g}", f"{y:.2f}") for x, y in zip(tp, data[1])], "ceramic disc + transducer at the base; logger off 130-190 min")
est, sd, s, m = fit(lambda p: solve(p, 90, 1e-9), data, truth)
write_json("reference.json", {"class": "nonlinear consolidation, 1-D + time, logged load, lag of a sensor", "difficulty": "medium", "truth": truth, "optimum": est, "sd": sd, "noise": s, "note": "noise order: dial (mm), pore (kPa); both unknown"})
print(time.time()-t0)
