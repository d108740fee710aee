"""A chlorinated solvent plume in two dimensions: dispersion, flow, decay; non-detects. Cosine series across, Laplace transform along.
c_t + v c_x = aL v c_xx + aT v c_yy - lam c; c(0,y) = c0 exp(-((y-y0)/w)^2); c_x(Lx) = 0; c_y = 0 at the sides; c = 0 at the start."""
import os, sys
import numpy as np
from scipy.special import log_ndtr
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
Lx, W, c0, y0, w, DL, sigma = 300.0, 120.0, 38.0, 52.0, 13.0, 0.02, 0.25
names, truth, guess = ["v", "aL", "aT", "lam"], [0.115, 7.4, 0.62, 5.2e-4], [0.3, 15.0, 3.0, 2e-3]
wells = np.array([[15, 52], [15, 75], [40, 40], [40, 60], [75, 52], [75, 80], [75, 30], [120, 48], [120, 66], [170, 55], [170, 35], [170, 90], [230, 52], [280, 60]], float)
days = np.array([400, 830, 1290, 1750, 2210, 2740, 3300], float)
yy = np.linspace(0, W, 4001); src = c0 * np.exp(-((yy - y0) / w)**2)
from scipy.integrate import simpson
NM = 60
coef = np.array([simpson(src * np.cos(n * np.pi * yy / W), x=yy) * (1 if n == 0 else 2) / W for n in range(NM)])
def conc(par, M=24, nm=NM, pts=wells, days=days):
    v, aL, aT, lam = par; D = aL * v; kn = np.arange(nm) * np.pi / W; s = lam + aT * v * kn**2
    X = np.unique(pts[:, 0]); cos = np.cos(np.outer(pts[:, 1], kn)) * coef[:nm]
    ix = np.searchsorted(X, pts[:, 0])
    def F(p):
        q = np.sqrt(v**2 + 4 * D * (p[None, :] + s[:, None])); r1, r2 = (v + q) / (2 * D), (v - q) / (2 * D)
        x = X[:, None, None]
        # A e^{r2 x} + B e^{r1 (x - L)}, A + B e^{-r1 L} = 1/p, A r2 e^{r2 L} + B r1 = 0
        b = -r2 / r1 * np.exp(r2 * Lx); A = 1 / p / (1 + b * np.exp(-r1 * Lx))
        return A * (np.exp(r2 * x) + b * np.exp(r1 * (x - Lx)))
    g = talbot(F, days, M)                     # days, X, modes
    return np.einsum("dwn,wn->wd", g[:, ix, :], cos)
def fd(par, nx, ny, nt):
    """Cross-check: central differences, Crank-Nicolson after four implicit Euler half steps."""
    from scipy.sparse import diags, identity, kron
    from scipy.sparse.linalg import splu
    from scipy.interpolate import RegularGridInterpolator
    v, aL, aT, lam = par; D = aL * v; h = Lx / nx; k = W / ny; n, m = nx, ny + 1
    lo, up = np.full(n - 1, D / h**2 + v / (2 * h)), np.full(n - 1, D / h**2 - v / (2 * h)); main = np.full(n, -2 * D / h**2)
    lo[-1] = 2 * D / h**2; Ax = diags([main, lo, up], [0, -1, 1])
    a = np.ones(m - 1); u2, l2 = a.copy(), a.copy(); u2[0] = 2; l2[-1] = 2; Ay = diags([-2 * np.ones(m), l2, u2], [0, -1, 1]) * (aT * v / k**2)
    A = (kron(Ax, identity(m)) + kron(identity(n), Ay) - lam * identity(n * m)).tocsc(); yg = np.linspace(0, W, m)
    left = c0 * np.exp(-((yg - y0) / w)**2); b = np.zeros(n * m); b[:m] = (D / h**2 + v / (2 * h)) * left
    T = days[-1]; dt = T / nt; I = identity(n * m).tocsc(); cn = splu((I - dt / 2 * A).tocsc()); c = np.zeros(n * m); out = []; prev = c; tt = 0; di = 0
    for j in range(nt):
        if j < 2:
            c1 = cn.solve(cn.solve(c + dt / 2 * b) + dt / 2 * b)
        else: c1 = cn.solve(c + dt / 2 * (A @ c) + dt * b)
        while di < len(days) and days[di] <= tt + dt + 1e-9:
            f = (days[di] - tt) / dt; cc = np.vstack([left, ((1 - f) * c + f * c1).reshape(n, m)])
            out.append(RegularGridInterpolator((np.linspace(0, Lx, n + 1), yg), cc, method="cubic")(wells)); di += 1
        c = c1; tt += dt
    return np.array(out).T
if __name__ == "__main__":
    y = conc(truth); f = fd(truth, 150, 60, 300)
    big = y > DL / 2
    print("log difference to FD where above DL/2:", abs(np.log(f[big] / y[big])).max(), "Talbot 20, 28:", [abs(np.log(conc(truth, M)[big] / y[big])).max() for M in (20, 28)])
    print("smallest", y.min(), "share below DL", (y < DL).mean()); print(y.round(3))
    rng = np.random.default_rng(16)
    d = y.clip(1e-12) * np.exp(sigma * rng.standard_normal(y.shape)); nd = d < DL; d = np.where(nd, DL, np.array([float(f"{a:.3g}") for a in d.ravel()]).reshape(d.shape))
    lim = np.log(DL)
    with open(here + "/wells.csv", "w") as fo:
        fo.write("well,x_m,y_m,day,c_mg_L,flag,ln_c\n")
        for i, (a, b) in enumerate(wells):
            for j, s in enumerate(days): fo.write(f"MW{i+1:02d},{a:g},{b:g},{s:g},{d[i, j]:.3g},{'<' if nd[i, j] else ''},{np.log(d[i, j]):.5f}\n")
    ln = np.round(np.log(d), 5); lim = np.round(lim, 5)
    def nll(p):
        if min(p) <= 0: return 1e9
        mdl = np.log(conc(p).clip(1e-300))
        return (0.5 * ((mdl - ln) / sigma)[~nd]**2).sum() - log_ndtr((lim - mdl[nd]) / sigma).sum()
    o, cov, fmin = mle(nll, truth); o2, _, f2 = mle(nll, [0.14, 10.0, 1.0, 8e-4])
    print("censored", nd.sum(), "of", nd.size, "nll", fmin, f2)
    report(here, names, truth, o, cov, "advection-diffusion, 2D", "awkward", o2, deviance=2 * fmin)
