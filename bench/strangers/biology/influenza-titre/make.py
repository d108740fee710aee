import os, sys
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.stats import norm
names = ["beta", "delta", "p", "V0"]; truth = np.array([1.1e-5, 2.1, 0.033, 0.7])
times = np.array([.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9.])
T0, c, LOD = 4e8, 10.0, 0.7
def model(th, rtol=1e-10):
    beta, delta, p, V0 = th
    # the stated model with log(T/T0) in place of T
    def rhs(t, y):
        lT, I, V = y
        inf = beta*T0*np.exp(lT)*V
        return [-beta*V, inf - delta*I, p*I - c*V]
    s = solve_ivp(rhs, (0, 9), [0., 0., V0], t_eval=times, rtol=rtol, atol=[1e-12, 1e-8, 1e-12], method="LSODA")
    return np.log10(np.maximum(s.y[2], 1e-30))
rng = np.random.default_rng(203)
y = model(truth) + rng.normal(0, .3, len(times))
y = np.round(np.where(y <= LOD, LOD, y), 2)
with open(os.path.join(here, "titre.csv"), "w") as f:
    f.write("day,log10_titre\n"); f.writelines("%g,%g\n" % r for r in zip(times, y))
print(np.c_[times, model(truth), y])
cens = y <= LOD
def nll(z):
    m, s = model(np.exp(z[:4])), np.exp(z[4])
    a = (y - m)/s
    return -2*(np.sum(norm.logpdf(a[~cens]) - np.log(s)) + np.sum(norm.logcdf((LOD - m[cens])/s)))
def hessian(f, z, h):
    n = len(z); H = np.zeros((n, n)); E = np.eye(n)*h
    for i in range(n):
        for j in range(i+1):
            H[i, j] = H[j, i] = (f(z+E[i]+E[j]) - f(z+E[i]-E[j]) - f(z-E[i]+E[j]) + f(z-E[i]-E[j]))/(4*h*h)
    return H
def newton(start):
    """BFGS in logarithms, then Newton's method with a difference Hessian."""
    z = np.append(np.log(start), np.log(.3))
    r = minimize(nll, z, method="BFGS", options=dict(gtol=1e-4, eps=1e-5))
    z = r.x
    for k in range(6):
        H = hessian(nll, z, 3e-3); g = np.array([(nll(z + e) - nll(z - e))/6e-4 for e in np.eye(5)*3e-4])
        step = np.linalg.solve(H, -g); t = 1.0
        while t > 1e-3 and not nll(z + t*step) <= nll(z) + 1e-9: t /= 2
        z = z + t*step
        if np.max(np.abs(step)) < 1e-5: break
    print("  ", np.exp(z), nll(z), "last step", np.max(np.abs(step)), flush=True)
    return z, H
z, H = newton(truth); z2, _ = newton(truth*[.5, 1.5, 2, 3])
cov = np.linalg.inv(H/2); sdlog = np.sqrt(np.diag(cov)); th = np.exp(z)
print("sd log", sdlog, "second start off by", (z2 - z)/sdlog, "tol shift", np.max(np.abs(model(th[:4]) - model(th[:4], 1e-12))))
write(here, "influenza", names, truth, th[:4], sdlog[:4]*th[:4], cls="ODE, within-host", difficulty="hard", noise=[float(th[4])], censored=int(cens.sum()),
      note="guesses a factor 3 to 17 off, scales from 1e-6 to 4e8, only the virus is seen, values below the detection limit, sigma estimated")
