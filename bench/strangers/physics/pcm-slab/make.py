"""Melting and freezing of a paraffin slab: effective heat capacity, logged plate temperature, three thermocouples, one with an offset."""
import sys; sys.path.insert(0, "..")
from common import *
from scipy.integrate import odeint
from scipy.special import erf
Lx, rho, cp, h, Ta = 12e-3, 850.0, 2100.0, 6.0, 21.0     # m, kg/m3, J/kgK, W/m2K back face, degC
truth = dict(k=0.21, Lh=182e3, Tm=27.6, w=1.3, off=0.9)
rng = np.random.default_rng(72)
tend = 10800.0
tl = np.arange(0, tend+1, 60.0)
plate = np.interp(tl, [0, 300, 1800, 6000, 6900, tend], [15, 15, 44, 44, 12, 12])
plate = plate+0.4*np.sin(2*np.pi*tl/640)*(tl > 300)+rng.normal(0, .03, tl.size)*(tl > 300); plate = np.round(plate, 2); plate[tl <= 300] = 15.0
xs = [3e-3, 7e-3, 11e-3]
ts = [np.arange(30, tend, 90.), np.arange(45, tend, 120.), np.arange(20, tend, 150.)]
ts[1] = ts[1][(ts[1] < 3300) | (ts[1] > 4500)]            # the middle one lost contact to the logger
def solve(p, N=60, tol=1e-7):
    # N cells, T at nodes of a uniform grid incl. both ends; enthalpy form by effective heat capacity, node-centred
    x = np.linspace(0, Lx, N+1); dx = x[1]
    ceff = lambda T: cp+p["Lh"]/(p["w"]*np.sqrt(2*np.pi))*np.exp(-(T-p["Tm"])**2/(2*p["w"]**2))
    r = p["k"]/(rho*dx*dx)
    def rhs(y, t):
        T0 = np.interp(t, tl, plate); f = np.empty(N+1); f[0] = T0; f[1:] = y
        L = np.empty(N)
        L[:-1] = f[2:]-2*f[1:-1]+f[:-2]; L[-1] = 2*(f[-2]-f[-1])-2*dx*h/p["k"]*(f[-1]-Ta)
        return r*L/ceff(y)
    t = np.unique(np.concatenate([[0]]+ts))
    Y = odeint(rhs, np.full(N, 15.0), t, rtol=tol, atol=tol*10, ml=1, mu=1, hmax=60.0, mxstep=200000)
    Y = np.hstack([np.interp(t, tl, plate)[:, None], Y])
    out = []
    from scipy.interpolate import CubicSpline
    for xi, tt in zip(xs, ts):
        rows = np.searchsorted(t, tt); out.append(CubicSpline(x, Y[rows], axis=1)(xi))
    out[1] = out[1]+p["off"]
    return out
def rich(p, N=60):    # second order in space: Richardson
    return [(4*b-a)/3 for a, b in zip(solve(p, N), solve(p, 2*N))]
t0 = time.time(); a = solve(truth, 60); print("a solve", time.time()-t0); b = solve(truth, 120); c = solve(truth, 240, 1e-9)
print("60, 120 against 240 cells", [np.abs(u-v).max() for u, v in zip(a, c)], [np.abs(u-v).max() for u, v in zip(b, c)])
data = [np.round((4*w-v)/3+rng.normal(0, .2, w.size), 1) for v, w in zip(b, c)]
csv("plate.csv", "time_s,T_plate_degC", [(f"{x:g}", f"{y:.2f}") for x, y in zip(tl, plate)])
for i in range(3):
    csv(f"tc{i+1}.csv", "time_s,T_degC", [(f"{x:g}", f"{y:.1f}") for x, y in zip(ts[i], data[i])], f"type K, {xs[i]*1e3:g} mm from the plate")
est, sd, s, m = fit(lambda p: solve(p, 100, 1e-9), data, truth, step=2e-3)
write_json("reference.json", {"class": "phase change by effective heat capacity, 1-D + time, logged wall temperature", "difficulty": "hard", "truth": truth, "optimum": est, "sd": sd, "noise": s, "note": "melting and freezing; noise unknown, order tc1, tc2 (with offset), tc3, degC, rounded to 0.1"})
print(time.time()-t0)
