"""Photo-oxidation of m-xylene with NOx in a Teflon bag (stiff: OH lives for 10 ms, ozone for hours). LSODA/Radau with exact Jacobian."""
import sys, time; sys.path.insert(0, ".."); import numpy as np
from scipy.integrate import solve_ivp
from common import fit, write
# ppb, min
K = dict(k2=0.0266, kRH=34.0, kRN=13.3, kHN=12.5, kON=16.2, kHH=4.4, kRHo=17.7)
T = 300.0
def rhs(t, y, p):
    O3, NO, NO2, RH, RO2, HO2, OH, HNO3, HONO = y
    r1 = p["J"]*NO2; r2 = K["k2"]*NO*O3; r3 = K["kRH"]*RH*OH; r4 = K["kRN"]*RO2*NO; r5 = K["kHN"]*HO2*NO
    r6 = K["kON"]*OH*NO2; r7 = 0.17*p["J"]*HONO; r8 = K["kHH"]*HO2*HO2; r9 = K["kRHo"]*RO2*HO2
    return [r1-r2-p["kw"]*O3, r1-r2-r4-r5+r7, -r1+r2+r4+r5-r6, -r3, r3-r4-r9, r4-r5-2*r8-r9, r5+r7-r3-r6, r6, p["W"]-r7]
start = dict(O3=0.0, NO=92.0, NO2=11.0, RH=180.0)
tf = np.arange(0, T+0.1, 1.0)
def solve(p, rtol=1e-8):
    y0 = [start["O3"], start["NO"], start["NO2"], start["RH"], 0, 0, 0, 0, p["HONO0"]]
    s = solve_ivp(rhs, (0, T), y0, "LSODA", t_eval=tf, rtol=rtol, atol=1e-10, args=(p,))
    return s.y
tO = np.arange(5, T+1, 5.0); tN = np.arange(2, T+1, 4.0); tG = np.array([0, 30, 60, 90, 120, 165, 210, 255, 300.0])
from scipy.interpolate import CubicSpline
def model(p, rtol=1e-8):
    y = solve(p, rtol); c = [CubicSpline(tf, q) for q in y]
    O = np.array([c[0].integrate(t-5, t)/5 for t in tO]) + p["zero"]
    return O, c[1](tN), c[2](tN) + c[8](tN) + p["f"]*c[7](tN), c[3](tG)
truth = {"J": 0.38, "W": 0.09, "HONO0": 6.0, "kw": 0.0035, "f": 0.75, "zero": 3.1}
t0 = time.time(); m = model(truth); print("s", time.time()-t0)
m2 = model(truth, 1e-11); print("error", [abs(a-b).max() for a, b in zip(m, m2)])
for a in m: print(np.round(a[::max(1, len(a)//10)], 1))
y = solve(truth); print("OH ppb", y[6][1:].min(), y[6].max(), "HO2", y[5].max(), "RO2", y[4].max())
s = [1.0, 0.7, 1.5, 0.04]
g = np.random.default_rng(21)
d = [np.round(m2[0]+s[0]*g.standard_normal(len(tO)), 1), np.round(m2[1]+s[1]*g.standard_normal(len(tN)), 1),
     np.round(m2[2]+s[2]*g.standard_normal(len(tN)), 1), np.round(m2[3]*np.exp(s[3]*g.standard_normal(len(tG))), 1)]
d[1][(tN > 128) & (tN < 146)] = np.nan; d[2][(tN > 128) & (tN < 146)] = np.nan      # zero air
open("ozone.csv", "w").write("# means of the five minutes before\nmin_since_lights_on,O3_ppb\n" + "".join(f"{t:g},{a:.1f}\n" for t, a in zip(tO, d[0])))
q = lambda a: "" if np.isnan(a) else f"{a:.1f}"
open("nox.csv", "w").write("min;NO_ppb;NO2_channel_ppb\n" + "".join(f"{t:g};{q(a)};{q(b)}\n" for t, a, b in zip(tN, d[1], d[2])))
open("gc.csv", "w").write("min,xylene_ppb\n" + "".join(f"{t:g},{a:.1f}\n" for t, a in zip(tG, d[3])))
ok = [~np.isnan(a) for a in d]; sig = s[:3] + [s[3]]
def resid(p):
    mm = model(p)
    return np.concatenate([(a[o]-b[o])/si for a, b, o, si in zip(mm[:3], d, ok, sig)] + [np.log(mm[3]/d[3])/sig[3]])
t0 = time.time()
for it in range(3):                  # sigmas of the three monitors are unknown: iterated
    opt, sd = fit(resid, list(truth), truth, verbose=it == 2)
    mm = model(opt); sig = [float(np.sqrt(np.mean((a[o]-b[o])**2))) for a, b, o in zip(mm[:3], d, ok)] + [0.04]
print("sigma", sig, "fit", time.time()-t0)
write("reference.json", "ode, stiff", "medium", truth, opt, sd, s,
      "NOx-xylene photochemistry: photolysis rate, radical source of the walls, initial HONO, ozone loss, interference of the NO2 channel, zero of the ozone monitor; sigma of the monitors unknown")
