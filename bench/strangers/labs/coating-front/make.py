import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from common import fit, reference, grid_error, table, read

rho, g, tilt, H, x0, width, L = 970.0, 9.81, np.pi / 3, 0.5, 8.0, 1.0, 40.0    # mm, s
names = ["mu", "gamma", "b"]
truth = np.array([0.95, 0.0208, 6.5e-5])
times = np.array([6.0, 14.0, 22.0, 30.0])


def solve(theta, n=800, rtol=1e-6):
    mu, gamma, b = theta
    b = b * 1e3                                            # mm
    dx = L / n
    x = np.linspace(0, L, n + 1)
    # h in mm, x in mm: q [mm^2/s] = 1e6 * h^3 1e-9/(3 mu) * (rho g s - rho g c h_x + gamma h_xxx 1e6)
    k = 1e-3 / (3 * mu)
    s, c, gam = rho * g * np.sin(tilt), rho * g * np.cos(tilt), gamma * 1e6

    def f(t, u):
        h = np.empty(n + 3)                                # ghosts by h_x = 0 at the ends
        h[1], h[-2] = H, b
        h[2:-2] = u
        h[0], h[-1] = h[2], h[-3]
        a = 0.5 * (h[1:-2] + h[2:-1])
        q = k * a ** 3 * (s - c * (h[2:-1] - h[1:-2]) / dx + gam * (h[3:] - 3 * h[2:-1] + 3 * h[1:-2] - h[:-3]) / dx ** 3)
        return -(q[1:] - q[:-1]) / dx

    h0 = b + (H - b) / 2 * (1 - np.tanh((x - x0) / width))
    r = solve_ivp(f, (0, times[-1]), h0[1:-1], method="LSODA", rtol=rtol, atol=1e-8, lband=2, uband=2, t_eval=times)
    y = np.vstack([np.full(len(times), H), r.y, np.full(len(times), b)])
    return x, y


def model(theta, xd, td, n=800):
    x, y = solve(theta, n)
    out = np.empty(xd.size)
    for j, t in enumerate(times):
        m = np.abs(td - t) < 1e-9
        out[m] = 1e3 * CubicSpline(x, y[:, j])(xd[m] * 1e3)
    return out


def rich(theta, xd, td, n=800):
    return [(4 * model(theta, xd, td, 2 * n) - model(theta, xd, td, n)) / 3]


if __name__ == "__main__":
    import time
    rng = np.random.default_rng(404)
    xs = np.round(np.arange(2.0, 38.1, 0.75) * 1e-3, 6)
    xd, td = np.tile(xs, 4), np.repeat(times, xs.size)
    t0 = time.time()
    v = rich(truth, xd, td, 1200)[0]
    print(time.time() - t0, "max", v.max(), "richardson", np.abs(v - rich(truth, xd, td, 500)[0]).max(), np.abs(v - model(truth, xd, td, 1000)).max())
    v = v + 18.0 * rng.standard_normal(v.size)
    table("profiles.csv", "time_s,pos_m,thickness_um", zip(td, xd, v), ["%.1f", "%.5f", "%.1f"])
    _, raw = read("profiles.csv")
    td, xd, v = raw.T
    opt, sd, chi2, noise = fit(lambda th: rich(th, xd, td, 400), [v], truth, [None], names, rel_step=1e-3)
    print(time.time() - t0)
    grid_error(rich(opt, xd, td, 400), rich(opt, xd, td, 800), sd, truth, names)
    print(time.time() - t0)
    reference(names, truth, opt, sd, **{"class": "thin film: nonlinear partial differential equation of fourth order, moving front with a capillary ridge", "difficulty": "hard",
              "noise": "Gaussian, 18 um on every thickness; sigma not stated", "chi2": chi2, "estimated_noise": noise,
              "note": "lubrication equation in SI; the ridge is 2 mm of 40 mm, the guess moves the front at less than half the speed"})
