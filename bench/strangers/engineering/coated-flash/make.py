"""Flash method on a coated plate: two layers, flash E/tp^2 t exp(-t/tp) on the coating, losses h T on both faces; exact by Laplace transform."""
import os, sys
import numpy as np
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
d, L, rcc, rcs, ks, tp = 0.315e-3, 1.895e-3, 2.7e6, 4.0e6, 11.4, 2.5e-3
names, truth, guess = ["kc", "E", "h"], [0.92, 6800.0, 46.0], [2.5, 4000.0, 15.0]
t = np.arange(0.02, 4.0001, 0.02)
def rear(par, M=28, t=t):
    kc, E, h = par
    def F(p):
        a1 = np.sqrt(p * rcc / kc); a2 = np.sqrt(p * rcs / ks); l2 = L - d
        # from the rear (T = 1, flux q = -k T_x = h) backwards through substrate and coating
        c, s = np.cosh(a2 * l2), np.sinh(a2 * l2)
        T, q = c + h * s / (ks * a2), ks * a2 * s + h * c
        c, s = np.cosh(a1 * d), np.sinh(a1 * d)
        T, q = c * T + s * q / (kc * a1), kc * a1 * s * T + c * q
        return E / (1 + p * tp)**2 / (q + h * T)
    return talbot(F, t, M)
def fv(par, n1, n2):
    """Cells aligned with the interface."""
    from scipy.integrate import solve_ivp
    from scipy.sparse import diags
    kc, E, h = par
    dx = np.r_[np.full(n1, d / n1), np.full(n2, (L - d) / n2)]; k = np.r_[np.full(n1, kc), np.full(n2, ks)]; rc = np.r_[np.full(n1, rcc), np.full(n2, rcs)]
    g = 1 / (dx[1:] / 2 / k[1:] + dx[:-1] / 2 / k[:-1]); C = rc * dx
    r0, r1 = dx[0] / 2 / kc, dx[-1] / 2 / ks
    main = np.zeros(n1 + n2); main[:-1] -= g; main[1:] -= g; main[0] -= h / (1 + h * r0); main[-1] -= h / (1 + h * r1)
    A = diags([main / C, g / C[:-1], g / C[1:]], [0, 1, -1]).tocsc(); b = np.zeros(n1 + n2); b[0] = 1 / (1 + h * r0) / C[0]
    s = solve_ivp(lambda x, y: A @ y + b * E * x / tp**2 * np.exp(-x / tp), (0, 4.0), np.zeros(n1 + n2), method="BDF", t_eval=t, jac=A, rtol=1e-8, atol=1e-9, max_step=0.02)
    return s.y[-1] / (1 + h * r1)
if __name__ == "__main__":
    y = rear(truth); print("FV against Laplace:", [abs(fv(truth, n, 2 * n) - y).max() for n in (30, 60)], "Talbot 20/28", abs(rear(truth, 20) - y).max(), "peak", y.max())
    rng = np.random.default_rng(12)
    sigma = 0.012; v = np.round(y + sigma * rng.standard_normal(len(t)), 4)
    with open(here + "/rear.csv", "w") as f:
        f.write("t,dT_K\n"); [f.write(f"{a:.2f},{b:.4f}\n") for a, b in zip(t, v)]
    res = lambda p: rear(p) - v
    o, cov, r = lsq(res, truth); o2, _, _ = lsq(res, [1.5, 5000, 25])
    s2 = (r**2).sum() / (len(t) - 3)
    report(here, names, truth, o, cov * s2, "diffusion, two layers", "easy", o2, sigma_estimated=float(s2**.5))
