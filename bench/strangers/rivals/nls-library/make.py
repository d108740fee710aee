import os, sys
HERE = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(HERE))
from common import *
XS, TS = np.arange(-8, 7.61, .4), np.arange(.1, 1.51, .1)

def solve(a, b, g, n=256, per=60):
    """psi_t = i a psi_xx + i b |psi|^2 psi - g psi: RK4 in the interaction picture, Fourier in x."""
    x = -8 + 16 * np.arange(n) / n
    k = 2 * np.pi * np.fft.fftfreq(n, 16 / n)
    h = .1 / per
    E = np.exp((-1j * a * k**2 - g) * h / 2)
    N = lambda w: 1j * b * np.fft.fft(np.abs(q := np.fft.ifft(w))**2 * q)
    w = np.fft.fft(2 / np.cosh(x) + 0j)
    back = np.exp(1j * np.outer(XS + 8, k)) / n
    out = []
    for _ in TS:
        for _ in range(per):
            v = E * w
            k1 = E * N(w); k2 = N(v + h / 2 * k1); k3 = N(v + h / 2 * k2); k4 = N(E * (v + h * k3))
            w = E * (v + h / 6 * (k1 + 2 * k2 + 2 * k3)) + h / 6 * k4
        out.append(back @ w)
    u = np.array(out).T.ravel()      # x outer, t inner
    return u.real, u.imag

truth = [.5, 1., .05]
rng = np.random.default_rng(404)
r, i = solve(*truth)
g = [(x, t) for x in XS for t in TS]
with open(HERE + "/field.csv", "w") as f:
    f.write("x,t,re,im\n")
    for (x, t), u, v in zip(g, r + .05 * rng.normal(size=len(r)), i + .05 * rng.normal(size=len(i))):
        f.write(f"{x:.4g},{t:.4g},{u:.4f},{v:.4f}\n")
d = np.loadtxt(HERE + "/field.csv", delimiter=",", skiprows=1)
def blocks(n, per):
    return lambda p: [u - w for u, w in zip(solve(*p, n=n, per=per), (d[:, 2], d[:, 3]))]
p, sd, cov, s, dev = fit(blocks(256, 60), truth)
q, dq = fit(blocks(256, 60), [.45, 1.1, 0.])[0::4]
fine = fit(blocks(512, 120), p)[0]
far = least_squares(lambda p: np.concatenate(blocks(256, 30)(p)), [.8, .6, 0.], max_nfev=80)
write(HERE, ["a", "b", "g"], truth, p, sd, sigma=s, deviance=dev, second_start_sd=compare(p, sd, q), finer_sd=compare(p, sd, fine), local_fit_from_guess=far.x.tolist(), difficulty="easy", **{"class": "waves and transport"}, note="nonlinear Schroedinger as two real fields, one library term starting at zero; the pulse focusses to twice its height")
