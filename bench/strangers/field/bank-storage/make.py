"""Bank storage: groundwater beside a river with a clogged bed (Hall & Moench 1972), flood and rain."""
import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.linalg import solve_banded
from common import *

L, END = 600.0, 30*86400.0
NAMES = ["T", "Sy", "c"]
TRUTH = np.array([8.5e-3, 0.11, 9e-5])
wells = np.array([15.0, 80.0, 240.0])

# what the gauge and the rain gauge logged
ht = np.arange(0, 30*24 + 1, 3.0)                      # h, gauge
g = lambda t, t0, rise, fall, a: np.where(t > t0, a*(1 - np.exp(-np.maximum(t - t0, 0)/rise))*np.exp(-np.maximum(t - t0, 0)/fall), 0.0)
stage = np.round(g(ht, 50.0, 9.0, 60.0, 2.3) + g(ht, 330.0, 14.0, 40.0, 1.5) + g(ht, 372.0, 6.0, 90.0, 0.9), 2)
rain = np.zeros(31)                                    # mm/d of recharge, from midnight on
rain[[2, 3, 13, 14, 15, 22]] = [7.5, 3.0, 9.0, 4.2, 1.1, 5.4]
write_csv("gauge.csv", ["time_s", "stage_m"], [[int(a*3600), f"{s:.2f}"] for a, s in zip(ht, stage)])
write_csv("recharge.csv", ["time_s", "mm_per_day"], [[i*86400, f"{r:.1f}"] for i, r in enumerate(rain)])


def solve(p, n=300, dt=1350.0):
    """Finite volumes on a grid that is finer at the river, TR-BDF2-like: SDIRK2 (Alexander)."""
    T, Sy, c = p
    s = np.linspace(0, 1, n + 1)
    f = L*(np.expm1(3.0*s))/np.expm1(3.0)              # faces
    x = 0.5*(f[1:] + f[:-1])
    w = np.diff(f)
    k = T/np.diff(x)
    k0 = 1.0/(1.0/c + (x[0] - 0.0)/T)                  # bed and half a cell in series
    A = np.zeros((3, n))                               # dh/dt = A h + b
    A[0, 1:] = k/(Sy*w[:-1])
    A[2, :-1] = k/(Sy*w[1:])
    A[1, :-1] -= k/(Sy*w[:-1])
    A[1, 1:] -= k/(Sy*w[1:])
    A[1, 0] -= k0/(Sy*w[0])
    ga = 1 - np.sqrt(0.5)
    M = -ga*dt*A
    M[1] += 1
    tr = np.arange(0, 31)*86400.0
    hs = lambda t: np.interp(t, ht*3600, stage)

    def src(t, day):
        b = np.full(n, rain[day]*1e-3/86400/Sy)
        b[0] += k0*hs(t)/(Sy*w[0])
        return b

    def mul(v):
        o = A[1]*v
        o[:-1] += A[0, 1:]*v[1:]
        o[1:] += A[2, :-1]*v[:-1]
        return o
    h = np.zeros(n)
    out = [np.zeros(len(wells))]
    tt = [0.0]
    nt = int(round(END/dt))
    # interpolation to wells: cubic through 4 neighbours
    W = []
    for a in wells:
        j = np.clip(np.searchsorted(x, a) - 2, 0, n - 4)
        xs = x[j:j + 4]
        W.append((j, [np.prod([(a - xs[m])/(xs[q] - xs[m]) for m in range(4) if m != q]) for q in range(4)]))
    for i in range(nt):
        t = i*dt
        day = int((t + 1e-6)//86400)
        k1 = solve_banded((1, 1), M, mul(h) + src(t + ga*dt, day))
        k2 = solve_banded((1, 1), M, mul(h + (1 - ga)*dt*k1) + src(t + dt, day))
        h = h + dt*((1 - ga)*k1 + ga*k2)
        tt.append(t + dt)
        out.append(np.array([np.dot(cf, h[j:j + 4]) for j, cf in W]))
    return np.array(tt), np.array(out)


obs_t = np.arange(6, 30*24, 6)*3600.0


def model(p, **k):
    tt, o = solve(p, **k)
    return np.array([np.interp(obs_t, tt, o[:, i]) for i in range(3)])   # obs_t are nodes of tt


if __name__ == "__main__":
    rng = np.random.default_rng(4711)
    clean = model(TRUTH)
    sigma = 0.01
    d = np.round(clean + sigma*rng.standard_normal(clean.shape), 3)
    ok = np.ones(d.shape, bool)
    ok[0, 40:47] = False            # well 1: logger lifted during the flood
    ok[2, :14] = False              # well 3: installed late
    write_csv("wells.csv", ["time_s", "P1_m", "P2_m", "P3_m"],
              [[int(t)] + [f"{d[i, j]:.3f}" if ok[i, j] else "" for i in range(3)] for j, t in enumerate(obs_t)])

    def res(p):
        return ((model(p) - d)/sigma)[ok]
    p, r, J = fit_log(res, TRUTH)
    sd = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
    show(NAMES, TRUTH, p, sd)
    print("chi2/n", np.mean(r**2), len(r), "max heads", clean.max(axis=1))
    fine = model(p, n=900, dt=450.0)
    e = ((model(p) - fine)/sigma)[ok]
    print("shift by discretisation, in sd:", np.linalg.lstsq(J, e, rcond=None)[0]/sd, "max", abs(e).max()*sigma)
    write_reference("reference.json", **{
        "class": "diffusion with a leaky boundary, given forcing", "difficulty": "easy",
        "truth": dict(zip(NAMES, TRUTH.tolist())), "optimum": dict(zip(NAMES, p.tolist())), "sd": dict(zip(NAMES, sd.tolist())),
        "noise": "Gaussian, sd 0.01 m as the transducers' data sheet says",
        "note": "SI units, numbers of 1e-5 to 1e6; boundary follows a logged hydrograph (Robin), recharge switches daily; one logger had a gap and one began late"})
