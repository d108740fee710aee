"""Flow of a valley glacier in the plane across it (Nye 1965): Glen's law, sliding over the bed."""
import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu
from common import *

W, H, DRIVE, E0, n = 400.0, 250.0, 0.93, 0.005, 3.0       # m, m, kPa/m, 1/year
NAMES = ["A", "B"]
TRUTH = np.array([6.0e-8, 8.0])
stakes = np.array([10, 50, 95, 140, 180, 225, 265, 305, 345, 380.0])
hole = (60.0, np.array([12, 35, 60, 85, 110, 140, 170, 200, 230.0]))
py = np.r_[stakes, np.full(len(hole[1]), hole[0])]
pz = np.r_[np.full(len(stakes), H), hole[1]]


def solve(p, ny=48, nz=32, start=None):
    """Bilinear finite elements, finer at the margin and at the bed; Newton's method, from a linear solution with care."""
    A, B = p
    s = np.linspace(0, 1, ny + 1)
    y = W*(1 - np.expm1(2.0*(1 - s))/np.expm1(2.0))
    s = np.linspace(0, 1, nz + 1)
    z = H*np.expm1(1.2*s)/np.expm1(1.2)
    I, J = np.meshgrid(np.arange(ny), np.arange(nz), indexing="ij")
    node = lambda i, j: i*(nz + 1) + j
    el = np.stack([node(I, J), node(I + 1, J), node(I, J + 1), node(I + 1, J + 1)], -1).reshape(-1, 4)
    hy, hz = np.diff(y)[I].ravel(), np.diff(z)[J].ravel()
    N = (ny + 1)*(nz + 1)
    fixed = node(ny, np.arange(nz + 1))
    free = np.setdiff1d(np.arange(N), fixed)
    load = np.bincount(el.ravel(), np.repeat(DRIVE*hy*hz/4, 4), N)
    gp = [0.5 - 0.5/np.sqrt(3), 0.5 + 0.5/np.sqrt(3)]
    quad = []
    for a in gp:
        for b in gp:
            dy = np.array([-(1 - b), 1 - b, -b, b])[None]/hy[:, None]
            dz = np.array([-(1 - a), -a, 1 - a, a])[None]/hz[:, None]
            quad.append((dy, dz, hy*hz/4))
    rows, cols = np.repeat(el, 4, axis=1).ravel(), np.tile(el, (1, 4)).ravel()
    # bed: B u v over z = 0
    b0, b1, hb = node(np.arange(ny), 0), node(np.arange(1, ny + 1), 0), np.diff(y)
    br = np.r_[b0, b0, b1, b1]
    bc = np.r_[b0, b1, b0, b1]
    bed = coo_matrix((B*np.r_[hb/3, hb/6, hb/6, hb/3], (br, bc)), shape=(N, N)).tocsr()

    def system(u):
        K = np.zeros((len(el), 4, 4))
        F = np.zeros((len(el), 4))
        for dy, dz, w in quad:
            ue = u[el]
            uy, uz = (dy*ue).sum(1), (dz*ue).sum(1)
            e2 = (uy**2 + uz**2)/4 + E0**2
            eta = 0.5*A**(-1/n)*e2**((1 - n)/(2*n))
            deta = 0.5*A**(-1/n)*(1 - n)/(2*n)*e2**((1 - n)/(2*n) - 1)/2      # d eta/d(e2) * d(e2)/d(uy) = deta*uy
            g = uy[:, None]*dy + uz[:, None]*dz
            F += (w*eta)[:, None]*g
            K += (w*eta)[:, None, None]*(dy[:, :, None]*dy[:, None, :] + dz[:, :, None]*dz[:, None, :])
            K += (w*deta)[:, None, None]*g[:, :, None]*g[:, None, :]
        Fg = np.bincount(el.ravel(), F.ravel(), N) + bed @ u - load
        Kg = coo_matrix((K.ravel(), (rows, cols)), shape=(N, N)).tocsr() + bed
        return Fg, Kg
    u = np.zeros(N) if start is None else start.copy()
    F, K = system(u)
    for it in range(60):
        d = splu(K[free][:, free].tocsc()).solve(-F[free])
        a, n0 = 1.0, np.linalg.norm(F[free])
        while True:
            v = u.copy()
            v[free] += a*d
            F, K = system(v)
            if np.linalg.norm(F[free]) < n0*(1 - 1e-4*a) or a < 1e-3 or n0 < 1e-8:
                break
            a /= 2
        u = v
        if np.abs(a*d).max() < 1e-10:
            break
    U = u.reshape(ny + 1, nz + 1)
    # values: local cubic interpolation
    def cub(x, a):
        j = int(np.clip(np.searchsorted(x, a) - 2, 0, len(x) - 4))
        xs = x[j:j + 4]
        return j, np.array([np.prod([(a - xs[m])/(xs[q] - xs[m]) for m in range(4) if m != q]) for q in range(4)])
    out = []
    for a, b in zip(py, pz):
        i, ca = cub(y, a)
        j, cb = cub(z, b)
        out.append(ca @ U[i:i + 4, j:j + 4] @ cb)
    return np.array(out), u, it


clean, u0, it = solve(TRUTH)
print("iterations", it, "surface", clean[:10], "hole", clean[10:])
c2 = solve(TRUTH, 96, 64)[0]
c3 = solve(TRUTH, 192, 128)[0]
print("grid changes", abs(clean - c2).max(), abs(c2 - c3).max())
sig = np.r_[np.full(len(stakes), 0.15), np.full(len(hole[1]), 0.3)]
rng = np.random.default_rng(1965)
d = np.round(c3 + sig*rng.standard_normal(len(c3)), 2)
write_csv("velocities.csv", ["instrument", "across_m", "above_bed_m", "u_m_per_yr", "u_err"],
          [["GNSS" if i < len(stakes) else "inclinometer", f"{a:.0f}", f"{b:.0f}", f"{v:.2f}", f"{e:.2f}"]
           for i, (a, b, v, e) in enumerate(zip(py, pz, d, sig))])
M = dict(ny=96, nz=64)
s0 = solve(TRUTH, **M)[1]
res = lambda p: (solve(p, start=s0, **M)[0] - d)/sig
p, r, J = fit_log(res, TRUTH, h=1e-3)
sd = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
show(NAMES, TRUTH, p, sd)
print("chi2", r @ r, len(r))
e = (solve(p, 192, 128)[0] - solve(p, **M)[0])/sig
print("shift by discretisation, in sd:", np.linalg.lstsq(J, e, rcond=None)[0]/sd)
write_reference("reference.json", **{
    "class": "nonlinear steady flow, 2D", "difficulty": "hard",
    "truth": dict(zip(NAMES, TRUTH.tolist())), "optimum": dict(zip(NAMES, p.tolist())), "sd": dict(zip(NAMES, sd.tolist())),
    "noise": "Gaussian, sd 0.15 m/year (GNSS) and 0.3 m/year (inclinometer), given for each value",
    "note": "viscosity falls with the strain rate as its power -2/3; a linear Robin condition on the bed, no slip at the margin; A is of the order 1e-8"})
