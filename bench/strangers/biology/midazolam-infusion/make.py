import os, sys
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
from scipy.integrate import solve_ivp
names = ["V", "CL", "kf", "km"]; truth = np.array([72.0, 27.0, 0.16, 0.62])
times = np.array([0.25, 0.5, 1, 2, 4, 6, 6.5, 7, 8, 10, 12, 12.5, 13, 14, 16, 18, 20, 24.])
pieces = [(0, .5, 10.), (.5, 6, 2.), (6, 12, 0.), (12, 12.5, 10.), (12.5, 24, 0.)]
def model(th, rtol=1e-11):
    V, CL, kf, km = th; y = np.zeros(2); out = {}
    for a, b, R in pieces:
        te = times[(times > a) & (times <= b)]
        s = solve_ivp(lambda t, y: [1000*R/V - CL/V*y[0], kf*y[0] - km*y[1]], (a, b), y, t_eval=np.unique(np.append(te, b)), rtol=rtol, atol=1e-12, method="DOP853")
        for t, v in zip(s.t, s.y.T): out[t] = v
        y = s.y[:, -1]
    v = np.array([out[t] for t in times])
    return [np.log(v[:, 0]), np.log(v[:, 1])]
rng = np.random.default_rng(101)
C, M = [np.exp(m) for m in model(truth)]
C = C*np.exp(rng.normal(0, .09, len(C))); M = M*np.exp(rng.normal(0, .14, len(M)))
rows = [(t, float("%.3g" % c), float("%.3g" % m)) for t, c, m in zip(times, C, M)]
with open(os.path.join(here, "plasma.csv"), "w") as f:
    f.write("time_h,MDZ_ugL,OHMDZ_ugL\n"); f.writelines("%g,%g,%g\n" % r for r in rows)
data = [np.log([r[1] for r in rows]), np.log([r[2] for r in rows])]
th, sd, noise, crit = fit(model, data, [None, None], truth, [True]*4)
fit(model, data, [None, None], truth*[2, .5, 2, .5], [True]*4)
print("tolerance shift", [np.max(np.abs(a-b)) for a, b in zip(model(th), model(th, 1e-8))])
write(here, "midazolam", names, truth, th, sd, cls="ODE with a switched input", difficulty="easy", noise=noise, note="pump schedule with five pieces; lognormal errors of two assays, sizes estimated")
