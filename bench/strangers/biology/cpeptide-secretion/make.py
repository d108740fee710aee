import os, sys
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
from scipy.linalg import expm
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar
k01, k21, k12, V = 0.0613, 0.0478, 0.0541, 4.05
isr = lambda t: 95 + 330*np.exp(-((t - 38)/17)**2) + 230*np.exp(-((t - 105)/42)**2) + 60*np.exp(-((t - 205)/30)**2)
C0 = 395.0
A = np.array([[-(k01 + k21), k12], [k21, -k12]])
alltimes = np.array([0, 5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 90, 105, 120, 140, 160, 180, 210, 240, 270, 300.])
s = solve_ivp(lambda t, y: A @ y + [isr(t)/V, 0], (0, 300), [C0, k21/k12*C0], t_eval=alltimes, rtol=1e-10, atol=1e-8, max_step=1.0)
rng = np.random.default_rng(808)
y = np.round(s.y[0]*(1 + rng.normal(0, .045, len(alltimes)))); sd = np.round(.045*y, 1)
bad = np.isin(alltimes, [50, 140])
with open(os.path.join(here, "samples.csv"), "w") as f:
    f.write("min,Cpep_pM,sd_pM\n"); f.writelines("%g,%s,%s\n" % (t, "NA" if b else "%g" % v, "NA" if b else "%g" % q) for t, v, q, b in zip(alltimes, y, sd, bad))
times, d, sg = alltimes[~bad], y[~bad], sd[~bad]
def response(h):
    """C at the samples as a linear function of nodal values of ISR (linear between nodes) and C0: exact."""
    n = int(round(300/h)) + 1
    M = np.zeros((4, 4)); M[:2, :2] = A; M[0, 2] = 1/V; M[2, 3] = 1          # input f0 + slope*t
    E = expm(M*h); Y = np.zeros((2, n + 1)); Y[:, n] = [1, k21/k12]; out = np.zeros((len(times), n + 1))
    for i in range(n):
        for j in np.nonzero(np.abs(times - i*h) < 1e-9)[0]: out[j] = Y[0]
        if i == n - 1: break
        Y = E[:2, :2] @ Y
        Y[:, i] += E[:2, 2] - E[:2, 3]/h; Y[:, i+1] += E[:2, 3]/h
    return np.arange(n)*h, out
def estimate(h):
    t, R = response(h); n = len(t)
    D2 = np.zeros((n - 2, n + 1))
    for i in range(n - 2): D2[i, i:i+3] = np.array([1, -2, 1])/h**2*np.sqrt(h)
    W = R/sg[:, None]; b = d/sg
    def reml(ll):
        H = W.T @ W + np.exp(ll)*D2.T @ D2; x = np.linalg.solve(H, W.T @ b)
        return np.sum((W @ x - b)**2) + np.exp(ll)*np.sum((D2 @ x)**2) + np.linalg.slogdet(H)[1] - (n - 2)*ll
    grid = np.arange(-14, 12, .5); v = [reml(l) for l in grid]; k = int(np.argmin(v))
    ll = minimize_scalar(reml, bounds=(grid[max(k-1, 0)], grid[min(k+1, len(grid)-1)]), method="bounded", options=dict(xatol=1e-6)).x
    def at(ll):
        H = W.T @ W + np.exp(ll)*D2.T @ D2; return np.linalg.solve(H, W.T @ b), np.sqrt(np.diag(np.linalg.inv(H)))
    return t, ll, at, W, b
t, ll, at, W, b = estimate(2.5); x, dev = at(ll)
t1, l1, a1, *_ = estimate(1.25); x1, _ = a1(l1)
err = lambda t, f: np.sqrt(np.sum((f - isr(t))**2)/np.sum(isr(t)**2))
print("log weight", ll, l1, "chi2", np.sum((W @ x - b)**2), "of", len(b), "error", err(t, x[:-1]), err(t1, x1[:-1]), "C0", x[-1], x1[-1], dev[-1])
for q in (-2, -1, 1, 2): z, _ = at(ll + q); print("  weight e^%d: error %.4f C0 %.2f min %.1f" % (q, err(t, z[:-1]), z[-1], z[:-1].min()))
print(np.c_[t, isr(t), x[:-1], dev[:-1]][::8].round(0).tolist())
write(here, "cpeptide", ["C0"], [C0], [x[-1]], [dev[-1]], cls="unknown function, input over time", difficulty="awkward",
      functions={"ISR": {"of": "t", "at": t.tolist(), "truth": isr(t).tolist(), "error": float(err(t, x[:-1])), "independent": x[:-1].tolist()}},
      note="deconvolution from 19 samples, two lost, errors a part of the value; second-derivative penalty with the weight of largest evidence; the optimum of C0 belongs to that weight")
