"""Excitatory and inhibitory synaptic conductance from voltages under three holding currents. Exact steps of the linear membrane equation."""
import sys, json, time; sys.path.insert(0, ".."); import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import least_squares
from common import write, function
C, gL, EL, Ee, Ei, T = 130.0, 8.5, -68.0, 0.0, -82.0, 200.0      # pF, nS, mV, ms
runs = {"hyper": -120.0, "rest": 0.0, "depol": 160.0}           # pA
I = np.array(list(runs.values()))
def alpha(t, t0, tau): s = np.maximum(t-t0, 0)/tau; return s**2*np.exp(2*(1-s))     # smooth onset
def ge(t): return 0.5 + 2.6*alpha(t, 40, 16) + 0.9*alpha(t, 105, 20)
def gi(t): return 1.0 + 6.5*alpha(t, 46, 22) + 2.0*alpha(t, 115, 24)
V0 = EL + I/(gL+1.5) + np.array([1.0, 1.6, 1.1])                # not quite at rest
def volt(e, i, h, v0):                                          # e, i: conductances at midpoints (n, m); returns (n+1, m, 3)
    G = gL+e+i
    a = np.exp(-G*h/C)
    out = np.empty((e.shape[0]+1, e.shape[1], 3)); out[0] = v = np.broadcast_to(v0, out[0].shape)
    B = gL*EL+e*Ee+i*Ei
    for k in range(e.shape[0]):
        inf = (B[k][:, None]+I)/G[k][:, None]
        v = inf+(v-inf)*a[k][:, None]; out[k+1] = v
    return out
def true(h):
    t = (np.arange(round(T/h))+0.5)*h
    return volt(ge(t)[:, None], gi(t)[:, None], h, V0)[:, 0][::round(1/h)]
vt = true(0.01); print("step error at 0.25", abs(true(0.25)-vt).max(), "range", vt.min(0), vt.max(0))
sd = 0.2; g = np.random.default_rng(17)
tt = np.arange(0, T+1, 1.0)
d = np.round(vt+sd*g.standard_normal(vt.shape), 2)
gap = (tt > 37) & (tt < 41); d[gap] = np.nan                    # artefact of the stimulus
open("traces.csv", "w").write("t_ms," + ",".join(f"V_{n}_mV" for n in runs) + "\n" + "".join(f"{t:g}," + ",".join("" if np.isnan(a) else f"{a:.2f}" for a in r) + "\n" for t, r in zip(tt, d)))
# own fit: logarithms of both are cubic splines of 24 functions, second derivatives of g held down, weight by generalised cross-validation
h = 0.25; tm = (np.arange(round(T/h))+0.5)*h; nb = 28
kn = np.r_[[0]*3, np.linspace(0, T, nb-2), [T]*3]
Bm = BSpline.design_matrix(tm, kn, 3).toarray()
sp = lambda q: np.log1p(np.exp(q))
ok = ~np.isnan(d)
def parts(q):
    q = np.atleast_2d(q)
    e, i = sp(Bm @ q[:, :nb].T), sp(Bm @ q[:, nb:2*nb].T)
    return e, i, batch(e, i, q[:, 2*nb:])
def batch(e, i, v0):
    G = gL+e+i; a = np.exp(-G*h/C); Bq = gL*EL+e*Ee+i*Ei
    v = v0.copy(); out = [v]
    for k in range(e.shape[0]):
        inf = (Bq[k][:, None]+I)/G[k][:, None]
        v = inf+(v-inf)*a[k][:, None]
        if (k+1) % 4 == 0: out.append(v)
    return np.array(out).transpose(1, 0, 2)
def res_all(Q, lam):
    e, i, v = parts(Q)
    w = np.sqrt(lam*h)/h**2
    r = ((v-np.nan_to_num(d))*ok/sd).reshape(len(v), -1)
    return np.hstack([r, w*np.diff(e, 2, axis=0).T, w*np.diff(i, 2, axis=0).T])
def fitl(lam, q):
    f = lambda q: res_all(q[None], lam)[0]
    def jac(q):
        E = q+1e-4*np.vstack([np.zeros(q.size), np.eye(q.size)]); R = res_all(E, lam)
        return ((R[1:]-R[0])/1e-4).T
    s = least_squares(f, q, jac, xtol=1e-7, ftol=1e-8, max_nfev=60)
    n = ok.sum(); r = s.fun[:d.size]; J = s.jac
    H = np.linalg.inv(J.T@J); A = J[:d.size]; edf = np.trace(H@(A.T@A))
    return s.x, (r@r), edf, n, np.sqrt(np.diag(H))[2*nb:]
inv = lambda g: np.log(np.expm1(g))
q = np.r_[np.full(nb, inv(2.0)), np.full(nb, inv(2.0)), d[0]]
best = None; t0 = time.time()
for lam in [3e6, 1e6, 3e5, 1e5, 3e4, 1e4, 3e3, 1e3, 300.0]:
    q, c, edf, n, sv = fitl(lam, q)
    gcv = c/n/(1-edf/n)**2
    e, i, _ = parts(q)
    print(f"lam {lam}: chi2/n {c/n:.3f} edf {edf:.1f} gcv {gcv:.4f} rel L2 error ge {np.linalg.norm(e[:,0]-ge(tm))/np.linalg.norm(ge(tm)):.3f} gi {np.linalg.norm(i[:,0]-gi(tm))/np.linalg.norm(gi(tm)):.3f} ({time.time()-t0:.0f} s)")
    if best is None or gcv < best[0]: best = (gcv, lam, q.copy(), sv)
e, i, _ = parts(best[2]); print("taken", best[1])
x = np.arange(0, T+1, 4.0)
F = lambda k: sp(BSpline(kn, best[2][k*nb:(k+1)*nb], 3)(x))
fn = {"ge": function("t", x, ge(x), F(0)), "gi": function("t", x, gi(x), F(1))}
v0 = dict(zip(["V0@"+n for n in runs], map(float, best[2][2*nb:])))
write("reference.json", "ode, three experiments, two unknown functions of time", "hard", {**dict(zip(v0, map(float, V0)))}, v0, dict(zip(v0, map(float, best[3]))), [sd]*3,
      "synaptic conductances by three holding currents; functions are the answer; the V0@.. are nuisances", fn)
