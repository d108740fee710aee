"""Time-domain reflectometry of a lossy cable: telegrapher's equations, a smooth step through 50 ohm, a resistive load; exact in the Laplace domain.
V_x = -(L I_t + R I), I_x = -C V_t; V(0) = Vs - Rs I(0); V(len) = RL I(len). Units V, A, ns, m, nH, nF, ohm, S."""
import os, sys
import numpy as np
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
L, Rs, ln, t0, w, sigma = 250.0, 50.0, 32.0, 40.0, 9.0, 0.02
names, truth, guess = ["C", "R", "RL"], [0.101, 0.42, 135.0], [0.075, 0.1, 50.0]
t = np.arange(4.0, 640.1, 4.0)
def scope(par, n=8192, T=4096.0, a=0.006):
    C, R, RL = par; G = 0.0
    om = 2 * np.pi / T * np.arange(n // 2 + 1); p = a + 1j * om
    Vs = 5 / p * np.exp(-p * t0 + p**2 * w**2 / 4)
    Z = np.sqrt((R + p * L) / (G + p * C)); g = np.sqrt((R + p * L) * (G + p * C))
    rho = (RL - Z) / (RL + Z) * np.exp(-2 * g * ln); Zin = Z * (1 + rho) / (1 - rho)
    V = Vs * Zin / (Zin + Rs)
    f = np.fft.irfft(V, n) * n / T; x = np.arange(n) * T / n
    f = f * np.exp(a * x)
    return np.interp(t, x, f) if n % 4096 else f[np.round(t / (T / n)).astype(int)]
def characteristics(par, N):
    """Second-order scheme along characteristics, cross-check."""
    from scipy.special import erf
    C, R, RL = par; G = 0.0; Z = np.sqrt(L / C); c = 1 / np.sqrt(L * C); dx = ln / N; dt = dx / c
    V = np.zeros(N + 1); I = np.zeros(N + 1); out = [0.0]; ts = [0.0]
    # along dx/dt = +-c: d(V +- Z I) = -c (R I +- Z G V) dt ... trapezoidal
    for k in range(1, int(660 / dt)):
        tt = k * dt; h = dt * c / 2
        Wp = V[:-1] + Z * I[:-1] - h * (R * I[:-1] + Z * G * V[:-1])   # arrives at 1..N
        Wm = V[1:] - Z * I[1:] + h * (R * I[1:] - Z * G * V[1:])       # arrives at 0..N-1
        Vn = np.empty(N + 1); In = np.empty(N + 1); a, b = 1 + h * Z * G, Z + h * R
        Vn[1:-1] = (Wp[:-1] + Wm[1:]) / (2 * a); In[1:-1] = (Wp[:-1] - Wm[1:]) / (2 * b)
        vs = 2.5 * (1 + erf((tt - t0) / w))
        In[0] = (a * vs - Wm[0]) / (a * Rs + b); Vn[0] = vs - Rs * In[0]
        In[-1] = Wp[-1] / (a * RL + b); Vn[-1] = RL * In[-1]
        V, I = Vn, In; out.append(V[0]); ts.append(tt)
    from scipy.interpolate import CubicSpline
    return CubicSpline(ts, out)(t)
if __name__ == "__main__":
    y = scope(truth); print("characteristics against Laplace:", [abs(characteristics(truth, n) - y).max() for n in (200, 400)], "other FFT", abs(scope(truth, 16384, 8192.0, 0.003) - y).max())
    rng = np.random.default_rng(13)
    v = np.round(y + sigma * rng.standard_normal(len(t)), 3)
    with open(here + "/scope.csv", "w") as f:
        f.write("time_ns;volt\n"); [f.write(f"{a:g};{b:.3f}\n".replace(".", ",")) for a, b in zip(t, v)]
    res = lambda p: (scope(p) - v) / sigma
    o, cov, r = lsq(res, truth); o2, _, _ = lsq(res, [0.095, 0.3, 100.0])
    report(here, names, truth, o, cov, "wave, telegrapher", "easy", o2, deviance=float((r**2).sum()))
