import os, sys
HERE = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(HERE))
from common import *
from scipy.integrate import solve_ivp
TS = np.array([t for w in ((0.5, 3), (5, 8), (9.5, 12), (14, 17), (18, 20)) for t in np.arange(w[0], w[1] + 1e-9, .25)])

def solve(mu, vx, vy, rtol=1e-10):
    def rhs(t, s):
        r3 = (s[0]**2 + s[1]**2)**1.5
        return [s[2], s[3], -mu * s[0] / r3, -mu * s[1] / r3]
    sol = solve_ivp(rhs, (0, 20), [1.2, 0, vx, vy], method="DOP853", t_eval=TS, rtol=rtol, atol=rtol / 10)
    return np.hypot(sol.y[0] - 2, sol.y[1] - 1)

truth = [1.1, 0.1, 0.7]
rng = np.random.default_rng(202)
sig = np.where(rng.uniform(size=len(TS)) < .3, .05, .02)
z = solve(*truth) + sig * rng.normal(size=len(TS))
with open(HERE + "/ranges.csv", "w") as f:
    f.write("t,value,sigma\n")
    for row in zip(TS, z, sig):
        f.write("%g,%.4f,%g\n" % row)
d = np.loadtxt(HERE + "/ranges.csv", delimiter=",", skiprows=1)
def blocks(rtol):
    return lambda p: [(solve(*p, rtol=rtol) - d[:, 1]) / d[:, 2]]
p, sd, cov, s, dev = fit(blocks(1e-10), truth, [1.])
q = fit(blocks(1e-10), [1.12, .09, .69], [1.])[0]
fine = fit(blocks(1e-12), p, [1.])[0]
wrong = least_squares(blocks(1e-9).__call__ if False else (lambda p: blocks(1e-8)(p)[0]), [1., 0., 1.], max_nfev=60)
write(HERE, ["mu", "vx", "vy"], truth, p, sd, deviance=dev, second_start_sd=compare(p, sd, q), finer_sd=compare(p, sd, fine), local_fit_from_guess={"p": wrong.x.tolist(), "deviance": float(2 * wrong.cost)}, difficulty="hard", **{"class": "ODE, hard"}, note="Kepler orbit over 4.5 revolutions from ranges only; the guess has a period 2.5 times too long: many minima")
