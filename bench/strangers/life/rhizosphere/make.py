"""Depletion of potassium round a root (Nye-Tinker-Barber): finite volumes on a logarithmic radial grid, LSODA."""
import sys, time; sys.path.insert(0, ".."); import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from common import fit, write
r0, r1, c0, b, v0 = 0.015, 0.2, 0.1, 4.0, 0.08     # cm, cm, umol/cm^3, -, cm/d

def solve(p, times, n=160, rtol=1e-8):
    D, Im, Km = p["D"], p["Imax"], p["Km"]
    r = r0*(r1/r0)**np.linspace(0, 1, n)
    f = 0.5*(r[1:] + r[:-1])
    e = np.r_[r0, f, r1]
    V = (e[1:]**2 - e[:-1]**2)/2
    G = D*f/np.diff(r)
    def rhs(t, c):
        F = np.empty(n+1)
        F[1:-1] = G*np.diff(c) + v0*r0*0.5*(c[1:] + c[:-1])
        F[0] = r0*Im*c[0]/(Km + c[0]); F[-1] = 0
        return np.diff(F)/(b*V)
    s = solve_ivp(rhs, (0, times[-1]), np.full(n, c0), "LSODA", t_eval=times, rtol=rtol, atol=1e-10, lband=1, uband=1)
    up = 2*np.pi*b*((V*c0).sum() - V @ s.y)         # umol per cm of root, by the balance
    return r, s.y, up

ts_slice = np.array([1.0, 2.5, 5.0])
ts_up = np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
times = np.unique(np.r_[ts_slice, ts_up])
centres = np.arange(0.03, 0.2, 0.02)
def model(p, n=160):
    r, c, up = solve(p, times, n)
    fine = np.linspace(r0, r1, 7401)                # 2.5e-5 cm
    out = []
    for t in ts_slice:
        q = CubicSpline(np.log(r), c[:, np.searchsorted(times, t)])(np.log(fine))
        for m in centres:
            k = (fine >= m-0.01-1e-9) & (fine <= m+0.01+1e-9)
            out.append(np.trapezoid(b*q[k]*fine[k], fine[k])/np.trapezoid(fine[k], fine[k]))
    return np.array(out), up[np.searchsorted(times, ts_up)]

truth = {"D": 0.09, "Imax": 0.26, "Km": 0.012}
t0 = time.time(); A, U = model(truth); print("s per solve", time.time()-t0)
A2, U2 = model(truth, 640)
print("grid error: slices", abs(A-A2).max(), "uptake rel", abs(U/U2-1).max()); A, U = A2, U2
g = np.random.default_rng(11)
sA, sU = 0.008, 0.06
reps = {1.0: 2, 2.5: 2, 5.0: 2}
rows, idxA = [], []
for i, t in enumerate(ts_slice):
    for rep in range(reps[t]):
        for j, m in enumerate(centres):
            if (t, rep, j) in [(2.5, 1, 3), (5.0, 0, 7)]:   # slices lost in the microtome
                rows.append((t, rep+1, m, None)); continue
            v = max(A[i*len(centres)+j] + sA*g.standard_normal(), 0.0)
            rows.append((t, rep+1, m, round(v, 4))); idxA.append((i*len(centres)+j, round(v, 4)))
with open("slices.csv", "w") as f:
    f.write("# thin slices of soil, 0.2 mm, exchangeable K, mean over the slice\nday,block,r_cm,K_umol_cm3,K_r_dr_umol_cm,sd_r_dr_umol_cm\n")
    for t, rep, m, v in rows: f.write(f"{t:g},{rep},{m:.2f}," + (",," if v is None else f"{v:.4f},{v*m*0.02:.4e},{sA*m*0.02:.4e}") + "\n")   # the last two: times r dr, since bilo cannot divide an integral by one
idxU = []
with open("harvest.csv", "w") as f:
    f.write("day;pot;K_nmol_per_cm_root\n")
    for j, t in enumerate(ts_up):
        for pot in range(3):
            v = round(1e3*U[j]*np.exp(sU*g.standard_normal()), 2)
            f.write(f"{t:g};{pot+1};{v}\n"); idxU.append((j, v))
ia, va = np.array([i for i, _ in idxA]), np.array([v for _, v in idxA])
iu, vu = np.array([i for i, _ in idxU]), np.array([v for _, v in idxU])
def resid(p):
    a, u = model(p)
    return np.r_[(a[ia]-va)/sA, np.log(1e3*u[iu]/vu)/sU]
t0 = time.time(); opt, sd = fit(resid, list(truth), truth); print("fit", time.time()-t0, "s")
print("smallest slice", A.min())
write("reference.json", "pde-1d-time, radial, nonlinear flux", "medium", truth, opt, sd, [sA, sU],
      "uptake kinetics of a root from soil slices (means over the slice) and cumulative uptake; Km from late depletion only")
