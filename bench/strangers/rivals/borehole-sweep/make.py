import os, sys
HERE = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(HERE))
from common import *
ZS, TS = np.array([.1, .3, .5, .7, .9]), np.arange(1, 71) * .01
ricker = lambda t: (1 - 2 * (np.pi * 10 * (t - .15))**2) * np.exp(-(np.pi * 10 * (t - .15))**2)

def leapfrog(c1, c2, zi, n):
    """Conservative leapfrog on n cells, n/20 steps per 0.01 s; Mur's condition (second order) at the bottom."""
    k = n // 20
    h, dt = 1 / n, .01 / k
    zh = (np.arange(n) + .5) * h
    c = c1 + (c2 - c1) / (1 + np.exp(-(zh - zi) / .03))
    a = c**2 * (dt / h)**2
    u0 = np.zeros(n + 1); u0[0] = ricker(0.)
    flux = a * np.diff(u0)
    u1 = u0.copy(); u1[1:-1] += .5 * np.diff(flux); u1[0] = ricker(dt)
    j = np.rint(ZS * n).astype(int)
    m = (c2 * dt - h) / (c2 * dt + h)
    out, step = [], 1
    while True:
        if step % k == 0:
            out.append(u1[j])
            if len(out) == len(TS):
                return np.array(out).T.ravel()
        u2 = np.empty(n + 1)
        u2[1:-1] = 2 * u1[1:-1] - u0[1:-1] + np.diff(a * np.diff(u1))
        u2[0] = ricker((step + 1) * dt)
        u2[-1] = u1[-2] + m * (u2[-2] - u1[-1])
        u0, u1, step = u1, u2, step + 1

def solve(p, n=800):
    """Richardson's extrapolation of two grids."""
    return (4 * leapfrog(*p, 2 * n) - leapfrog(*p, n)) / 3

truth = [1.8, 3.0, .45]
rng = np.random.default_rng(505)
u = solve(truth, 1600)
g = [(z, t) for z in ZS for t in TS]
with open(HERE + "/traces.csv", "w") as f:
    f.write("z,t,value\n")
    for (z, t), w in zip(g, u + .05 * rng.normal(size=len(u))):
        f.write(f"{z:g},{t:.4g},{w:.4f}\n")
d = np.loadtxt(HERE + "/traces.csv", delimiter=",", skiprows=1)[:, 2]
blocks = lambda n: lambda p: [solve(p, n) - d]
p, sd, cov, s, dev = fit(blocks(400), truth, [.05])
q = fit(blocks(400), [1.77, 3.1, .46], [.05])[0]
fine = fit(blocks(800), p, [.05])[0]
far = least_squares(lambda p: (solve(p, 200) - d) / .05, [1.5, 2.5, .6], bounds=([.5, .5, .1], [4, 4, .9]), max_nfev=60)
write(HERE, ["c1", "c2", "zi"], truth, p, sd, deviance=dev, second_start_sd=compare(p, sd, q), finer_sd=compare(p, sd, fine), local_fit_from_guess={"p": far.x.tolist(), "deviance": float(2 * far.cost)}, difficulty="hard", **{"class": "waves and transport"}, note="10 Hz Ricker wavelet through two layers; from the guess the traces are skipped by a period")
