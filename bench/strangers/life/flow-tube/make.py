"""Loss of a gas at the coated wall of a flow tube (laminar, radial and axial diffusion): finite volumes in r and z, sparse LU."""
import sys, time; sys.path.insert(0, ".."); import numpy as np
import scipy.sparse as sp, scipy.sparse.linalg as sl
from common import fit, write
R, Lz, cbar = 1.1, 26.0, 3.2e4          # cm, cm, cm/s
runs = {"low": (1.0, 1150.0), "mid": (2.0, 900.0), "high": (4.0, 700.0)}     # Torr, mean velocity in cm/s
bg = 12.0

def solve(Dp, gamma, p, U, nr=36, nz=180):
    D = Dp/p
    kw = gamma*cbar/4/(1-gamma/2)
    s = np.linspace(0, 1, nr+1); re = R*(1-(1-s)**1.5)          # finer at the wall
    q = np.linspace(0, 1, nz+1); ze = Lz*(np.exp(3.5*q)-1)/(np.exp(3.5)-1)
    rc, zc = (re[1:]+re[:-1])/2, (ze[1:]+ze[:-1])/2
    dr, dz = np.diff(re), np.diff(ze)
    A = (re[1:]**2-re[:-1]**2)/2                                # ring areas / 2 pi
    u = 2*U*(1-(re[1:]**2+re[:-1]**2)/2/R**2)                   # exact mean over the ring
    # radial operator (per unit z), axial operator (per unit ring)
    gr = D*re[1:-1]/np.diff(rc)
    Kr = sp.diags([-np.r_[gr, 0]-np.r_[0, gr], gr, gr], [0, 1, -1]).tolil()
    Kr[-1, -1] -= R/(1/kw + (R-rc[-1])/D); Kr = Kr.tocsr()
    gz = D/np.diff(zc)
    d0 = np.zeros(nz); d0[:-1] -= gz; d0[1:] -= gz; d0[0] -= D/(zc[0]-ze[0])
    Kz = sp.diags([d0, gz, gz], [0, 1, -1])
    w = (ze[1:-1]-zc[:-1])/np.diff(zc)                          # face value = (1-w) c_i + w c_{i+1}
    e0 = np.zeros(nz); e0[:-1] += 1-w; e0[-1] += 1; e0[1:] -= w
    Cz = sp.diags([e0, w, -(1-w)], [0, 1, -1])
    M = sp.kron(Kr, sp.diags(dz)) + sp.kron(sp.diags(A), Kz) - sp.kron(sp.diags(A*u), Cz)
    b = np.zeros((nr, nz)); b[:, 0] = -A*(D/(zc[0]-ze[0]) + u)
    c = sl.spsolve(M.tocsc(), b.ravel()).reshape(nr, nz)
    cup = (A*u) @ c/(A*u).sum()
    return zc, cup
def cupat(Dp, gamma, p, U, z, **k):
    from scipy.interpolate import CubicSpline
    zc, cup = solve(Dp, gamma, p, U, **k)
    return np.exp(CubicSpline(np.r_[0, zc], np.log(np.r_[1, cup]))(z))
zs = {"low": np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 17, 20.]), "mid": np.array([1, 2, 3, 4, 6, 8, 10, 12, 15, 18.]),
      "high": np.array([1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 18.])}
truth = {"Dp": 290.0, "gamma": 0.021, "S@low": 5200.0, "S@mid": 4300.0, "S@high": 6100.0}
t0 = time.time()
def model(P, **k): return {n: bg + P["S@"+n]*cupat(P["Dp"], P["gamma"], *runs[n], zs[n], **k) for n in runs}
a = model(truth); print("s", time.time()-t0); m = model(truth, nr=72, nz=360); f = model(truth, nr=108, nz=540)
for n in runs: print(n, "grid error / sqrt(count)", (abs(a[n]-f[n])/np.sqrt(f[n])).max(), (abs(m[n]-f[n])/np.sqrt(f[n])).max(), f[n].round(0))
g = np.random.default_rng(8)
d = {n: g.poisson(f[n]) for n in runs}
for n in runs:
    o = g.permutation(len(zs[n])) if n == "mid" else np.arange(len(zs[n]))      # injector positions in random order on that day
    open(f"injector_{n}.csv", "w").write(f"# pressure {runs[n][0]} Torr, mean velocity {runs[n][1]:g} cm/s\ninjector_cm,counts\n" + "".join(f"{zs[n][i]:g},{d[n][i]}\n" for i in o))
def resid(P):                                                   # signed deviance residuals: maximum likelihood
    mm = model(P); out = []
    for n in runs:
        k, mu = d[n], mm[n]
        dev = 2*(mu-k+np.where(k > 0, k*np.log(np.maximum(k, 1)/mu), 0))
        out.append(np.sign(mu-k)*np.sqrt(np.maximum(dev, 0)))
    return np.concatenate(out)
t0 = time.time(); opt, sd = fit(resid, list(truth), truth); print("fit", time.time()-t0)
write("reference.json", "pde-2d-steady (r,z), Robin wall, Poisson counts, three experiments", "medium", truth, opt, sd, ["poisson"]*3,
      "coated-wall flow tube: diffusion coefficient at 1 Torr and uptake coefficient from mixing-cup counts at three pressures, sensitivity of each day unknown")
