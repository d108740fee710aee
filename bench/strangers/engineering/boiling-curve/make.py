"""Quench of a silver probe in oil: C dT/dt = -q(T), T(0) = 800 degC; t(T) = C * integral dT/q by quadrature. The heat flux q(T) is unknown."""
import os, sys, json
import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
C, T0, Tlo, Thi, sigma = 4200.0, 800.0, 100.0, 800.0, 1.5
q_true = lambda T: 140.0 * (T - 80) + 560.0 * (T - 80) / (1 + np.exp((T - 400) / 25)) + 4.2e5 * np.exp(-((T - 490) / 75)**2)
t = np.arange(0.1, 24.01, 0.1)
G = np.linspace(T0, 81.0, 8001)
def temperature(q):
    """q on G; Simpson on the cubic interpolant of 1/q."""
    s = CubicSpline(-G, 1 / q).antiderivative(); tt = C * (s(-G) - s(-G[0]))
    return make_interp_spline(tt, G, 3)(t)
knots = np.linspace(Tlo, Thi, 36)
def q_of(c):
    s = CubicSpline(knots, c, bc_type="natural"); return np.exp(s(G.clip(Tlo, Thi)))
if __name__ == "__main__":
    from scipy.integrate import solve_ivp
    y = temperature(q_true(G)); z = solve_ivp(lambda s, T: -q_true(T) / C, (0, 24.1), [T0], t_eval=t, rtol=1e-11, atol=1e-9).y[0]
    print("quadrature against RK:", abs(y - z).max(), "end", y[-1], "greatest rate", -np.diff(y).min() / 0.1, "times", t[np.searchsorted(-y, [-600, -400, -300, -200])])
    rng = np.random.default_rng(19); d = np.round(y + sigma * rng.standard_normal(len(t)), 1)
    with open(here + "/probe.csv", "w") as f:
        f.write("time_s,T_C\n"); [f.write(f"{a:.1f},{b:.1f}\n") for a, b in zip(t, d)]
    B = np.linspace(Tlo, Thi, 701); K = len(knots); S2 = np.array([CubicSpline(knots, e, bc_type="natural")(B, 2) for e in np.eye(K)]).T * (Thi - Tlo)**2 / np.sqrt(len(B))
    def fit(lam, c):
        """min sum(r^2) + lam mean (d2 log q/dT2 * range^2)^2"""
        for _ in range(40):
            base = temperature(q_of(c)); J = np.array([(temperature(q_of(c + 1e-4 * e)) - base) / 1e-4 for e in np.eye(K)]).T / sigma; r = (base - d) / sigma
            step = np.linalg.solve(J.T @ J + lam * S2.T @ S2 + 1e-9 * np.eye(K), -J.T @ r - lam * S2.T @ (S2 @ c)); c = c + step.clip(-0.7, 0.7)
            if abs(step).max() < 1e-6: break
        edf = np.trace(np.linalg.solve(J.T @ J + lam * S2.T @ S2, J.T @ J)); return c, (r @ r), edf
    at = np.linspace(Tlo, Thi, 141); tr = q_true(at); c = np.full(K, np.log(1e5)); best = None
    for lam in 10.0**np.arange(0, -5.1, -0.5):
        c, F, edf = fit(lam, c); n = len(t); gcv = n * F / (n - edf)**2; e = np.exp(CubicSpline(knots, c, bc_type="natural")(at)); err = np.sqrt(((e - tr)**2).sum() / (tr**2).sum())
        print(f"  weight {lam:.1e} chi2 {F:.1f} edf {edf:.1f} gcv {gcv:.4f} error {err:.4f}")
        if best is None or gcv < best[0]: best = gcv, err, e, lam
    print("chosen", best[3], best[1])
    json.dump({"class": "ODE, function of a state", "difficulty": "easy", "truth": {}, "optimum": {}, "sd": {}, "functions": {"q": {"of": "T", "error": float(best[1]), "at": at.tolist(), "truth": [float(f"{v:.6g}") for v in tr], "optimum": [float(f"{v:.6g}") for v in best[2]]}}, "weight": float(best[3])}, open(here + "/reference.json", "w"), indent=1)
