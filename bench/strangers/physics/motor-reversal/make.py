"""Brushed DC motor under a logged voltage with a reversal: electrical and mechanical constants, friction, tachometer lag, probe offset."""
import sys; sys.path.insert(0, "..")
from common import *
from scipy.integrate import solve_ivp
tend, w0 = 4.0, 2.0          # s, rad/s
truth = dict(R=2.1, L=0.038, K=0.118, J=6.2e-4, b=2.3e-4, Tc=0.031, tau=0.025, i0=0.06)
rng = np.random.default_rng(75)
tl = np.round(np.arange(0, tend+.005, .01), 3)
vl = np.interp(tl, [0, .2, .21, 1.3, 1.31, 2.2, 2.21, 3.2, 3.21, tend], [0, 0, 6, 6, 12, 12, -8, -8, 0, 0])
vl = np.round(vl*(1-.03*np.exp(-np.mod(tl-.2, 1)/.15))+.05*np.sin(2*np.pi*tl/.37)*(vl != 0), 2)
V = lambda t: np.interp(t, tl, vl)
ti = np.round(np.arange(0.008, tend, .008), 4); tw = np.round(np.arange(.02, tend, .02), 3); tw = tw[(tw < 1.56) | (tw > 1.84)]
T = np.unique(np.concatenate([[0], ti, tw]))
# Runge-Kutta of fourth order with steps that end at every node of the log
def solve(p, n=8):
    h = .01/n; N = (tl.size-1)*n; y = np.zeros((N+1, 3)); v = np.interp(np.arange(2*N+1)*h/2, tl, vl)
    def f(y, v):
        i, w, z = y
        return np.array([(v-p["R"]*i-p["K"]*w)/p["L"], (p["K"]*i-p["b"]*w-p["Tc"]*np.tanh(w/w0))/p["J"], (w-z)/p["tau"]])
    import math
    R, L, K, J, b, Tc, tau = (p[k] for k in ("R", "L", "K", "J", "b", "Tc", "tau"))
    def g(i, w, z, v): return (v-R*i-K*w)/L, (K*i-b*w-Tc*math.tanh(w/w0))/J, (w-z)/tau
    i = w = z = 0.0
    for k in range(N):
        a, m, c = v[2*k], v[2*k+1], v[2*k+2]
        i1, w1, z1 = g(i, w, z, a); i2, w2, z2 = g(i+h/2*i1, w+h/2*w1, z+h/2*z1, m)
        i3, w3, z3 = g(i+h/2*i2, w+h/2*w2, z+h/2*z2, m); i4, w4, z4 = g(i+h*i3, w+h*w3, z+h*z3, c)
        i += h/6*(i1+2*i2+2*i3+i4); w += h/6*(w1+2*w2+2*w3+w4); z += h/6*(z1+2*z2+2*z3+z4)
        y[k+1] = i, w, z
    t = np.arange(N+1)*h
    s = lambda tt, c: y[np.round(tt/h).astype(int), c]
    return [s(ti, 0)+p["i0"], s(tw, 2)*60/(2*np.pi)]
t0 = time.time(); a = solve(truth, 10); print("a solve", time.time()-t0); b = solve(truth, 40)
assert np.allclose(np.round(ti*1000), ti*1000)
print("error", [np.abs(u-v).max() for u, v in zip(a, b)], "ranges", [np.ptp(u) for u in b])
data = [np.round(b[0]+rng.normal(0, .05, ti.size), 3), np.round(b[1]+rng.normal(0, 6, tw.size), 0)]
csv("voltage.csv", "t_s,V", [(f"{x:g}", f"{y:.2f}") for x, y in zip(tl, vl)])
csv("current.csv", "time (s);current (A)".replace(";", ","), [(f"{x:g}", f"{y:.3f}") for x, y in zip(ti, data[0])], "clamp, not zeroed")
csv("tacho.csv", "t_s,speed_rpm", [(f"{x:g}", f"{y:.0f}") for x, y in zip(tw, data[1])], "tachometer with first-order filter; dropout 1.56-1.84 s")
est, sd, s, m = fit(lambda p: solve(p, 10), data, truth)
write_json("reference.json", {"class": "system of ordinary differential equations with a logged input", "difficulty": "medium", "truth": truth, "optimum": est, "sd": sd, "noise": s, "note": "noise unknown: current (A), tacho (rpm, rounded to 1)"})
print(time.time()-t0)
