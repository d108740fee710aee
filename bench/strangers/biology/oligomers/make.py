import os, sys
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
from scipy.integrate import solve_ivp
names = ["kn", "kp", "kd", "gain"]; truth = np.array([2.2e-4, 5.5e-3, 0.011, 0.034]); N = 12
t1 = np.array([2, 5, 10, 15, 20, 30, 40, 60, 80, 100, 120, 150, 180, 240.]); t2 = np.arange(4, 241, 4.)
grid = np.union1d(t1, t2)
def model(th, rtol=1e-10):
    kn, kp, kd, gain = th
    def rhs(t, c):
        J = np.empty(N - 1); J[0] = kn*c[0]**2 - kd*c[1]; J[1:] = kp*c[0]*c[1:-1] - kd*c[2:]
        d = np.zeros(N); d[1:] += J; d[1:-1] -= J[1:]; d[0] = -2*J[0] - J[1:].sum(); return d
    s = solve_ivp(rhs, (0, 240), [20.] + [0.]*(N-1), t_eval=grid, rtol=rtol, atol=1e-13, method="LSODA")
    return [s.y[0][np.searchsorted(grid, t1)], gain*(np.arange(1, N+1)**2 @ s.y)[np.searchsorted(grid, t2)]]
rng = np.random.default_rng(404)
m = model(truth); print(m[0], m[1][::10])
data = [np.round(m[0] + rng.normal(0, .25, len(t1)), 2), np.round(m[1] + rng.normal(0, .12, len(t2)), 3)]
for f, h, t, d in (("sec.csv", "min,monomer_uM", t1, data[0]), ("light.csv", "min,intensity", t2, data[1])):
    with open(os.path.join(here, f), "w") as o: o.write(h + "\n"); o.writelines("%g,%g\n" % r for r in zip(t, d))
th, sd, noise, crit = fit(model, data, [None, None], truth, [True]*4)
fit(model, data, [None, None], truth*[2, .6, 2, .7], [True]*4)
print("tolerance shift", [np.max(np.abs(a-b)) for a, b in zip(model(th), model(th, 1e-8))])
write(here, "oligomers", names, truth, th, sd, cls="ODE, reaction network", difficulty="easy", noise=noise, note="twelve species, two instruments, one with unknown gain; guesses a factor 3 to 5 off")
